// The synapses of a projection that learns: their events, and sweeps. A warp has a row, or a part of one, and its lanes the synapses.
#pragma once
#include "plastic.cuh"

// place_before is the place of the n-th newest event where the next one has a place.
DEVICE u32 place_before(const learning *l, u32 next, u32 n) { return next >= n ? next - n : next + l->ring.places - n; }

// pending_older is how many of a target's newest events are those of bursts from before on, where its two newest are.
DEVICE u32 pending_older(const learning *l, u32 next, u32 target, u64 before) {
    u32 n = 2;
#pragma unroll 1
    while (n < l->ring.places) { // four loads at a time
        u64 at[4];
        for (u32 i = 0; i < 4; i++) at[i] = n + i < l->ring.places ? *event_at(l, place_before(l, next, n + i + 1), target) : 0;
        u32 some = 0;
        while (some < 4 && at[some] > before) some++;
        n += some;
        if (some < 4) break;
    }
    return n;
}

// pending is how many are; the two newest are known.
DEVICE u32 pending(const learning *l, u64 newest, u64 older, u32 next, u32 target, u64 before) {
    if (newest <= before) return 0;
    if (older <= before) return 1;
    return pending_older(l, next, target, before);
}

// handle runs on_pre or on_post for a synapse in burst t; the answer is what it would deliver. A weight that is NaN stays NaN, and an out
// that is NaN makes it NaN.
DEVICE float handle(const learning *l, bool pre, const sight *v, u32 target, u64 t, float *weight, float *x) {
    const handler *h = pre ? &l->on_pre : &l->on_post;
    if (!h->there || *weight != *weight) return *weight;
    float list[MOST_READS];
#pragma unroll 1
    for (u32 r = 0; pre && r < h->reads; r++) list[r] = read_target(l, h->list + r, target, t, false);
    run_handler(h, l->pre, l->post, l->sources, v, weight, x, list);
    *weight = clamped(&l->bounds, *weight);
    if (!h->outs) return *weight;
    float out = x[h->states];
    if (out != out) *weight = out;
    return out;
}

// live_through runs what happens to synapse k of target j up to burst t: on_post for its pending events, in order, and where it delivers
// on_pre, whose answer is what is delivered. seen is the source as the synapse knows it before burst t, arrived the burst in which it did
// so, plus 1; events of bursts before applied have been applied.
DEVICE float live_through(const learning *l, u64 k, u32 j, senders seen, u64 arrived, u64 t, u64 applied, bool delivers) {
    float weight = delivers ? l->weight[k] : 0; // loaded while the target's are looked up
    const heard *target = heard_of(l, j);
    u64 newest = heard_at(target, 0), older = heard_at(target, 1);
    u32 next = target->next;
    u32 n = pending(l, newest, older, next, j, applied);
    if (n == 0 && !delivers) return 0;
    float x[MOST_VALUES], out = 0;
    if (!delivers) weight = l->weight[k];
    load_more(l, k, x);
    u32 post = 0;  // whether there is a post event in burst t
#pragma unroll 1
    for (;; n--) { // one place that runs handlers
        bool pre = n == 0;
        if (pre && !delivers) break;
        u64 now = t;
        sight v = {};
        if (pre) {
            bool before = newest == t + 1; // traces are those before the events of this burst
            v.age_post = age_at(before ? older : newest, t);
            v.heard = before ? target->traces + l->post_count : target->traces;
        } else {
            u32 place = place_before(l, next, n);
            now = (n == 1 ? newest : n == 2 ? older : *event_at(l, place, j)) - 1;
            post = now == t;
            v.notes = note_at(l, place, 0, j);
        }
        v.age_pre = age_at(arrived, now);
        v.pre = pre || (delivers && post);
        v.post = !pre || post;
        v.seen = seen.traces;
        v.variables = seen.variables;
        out = handle(l, pre, &v, j, t, &weight, x);
        if (pre) break;
    }
    l->weight[k] = weight;
    store_more(l, k, x);
    return out;
}

// arrival is the burst in which synapses of delay d know a source as they do, plus 1; 0: there has been no spike.
DEVICE u64 arrival(senders seen, u64 d) { return *seen.last == 0 ? 0 : *seen.last + d; }

// applied_to says events of which bursts have been applied to the synapses of source i whatever has arrived: those before the answer.
DEVICE u64 applied_to(const learning *l, u64 i, u64 swept) { return l->applied[i] > swept ? l->applied[i] : swept; }

