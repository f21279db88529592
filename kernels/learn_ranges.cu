// Networks that learn by rules of pairs and whose rows are of one delay, in launches of many bursts: learn_bursts, but that each block has a
// range of all targets. It keeps their sums, newest events and traces in its own memory, and delivers its part of each row. Rows lie by
// target, so that a part is a stretch of a row.
#pragma once
#include "learn_bursts.cu"
#include "turns.cuh"

// slice says where the blocks' parts of a projection's rows lie.
struct slice {
    u32 *cut;         // where source i's parts begin, at i·(blocks + 1), and where the last one ends
    u32 first, blocks; // that have targets of it
    u32 place;        // of its first target among the places of all
};

// hearers are targets that share records, of which there are places.
struct hearers {
    u32 learner; // the first projection that has these records
    u32 place;   // of the first
};

struct ranges {
    const slice *slices;    // by projection
    const hearers *hearing;
    u64 count;              // of the latter
    u32 *told;              // the counters of turns, and behind them by turn modulo TURNS the last one, plus 1, after which there is to be a sweep
    u32 own;                // places of a block, a multiple of 32
    u32 events;             // of a target in its block's memory, at least 2
    u32 lists;              // whether warps have room for rounds
    u32 apart;              // so many turns apart blocks are at most; 0: they meet before neurons are updated
    u32 launches;           // so many bursts before they are due spikes set out
    u64 at;                 // where in its memory all this begins: range_of
};

// ranged are learners with what a block has of its range.
struct ranged : learners {
    ranges r;
    const slice *slices; // the block's copy
    u32 rows;            // address of what is looked up of a thread's spike: so many words by thread, one array after the other
    u32 totals;          // address of how many synapses each warp's spikes have
    u16 *lists;          // as learners', but of RANGE_ROUND words
    u32 sums;            // address of the targets' sums; then come events, from the newest on, and the trace after and before the newest
};


// A target of the block is told by the address of its sum; its events and traces lie so many bytes on.
DEVICE u32 event_of(const ranged *x, u32 sum, u32 n) { return sum + (1 + n) * 4 * x->r.own; }

// end_of is the first target, counted from a place on, that is not the block's; begin_of the first one that is.
DEVICE u32 begin_of(const ranged *x, u32 place) {
    u32 begin = block_index() * x->r.own;
    return begin > place ? begin - place : 0;
}
DEVICE u32 end_of(const ranged *x, u32 place, u32 targets) {
    u32 end = (block_index() + 1) * x->r.own;
    return end < place ? 0 : end - place < targets ? end - place : targets;
}
DEVICE u32 sum_of_target(const ranged *x, u32 place, u32 j) { return x->sums + 4 * (place + j - block_index() * x->r.own); }

// take_range fills the block's memory from the targets' records.
DEVICE void take_range(const ranged *x) {
    for (u32 k = thread_in_block(); k < x->r.own; k += block_size()) store_shared(x->sums + 4 * k, 0);
#pragma unroll 1
    for (u64 i = 0; i < x->r.count; i++) {
        const hearers *one = x->r.hearing + i;
        const learning *l = &x->list[one->learner].l;
        u32 end = end_of(x, one->place, l->targets);
#pragma unroll 1
        for (u32 j = begin_of(x, one->place) + thread_in_block(); j < end; j += block_size()) {
            const heard *target = heard_of(l, j);
            u32 sum = sum_of_target(x, one->place, j);
#pragma unroll 1
            for (u32 n = 0; n < x->r.events; n++) {
                u32 at = n < 2 ? target->low[n] : target->third;
                if (n > 2) at = n < l->ring.places ? (u32)*event_at(l, place_before(l, target->next, n + 1), j) : 0;
                store_shared(event_of(x, sum, n), at);
            }
            for (u32 n = 0; n < 2; n++) store_shared(event_of(x, sum, x->r.events + n), bits_of(target->traces[n]));
        }
    }
}

