// Networks that learn, in launches of many bursts: run_bursts with the steps of learning between its barriers.
#pragma once
#include "learn_neurons.cu"
#include "learn_synapses.cu"
#include "learn_windows.cu"
#include "run_bursts.cu"

// learner is a projection that learns, with what the state has where that is not what is live (else null), and the bursts from one sweep of
// its rule to the next, or 0.
struct learner {
    learning l;
    senders settled;
    receivers settled_heard;
    levels settled_levels; // always apart
    u64 every;
    window rule; // FEAGI's, else of kind 0
    u32 shares;  // whether its targets are those of one before, with whose sweeps its own end
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

// task is what comes before the synapses of a burst, of a projection: its post events, the spikes that set out, or the spikes of sources or
// of targets that leave the queues of a state.
struct task {
    u32 learner, kind;
};

// findings is what a block's last warp finds for the others.
struct findings {
    u32 sweeping; // whether the burst ends with a sweep
    u32 due[2];   // whether a rule changes all synapses after burst t, by t modulo 2
    u32 place[2]; // of burst t in the history, likewise
};

struct learners {
    const learner *list;
    u64 count;
    u64 queues; // of a state
    history h;
    u64 fixed_bytes; // of the list, and of all that it points to which does not change, from where it begins on
    u64 copied;      // whether the block's memory has room for a copy
    u16 *lists;      // each warp's room for rounds, of ROUND words; where it is not null, in the block's memory behind the copy
    spans fired; // of FEAGI's rules; no slots where there are none
    const task *tasks;
    u64 own, all;  // tasks; the first ones are about spikes of the burst before
    u32 watching;  // whether a rule has a condition, which reads the state of targets
    u32 changing;  // whether a rule changes all synapses at times
    u32 alone;     // whether there are no other synapses
    findings *found; // of the block
    cutting small, large; // for few spikes, and for so many that all warps have several parts
    u64 least, longest;   // delays
};

DEVICE bool all_learn(const learners *x) { return x->alone; }

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

DEVICE void move_traces(const trace **list, u32 count, const u8 *from, u8 *to, u64 bytes) {
    move(list, from, to, bytes);
#pragma unroll 1
    for (u32 k = 0; k < count; k++) move((const float **)&(*list)[k].table.near, from, to, bytes);
}

DEVICE cutting moved(cutting c, const u8 *from, u8 *to, u64 bytes) {
    move(&c.spans, from, to, bytes);
    move(&c.list, from, to, bytes);
    return c;
}

// copy_learners brings what does not change into the block's memory: registers cannot hold it, and the first cache loses it at each
// barrier. The answer refers to the copy; a kernel's own parameters cannot, as clang takes all pointers in them for global ones.
DEVICE learners copy_learners(const learners *x, u8 *room, findings *found, u64 t) {
    const u8 *from = (const u8 *)x->list;
    learners own = *x;
    own.found = found;
    if (thread_in_block() == 0) found->place[t % 2] = (u32)(t % x->h.depth);
    if (!x->copied) return own;
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
        move_traces(&l->pre, l->pre_count, from, room, x->fixed_bytes);
        move_traces(&l->post, l->post_count, from, room, x->fixed_bytes);
        move(&l->states, from, room, x->fixed_bytes);
    }
    block_barrier();
    own.list = list;
    if (x->lists != nullptr) own.lists = (u16 *)(room + (x->fixed_bytes + 15) / 16 * 16);
    move(&own.tasks, from, room, x->fixed_bytes);
    own.small = moved(x->small, from, room, x->fixed_bytes);
    own.large = moved(x->large, from, room, x->fixed_bytes);
    return own;
}

// place_in is that of burst t in the history.
DEVICE u64 place_in(const learners *x, u64 t) { return x->found->place[t % 2]; }

// tell_fired and tell_total add to the fire queue of burst t.
DEVICE void tell_fired(const learners *x, u64 t, u32 place, u32 n) { x->h.queues[place_in(x, t) * x->h.neurons + place] = n; }
DEVICE void tell_total(const learners *x, u64 t, u32 total) { add(x->h.lengths + place_in(x, t), (u64)total); }

DEVICE bool is_due(const learner *one, u64 t) { return one->every != 0 && (t + 1) % one->every == 0; }

// Kinds of task.
enum duty { NOTE, LAUNCH, SETTLE_SOURCES, SETTLE_TARGETS };