// cut_to_delay cuts a row to its synapses of delay d, which lie together. All lanes of the warp must call it: in short rows each looks at
// some synapses, all at once.
template <class T> DEVICE void cut_to_delay(const T *delay, u64 *begin, u64 *end, u32 d) {
    const u64 few = 256;
    u64 low = *begin, high = *end;
    if (high - low > few) {
        *begin = first_delay(delay, low, high, d);
        *end = first_delay(delay, *begin, high, d + 1);
        return;
    }
    u32 before = 0, until = 0;
    for (u64 k = low + lane(); k < high; k += 32) {
        u32 one = delay[k];
        before += one < d, until += one <= d;
    }
    u32 both = before << 16 | until;
    for (u32 by = 16; by > 0; by /= 2) both += shuffle_xor(both, by);
    *begin = low + (both >> 16);
    *end = low + (both & 0xffff);
}

// recent is what pairs need of a target: the lower halves of its two newest events, and its trace after and before the newest.
struct alignas(16) recent {
    u32 low[2];
    float traces[2];
};

// pending_pairs is pending in bursts that 32 bits count; place becomes that of the target's next event, where it is asked for.
DEVICE u32 pending_pairs(const learning *l, const heard *x, u32 newest, u32 older, u32 target, u32 before, u32 *place) {
    u32 n = (newest > before) + (older > before);
    if (n < 2) return n;
    *place = x->next;
    return x->third > before ? pending_older(l, *place, target, before) : n;
}

// event_of_pairs is the burst plus 1 of the n-th newest event, whose first two are known.
DEVICE u32 event_of_pairs(const learning *l, u32 newest, u32 older, u32 target, u32 place, u32 n) {
    if (n > 2) return (u32)*event_at(l, place_before(l, place, n), target);
    return n == 1 ? newest : older;
}

// post_pair runs on_post of a rule of pairs for an event, of which the source is so old.
DEVICE float post_pair(const learning *l, const limits *bounds, const float *near, u32 close, float seen, u32 age, float weight) {
    float x = seen * (age < close ? near[age] : decayed_long(&l->pre->table, age)), was = weight;
    run_post(l->on_post.pair, l->on_post.params, x, &weight);
    return was == was ? clamped(bounds, weight) : was;
}

// ROUND is how many synapses of a row have their events applied together.
const u32 ROUND = 256;

// apply_in_rounds runs a long on_post for the pending events of at most ROUND synapses. With a synapse a lane a warp would run it as often as
// the synapse with most events needs, five times where the mean is one. So it lists the synapses that have any, by number, and in a round it
// applies one of each; from the first round on how many are left is beside the number.
DEVICE void apply_in_rounds(const learning *l, float seen, u32 arrived, u32 applied, u64 begin, u32 count, u16 *list) {
    const u32 *target = l->target + begin;
    float *weights = l->weight + begin;
    const heard *records = (const heard *)l->heard - l->port;
    const float *near = l->pre->table.near;
    u32 close = (u32)l->pre->table.close, below = (1u << lane()) - 1, listed = 0;
    limits bounds = l->bounds;
#pragma unroll 1
    for (u32 k = lane(); k - lane() < count; k += 128) {
        u32 own[4], newest[4];
        for (u32 i = 0; i < 4; i++) own[i] = k + 32 * i < count ? target[k + 32 * i] : l->port;
        for (u32 i = 0; i < 4; i++) newest[i] = records[own[i]].low[0];
        for (u32 i = 0; i < 4; i++) {
            bool any = k + 32 * i < count && newest[i] > applied;
            u32 some = vote(any);
            if (any) list[listed + ones(some & below)] = (u16)((k + 32 * i) << 8);
            listed += ones(some);
        }
    }
    while (listed > 0) {
        u32 left = 0;
#pragma unroll 1
        for (u32 first = 0; first < listed; first += 32) {
            warp_barrier(); // the list and weights are there
            u32 one = first + lane() < listed ? list[first + lane()] : 0, k = one >> 8, n = one & 255;
            if (first + lane() < listed) {
                u32 own = target[k], place = 0;
                const heard *x = records + own;
                if (n == 0) n = pending_pairs(l, x, x->low[0], x->low[1], own - l->port, applied, &place);
                u32 at = event_of_pairs(l, x->low[0], x->low[1], own - l->port, x->next, n);
                weights[k] = post_pair(l, &bounds, near, close, seen, at - arrived, weights[k]);
            }
            u32 more = vote(n > 1);
            warp_barrier(); // all have read it, and weights are there
            if (n > 1) list[left + ones(more & below)] = (u16)(k << 8 | (n - 1));
            left += ones(more);
        }
        listed = left;
    }
}

