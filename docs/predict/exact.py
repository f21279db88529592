"""The random numbers, functions, tables and hashes of docs/bits.md. Python's floats are IEEE 754 binary64; F rounds to binary32."""
import math
import struct

M32, M64 = 2**32 - 1, 2**64 - 1

def F(x):
    """The nearest float32. A sum, product, quotient or root of two of them, made in float64 and rounded here, is rounded correctly."""
    return struct.unpack("f", struct.pack("f", x))[0]

def bits32(x):
    return struct.unpack("<I", struct.pack("<f", x))[0]

def bits64(x):
    return struct.unpack("<Q", struct.pack("<d", x))[0]

def whole(x):
    """Halves away from zero."""
    a = math.floor(abs(x))
    return int(math.copysign(a + (abs(x) - a >= 0.5), x))

# Random numbers

WIRING, WEIGHT, DELAY, INITIAL, POISSON_DRIVE, NORMAL_DRIVE, POISSON, FORMULA = 1, 2, 3, 4, 5, 8, 9, 11

def philox(key, c0, c1, c2, c3):
    k0, k1 = key & M32, key >> 32
    for _ in range(10):
        p, q = c0 * 0xD2511F53, c2 * 0xCD9E8D57
        c0, c1, c2, c3 = (q >> 32) ^ c1 ^ k0, q & M32, (p >> 32) ^ c3 ^ k1, p & M32
        k0, k1 = (k0 + 0x9E3779B9) & M32, (k1 + 0xBB67AE85) & M32
    return c0, c1, c2, c3

def draw(seed, purpose, index, t):
    return philox(seed, index & M32, index >> 32, t & M32, purpose << 24 | t >> 32)

def numbers(seed, purpose, index, stream, attempt=0):
    a, b, c, d = draw(seed, purpose, index, stream | attempt << 32)
    return b << 32 | a, d << 32 | c

def below(x, n):
    return x * n >> 64

def uniform(x):
    return (x >> 11) * 2.0**-53

def normal(x):
    k = x >> 11
    if k >= 2**52:
        return -quantile((float(2**53 - 1 - k) + 0.5) * 2.0**-53)
    return quantile((float(k) + 0.5) * 2.0**-53)

# Functions

LOG2E, LN2_HIGH, LN2_LOW = (float.fromhex(s) for s in ("0x1.71547652b82fep+0", "0x1.62e42fep-1", "0x1.f473de6af278fp-30"))

def polynomial(r, coefficients):
    q = coefficients[-1]
    for c in reversed(coefficients[:-1]):
        q = q * r + c
    return q

EXP = [1 / math.factorial(k) for k in range(2, 15)]
LOG = [2 / k for k in range(3, 24, 2)]

def reduced(x):
    n = math.floor(x * LOG2E + 0.5)
    hi, lo = x - n * LN2_HIGH, n * LN2_LOW
    r = hi - lo
    return n, r, r * r * polynomial(r, EXP) + ((hi - r) - lo)

def exp(x):
    if x < -745.2:
        return 0.0
    n, r, tail = reduced(x)
    y = 1 + (r + tail)
    if n < -1022:
        return y * 2.0 ** (n + 200) * 2.0**-200
    return y * 2.0**n

def expm1(x):
    if abs(x) < 2.0**-54:
        return x
    if x < -40:
        return -1.0
    if x > 45:
        return exp(x)
    n, r, tail = reduced(x)
    if n == 0:
        return r + tail
    t = 2.0**n
    a, b = t - 1, t * r
    s = a + b
    return s + ((b - (s - a)) + t * tail)

def log(x):
    m, k = math.frexp(x)
    m, k = m * 2, k - 1
    if m >= float.fromhex("0x1.6a09e667f3bcdp+0"):
        m, k = m * 0.5, k + 1
    f = m - 1
    s = f / (2 + f)
    h = 0.5 * (f * f)
    z = s * s
    c = s * (h + z * polynomial(z, LOG)) + k * LN2_LOW
    return k * LN2_HIGH - ((h - c) - f)

def log1p(x):
    u = 1 + x
    if u == 1:
        return x
    if u <= 0 or u > 2.0**53:
        return log(u)
    return x * log(u) / (u - 1)

def table(text):
    return [float(s) for s in text.split()]