// A turn of blocks that are k turns apart at most begins when all have finished the turn k before. In the turn that updates neurons for burst
// t, synapses that learn deliver what is due in burst t + k, other rows are those of who fired in burst t − k, and sources take in what sets
// out in burst t + 2k. So a sum is there k turns before it is read, and what rows need of their sources k turns before that.

// slot_of is where burst t lies in the history.
DEVICE u32 slot_of(const ranged *x, u64 t) { return t < NEVER ? (u32)t % (u32)x->h.depth : (u32)(t % x->h.depth); }
DEVICE spikes spikes_in(const ranged *x, u64 s) { return spikes_at(&x->h, slot_of(x, s), s); }

// rank_of is the thread's number for the n-th of some lists, from the last ones on: the first ones have most neurons.
DEVICE u32 rank_of(u32 n) { return (block_size() - 1 - thread_in_block() + n * (block_size() / 4)) % block_size(); }

// hear_events notes the events of burst t of the block's targets, and takes them into its memory.
DEVICE void hear_events(const ranged *x, u64 t, u32 turn) {
#pragma unroll 1
    for (u64 i = 0; i < x->r.count; i++) {
        const hearers *one = x->r.hearing + i;
        const learning *l = &x->list[one->learner].l;
        u32 begin = begin_of(x, one->place), end = end_of(x, one->place, l->targets);
        if (begin >= end || t < l->lag) continue;
        spikes queue = spikes_in(x, t - l->lag);
#pragma unroll 1
        for (u64 k = rank_of(0); k < queue.length; k += block_size()) {
            u32 j = queue.ids[k] - l->to;
            if (j - begin >= end - begin) continue;
            if (note_event(l, j, t)) x->r.told[TURNS * TURN_APART + turn % TURNS] = turn + 1;
            const heard *target = heard_of(l, j);
            u32 sum = sum_of_target(x, one->place, j);
#pragma unroll 1
            for (u32 n = x->r.events - 1; n > 0; n--) store_shared(event_of(x, sum, n), read_shared(event_of(x, sum, n - 1)));
            store_shared(event_of(x, sum, 0), (u32)t + 1);
            for (u32 n = 0; n < 2; n++) store_shared(event_of(x, sum, x->r.events + n), bits_of(target->traces[n]));
        }
    }
}

// follow_own does what burst t has to do of a kind for spikes of the block's own neurons.
DEVICE void follow_own(const ranged *x, const run *p, duty kind, u64 t) {
    u32 begin = block_index() * p->block_neurons;
#pragma unroll 1
    for (u64 i = 0; i < x->all; i++) {
        const task *one = x->tasks + i;
        const learning *l = &x->list[one->learner].l;
        u64 after = kind == LAUNCH ? l->least : x->queues;
        if (one->kind == NOTE || (one->kind == LAUNCH) != (kind == LAUNCH) || t < after) continue;
        spikes queue = spikes_in(x, t - after);
#pragma unroll 1
        for (u64 k = rank_of((u32)i); k < queue.length; k += block_size()) {
            u32 n = queue.ids[k];
            if (n - begin < own(p)) do_task(x, one, n, queue.s, t);
        }
    }
}

// pending_here is how many of a target's events are those of bursts from before on.
DEVICE u32 pending_here(const ranged *x, const learning *l, u32 sum, u32 j, u32 before) {
    u32 n = 0;
#pragma unroll 1
    while (n < x->r.events && read_shared(event_of(x, sum, n)) > before) n++;
    return n < x->r.events ? n : pending_older(l, heard_of(l, j)->next, j, before);
}

// event_here is the burst plus 1 of its n-th newest event.
DEVICE u32 event_here(const ranged *x, const learning *l, u32 sum, u32 j, u32 n) {
    if (n <= x->r.events) return read_shared(event_of(x, sum, n - 1));
    return (u32)*event_at(l, place_before(l, heard_of(l, j)->next, n), j);
}

// What is looked up of a spike's row, words by thread. Synapse k of all that the block delivers at a time is synapse from + k of the
// projection, where the row is the first one that ends behind k.
enum row_word { UNTIL, FROM, ARRIVED, APPLIED, SEEN, ROW_WORDS };
DEVICE u32 word_of(const ranged *x, row_word w, u32 row) { return x->rows + 4 * (w * block_size() + row); }

