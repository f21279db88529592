// Formulas of pairs of neurons, worked out in float64 bit for bit as internal/formula's Kernel does, and their bounds by intervals, as its
// Over. They are interpreted: internal/formula's Code lists their steps.
#pragma once
#include "exact.cuh"

const u32 MOST_STEPS = 60, SLOTS = 24, NO_SLOT = 255, COLUMNS = 8;

enum formula_operator {
    OP_NUMBER, OP_NEG, OP_ABS, OP_FLOOR, OP_SQRT, OP_EXP, OP_LOG, OP_LOG1P, OP_PLUS, OP_MINUS, OP_TIMES, OP_OVER, OP_LEAST, OP_GREATEST, OP_POWER, OP_SELECT,
    OP_BELOW, OP_AT_MOST, OP_ABOVE, OP_AT_LEAST, OP_EQUAL, OP_UNEQUAL, OP_AND, OP_OR, OP_NOT
};

struct formula_step {
    f64 x;
    u8 what, to, a, b, c, spare[3];
};

struct formula {
    formula_step steps[MOST_STEPS];
    u32 count;                 // of steps; 0: there is no formula
    u8 reads[4 + 2 * COLUMNS]; // slots of d, dx, dy, dz, columns of the source and of the target; NO_SLOT: it does not read them
};

// tree is that of connectome/tree.go: neurons by place, and bounding boxes of nodes, all lower corners' coordinates of a node before the upper.
struct tree {
    const u32 *order;
    const f64 *boxes;
    u32 neurons, levels;
    u32 axes, first;    // the first axis of a column
    u8 column[COLUMNS]; // of each of these axes
};

// field is what formulas of a projection read, and the formulas.
struct field {
    const f64 *from_at, *to_at; // x, y, z of each neuron; null: formulas read none
    const f64 *from_column[COLUMNS], *to_column[COLUMNS];
    f64 period[3];  // 0: places do not repeat along the axis
    f64 top, slack; // above which the kernel counts as this; by how much likelihoods of a stretch may differ
    tree home, partners;
    u32 backward; // owners, whose tree is home, are the targets
    u32 spare;
    formula kernel, mask, weight, delay;
};

const f64 INFINITE = __builtin_inf(), NOT_A_NUMBER = __builtin_nan("");

DEVICE bool finite(f64 x) { return x - x == 0; }

// general_log is exact.Log, general_exp exact.Exp and exact_log1p exact.Log1p.
CALLED f64 general_log(f64 x) {
    if (x != x || x > 0x1.fffffffffffffp1023) return x;
    if (x < 0) return NOT_A_NUMBER;
    if (x == 0) return -INFINITE;
    return x < 0x1p-1022 ? exact_log(x * 0x1p54, 54) : exact_log(x);
}
CALLED f64 general_exp(f64 x) {
    if (x != x || x > 0x1.fffffffffffffp1023) return x;
    return x > 709.79 ? INFINITE : exact_exp(x);
}
DEVICE f64 exact_log1p(f64 x) {
    f64 u = 1 + x;
    if (u == 1) return x;
    if (u <= 0 || u > 0x1p53) return general_log(u);
    return x * general_log(u) / (u - 1);
}

// power is powerOf of internal/formula.
DEVICE f64 power(f64 a, f64 b) {
    if (b == 0 || a == 1) return 1;
    if (a == 0) return b < 0 ? INFINITE : 0;
    f64 p = general_exp(b * general_log(absolute(a)));
    if (a > 0) return p;
    if (__builtin_trunc(b) != b) return NOT_A_NUMBER;
    return __builtin_trunc(b / 2) * 2 != b ? -p : p;
}

