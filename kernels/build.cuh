// The synapses of a network's projections, drawn by the recipes of connectome/doc.go: the same as connectome.Build makes, in no order.
#pragma once
#include "formula.cuh"
#include "network.cuh"
#include "philox.cuh"

const i64 OVERFLOW_QUANTA = 1ll << 31; // stands for every amount outside int32
const u64 ATTEMPTS = 1 << 16;          // draws for a bounded value
const u32 ROUNDS = 12;                 // of a permutation

enum wiring_rule { ONE_TO_ONE, ALL_TO_ALL, INDEGREE, OUTDEGREE, TOTAL, BERNOULLI, PAIRWISE_POISSON, BY_DISTANCE };
enum distribution { CONSTANT, UNIFORM, NORMAL, LOGNORMAL, BY_FORMULA };

// sampler draws the weight or the delay of a synapse.
struct sampler {
    f64 a, b;      // CONSTANT: a. UNIFORM: ends. NORMAL: mean and standard deviation. BY_FORMULA: a is what the formula's number is divided by
    f64 low, high; // bounds
    f64 mu, sd;    // LOGNORMAL: of the logarithm
    u32 kind, low_open, high_open, clip;
};

// projection is what makes synapses from one area to another.
struct projection {
    u64 number; // in the genome: the stream of its draws
    u64 sources, targets;
    u64 count; // synapses of an owner, or in all
    u64 units; // of work
    u64 share; // ⌊(2^64−1)/units of an owner⌋, see owner_of
    u64 keep;  // per cent of the synapses
    u64 pairs, left, right, keys[ROUNDS]; // the permutation of TOTAL without multapses
    u64 slots;                            // of a thread's table of choices, a power of two; 0: an owner may choose twice
    f64 p, log;                           // BERNOULLI: the likelihood, log(1-p), 0 where p is 1. PAIRWISE_POISSON: the average is p
    f64 scale, factor;                    // quanta a unit; psp of the source area
    i64 lift;                             // M of a target area that rectifies, else 0
    i64 fixed;                            // quanta of a constant weight, lifted
    sampler weight, delay;
    u32 rule, from, to, port, split; // first neurons; port of the first target, and from it to that of weights < 0
    u32 no_self, both;
    u32 fixed_delay, longest_delay; // bursts: of a constant one, and what a synapse may have
    u32 index;                      // among the projections
    u32 label;                      // of the constant weight, where rows are packed from the start
    const field *formulas;          // null: it has none
};

// building is a network, or a part of one, that is being built.
struct building {
    u32 keys[2 * PHILOX_ROUNDS]; // of the seed: worked out by each thread they would take its registers
    u64 *row;           // while counting: synapses of every neuron; else where its row begins
    u32 *cursor;        // by neuron, synapses placed
    u32 *target;        // ports
    i32 *weight;        // quanta; null: rows are packed, a word of target is a port and from bit port_bits on its weight's label
    u8 *short_delay;    // null: there are none
    u16 *long_delay;
    u64 *sums;          // |weight| by port
    u64 *made;          // while counting: synapses by projection
    u32 *found;         // the longest delay, and whether a value could not be used
    u32 *tables;        // of the threads' choices
    u64 first, neurons; // rows that are made: from one up to, but without, another
    part own;           // of the network
    u32 port_bits;      // of a port
    u32 low_bits;       // of a key, see key_of
    i32 least;          // weight
    u32 delay_bits;     // of a delay; 0: all are 1
    u32 join_bits;      // of a delay that lies below the weight, in its word; 0: it does not
    u32 key_bytes;      // of keys that synapses are until their row is made, in target and from the 5th byte on in weight; 0: they are none
};

// below is a number 0…n−1 of the word x: the upper half of their product.
DEVICE u64 below(u64 x, u64 n) {
    u64 x0 = (u32)x, x1 = x >> 32, n0 = (u32)n, n1 = n >> 32;
    u64 middle = x1 * n0 + (x0 * n0 >> 32);
    return x1 * n1 + (middle >> 32) + ((x0 * n1 + (u32)middle) >> 32);
}

struct two_words {
    u64 x, y;
};

