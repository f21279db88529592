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
    u32 *told;              // the counters of turns, of 64 bits: blocks that have finished, and those after whose turns there is to be a sweep
    u32 own;                // places of a block, a multiple of 4
    u32 events;             // of a target in its block's memory, at least 2
    u32 lists;              // whether warps have room for lists
    u32 apart;              // so many turns apart blocks are at most; 0: they meet before neurons are updated
    u32 launches;           // so many bursts before they are due spikes set out
    u64 at;                 // where in its memory all this begins: range_of
};

// block_words are what the block's threads tell each other.
struct block_words {
    u32 taken;    // how many of the synapses that the block delivers at a time warps have taken
    u32 full;     // whether there is to be a sweep after the block's turn
    u32 sweeping; // whether the turn begins with a sweep
    u32 swept[TURNS]; // the upper halves of the counters of turns
};

// ranged are learners with what a block has of its range.
struct ranged : learners {
    ranges r;
    u32 front;           // so many threads, whole warps, update neurons while the others have the synapses; 0: all do both, one after the other
    const slice *slices; // the block's copy
    u32 rows;            // address of what is looked up of a thread's spike: so many words by thread, one array after the other
    u32 totals;          // address of how many synapses each warp's spikes have
    u32 lists;           // address of the warps' lists
    u32 lengths;         // address of the history's lengths of bursts that all blocks have finished
    block_words *here;
    u32 sums;            // address of the targets' sums; then come events, from the newest on, and the trace after and before the newest
};


// in_front is how many threads update neurons.
DEVICE u32 in_front(const ranged *x) { return x->front > 0 ? x->front : block_size(); }

// The threads that have the synapses, and how they wait for each other. What has their numbers is called by them alone.
DEVICE u32 behind(const ranged *x) { return block_size() - x->front; }
DEVICE u32 number_behind(const ranged *x) { return thread_in_block() - x->front; }
DEVICE void barrier_behind(const ranged *x) { named_barrier<1>(behind(x)); }

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
DEVICE spikes spikes_in(const ranged *x, u64 s) {
    u32 slot = slot_of(x, s);
    return spikes{x->h.queues + slot * x->h.neurons, read_shared(x->lengths + 4 * slot), s};
}
DEVICE spikes newest_spikes(const ranged *x, u64 s) { return spikes_at(&x->h, slot_of(x, s), s); }

// take_length takes the length of the queue of burst s, which all blocks have finished.
DEVICE void take_length(const ranged *x, u64 s) { store_shared(x->lengths + 4 * slot_of(x, s), (u32)x->h.lengths[slot_of(x, s)]); }

// hear_events notes the events of burst t of the block's targets, and takes them into its memory. Lengths are known of queues before a burst.
DEVICE void hear_events(const ranged *x, u64 t, u64 known) {
#pragma unroll 1
    for (u64 i = 0; i < x->r.count; i++) {
        const hearers *one = x->r.hearing + i;
        const learning *l = &x->list[one->learner].l;
        u32 begin = begin_of(x, one->place), end = end_of(x, one->place, l->targets);
        if (begin >= end || t < l->lag) continue;
        spikes queue = t - l->lag < known ? spikes_in(x, t - l->lag) : newest_spikes(x, t - l->lag);
#pragma unroll 1
        for (u64 k = block_size() - 1 - thread_in_block(); k < queue.length; k += behind(x)) {
            u32 j = queue.ids[k] - l->to;
            if (j - begin >= end - begin) continue;
            if (note_event(l, j, t)) x->here->full = 1;
            const heard *target = heard_of(l, j);
            u32 sum = sum_of_target(x, one->place, j);
#pragma unroll 1
            for (u32 n = x->r.events - 1; n > 0; n--) store_shared(event_of(x, sum, n), read_shared(event_of(x, sum, n - 1)));
            store_shared(event_of(x, sum, 0), (u32)t + 1);
            for (u32 n = 0; n < 2; n++) store_shared(event_of(x, sum, x->r.events + n), bits_of(target->traces[n]));
        }
    }
}