// stretches are 32 neighbouring rows of these, one a lane.
struct stretches {
    u32 until, from, arrived, applied;
    float seen;
};

DEVICE stretches rows_from(const ranged *x, u32 row) {
    row += lane();
    return stretches{read_shared(word_of(x, UNTIL, row)), read_shared(word_of(x, FROM, row)), read_shared(word_of(x, ARRIVED, row)),
                     read_shared(word_of(x, APPLIED, row)), float_of(read_shared(word_of(x, SEEN, row)))};
}

// row_of is the lane whose row has synapse k, which one of them has. All lanes of the warp must call it.
DEVICE u32 row_of(const stretches *s, u32 k) {
    u32 row = 0;
#pragma unroll
    for (u32 by = 16; by > 0; by /= 2) row += shuffle_from(s->until, row + by - 1) <= k ? by : 0;
    return row;
}

// apply_here is apply_in_rounds for synapses first ≤ k < end of the stretches, at most RANGE_ROUND, whose numbers lists have beside 7 bits for
// how many events are left. All lanes of the warp must call it.
const u32 RANGE_ROUND = 512, LEFT_BITS = 7;

DEVICE void apply_here(const ranged *x, const learning *l, const stretches *s, u32 shift, u32 first, u32 end, u16 *list) {
    const float *near = l->pre->table.near;
    u32 close = (u32)l->pre->table.close, below = (1u << lane()) - 1, listed = 0;
    limits bounds = l->bounds;
#pragma unroll 1
    for (u32 k = first; k < end; k += 32) {
        u32 own = k + lane(), row = row_of(s, own), at = shuffle_from(s->from, row) + own, applied = shuffle_from(s->applied, row), n = 0;
        if (own < end) {
            u32 target = l->target[at];
            n = pending_here(x, l, shift + 4 * target, target - l->port, applied);
        }
        u32 some = vote(n > 0);
        if (n > 0) list[listed + ones(some & below)] = (u16)((own - first) << LEFT_BITS | n);
        listed += ones(some);
    }
    while (listed > 0) {
        u32 left = 0;
#pragma unroll 1
        for (u32 i = lane(); i - lane() < listed; i += 32) {
            warp_barrier(); // the list and weights are there
            u32 one = i < listed ? list[i] : 0, k = first + (one >> LEFT_BITS), n = one & ((1u << LEFT_BITS) - 1);
            u32 row = row_of(s, k), at = shuffle_from(s->from, row) + k, arrived = shuffle_from(s->arrived, row);
            float seen = float_of(shuffle_from(bits_of(s->seen), row));
            if (n > 0) {
                u32 target = l->target[at], event = event_here(x, l, shift + 4 * target, target - l->port, n);
                l->weight[at] = post_pair(l, &bounds, near, close, seen, event - arrived, l->weight[at]);
            }
            u32 more = vote(n > 1);
            warp_barrier(); // all have read it, and weights are there
            if (n > 1) list[left + ones(more & below)] = (u16)(one - 1);
            left += ones(more);
        }
        listed = left;
    }
}

