// The sources, targets and modulators of a projection that learns, and the post events of its targets. A thread has neurons; those of a
// fire queue are told apart from others there by their numbers.
#pragma once
#include "plastic.cuh"

// spikes_of is how many of count neurons from the first one on have fired in burst s. All lanes of the warp must call it.
DEVICE u32 spikes_of(const history *h, u64 s, u32 first, u32 count) {
    u64 length;
    const u32 *queue = queue_of(h, s, &length);
    u32 spikes = 0;
    for (u64 i = lane(); i < length; i += 32) spikes += queue[i] - first < count;
    for (u32 by = 16; by > 0; by /= 2) spikes += shuffle_xor(spikes, by);
    return spikes;
}

// learn_modulators is step 1c of modulators in burst t, a warp each: spikes of an area in burst t − delay are one event. Those before
// burst oldest are known to have been counted. Of a burst in hand now and after are what is read before the event and after it.
KERNEL learn_modulators(learning l, history h, u64 t, u64 oldest) {
    u64 k = thread_index() / 32;
    if (k >= l.modulators) return;
    const modulator *m = l.modulator_list + k;
    bool any = t >= oldest + m->delay;
    u64 s = any ? t - m->delay : 0;
    u32 spikes = any ? spikes_of(&h, s, m->from, m->count) : 0;
    if (lane() != 0) return;
    l.now[k] = aged(&m->raised_by.table, l.level[k], l.level_last[k], m->delay, t);
    if (spikes > 0) {
        l.level[k] = raised(&m->raised_by, l.level[k], l.level_last[k], s, m->raised_by.amount * (float)spikes);
        l.level_last[k] = s + 1;
    }
    l.after[k] = aged(&m->raised_by.table, l.level[k], l.level_last[k], m->delay, t);
}

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

// note_event notes a post event of a target in burst t, with what on_post reads of the target's side.
DEVICE void note_event(const learning *l, u32 j, u64 t) {
    u32 place = l->ring.next[j], next = place + 1 < l->ring.places ? place + 1 : 0;
    for (u32 r = 0; r < l->on_post.reads; r++) {
        const reading *one = l->on_post.list + r;
        if (one->note != NOT_NOTED) *note_at(l, place, one->note, j) = read_target(l, one, j, t, false);
    }
    l->ring.at[(u64)place * l->targets + j] = t + 1;
    l->ring.next[j] = next;
    if (l->ring.at[(u64)next * l->targets + j] > l->swept->before[t % 2]) l->swept->full[t % 2] = 1; // it may not have been applied yet
}

// holds reports whether the rule's condition holds for a target.
DEVICE bool holds(const learning *l, u32 target, u64 t) {
    float in[MOST_READS], none[1] = {};
    for (u32 r = 0; r < l->when.reads; r++) in[r] = read_target(l, l->when.list + r, target, t, false);
    return run_rule(&l->when, none, in) != 0;
}

// raise_target is step 1c of a target for the event of its spike of burst s, or with a condition of burst s.
DEVICE void raise_target(const learning *l, receivers x, u32 j, u64 s) {
    for (u32 k = 0; k < l->post_count; k++) {
        float *one = x.traces + (u64)k * l->targets + j;
        *one = raised(l->post + k, *one, x.last[j], s, l->post[k].amount);
    }
    x.last[j] = s + 1;
}

// take_spikes does so for all sources that fired in burst s.
DEVICE void take_spikes(const learning *l, senders x, const history *h, u64 s, bool launching, stint w) {
    u64 length;
    const u32 *queue = queue_of(h, s, &length);
    for (u64 q = w.first; q < length; q += w.step)
        if (queue[q] - l->from < l->sources) take_spike(l, x, s, queue[q] - l->from, launching);
}

// note_events notes all post events of burst t.
DEVICE void note_events(const learning *l, const history *h, u64 t, stint w) {
    if (l->when.there) {
        for (u64 j = w.first; j < l->targets; j += w.step)
            if (holds(l, (u32)j, t)) note_event(l, (u32)j, t);
        return;
    }
    if (t < l->lag) return;
    u64 length;
    const u32 *queue = queue_of(h, t - l->lag, &length);
    for (u64 q = w.first; q < length; q += w.step)
        if (queue[q] - l->to < l->targets) note_event(l, queue[q] - l->to, t);
}

// raise_targets is step 1c for all post events of spikes of burst s, or with a condition of burst s.
DEVICE void raise_targets(const learning *l, receivers x, const history *h, u64 s, stint w) {
    if (l->when.there) {
        for (u64 j = w.first; j < l->targets; j += w.step) {
            u32 place = (l->ring.next[j] > 0 ? l->ring.next[j] : l->ring.places) - 1;
            if (l->ring.at[(u64)place * l->targets + j] == s + 1) raise_target(l, x, (u32)j, s);
        }
        return;
    }
    u64 length;
    const u32 *queue = queue_of(h, s, &length);
    for (u64 q = w.first; q < length; q += w.step)
        if (queue[q] - l->to < l->targets) raise_target(l, x, queue[q] - l->to, s);
}

// end_sweep tells burst t + 1 how far all synapses are, from what burst half went by; a thread alone.
DEVICE void end_sweep(const learning *l, u64 t, u32 half, bool forced) {
    l->swept->before[(t + 1) % 2] = forced || l->swept->full[half] ? t + 1 : l->swept->before[half];
    l->swept->full[(t + 1) % 2] = 0;
}

KERNEL learn_sources(learning l, senders x, history h, u64 s, u32 launching) { take_spikes(&l, x, &h, s, launching, of_thread()); }

KERNEL learn_events(learning l, history h, u64 t) { note_events(&l, &h, t, of_thread()); }

KERNEL learn_targets(learning l, receivers x, history h, u64 s) { raise_targets(&l, x, &h, s, of_thread()); }

KERNEL learn_swept(learning l, u64 t, u32 half, u32 forced) {
    if (thread_index() == 0) end_sweep(&l, t, half, forced);
}
