// What the toolbox needs beyond burst.cuh: floating-point numbers, memory that a block shares, and waiting for each other.
#pragma once
#include "burst.cuh"

typedef float f32;
typedef double f64;

struct alignas(16) c128 {
    f64 re, im;
};

static_assert(sizeof(f32) == 4 && sizeof(f64) == 8 && sizeof(c128) == 16, "the host fills arrays of these sizes");

const u32 BLOCK = 256; // threads of a block in the kernels that share memory

// AT_LEAST(n) limits a kernel's registers so that n blocks of BLOCK threads run at once
// on a multiprocessor.

#if defined(__NVCC__) || defined(__CUDACC_RTC__)

#define AT_LEAST(blocks) __launch_bounds__(BLOCK, blocks)
DEVICE void fence() { __threadfence(); }
DEVICE void relax() {}
DEVICE f32 fused(f32 a, f32 b, f32 c) { return __fmaf_rn(a, b, c); }
DEVICE f64 fused(f64 a, f64 b, f64 c) { return __fma_rn(a, b, c); }
DEVICE f32 root(f32 x) { return __fsqrt_rn(x); }
DEVICE f64 root(f64 x) { return __dsqrt_rn(x); }

#elif defined(__clang__) && defined(__CUDA__)

#define AT_LEAST(blocks) __attribute__((launch_bounds(BLOCK, blocks)))
DEVICE void fence() { __nvvm_membar_gl(); }
DEVICE void relax() {}
DEVICE f32 fused(f32 a, f32 b, f32 c) { return __nvvm_fma_rn_f(a, b, c); }
DEVICE f64 fused(f64 a, f64 b, f64 c) { return __nvvm_fma_rn_d(a, b, c); }
DEVICE f32 root(f32 x) { return __nvvm_sqrt_rn_f(x); }
DEVICE f64 root(f64 x) { return __nvvm_sqrt_rn_d(x); }

#else

#define AT_LEAST(blocks)
DEVICE void fence() {}
DEVICE void relax() { yield(); }
DEVICE f32 fused(f32 a, f32 b, f32 c) { return __builtin_fmaf(a, b, c); }
DEVICE f64 fused(f64 a, f64 b, f64 c) { return __builtin_fma(a, b, c); }
DEVICE f32 root(f32 x) { return __builtin_sqrtf(x); }
DEVICE f64 root(f64 x) { return __builtin_sqrt(x); }

#endif

// from_bits is the number with these bits; absolute clears the sign of any number, zero and NaN included.
DEVICE f32 from_bits(u32 bits) {
    union { u32 bits; f32 value; } u;
    u.bits = bits;
    return u.value;
}
DEVICE f64 from_bits(u64 bits) {
    union { u64 bits; f64 value; } u;
    u.bits = bits;
    return u.value;
}
DEVICE f32 absolute(f32 x) {
    union { f32 value; u32 bits; } u;
    u.value = x;
    return from_bits(u.bits & 0x7fffffffu);
}
DEVICE f64 absolute(f64 x) {
    union { f64 value; u64 bits; } u;
    u.value = x;
    return from_bits(u.bits & 0x7fffffffffffffffull);
}

// power2 is 2^n of a normal number; the last parameter only chooses the type.
DEVICE f32 power2(i32 n, f32) { return from_bits((u32)(n + 127) << 23); }
DEVICE f64 power2(i32 n, f64) { return from_bits((u64)(n + 1023) << 52); }
