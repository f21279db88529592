// Networks that learn by rules of pairs and whose rows are of one delay, in launches of many bursts: learn_bursts, but that each block has a
// range of all targets. It keeps their sums, newest events and traces in its own memory, and delivers its part of each row. Rows lie by
// target, so that a part is a stretch of a row.
#pragma once
#include "learn_bursts.cu"

// slice says where the blocks' parts of a projection's rows lie.
struct slice {
    u32 *cut;         // where source i's parts begin, at i·(blocks + 1), and where the last one ends
    u32 first, blocks; // that have targets of it
    u32 place;        // of its first target among the places of all
};

// hearers are targets with one port, of which there are places; projections onto them share them where they share records.
struct hearers {
    u32 learner; // the first of these projections
    u32 place;   // of the first
};

// sent is what a spike's row needs of its source before it delivers. Bursts are plus 1.
struct alignas(16) sent {
    u32 arrived, applied; // the burst in which its synapses last delivered; events of bursts before it have been applied to them
    float seen;           // the trace as they know it
    u32 unused;
};

struct ranges {
    const slice *slices;    // by projection
    const hearers *hearing;
    u64 count;              // of the latter
    sent *spikes;           // by projection, then by the spike's place in its queue
    u32 own;                // places of a block, a multiple of 32
    u32 events;             // of a target in its block's memory, at least 2
    u32 lists;              // whether warps have room for rounds
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

DEVICE u32 bits_of(float v) { return __builtin_bit_cast(u32, v); }
DEVICE float float_of(u32 v) { return __builtin_bit_cast(float, v); }

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

// hear_events takes the events of burst t, which have been noted, of the block's targets into its memory.
DEVICE void hear_events(const ranged *x, u64 t) {
    u64 place = place_in(x, t);
#pragma unroll 1
    for (u64 i = 0; i < x->r.count; i++) {
        const hearers *one = x->r.hearing + i;
        const learning *l = &x->list[one->learner].l;
        u32 begin = begin_of(x, one->place), end = end_of(x, one->place, l->targets);
        if (begin >= end || t < l->lag) continue;
        spikes queue = spikes_before(&x->h, t, place, l->lag);
#pragma unroll 1
        for (u64 k = thread_in_block(); k < queue.length; k += block_size()) {
            u32 j = queue.ids[k] - l->to;
            if (j - begin >= end - begin) continue;
            const heard *target = heard_of(l, j);
            u32 sum = sum_of_target(x, one->place, j);
#pragma unroll 1
            for (u32 n = x->r.events - 1; n > 0; n--) store_shared(event_of(x, sum, n), read_shared(event_of(x, sum, n - 1)));
            store_shared(event_of(x, sum, 0), (u32)t + 1);
            for (u32 n = 0; n < 2; n++) store_shared(event_of(x, sum, x->r.events + n), bits_of(target->traces[n]));
        }
    }
}

// do_task of these also notes what the rows of a spike that sets out need, who is the place-th of its queue.
DEVICE void do_task(const ranged *x, const task *task, u32 n, u64 place, u64 s, u64 t) {
    do_task((const learners *)x, task, n, place, s, t);
    const learning *own = &x->list[task->learner].l;
    u32 i = n - own->from;
    if (task->kind != LAUNCH || i >= own->sources) return;
    senders seen = before_of(own, s, i);
    u64 arrived = arrival(seen, t - s);
    float trace = arrived == 0 ? *seen.traces * 0.0f : *seen.traces;
#pragma unroll 1
    for (u64 k = 0; k < x->count; k++) {
        const learning *l = &x->list[k].l;
        if (l->live.last != own->live.last) continue;
        u64 applied = applied_to(l, i, l->swept->before);
        x->r.spikes[k * x->h.neurons + place] = sent{(u32)arrived, (u32)(arrived > applied ? arrived : applied), trace, 0};
    }
}
DEVICE u64 number_of(const ranged *, const block *s, u64 t, u32 k) { return base_of(s, t) + k; }

DEVICE void learn_events_of(const ranged *x, const run *p, u64 t, block *s, u32 *wanted) {
    if (t == p->first) {
        do_tasks(x, 0, t);
        grid_barrier(p, s, wanted);
        take_range(x);
    } else {
        hear_events(x, t);
    } // look_up has a barrier before anything of it is read
}
DEVICE void learn_next_of(const ranged *x, const run *p, u64 t, const block *s) { do_next(x, p, t, s); }

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
    u32 row = thread_in_block(), warp = row / 32, from = 0, length = 0, until, before;
    sent one = {};
    if (first + row < queue->length) {
        u32 i = queue->ids[first + row] - l->from;
        if (i < l->sources) {
            const u32 *cut = c->cut + (u64)i * (c->blocks + 1) + (block_index() - c->first);
            one = x->r.spikes[learner * x->h.neurons + first + row];
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
    store_shared(word_of(x, ARRIVED, row), one.arrived);
    store_shared(word_of(x, APPLIED, row), one.applied);
    store_shared(word_of(x, SEEN, row), bits_of(one.seen));
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

DEVICE void learn_rows_of(const ranged *x, u64 t, i32 *acc) {
    if (t >= NEVER) return learn_rows_of((const learners *)x, t, acc); // 32 bits do not count its bursts
    u64 place = place_in(x, t);
    if (thread_index() == 0) x->h.lengths[place] = 0; // nobody reads it until the burst's own spikes are there
    look_for_sweeps(x, t);
#pragma unroll 1
    for (u32 i = 0; i < x->count; i++) {
        const learning *l = &x->list[i].l;
        const slice *c = x->slices + i;
        if (block_index() - c->first >= c->blocks || t < l->least) continue;
        spikes queue = spikes_before(&x->h, t, place, l->least);
        deliver_range(x, i, &queue, t);
    }
    block_barrier();
    bring_ranges(x, acc);
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
    learners all = copy_learners(&x, dynamic_memory(), &found, p.first);
    ranged own = range_of(&all, &r, dynamic_memory() + r.at);
    bursts<ALL_MODELS>(&p, &own);
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