// deliver_here is deliver_pairs for synapses first ≤ k < end of the stretches, of which the next ones are loaded ahead. All lanes of the warp
// must call it; applied says that all events have been applied.
DEVICE void deliver_here(const ranged *x, const learning *l, const stretches *s, u64 t, u32 shift, u32 first, u32 end, bool applied) {
    const float *near_source = l->pre->table.near, *near_target = l->post->table.near;
    u32 close_source = (u32)l->pre->table.close, close_target = (u32)l->post->table.close;
    limits bounds = l->bounds;
    float scale = (float)l->scale, weight = 0;
    u32 k = first + lane(), row = row_of(s, k), at = shuffle_from(s->from, row) + k, own = l->port;
    if (k < end) own = l->target[at], weight = l->weight[at];
#pragma unroll 1
    for (; first < end; first += 32) {
        u32 next = k + 32, row_ahead = row_of(s, next), ahead = shuffle_from(s->from, row_ahead) + next, own_ahead = l->port;
        float weight_ahead = 0;
        if (next < end) own_ahead = l->target[ahead], weight_ahead = l->weight[ahead];
        u32 before = shuffle_from(s->applied, row), arrived = shuffle_from(s->arrived, row);
        float seen = float_of(shuffle_from(bits_of(s->seen), row));
        if (k < end) {
            u32 sum = shift + 4 * own, newest = read_shared(event_of(x, sum, 0)), n = 0;
            if (newest > before && !applied) n = pending_here(x, l, sum, own - l->port, before);
#pragma unroll 1
            for (; n > 0; n--) weight = post_pair(l, &bounds, near_source, close_source, seen, event_here(x, l, sum, own - l->port, n) - arrived, weight);
            u32 now = newest == (u32)t + 1, last = now ? read_shared(event_of(x, sum, 1)) : newest; // the trace is that before the events of this burst
            u32 age = last == 0 ? NEVER : (u32)t + 1 - last;
            float y = float_of(read_shared(event_of(x, sum, x->r.events + now))), was = weight;
            y *= age < close_target ? near_target[age] : decayed_long(&l->post->table, age);
            run_pre(l->on_pre.pair, l->on_pre.params, y, &weight);
            weight = was == was ? clamped(&bounds, weight) : was;
            l->weight[at] = weight;
            add_shared(sum, quanta(weight, scale));
        }
        k = next, row = row_ahead, at = ahead, own = own_ahead, weight = weight_ahead;
    }
}

// deliver_some is both for such synapses.
DEVICE void deliver_some(const ranged *x, const learning *l, const stretches *s, u64 t, u32 shift, u32 first, u32 end, u16 *list) {
    if (list == nullptr || l->pairs != LONG_PAIRS) return deliver_here(x, l, s, t, shift, first, end, false);
#pragma unroll 1
    for (u32 until; first < end; first = until) {
        until = end - first < RANGE_ROUND ? end : first + RANGE_ROUND;
        apply_here(x, l, s, shift, first, until, list);
        deliver_here(x, l, s, t, shift, first, until, true);
    }
}

// look_up finds the block's parts of the rows that spikes of a queue deliver from the first one on, one a thread. The answer is how many
// synapses all have. All threads of the block must call it.
DEVICE u32 look_up(const ranged *x, u32 learner, const spikes *queue, u64 first) {
    const learning *l = &x->list[learner].l;
    const slice *c = x->slices + learner;
    u32 row = thread_in_block(), warp = row / 32, from = 0, length = 0, arrived = 0, applied = 0, until, before;
    float trace = 0;
    if (first + row < queue->length) {
        u32 i = queue->ids[first + row] - l->from;
        if (i < l->sources) {
            const u32 *cut = c->cut + (u64)i * (c->blocks + 1) + (block_index() - c->first);
            senders seen = before_of(l, queue->s, i);
            arrived = (u32)arrival(seen, l->least), applied = (u32)applied_to(l, i, l->swept->before);
            if (arrived > applied) applied = arrived;
            trace = arrived == 0 ? *seen.traces * 0.0f : *seen.traces;
            from = cut[0], length = cut[1] - cut[0];
        }
    }
    u32 own = sum_until(length, &until);
    if (lane() == 0) store_shared(x->totals + 4 * warp, own);
    block_barrier(); // nobody reads what is written now either
    u32 all = sum_until(lane() < block_size() / 32 ? read_shared(x->totals + 4 * lane()) : 0, &before);
    if (warp > 0) until += shuffle_from(before, warp - 1);
    store_shared(word_of(x, UNTIL, row), until);
    store_shared(word_of(x, FROM, row), from - (until - length));
    store_shared(word_of(x, ARRIVED, row), arrived);
    store_shared(word_of(x, APPLIED, row), applied);
    store_shared(word_of(x, SEEN, row), bits_of(trace));
    block_barrier();
    return all;
}