// words_of is draw of philox.cuh.
DEVICE two_words words_of(const building *b, purpose of, u64 index, u64 stream) {
    words w = {{(u32)index, (u32)(index >> 32), (u32)stream, (u32)of << 24 | ((u32)(stream >> 32) & 0xffffffu)}};
    for (int round = 0; round < PHILOX_ROUNDS; round++) philox_round(&w, b->keys[2 * round], b->keys[2 * round + 1]);
    return two_words{(u64)w.w[1] << 32 | w.w[0], (u64)w.w[3] << 32 | w.w[2]};
}

// These are called, not repeated wherever they are needed: they would take most of the registers there.
CALLED f64 normal_of(u64 word) { return exact_normal(word); }
CALLED f64 exponential_of(f64 x) { return exact_exp(x); }
CALLED f64 log_of(u64 word) { return exact_log(1 - exact_uniform(word)); } // of 1 less the uniform number

// value is what a sampler draws for an index; *drained is set where no attempt fell within the bounds.
DEVICE f64 value(const building *b, const sampler *s, purpose of, u64 index, u64 stream, bool *drained) {
    if (s->kind == CONSTANT) return s->a;
    for (u64 attempt = 0; attempt < ATTEMPTS; attempt++) {
        u64 word = words_of(b, of, index, stream | attempt << 32).x;
        f64 x;
        if (s->kind == UNIFORM) x = s->a + (s->b - s->a) * exact_uniform(word);
        else {
            f64 z = normal_of(word);
            x = s->kind == NORMAL ? s->a + s->b * z : exponential_of(s->mu + s->sd * z);
            if (s->kind == LOGNORMAL && s->a < 0) x = -x;
        }
        if (s->clip) return x < s->low ? s->low : x > s->high ? s->high : x;
        if (x < s->low || x > s->high || (s->low_open && x == s->low) || (s->high_open && x == s->high)) continue;
        return x;
    }
    *drained = true;
    return 0;
}

// whole is quanta.Nearest: halves go away from zero.
DEVICE f64 whole(f64 x) {
    f64 a = absolute(x), n = __builtin_floor(a);
    if (a - n >= 0.5) n += 1;
    return x < 0 ? -n : n;
}

// quanta_at is quanta.Of, lifted.
DEVICE i64 quanta_at(f64 amount, f64 scale, i64 by) {
    f64 n = whole(amount * scale);
    if (absolute(n) > 2147483647) return n < 0 ? -OVERFLOW_QUANTA : OVERFLOW_QUANTA;
    i64 q = (i64)n;
    if (by == 0) return q;
    q *= by;
    return q <= 0 ? q - 1 : q;
}

// wanted reports whether a synapse is made.
DEVICE bool wanted(const building *b, const projection *p, u64 target, u64 ordinal) {
    if (!owns(b->own, p->to + (u32)target)) return false;
    return p->keep == 100 || below(words_of(b, ATTRACTIVITY, ordinal, p->number).x, 100) < p->keep;
}

// is_made reports whether the row of a neuron is made, where rows are made some at a time.
DEVICE bool is_made(const building *b, u64 n) { return n >= b->first && n < b->neurons; }

// tallies are what a thread has found of its synapses.
struct tallies {
    u32 longest; // delay
    bool bad;    // a value could not be used
};

// report adds them to those of all threads. All lanes of the warp must call it.
DEVICE void report(const building *b, tallies f) {
    u32 longest = f.longest;
    for (u32 by = 16; by > 0; by /= 2) {
        u32 other = shuffle_xor(longest, by);
        longest = other > longest ? other : longest;
    }
    u32 bad = vote(f.bad);
    if (lane() > 0) return;
    greatest(b->found, longest);
    if (bad != 0) greatest(b->found + 1, 1);
}

// add_warp adds the numbers of a warp's lanes to *sum. All of them must call it.
DEVICE void add_warp(u64 *sum, u64 v) {
    for (u32 by = 16; by > 0; by /= 2) {
        u32 low = shuffle_xor((u32)v, by), high = shuffle_xor((u32)(v >> 32), by);
        v += (u64)high << 32 | low;
    }
    if (lane() == 0 && v != 0) add(sum, v);
}

struct synapse {
    u32 port;
    i32 weight;
    u32 delay;
};

// has_delays reports whether synapses have delays; else all are 1.
DEVICE bool has_delays(const building *b) { return b->delay_bits > 0; }

