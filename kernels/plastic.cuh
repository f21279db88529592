// What the kernels of projections that learn share: the tables of a projection, as backend/cuda fills them, what a handler reads, and
// how one is run. The law is the section plasticity of engine/doc.go.
//
// Post events are deferred: those of a target are noted (event_ring), and a synapse has them applied, in order, when it next delivers, or
// when a sweep comes. What a handler reads of the target's side is noted with the event; of the source's side it follows from the spikes
// that have arrived. So nothing depends on when the events are applied.
#pragma once
#include "amplitudes.cuh"

const u32 MOST_VALUES = 18; // of a synapse: its weight, further variables, and out
const u32 MOST_READS = 96;  // of a handler: 16 of each of five kinds, and four others
const u32 MAX_AGE = 1 << 24;

DEVICE u32 bits_of(float v) { return __builtin_bit_cast(u32, v); }
DEVICE float float_of(u32 v) { return __builtin_bit_cast(float, v); }

// decay is exp(−age/tau) for whole ages: connectome.Table.
struct decay {
    const float *low, *high; // high is null where low has all
    u64 until;               // ages from here on give 0
    const float *near;       // the first ones of low, which blocks copy into their memory
    u64 close;               // so many
};

// decayed_long is decayed for ages that need not be near.
DEVICE float decayed_long(const decay *d, u64 age) {
    if (age >= d->until) return 0;
    if (d->high == nullptr) return d->low[age];
    return d->high[age >> 8] * d->low[age & 255];
}

DEVICE float decayed(const decay *d, u64 age) { return age < d->close ? d->near[age] : decayed_long(d, age); }

struct trace {
    decay table;
    float amount;
    u32 set;
};

// modulator is a trace of the projection, raised by the spikes of an area.
struct modulator {
    trace raised_by; // a spike
    u32 from, count; // neurons
    u64 delay;       // bursts
};

// Bursts that there may not be are kept as their number plus 1; 0 is none.

// raised is a trace after an event in burst s; last is the burst of the event before, plus 1.
DEVICE float raised(const trace *r, float x, u64 last, u64 s, float amount) {
    if (r->set || last == 0) return amount;
    return x * decayed(&r->table, s + 1 - last) + amount;
}

// aged is a trace in burst t; last is the burst of its last spike, plus 1, which was an event delay bursts later.
DEVICE float aged(const decay *d, float x, u64 last, u64 delay, u64 t) { return last == 0 ? 0 : x * decayed(d, t + 1 - last - delay); }

DEVICE float age_of(u64 last, u64 delay, u64 t) {
    if (last == 0) return MAX_AGE;
    u64 age = t + 1 - last - delay;
    return (float)(age < MAX_AGE ? age : MAX_AGE);
}

// The kinds of what a handler reads: formula.ReadKind.
enum read_kind {
    READ_PRE, READ_POST, READ_MODULATOR, READ_SOURCE, READ_TARGET, READ_PRE_TOO, READ_POST_TOO, READ_AGE_PRE, READ_AGE_POST, READ_TOTAL,
    READ_FIRST, READ_DECAY,
};

// reading is one of the numbers that a handler reads.
struct reading {
    u32 kind, k;
};

// handler is a list of statements, which backend/cuda writes as PTX.
struct handler {
    u32 program; // its number among the network's, of on_post and on_pre among these
    u32 states;  // of the values that it changes
    u32 outs;    // whether it assigns out, which follows them
    u32 reads;   // length of list
    u32 there;   // 0: there is no such handler
    u32 pair;    // its number among the network's on_post, or on_pre, of rules of pairs
    const reading *list; // what it reads; of on_post what is noted, of on_pre what its code does not find by itself
    const float *params;
    const decay *decays;
};

// run_rule runs a handler's program: state becomes the next one, and the answer is the condition. The backend writes the programs after
// the remark, as it does with models (neural_dynamics_fcl.cu).
DEVICE u32 run_rule(const handler *h, float *state, float *in) {
    u32 holds;
#ifdef BURST_ONE_UNIT
    holds = rule_program(h->program, state, in, h->params);
#else
    asm volatile("// rule_program %0 %1 %2 %3 %4" : "=r"(holds) : "r"(h->program), "l"(state), "l"(in), "l"(h->params) : "memory");
#endif
    return holds;
}

