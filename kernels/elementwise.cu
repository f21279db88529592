#include "toolbox.cuh"

// Element by element, any number of blocks and threads:
//
//	for i := range out { out[i] = f(x[i], y[i]) }
#define BINARY(name, type, value)                                                      \
    KERNEL name(const type *x, const type *y, type *out, u64 n) {                      \
        for (u64 i = thread_index(); i < n; i += thread_count()) {                     \
            type a = x[i], b = y[i];                                                   \
            out[i] = value;                                                            \
        }                                                                              \
    }
#define UNARY(name, type, result, value)                                               \
    KERNEL name(const type *x, result *out, u64 n) {                                   \
        for (u64 i = thread_index(); i < n; i += thread_count()) {                     \
            type a = x[i];                                                             \
            out[i] = value;                                                            \
        }                                                                              \
    }

DEVICE c128 product(c128 a, c128 b) { return c128{a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re}; }

// quotient is Smith's: no square of b, which could overflow.
DEVICE c128 quotient(c128 a, c128 b) {
    if (absolute(b.re) >= absolute(b.im)) {
        f64 r = b.im / b.re, d = b.re + b.im * r;
        return c128{(a.re + a.im * r) / d, (a.im - a.re * r) / d};
    }
    f64 r = b.re / b.im, d = b.re * r + b.im;
    return c128{(a.re * r + a.im) / d, (a.im * r - a.re) / d};
}

// magnitude is sqrt(re^2 + im^2) without squares that could overflow.
DEVICE f64 magnitude(c128 a) {
    f64 x = absolute(a.re), y = absolute(a.im), large = x > y ? x : y, small = x > y ? y : x;
    if (large == 0 || large == small * 2 + large) return large + small; // 0, infinite, or small too small to count
    f64 r = small / large;
    return large * root(1 + r * r);
}

BINARY(add_f32, f32, a + b)
BINARY(sub_f32, f32, a - b)
BINARY(mul_f32, f32, a *b)
BINARY(div_f32, f32, a / b)
UNARY(neg_f32, f32, f32, -a)
UNARY(abs_f32, f32, f32, absolute(a))

BINARY(add_f64, f64, a + b)
BINARY(sub_f64, f64, a - b)
BINARY(mul_f64, f64, a *b)
BINARY(div_f64, f64, a / b)
UNARY(neg_f64, f64, f64, -a)
UNARY(abs_f64, f64, f64, absolute(a))

BINARY(add_c128, c128, (c128{a.re + b.re, a.im + b.im}))
BINARY(sub_c128, c128, (c128{a.re - b.re, a.im - b.im}))
BINARY(mul_c128, c128, product(a, b))
BINARY(div_c128, c128, quotient(a, b))
UNARY(neg_c128, c128, c128, (c128{-a.re, -a.im}))
UNARY(abs_c128, c128, f64, magnitude(a))