// deliver_range is steps 1a and 1b for the block's parts of the rows that spikes of a queue deliver in burst t. They are looked up by as many
// threads at a time, and warps have equally many of all synapses.
DEVICE void deliver_range(const ranged *x, u32 learner, const spikes *queue, u64 t) {
    const learning *l = &x->list[learner].l;
    u32 warps = block_size() / 32, warp = thread_in_block() / 32, shift = x->sums + 4 * (x->slices[learner].place - l->port - block_index() * x->r.own);
    u16 *list = x->lists == nullptr ? nullptr : x->lists + warp * RANGE_ROUND;
#pragma unroll 1
    for (u64 first = 0; first < queue->length; first += block_size()) {
        u32 all = look_up(x, learner, queue, first), k = (u32)((u64)all * warp / warps), end = (u32)((u64)all * (warp + 1) / warps);
        u32 last = lane() < warps ? read_shared(word_of(x, UNTIL, lane() * 32 + 31)) : all, row = 32 * ones(vote(last <= k));
#pragma unroll 1
        for (; k < end; row += 32) {
            stretches s = rows_from(x, row);
            u32 until = shuffle_from(s.until, 31);
            if (until > end) until = end;
            deliver_some(x, l, &s, t, shift, k, until, list);
            k = until;
        }
    }
}

// bring_ranges adds the block's sums to those that begin at acc, and sets them to zero.
DEVICE void bring_ranges(const ranged *x, i32 *acc) {
#pragma unroll 1
    for (u64 i = 0; i < x->r.count; i++) {
        const hearers *one = x->r.hearing + i;
        const learning *l = &x->list[one->learner].l;
        u32 end = end_of(x, one->place, l->targets);
#pragma unroll 1
        for (u32 j = begin_of(x, one->place) + thread_in_block(); j < end; j += block_size()) {
            u32 at = sum_of_target(x, one->place, j), sum = read_shared(at);
            if (sum == 0) continue;
            accumulate(acc + l->port + j, (i32)sum);
            store_shared(at, 0);
        }
    }
}

// deliver_ranges is steps 1a and 1b of burst t, whose sums are acc. In bursts that 32 bits do not count, before which blocks meet, it is that
// of other rules.
DEVICE void deliver_ranges(const ranged *x, const run *p, u64 t, block *s, u32 *wanted) {
    i32 *acc = p->ring + (t & p->slot_mask) * p->ports;
    if (t >= NEVER) {
        grid_barrier(p, s, wanted);
        return learn_rows_of(x, t, acc);
    }
#pragma unroll 1
    for (u32 i = 0; i < x->count; i++) {
        const learning *l = &x->list[i].l;
        const slice *c = x->slices + i;
        if (block_index() - c->first >= c->blocks || t < l->least) continue;
        spikes queue = spikes_in(x, t - l->least);
        deliver_range(x, i, &queue, t);
    }
    block_barrier();
    bring_ranges(x, acc);
}

// deliver_others is step 1 for the rows of who fired in burst s. They are cut into fewer parts where each warp has several.
DEVICE void deliver_others(const ranged *x, const run *p, u64 s) {
    spikes queue = spikes_in(x, s);
    u64 step = thread_count() / 32;
    u32 parts_log = p->parts_log;
    while (parts_log > 0 && queue.length << parts_log > 2 * step) parts_log--;
    u64 items = queue.length << parts_log;
#pragma unroll 1
    for (u64 item = (u64)(block_size() / 32 - 1 - thread_in_block() / 32) * block_count() + block_index(); item < items; item += step) {
        u32 n = queue.ids[item >> parts_log];
        u64 first = p->row[n], count = p->row[n + 1] - first, part = item & ((1ull << parts_log) - 1);
        add_synapses(p, (u32)s, first + (count * part >> parts_log), first + (count * (part + 1) >> parts_log));
    }
}

// list_own is step 5: the block's part of the queue of burst t.
DEVICE void list_own(const ranged *x, const run *p, u64 t, const block *s) {
    u32 words = p->block_neurons / 32, each = (words + GROUPS - 1) / GROUPS, begin = block_index() * p->block_neurons, base = ~0u;
#pragma unroll 1
    for (u32 k = thread_in_block(); k < p->block_neurons; k += block_size()) {
        if ((s->bits[k / 32] >> k % 32 & 1) == 0) continue;
        if (base == ~0u) base = base_of(s, t);
        x->h.queues[(u64)slot_of(x, t) * x->h.neurons + base + fired_before(s, k / 32, each, k)] = begin + k;
    }
}