// deliver_pairs is deliver_row for count synapses from begin on whose rule is one of pairs: a synapse has a weight alone, on_post reads no
// more than the source's trace, on_pre no more than the target's. What a row's synapses have in common is found once, bursts take 32 bits,
// and a turn's weights and records are loaded in the turn before.
DEVICE void deliver_pairs(const learning *l, u64 t, float seen, u32 arrived, u32 applied, u64 begin, u32 count, i32 *acc) {
    const u32 *target = l->target + begin;
    float *weights = l->weight + begin;
    const heard *records = (const heard *)l->heard - l->port;
    const float *near_source = l->pre->table.near, *near_target = l->post->table.near;
    u32 close_source = (u32)l->pre->table.close, close_target = (u32)l->post->table.close, k = lane();
    limits bounds = l->bounds;
    float scale = (float)l->scale;
    if (k >= count) return;
    u32 own = target[k], next = k + 32 < count ? target[k + 32] : own;
    float weight = weights[k];
    recent r = *(const recent *)records[own].low;
#pragma unroll 1
    for (; k < count; k += 32) {
        float weight_ahead = 0;
        recent ahead = {};
        u32 after = next;
        if (k + 32 < count) ahead = *(const recent *)records[next].low, weight_ahead = weights[k + 32];
        if (k + 64 < count) after = target[k + 64];

        u32 place = 0, n = pending_pairs(l, records + own, r.low[0], r.low[1], own - l->port, applied, &place);
#pragma unroll 1
        for (; n > 0; n--) {
            u32 at = event_of_pairs(l, r.low[0], r.low[1], own - l->port, place, n);
            weight = post_pair(l, &bounds, near_source, close_source, seen, at - arrived, weight);
        }
        bool before = r.low[0] == (u32)t + 1; // the trace is that before the events of this burst
        u32 last = before ? r.low[1] : r.low[0], age = last == 0 ? NEVER : (u32)t + 1 - last;
        float y = (before ? r.traces[1] : r.traces[0]) * (age < close_target ? near_target[age] : decayed_long(&l->post->table, age)), was = weight;
        run_pre(l->on_pre.pair, l->on_pre.params, y, &weight);
        weight = was == was ? clamped(&bounds, weight) : was;
        weights[k] = weight;
        accumulate(acc + own, quanta(weight, scale));
        own = next, next = after, weight = weight_ahead, r = ahead;
    }
}

// deliver_row is steps 1a and 1b for what a spike of burst t − d of source i delivers in burst t, to the sums that begin at acc: one of
// some equal parts of it, each of which a warp does. list is the warp's room for rounds, or null.
DEVICE void deliver_row(const learning *l, u64 t, u64 d, u32 i, i32 *acc, u32 part, u32 parts, u16 *list) {
    u64 begin = l->row[i], end = l->row[i + 1];
    senders seen = before_of(l, t - d, i);
    u64 swept = applied_to(l, i, l->swept->before), arrived = arrival(seen, d), applied = arrived > swept ? arrived : swept;
    if (l->delay != nullptr) cut_to_delay(l->delay, &begin, &end, (u32)d);
    else if (l->late != nullptr) cut_to_delay(l->late, &begin, &end, (u32)d);
    if (parts > 1) {
        u32 each = (((u32)(end - begin) + parts - 1) / parts + 31) / 32 * 32;
        begin += (u64)each * part;
        if (end > begin + each) end = begin + each;
    }
    if (l->pairs && t < NEVER) {
        float x = arrived == 0 ? *seen.traces * 0.0f : *seen.traces;
        if (l->pairs == LONG_PAIRS && list != nullptr) {
#pragma unroll 1
            for (u64 k = begin; k < end; k += ROUND) apply_in_rounds(l, x, (u32)arrived, (u32)applied, k, end - k < ROUND ? (u32)(end - k) : ROUND, list);
            applied = t + 1;
        }
        return deliver_pairs(l, t, x, (u32)arrived, (u32)applied, begin, begin < end ? (u32)(end - begin) : 0, acc);
    }
    u64 k = begin + lane();
    u32 j = k < end ? target_at(l, k) : 0;
#pragma unroll 1
    while (k < end) {
        u32 next = k + 32 < end ? target_at(l, k + 32) : j;
        bring_closer(heard_of(l, next));
        deliver_out(l, acc, live_through(l, k, j, seen, arrived, t, applied, true), i, l->port + j);
        k += 32;
        j = next;
    }
}

