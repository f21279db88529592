// What a kernel of a user's own finds when the stand-in for NVRTC compiles it with g++: CUDA's keywords and names, without
// waiting for other threads.
#pragma once
#include "kernel.h"

struct place {
    unsigned x, y, z;
};
static place threadIdx, blockIdx, blockDim, gridDim;

#define __global__
#define __device__
#define __forceinline__ inline
static inline int atomicAdd(int *p, int v) {
    int old = *p;
    *p += v;
    return old;
}

extern "C" void host_place(const unsigned *at) {
    gridDim = {at[0], at[1], at[2]}, blockDim = {at[3], at[4], at[5]};
    blockIdx = {at[6], at[7], at[8]}, threadIdx = {at[9], at[10], at[11]};
}