// reserve_own takes a part of it for the block; a thread of a warp in the middle does.
DEVICE void reserve_own(const ranged *x, u64 t, block *s) {
    if (thread_in_block() != block_size() / 2) return;
    u32 total = s->total[t % 2];
    s->base = total == 0 ? 0 : fetch_add((u32 *)(x->h.lengths + slot_of(x, t)), total);
    store_block(&s->reserved, (u32)t + 1);
}

// sweep_ranges is a sweep after burst t, up to which all blocks are when they meet here.
DEVICE void sweep_ranges(const ranged *x, const run *p, u64 t, block *s, u32 *wanted) {
    grid_barrier(p, s, wanted);
#pragma unroll 1
    for (u64 i = 0; i < x->count; i++) {
        const learning *l = &x->list[i].l;
        u64 until = sweep_until(l->swept, t, false);
        if (until > 0) sweep_rows(l, t, l->swept->before, until, of_warp());
    }
    grid_barrier(p, s, wanted);
    for (u64 i = thread_index(); i < x->count; i += thread_count())
        if (!x->list[i].shares) end_sweep(x->list[i].l.swept, t, false);
    grid_barrier(p, s, wanted);
}

// begin_ranges is what comes before a launch's first turn.
DEVICE void begin_ranges(const ranged *x, const run *p, block *s, u32 *wanted) {
    u64 end = p->first + p->bursts;
    u32 k = x->r.apart;
    if (block_index() == 0) {
        for (u32 i = thread_in_block(); i < TURNS * TURN_APART + TURNS; i += block_size()) x->r.told[i] = 0;
        if (thread_in_block() <= k) x->h.lengths[slot_of(x, p->first + thread_in_block())] = 0;
    }
#pragma unroll 1
    for (u64 t = p->first; t < end && t < p->first + x->r.launches; t++) {
        follow_own(x, p, LAUNCH, t);
        if (t < p->first + k) give_scheduled(p, t, thread_index(), thread_count());
        block_barrier();
    }
    grid_barrier(p, s, wanted);
    take_range(x);
    block_barrier();
}

// neurons_of and synapses_of are the two strands of the turn that updates neurons for burst t.
DEVICE void neurons_of(const ranged *x, const run *p, u64 t, block *s) {
    update_block<ALL_MODELS, false>(p, t, s);
    block_barrier();
    count_fired(p, t, s);
    block_barrier();
    reserve_own(x, t, s);
    list_own(x, p, t, s);
    burst_for_host<false>(p, t, s);
}

DEVICE void synapses_of(const ranged *x, const run *p, u64 t, u32 turn, bool begins, block *s, u32 *wanted) {
    u64 end = p->first + p->bursts;
    u32 k = x->r.apart, before = k > 0 ? k : 1;
    if (!begins) {
        if (t + x->r.launches < end) follow_own(x, p, LAUNCH, t + x->r.launches);
        if (x->r.launches == 0) grid_barrier(p, s, wanted);
        follow_own(x, p, SETTLE_SOURCES, t);
        if (!x->alone && t >= before) deliver_others(x, p, t - before);
    }
    if (t + k < end) {
        hear_events(x, t + k, turn);
        give_scheduled(p, t + k, thread_index(), thread_count());
        block_barrier();
        deliver_ranges(x, p, t + k, s, wanted);
    }
    if (k == 0) grid_barrier(p, s, wanted);
}

