// The sources, targets and modulators of a projection that learns, and the post events of its targets. A thread has neurons; those of a
// fire queue are told apart from others there by their numbers.
#pragma once
#include "plastic.cuh"

// count_spikes is how many of count neurons from the first one on have fired. All lanes of the warp must call it.
DEVICE u32 count_spikes(spikes q, u32 first, u32 count) {
    u32 sum = 0;
    for (u64 i = lane(); i < q.length; i += 32) sum += q.ids[i] - first < count;
    for (u32 by = 16; by > 0; by /= 2) sum += shuffle_xor(sum, by);
    return sum;
}

// levels are modulators after their last events, and the bursts of the spikes, plus 1.
struct levels {
    float *level;
    u64 *last;
};

DEVICE levels levels_of(const learning *l) { return levels{l->level, l->level_last}; }

// level_in is modulator k in burst t, whose spikes are events so many bursts later.
DEVICE float level_in(const learning *l, levels x, u32 k, u64 delay, u64 t) {
    return aged(&l->modulator_list[k].raised_by.table, x.level[k], x.last[k], delay, t);
}

// raise_level_by raises modulator k by so many spikes of burst s.
DEVICE void raise_level_by(const learning *l, levels x, u32 k, u64 s, u32 spikes) {
    if (spikes == 0) return;
    const trace *by = &l->modulator_list[k].raised_by;
    x.level[k] = raised(by, x.level[k], x.last[k], s, by->amount * (float)spikes);
    x.last[k] = s + 1;
}

// raise_level is step 1c of modulator k in burst t: spikes of an area in burst t − delay are one event. Those before burst oldest are known
// to have been counted. All lanes of the warp must call it.
DEVICE void raise_level(const learning *l, levels x, u32 k, const history *h, u64 delay, u64 t, u64 oldest) {
    if (t < oldest + delay) return;
    const modulator *m = l->modulator_list + k;
    u32 spikes = count_spikes(spikes_of(h, t - delay), m->from, m->count);
    if (lane() == 0) raise_level_by(l, x, k, t - delay, spikes);
}

#ifndef BURST_LOCAL
// learn_modulators is step 1c of modulators in burst t, a warp each. Of a burst in hand now and after are what is read before the event and
// after it.
KERNEL learn_modulators(learning l, history h, u64 t, u64 oldest) {
    u32 k = (u32)(thread_index() / 32);
    if (k >= l.modulators) return;
    u64 delay = l.modulator_list[k].delay;
    if (lane() == 0) *modulated(&l, k, t) = level_in(&l, levels_of(&l), k, delay, t);
    raise_level(&l, levels_of(&l), k, &h, delay, t, oldest);
    if (lane() == 0) l.after[k] = level_in(&l, levels_of(&l), k, delay, t);
}
#endif

// take_spike is step 1c of source i, which fired in burst s. Where launching, what it was before is kept for the synapses that deliver
// later than the first ones do, and its variables as on_source leaves them.
DEVICE void take_spike(const learning *l, senders x, u64 s, u32 i, bool launching) {
    u64 last = x.last[i];
    senders kept = launching ? before_of(l, s, i) : senders{};
    if (launching) {
        *kept.last = last;
        for (u32 k = 0; k < l->pre_count; k++) kept.traces[(u64)k * l->sources] = x.traces[(u64)k * l->sources + i];
    }
    if (l->on_source.there) {
        float state[MOST_VALUES], in[MOST_READS];
        for (u32 k = 0; k < l->source_variables; k++) state[k] = x.variables[(u64)k * l->sources + i];
        for (u32 r = 0; r < l->on_source.reads; r++) {
            const reading *one = l->on_source.list + r;
            if (one->kind == READ_FIRST) in[r] = last == 0;
            else in[r] = last == 0 ? 0 : decayed(l->on_source.decays + one->k, s + 1 - last);
        }
        run_rule(&l->on_source, state, in);
        for (u32 k = 0; k < l->source_variables; k++) x.variables[(u64)k * l->sources + i] = state[k];
    }
    if (launching)
        for (u32 k = 0; k < l->source_variables; k++) kept.variables[(u64)k * l->sources] = x.variables[(u64)k * l->sources + i];
    for (u32 k = 0; k < l->pre_count; k++) {
        float *one = x.traces + (u64)k * l->sources + i;
        *one = raised(l->pre + k, *one, last, s, l->pre[k].amount);
    }
    x.last[i] = s + 1;
}

// middle is the middle of the time since all synapses are known to have had their events applied.
DEVICE u64 middle(const sweeps *s, u64 t) { return s->before + (t + 1 - s->before) / 2; }

