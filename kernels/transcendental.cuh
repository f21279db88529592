// exp and tanh without a device math library, the same bits from every compiler. x = n ln 2 + r with |r| <= ln(2)/2, and
// expm1(r) by its Taylor series, whose rest is below half a unit in the last place. Errors against the exact value, measured
// by backend/cuda/doctor's tests: at most 3 units in the last place.
#pragma once
#include "toolbox.cuh"

// nearest is the whole number nearest to a small x.
template <class T> DEVICE i32 nearest(T x) { return (i32)(x < 0 ? x - (T)0.5 : x + (T)0.5); }

// expm1_reduced is expm1(r) and n for a finite x.
DEVICE f32 expm1_reduced(f32 x, i32 *n) {
    *n = nearest(x * 1.44269504f);
    f32 r = fused((f32)-*n, 0x1.62e4p-1f, x);
    r = fused((f32)-*n, 0x1.7f7d1cp-20f, r);
    f32 p = 1.f / 5040;
    p = fused(p, r, 1.f / 720);
    p = fused(p, r, 1.f / 120);
    p = fused(p, r, 1.f / 24);
    p = fused(p, r, 1.f / 6);
    p = fused(p, r, 0.5f);
    return fused(p * r, r, r);
}
DEVICE f64 expm1_reduced(f64 x, i32 *n) {
    *n = nearest(x * 1.4426950408889634);
    f64 r = fused((f64)-*n, 0x1.62e42fee00000p-1, x);
    r = fused((f64)-*n, 0x1.a39ef35793c76p-33, r);
    f64 p = 1. / 6227020800;
    p = fused(p, r, 1. / 479001600);
    p = fused(p, r, 1. / 39916800);
    p = fused(p, r, 1. / 3628800);
    p = fused(p, r, 1. / 362880);
    p = fused(p, r, 1. / 40320);
    p = fused(p, r, 1. / 5040);
    p = fused(p, r, 1. / 720);
    p = fused(p, r, 1. / 120);
    p = fused(p, r, 1. / 24);
    p = fused(p, r, 1. / 6);
    p = fused(p, r, 0.5);
    return fused(p * r, r, r);
}

// Beyond these exp is 0 and infinity.
DEVICE f32 exp_low(f32) { return -105; }
DEVICE f32 exp_high(f32) { return 90; }
DEVICE f64 exp_low(f64) { return -747; }
DEVICE f64 exp_high(f64) { return 711; }

// exponential is e^x; it overflows to infinity and fades to 0 through the denormal numbers.
template <class T> DEVICE T exponential(T x) {
    if (x != x) return x;
    if (x < exp_low(x)) x = exp_low(x);
    if (x > exp_high(x)) x = exp_high(x);
    i32 n;
    T p = expm1_reduced(x, &n);
    return (1 + p) * power2(n / 2, x) * power2(n - n / 2, x); // 2^n itself may be no normal number
}

// logistic is 1 / (1 + e^-x), accurate on both sides.
template <class T> DEVICE T logistic(T x) {
    T e = exponential(-absolute(x));
    return (x < 0 ? e : 1) / (1 + e);
}

// hyperbolic_tangent is t / (t + 2) with t = e^2|x| - 1, which keeps small x.
template <class T> DEVICE T hyperbolic_tangent(T x) {
    T a = absolute(x);
    if (a != a) return x;
    if (a > 22) a = 22; // 1 in both types
    i32 n;
    T p = expm1_reduced(2 * a, &n), two = power2(n, x), t = fused(two, p, two - 1);
    T y = t / (t + 2);
    return x < 0 ? -y : x > 0 ? y : x;
}