// spikes_for are those that a task is about in burst t, whose own place is known.
DEVICE spikes spikes_for(const learners *x, const task *one, u64 t, u64 place) {
    const learning *l = &x->list[one->learner].l;
    if (one->kind == NOTE && l->when.there) return spikes{nullptr, l->targets, 0};
    u64 after = one->kind == NOTE ? l->lag : one->kind == LAUNCH ? l->least : x->queues;
    return t < after ? spikes{} : spikes_before(&x->h, t, place, after);
}

// do_task does one in burst t, for a neuron of which there was a spike in burst s.
DEVICE void do_task(const learners *x, const task *task, u32 n, u64 s, u64 t) {
    const learner *one = x->list + task->learner;
    switch (task->kind) {
    case NOTE: return note_one(&one->l, n, t);
    case SETTLE_TARGETS: return raise_one(&one->l, one->settled_heard, n, s);
    }
    take_one(&one->l, task->kind == LAUNCH ? one->l.live : one->settled, n, s, task->kind == LAUNCH);
}

DEVICE u32 sum_lanes(u32 v) {
    for (u32 by = 16; by > 0; by /= 2) v += shuffle_xor(v, by);
    return v;
}

// sum_until is the sum of v over all lanes; until becomes that over those up to the lane's own.
DEVICE u32 sum_until(u32 v, u32 *until) {
    u32 sum = v;
    for (u32 by = 1; by < 32; by *= 2) {
        u32 other = shuffle_up(sum, by);
        if (lane() >= by) sum += other;
    }
    *until = sum;
    return sum_lanes(v);
}

// lane_of is the lane that the number-th item belongs to, of lanes that have so many each; before becomes how many the lanes before it have.
DEVICE u32 lane_of(u32 number, u32 items, u32 until, u32 *before) {
    u32 whose = vote(number < until), at = ones((whose & -whose) - 1);
    *before = sum_lanes(lane() == at ? until - items : 0);
    return at;
}

// do_tasks does those from the first one on in burst t. A warp does one of 32 neurons, or targets, after the other, and all its lanes the
// same: most warps have none. 32 tasks at a time are looked at, by a lane each.
DEVICE void do_tasks(const learners *x, u64 first, u64 t) {
    u64 place = place_in(x, t);
    stint w = of_warp();
    u64 number = w.first;
#pragma unroll 1
    for (; first < x->all; first += 32) {
        u64 own = first + lane();
        u32 parts = own < x->all ? (u32)((spikes_for(x, x->tasks + own, t, place).length + 31) / 32) : 0;
        u32 until, total = sum_until(parts, &until), before;
#pragma unroll 1
        for (; number < total; number += w.step) {
            u32 at = lane_of((u32)number, parts, until, &before);
            const task *one = x->tasks + first + at;
            spikes queue = spikes_for(x, one, t, place);
            u64 k = (number - before) * 32 + lane();
            if (k < queue.length) do_task(x, one, neuron_at(&x->list[one->learner].l, queue, k), queue.s, t);
        }
        number -= total;
    }
}

// any_due reports whether a rule changes all synapses after burst t, once those of the burst have delivered.
DEVICE bool any_due(const learners *x, u64 t) { return x->changing && x->found->due[t % 2]; }

// goes_ahead reports whether what comes before the synapses of burst t + 1 is done while burst t is listed: not where rules read the state
// after burst t, or change all synapses then.
DEVICE bool goes_ahead(const learners *x, u64 t) { return !x->watching && !any_due(x, t); }

// learn_events_of is what comes before the synapses of burst t, where it has not gone ahead.
DEVICE void learn_events_of(const learners *x, const run *p, u64 t, block *s, u32 *wanted) {
    if (t > p->first && goes_ahead(x, t - 1)) return;
    do_tasks(x, 0, t);
    grid_barrier(p, s, wanted);
}

// fired_at is the k-th of the block's neurons that fire.
DEVICE u32 fired_at(const run *p, const block *s, u32 k) {
    u32 words = p->block_neurons / 32, each = (words + GROUPS - 1) / GROUPS, g = 0;
    for (u32 by = GROUPS / 2; by > 0; by /= 2) g += s->group[g + by] <= k ? by : 0;
    k -= s->group[g];
    u32 word = g * each, bits = s->bits[word];
    for (; k >= ones(bits); bits = s->bits[++word]) k -= ones(bits);
    for (; k > 0; k--) bits &= bits - 1;
    return neuron_of(p->w.own, block_index() * p->block_neurons + word * 32 + ones((bits & -bits) - 1));
}

