// How the blocks of all devices tell each other who fired, by stores into each device's memory: ids, then a word of each block's own. Nothing
// is added to another device's memory: links need not carry atomic operations.
// Who tells of burst t has heard of t − 1 from the device's own blocks, and of t − d from the others: d is 1, or the one delay of all of the
// device's synapses in rows of places. All have delivered the fire queues that were due then, of d bursts earlier. So ids of d + 1 bursts are
// kept, of several devices those of 2d, and words of d + 2 and 2d at least.
#pragma once
#include "burst.cuh"

const u32 MOST_DEVICES = 8;

// exchange is a device's view of all. A device that is alone tells its own blocks.
struct exchange {
    u32 devices, self;       // how many share the network, and which of them this is
    u32 id_mask, told_mask;  // ids of so many bursts, and words of so many, are kept beside the newest ones; one less than a power of two
    u64 room;                // ids that one device may send
    const u64 *stop;         // mapped host memory: not 0 once a device has failed, for then nobody may wait for it
    u32 *ids[MOST_DEVICES];  // of each device, in its memory: those of device q and burst t at ((t & id_mask)·devices + q)·room
    u64 *told[MOST_DEVICES]; // and at ((t & told_mask)·devices + q)·blocks + b: above a burst's tag, below how many ids block b of q has stored in it
    u64 *own;                // at t & told_mask: how many of the device's own blocks have told above how many ids they have stored
};

// ids_of is where device q has the ids that device from fired in burst t.
DEVICE u32 *ids_of(const exchange *x, u32 q, u32 from, u64 t) { return x->ids[q] + (((u32)t & x->id_mask) * x->devices + from) * x->room; }

// told_of is where device q has what the blocks of device from have told of burst t.
DEVICE u64 *told_of(const exchange *x, u32 q, u32 from, u64 t) { return x->told[q] + (((u32)t & x->told_mask) * x->devices + from) * block_count(); }

// own_of is the word of the device's own blocks for burst t.
DEVICE u64 *own_of(const exchange *x, u64 t) { return x->own + ((u32)t & x->told_mask); }

// told_word is what a block tells another device of burst t, whose tag are its lower 32 bits: what the place had before has another.
DEVICE u64 told_word(u64 t, u32 count) { return (u64)(u32)t << 32 | count; }

// push brings count of this device's ids of burst t, which its own memory has from place first on, to all others; so many threads
// together, of which this is number thread. Four are loaded before the first is stored, for nobody waits for stores.
DEVICE void push(const exchange *x, u64 t, u32 first, u32 count, u32 thread, u32 threads) {
    const u32 *own = ids_of(x, x->self, x->self, t) + first;
#pragma unroll 1
    for (u32 i = thread; i < count; i += 4 * threads) {
        u32 n[4];
#pragma unroll
        for (u32 j = 0; j < 4; j++) n[j] = i + j * threads < count ? own[i + j * threads] : 0;
#pragma unroll 1
        for (u32 q = 0; q < x->devices; q++) {
            u32 *to = ids_of(x, q, x->self, t) + first;
#pragma unroll
            for (u32 j = 0; j < 4; j++)
                if (q != x->self && i + j * threads < count) to[i + j * threads] = n[j];
        }
    }
}

// heard_own reports whether all of the device's own blocks have told of burst t, and how many ids there are; these can be read then.
DEVICE bool heard_own(const exchange *x, u64 t, u32 *count) {
    u64 word = acquire_word(own_of(x, t));
    *count = (u32)word;
    return (u32)(word >> 32) == block_count();
}

// heard_other is heard_own for the blocks of another device. All lanes of the warp must call it, and get the same.
DEVICE bool heard_other(const exchange *x, u32 q, u64 t, u32 *count) {
    const u64 *words = told_of(x, x->self, q, t);
    u32 sum = 0;
    bool all = true;
    const u32 EACH = 5; // that a lane loads at once: those of 160 blocks
#pragma unroll 1
    for (u32 first = lane(); first - lane() < block_count(); first += 32 * EACH) {
        u64 w[EACH];
#pragma unroll
        for (u32 j = 0; j < EACH; j++) w[j] = first + 32 * j < block_count() ? load_system(words + first + 32 * j) : told_word(t, 0);
#pragma unroll
        for (u32 j = 0; j < EACH; j++) {
            all &= (u32)(w[j] >> 32) == (u32)t;
            sum += (u32)w[j];
        }
    }
    if (vote(!all) != 0) return false;
    fence_system();
    for (u32 by = 16; by > 0; by /= 2) sum += shuffle_xor(sum, by);
    *count = sum;
    return all;
}

// forget makes room for what the device's own blocks will tell of burst t + 2. A thread of one block does so when it has heard of burst t: all
// blocks have heard of burst t − 2 by then, and none tells of burst t + 2 before that block tells of burst t + 1.
DEVICE void forget(const exchange *x, u64 t) { *own_of(x, t + 2) = 0; }

// tell_own tells the device's own blocks that a block has stored its count ids of burst t; a thread of it does so after a barrier.
DEVICE void tell_own(const exchange *x, u64 t, u32 count) { arrive(own_of(x, t), 1ull << 32 | count); }

// tell_other tells device q, after a fence for the system.
DEVICE void tell_other(const exchange *x, u32 q, u64 t, u32 count) { store_system(told_of(x, q, x->self, t) + block_index(), told_word(t, count)); }

// tell_all tells all devices.
DEVICE void tell_all(const exchange *x, u64 t, u32 count) {
    tell_own(x, t, count); // which are not to wait for the others
    fence_system(); // one for all of the following
#pragma unroll 1
    for (u32 q = 0; q < x->devices; q++)
        if (q != x->self) tell_other(x, q, t, count);
}

// stopped looks now and then whether another device has failed.
DEVICE bool stopped(const exchange *x, u32 *turns) { return x->devices > 1 && ++*turns % 1024 == 0 && load_system(x->stop) != 0; }

// hear_own waits for all of the device's own blocks and gives the number of their ids; it says no if a device has failed.
// The words of burst t + earlier are forgotten: by so much the block is ahead of burst t, together with how far blocks may be apart.
DEVICE bool hear_own(const exchange *x, u64 t, u32 *count, u32 earlier = 0) {
    u32 now, turns = 0;
    while (!heard_own(x, t, &now))
        if (stopped(x, &turns)) return false;
    if (block_index() == 0) forget(x, t + earlier);
    *count = now;
    return true;
}

// hear_other is hear_own for the blocks of device q. All lanes of the warp must call it, and get the same.
DEVICE bool hear_other(const exchange *x, u32 q, u64 t, u32 *count) {
    u32 turns = 0;
    while (!heard_other(x, q, t, count))
        if (vote(stopped(x, &turns)) != 0) return false;
    return true;
}