// follow_own does what burst t has to do of a kind for spikes of the block's own neurons, by the threads in front.
DEVICE void follow_own(const ranged *x, const run *p, duty kind, u64 t) {
    u32 begin = block_index() * p->block_neurons, threads = in_front(x);
    if (thread_in_block() >= threads) return;
#pragma unroll 1
    for (u64 i = 0; i < x->all; i++) {
        const task *one = x->tasks + i;
        const learning *l = &x->list[one->learner].l;
        u64 after = kind == LAUNCH ? l->least : x->queues;
        if (one->kind == NOTE || (one->kind == LAUNCH) != (kind == LAUNCH) || t < after) continue;
        spikes queue = newest_spikes(x, t - after);
#pragma unroll 1
        for (u64 k = threads - 1 - thread_in_block(); k < queue.length; k += threads) {
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

// row_of is the first lane whose row ends behind synapse k. All lanes of the warp must call it.
DEVICE u32 row_of(u32 until, u32 k) {
    u32 row = 0;
#pragma unroll
    for (u32 by = 16; by > 0; by /= 2) row += shuffle_from(until, row + by - 1) <= k ? by : 0;
    return row;
}

// row_at is the row of synapse k of all that the block delivers at a time, among so many rows.
DEVICE u32 row_at(const ranged *x, u32 rows, u32 k) {
    u32 row = 0;
#pragma unroll 1
    for (u32 by = 1u << (31 - __builtin_clz(rows)); by > 0; by /= 2)
        if (row + by <= rows && read_shared(word_of(x, UNTIL, row + by - 1)) <= k) row += by;
    return row;
}

// A warp has two lists: of synapses that have events to be applied, and of those that are ready to deliver. The first one has the row and how
// many events are left beside the address of the target's sum, of the block's memory.
enum listed_word { AT, WEIGHT, TARGET, READY_AT, READY_WEIGHT, READY_TARGET, LISTED_WORDS };
const u32 LISTED = 64, LEFT_BITS = 6, ROW_BITS = 10; // places

DEVICE u32 listed_word_of(u32 list, listed_word w, u32 place) { return list + 4 * (w * LISTED + place % LISTED); }

DEVICE void list_one(u32 list, listed_word first, u32 place, u32 at, float weight, u32 target) {
    store_shared(listed_word_of(list, first, place), at);
    store_shared(listed_word_of(list, (listed_word)(first + 1), place), bits_of(weight));
    store_shared(listed_word_of(list, (listed_word)(first + 2), place), target);
}

// deliver_one is step 1b for a synapse all whose events have been applied.
DEVICE void deliver_one(const ranged *x, const learning *l, u64 t, u32 at, u32 sum, float weight) {
    u32 newest = read_shared(event_of(x, sum, 0)), now = newest == (u32)t + 1;
    u32 last = now ? read_shared(event_of(x, sum, 1)) : newest; // the trace is that before the events of this burst
    u32 age = last == 0 ? NEVER : (u32)t + 1 - last;
    const decay *d = &l->post->table;
    float y = float_of(read_shared(event_of(x, sum, x->r.events + now))), was = weight;
    y *= age < (u32)d->close ? d->near[age] : decayed_long(d, age);
    run_pre(l->on_pre.pair, l->on_pre.params, y, &weight);
    weight = was == was ? clamped(&l->bounds, weight) : was;
    l->weight[at] = weight;
    add_shared(sum, quanta(weight, (float)l->scale));
}

// piece is a lane's synapse of 32 that a warp takes: its number, its row, and what has been loaded of it.
struct piece {
    u32 own, row, target;
    float weight;
};

// next_piece is the next one of all synapses that the block delivers at a time, so many of so many rows. All lanes of the warp must call it.
DEVICE piece next_piece(const ranged *x, const learning *l, u32 rows, u32 all) {
    piece p = {shuffle_first(lane() == 0 ? fetch_add(&x->here->taken, 32) : 0, 32) + lane(), 0, l->port, 0};
    if (p.own >= all) return p;
    p.row = row_at(x, rows, p.own);
    u32 at = read_shared(word_of(x, FROM, p.row)) + p.own;
    p.target = l->target[at], p.weight = l->weight[at];
    return p;
}

// deliver_listed is steps 1a and 1b for all that the block delivers at a time, so many synapses of so many rows. With a synapse a lane a
// warp would run a long on_post as often as the synapse with most events needs, five times where the mean is one. So a warp takes 32 synapses
// at a time, lists them, and its lanes take the next one that has events when their own has none left. The block's range begins with the
// projection's target origin, counted from 0 and modulo 2^32.
DEVICE void deliver_listed(const ranged *x, const learning *l, u64 t, u32 origin, u32 rows, u32 all, u32 list) {
    u32 below = (1u << lane()) - 1, begin = 0, end = 0, from = 0, until = 0, left = 0, at = 0, sum = 0, arrived = 0;
    float seen = 0, weight = 0;
    limits bounds = l->bounds;
    piece ahead = next_piece(x, l, rows, all);
    for (;;) {
        warp_barrier(); // what is listed is there, and all have read what they have taken
        bool more = shuffle_first(ahead.own, 32) < all, applied = !more && begin == end && vote(left > 0) == 0;
        if (until - from >= 32 || (applied && until != from)) {
            u32 place = from + lane();
            if (until - place - 1 < LISTED)
                deliver_one(x, l, t, read_shared(listed_word_of(list, READY_AT, place)), read_shared(listed_word_of(list, READY_TARGET, place)),
                            float_of(read_shared(listed_word_of(list, READY_WEIGHT, place))));
            from = until - from < 32 ? until : from + 32;
        } else if (applied) {
            return;
        } else if (more && end - begin < 32) {
            bool some = ahead.own < all;
            u32 n = 0, j = ahead.target - l->port, to = x->sums + 4 * (j - origin), there = 0;
            if (some) {
                n = pending_here(x, l, to, j, read_shared(word_of(x, APPLIED, ahead.row)));
                there = read_shared(word_of(x, FROM, ahead.row)) + ahead.own;
            }
            u32 waiting = vote(n > 0), ready = vote(some && n == 0);
            if (n > 0) list_one(list, AT, end + ones(waiting & below), there, ahead.weight, (j - origin) << (ROW_BITS + LEFT_BITS) | ahead.row << LEFT_BITS | n);
            else if (some) list_one(list, READY_AT, until + ones(ready & below), there, ahead.weight, to);
            end += ones(waiting), until += ones(ready);
            ahead = next_piece(x, l, rows, all);
        } else {
            u32 free = vote(left == 0), place = begin + ones(free & below);
            if (left == 0 && end - place - 1 < LISTED) {
                u32 word = read_shared(listed_word_of(list, TARGET, place)), row = word >> LEFT_BITS & ((1u << ROW_BITS) - 1);
                at = read_shared(listed_word_of(list, AT, place)), weight = float_of(read_shared(listed_word_of(list, WEIGHT, place)));
                sum = x->sums + 4 * (word >> (ROW_BITS + LEFT_BITS)), left = word & ((1u << LEFT_BITS) - 1);
                arrived = read_shared(word_of(x, ARRIVED, row)), seen = float_of(read_shared(word_of(x, SEEN, row)));
            }
            begin = ones(free) < end - begin ? begin + ones(free) : end;
            bool done = false;
            if (left > 0) {
                u32 event = event_here(x, l, sum, (sum - x->sums) / 4 + origin, left);
                weight = post_pair(l, &bounds, l->pre->table.near, (u32)l->pre->table.close, seen, event - arrived, weight);
                done = --left == 0;
            }
            u32 ready = vote(done);
            if (done) list_one(list, READY_AT, until + ones(ready & below), at, weight, sum);
            until += ones(ready);
        }
    }
}

// deliver_here is deliver_pairs for synapses first ≤ k < end of the stretches, of which the next ones are loaded ahead. All lanes of the warp
// must call it.
DEVICE void deliver_here(const ranged *x, const learning *l, const stretches *s, u64 t, u32 shift, u32 first, u32 end) {
    const float *near = l->pre->table.near;
    u32 close = (u32)l->pre->table.close;
    limits bounds = l->bounds;
    float weight = 0;
    u32 k = first + lane(), row = row_of(s->until, k), at = shuffle_from(s->from, row) + k, own = l->port;
    if (k < end) own = l->target[at], weight = l->weight[at];
#pragma unroll 1
    for (; first < end; first += 32) {
        u32 next = k + 32, row_ahead = row_of(s->until, next), ahead = shuffle_from(s->from, row_ahead) + next, own_ahead = l->port;
        float weight_ahead = 0;
        if (next < end) own_ahead = l->target[ahead], weight_ahead = l->weight[ahead];
        u32 before = shuffle_from(s->applied, row), arrived = shuffle_from(s->arrived, row);
        float seen = float_of(shuffle_from(bits_of(s->seen), row));
        if (k < end) {
            u32 sum = shift + 4 * own, n = pending_here(x, l, sum, own - l->port, before);
#pragma unroll 1
            for (; n > 0; n--) weight = post_pair(l, &bounds, near, close, seen, event_here(x, l, sum, own - l->port, n) - arrived, weight);
            deliver_one(x, l, t, at, sum, weight);
        }
        k = next, row = row_ahead, at = ahead, own = own_ahead, weight = weight_ahead;
    }
}

// bring_next brings what look_up loads of the rows of the next burst closer; all blocks have finished that.
DEVICE void bring_next(const ranged *x, const learning *l, const slice *c, u64 s) {
    spikes next = spikes_in(x, s);
    u32 row = block_size() - 1 - thread_in_block();
    if (row >= next.length) return;
    u32 i = next.ids[row] - l->from;
    if (i >= l->sources) return;
    senders seen = before_of(l, s, i);
    bring_closer(c->cut + (u64)i * (c->blocks + 1) + (block_index() - c->first));
    bring_closer(seen.last);
    bring_closer(seen.traces);
    bring_closer(l->applied + i);
}

// look_up finds the block's parts of the rows that spikes of a queue deliver from the first one on, one a thread behind. The answer is how many
// synapses all have. All of these must call it.
DEVICE u32 look_up(const ranged *x, u32 learner, const spikes *queue, u64 first) {
    const learning *l = &x->list[learner].l;
    const slice *c = x->slices + learner;
    u32 row = number_behind(x), warp = row / 32, from = 0, length = 0, arrived = 0, applied = 0, until, before;
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
    if (x->r.apart + (x->r.apart > 0 ? x->r.apart : 1) < l->least) bring_next(x, l, c, queue->s + 1);
    u32 own = sum_until(length, &until);
    if (lane() == 0) store_shared(x->totals + 4 * warp, own);
    barrier_behind(x); // nobody reads what is written now either
    u32 all = sum_until(lane() < behind(x) / 32 ? read_shared(x->totals + 4 * lane()) : 0, &before);
    if (warp > 0) until += shuffle_from(before, warp - 1);
    store_shared(word_of(x, UNTIL, row), until);
    store_shared(word_of(x, FROM, row), from - (until - length));
    store_shared(word_of(x, ARRIVED, row), arrived);
    store_shared(word_of(x, APPLIED, row), applied);
    store_shared(word_of(x, SEEN, row), bits_of(trace));
    if (row == 0) x->here->taken = 0;
    barrier_behind(x);
    return all;
}

// deliver_range is steps 1a and 1b for the block's parts of the rows that spikes of a queue deliver in burst t. They are looked up by as many
// threads at a time, and warps have equally many of all synapses.
DEVICE void deliver_range(const ranged *x, u32 learner, const spikes *queue, u64 t) {
    const learning *l = &x->list[learner].l;
    u32 warps = behind(x) / 32, warp = number_behind(x) / 32, shift = x->sums + 4 * (x->slices[learner].place - l->port - block_index() * x->r.own);
    bool rounds = x->r.lists && l->pairs == LONG_PAIRS;
#pragma unroll 1
    for (u64 first = 0; first < queue->length; first += behind(x)) {
        u32 all = look_up(x, learner, queue, first), rows = queue->length - first < behind(x) ? (u32)(queue->length - first) : behind(x);
        if (rounds) {
            deliver_listed(x, l, t, block_index() * x->r.own - x->slices[learner].place, rows, all, x->lists + LISTED_WORDS * 4 * LISTED * warp);
            continue;
        }
        u32 k = (u32)((u64)all * warp / warps), end = (u32)((u64)all * (warp + 1) / warps);
        u32 last = lane() < warps ? read_shared(word_of(x, UNTIL, lane() * 32 + 31)) : all, row = 32 * ones(vote(last <= k));
#pragma unroll 1
        for (; k < end; row += 32) {
            stretches s = rows_from(x, row);
            u32 until = shuffle_from(s.until, 31);
            if (until > end) until = end;
            deliver_here(x, l, &s, t, shift, k, until);
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
        for (u32 j = begin_of(x, one->place) + number_behind(x); j < end; j += behind(x)) {
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
    barrier_behind(x);
    bring_ranges(x, acc);
}

// add_parts is add_synapses for parts of rows, one a lane: synapse k of all of them is from + k of the first part that ends behind k. All
// lanes of the warp must call it.
DEVICE void add_parts(const run *p, u32 fired, u64 from, u32 until, u32 all) {
#pragma unroll 1
    for (u32 k = lane(); k - lane() < all; k += 128) {
        u32 port[4] = {}, slot[4] = {};
        i32 weight[4] = {};
        for (u32 j = 0; j < 4; j++) { // all loads before the first addition
            u32 number = k + 32 * j, part = row_of(until, number);
            u64 at = ((u64)shuffle_from((u32)(from >> 32), part) << 32 | shuffle_from((u32)from, part)) + number;
            if (number >= all) continue;
            u32 word = p->all.target[at];
            port[j] = port_of(&p->all, word);
            weight[j] = weight_of(&p->all, at, word);
            slot[j] = (fired + delay_of(p, at)) & p->slot_mask;
        }
        for (u32 j = 0; j < 4; j++)
            if (k + 32 * j < all) accumulate(p->ring + (u64)slot[j] * p->ports + port[j], weight[j]);
    }
}

// deliver_others is step 1 for the rows of who fired in burst s, by the warps in front. They are cut into small parts, as they differ in
// length. Each lane of a warp looks up one, and its lanes then take the synapses of all.
DEVICE void deliver_others(const ranged *x, const run *p, u64 s) {
    spikes queue = newest_spikes(x, s);
    u64 step = (u64)in_front(x) / 32 * block_count(), items = queue.length << p->parts_log;
#pragma unroll 1
    for (u64 first = (u64)(thread_in_block() / 32) * block_count() + block_index(); first < items; first += 32 * step) {
        u64 item = first + lane() * step, from = 0;
        u32 count = 0, until;
        if (item < items) {
            u32 n = queue.ids[item >> p->parts_log];
            u64 row = p->row[n], length = p->row[n + 1] - row, part = item & ((1ull << p->parts_log) - 1);
            from = row + (length * part >> p->parts_log);
            count = (u32)(row + (length * (part + 1) >> p->parts_log) - from);
        }
        u32 all = sum_until(count, &until);
        add_parts(p, (u32)s, from - (until - count), until, all);
    }
}

// list_own is step 5: the block's part of the queue of burst t.
DEVICE void list_own(const ranged *x, const run *p, u64 t, const block *s, u32 threads) {
    u32 words = p->block_neurons / 32, each = (words + GROUPS - 1) / GROUPS, begin = block_index() * p->block_neurons, base = ~0u;
#pragma unroll 1
    for (u32 k = thread_in_block(); k < p->block_neurons; k += threads) {
        if ((s->bits[k / 32] >> k % 32 & 1) == 0) continue;
        if (base == ~0u) base = base_of(s, t);
        x->h.queues[(u64)slot_of(x, t) * x->h.neurons + base + fired_before(s, k / 32, each, k)] = begin + k;
    }
}

// reserve_own takes a part of it for the block; a thread of a warp in the middle does.
DEVICE void reserve_own(const ranged *x, u64 t, block *s, u32 threads) {
    if (thread_in_block() != threads / 2) return;
    u32 total = s->total[t % 2];
    s->base = total == 0 ? 0 : fetch_add((u32 *)(x->h.lengths + slot_of(x, t)), total);
    store_block(&s->reserved, (u32)t + 1);
}

// tell_own tells that the block has finished a turn, and whether there is to be a sweep.
DEVICE void tell_own(const ranged *x, u32 turn) {
    arrive((u64 *)(x->r.told + turn % TURNS * TURN_APART), 1 | (u64)x->here->full << 32);
    x->here->full = 0;
}

// await_turn waits until all blocks have finished a turn, and reports whether there is to be a sweep. A thread of the block does.
DEVICE bool await_turn(const ranged *x, u32 turn) {
    u32 slot = turn % TURNS, *swept = x->here->swept + slot, before = *swept;
    u64 told = 0;
    while ((u32)told < (turn / TURNS + 1) * block_count()) told = acquire_word((const u64 *)(x->r.told + slot * TURN_APART));
    *swept = (u32)(told >> 32);
    return *swept != before;
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
        for (u32 i = thread_in_block(); i < TURNS * TURN_APART; i += block_size()) x->r.told[i] = 0;
        if (thread_in_block() <= k) x->h.lengths[slot_of(x, p->first + thread_in_block())] = 0;
    }
    if (thread_in_block() == 0) x->here->full = 0;
    if (thread_in_block() < TURNS) x->here->swept[thread_in_block()] = 0;
    for (u64 i = 1 + thread_in_block(); i + k < x->h.depth && i <= p->first; i += block_size()) take_length(x, p->first - i);
    block_barrier();
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

// neurons_of, sources_of and synapses_of are what the turn that updates neurons for burst t has to do, the last one for synapses that learn.
// That is what the threads behind do, if there are any in front.
DEVICE void neurons_of(const ranged *x, const run *p, u64 t, block *s) {
    u32 threads = in_front(x);
    update_block<ALL_MODELS, false>(p, t, s, threads);
    named_barrier<2>(threads);
    count_fired(p, t, s, threads);
    named_barrier<2>(threads);
    reserve_own(x, t, s, threads);
    list_own(x, p, t, s, threads);
    burst_for_host<false>(p, t, s, threads);
}

DEVICE void sources_of(const ranged *x, const run *p, u64 t) {
    if (t + x->r.launches < p->first + p->bursts) follow_own(x, p, LAUNCH, t + x->r.launches);
    follow_own(x, p, SETTLE_SOURCES, t);
}

DEVICE void synapses_of(const ranged *x, const run *p, u64 t, bool begins, block *s, u32 *wanted) {
    u32 k = x->r.apart, before = k > 0 ? k : 1;
    bool delivers = t + k < p->first + p->bursts, taken = !begins && t >= before;
    if (taken && thread_in_block() == block_size() - 1) take_length(x, t - before);
    if (delivers) {
        hear_events(x, t + k, begins ? t + k : taken ? t - before : 0);
        give_scheduled(p, t + k, (u64)block_index() * behind(x) + number_behind(x), (u64)block_count() * behind(x));
    }
    barrier_behind(x);
    if (delivers) deliver_ranges(x, p, t + k, s, wanted);
}

// await_others begins a turn.
DEVICE void await_others(const ranged *x, const run *p, u64 t, u32 turn, block *s, u32 *wanted) {
    u64 end = p->first + p->bursts;
    u32 k = x->r.apart, before = k > 0 ? k : 1, n = block_size() - 1 - thread_in_block();
    if (thread_in_block() == 0) {
        s->w.t = t, x->found->place[t % 2] = slot_of(x, t);
        if (further<ALL_MODELS>(p)) s->w.acc = p->ring + (t & p->slot_mask) * p->ports;
        x->here->sweeping = turn >= before && await_turn(x, turn - before);
    }
    if (n < p->w.area_count && n < COMMON && !s->w.areas[n].differ) s->common[n] = term_at(&s->w, s->w.areas + n, 0, t);
    if (thread_index() == 0) x->h.lengths[slot_of(x, t + before)] = 0;
    block_barrier();
    if (turn < before) return;
    announce(p, t - before);
    if (x->here->sweeping) sweep_ranges(x, p, t + k <= end ? t + k - 1 : end - 1, s, wanted);
}

// turns_of are all turns of a launch. In those before the first one synapses deliver what is due in its first bursts.
DEVICE void turns_of(const ranged *x, const run *p, block *s, u32 *wanted) {
    u32 k = x->r.apart, before = k > 0 ? k : 1;
#pragma unroll 1
    for (u32 i = 0; i < k + (u32)p->bursts; i++) {
        bool begins = i < k;
        u64 t = p->first + i - k;
        u32 turn = begins ? 0 : i - k;
        if (!begins) await_others(x, p, t, turn, s, wanted);
        bool front = !begins && (x->front == 0 || thread_in_block() < x->front);
        if (front) {
            sources_of(x, p, t);
            if (!x->alone && t >= before) deliver_others(x, p, t - before);
        }
        if (x->r.launches == 0) grid_barrier(p, s, wanted);
        if (thread_in_block() >= x->front) synapses_of(x, p, t, begins, s, wanted);
        if (k == 0) grid_barrier(p, s, wanted);
        if (front) neurons_of(x, p, t, s);
        block_barrier();
        if (!begins && thread_in_block() == 0) tell_own(x, turn);
        if (i + 1 == k) grid_barrier(p, s, wanted);
    }
}

// front_of is ranged's front. Candidates are listed by all threads.
DEVICE u32 front_of(const run *p, const ranges *r) {
    u32 warps = block_size() / 32;
    return r->apart == 0 || lists(&p->list) ? 0 : 32 * (warps < 8 ? warps / 2 : warps / 4);
}

// range_of divides the room for a block's range.
DEVICE ranged range_of(const learners *x, const ranges *r, u32 front, u8 *room, block_words *here) {
    slice *slices = take<slice>(&room, x->count);
    u32 *rows = take<u32>(&room, ROW_WORDS * block_size()), *totals = take<u32>(&room, 32);
    u32 *lists = take<u32>(&room, r->lists ? block_size() / 32 * LISTED_WORDS * LISTED : 0);
    u32 *lengths = take<u32>(&room, x->h.depth);
    for (u64 i = thread_in_block(); i < x->count; i += block_size()) slices[i] = r->slices[i];
    return ranged{*x, *r, front, slices, address(rows), address(totals), address(lists), address(lengths), here, address(room)};
}

KERNEL_OF_1024 learn_bursts_ranges(run p, learners x, ranges r) {
    SHARED(findings, found);
    SHARED(block, s);
    SHARED(block_words, here);
    learners all = copy_learners(&x, dynamic_memory(), &found, p.first);
    ranged own = range_of(&all, &r, front_of(&p, &r), dynamic_memory() + r.at, &here);
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