// learn_next_of is what comes before the synapses of burst t + 1, if it goes ahead. What is about the spikes of burst t is done for those
// of the block's own neurons, a task of 32 of them by a warp: the last ones, as the first ones list.
DEVICE void learn_next_of(const learners *x, const run *p, u64 t, const block *s) {
    if (t + 1 == p->first + p->bursts || !goes_ahead(x, t)) return;
    do_tasks(x, x->own, t + 1);
    u32 count = s->total[t % 2], turns = (count + 31) / 32, warps = block_size() / 32;
#pragma unroll 1
    for (u32 i = warps - 1 - thread_in_block() / 32; i < turns * (u32)x->own; i += warps) {
        u32 k = i % turns * 32 + lane();
        if (k < count) do_task(x, x->tasks + i / turns, fired_at(p, s, k), t, t + 1);
    }
}

// look_for_sweeps finds how burst t ends; a warp does, while others deliver.
DEVICE void look_for_sweeps(const learners *x, u64 t) {
    bool any = false, all = false;
#pragma unroll 1
    for (u64 i = lane(); i < x->count; i += 32) {
        bool due = is_due(x->list + i, t);
        all = all || due, any = any || sweep_until(x->list[i].l.swept, t, due) > 0;
    }
    u32 sweeping = vote(any), due = vote(all);
    if (lane() != 0) return;
    x->found->sweeping = sweeping, x->found->due[t % 2] = due;
    u32 next = x->found->place[t % 2] + 1;
    x->found->place[(t + 1) % 2] = next < x->h.depth ? next : 0;
}

// cutting_of is how rows of so many spikes are cut, where so many warps share them.
DEVICE const cutting *cutting_of(const learners *x, u64 spikes, u64 warps) { return spikes * x->small.most > 4 * warps ? &x->large : &x->small; }

// learn_rows_of is what synapses do in burst t, whose sums are acc. A lane looks at the spikes of each of 32 delays. All spikes' first parts
// come before their second ones, so that warps have equally many of the longer ones.
DEVICE void learn_rows_of(const learners *x, u64 t, i32 *acc) {
    stint w = of_warp();
    u64 place = place_in(x, t);
    u32 number = (u32)w.first, before;
    u16 *list = x->lists == nullptr ? nullptr : x->lists + thread_in_block() / 32 * ROUND;
    if (thread_index() == 0) x->h.lengths[place] = 0; // nobody reads it until the burst's own spikes are there
    if (thread_in_block() / 32 == block_size() / 32 - 1) look_for_sweeps(x, t);
#pragma unroll 1
    for (u64 least = x->least; least <= x->longest && least <= t; least += 32) {
        u64 own = least + lane(), length = own <= x->longest && own <= t ? spikes_before(&x->h, t, place, own).length : 0;
        u32 items = (u32)length * cutting_of(x, length, w.step)->most, until = items, total;
        if (x->least == x->longest) total = until = shuffle_first(items, 32);
        else total = sum_until(items, &until);
#pragma unroll 1
        for (; number < total; number += (u32)w.step) {
            u64 d = least + lane_of(number, items, until, &before);
            spikes queue = spikes_before(&x->h, t, place, d);
            const cutting *c = cutting_of(x, queue.length, w.step);
            u32 length = (u32)queue.length, part = (number - before) / length, n = queue.ids[number - before - part * length], k = 0;
            while (k < c->count && n - c->spans[k].first >= c->spans[k].count) k++;
            if (k == c->count || part >= c->spans[k].parts) continue;
            const parted *one = c->list + c->spans[k].begin + part;
            const learning *l = &x->list[one->learner].l;
            if (l->least <= d && d <= l->longest) deliver_row(l, t, d, n - l->from, acc, one->part, one->parts, list);
        }
        number -= total; // the next delays' begin with whose turn it is
    }
}

// learn_sweeps_of is the sweeps that burst t ends with.
DEVICE void learn_sweeps_of(const learners *x, const run *p, u64 t, block *s, u32 *wanted) {
    if (!x->found->sweeping) return;
#pragma unroll 1
    for (u64 i = 0; i < x->count; i++) {
        const learning *l = &x->list[i].l;
        bool all = is_due(x->list + i, t);
        u64 until = sweep_until(l->swept, t, all);
        if (until > 0) sweep_rows(l, t, l->swept->before, until, of_warp());
        stint w = of_thread();
        for (u64 j = w.first; all && l->total != nullptr && j < l->targets; j += w.step) l->total[j] = 0;
    }
    grid_barrier(p, s, wanted);
    for (u64 i = thread_index(); i < x->count; i += thread_count())
        if (!x->list[i].shares) end_sweep(x->list[i].l.swept, t, is_due(x->list + i, t));
    grid_barrier(p, s, wanted);
}

