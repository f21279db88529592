// FEAGI's rules, which count in how many of the last bursts both ends of a synapse have fired.
#pragma once
#include "plastic.cuh"

// spans say of each neuron, after each of the last bursts, by burst modulo slots, how many bursts ago it last fired and for how many it has
// fired without a break, both 255 where more.
struct spans {
    u8 *since, *run;
    u64 neurons, slots;
};

DEVICE u8 *span_at(u8 *list, const spans *w, u64 s, u64 n) { return list + s % w->slots * w->neurons + n; }

DEVICE u8 one_more(u8 bursts) { return bursts < 255 ? bursts + 1 : 255; }

// silent_in and fired_in make neuron n's spans after burst s of what they were before.
DEVICE void silent_in(const spans *w, u64 s, u64 n) {
    *span_at(w->since, w, s, n) = one_more(*span_at(w->since, w, s + w->slots - 1, n));
    *span_at(w->run, w, s, n) = 0;
}
DEVICE void fired_in(const spans *w, u64 s, u64 n) {
    *span_at(w->since, w, s, n) = 0;
    *span_at(w->run, w, s, n) = one_more(*span_at(w->run, w, s + w->slots - 1, n));
}

#ifndef BURST_LOCAL
// learn_silence has all neurons silent in burst s, a thread each; learn_spikes puts right those that fired.
KERNEL learn_silence(spans w, u64 s) {
    if (thread_index() < w.neurons) silent_in(&w, s, thread_index());
}

KERNEL learn_spikes(spans w, history h, u64 s) {
    spikes queue = spikes_of(&h, s);
    if (thread_index() < queue.length) fired_in(&w, s, queue.ids[thread_index()]);
}
#endif

// The rules: genome.Window.
enum window_kind { RELEASE = 1, FEBRUARY = 2, PYTHON = 3 };

struct window {
    u32 kind, bursts;
    float up, down;
};

// ends are what a rule sees of a synapse's ends.
struct ends {
    u8 since[2], run[2]; // of source and target
};

// learnt is the weight after a burst, of whose window there have been so many bursts.
DEVICE float learnt(const window *r, float w, ends e, u64 past) {
    bool source = e.since[0] < r->bursts, target = e.since[1] < r->bursts; // have fired in the window
    switch (r->kind) {
    case RELEASE:
        if (past < r->bursts || (!source && !target)) return w;
        return source && target ? w + r->up : w - r->down;
    case FEBRUARY:
        if (past < r->bursts || (!source && !target)) return w;
        return e.run[0] >= past && e.run[1] >= past ? w + r->up : w - r->down;
    case PYTHON:
        if (past == 0 || e.run[0] < past) return w;
        return e.run[1] >= past ? w + r->up : w - r->down;
    }
    return w;
}

// window_rows is steps 1a and 1b of such a rule in burst t for all synapses, to the sums that begin at acc; a warp has rows. fired has lists
// where what is delivered follows the amplitudes of the sources' spikes.
DEVICE void window_rows(const learning *l, const window *r, const spans *w, const amplitudes *fired, u64 t, i32 *acc, stint of) {
#pragma unroll 1
    for (u64 i = of.first; i < l->sources; i += of.step)
#pragma unroll 1
        for (u64 k = l->row[i] + lane(); k < l->row[i + 1]; k += 32) {
            u64 d = delay_at(l, k);
            if (t < d) continue; // before burst 0 none fired
            u64 s = t - d, from = l->from + i, to = l->to + target_at(l, k), past = s + 1 < r->bursts ? s + 1 : r->bursts;
            ends e = {{*span_at(w->since, w, s, from), *span_at(w->since, w, s, to)}, {*span_at(w->run, w, s, from), *span_at(w->run, w, s, to)}};
            float was = l->weight[k], now = clamped(&l->bounds, learnt(r, was, e, past));
            if (e.since[0] == 0) {
                float out = r->kind == RELEASE ? was : now;
                if (fired->lists == nullptr) deliver_out(l, acc, out, (u32)i, l->target[k]);
                else
                    deliver_quanta(l, acc, delivers(out_quanta(l, out), amplitude_of(fired, t, d, (u32)from), l->scale, l->divide != nullptr ? l->divide[i] : 0),
                                   l->target[k]);
            }
            l->weight[k] = now;
        }
}

#ifndef BURST_LOCAL
KERNEL learn_window(learning l, window r, spans w, amplitudes fired, u64 t) { window_rows(&l, &r, &w, &fired, t, l.acc, of_warp()); }
#endif