// note_event is a post event of a target in burst t: it is noted with what on_post reads of the target's side, and raises the traces
// (step 1c), of which who reads in this burst takes what they were before. The answer is whether there is to be a sweep.
DEVICE bool note_event(const learning *l, u32 j, u64 t) {
    heard *x = heard_of(l, j);
    u32 place = x->next, next = place + 1 < l->ring.places ? place + 1 : 0;
    u64 last = heard_at(x, 0);
    for (u32 r = 0; r < l->on_post.reads; r++) *note_at(l, place, r, j) = read_target(l, l->on_post.list + r, j, t, false);
    *event_at(l, place, j) = t + 1;
    u32 due = next + l->ring.ahead;
    u64 oldest = *event_at(l, due < l->ring.places ? due : due - l->ring.places, j);
    bool full = oldest > l->swept->before; // it may not have been applied yet
    if (full) {
        l->swept->full = 1;
        if (oldest > middle(l->swept, t)) l->swept->crowded = 1;
    }
    for (u32 k = 0; k < l->post_count; k++) {
        float before = x->traces[k], after = raised(l->post + k, before, last, t, l->post[k].amount);
        x->traces[l->post_count + k] = before;
        x->traces[k] = after;
        if (l->told.last != nullptr) l->told.traces[(u64)k * l->targets + j] = after;
    }
    x->third = x->low[1];
    x->high[1] = (u32)(last >> 32), x->low[1] = (u32)last;
    x->high[0] = (u32)((t + 1) >> 32), x->low[0] = (u32)(t + 1);
    x->next = next;
    if (l->told.last != nullptr) l->told.last[j] = t + 1 - l->lag_read;
    return full;
}

// holds reports whether the rule's condition holds for a target.
DEVICE bool holds(const learning *l, u32 target, u64 t) {
    float in[MOST_READS], none[1] = {};
    for (u32 r = 0; r < l->when.reads; r++) in[r] = read_target(l, l->when.list + r, target, t, false);
    return run_rule(&l->when, none, in) != 0;
}

// raise_target is step 1c of a target for the event of its spike of burst s, as a state has it.
DEVICE void raise_target(const learning *l, receivers x, u32 j, u64 s) {
    for (u32 k = 0; k < l->post_count; k++) {
        float *one = x.traces + (u64)k * l->targets + j;
        *one = raised(l->post + k, *one, x.last[j], s, l->post[k].amount);
    }
    x.last[j] = s + 1;
}

// take_one is take_spike for neuron n, if it is a source.
DEVICE void take_one(const learning *l, senders x, u32 n, u64 s, bool launching) {
    u32 i = n - l->from;
    if (i < l->sources) take_spike(l, x, s, i, launching);
}

// note_one is the event of neuron n in burst t, if it is a target and the condition holds, where there is one.
DEVICE void note_one(const learning *l, u32 n, u64 t) {
    u32 j = n - l->to;
    if (j < l->targets && (!l->when.there || holds(l, j, t))) note_event(l, j, t);
}

// raise_one is raise_target for neuron n, if it is a target.
DEVICE void raise_one(const learning *l, receivers x, u32 n, u64 s) {
    u32 j = n - l->to;
    if (j < l->targets) raise_target(l, x, j, s);
}

// neuron_at is the k-th of the neurons that a queue has, or without one of the targets.
DEVICE u32 neuron_at(const learning *l, spikes queue, u64 k) { return queue.ids != nullptr ? queue.ids[k] : l->to + (u32)k; }

// sweep_until says events of which bursts a sweep after burst t is to apply: those before the answer; 0: there is no sweep.
DEVICE u64 sweep_until(const sweeps *s, u64 t, bool forced) {
    if (forced || s->crowded) return t + 1;
    return s->full ? middle(s, t) : 0;
}

// end_sweep notes how far all synapses are after a sweep, if there was one; a thread alone.
DEVICE void end_sweep(sweeps *s, u64 t, bool forced) {
    u64 until = sweep_until(s, t, forced);
    if (until == 0) return;
    s->before = until;
    s->full = s->crowded = 0;
}

#ifndef BURST_LOCAL
KERNEL learn_sources(learning l, senders x, history h, u64 s, u32 launching) {
    spikes queue = spikes_of(&h, s);
    for (u64 k = thread_index(); k < queue.length; k += thread_count()) take_one(&l, x, queue.ids[k], s, launching);
}

KERNEL learn_events(learning l, history h, u64 t) {
    if (!l.when.there && t < l.lag) return;
    spikes queue = l.when.there ? spikes{nullptr, l.targets, 0} : spikes_of(&h, t - l.lag);
    for (u64 k = thread_index(); k < queue.length; k += thread_count()) note_one(&l, neuron_at(&l, queue, k), t);
}

KERNEL learn_targets(learning l, receivers x, history h, u64 s) {
    spikes queue = spikes_of(&h, s);
    for (u64 k = thread_index(); k < queue.length; k += thread_count()) raise_one(&l, x, queue.ids[k], s);
}

KERNEL learn_swept(learning l, u64 t, u32 forced) {
    if (thread_index() == 0) end_sweep(l.swept, t, forced);
}
#endif
