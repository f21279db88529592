// What the kernels of projections that learn share: the tables of a projection, as backend/cuda fills them, what a handler reads, and
// how one is run. The law is the section plasticity of engine/doc.go.
//
// Post events are deferred: those of a target are noted (event_ring), and a synapse has them applied, in order, when it next delivers, or
// when a sweep comes. What a handler reads of the target's side is noted with the event; of the source's side it follows from the spikes
// that have arrived. So nothing depends on when the events are applied.
#pragma once
#include "network.cuh"

typedef long long i64;

const u32 MOST_VALUES = 18; // of a synapse: its weight, further variables, and out
const u32 MOST_READS = 96;  // of a handler: 16 of each of five kinds, and four others
const u32 MAX_AGE = 1 << 24;

// decay is exp(−age/tau) for whole ages: connectome.Table.
struct decay {
    const float *low, *high; // high is null where low has all
    u64 until;               // ages from here on give 0
};

DEVICE float decayed(const decay *d, u64 age) {
    if (age >= d->until) return 0;
    if (d->high == nullptr) return d->low[age];
    return d->high[age >> 8] * d->low[age & 255];
}

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

// reading is one of the numbers that a handler reads; with an event its place among the notes, where it has one.
struct reading {
    u32 kind, k, note;
};

// handler is a list of statements, which backend/cuda writes as PTX.
struct handler {
    u32 program; // its number among the network's
    u32 states;  // of the values that it changes
    u32 outs;    // whether it assigns out, which follows them
    u32 reads;   // of what it reads
    u32 there;   // 0: there is no such handler
    const reading *list;
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

// senders are the source neurons after some spike: traces and variables, each an array by source, and the burst of the spike plus 1.
struct senders {
    float *traces, *variables;
    u64 *last;
};

// receivers are the target neurons likewise.
struct receivers {
    float *traces;
    u64 *last;
};

// event_ring has the last events of each target, an array by target for each place.
struct event_ring {
    u64 *at;     // bursts plus 1
    float *note; // what on_post reads of them: place, then note
    u32 *next;   // by target: place of its next event
    u32 places, notes;
};

// sweeps is how far all synapses are known to have had their events applied. What burst t goes by is at t mod 2, so that its end can say
// what the next one is to go by while others still read.
struct sweeps {
    u64 before[2]; // events of bursts before it
    u64 full[2];   // whether a ring has no place left: the burst ends with a sweep
};

// learning is a projection whose synapses change.
struct learning {
    u32 from, sources, to, targets; // first neuron and count
    u32 port;                       // first of the target area
    u32 least, longest;             // delays
    u32 steps;                      // all delays, where delay is null
    const u64 *row;
    const u32 *target; // port
    const u8 *delay;
    float *weight, *more; // more: further variables, each an array by synapse
    u64 synapses;

    u64 lag;     // a spike of the target is a post event so many bursts later
    u64 lag_read; // likewise of the burst that receivers.last has
    float low, high, below, above;
    i32 scale;
    i64 lift;
    const i32 *divide; // null: nothing
    i32 *acc;

    handler on_post, on_pre, every, on_source, when;
    const trace *pre, *post;
    u32 pre_count, post_count, modulators;
    u32 values;          // of a synapse
    u32 source_variables;
    const modulator *modulator_list;

