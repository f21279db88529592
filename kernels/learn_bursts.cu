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
};

// parted is one part of a row of a projection.
struct parted {
    u32 learner, part, parts;
};

// sending is a span of neurons whose spikes deliver rows, and which of all parted are theirs.
struct sending {
    u32 first, count, begin, parts;
};

// cutting is a way of cutting what spikes deliver into parts, of which a warp does one after the other.
struct cutting {
    const sending *spans;
    const parted *list;
    u32 count, most; // of spans; parts of a spike
};

struct learners {
    const learner *list;
    u64 count;
    u64 queues; // of a state
    history h;
    u64 fixed_bytes; // of the list, and of all that it points to which does not change, from where it begins on
    u64 copied;      // whether the block's memory has room for a copy
    cutting small, large; // for few spikes, and for so many that all warps have several parts
    u64 least, longest;   // delays
};

DEVICE bool learn(const learners *) { return true; }

// move makes a pointer into what has been copied one into the copy.
template <class T> DEVICE void move(const T **p, const u8 *from, u8 *to, u64 bytes) {
    u64 at = (u64)((const u8 *)*p - from);
    if (at < bytes) *p = (const T *)(to + at);
}

DEVICE void move_handler(handler *h, const u8 *from, u8 *to, u64 bytes) {
    move(&h->list, from, to, bytes);
    move(&h->params, from, to, bytes);
    move(&h->decays, from, to, bytes);
}

DEVICE cutting moved(cutting c, const u8 *from, u8 *to, u64 bytes) {
    move(&c.spans, from, to, bytes);
    move(&c.list, from, to, bytes);
    return c;
}

// copy_learners brings what does not change into the block's memory: registers cannot hold it, and the first cache loses it at each
// barrier. The answer refers to the copy; a kernel's own parameters cannot, as clang takes all pointers in them for global ones.
DEVICE learners copy_learners(const learners *x, u8 *room) {
    const u8 *from = (const u8 *)x->list;
    if (!x->copied) return learners{x->list, x->count, x->queues, x->h, x->fixed_bytes, 0, x->small, x->large, x->least, x->longest};
    copy((u32 *)room, (const u32 *)from, x->fixed_bytes / 4);
    block_barrier();
    learner *list = (learner *)room;
#pragma unroll 1
    for (u64 i = thread_in_block(); i < x->count; i += block_size()) {
        learning *l = &list[i].l;
        move_handler(&l->on_post, from, room, x->fixed_bytes);
        move_handler(&l->on_pre, from, room, x->fixed_bytes);
        move_handler(&l->every, from, room, x->fixed_bytes);
        move_handler(&l->on_source, from, room, x->fixed_bytes);
        move_handler(&l->when, from, room, x->fixed_bytes);
        move(&l->pre, from, room, x->fixed_bytes);
        move(&l->post, from, room, x->fixed_bytes);
        move(&l->states, from, room, x->fixed_bytes);
    }
    block_barrier();
    return learners{list, x->count, x->queues, x->h, x->fixed_bytes, 1, moved(x->small, from, room, x->fixed_bytes),
                    moved(x->large, from, room, x->fixed_bytes), x->least, x->longest};
}

// tell_fired and tell_total add to the fire queue of burst t.
DEVICE void tell_fired(const learners *x, u64 t, u32 place, u32 n) { x->h.queues[t % x->h.depth * x->h.neurons + place] = n; }
DEVICE void tell_total(const learners *x, u64 t, u32 total) { add(x->h.lengths + t % x->h.depth, (u64)total); }

DEVICE bool is_due(const learner *one, u64 t) { return one->every != 0 && (t + 1) % one->every == 0; }

// What comes before the synapses of a burst, of a projection: its post events, the spikes that set out, and the spikes of sources and of
// targets that leave the queues of a state.
enum duty { NOTE, LAUNCH, SETTLE_SOURCES, SETTLE_TARGETS, DUTIES };

// spikes_for are those that a duty of a projection is about in burst t, whose own place is known; none where there is no such duty.
DEVICE spikes spikes_for(const learners *x, const learner *one, u32 kind, u64 t, u64 place) {
    const learning *l = &one->l;
    if (kind == NOTE && l->when.there) return spikes{nullptr, l->targets, 0};
    u64 after = kind == NOTE ? l->lag : kind == LAUNCH ? l->least : x->queues;
    bool none = t < after || (kind == SETTLE_SOURCES && one->settled.last == nullptr) || (kind == SETTLE_TARGETS && one->settled_heard.last == nullptr);
    return none ? spikes{} : spikes_before(&x->h, t, place, after);
}

DEVICE u32 sum_lanes(u32 v) {
    for (u32 by = 16; by > 0; by /= 2) v += shuffle_xor(v, by);
    return v;
}