// await_others begins a turn.
DEVICE void await_others(const ranged *x, const run *p, u64 t, u32 turn, block *s, u32 *wanted) {
    u64 end = p->first + p->bursts;
    u32 k = x->r.apart, before = k > 0 ? k : 1, n = block_size() - 1 - thread_in_block();
    if (thread_in_block() == 0) {
        s->w.t = t, x->found->place[t % 2] = slot_of(x, t);
        if (further<ALL_MODELS>(p)) s->w.acc = p->ring + (t & p->slot_mask) * p->ports;
        if (turn >= before)
            while (!finished(x->r.told, turn - before)) {}
    }
    if (n < p->w.area_count && n < COMMON && !s->w.areas[n].differ) s->common[n] = term_at(&s->w, s->w.areas + n, 0, t);
    if (thread_index() == 0) x->h.lengths[slot_of(x, t + before)] = 0;
    block_barrier();
    if (turn < before) return;
    announce(p, t - before);
    if (x->r.told[TURNS * TURN_APART + (turn - before) % TURNS] == turn - before + 1)
        sweep_ranges(x, p, t + k <= end ? t + k - 1 : end - 1, s, wanted);
}

// turns_of are all turns of a launch. In those before the first one synapses deliver what is due in its first bursts.
DEVICE void turns_of(const ranged *x, const run *p, block *s, u32 *wanted) {
    u32 k = x->r.apart;
#pragma unroll 1
    for (u32 i = 0; i < k + (u32)p->bursts; i++) {
        bool begins = i < k;
        u64 t = p->first + i - k;
        u32 turn = begins ? 0 : i - k;
        if (!begins) await_others(x, p, t, turn, s, wanted);
#pragma unroll 1
        for (u32 strand = 0; strand < 2; strand++)
            if ((strand == 0) == (k == 0)) synapses_of(x, p, t, turn, begins, s, wanted);
            else if (!begins) neurons_of(x, p, t, s);
        block_barrier();
        if (!begins && thread_in_block() == 0) tell_turn(x->r.told, turn);
        if (i + 1 == k) grid_barrier(p, s, wanted);
    }
}

// range_of divides the room for a block's range.
DEVICE ranged range_of(const learners *x, const ranges *r, u8 *room) {
    slice *slices = take<slice>(&room, x->count);
    u32 *rows = take<u32>(&room, ROW_WORDS * block_size()), *totals = take<u32>(&room, 32);
    u16 *lists = r->lists ? take<u16>(&room, block_size() / 32 * RANGE_ROUND) : nullptr;
    for (u64 i = thread_in_block(); i < x->count; i += block_size()) slices[i] = r->slices[i];
    return ranged{*x, *r, slices, address(rows), address(totals), lists, address(room)};
}

KERNEL_OF_1024 learn_bursts_ranges(run p, learners x, ranges r) {
    SHARED(findings, found);
    SHARED(block, s);
    learners all = copy_learners(&x, dynamic_memory(), &found, p.first);
    ranged own = range_of(&all, &r, dynamic_memory() + r.at);
    u32 wanted = 0;
    lay_out(&p, dynamic_memory() + p.sum.room, &s, false);
    begin_launch(&p);
    block_barrier();
    begin_ranges(&own, &p, &s, &wanted);
    turns_of(&own, &p, &s, &wanted);
    lay_out(&p, dynamic_memory() + p.sum.room, &s, true);
    u64 end = p.first + p.bursts, before = r.apart > 0 ? r.apart : 1;
    sweep_ranges(&own, &p, end - 1, &s, &wanted);
#pragma unroll 1
    for (u64 t = p.bursts < before ? p.first : end - before; t < end; t++) announce(&p, t);
}

// learn_cuts finds where the blocks' parts of a projection's rows begin, one thread a row and block, and where the last one ends.
KERNEL learn_cuts(learning l, slice c, u32 own) {
    u64 all = (u64)l.sources * (c.blocks + 1);
    for (u64 k = thread_index(); k < all; k += thread_count()) {
        u64 i = k / (c.blocks + 1), low = l.row[i], high = l.row[i + 1];
        u64 place = (c.first + k % (c.blocks + 1)) * own, port = l.port + (place > c.place ? place - c.place : 0);
        while (low < high) {
            u64 middle = low + (high - low) / 2;
            if (l.target[middle] < port) low = middle + 1;
            else high = middle;
        }
        c.cut[k] = (u32)low;
    }
}