// applied is an operator's number; conditions are 1 and 0.
DEVICE f64 applied(u32 what, f64 a, f64 b, f64 c) {
    switch (what) {
    case OP_NEG: return -a;
    case OP_ABS: return absolute(a);
    case OP_FLOOR: return __builtin_floor(a);
    case OP_SQRT: return root(a);
    case OP_EXP: return general_exp(a);
    case OP_LOG: return general_log(a);
    case OP_LOG1P: return exact_log1p(a);
    case OP_PLUS: return a + b;
    case OP_MINUS: return a - b;
    case OP_TIMES: return a * b;
    case OP_OVER: return a / b;
    case OP_LEAST: return a < b ? a : b;
    case OP_GREATEST: return b < a ? a : b;
    case OP_POWER: return power(a, b);
    case OP_SELECT: return a != 0 ? b : c;
    case OP_BELOW: return a < b;
    case OP_AT_MOST: return a <= b;
    case OP_ABOVE: return a > b;
    case OP_AT_LEAST: return a >= b;
    case OP_EQUAL: return a == b;
    case OP_UNEQUAL: return a != b;
    case OP_AND: return a != 0 && b != 0;
    case OP_OR: return a != 0 || b != 0;
    }
    return a == 0; // OP_NOT
}

// turns is how many periods e to take from x; wrapped is a difference of coordinates, the shorter way round.
DEVICE f64 turns(f64 x, f64 e) { return __builtin_floor(x / e + 0.5); }
DEVICE f64 wrapped(f64 x, f64 e) {
    f64 near = 0.499 * e;
    if (e == 0 || (-near < x && x < near)) return x;
    x -= e * turns(x, e);
    return x < -e / 2 ? -e / 2 : x > e / 2 ? e / 2 : x;
}

DEVICE f64 distance(f64 dx, f64 dy, f64 dz) { return root(dx * dx + dy * dy + dz * dz); }

// displacement is where a target lies as seen from a source: d, dx, dy and dz.
struct displacement {
    f64 v[4];
};

DEVICE displacement displacement_of(const field *q, u64 source, u64 target) {
    displacement p = {{0, 0, 0, 0}};
    if (q->from_at == nullptr) return p;
    for (int axis = 0; axis < 3; axis++) p.v[1 + axis] = wrapped(q->to_at[3 * target + axis] - q->from_at[3 * source + axis], q->period[axis]);
    p.v[0] = distance(p.v[1], p.v[2], p.v[3]);
    return p;
}

// formula_at is a formula's number.
CALLED f64 formula_at(const field *q, const formula *k, displacement at, u64 source, u64 target) {
    f64 r[SLOTS];
    for (int i = 0; i < 4; i++) {
        if (k->reads[i] != NO_SLOT) r[k->reads[i]] = at.v[i];
    }
    for (u32 i = 0; i < COLUMNS; i++) {
        if (k->reads[4 + i] != NO_SLOT) r[k->reads[4 + i]] = q->from_column[i][source];
        if (k->reads[4 + COLUMNS + i] != NO_SLOT) r[k->reads[4 + COLUMNS + i]] = q->to_column[i][target];
    }
    f64 x = 0;
    for (u32 i = 0; i < k->count; i++) {
        formula_step s = k->steps[i];
        x = s.what == OP_NUMBER ? s.x : applied(s.what, r[s.a], r[s.b], r[s.c]);
        r[s.to] = x;
    }
    return x;
}

DEVICE f64 number_of(const field *q, const formula *k, u64 source, u64 target) { return formula_at(q, k, displacement_of(q, source, target), source, target); }

// likelihood is how likely a pair is: its kernel where the mask holds.
CALLED f64 likelihood(const field *q, u64 source, u64 target) {
    displacement at = displacement_of(q, source, target);
    f64 value = 1;
    if (q->kernel.count > 0) {
        f64 x = formula_at(q, &q->kernel, at, source, target);
        value = !(x > 0) ? 0 : x > q->top ? q->top : x;
    }
    return q->mask.count > 0 && formula_at(q, &q->mask, at, source, target) == 0 ? 0 : value;
}

struct interval {
    f64 low, high;
};