CENTRE = (table("3.3871328727963666080e0 1.3314166789178437745e2 1.9715909503065514427e3 1.3731693765509461125e4 "
                "4.5921953931549871457e4 6.7265770927008700853e4 3.3430575583588128105e4 2.5090809287301226727e3"),
          table("1 4.2313330701600911252e1 6.8718700749205790830e2 5.3941960214247511077e3 2.1213794301586595867e4 "
                "3.9307895800092710610e4 2.8729085735721942674e4 5.2264952788528545610e3"))
MIDDLE = (table("1.42343711074968357734e0 4.63033784615654529590e0 5.76949722146069140550e0 3.64784832476320460504e0 "
                "1.27045825245236838258e0 2.41780725177450611770e-1 2.27238449892691845833e-2 7.74545014278341407640e-4"),
          table("1 2.05319162663775882187e0 1.67638483018380384940e0 6.89767334985100004550e-1 1.48103976427480074590e-1 "
                "1.51986665636164571966e-2 5.47593808499534494600e-4 1.05075007164441684324e-9"))
FAR = (table("6.65790464350110377720e0 5.46378491116411436990e0 1.78482653991729133580e0 2.96560571828504891230e-1 "
             "2.65321895265761230930e-2 1.24266094738807843860e-3 2.71155556874348757815e-5 2.01033439929228813265e-7"),
       table("1 5.99832206555887937690e-1 1.36929880922735805310e-1 1.48753612908506148525e-2 7.86869131145613259100e-4 "
             "1.84631831751005468180e-5 1.42151175831644588870e-7 2.04426310338993978564e-15"))

def quantile(p):
    q = p - 0.5
    if abs(q) <= 0.425:
        r = 0.180625 - q * q
        return q * (polynomial(r, CENTRE[0]) / polynomial(r, CENTRE[1]))
    r = math.sqrt(-log(p if q < 0 else 1 - p))
    r, (above, under) = (r - 1.6, MIDDLE) if r <= 5 else (r - 5, FAR)
    x = polynomial(r, above) / polynomial(r, under)
    return -x if q < 0 else x

def exp32(a):
    """exp in a formula."""
    x = max(min(a, 89.0), -104.0)
    k = F(F(F(x * float.fromhex("0x1.715476p+0")) + 12582912) - 12582912)
    r = F(F(x - F(k * float.fromhex("0x1.63p-1"))) - F(k * float.fromhex("-0x1.bd0106p-13")))
    p = float.fromhex("0x1.a0d2cep-13")
    for c in ("0x1.6e879cp-10", "0x1.11121p-7", "0x1.555382p-5", "0x1.555554p-3", "0x1p-1"):
        p = F(F(p * r) + float.fromhex(c))
    e, left = F(F(F(p * F(r * r)) + r) + 1), abs(k)
    for d in (64, 64, 32, 16, 8, 4, 2, 1):
        if d <= left:
            e, left = F(e * 2.0 ** (-d if k < 0 else d)), left - d
    return e

def split32(x):
    m, e = x, 0
    for d in (64, 32, 16, 8, 4, 2, 1):
        if 2.0**d <= m:
            m, e = m * 2.0**-d, e + d
    for d in (64, 64, 32, 16, 8, 4, 2, 1):
        if m < 2.0 ** (1 - d):
            m, e = m * 2.0**d, e - d
    return (m * 0.5, e + 1) if m > float.fromhex("0x1.6a09e6p+0") else (m, e)

def horner32(x, c):
    p = F(c[0])
    for k in c[1:]:
        p = F(F(p * x) + F(k))
    return p

LOG32 = (7.0376836292e-2, -1.1514610310e-1, 1.1676998740e-1, -1.2420140846e-1, 1.4249322787e-1, -1.6668057665e-1, 2.0000714765e-1,
         -2.4999993993e-1, 3.3333331174e-1)

def log32(a):
    """log in a formula, of a finite number above 0."""
    m, e = split32(a)
    f = m - 1
    q = F(f * f)
    y = F(F(F(f * q) * horner32(f, LOG32)) + F(e * float.fromhex("-0x1.bd0106p-13")))
    y = F(y - F(q * 0.5))
    return F(F(f + y) + F(e * float.fromhex("0x1.63p-1")))

def random32(w):
    """random() in a formula, of the word that it draws."""
    return (w >> 8) * 2.0**-24

