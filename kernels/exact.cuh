// Logarithm, exponential and normal quantile of draws, bit for bit those of internal/exact: each product, sum and quotient rounds on its
// own. They take only what draws give them; what else internal/exact answers is left out.
#pragma once
#include "toolbox.cuh"

const f64 LN2_HIGH = 0x1.62e42fep-01, LN2_LOW = 0x1.f473de6af278fp-30; // the first times any exponent is exact

DEVICE u64 bits_of(f64 x) {
    union { f64 value; u64 bits; } u;
    u.value = x;
    return u.bits;
}

// exact_log is exact.Log for a normal number above 0 times 2^−less.
DEVICE f64 exact_log(f64 x, i32 less = 0) {
    u64 bits = bits_of(x);
    f64 k = (f64)((i32)(bits >> 52) - 1023 - less);
    f64 m = from_bits((bits & 0xfffffffffffffull) | 1023ull << 52);
    if (m >= 1.41421356237309504880168872420969807856967187537694) {
        m *= 0.5;
        k += 1;
    }
    f64 f = m - 1, s = f / (2 + f), half = 0.5 * (f * f), z = s * s;
    f64 q = 2.0 / 23;
    q = q * z + 2.0 / 21;
    q = q * z + 2.0 / 19;
    q = q * z + 2.0 / 17;
    q = q * z + 2.0 / 15;
    q = q * z + 2.0 / 13;
    q = q * z + 2.0 / 11;
    q = q * z + 2.0 / 9;
    q = q * z + 2.0 / 7;
    q = q * z + 2.0 / 5;
    q = q * z + 2.0 / 3;
    f64 small = s * (half + q * z) + k * LN2_LOW;
    return k * LN2_HIGH - ((half - small) - f);
}

// exact_exp is exact.Exp for numbers up to 709.79.
DEVICE f64 exact_exp(f64 x) {
    if (x < -745.2) return 0;
    f64 n = __builtin_floor(x * 0x1.71547652b82fep+00 + 0.5);
    f64 high = x - n * LN2_HIGH, low = n * LN2_LOW, r = high - low;
    f64 q = 1.0 / 87178291200.0;
    q = q * r + 1.0 / 6227020800.0;
    q = q * r + 1.0 / 479001600;
    q = q * r + 1.0 / 39916800;
    q = q * r + 1.0 / 3628800;
    q = q * r + 1.0 / 362880;
    q = q * r + 1.0 / 40320;
    q = q * r + 1.0 / 5040;
    q = q * r + 1.0 / 720;
    q = q * r + 1.0 / 120;
    q = q * r + 1.0 / 24;
    q = q * r + 1.0 / 6;
    q = q * r + 1.0 / 2;
    f64 tail = r * r * q + ((high - r) - low), y = 1 + (r + tail);
    i32 k = (i32)n;
    if (k > 1023) return y * 0x1p1023 * power2(k - 1023, x);
    if (k < -1022) return y * power2(k + 200, x) * 0x1p-200;
    return y * power2(k, x);
}

// ratio is the quotient of two polynomials of r, constant terms first.
DEVICE f64 ratio(f64 r, const f64 (&above)[8], const f64 (&below)[8]) {
    f64 n = above[7], d = below[7];
    for (int i = 6; i >= 0; i--) {
        n = n * r + above[i];
        d = d * r + below[i];
    }
    return n / d;
}

// lower_quantile is exact.NormalQuantile for 0 < p < 1/2: Wichura's algorithm AS 241, PPND16.
DEVICE f64 lower_quantile(f64 p) {
    const f64 centre[8] = {3.3871328727963666080e0, 1.3314166789178437745e2, 1.9715909503065514427e3, 1.3731693765509461125e4,
                           4.5921953931549871457e4, 6.7265770927008700853e4, 3.3430575583588128105e4, 2.5090809287301226727e3};
    const f64 under_centre[8] = {1, 4.2313330701600911252e1, 6.8718700749205790830e2, 5.3941960214247511077e3,
                                 2.1213794301586595867e4, 3.9307895800092710610e4, 2.8729085735721942674e4, 5.2264952788528545610e3};
    const f64 middle[8] = {1.42343711074968357734e0, 4.63033784615654529590e0, 5.76949722146069140550e0, 3.64784832476320460504e0,
                           1.27045825245236838258e0, 2.41780725177450611770e-1, 2.27238449892691845833e-2, 7.74545014278341407640e-4};
    const f64 under_middle[8] = {1, 2.05319162663775882187e0, 1.67638483018380384940e0, 6.89767334985100004550e-1,
                                 1.48103976427480074590e-1, 1.51986665636164571966e-2, 5.47593808499534494600e-4, 1.05075007164441684324e-9};
    const f64 far[8] = {6.65790464350110377720e0, 5.46378491116411436990e0, 1.78482653991729133580e0, 2.96560571828504891230e-1,
                        2.65321895265761230930e-2, 1.24266094738807843860e-3, 2.71155556874348757815e-5, 2.01033439929228813265e-7};
    const f64 under_far[8] = {1, 5.99832206555887937690e-1, 1.36929880922735805310e-1, 1.48753612908506148525e-2,
                              7.86869131145613259100e-4, 1.84631831751005468180e-5, 1.42151175831644588870e-7, 2.04426310338993978564e-15};
    f64 q = p - 0.5;
    if (-q <= 0.425) return q * ratio(0.180625 - q * q, centre, under_centre);
    f64 r = root(-exact_log(p));
    return -(r <= 5 ? ratio(r - 1.6, middle, under_middle) : ratio(r - 5, far, under_far));
}

// exact_normal is exact.Normal of the word x, exact_uniform exact.Uniform.
DEVICE f64 exact_normal(u64 x) {
    u64 k = x >> 11, half = 1ull << 52;
    bool upper = k >= half;
    f64 lower = lower_quantile(((f64)(upper ? 2 * half - 1 - k : k) + 0.5) * 0x1p-53);
    return upper ? -lower : lower;
}
DEVICE f64 exact_uniform(u64 x) { return (f64)(x >> 11) * 0x1p-53; }
