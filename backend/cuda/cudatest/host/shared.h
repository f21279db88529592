// Launches whose kernels wait in their middle for other blocks, threads and devices: here their pieces are run one after the other,
// each by all threads of all blocks.
#pragma once

// shared_launch is one whose network other devices may share.
struct shared_launch {
    run p;
    unsigned blocks, threads;
    int device;
    virtual ~shared_launch() {}
    virtual void open(unsigned bytes) = 0;
    virtual void begin() = 0;
    virtual void before(u64 t) = 0; // what a burst does before it needs the other devices
    virtual bool after(u64 t) = 0;  // takes what they have told, if they have
    virtual void end() = 0;
    virtual void lost(u64 t) = 0; // one of them in burst t

    template <class Piece> void each(bool backwards, unsigned some, Piece piece) {
        for (unsigned b = 0; b < blocks; b++)
            for (unsigned t = 0; t < some; t++) {
                running = {backwards ? blocks - 1 - b : b, blocks, t, threads};
                piece(running.block);
            }
    }
    // early says whether a device is heard of burst t, of which none has told.
    bool early(u64 t) {
        running = {0, blocks, 0, threads};
        u32 count;
        bool any = p.devices > 1 && heard_own(p.x, t, &count);
        for (u32 q = 0; p.devices > 1 && q < p.devices; q++) any |= q != p.x->self && heard_other(p.x, q, t, &count);
        return any;
    }
    // takes lets all blocks, whose memory is s, hear device q, whose number goes to the k-th place there.
    template <class Block> bool takes(u64 t, std::vector<Block> &s, u32 q, u32 k) {
        bool all_told = true;
        for (auto &b : s) all_told &= q == p.x->self ? heard_own(p.x, t, b.told + k) : heard_other(p.x, q, t, b.told + k);
        if (q == p.x->self) forget(p.x, t);
        return all_told;
    }
};