    senders live;           // after the last spike that has set out: least bursts later its first synapses deliver
    senders before;         // of each burst whose spikes are on their way, by burst modulo slots: before the source's spike; its variables after it
    u32 slots;
    receivers heard;        // after the last event
    event_ring ring;
    sweeps *swept;
    float *now, *after;     // modulators in this burst, before its events and after them
    float *level;           // after the last event
    u64 *level_last;        // the burst of its spikes, plus 1
    i64 *total;             // of every, by target
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

// queue_of is the fire queue of burst s.
DEVICE const u32 *queue_of(const history *h, u64 s, u64 *length) {
    *length = h->lengths[s % h->depth];
    return h->queues + s % h->depth * h->neurons;
}

// stint is what a thread or a warp has of some work: every step-th item from its first one on.
struct stint {
    u64 first, step;
};

DEVICE stint of_thread() { return stint{thread_index(), thread_count()}; }
DEVICE stint of_warp() { return stint{thread_index() / 32, thread_count() / 32}; }

// clamped is a weight within its bounds; −0 becomes 0.
DEVICE float clamped(const learning *l, float w) {
    if (w < l->low) w = l->below;
    else if (l->high < w) w = l->above;
    return w + 0.0f;
}

// quanta is w in quanta, rounded to nearest, ties away from 0; 0 for NaN.
DEVICE i32 quanta(float w, i32 scale) {
    if (w != w) return 0;
    float x = w * (float)scale;
    i32 whole = (i32)x;
    float rest = x - (float)whole; // exact
    if (rest >= 0.5f) whole++;
    if (rest <= -0.5f) whole--;
    return whole;
}

// deliver_out adds what a synapse of a source delivers to the sum of its port.
DEVICE void deliver_out(const learning *l, float out, u32 source, u32 port) {
    float low = l->low < 0 ? l->low : 0, high = l->high > 0 ? l->high : 0;
    if (out < low) out = low;
    else if (high < out) out = high;
    i64 q = quanta(out, l->scale);
    if (l->divide != nullptr) {
        i64 by = l->divide[source], size = ((q < 0 ? -q : q) + by - 1) / by;
        q = q < 0 ? -size : size;
    }
    if (l->lift != 0) {
        q *= l->lift;
        if (q <= 0) q--;
    }
    accumulate(l->acc + port, (i32)q);
}

// moment is what a handler of a synapse reads in a burst.
struct moment {
    u64 t;
    u32 source, target; // counted from 0
    u64 delay;
    bool pre, post, sweep; // its events in this burst; whether it is that of every, for which the burst is over
    u32 noted;             // place of the event in the ring; NOT_NOTED: what is read is as it is now
    senders seen;          // the source as the synapse knows it, at its place
};
const u32 NOT_NOTED = ~0u;

DEVICE float *note_at(const learning *l, u32 place, u32 note, u32 target) {
    return l->ring.note + ((u64)place * l->ring.notes + note) * l->targets + target;
}

// read_target is what is read of the target's side, as it is now.
DEVICE float read_target(const learning *l, const reading *r, u32 target, u64 t, bool sweep) {
    switch (r->kind) {
    case READ_POST:
        return aged(&l->post[r->k].table, l->heard.traces[(u64)r->k * l->targets + target], l->heard.last[target], l->lag_read, t);
    case READ_AGE_POST: return age_of(l->heard.last[target], l->lag_read, t);
    case READ_MODULATOR: return sweep ? l->after[r->k] : l->now[r->k];
    case READ_TARGET: {
        u32 k = l->states[r->k], n = l->to + target;
        return k == 0 ? l->v[n] : l->further[(u64)(k - 1) * l->pitch + n];
    }
    }
    return 0;
}

DEVICE float read_moment(const learning *l, const reading *r, const moment *m) {
    switch (r->kind) {
    case READ_PRE: return aged(&l->pre[r->k].table, m->seen.traces[(u64)r->k * l->sources], *m->seen.last, m->delay, m->t);
    case READ_AGE_PRE: return age_of(*m->seen.last, m->delay, m->t);
    case READ_SOURCE: return m->seen.variables[(u64)r->k * l->sources];
    case READ_PRE_TOO: return m->pre;
    case READ_POST_TOO: return m->post;
    case READ_TOTAL: return m->sweep ? (float)l->total[m->target] / (float)l->scale : 0;
    }
    if (m->noted != NOT_NOTED) return *note_at(l, m->noted, r->note, m->target);
    return read_target(l, r, m->target, m->t, m->sweep);
}

// handle runs a handler for a synapse of the values x; the answer is what it would deliver. A weight that is NaN stays NaN, and an out
// that is NaN makes it NaN.
DEVICE float handle(const learning *l, const handler *h, float *x, const moment *m) {
    if (!h->there || x[0] != x[0]) return x[0];
    float in[MOST_READS];
    for (u32 r = 0; r < h->reads; r++) in[r] = read_moment(l, h->list + r, m);
    run_rule(h, x, in);
    x[0] = clamped(l, x[0]);
    if (!h->outs) return x[0];
    float out = x[h->states];
    if (out != out) x[0] = out;
    return out;
}

// load_synapse and store_synapse bring the values of synapse k.
DEVICE void load_synapse(const learning *l, u64 k, float *x) {
    x[0] = l->weight[k];
    for (u32 v = 1; v < l->values; v++) x[v] = l->more[(u64)(v - 1) * l->synapses + k];
}
DEVICE void store_synapse(const learning *l, u64 k, const float *x) {
    l->weight[k] = x[0];
    for (u32 v = 1; v < l->values; v++) l->more[(u64)(v - 1) * l->synapses + k] = x[v];
}

DEVICE u64 delay_at(const learning *l, u64 k) { return l->delay == nullptr ? l->steps : l->delay[k]; }
DEVICE u32 target_at(const learning *l, u64 k) { return (l->target[k] - l->port) % l->targets; }

// before_of are the senders before their spikes of burst s, from source i on.
DEVICE senders before_of(const learning *l, u64 s, u32 i) {
    u64 slot = s % l->slots;
    return senders{l->before.traces + slot * l->pre_count * l->sources + i, l->before.variables + slot * l->source_variables * l->sources + i,
                   l->before.last + slot * l->sources + i};
}
