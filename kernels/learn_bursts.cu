// Networks that learn, in launches of many bursts: run_bursts with the steps of learning between its barriers. FEAGI's rules and
// modulators are left to single bursts.
#pragma once
#include "learn_neurons.cu"
#include "learn_synapses.cu"
#include "run_bursts.cu"

// learner is a projection that learns, with what the state has where that is not what is live (else null), and the bursts from one sweep of
// its rule to the next, or 0.
struct learner {
    learning l;
    senders settled;
    receivers settled_heard;
    u64 every;
    u32 parts_log; // a row is delivered by 2^parts_log warps
};

struct learners {
    const learner *list;
    u64 count;
    u64 queues; // of a state
    history h;
};

DEVICE bool learn(const learners *) { return true; }

// tell_fired and tell_total add to the fire queue of burst t.
DEVICE void tell_fired(const learners *x, u64 t, u32 place, u32 n) { x->h.queues[t % x->h.depth * x->h.neurons + place] = n; }
DEVICE void tell_total(const learners *x, u64 t, u32 total) { add(x->h.lengths + t % x->h.depth, (u64)total); }

DEVICE bool is_due(const learner *one, u64 t) { return one->every != 0 && (t + 1) % one->every == 0; }

// learn_events_of is what comes before the synapses of burst t: the spikes that set out, the post events, and the spikes that leave the
// queues of a state.
DEVICE void learn_events_of(const learners *x, u64 t) {
    stint w = of_thread();
    if (w.first == 0) x->h.lengths[t % x->h.depth] = 0;
    for (u64 i = 0; i < x->count; i++) {
        const learner *one = x->list + i;
        learning l = one->l;
        note_events(&l, &x->h, t, w);
        for (u32 turn = 0; turn < 2; turn++) {
            senders to = turn == 0 ? l.live : one->settled;
            u64 after = turn == 0 ? l.least : x->queues;
            if (t >= after && to.last != nullptr) take_spikes(&l, to, &x->h, t - after, turn == 0, w);
        }
        if (t >= x->queues && one->settled_heard.last != nullptr) raise_targets(&l, one->settled_heard, &x->h, t - x->queues, w);
    }
}

// learn_rows_of is what synapses do in burst t, whose sums are acc.
DEVICE void learn_rows_of(const learners *x, u64 t, i32 *acc) {
    for (u64 i = 0; i < x->count; i++) {
        learning l = x->list[i].l;
        l.acc = acc;
        deliver_rows(&l, &x->h, t, x->list[i].parts_log, of_warp());
    }
}

// learn_ends_of ends burst t but for sweeps by rules.
DEVICE void learn_ends_of(const learners *x, u64 t) {
    stint w = of_thread();
    for (u64 i = 0; i < x->count; i++) {
        const learner *one = x->list + i;
        learning l = one->l;
        bool due = is_due(one, t);
        if (due || l.swept->full[t % 2]) sweep_rows(&l, t, l.swept->before[t % 2], of_warp());
        if (t >= l.lag_read) raise_targets(&l, l.heard, &x->h, t - l.lag_read, w);
        if (w.first == 0) end_sweep(&l, t, t % 2, due);
        for (u64 j = w.first; due && j < l.targets; j += w.step) l.total[j] = 0;
    }
}

// learn_every_of is step 6 of burst t, after the update.
DEVICE void learn_every_of(const learners *x, const run *p, u64 t, block *s, u32 *wanted) {
    bool any = false;
    for (u64 i = 0; i < x->count; i++) any = any || is_due(x->list + i, t);
    if (!any) return;
    for (u64 i = 0; i < x->count; i++) {
        learning l = x->list[i].l;
        if (is_due(x->list + i, t)) add_totals(&l, of_thread());
    }
    grid_barrier(p, s, wanted);
    for (u64 i = 0; i < x->count; i++) {
        learning l = x->list[i].l;
        if (is_due(x->list + i, t)) change_all(&l, t, of_warp());
    }
    grid_barrier(p, s, wanted);
}

KERNEL_OF_1024 learn_bursts(run p, learners x) { bursts<ALL_MODELS>(&p, &x); }
