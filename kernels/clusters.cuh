// What blocks of a cluster share: a cluster is a team that owns the neurons of its blocks, sums what reaches them in its blocks'
// shared memory, and updates them there. Of a burst only the fire queue passes through global memory. Where blocks cannot use each other's
// memory a cluster is a block alone.
#pragma once
#include "resident.cuh"

// clustered is what a cluster's block has beside resident.
struct clustered : resident {
    u32 at_sums, at_before, at_later;
    u32 stimulated;         // whether a stimulus acts in this burst
    u32 told[MOST_DEVICES]; // how many ids of the k-th device are due next, the block's own being the 0th
    u64 waited;             // as in run
    exchange x;             // run's
};

// device_at is the k-th device, counted from this one.
DEVICE u32 device_at(const clustered *s, u32 k) {
    u32 q = s->x.self + k;
    return q < s->x.devices ? q : q - s->x.devices;
}

// gives_up says whether another device has failed, and tells the block's other threads.
DEVICE bool gives_up(clustered *s, u32 *turns) {
    if (stopped(&s->x, turns)) store_block(&s->stopped, 1);
    return s->stopped != 0;
}

// outside reports whether the neurons' state stays in global memory. In one kernel for both, each had more registers in local memory.
#if defined(BURST_ONE_UNIT)
DEVICE bool outside(const run *p) { return p->packed.outside; }
#elif defined(BURST_OUTSIDE)
DEVICE bool outside(const run *) { return true; }
#else
DEVICE bool outside(const run *) { return false; }
#endif

// rounds is in how many rounds a block sums and updates its neurons; block_index is one of the device, which is a cluster alone where there
// are several.
DEVICE u32 rounds(const run *p) { return outside(p) ? p->packed.rounds : 1; }

#ifdef BURST_CLUSTERS
// cluster_size is how many blocks a cluster has.
DEVICE u32 cluster_size(const run *p) { return p->packed.size; }

// remote_four are four words from a place on of the memory of the cluster's block of a number.
DEVICE four remote_four(const clustered *s, u32 number, u32 at) { return load_cluster(remote_address(address(room_at<u8>(s, at)), number)); }

// join lets the blocks of a cluster wait for each other, by a thread of each between barriers of the block: what blocks wrote
// to their memory before is seen by all after it. Each has joined so often that wanted blocks have in all.
DEVICE void join(clustered *s, u32 size, u32 wanted) {
    u32 own = address(&s->joined), now, turns = 0;
    fence_cluster(); // one for all of the following
    for (u32 number = 0; number < size; number++) join_cluster(remote_address(own, number));
    do now = joined(own);
    while (now < wanted && !gives_up(s, &turns));
}

// wait_cluster lets all threads of a cluster wait for each other.
DEVICE void wait_cluster() { cluster_barrier(); }
#else
DEVICE u32 cluster_size(const run *) { return 1; }
DEVICE four remote_four(const clustered *, u32, u32) { return four{}; }
DEVICE void join(clustered *, u32, u32) {}
DEVICE void wait_cluster() { block_barrier(); }
#endif
