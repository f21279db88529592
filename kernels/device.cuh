// What the kernels ask of a device in its own words, where C++ has none. internal/cuda/cudatest has the same functions for a host.
#pragma once

// product_sum is a·b + c, rounded once; the remark tells it from what a compiler would fuse.
DEVICE float product_sum(float a, float b, float c) {
    float d;
    asm("fma.rn.f32 %0, %1, %2, %3; // meant" : "=f"(d) : "f"(a), "f"(b), "f"(c));
    return d;
}

// accumulate is add for which nobody waits, to global memory, or in the unit local to a block's own; its answer is never asked for.
DEVICE void accumulate(i32 *p, i32 v) {
#ifdef BURST_LOCAL
    asm volatile("{\n\t.reg .u64 at;\n\tcvta.to.shared.u64 at, %0;\n\tred.relaxed.cta.shared.add.s32 [at], %1;\n\t}" ::"l"(p), "r"(v) : "memory");
#else
    asm volatile("red.relaxed.gpu.global.add.s32 [%0], %1;" ::"l"(p), "r"(v) : "memory");
#endif
}

// arrive adds 1 to *p after all that the block wrote before; who has seen that by arrivals and then called acquire sees
// these writes.
DEVICE void arrive(u32 *p) { asm volatile("red.release.gpu.global.add.u32 [%0], 1;" ::"l"(p) : "memory"); }
DEVICE u32 arrivals(const u32 *p) {
    u32 n;
    asm volatile("ld.relaxed.gpu.global.u32 %0, [%1];" : "=r"(n) : "l"(p) : "memory");
    return n;
}
DEVICE void acquire() { asm volatile("fence.acq_rel.gpu;" ::: "memory"); }

// fence_system orders what the thread has seen and written before it, for all devices and the host.
DEVICE void fence_system() { asm volatile("fence.acq_rel.sys;" ::: "memory"); }

// arrive of 64 bits is the same for a counter that says more than how many have come; acquire_word looks at it.
DEVICE void arrive(u64 *p, u64 v) { asm volatile("red.release.gpu.global.add.u64 [%0], %1;" ::"l"(p), "l"(v) : "memory"); }

// store_block and load_block pass a number from a thread of the block to another, with all that the first has seen.
DEVICE void store_block(u32 *p, u32 v) { asm volatile("st.release.cta.u32 [%0], %1;" ::"l"(p), "r"(v) : "memory"); }
DEVICE u32 load_block(const u32 *p) {
    u32 v;
    asm volatile("ld.acquire.cta.u32 %0, [%1];" : "=r"(v) : "l"(p) : "memory");
    return v;
}

// nanoseconds is the device's clock.
DEVICE u64 nanoseconds() {
    u64 t;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(t));
    return t;
}

// publish makes *p v for the host, after all that the thread has seen written.
DEVICE void publish(u64 *p, u64 v) { asm volatile("st.release.sys.global.u64 [%0], %1;" ::"l"(p), "l"(v) : "memory"); }

// load_system is *p, which devices or the host share.
DEVICE u64 load_system(const u64 *p) {
    u64 v;
    asm volatile("ld.relaxed.sys.global.u64 %0, [%1];" : "=l"(v) : "l"(p) : "memory");
    return v;
}

#if defined(BURST_LASTING) || defined(BURST_LOCAL)
// fence_both orders what the thread has written before it and what it loads after it, for a host that does the same.
DEVICE void fence_both() { asm volatile("fence.sc.sys;" ::: "memory"); }
#endif

// store_system makes such a word v.
DEVICE void store_system(u64 *p, u64 v) { asm volatile("st.relaxed.sys.global.u64 [%0], %1;" ::"l"(p), "l"(v) : "memory"); }

// acquire_word is *p; the thread then sees all that those of this device had seen and written who added to it.
DEVICE u32 acquire_word(const u32 *p) {
    u32 v;
    asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(v) : "l"(p) : "memory");
    return v;
}
DEVICE u64 acquire_word(const u64 *p) {
    u64 v;
    asm volatile("ld.acquire.gpu.global.u64 %0, [%1];" : "=l"(v) : "l"(p) : "memory");
    return v;
}

// warp_barrier lets the warp's threads see what they have written before. All lanes must call it.
DEVICE void warp_barrier() {
    asm volatile("bar.warp.sync 0xffffffff;" ::: "memory");
}

// bring_closer starts to bring what lies at p in global memory into the second cache.
DEVICE void bring_closer(const void *p) {
    asm volatile("prefetch.global.L2 [%0];" ::"l"(p) : "memory");
}

// anew is v, which the compiler is not to work out, nor what follows from it, ahead of a loop, where it would take registers.
DEVICE u32 anew(u32 v) {
    asm volatile("" : "+r"(v));
    return v;
}
DEVICE u64 anew(u64 v) {
    asm volatile("" : "+l"(v));
    return v;
}

// kept is v in a register, for a loop in which compilers would work it out again and again.
DEVICE u32 kept(u32 v) {
    asm volatile("" : "+r"(v));
    return v;
}


// named_barrier is block_barrier for so many of the block's threads, whole warps.
template <u32 number> DEVICE void named_barrier(u32 threads) { asm volatile("bar.sync %0, %1;" ::"n"(number), "r"(threads) : "memory"); }

// address is that of a place of the block's memory, as the following want it.
DEVICE u32 address(const void *place) {
    u64 at;
    asm("cvta.to.shared.u64 %0, %1;" : "=l"(at) : "l"(place));
    return (u32)at;
}