// deliver_rows does so for all spikes, a row in so many parts.
DEVICE void deliver_rows(const learning *l, const history *h, u64 t, u32 parts, stint w) {
    u64 item = w.first;
    for (u64 d = l->least; d <= l->longest && d <= t; d++) {
        spikes queue = spikes_of(h, t - d);
        u64 items = queue.length * parts;
        for (; item < items; item += w.step) {
            u32 i = queue.ids[item / parts] - l->from;
            if (i < l->sources) deliver_row(l, t, d, i, l->acc, (u32)(item % parts), parts, nullptr);
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

// sweep_rows has the events of bursts before until applied to all synapses after burst t; those of bursts before swept have been. Where
// a spike has arrived since, or a sweep come, there is nothing to do; all other synapses have all events applied.
DEVICE void sweep_rows(const learning *l, u64 t, u64 swept, u64 until, stint w) {
    for (u64 i = w.first; i < l->sources; i += w.step) {
        u64 before = applied_to(l, i, swept), last = *seen_by(l, (u32)i, l->longest, t).last;
        if (before >= until || (last != 0 && last + l->least >= until)) continue;
        for (u64 k = l->row[i] + lane(); k < l->row[i + 1]; k += 32) {
            u64 d = delay_at(l, k);
            senders seen = seen_by(l, (u32)i, d, t);
            u64 arrived = arrival(seen, d);
            live_through(l, k, target_at(l, k), seen, arrived, t, arrived > before ? arrived : before, false);
        }
        warp_barrier(); // all lanes have read it
        if (lane() == 0) l->applied[i] = t + 1;
    }
}

// add_totals adds up the quanta of all weights onto each target.
DEVICE void add_totals(const learning *l, stint w) {
    for (u64 k = w.first; k < l->synapses; k += w.step) add((u64 *)l->total + target_at(l, k), (u64)(i64)quanta(l->weight[k], (float)l->scale));
}

// moment is what every reads of a synapse, when burst t is over.
struct moment {
    u64 t;
    u32 target; // counted from 0
    u64 delay;
    senders seen; // the source as the synapse knows it, at its place
};

DEVICE float read_moment(const learning *l, const reading *r, const moment *m) {
    switch (r->kind) {
    case READ_PRE: return aged(&l->pre[r->k].table, m->seen.traces[(u64)r->k * l->sources], *m->seen.last, m->delay, m->t);
    case READ_AGE_PRE: return age_of(*m->seen.last, m->delay, m->t);
    case READ_TOTAL: return (float)l->total[m->target] / (float)l->scale;
    }
    return read_target(l, r, m->target, m->t, true);
}

// change is what every makes of a synapse's values.
DEVICE void change(const learning *l, const moment *m, float *x) {
    if (x[0] != x[0]) return;
    float in[MOST_READS];
    for (u32 r = 0; r < l->every.reads; r++) in[r] = read_moment(l, l->every.list + r, m);
    run_rule(&l->every, x, in);
    x[0] = clamped(&l->bounds, x[0]);
}

// change_all is step 6, when no event is pending.
DEVICE void change_all(const learning *l, u64 t, stint w) {
    for (u64 i = w.first; i < l->sources; i += w.step)
        for (u64 k = l->row[i] + lane(); k < l->row[i + 1]; k += 32) {
            u64 d = delay_at(l, k);
            moment m = {t, target_at(l, k), d, seen_by(l, (u32)i, d, t)};
            float x[MOST_VALUES];
            x[0] = l->weight[k];
            load_more(l, k, x);
            change(l, &m, x);
            l->weight[k] = x[0];
            store_more(l, k, x);
        }
}

#ifndef BURST_LOCAL
KERNEL learn_rows(learning l, history h, u64 t, u32 parts) { deliver_rows(&l, &h, t, parts, of_warp()); }

KERNEL learn_sweep(learning l, u64 t, u32 forced) {
    u64 until = sweep_until(l.swept, t, forced);
    if (until > 0) sweep_rows(&l, t, l.swept->before, until, of_warp());
}

KERNEL learn_totals(learning l) { add_totals(&l, of_thread()); }

KERNEL learn_every(learning l, u64 t) { change_all(&l, t, of_warp()); }
#endif
