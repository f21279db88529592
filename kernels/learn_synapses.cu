// The synapses of a projection that learns: their events, and sweeps. A warp has a row, or a part of one, and its lanes the synapses.
#pragma once
#include "plastic.cuh"

// pending is how many of a target's newest events are those of bursts from before on.
DEVICE u32 pending(const learning *l, u32 target, u64 before) {
    u32 n = 0, place = l->ring.next[target];
    while (n < l->ring.places) {
        place = (place > 0 ? place : l->ring.places) - 1;
        if (l->ring.at[(u64)place * l->targets + target] <= before) break;
        n++;
    }
    return n;
}

// live_through runs what happens to synapse k of source i and target j up to burst t: on_post for its pending events, in order, and where
// it delivers on_pre, whose answer is what is delivered. seen is the source as the synapse knows it before burst t; events of bursts before
// swept have been applied.
DEVICE float live_through(const learning *l, u64 k, u32 i, u32 j, u64 d, senders seen, u64 t, u64 swept, bool delivers) {
    u64 arrived = *seen.last == 0 ? 0 : *seen.last + d;
    u32 n = pending(l, j, arrived > swept ? arrived : swept);
    if (n == 0 && !delivers) return 0;
    float x[MOST_VALUES], out = 0;
    load_synapse(l, k, x);
    bool post = false; // whether there is a post event in burst t
    for (;; n--) {     // one place that runs handlers
        bool pre = n == 0;
        if (pre && !delivers) break;
        moment m = {t, i, j, d, true, post, false, NOT_NOTED, seen};
        if (!pre) {
            u32 next = l->ring.next[j];
            m.noted = next >= n ? next - n : next + l->ring.places - n;
            m.t = l->ring.at[(u64)m.noted * l->targets + j] - 1;
            post = m.t == t;
            m.post = true;
            m.pre = delivers && post;
        }
        out = handle(l, pre ? &l->on_pre : &l->on_post, x, &m);
        if (pre) break;
    }
    store_synapse(l, k, x);
    return out;
}

// deliver_rows is steps 1a and 1b for the synapses that deliver in burst t: those with delay d of each source that fired d bursts ago, for
// all delays that there are. 2^parts_log warps share a row.
DEVICE void deliver_rows(const learning *l, const history *h, u64 t, u32 parts_log, stint w) {
    u64 item = w.first, swept = l->swept->before[t % 2];
    for (u64 d = l->least; d <= l->longest && d <= t; d++) {
        u64 s = t - d, length;
        const u32 *queue = queue_of(h, s, &length);
        u64 items = length << parts_log;
        for (; item < items; item += w.step) {
            u32 i = queue[item >> parts_log] - l->from;
            if (i >= l->sources) continue;
            u64 begin = l->row[i], end = l->row[i + 1], part = item & ((1ull << parts_log) - 1);
            if (l->delay != nullptr) {
                begin = first_delay(l->delay, begin, end, (u32)d);
                end = first_delay(l->delay, begin, end, (u32)d + 1);
            }
            senders seen = before_of(l, s, i);
            u64 count = end - begin, until = begin + (count * (part + 1) >> parts_log);
            for (u64 k = begin + (count * part >> parts_log) + lane(); k < until; k += 32)
                deliver_out(l, live_through(l, k, i, target_at(l, k), d, seen, t, swept, true), i, l->target[k]);
        }
        item -= items; // the next delay's begin with whose turn it is
    }
}

// seen_by is source i as synapses of delay d know it after burst t: the state after its last spike that has arrived.
DEVICE senders seen_by(const learning *l, u32 i, u64 d, u64 t) {
    senders x = {l->live.traces + i, l->live.variables + i, l->live.last + i};
    while (*x.last != 0 && *x.last - 1 + d > t) x = before_of(l, *x.last - 1, i);
    return x;
}

// sweep_rows has the events up to burst t applied to all synapses; those of bursts before swept have been.
DEVICE void sweep_rows(const learning *l, u64 t, u64 swept, stint w) {
    for (u64 i = w.first; i < l->sources; i += w.step)
        for (u64 k = l->row[i] + lane(); k < l->row[i + 1]; k += 32) {
            u64 d = delay_at(l, k);
            live_through(l, k, (u32)i, target_at(l, k), d, seen_by(l, (u32)i, d, t), t, swept, false);
        }
}

// add_totals adds up the quanta of all weights onto each target.
DEVICE void add_totals(const learning *l, stint w) {
    for (u64 k = w.first; k < l->synapses; k += w.step) add((u64 *)l->total + target_at(l, k), (u64)(i64)quanta(l->weight[k], l->scale));
}

// change_all is step 6, when no event is pending.
DEVICE void change_all(const learning *l, u64 t, stint w) {
    for (u64 i = w.first; i < l->sources; i += w.step)
        for (u64 k = l->row[i] + lane(); k < l->row[i + 1]; k += 32) {
            u64 d = delay_at(l, k);
            moment m = {t, (u32)i, target_at(l, k), d, false, false, true, NOT_NOTED, seen_by(l, (u32)i, d, t)};
            float x[MOST_VALUES];
            load_synapse(l, k, x);
            handle(l, &l->every, x, &m);
            store_synapse(l, k, x);
        }
}

KERNEL learn_rows(learning l, history h, u64 t, u32 parts_log) { deliver_rows(&l, &h, t, parts_log, of_warp()); }

KERNEL learn_sweep(learning l, u64 t, u32 half, u32 forced) {
    if (forced || l.swept->full[half]) sweep_rows(&l, t, l.swept->before[half], of_warp());
}

KERNEL learn_totals(learning l) { add_totals(&l, of_thread()); }

KERNEL learn_every(learning l, u64 t) { change_all(&l, t, of_warp()); }