// learn_every_of is step 6 of burst t, after the update.
DEVICE void learn_every_of(const learners *x, const run *p, u64 t, block *s, u32 *wanted) {
    if (!any_due(x, t)) return;
    bool adds = false;
#pragma unroll 1
    for (u64 i = 0; i < x->count; i++) {
        const learning *l = &x->list[i].l;
        if (l->total == nullptr || !is_due(x->list + i, t)) continue;
        add_totals(l, of_thread());
        adds = true;
    }
    if (adds) grid_barrier(p, s, wanted);
#pragma unroll 1
    for (u64 i = 0; i < x->count; i++)
        if (is_due(x->list + i, t)) change_all(&x->list[i].l, t, of_warp());
    grid_barrier(p, s, wanted);
}

// all_learners are those among which are modulators or FEAGI's rules, with a kernel of their own: their code beside the other rows' costs
// networks without them a tenth.
struct all_learners : learners {};

// own_warp is the number of the warp among all, from the last one on: the first ones have most to do.
DEVICE u64 own_warp() { return (thread_count() - 1 - thread_index()) / 32; }

// look_at_modulators finds what modulators are in a launch's first burst t, before their events.
DEVICE void look_at_modulators(const learners *x, u64 t) {
    u64 first = own_warp();
#pragma unroll 1
    for (u64 i = 0; i < x->count; i++) {
        const learning *l = &x->list[i].l;
        for (u64 k = first; k < l->modulators; k += thread_count() / 32)
            if (lane() == 0) *modulated(l, k, t) = level_in(l, levels_of(l), k, l->modulator_list[k].delay, t);
    }
}

// raise_modulators is their step 1c in burst t, and what is read of them after it and in the next burst before its events.
DEVICE void raise_modulators(const learners *x, u64 t) {
    u64 number = own_warp();
#pragma unroll 1
    for (u64 i = 0; i < x->count; i++) {
        const learner *one = x->list + i;
        const learning *l = &one->l;
#pragma unroll 1
        for (; number < 2 * l->modulators; number += thread_count() / 32) {
            u32 k = (u32)(number / 2);
            if (number % 2 == 1) {
                raise_level(l, one->settled_levels, k, &x->h, x->queues, t, 0);
                continue;
            }
            u64 delay = l->modulator_list[k].delay;
            raise_level(l, levels_of(l), k, &x->h, delay, t, 0);
            if (lane() == 0) l->after[k] = level_in(l, levels_of(l), k, delay, t), *modulated(l, k, t + 1) = level_in(l, levels_of(l), k, delay, t + 1);
        }
        number -= 2 * l->modulators;
    }
}

// count_own takes burst t into the spans of the block's own neurons.
DEVICE void count_own(const learners *x, const run *p, u64 t, const block *s) {
    for (u32 k = thread_in_block(); k < own(p); k += block_size()) {
        u32 n = neuron_of(p->w.own, block_index() * p->block_neurons + k);
        if (s->bits[k / 32] >> k % 32 & 1) fired_in(&x->fired, t, n);
        else silent_in(&x->fired, t, n);
    }
}

DEVICE void learn_events_of(const all_learners *x, const run *p, u64 t, block *s, u32 *wanted) {
    if (t == p->first) {
        look_at_modulators(x, t);
        grid_barrier(p, s, wanted);
    }
    learn_events_of((const learners *)x, p, t, s, wanted);
}

DEVICE void learn_rows_of(const all_learners *x, u64 t, i32 *acc) {
    raise_modulators(x, t);
#pragma unroll 1
    for (u64 i = 0; i < x->count; i++) {
        amplitudes none = {};
        const learner *one = x->list + i;
        if (one->rule.kind != 0) window_rows(&one->l, &one->rule, &x->fired, &none, t, acc, of_warp());
    }
    learn_rows_of((const learners *)x, t, acc);
}

DEVICE void learn_next_of(const all_learners *x, const run *p, u64 t, const block *s) {
    if (x->fired.slots > 0) count_own(x, p, t, s);
    learn_next_of((const learners *)x, p, t, s);
}

#ifndef BURST_LOCAL
KERNEL_OF_1024 learn_bursts(run p, learners x) {
    SHARED(findings, found);
    learners own = copy_learners(&x, dynamic_memory(), &found, p.first);
    bursts<ALL_MODELS>(&p, &own);
}

KERNEL_OF_1024 learn_bursts_all(run p, learners x) {
    SHARED(findings, found);
    all_learners own = {copy_learners(&x, dynamic_memory(), &found, p.first)};
    bursts<ALL_MODELS>(&p, &own);
}
#endif
