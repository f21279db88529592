// What four compilers need to accept the kernels unchanged: nvcc and NVRTC bring CUDA's names along, clang without the
// CUDA toolkit gets them here from its builtins, and g++ (backend/cuda/cudatest) runs a thread after the other.
#pragma once

typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef unsigned long long u64;
typedef int i32;

static_assert(sizeof(u64) == 8 && sizeof(u32) == 4 && sizeof(u16) == 2, "the host fills arrays of these sizes");

#if defined(__NVCC__) || defined(__CUDACC_RTC__)

#define KERNEL extern "C" __global__ void
#define KERNEL_OF_1024 extern "C" __global__ void __launch_bounds__(1024)
#define DEVICE static __device__ __forceinline__
DEVICE u32 block_index() { return blockIdx.x; }
DEVICE u32 block_count() { return gridDim.x; }
DEVICE u32 block_size() { return blockDim.x; }
DEVICE u32 thread_in_block() { return threadIdx.x; }
DEVICE void add(i32 *p, i32 v) { atomicAdd(p, v); }
DEVICE void add(u64 *p, u64 v) { atomicAdd(p, v); }
DEVICE u32 vote(bool b) { return __ballot_sync(0xffffffffu, b); }
DEVICE u32 shuffle_xor(u32 v, u32 by) { return __shfl_xor_sync(0xffffffffu, v, by); }
DEVICE u32 shuffle_up(u32 v, u32 by) { return __shfl_up_sync(0xffffffffu, v, by); }
DEVICE u32 ones(u32 w) { return __popc(w); }
DEVICE u32 high_product(u32 a, u32 b) { return __umulhi(a, b); }
#define SHARED __shared__
DEVICE void block_barrier() { __syncthreads(); }
DEVICE u8 *dynamic_memory() {
    extern __shared__ __align__(16) u8 room[];
    return room;
}

#elif defined(__clang__) && defined(__CUDA__)

#define KERNEL extern "C" __attribute__((global)) void
#define KERNEL_OF_1024 extern "C" __attribute__((global)) __attribute__((launch_bounds(1024))) void
#define DEVICE static __attribute__((device)) __attribute__((always_inline))
DEVICE u32 block_index() { return __nvvm_read_ptx_sreg_ctaid_x(); }
DEVICE u32 block_count() { return __nvvm_read_ptx_sreg_nctaid_x(); }
DEVICE u32 block_size() { return __nvvm_read_ptx_sreg_ntid_x(); }
DEVICE u32 thread_in_block() { return __nvvm_read_ptx_sreg_tid_x(); }
DEVICE void add(i32 *p, i32 v) { __nvvm_atom_add_gen_i(p, v); }
DEVICE void add(u64 *p, u64 v) { __nvvm_atom_add_gen_ll((long long *)p, (long long)v); }
DEVICE u32 vote(bool b) { return __nvvm_vote_ballot_sync(0xffffffffu, b); }
DEVICE u32 shuffle_xor(u32 v, u32 by) { return __nvvm_shfl_sync_bfly_i32(0xffffffffu, v, by, 31); }
DEVICE u32 shuffle_up(u32 v, u32 by) { return __nvvm_shfl_sync_up_i32(0xffffffffu, v, by, 0); }
DEVICE u32 ones(u32 w) { return __builtin_popcount(w); }
DEVICE u32 high_product(u32 a, u32 b) { return (u32)((u64)a * b >> 32); }
#define SHARED static __attribute__((shared))
DEVICE void block_barrier() { __syncthreads(); }
extern __attribute__((shared)) __attribute__((aligned(16))) u8 room[];
DEVICE u8 *dynamic_memory() { return room; }

#else

#define BURST_ON_HOST
#define KERNEL static void
#define DEVICE static inline
struct host_thread {
    u32 block, blocks, thread, threads;
};
static host_thread running; // set by the loops that stand for a launch
DEVICE u32 block_index() { return running.block; }
DEVICE u32 block_count() { return running.blocks; }
DEVICE u32 block_size() { return running.threads; }
DEVICE u32 thread_in_block() { return running.thread; }
DEVICE void add(i32 *p, i32 v) { *p += v; }
DEVICE void add(u64 *p, u64 v) { *p += v; }
DEVICE u32 ones(u32 w) { return __builtin_popcount(w); }
DEVICE u32 high_product(u32 a, u32 b) { return (u32)((u64)a * b >> 32); }

#endif

// Clusters of blocks need compute capability 9.0.
#if defined(BURST_ON_HOST) || (defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900)
#define BURST_CLUSTERS
#endif

// The thread's number in the grid, the number of threads in the grid, and the thread's place in its warp of 32.
DEVICE u64 thread_index() { return (u64)block_index() * block_size() + thread_in_block(); }
DEVICE u64 thread_count() { return (u64)block_count() * block_size(); }
DEVICE u32 lane() { return thread_in_block() % 32; }

// store_bits makes *word the warp's 32 answers, one bit a lane, and gives how many lanes before this one have answered yes.
// All lanes of the warp must call it.
DEVICE u32 store_bits(u32 *word, bool b) {
#ifdef BURST_ON_HOST
    if (lane() == 0) *word = 0;
    *word |= (u32)b << lane();
    u32 bits = *word;
#else
    u32 bits = vote(b);
    if (lane() == 0) *word = bits;
#endif
    return ones(bits & ((1u << lane()) - 1));
}