def normal32(w):
    """normal() in a formula, of the word that it draws."""
    tail = F(F(min(w, M32 - w)) + 0.5) * 2.0**-32
    q = F(0.5 - tail)
    if q <= F(0.425):
        r = F(F(0.180625) - F(q * q))
        A = horner32(r, (5.9109374720e+01, 1.5929113202e+02, 5.0434271938e+01, 3.3871327179e+00))
        z = F(q * F(A / horner32(r, (6.7187563600e+01, 7.8757757664e+01, 1.7895169469e+01, 1.0))))
    else:
        r = F(F(math.sqrt(-log32(tail))) - F(1.6))
        C = horner32(r, (1.7023821103e-01, 1.3067284816e+00, 2.7568153900e+00, 1.4234372777e+00))
        z = F(C / horner32(r, (1.2021132975e-01, 7.3700164250e-01, 1.0)))
    return z if w >= 2**31 else -z

def fast(u, v):
    s = F(u + v)
    return s, F(v - F(s - u))

def pair_sum(u, v):
    s = F(u + v)
    w = F(s - u)
    return s, F(F(u - F(s - w)) + F(v - w))

def halves(u):
    t = F(u * 4097)
    h = F(t - F(t - u))
    return h, F(u - h)

def product(u, v):
    p, (h, l), (i, k) = F(u * v), halves(u), halves(v)
    return p, F(F(F(F(F(h * i) - p) + F(h * k)) + F(l * i)) + F(l * k))

def times(x, y):
    p, r = product(x[0], y[0])
    return fast(p, F(r + F(F(x[0] * y[1]) + F(x[1] * y[0]))))

def pair(c):
    return F(c), F(c - F(c))

def pow32(a, b):
    """pow in a formula, of finite numbers and a result that is one; a above 0."""
    if b == 0 or a == 1:
        return 1.0
    c = 2 / math.log(2)
    m, e = split32(a)
    g, n = m - 1, pair_sum(m, 1.0)
    s = F(g / n[0])
    k = product(s, n[0])
    q = fast(s, F(F(F(F(g - k[0]) - k[1]) - F(s * n[1])) / n[0]))
    z = times(q, q)
    h, T = times(z, pair(c / 3)), horner32(z[0], (c / 13, c / 11, c / 9, c / 7, c / 5))
    t = pair_sum(h[0], F(F(z[0] * z[0]) * T))
    t = fast(t[0], F(t[1] + h[1]))
    C = pair(c)
    u = fast(C[0], t[0])
    u = fast(u[0], F(u[1] + F(C[1] + t[1])))
    l = times(q, u)
    L = pair_sum(float(e), l[0])
    L = fast(L[0], F(L[1] + l[1]))
    y = max(min(b, 2.0**32), -(2.0**32))
    Z = product(y, L[0])
    Z = fast(Z[0], F(Z[1] + F(y * L[1])))
    high, low, k = exp2_32(Z)
    return scaled32(F(high + low), k)

def exp2_32(Z):
    """2^Z of a pair as a sum and the power of 2 that it is to be multiplied by."""
    k = F(F(max(min(Z[0], 130.0), -152.0) + 12582912) - 12582912)
    f = fast(max(min(F(Z[0] - k), 1.0), -1.0), max(min(Z[1], 1.0), -1.0))
    r = []
    for n in range(7, 1, -1):
        x = 1.0
        for i in range(1, n + 1):
            x *= math.log(2) / i
        r.append(x)
    R, first = F(horner32(f[0], r) * F(f[0] * f[0])), times(f, pair(math.log(2)))
    p = fast(1.0, first[0])
    return p[0], F(p[1] + F(first[1] + R)), k

def scaled32(e, k):
    left = abs(k)
    for d in (64, 64, 32, 16, 8, 4, 2, 1):
        if d <= left:
            e, left = F(e * 2.0 ** (-d if k < 0 else d)), left - d
    return e