// value_of is the value of a synapse, which may be that of a formula where there are FORMULAS; *bad is set where there is none.
template <bool FORMULAS> DEVICE f64 value_of(const building *b, const projection *p, const sampler *s, purpose of, u64 source, u64 target, u64 ordinal, bool *bad) {
    if (!FORMULAS || s->kind != BY_FORMULA) return value(b, s, of, ordinal, p->number, bad);
    const field *q = p->formulas;
    f64 x = number_of(q, of == WEIGHT_DRAW ? &q->weight : &q->delay, source, target) / s->a;
    *bad = *bad || x != x;
    return x != x ? 0 : x;
}

// valued gives a synapse its values, and adds up what is wanted of them.
template <bool FORMULAS> DEVICE synapse valued(const building *b, const projection *p, u64 source, u64 target, u64 ordinal, tallies *f) {
    bool bad = false;
    i64 q = p->fixed, most = OVERFLOW_QUANTA - 1;
    if (p->weight.kind != CONSTANT) {
        q = quanta_at(value_of<FORMULAS>(b, p, &p->weight, WEIGHT_DRAW, source, target, ordinal, &bad) * p->factor, p->scale, p->lift);
    }
    synapse s = {p->port + (u32)target + (q < 0 ? p->split : 0), (i32)(q > most ? most : q < -most ? -most : q), p->fixed_delay};
    add(b->sums + s.port, (u64)(q < 0 ? -q : q));
    if (has_delays(b) && p->delay.kind != CONSTANT) {
        f64 d = whole(value_of<FORMULAS>(b, p, &p->delay, DELAY_DRAW, source, target, ordinal, &bad));
        bad = bad || !(1 <= d && d <= p->longest_delay);
        s.delay = bad ? 1 : (u32)d;
    }
    f->longest = s.delay > f->longest ? s.delay : f->longest;
    f->bad = f->bad || bad;
    return s;
}

// A key is a delay, a port, and in low_bits a label or a weight less the least, so that keys ascend as synapses do. Where all delays are
// 1 it has none.
template <class K> DEVICE K key_of(const building *b, synapse s, u32 label) {
    K delay = has_delays(b) ? s.delay : 0, low = b->weight == nullptr ? label : (u32)s.weight - (u32)b->least;
    return (delay << b->port_bits | s.port) << b->low_bits | low;
}

// store makes a synapse the k-th one. Where rows are packed it has the label of its projection.
DEVICE void store(const building *b, u64 k, synapse s, u32 label) {
    b->target[k] = b->weight == nullptr ? s.port | label << b->port_bits : s.port;
    if (b->weight != nullptr) b->weight[k] = (i32)((u32)s.weight << b->join_bits | (b->join_bits > 0 ? s.delay : 0));
    if (b->short_delay != nullptr) b->short_delay[k] = (u8)s.delay;
    if (b->long_delay != nullptr) b->long_delay[k] = (u16)s.delay;
}

// store_key is store of a key until the row is made, where synapses are keys.
DEVICE void store_key(const building *b, u64 k, u64 key) {
    b->target[k] = (u32)key;
    if (b->key_bytes == 8) b->weight[k] = (i32)(key >> 32);
}

// store_placed is store until the row is made.
DEVICE void store_placed(const building *b, u64 k, synapse s, u32 label) {
    if (b->key_bytes == 0) store(b, k, s, label);
    else store_key(b, k, key_of<u64>(b, s, label));
}

// past maps 0…n−2 to the neurons other than self where it is forbidden.
DEVICE u64 past(const projection *p, u64 self, u64 n) { return p->no_self && n >= self ? n + 1 : n; }
DEVICE u64 others(const projection *p, u64 n) { return p->no_self ? n - 1 : n; }

// walk goes along the synapses that a unit of work makes.
struct walk {
    u64 unit;
    u64 at;      // what is next: a target, a number of a draw, or 1 where the only synapse is made
    f64 reached; // PAIRWISE_POISSON: how far along the row
    bool mirror; // the last synapse is made the other way as well
    u64 source, target, ordinal;
};

// pick is one of 0…last that the table has not, which it then has (Floyd's sampling).
DEVICE u64 pick(u32 *table, u64 slots, u64 x, u64 last) {
    u64 n = below(x, last + 1);
    for (;;) {
        u64 i = n * 0x9e3779b97f4a7c15ull >> 32 & (slots - 1);
        while (table[i] != 0 && table[i] != (u32)(n + 1)) i = (i + 1) & (slots - 1);
        if (table[i] == 0) {
            table[i] = (u32)(n + 1);
            return n;
        }
        n = last;
    }
}