// sight is where the code of on_post and on_pre finds what it reads. Ages are in bursts, NEVER where there has been no event.
struct sight {
    u32 age_pre, age_post;
    u32 pre, post;            // the handler's events in this burst, 0 or 1
    const float *seen;        // traces of the source, each an array by source
    const float *variables;   // likewise
    const float *heard;       // traces of the target
    const float *notes;       // of the event
};
const u32 NEVER = ~0u;

// age_at is the age in burst t of what was in burst at − 1.
DEVICE u32 age_at(u64 at, u64 t) { return at == 0 || t + 1 - at > NEVER ? NEVER : (u32)(t + 1 - at); }

// run_handler runs the code of on_post or on_pre. A synapse's values are weight, and from 1 on those of state; list is what the code does
// not find by itself.
DEVICE void run_handler(const handler *h, const trace *pre, const trace *post, u32 sources, const sight *v, float *weight, float *state, float *list) {
#ifdef BURST_ONE_UNIT
    handler_program(h->program, weight, state, list, h->params, v->age_pre, v->age_post, v->pre, v->post, v->seen, v->variables, sources, v->heard,
                    v->notes, pre, post);
#else
    asm volatile("// handler_program %0 %1 %2 %3 %4 %5 %6 %7 %8 %9 %10 %11 %12 %13 %14 %15"
                 : "+f"(*weight)
                 : "r"(h->program), "l"(state), "l"(list), "l"(h->params), "r"(v->age_pre), "r"(v->age_post), "r"(v->pre), "r"(v->post),
                   "l"(v->seen), "l"(v->variables), "r"(sources), "l"(v->heard), "l"(v->notes), "l"(pre), "l"(post)
                 : "memory");
#endif
}

// run_post and run_pre run on_post and on_pre of a rule of pairs, which read no more than a trace of the source, or of the target; params
// are the handler's. In the unit local the synapse may have a further variable.
DEVICE void run_post(u32 pair, const float *params, float seen, float *weight, float *more = nullptr) {
#ifdef BURST_ONE_UNIT
    post_program(pair, weight, seen, params, more);
#else
    asm volatile("// post_program %0 %1 %2 %3 %4" : "+f"(*weight) : "r"(pair), "f"(seen), "l"(params), "l"(more));
#endif
}
DEVICE void run_pre(u32 pair, const float *params, float heard, float *weight, float *more = nullptr) {
#ifdef BURST_ONE_UNIT
    pre_program(pair, weight, heard, params, more);
#else
    asm volatile("// pre_program %0 %1 %2 %3 %4" : "+f"(*weight) : "r"(pair), "f"(heard), "l"(params), "l"(more));
#endif
}

// senders are the source neurons after some spike: traces and variables, each an array by source, and the burst of the spike plus 1.
struct senders {
    float *traces, *variables;
    u64 *last;
};

// receivers are the target neurons likewise, as a state has them.
struct receivers {
    float *traces;
    u64 *last;
};

// heard is what synapses need most of a target, for one trace a sector of 32 bytes. Bursts of events are plus 1, in halves.
struct alignas(16) heard {
    u32 next;        // place of its next event in the ring
    u32 high[2];     // upper halves of those in low
    u32 third;       // lower half of the event before these
    u32 low[2];      // lower halves of the newest event and of the one before: with one trace, all that pairs need lies in 16 bytes
    float traces[2]; // all traces after the newest event, then all before it; there may be more than fit here
};

DEVICE u64 heard_at(const heard *x, u32 which) { return (u64)x->high[which] << 32 | x->low[which]; }

// event_ring has the last events of each target: target, then place; of notes then note.
struct event_ring {
    u64 *at;     // bursts plus 1
    float *note; // what on_post reads of them
    u32 places, notes;
    u32 ahead; // a sweep is due when so many places more are left
};

