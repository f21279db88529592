// What four compilers need to accept the kernels unchanged: nvcc and NVRTC bring CUDA's names along, clang without the
// CUDA toolkit gets them here from its builtins, and g++ from internal/cuda/cudatest, where threads are fibers of a processor.
#pragma once

typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef unsigned long long u64;
typedef int i32;

// Clusters of several blocks, which use each other's shared memory, need compute capability 9.0.
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
#define BURST_CLUSTERS
#endif

static_assert(sizeof(u64) == 8 && sizeof(u32) == 4 && sizeof(u16) == 2, "the host fills arrays of these sizes");

#if defined(__NVCC__) || defined(__CUDACC_RTC__)

#define KERNEL extern "C" __global__ void
#define KERNEL_OF_1024 extern "C" __global__ void __launch_bounds__(1024)
#define KERNEL_OF_768 extern "C" __global__ void __launch_bounds__(768)
#define KERNEL_OF_544 extern "C" __global__ void __launch_bounds__(544, 1)
#define DEVICE static __device__ __forceinline__
#define CALLED static __device__ __noinline__
DEVICE u32 block_index() { return blockIdx.x; }
DEVICE u32 block_count() { return gridDim.x; }
DEVICE u32 block_size() { return blockDim.x; }
DEVICE u32 thread_in_block() { return threadIdx.x; }
DEVICE void add(i32 *p, i32 v) { atomicAdd(p, v); }
DEVICE void add(u64 *p, u64 v) { atomicAdd(p, v); }
DEVICE u32 fetch_add(u32 *p, u32 v) { return atomicAdd(p, v); }
[[maybe_unused]] DEVICE void greatest(u32 *p, u32 v) { atomicMax(p, v); }
[[maybe_unused]] DEVICE u64 replace(u64 *p, u64 old, u64 v) { return atomicCAS(p, old, v); }
DEVICE u32 vote(bool b) { return __ballot_sync(0xffffffffu, b); }
DEVICE u32 shuffle_xor(u32 v, u32 by) { return __shfl_xor_sync(0xffffffffu, v, by); }
DEVICE u32 shuffle_up(u32 v, u32 by) { return __shfl_up_sync(0xffffffffu, v, by); }
[[maybe_unused]] DEVICE u32 shuffle_from(u32 v, u32 lane) { return __shfl_sync(0xffffffffu, v, lane); }
DEVICE u32 ones(u32 w) { return __popc(w); }
DEVICE u32 high_product(u32 a, u32 b) { return __umulhi(a, b); }
#define SHARED(type, name) __shared__ type name
DEVICE void block_barrier() { __syncthreads(); }
DEVICE u8 *dynamic_memory() {
    extern __shared__ __align__(16) u8 room[];
    return room;
}
#include "device.cuh"

#elif defined(__clang__) && defined(__CUDA__)

