// How the devices of one network tell each other who fired, burst by burst, by stores into each other's memory: ids first,
// then a flag with the burst and how many there are. Ids and flags lie in two halves by turns: a device writes those of
// burst t when all have told theirs of burst t − 1, and so have read those of burst t − 2.
#pragma once
#include "burst.cuh"

const u32 MOST_DEVICES = 8;

// exchange is a device's view of the others.
struct exchange {
    u32 devices, self;        // how many share the network, 1: no exchange; and which of them this is
    u64 room;                 // ids that one device may send
    const u64 *stop;          // mapped host memory: not 0 once a device has failed, for then nobody may wait for it
    u32 *ids[MOST_DEVICES];   // of each device, in its memory: those of device q and burst t at ((t mod 2)·devices + q)·room
    u64 *flags[MOST_DEVICES]; // and at (t mod 2)·devices + q: t + 1 (modulo 2^32) above their number
};

// ids_of is where device q has the ids that device from fired in burst t.
DEVICE u32 *ids_of(const exchange *x, u32 q, u32 from, u64 t) { return x->ids[q] + (t % 2 * x->devices + from) * x->room; }

// flag_of is where device q has the flag of device from for burst t.
DEVICE u64 *flag_of(const exchange *x, u32 q, u32 from, u64 t) { return x->flags[q] + (t % 2 * x->devices + from); }

// push brings count of this device's ids of burst t, which its own memory has from place first on, to all others; all
// threads of a block together.
DEVICE void push(const exchange *x, u64 t, u32 first, u32 count) {
    const u32 *own = ids_of(x, x->self, x->self, t) + first;
    for (u32 i = thread_in_block(); i < count * (x->devices - 1); i += block_size()) {
        u32 q = i / count, k = i % count;
        if (q >= x->self) q++;
        ids_of(x, q, x->self, t)[first + k] = own[k];
    }
}

// tell_others says to all devices, this one too, that this one's ids of burst t are there.
DEVICE void tell_others(const exchange *x, u64 t, u32 count) {
    for (u32 q = 0; q < x->devices; q++) store_system(flag_of(x, q, x->self, t), (t + 1) << 32 | count);
}

// told reports whether device q has said so, and how many there are.
DEVICE bool told(const exchange *x, u32 q, u64 t, u32 *count) {
    u64 flag = load_system(flag_of(x, x->self, q, t));
    *count = (u32)flag;
    return (u32)(flag >> 32) == (u32)(t + 1);
}