// learn_events_of is all projections' duties in burst t. A warp does one of 32 neurons, or targets, after the other, and all its lanes the
// same: most warps have none. 32 duties at a time are looked at, by a lane each.
DEVICE void learn_events_of(const learners *x, u64 t) {
    u64 place = t % x->h.depth;
    if (thread_index() == 0) x->h.lengths[place] = 0;
    stint w = of_warp();
    u64 number = w.first;
#pragma unroll 1
    for (u64 first = 0; first < x->count * DUTIES; first += 32) {
        u64 own = first + lane();
        u32 tasks = own < x->count * DUTIES ? (u32)((spikes_for(x, x->list + own / DUTIES, own % DUTIES, t, place).length + 31) / 32) : 0;
        u32 until = tasks, total = sum_lanes(tasks);
        for (u32 by = 1; by < 32; by *= 2) {
            u32 other = shuffle_up(until, by);
            if (lane() >= by) until += other;
        }
#pragma unroll 1
        for (; number < total; number += w.step) {
            u32 whose = vote(number < until); // the first of them
            u32 at = ones((whose & -whose) - 1), before = sum_lanes(lane() == at ? until - tasks : 0);
            const learner *one = x->list + (first + at) / DUTIES;
            const learning *l = &one->l;
            u32 kind = (first + at) % DUTIES;
            spikes queue = spikes_for(x, one, kind, t, place);
            u64 k = (number - before) * 32 + lane();
            if (k < queue.length && kind == NOTE) note_one(l, queue, k, t);
            else if (k < queue.length && kind == SETTLE_TARGETS) raise_one(l, one->settled_heard, queue, k);
            else if (k < queue.length) take_one(l, kind == LAUNCH ? l->live : one->settled, queue, k, kind == LAUNCH);
        }
        number -= total;
    }
}

// learn_rows_of is what synapses do in burst t, whose sums are acc.
DEVICE void learn_rows_of(const learners *x, u64 t, i32 *acc) {
    stint w = of_warp();
    u64 place = t % x->h.depth, item = w.first;
#pragma unroll 1
    for (u64 d = x->least; d <= x->longest && d <= t; d++) {
        spikes queue = spikes_before(&x->h, t, place, d);
        const cutting *c = queue.length * x->small.most > 4 * w.step ? &x->large : &x->small;
        u64 items = queue.length * c->most;
#pragma unroll 1
        for (; item < items; item += w.step) {
            u64 q = item / c->most;
            u32 n = queue.ids[q], part = (u32)(item - q * c->most), k = 0;
            while (k < c->count && n - c->spans[k].first >= c->spans[k].count) k++;
            if (k == c->count || part >= c->spans[k].parts) continue;
            const parted *one = c->list + c->spans[k].begin + part;
            const learning *l = &x->list[one->learner].l;
            if (l->least <= d && d <= l->longest) deliver_row(l, t, d, n - l->from, acc, one->part, one->parts);
        }
        item -= items; // the next delay's begin with whose turn it is
    }
}

// learn_ends_of ends burst t but for sweeps by rules. The warp's lanes look at 32 projections at a time.
DEVICE void learn_ends_of(const learners *x, u64 t) {
#pragma unroll 1
    for (u64 from = 0; from < x->count; from += 32) {
        u64 i = from + lane();
        bool due = i < x->count && is_due(x->list + i, t);
        u32 those = vote(i < x->count && sweep_until(x->list[i].l.swept, t, t % 2, due) > 0);
#pragma unroll 1
        for (; those != 0; those &= those - 1) {
            const learner *one = x->list + from + ones((those & -those) - 1);
            const learning *l = &one->l;
            bool all = is_due(one, t);
            sweep_rows(l, t, l->swept->before[t % 2], sweep_until(l->swept, t, t % 2, all), of_warp());
            stint w = of_thread();
            for (u64 j = w.first; all && j < l->targets; j += w.step) l->total[j] = 0;
        }
        if (block_index() == 0 && thread_in_block() / 32 == from / 32 % (block_size() / 32) && i < x->count)
            end_sweep(x->list[i].l.swept, t, t % 2, due);
    }
}

// learn_every_of is step 6 of burst t, after the update.
DEVICE void learn_every_of(const learners *x, const run *p, u64 t, block *s, u32 *wanted) {
    bool any = false;
    for (u64 i = 0; i < x->count; i++) any = any || is_due(x->list + i, t);
    if (!any) return;
#pragma unroll 1
    for (u64 i = 0; i < x->count; i++)
        if (is_due(x->list + i, t)) add_totals(&x->list[i].l, of_thread());
    grid_barrier(p, s, wanted);
#pragma unroll 1
    for (u64 i = 0; i < x->count; i++)
        if (is_due(x->list + i, t)) change_all(&x->list[i].l, t, of_warp());
    grid_barrier(p, s, wanted);
}

KERNEL_OF_1024 learn_bursts(run p, learners x) {
    learners own = copy_learners(&x, dynamic_memory());
    bursts<ALL_MODELS>(&p, &own);
}
