// What blocks of a cluster share: a cluster is a team that owns the neurons of its blocks, sums what reaches them in its blocks'
// shared memory, and updates them there. Of a burst only the fire queue passes through global memory.
#pragma once
#include "resident.cuh"

#ifdef BURST_CLUSTERS
// clustered is what a cluster's block has beside resident.
struct clustered : resident {
    u32 at_sums, at_before, at_later;
    u32 joined;             // blocks of the cluster that have summed their rows, in all bursts
    u32 stimulated;         // whether a stimulus acts in this burst
    u32 told[MOST_DEVICES]; // how many ids of the k-th device are due next, the block's own being the 0th
    u32 stopped;            // whether another device has failed
    u32 stored;             // bursts whose ids the block has stored, for talk
    u32 heard, lost;        // bursts of which talk has heard from all others; whether one has failed
    u64 waited;             // as in run
    exchange x;             // run's
#ifdef BURST_ON_HOST
    u8 *const *rooms; // of the cluster's blocks
#endif
};

// device_at is the k-th device, counted from this one.
DEVICE u32 device_at(const clustered *s, u32 k) {
    u32 q = s->x.self + k;
    return q < s->x.devices ? q : q - s->x.devices;
}

#ifdef BURST_ON_HOST
DEVICE u32 shared_address(const clustered *, u32 at) { return at; }
DEVICE void add_shared(const clustered *s, u32 sums, u32 place, i32 v) { room_at<i32>(s, sums)[place] += v; }
DEVICE i32 load_shared(const clustered *s, u32 values, u32 place) { return room_at<i32>(s, values)[place]; }
DEVICE four remote_four(const clustered *s, u32 number, u32 at) { return *(const four *)(s->rooms[number] + at); }
#else
// shared_address is the address of the block's memory from a place on.
DEVICE u32 shared_address(const clustered *s, u32 at) { return address(room_at<u8>(s, at)); }

// add_shared adds to the sum of a place, sums being the address of the first one.
DEVICE void add_shared(const clustered *, u32 sums, u32 place, i32 v) { add_at(nullptr, sums + 4 * place, v); }

// load_shared is a word that does not change in a launch, values being the address of the first one.
DEVICE i32 load_shared(const clustered *, u32 values, u32 place) {
    i32 v;
    asm("ld.shared.s32 %0, [%1];" : "=r"(v) : "r"(values + 4 * place));
    return v;
}

// remote_address is where the cluster's block of a number has what this block has at an address.
DEVICE u32 remote_address(u32 own, u32 number) {
    u32 at;
    asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(at) : "r"(own), "r"(number));
    return at;
}

// remote_four are four words from a place on of the memory of the cluster's block of a number.
DEVICE four remote_four(const clustered *s, u32 number, u32 at) {
    four f;
    asm volatile("ld.shared::cluster.v4.u32 {%0, %1, %2, %3}, [%4];"
                 : "=r"(f.word[0]), "=r"(f.word[1]), "=r"(f.word[2]), "=r"(f.word[3]) : "r"(remote_address(shared_address(s, at), number)) : "memory");
    return f;
}

// shuffle_first is v of the first of the count neighbouring lanes, a power of two, to which the lane belongs. All lanes must call it.
DEVICE u32 shuffle_first(u32 v, u32 count) {
    u32 got;
    asm volatile("shfl.sync.idx.b32 %0, %1, 0, %2, 0xffffffff;" : "=r"(got) : "r"(v), "r"((32 - count) << 8 | 31));
    return got;
}

// join lets the blocks of a cluster wait for each other, by a thread of each between barriers of the block: what blocks wrote
// to their memory before is seen by all after it. Each has joined so often that wanted blocks have in all.
DEVICE void join(clustered *s, u32 size, u32 wanted) {
    u32 own = address(&s->joined), now, turns = 0;
    asm volatile("fence.acq_rel.cluster;" ::: "memory"); // one for all of the following
    for (u32 number = 0; number < size; number++)
        asm volatile("red.relaxed.cluster.shared::cluster.add.u32 [%0], 1;" ::"r"(remote_address(own, number)) : "memory");
    do asm volatile("ld.acquire.cluster.shared::cta.u32 %0, [%1];" : "=r"(now) : "r"(own) : "memory");
    while (now < wanted && !s->stopped && !(s->stopped = stopped(&s->x, &turns)));
}

// pause leaves the multiprocessor to others for a moment: looking at shared memory takes some of what their additions wait for.
DEVICE void pause() { asm volatile("nanosleep.u32 64;"); }

// cluster_barrier lets all threads of a cluster wait for each other.
DEVICE void cluster_barrier() { asm volatile("barrier.cluster.arrive.aligned;\n\tbarrier.cluster.wait.aligned;" ::: "memory"); }
#endif
#endif