DEVICE u64 mix(u64 x) {
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ull;
    x = (x ^ x >> 27) * 0x94d049bb133111ebull;
    return x ^ x >> 31;
}
DEVICE u64 turned(u64 x, u64 by, u64 n) { return x + by >= n ? x + by - n : x + by; }

// permuted is the x-th pair in the order of a keyed permutation: a Feistel network, walked until it is back below pairs.
DEVICE u64 permuted(const projection *p, u64 x) {
    do {
        u64 l = x / p->right, r = x % p->right;
        for (u32 i = 0; i < ROUNDS; i += 2) {
            l = turned(l, below(mix(r ^ p->keys[i]), p->left), p->left);
            r = turned(r, below(mix(l ^ p->keys[i + 1]), p->right), p->right);
        }
        x = l * p->right + r;
    } while (x >= p->pairs);
    return x;
}

// owner_of is unit / each for units that are dealt to owners, so many each, with p->share for that number.
DEVICE u64 owner_of(const projection *p, u64 unit, u64 each) {
    u64 owner = below(unit, p->share);
    return unit - owner * each >= each ? owner + 1 : owner;
}

// owned is the next synapse of a neuron of one side, which chooses count partners of the other, none twice where there is a table.
DEVICE bool owned(const building *b, const projection *p, walk *w, u32 *table) {
    bool incoming = p->rule == INDEGREE, distinct = p->slots > 0;
    u64 owner = distinct ? w->unit : owner_of(p, w->unit, p->count);
    if (w->at == (distinct ? p->count : 1) || (incoming && !owns(b->own, p->to + (u32)owner))) return false;
    if (distinct && w->at == 0) {
        for (u64 i = 0; i < p->slots; i++) table[i] = 0;
    }
    w->ordinal = distinct ? owner * p->count + w->at : w->unit;
    u64 x = words_of(b, WIRING, w->ordinal, p->number).x, choices = others(p, incoming ? p->sources : p->targets);
    u64 partner = past(p, owner, distinct ? pick(table, p->slots, x, choices - p->count + w->at) : below(x, choices));
    w->at++;
    w->source = incoming ? partner : owner;
    w->target = incoming ? owner : partner;
    return true;
}

// jump is the next synapse of a source's row of pairs that are made with one likelihood.
DEVICE bool jump(const building *b, const projection *p, walk *w) {
    u64 s = w->unit;
    if (w->mirror) {
        w->mirror = false;
        w->source = w->target;
        w->target = s;
        w->ordinal = w->source * p->targets + s;
        return true;
    }
    if (p->both && w->at < s) w->at = s;
    do {
        if (w->at >= p->targets) return false;
        if (p->log != 0) {
            f64 gap = __builtin_floor(log_of(words_of(b, WIRING, s * p->targets + w->at, p->number).x) / p->log);
            if (gap >= (f64)(p->targets - w->at)) return false;
            w->at += (u64)gap;
        }
        w->target = w->at++;
    } while (p->no_self && w->target == s);
    w->source = s;
    w->ordinal = s * p->targets + w->target;
    w->mirror = p->both && w->target != s;
    return true;
}

// drift is the next synapse of a source's row along which the distances between synapses are exponential.
DEVICE bool drift(const building *b, const projection *p, walk *w) {
    do {
        w->ordinal = (w->unit << 32) + w->at++;
        w->reached += -log_of(words_of(b, WIRING, w->ordinal, p->number).x) / p->p;
        f64 t = __builtin_floor(w->reached);
        if (t >= (f64)p->targets) return false;
        w->target = (u64)t;
    } while (p->no_self && w->target == w->unit);
    w->source = w->unit;
    return true;
}

// along is how many synapses each source of a projection draws where its row is made; 0: they are placed before.
DEVICE u64 along(const projection *p) {
    switch (p->rule) {
    case ONE_TO_ONE: return 1;
    case ALL_TO_ALL: return p->targets;
    case OUTDEGREE: return p->slots == 0 ? p->count : 0;
    }
    return 0;
}

// of_row is the j-th of these synapses, and reports whether it is made.
DEVICE bool of_row(const building *b, const projection *p, u64 source, u64 j, u64 *target, u64 *ordinal) {
    *target = p->rule == ONE_TO_ONE ? source : j;
    *ordinal = source * p->targets + *target;
    if (p->rule != OUTDEGREE) return p->rule == ONE_TO_ONE || !p->no_self || source != j;
    *ordinal = source * p->count + j;
    *target = past(p, source, below(words_of(b, WIRING, *ordinal, p->number).x, others(p, p->targets)));
    return true;
}