#define KERNEL extern "C" __attribute__((global)) void
#define KERNEL_OF_1024 extern "C" __attribute__((global)) __attribute__((launch_bounds(1024))) void
#define KERNEL_OF_768 extern "C" __attribute__((global)) __attribute__((launch_bounds(768))) void
#define KERNEL_OF_544 extern "C" __attribute__((global)) __attribute__((launch_bounds(544, 1))) void
#define DEVICE static __attribute__((device)) __attribute__((always_inline))
#define CALLED static __attribute__((device)) __attribute__((noinline))
DEVICE u32 block_index() { return __nvvm_read_ptx_sreg_ctaid_x(); }
DEVICE u32 block_count() { return __nvvm_read_ptx_sreg_nctaid_x(); }
DEVICE u32 block_size() { return __nvvm_read_ptx_sreg_ntid_x(); }
DEVICE u32 thread_in_block() { return __nvvm_read_ptx_sreg_tid_x(); }
DEVICE void add(i32 *p, i32 v) { __nvvm_atom_add_gen_i(p, v); }
DEVICE void add(u64 *p, u64 v) { __nvvm_atom_add_gen_ll((long long *)p, (long long)v); }
DEVICE u32 fetch_add(u32 *p, u32 v) { return (u32)__nvvm_atom_add_gen_i((i32 *)p, (i32)v); }
[[maybe_unused]] DEVICE void greatest(u32 *p, u32 v) { __nvvm_atom_max_gen_ui(p, v); }
[[maybe_unused]] DEVICE u64 replace(u64 *p, u64 old, u64 v) { return (u64)__nvvm_atom_cas_gen_ll((long long *)p, (long long)old, (long long)v); }
DEVICE u32 vote(bool b) { return __nvvm_vote_ballot_sync(0xffffffffu, b); }
DEVICE u32 shuffle_xor(u32 v, u32 by) { return __nvvm_shfl_sync_bfly_i32(0xffffffffu, v, by, 31); }
DEVICE u32 shuffle_up(u32 v, u32 by) { return __nvvm_shfl_sync_up_i32(0xffffffffu, v, by, 0); }
[[maybe_unused]] DEVICE u32 shuffle_from(u32 v, u32 lane) { return __nvvm_shfl_sync_idx_i32(0xffffffffu, v, lane, 31); }
DEVICE u32 ones(u32 w) { return __builtin_popcount(w); }
DEVICE u32 high_product(u32 a, u32 b) { return (u32)((u64)a * b >> 32); }
#define SHARED(type, name) static __attribute__((shared)) type name
DEVICE void block_barrier() { __syncthreads(); }
extern __attribute__((shared)) __attribute__((aligned(16))) u8 room[];
DEVICE u8 *dynamic_memory() { return room; }
#include "device.cuh"

#else

#include "primitives.h" // of internal/cuda/cudatest/host

#endif

// The thread's number in the grid, the number of threads in the grid, and the thread's place in its warp of 32.
DEVICE u64 thread_index() { return (u64)block_index() * block_size() + thread_in_block(); }
DEVICE u64 thread_count() { return (u64)block_count() * block_size(); }
DEVICE u32 lane() { return thread_in_block() % 32; }

// store_bits makes *word the warp's 32 answers, one bit a lane, and gives how many lanes before this one have answered yes.
// All lanes of the warp must call it.
DEVICE u32 store_bits(u32 *word, bool b) {
    u32 bits = vote(b);
    if (lane() == 0) *word = bits;
    return ones(bits & ((1u << lane()) - 1));
}

// store_sum makes *node the sum of the warp's 32 values. All lanes of the warp must call it; the last one may read *node.
DEVICE void store_sum(u64 *node, u64 v) {
    for (u32 by = 16; by > 0; by /= 2) {
        u32 low = shuffle_xor((u32)v, by), high = shuffle_xor((u32)(v >> 32), by);
        v += (u64)high << 32 | low;
    }
    if (lane() == 31) *node = v;
}

// sum_before is the sum of v over the warp's lanes before this one; *total becomes that over all. All lanes of the warp must
// call it.
DEVICE u32 sum_before(u32 *total, u32 v) {
    u32 sum = v;
    for (u32 by = 1; by < 32; by *= 2) {
        u32 other = shuffle_up(sum, by);
        if (lane() >= by) sum += other;
    }
    if (lane() == 31) *total = sum;
    return sum - v;
}

// sum_first is the sum of v[0] to v[n - 1]. All lanes of the warp must call it.
DEVICE u32 sum_first(const u32 *v, u32 n) {
    u32 sum = 0;
    for (u32 i = lane(); i < n; i += 32) sum += v[i];
    for (u32 by = 16; by > 0; by /= 2) sum += shuffle_xor(sum, by);
    return sum;
}

// read is *p as it is now: other threads write it meanwhile. replace makes *p v where it is old, and gives what it was. greatest makes *p v
// where that is more.
template <class T> DEVICE T read(const T *p) { return *(const volatile T *)p; }