// sweeps is how far all synapses are known to have had their events applied.
struct sweeps {
    u64 before;  // events of bursts before it
    u32 full;    // whether a ring has no place left: the burst ends with a sweep
    u32 crowded; // and whether that sweep must apply all events: those of the newer half of the time since the last one fill a ring
};

// limits are the bounds of a weight, and what those below and above become.
struct limits {
    float low, high, below, above;
};

// The kinds of rules of pairs: learning's pairs.
enum pairing { NO_PAIRS, PAIRS, LONG_PAIRS };

// learning is a projection whose synapses change.
struct learning {
    u32 from, sources, to, targets; // first neuron and count
    u32 port;                       // of the first target
    u32 least, longest;             // delays
    u32 steps;                      // all delays, where both lists are null
    const u64 *row;
    const u32 *target; // port
    const u8 *delay;
    const u16 *late; // the delays where one is above 255
    float *weight, *more; // more: further variables, each an array by synapse
    u64 synapses;

    u64 lag;     // a spike of the target is a post event so many bursts later
    u64 lag_read; // likewise of the burst that a state has as the last
    limits bounds;
    i32 scale;
    i64 lift;
    const i32 *divide; // null: nothing
    i32 *acc;

    handler on_post, on_pre, every, on_source, when;
    const trace *pre, *post;
    u32 pre_count, post_count, modulators;
    u32 values;          // of a synapse
    u32 source_variables;
    u32 pairs;           // whether its rule is one of pairs, and on_post long
    const modulator *modulator_list;

    senders live;           // after the last spike that has set out: least bursts later its first synapses deliver
    senders before;         // of each burst whose spikes are on their way, by burst modulo slots: before the source's spike; its variables after it
    u32 slots;
    u8 *heard;              // of each target, so many bytes apart
    u32 heard_bytes;
    receivers told;         // the same as a state has it; null where that is behind
    event_ring ring;
    sweeps *swept;
    u64 *applied;           // by source: events of bursts before it have been applied to its synapses
    float *now, *after;     // modulators in a burst: now before its events, by burst modulo 2, after behind them
    float *level;           // after the last event
    u64 *level_last;        // the burst of its spikes, plus 1
    i64 *total;             // of every, by target; null where it reads none
    const float *v, *further; // state of all neurons, the latter each an array by neuron
    u64 pitch;
    const u32 *states;      // which of them READ_TARGET means, 0 for v
};

// history is the fire queues of the last bursts, that of burst s at (s mod depth)·neurons, and its length at s mod depth. There is one more
// than a state has, so that the newest can be filled while the oldest is read.
struct history {
    u32 *queues;
    u64 neurons, depth;
    u64 *lengths;
};

// spikes are the fire queue of burst s.
struct spikes {
    const u32 *ids;
    u64 length, s;
};

DEVICE spikes spikes_at(const history *h, u64 slot, u64 s) { return spikes{h->queues + slot * h->neurons, h->lengths[slot], s}; }
DEVICE spikes spikes_of(const history *h, u64 s) { return spikes_at(h, s % h->depth, s); }

// spikes_before are those of d ≤ t bursts before t, whose own place is known: divisions are long.
DEVICE spikes spikes_before(const history *h, u64 t, u64 place, u64 d) { return spikes_at(h, place >= d ? place - d : place + h->depth - d, t - d); }

// stint is what a thread or a warp has of some work: every step-th item from its first one on.
struct stint {
    u64 first, step;
};

DEVICE stint of_thread() { return stint{thread_index(), thread_count()}; }

// Warps that are neighbours in number are in different blocks, so that few items are shared by all multiprocessors.
DEVICE stint of_warp() { return stint{(u64)(thread_in_block() / 32) * block_count() + block_index(), thread_count() / 32}; }

// clamped is a weight within its bounds; −0 becomes 0.
DEVICE float clamped(const limits *l, float w) {
    float most = l->high < w ? l->above : w; // chosen without branches
    return (w < l->low ? l->below : most) + 0.0f;
}

