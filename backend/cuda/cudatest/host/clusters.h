// cluster_bursts and its kin on the host.
#pragma once

// clusters is a launch of cluster_bursts: work_cluster's steps, each by all workers of all blocks.
template <u32 models> struct clusters : shared_launch {
    unsigned workers, bytes;
    std::vector<clustered> s;
    std::vector<std::vector<u64>> room;
    std::vector<u8 *> rooms;

    template <class Piece> void all(bool backwards, Piece piece) { each(backwards, workers, piece); }
    void open(unsigned some) override {
        workers = threads - 32, bytes = some;
        s.resize(blocks), rooms.resize(blocks);
        room.assign(blocks, std::vector<u64>(bytes / 8 + 3, 0xA5A5A5A5A5A5A5A5));
        for (unsigned b = 0; b < blocks; b++) s[b].room = rooms[b] = (u8 *)(((uintptr_t)room[b].data() + 15) / 16 * 16);
        for (unsigned b = 0; b < blocks; b++) s[b].rooms = &rooms[b / p.packed.size * p.packed.size];
    }
    void begin() override {
        each(false, 1, [&](unsigned b) { divide_cluster<models>(&p, &s[b]); });
        each(false, threads, [&](unsigned b) { begin_cluster<models>(&p, &s[b]); });
        all(false, [&](unsigned b) { stimulate_cluster(&p, p.first, &s[b]); });
        all(false, [&](unsigned b) { drive_block<models == 1 << PSC_EXP>(&p, p.first, &s[b], p.packed.drawn); });
    }
    void complete(u64 t) {
        running = {blocks - 1, blocks, workers, threads};
        tell(&p, (u32)(t + 1 - p.first));
    }
    void before(u64 t) override {
        all(t % 2, [&](unsigned b) { sum_places(&p, t, &s[b]); });
        if (t > p.first) all(t % 3 == 0, [&](unsigned b) { bring_queue(&p, t - 1, &s[b]); });
        all(t % 3 == 0, [&](unsigned b) { update_cluster<models>(&p, t, &s[b]); });
        all(t % 5 == 0, [&](unsigned b) { count_words(&p, t, &s[b]); });
        if (t + 1 < p.first + p.bursts) all(t % 2, [&](unsigned b) { stimulate_cluster(&p, t + 1, &s[b]); });
        all(t % 5 == 0, [&](unsigned b) { list_cluster(&p, t, &s[b]); });
        if (p.devices > 1) all(t % 3 == 1, [&](unsigned b) { push(p.x, t, s[b].base, s[b].total, thread_in_block(), workers); });
        each(t % 2, 1, [&](unsigned b) { tell_all(p.x, t, s[b].total); });
        all(t % 2, [&](unsigned b) { drive_block<models == 1 << PSC_EXP>(&p, t + 1, &s[b], p.packed.drawn); });
        each(false, 1, [&](unsigned b) { p.waited[b] += 1000; });
    }
    bool after(u64 t) override {
        if (!takes(t, s, p.x->self, 0)) return false; // who fired elsewhere is heard of in the next burst
        for (auto &b : s)
            if (b.stopped) return false;
        each(false, 1, [&](unsigned b) { find_due(&p, t, &s[b]); });
        if (t > p.first) complete(t - 1);
        all(t % 2, [&](unsigned b) { zero_sums(&p, &s[b], workers); });
        return true;
    }
    void lost(u64) override {}
    void end() override {
        all(false, [&](unsigned b) { bring_queue(&p, p.first + p.bursts - 1, &s[b]); });
        complete(p.first + p.bursts - 1);
        each(true, threads, [&](unsigned b) { end_resident<models>(&p, &s[b]); });
        for (unsigned b = 0; b < blocks; b++)
            if (memcmp(rooms[b] + bytes, "\xA5\xA5\xA5\xA5\xA5\xA5\xA5\xA5", 8) != 0) {
                fprintf(stderr, "stand-in for libcuda: a block wrote beside its shared memory\n");
                faults[device] = ILLEGAL_ADDRESS;
            }
    }
};