// next goes to the next synapse of a unit of work, and reports whether there is one.
DEVICE bool next(const building *b, const projection *p, walk *w, u32 *table) {
    u64 each = along(p);
    if (p->rule == INDEGREE || (p->rule == OUTDEGREE && each == 0)) return owned(b, p, w, table);
    if (p->rule == BERNOULLI) return jump(b, p, w);
    if (p->rule == PAIRWISE_POISSON) return drift(b, p, w);
    if (w->at++ > 0) return false;
    if (each > 0) {
        w->source = owner_of(p, w->unit, each);
        return of_row(b, p, w->source, w->unit - w->source * each, &w->target, &w->ordinal);
    }
    w->ordinal = w->unit;
    two_words x = words_of(b, WIRING, w->unit, p->number);
    u64 among = others(p, p->targets), pair = p->pairs > 0 ? permuted(p, w->unit) : 0;
    w->source = p->pairs > 0 ? pair / among : below(x.x, p->sources);
    w->target = past(p, w->source, p->pairs > 0 ? pair % among : below(x.y, among));
    return true;
}

// put_in_row places a synapse in its row. Its values may be those of FORMULAS.
template <bool FORMULAS> DEVICE void put_in_row(const building *b, const projection *p, u64 source, u64 target, u64 ordinal, tallies *f) {
    u64 n = p->from + source;
    store_placed(b, b->row[n] + fetch_add(b->cursor + n, 1), valued<FORMULAS>(b, p, source, target, ordinal, f), p->label);
}

// make counts a synapse for its row or places it there, if it is wanted, and reports that.
template <bool PLACES, bool FORMULAS> DEVICE bool make(const building *b, const projection *p, u64 source, u64 target, u64 ordinal, tallies *f) {
    if ((PLACES && !is_made(b, p->from + source)) || !wanted(b, p, target, ordinal)) return false;
    if (PLACES) put_in_row<FORMULAS>(b, p, source, target, ordinal, f);
    else add(b->row + p->from + source, (u64)1);
    return true;
}

// count_all counts the synapses of a projection for their rows; a thread has some of its units of work.
DEVICE void count_all(const building *b, const projection *p) {
    u64 made = 0;
    u32 *table = b->tables + thread_index() * p->slots;
    for (u64 unit = thread_index(); unit < p->units; unit += thread_count()) {
        for (walk w = {unit, 0, 0, false, 0, 0, 0}; next(b, p, &w, table);) made += make<false, false>(b, p, w.source, w.target, w.ordinal, nullptr);
    }
    add_warp(b->made + p->index, made);
}

// wired is a synapse that has no values yet.
struct wired {
    u64 ordinal;
    u32 source, target;
};

// wirings are those of each warp of a block that draws.
struct wirings {
    wired of[8][64];
};

// place_all places the synapses of a projection in their rows. They get their values when there is one for each lane of the warp: of
// several parts each has to draw which synapses there are, but values of its own only.
template <bool FORMULAS> DEVICE void place_all(const building *b, const projection *p) {
    SHARED(wirings, all);
    wired *own = all.of[thread_in_block() / 32];
    tallies f = {1, false};
    u32 *table = b->tables + thread_index() * p->slots, count = 0;
    walk w = {thread_index(), 0, 0, false, 0, 0, 0};
    for (bool last = false; !last;) {
        bool drawn = false;
        while (w.unit < p->units && !(drawn = next(b, p, &w, table))) w = walk{w.unit + thread_count(), 0, 0, false, 0, 0, 0};
        bool made = drawn && is_made(b, p->from + w.source) && wanted(b, p, w.target, w.ordinal);
        u32 bits = vote(made);
        if (made) own[count + ones(bits & ((1u << lane()) - 1))] = wired{w.ordinal, (u32)w.source, (u32)w.target};
        count += ones(bits);
        last = vote(drawn) == 0;
        if (count < 32 && !last) continue;
        warp_barrier();
        u32 some = count < 32 ? count : 32;
        count -= some;
        if (lane() < some) {
            wired s = own[count + lane()];
            put_in_row<FORMULAS>(b, p, s.source, s.target, s.ordinal, &f);
        }
        warp_barrier(); // there is room again
    }
    report(b, f);
}