DEVICE interval anything() { return interval{-INFINITE, INFINITE}; }

DEVICE f64 lesser(f64 a, f64 b) { return a < b ? a : b; }
DEVICE f64 larger(f64 a, f64 b) { return a < b ? b : a; }

// hull holds four numbers; anything where one is infinite or NaN.
DEVICE interval hull(f64 w, f64 x, f64 y, f64 z) {
    if (!finite(w) || !finite(x) || !finite(y) || !finite(z)) return anything();
    return interval{lesser(lesser(w, x), lesser(y, z)), larger(larger(w, x), larger(y, z))};
}

DEVICE interval magnitude(interval a) {
    if (a.low >= 0) return a;
    return a.high <= 0 ? interval{-a.high, -a.low} : interval{0, larger(-a.low, a.high)};
}

DEVICE interval wider(interval a) { return interval{a.low - absolute(a.low) * 0x1p-36, a.high + absolute(a.high) * 0x1p-36}; }

DEVICE interval truth(bool always, bool never) { return interval{always ? 1.0 : 0.0, never ? 0.0 : 1.0}; }

// over is an operator's interval: anything where its operands may leave what it is defined for.
DEVICE interval over(const formula_step *s, interval a, interval b, interval c) {
    switch (s->what) {
    case OP_NEG: return interval{-a.high, -a.low};
    case OP_ABS: return magnitude(a);
    case OP_PLUS: return interval{a.low + b.low, a.high + b.high};
    case OP_MINUS: return interval{a.low - b.high, a.high - b.low};
    case OP_TIMES:
        if (s->a == s->b) {
            a = magnitude(a);
            return interval{a.low * a.low, a.high * a.high};
        }
        return hull(a.low * b.low, a.low * b.high, a.high * b.low, a.high * b.high);
    case OP_OVER: return b.low <= 0 && b.high >= 0 ? anything() : hull(a.low / b.low, a.low / b.high, a.high / b.low, a.high / b.high);
    case OP_SQRT:
    case OP_FLOOR:
    case OP_LEAST:
    case OP_GREATEST:
        if (s->what == OP_SQRT && a.low < 0) return anything();
        return interval{applied(s->what, a.low, b.low, 0), applied(s->what, a.high, b.high, 0)};
    case OP_SELECT: return a.low > 0 ? b : a.high == 0 ? c : interval{lesser(b.low, c.low), larger(b.high, c.high)};
    case OP_POWER:
        if (a.low < 0 || (a.low == 0 && b.low <= 0)) return anything();
        return wider(hull(power(a.low, b.low), power(a.low, b.high), power(a.high, b.low), power(a.high, b.high)));
    case OP_EXP:
    case OP_LOG:
    case OP_LOG1P:
        if ((s->what == OP_LOG && a.low < 0) || (s->what == OP_LOG1P && a.low < -1)) return anything();
        return wider(interval{applied(s->what, a.low, 0, 0), applied(s->what, a.high, 0, 0)});
    case OP_BELOW: return truth(a.high < b.low, a.low >= b.high);
    case OP_ABOVE: return truth(b.high < a.low, b.low >= a.high);
    case OP_AT_MOST: return truth(a.high <= b.low, a.low > b.high);
    case OP_AT_LEAST: return truth(b.high <= a.low, b.low > a.high);
    case OP_EQUAL: return truth(false, a.high < b.low || b.high < a.low);
    case OP_UNEQUAL: return truth(a.high < b.low || b.high < a.low, false);
    case OP_AND: return interval{lesser(a.low, b.low), lesser(a.high, b.high)};
    case OP_OR: return interval{larger(a.low, b.low), larger(a.high, b.high)};
    }
    return interval{1 - a.high, 1 - a.low}; // OP_NOT
}