def parts_of_quarter():
    rest, parts = math.pi / 2, []
    for i in range(6):
        unit = 2.0 ** (-7 - 8 * i)
        parts.append(rest // unit * unit)
        rest -= parts[-1]
    return parts + [F(rest + 6.123233995736766e-17)]

def angle32(a, cosine):
    """sin or cos in a formula, of |a| <= 65536."""
    p = parts_of_quarter()
    k = F(F(F(a * F(2 / math.pi)) + 12582912) - 12582912)
    h, l = a, 0.0
    for part in p[:3]:
        h = F(h - F(k * part))
    for part in p[3:6]:
        h, e = pair_sum(h, F(k * -part))
        l = F(l + e)
    r = fast(h, F(l - F(k * p[6])))
    z = F(r[0] * r[0])
    y = F(z * 0.5)
    S = horner32(z, (-1.9515295891e-4, 8.3321608736e-3, -1.6666654611e-1))
    C = horner32(z, (2.443315711809948e-5, -1.388731625493765e-3, 4.166664568298827e-2))
    sin = F(r[0] + F(F(F(S * z) * r[0]) + F(r[1] * F(1 - y))))
    w = F(1 - y)
    cos = F(w + F(F(F(1 - w) - y) + F(F(F(C * z) * z) - F(r[0] * r[1]))))
    turns = int(k) + (1 if cosine else 0)
    if not cosine and abs(a) < 2.0**-12:
        return a
    out = cos if turns % 2 else sin
    return -out if turns % 4 >= 2 else out

def tanh32(a):
    """tanh in a formula, of a number."""
    if abs(a) < 2.0**-12:
        return a
    if abs(a) <= 0.625:
        z = F(a * a)
        P = horner32(z, (-5.70498872745e-3, 2.06390887954e-2, -5.37397155531e-2, 1.33314422036e-1, -3.33332819422e-1))
        return F(a + F(F(P * z) * a))
    x, L = min(abs(a), 10.0), pair(2 / math.log(2))
    t = product(x, L[0])
    e1, e2, k = exp2_32(fast(t[0], F(t[1] + F(x * L[1]))))
    e1, e2 = (scaled32(e, k) for e in fast(e1, e2))
    d = pair_sum(e1, 1.0)
    q = F(2 / d[0])
    b = product(q, d[0])
    g = F(F(F(2 - b[0]) - b[1]) - F(q * F(d[1] + e2)))
    y = fast(1.0, -q)
    return math.copysign(F(y[0] + F(y[1] - F(g / d[0]))), a)

# Tables of drives

def poisson_thresholds(rate, dt):
    mean = rate * dt / 1000
    term = total = exp(-mean)
    out, k = [], 1
    while True:
        threshold = whole(total * 2.0**32)
        if threshold >= 2**32 or k > mean and term < 2.0**-80:
            return out
        out.append(threshold)
        term = term * mean / k
        total, k = total + term, k + 1

def normal_thresholds():
    out = []
    for k in range(792):
        edge, lo, hi = ((k - 396) + 0.5) / 64, 0, M32
        while lo < hi:
            m = (lo + hi) // 2
            if quantile((m + 0.5) * 2.0**-32) < edge:
                lo = m + 1
            else:
                hi = m
        out.append(lo)
    return out

def passed(thresholds, x):
    lo, hi = 0, len(thresholds)
    while lo < hi:
        m = (lo + hi) // 2
        lo, hi = (m + 1, hi) if thresholds[m] <= x else (lo, m)
    return lo

# Digest and connectome hash

P1, P2, P3, P4, P5 = 11400714785074694791, 14029467366897019727, 1609587929392839161, 9650029242287828579, 2870177450012600261

def rotated(x, n):
    return (x << n | x >> (64 - n)) & M64

def xxhash64(data, seed):
    def rounded(acc, lane):
        return rotated((acc + lane * P2) & M64, 31) * P1 & M64
    at, n = 0, len(data)
    if n >= 32:
        v = [(seed + P1 + P2) & M64, (seed + P2) & M64, seed, (seed - P1) & M64]
        while at + 32 <= n:
            v = [rounded(a, lane) for a, lane in zip(v, struct.unpack_from("<4Q", data, at))]
            at += 32
        h = (rotated(v[0], 1) + rotated(v[1], 7) + rotated(v[2], 12) + rotated(v[3], 18)) & M64
        for a in v:
            h = ((h ^ rounded(0, a)) * P1 + P4) & M64
    else:
        h = (seed + P5) & M64
    h = (h + n) & M64
    while at + 8 <= n:
        h = (rotated(h ^ rounded(0, struct.unpack_from("<Q", data, at)[0]), 27) * P1 + P4) & M64
        at += 8
    if at + 4 <= n:
        h = (rotated(h ^ struct.unpack_from("<I", data, at)[0] * P1 & M64, 23) * P2 + P3) & M64
        at += 4
    for byte in data[at:]:
        h = rotated(h ^ byte * P5 & M64, 11) * P1 & M64
    h = (h ^ h >> 33) * P2 & M64
    h = (h ^ h >> 29) * P3 & M64
    return h ^ h >> 32

def fold(h, *values):
    for x in values:
        z = (h * 0x9E3779B97F4A7C15 + x) & M64
        z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9 & M64
        z = (z ^ z >> 27) * 0x94D049BB133111EB & M64
        h = z ^ z >> 31
    return h