// quanta is w in quanta, rounded to nearest, ties away from 0; 0 for NaN.
DEVICE i32 quanta(float w, float scale) {
    float x = w == w ? w * scale : 0;
    i32 whole = (i32)x;
    float rest = x - (float)whole; // exact
    return whole + (rest >= 0.5f) - (rest <= -0.5f);
}

// out_quanta is what a synapse may deliver in quanta.
DEVICE i32 out_quanta(const learning *l, float out) {
    float low = l->bounds.low < 0 ? l->bounds.low : 0, high = l->bounds.high > 0 ? l->bounds.high : 0;
    if (out < low) out = low;
    else if (high < out) out = high;
    return quanta(out, (float)l->scale);
}

// deliver_quanta adds an amount to the sum of its port, of those that begin at acc.
DEVICE void deliver_quanta(const learning *l, i32 *acc, i64 q, u32 port) {
    if (l->lift != 0) {
        q *= l->lift;
        if (q <= 0) q--;
    }
    accumulate(acc + port, (i32)q);
}

// deliver_out adds what a synapse of a source delivers.
DEVICE void deliver_out(const learning *l, i32 *acc, float out, u32 source, u32 port) {
    i64 q = out_quanta(l, out);
    if (l->divide != nullptr) {
        i64 by = l->divide[source], size = ((q < 0 ? -q : q) + by - 1) / by;
        q = q < 0 ? -size : size;
    }
    deliver_quanta(l, acc, q, port);
}

DEVICE heard *heard_of(const learning *l, u32 target) { return (heard *)(l->heard + (u64)target * l->heard_bytes); }
DEVICE u64 *event_at(const learning *l, u32 place, u32 target) { return l->ring.at + (u64)target * l->ring.places + place; }
DEVICE float *note_at(const learning *l, u32 place, u32 note, u32 target) {
    return l->ring.note + ((u64)target * l->ring.places + place) * l->ring.notes + note;
}

// modulated is where modulator k lies in burst t, before its event of that burst.
DEVICE float *modulated(const learning *l, u32 k, u64 t) { return l->now + t % 2 * l->modulators + k; }

// read_target is what is read of the target's side in burst t, before its event of that burst, or with a sweep after it.
DEVICE float read_target(const learning *l, const reading *r, u32 target, u64 t, bool sweep) {
    const heard *x = heard_of(l, target);
    bool before = heard_at(x, 0) == t + 1 && !sweep;
    switch (r->kind) {
    case READ_POST: return aged(&l->post[r->k].table, x->traces[before ? l->post_count + r->k : r->k], heard_at(x, before), 0, t);
    case READ_AGE_POST: return age_of(heard_at(x, before), 0, t);
    case READ_MODULATOR: return sweep ? l->after[r->k] : *modulated(l, r->k, t);
    case READ_TARGET: {
        u32 k = l->states[r->k], n = l->to + target;
        return k == 0 ? l->v[n] : l->further[(u64)(k - 1) * l->pitch + n];
    }
    }
    return 0;
}

// load_more and store_more bring the values of synapse k but for its weight.
DEVICE void load_more(const learning *l, u64 k, float *x) {
#pragma unroll 1
    for (u32 v = 1; v < l->values; v++) x[v] = l->more[(u64)(v - 1) * l->synapses + k];
}
DEVICE void store_more(const learning *l, u64 k, const float *x) {
#pragma unroll 1
    for (u32 v = 1; v < l->values; v++) l->more[(u64)(v - 1) * l->synapses + k] = x[v];
}

DEVICE u64 delay_at(const learning *l, u64 k) {
    if (l->delay != nullptr) return l->delay[k];
    return l->late == nullptr ? l->steps : l->late[k];
}
DEVICE u32 target_at(const learning *l, u64 k) { return l->target[k] - l->port; }

// before_of are the senders before their spikes of burst s, from source i on.
DEVICE senders before_of(const learning *l, u64 s, u32 i) {
    u64 slot = l->slots == 1 ? 0 : s % l->slots;
    return senders{l->before.traces + slot * l->pre_count * l->sources + i, l->before.variables + slot * l->source_variables * l->sources + i,
                   l->before.last + slot * l->sources + i};
}