// formula_over is the interval that Kernel.Over has. v are those of what the formula reads, by the places of reads.
CALLED interval formula_over(const formula *k, const interval *v) {
    interval r[SLOTS], x = {0, 0};
    u32 loose = 0; // slots of numbers that may be infinite or NaN
    for (u32 i = 0; i < 4 + 2 * COLUMNS; i++) {
        if (k->reads[i] != NO_SLOT) r[k->reads[i]] = v[i];
    }
    for (u32 i = 0; i < k->count; i++) {
        formula_step s = k->steps[i];
        bool any = false;
        if (s.what == OP_NUMBER) x = interval{s.x, s.x};
        else {
            any = (loose >> s.a & 1) != 0 || (s.what >= OP_PLUS && s.what < OP_NOT && (loose >> s.b & 1) != 0) || (s.what == OP_SELECT && (loose >> s.c & 1) != 0);
            x = any ? anything() : over(&s, r[s.a], r[s.b], r[s.c]);
        }
        if (any && s.what >= OP_BELOW) {
            x = interval{0, 1};
            any = false;
        } else if (any || !finite(x.low) || !finite(x.high)) {
            x = anything();
            any = true;
        }
        r[s.to] = x;
        loose = (loose & ~(1u << s.to)) | (any ? 1u << s.to : 0);
    }
    return x;
}

// box is a coordinate of a node's lower or upper corner.
DEVICE f64 box(const tree *t, u32 node, u32 upper, u32 axis) { return t->boxes[(2 * (u64)node + upper) * t->axes + axis]; }

// way is the interval of wrapped differences, and the least and largest magnitude within it.
struct way {
    interval x;
    f64 least, most;
};
DEVICE way way_of(f64 low, f64 high, f64 e) {
    f64 a = wrapped(low, e), b = wrapped(high, e);
    way w = {{a, b}, larger(0, larger(a, -b)), larger(-a, b)};
    if (e == 0 || turns(low, e) == turns(high, e)) return w;
    w.least = turns(high, e) - turns(low, e) == 1 && a >= 0 && b <= 0 ? lesser(a, -b) : 0;
    w.x = interval{-e / 2, e / 2};
    w.most = e / 2;
    return w;
}

// bounds are what the pairs of a group's owners with a node's neurons are at least and at most.
DEVICE interval bounds(const field *q, u32 group, u32 node) {
    const tree *from = q->backward ? &q->partners : &q->home, *to = q->backward ? &q->home : &q->partners;
    u32 first = q->backward ? node : group, second = q->backward ? group : node;
    interval v[4 + 2 * COLUMNS];
    for (u32 i = 0; i < 4 + 2 * COLUMNS; i++) v[i] = interval{0, 0};
    if (q->from_at != nullptr) {
        f64 low[3], high[3];
        for (u32 axis = 0; axis < 3; axis++) {
            way w = way_of(box(to, second, 0, axis) - box(from, first, 1, axis), box(to, second, 1, axis) - box(from, first, 0, axis), q->period[axis]);
            v[1 + axis] = w.x;
            low[axis] = w.least;
            high[axis] = w.most;
        }
        v[0] = interval{distance(low[0], low[1], low[2]), distance(high[0], high[1], high[2])};
    }
    for (u32 axis = from->first; axis < from->axes; axis++) v[4 + from->column[axis - from->first]] = interval{box(from, first, 0, axis), box(from, first, 1, axis)};
    for (u32 axis = to->first; axis < to->axes; axis++) v[4 + COLUMNS + to->column[axis - to->first]] = interval{box(to, second, 0, axis), box(to, second, 1, axis)};
    interval all = {1, 1};
    if (q->kernel.count > 0) {
        interval r = formula_over(&q->kernel, v);
        all = interval{lesser(larger(0, r.low), q->top), lesser(larger(0, r.high), q->top)};
    }
    if (q->mask.count > 0) {
        interval r = formula_over(&q->mask, v);
        if (r.high <= 0) return interval{0, 0};
        if (r.low <= 0) all.low = 0;
    }
    return all;
}