// add_shared is += for the word of the block's memory at an address.
DEVICE void add_shared(u32 at, i32 v) { asm volatile("red.relaxed.cta.shared.add.s32 [%0], %1;" ::"r"(at), "r"(v) : "memory"); }

// four are the words of four synapses, or of four neurons.
const u32 FOUR = 4;
struct alignas(16) four {
    u32 word[FOUR];
};

// load_four and load_streamed are what does not change in a launch; the second is not to take room in the first cache.
DEVICE four load_four(const u32 *p) {
    four f;
    asm("ld.global.nc.v4.u32 {%0, %1, %2, %3}, [%4];" : "=r"(f.word[0]), "=r"(f.word[1]), "=r"(f.word[2]), "=r"(f.word[3]) : "l"(p));
    return f;
}
#if __CUDA_ARCH__ >= 900
DEVICE four load_streamed(const four *p) {
    four f;
    asm("ld.global.nc.L1::no_allocate.v4.u32 {%0, %1, %2, %3}, [%4];" : "=r"(f.word[0]), "=r"(f.word[1]), "=r"(f.word[2]), "=r"(f.word[3]) : "l"(p));
    return f;
}
#else // the hint wants PTX 7.4, which the oldest drivers of older GPUs do not know
DEVICE four load_streamed(const four *p) { return load_four(p->word); }
#endif

// load_together is what may change in a launch, by one load: compilers may take several.
[[maybe_unused]] DEVICE four load_together(const i32 *p) {
    four f;
    asm volatile("ld.global.v4.u32 {%0, %1, %2, %3}, [%4];" : "=r"(f.word[0]), "=r"(f.word[1]), "=r"(f.word[2]), "=r"(f.word[3]) : "l"(p) : "memory");
    return f;
}

// load_shared is a word at an address of the block's memory that does not change in a launch.
DEVICE i32 load_shared(u32 at) {
    i32 v;
    asm("ld.shared.s32 %0, [%1];" : "=r"(v) : "r"(at));
    return v;
}

// read_shared and store_shared are a word at an address of the block's memory that its threads change.
[[maybe_unused]] DEVICE u32 read_shared(u32 at) {
    u32 v;
    asm volatile("ld.shared.u32 %0, [%1];" : "=r"(v) : "r"(at));
    return v;
}
[[maybe_unused]] DEVICE void store_shared(u32 at, u32 v) { asm volatile("st.shared.u32 [%0], %1;" ::"r"(at), "r"(v) : "memory"); }

// pause leaves the multiprocessor to others for a moment: looking at shared memory takes some of what their additions wait for.
DEVICE void pause() { asm volatile("nanosleep.u32 64;"); }

// shuffle_first is v of the first of the count neighbouring lanes, a power of two, to which the lane belongs. All lanes must call it.
DEVICE u32 shuffle_first(u32 v, u32 count) {
    u32 got;
    asm volatile("shfl.sync.idx.b32 %0, %1, 0, %2, 0xffffffff;" : "=r"(got) : "r"(v), "r"((32 - count) << 8 | 31));
    return got;
}

// What follows needs clusters of several blocks. The PTX for GPUs without them has a trap in each place, where they never come: it is kept
// as what differs from the other (build.sh), so nothing else is to differ.
#ifdef BURST_CLUSTERS
#define CLUSTERED(text) text
#else
#define CLUSTERED(text) "trap;"
#endif

// remote_address is where the cluster's block of a number has what this block has at an address.
DEVICE u32 remote_address(u32 own, u32 number) {
    u32 at;
    asm(CLUSTERED("mapa.shared::cluster.u32 %0, %1, %2;") : "=r"(at) : "r"(own), "r"(number));
    return at;
}

// load_cluster is four words at an address of the cluster's memory.
[[maybe_unused]] DEVICE four load_cluster(u32 at) {
    four f;
    asm volatile(CLUSTERED("ld.shared::cluster.v4.u32 {%0, %1, %2, %3}, [%4];")
                 : "=r"(f.word[0]), "=r"(f.word[1]), "=r"(f.word[2]), "=r"(f.word[3]) : "r"(at) : "memory");
    return f;
}

// fence_cluster, join_cluster and joined let blocks of a cluster wait for each other: who has seen by joined what join_cluster has added
// to a word of a block's memory, after a fence, sees what was written before that.
DEVICE void fence_cluster() { asm volatile(CLUSTERED("fence.acq_rel.cluster;") ::: "memory"); }
DEVICE void join_cluster(u32 at) { asm volatile(CLUSTERED("red.relaxed.cluster.shared::cluster.add.u32 [%0], 1;") ::"r"(at) : "memory"); }
DEVICE u32 joined(u32 own) {
    u32 now;
    asm volatile(CLUSTERED("ld.acquire.cluster.shared::cta.u32 %0, [%1];") : "=r"(now) : "r"(own) : "memory");
    return now;
}

// send makes a word of the cluster's memory v, and received is such a word of the block's own: nothing else is ordered by it.
[[maybe_unused]] DEVICE void send(u32 at, u64 v) { asm volatile(CLUSTERED("st.relaxed.cluster.shared::cluster.u64 [%0], %1;") ::"r"(at), "l"(v) : "memory"); }
[[maybe_unused]] DEVICE u64 received(u32 own) {
    u64 v;
    asm volatile(CLUSTERED("ld.relaxed.cluster.shared::cta.u64 %0, [%1];") : "=l"(v) : "r"(own) : "memory");
    return v;
}

// cluster_barrier lets all threads of a cluster wait for each other; what they wrote before is seen by all after it.
DEVICE void cluster_barrier() { asm volatile(CLUSTERED("barrier.cluster.arrive.aligned;\n\tbarrier.cluster.wait.aligned;") ::: "memory"); }