// store_sum makes *node the sum of the warp's 32 values. All lanes of the warp must call it; the last one may read *node.
DEVICE void store_sum(u64 *node, u64 v) {
#ifdef BURST_ON_HOST
    if (lane() == 0) *node = 0;
    *node += v;
#else
    for (u32 by = 16; by > 0; by /= 2) {
        u32 low = shuffle_xor((u32)v, by), high = shuffle_xor((u32)(v >> 32), by);
        v += (u64)high << 32 | low;
    }
    if (lane() == 31) *node = v;
#endif
}

// sum_before is the sum of v over the warp's lanes before this one; *total becomes that over all. All lanes of the warp must
// call it.
DEVICE u32 sum_before(u32 *total, u32 v) {
#ifdef BURST_ON_HOST
    if (lane() == 0) *total = 0;
    u32 before = *total;
    *total += v;
    return before;
#else
    u32 sum = v;
    for (u32 by = 1; by < 32; by *= 2) {
        u32 other = shuffle_up(sum, by);
        if (lane() >= by) sum += other;
    }
    if (lane() == 31) *total = sum;
    return sum - v;
#endif
}

// sum_first is the sum of v[0] to v[n - 1]. All lanes of the warp must call it.
DEVICE u32 sum_first(const u32 *v, u32 n) {
    u32 sum = 0;
#ifdef BURST_ON_HOST
    for (u32 i = 0; i < n; i++) sum += v[i];
#else
    for (u32 i = lane(); i < n; i += 32) sum += v[i];
    for (u32 by = 16; by > 0; by /= 2) sum += shuffle_xor(sum, by);
#endif
    return sum;
}

// product_sum is a·b + c, rounded once; the remark tells it from what a compiler would fuse.
DEVICE float product_sum(float a, float b, float c) {
#ifdef BURST_ON_HOST
    return __builtin_fmaf(a, b, c);
#else
    float d;
    asm("fma.rn.f32 %0, %1, %2, %3; // meant" : "=f"(d) : "f"(a), "f"(b), "f"(c));
    return d;
#endif
}

// fetch_add adds to *p and gives what was there.
#if defined(__NVCC__) || defined(__CUDACC_RTC__)
DEVICE u32 fetch_add(u32 *p, u32 v) { return atomicAdd(p, v); }
#elif defined(__clang__) && defined(__CUDA__)
DEVICE u32 fetch_add(u32 *p, u32 v) { return (u32)__nvvm_atom_add_gen_i((i32 *)p, (i32)v); }
#else
DEVICE u32 fetch_add(u32 *p, u32 v) {
    u32 old = *p;
    *p += v;
    return old;
}
#endif

// accumulate is add to global memory for which nobody waits; its answer is never asked for.
#ifdef BURST_ON_HOST
DEVICE void accumulate(i32 *p, i32 v) { add(p, v); }
DEVICE u64 acquire_word(const u64 *p) { return *p; }
DEVICE u64 nanoseconds() { return 0; }
DEVICE void publish(u64 *p, u64 v) { *p = v; }
#else
DEVICE void accumulate(i32 *p, i32 v) {
    asm volatile("red.relaxed.gpu.global.add.s32 [%0], %1;" ::"l"(p), "r"(v) : "memory");
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

// arrive and arrivals of 64 bits are the same for a counter that says more than how many have come.
DEVICE void arrive(u64 *p, u64 v) { asm volatile("red.release.gpu.global.add.u64 [%0], %1;" ::"l"(p), "l"(v) : "memory"); }
DEVICE u64 arrivals(const u64 *p) {
    u64 n;
    asm volatile("ld.relaxed.gpu.global.u64 %0, [%1];" : "=l"(n) : "l"(p) : "memory");
    return n;
}

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

// store_system makes such a word v.
DEVICE void store_system(u64 *p, u64 v) { asm volatile("st.relaxed.sys.global.u64 [%0], %1;" ::"l"(p), "l"(v) : "memory"); }

// acquire_word is *p; the thread then sees all that those of this device had seen and written who added to it.
DEVICE u64 acquire_word(const u64 *p) {
    u64 v;
    asm volatile("ld.acquire.gpu.global.u64 %0, [%1];" : "=l"(v) : "l"(p) : "memory");
    return v;
}
#endif

// warp_barrier lets the warp's threads see what they have written before. All lanes must call it.
DEVICE void warp_barrier() {
#ifndef BURST_ON_HOST
    asm volatile("bar.warp.sync 0xffffffff;" ::: "memory");
#endif
}

// bring_closer starts to bring what lies at p in global memory into the second cache.
DEVICE void bring_closer(const void *p) {
#ifdef BURST_ON_HOST
    (void)p;
#else
    asm volatile("prefetch.global.L2 [%0];" ::"l"(p) : "memory");
#endif
}

// anew is v, which the compiler is not to work out, nor what follows from it, ahead of a loop, where it would take registers.
DEVICE u32 anew(u32 v) {
#ifndef BURST_ON_HOST
    asm volatile("" : "+r"(v));
#endif
    return v;
}
DEVICE u64 anew(u64 v) {
#ifndef BURST_ON_HOST
    asm volatile("" : "+l"(v));
#endif
    return v;
}

// read is *p as it is now: other threads write it meanwhile.
DEVICE u32 read(const u32 *p) { return *(const volatile u32 *)p; }
