#pragma once
#include "run_bursts.cu"
#include "turns.cuh"

// Many bursts in one launch for networks with neurons of lif_event, which change at inputs alone: silent ones cost a look at their sum.
// A row is delivered when its first synapses are due, so that the ring has few slots, and where no delay is 1 during the update of the
// burst before. Then a burst lets all blocks meet once. Neurons of other models are updated in every burst, as run_bursts does.

// cell is a neuron of lif_event: its potential after the last input, and the burst of that, or that in which its silence ends.
struct cell {
    float v;
    u32 last; // modulo 2^32
};

// event_lists is what event_bursts needs beside run.
struct event_lists {
    cell *cells;   // of all neurons; null: each block has those of its neurons in its memory
    u32 *queues;   // who fired in burst t, from (t mod depth)·all on, in any order
    u32 *lengths;  // of burst t's queue, at t & length_mask
    u32 depth, length_mask, all;
    u32 at;        // first mod depth
    u32 lag;       // a row is delivered in the burst that is so many after its spike: the smallest delay
    u32 back;      // lag, or 1 where all delays are lag, of which kernels are not told then
    u32 early;     // rows are delivered so many bursts before they are due, where lag is above 1; more than 1 only where lag is 2·early + 2 at least
    u32 room;      // bytes of a block's memory before what event_block places
};

// FOUND is how many neurons with inputs a warp may have found and not updated yet: it looks at LOOK at a time, and updates 32.
const u32 LOOK = 128, FOUND = 160;

// Of the first NEAR_AREAS areas a block's memory has the first NEAR entries of the table of decay, which lif_event needs most. It has all
// weights where there are NEAR_VALUES at most.
const u32 NEAR_AREAS = 8, NEAR = 512, NEAR_VALUES = 512;

// AHEAD is the least delay with which a block's first warp has time for what others would wait for: it queues who fired in the burst before,
// and looks up the rows that are due in the next burst but one.
const u32 AHEAD = 4;

DEVICE bool ahead(const event_lists *e) { return e->lag >= AHEAD; }

// found is a sum that is not 0, of the block's k-th neuron.
struct alignas(8) found {
    u32 k;
    i32 sum; // quanta
};

// event_turn is where a block is in a launch: in registers it would go to memory and back in every burst. Thread 0 takes it on where blocks meet.
struct event_turn {
    u64 t;               // burst
    u32 updates;         // whether that is updated
    u32 at, before, due; // places of the queues of burst t and of the one before, and of that whose rows are due in burst t + early
    i32 number;          // of the turn: in turns up to the 0th no neurons are updated
    u32 done;            // whether the launch is, but for what the last burst brings
    u64 told;            // the burst after the newest one that is complete, 0: none is
};

// event_block is what a block needs beside its struct block. Entries of two bursts are used by turns: of one that is updated, and of one
// that the first warp is at. Numbers named at_ are places in the block's memory, in bytes.
struct event_block {
    turns_here turns;
    event_turn now, next;
    u32 fired[2], some[2][32]; // how many of its neurons fire, and which, up to 32
    u32 parts[2];              // how many parts of rows it delivers, up to 32
    u32 rows[2];               // and how many rows all blocks do
    spike due[2][32];          // these parts
    u32 at_bits;               // who fires, a bit a neuron, of two bursts
    u32 at_found;              // of each warp
    u32 at_near, at_values, at_cells;
};

// in_room is the block's memory from a place on.
template <class T> DEVICE T *in_room(u32 at) { return (T *)(dynamic_memory() + at); }

// lay_out_events divides what of it others have left. One thread does.
DEVICE void lay_out_events(const run *p, const event_lists *e, event_block *m) {
    u8 *room = dynamic_memory() + e->room;
    m->at_bits = (u32)((u8 *)take<u32>(&room, 2 * (p->block_neurons / 32)) - dynamic_memory());
    m->at_found = (u32)((u8 *)take<found>(&room, FOUND * (block_size() / 32 - 1)) - dynamic_memory());
    m->at_near = (u32)((u8 *)take<float>(&room, NEAR * (p->w.area_count < NEAR_AREAS ? p->w.area_count : NEAR_AREAS)) - dynamic_memory());
    m->at_values = (u32)((u8 *)take<i32>(&room, p->value_count <= NEAR_VALUES ? p->value_count : 0) - dynamic_memory());
    m->at_cells = (u32)(room - dynamic_memory());
    m->fired[0] = m->fired[1] = 0;
}

DEVICE u32 *bits_of(const run *p, const event_block *m, u64 t) { return in_room<u32>(m->at_bits) + (u32)(t % 2) * (p->block_neurons / 32); }

// cells_of are those of the block's neurons.
DEVICE cell *cells_of(const run *p, const event_lists *e, const event_block *m) {
    return e->cells == nullptr ? in_room<cell>(m->at_cells) : e->cells + block_index() * p->block_neurons;
}

// next_place is the place of the next burst's queue.
DEVICE u32 next_place(const event_lists *e, u32 at) { return at + 1 == e->depth ? 0 : at + 1; }

// cells_copy makes the cells of the block's neurons, or with back their state; t is the burst before the next one.
DEVICE void cells_copy(const run *p, const event_lists *e, const block *s, const event_block *m, u64 t, bool back) {
    cell *cells = cells_of(p, e, m);
    u32 begin = block_index() * p->block_neurons, place = s->from;
#pragma unroll 1
    for (u32 k = thread_in_block(); k < own(p); k += block_size()) {
        u32 n = begin + k;
        while (s->w.areas[place].end <= n) place++;
        if (s->w.areas[place].model != LIF_EVENT) continue;
        if (!back) {
            cells[k] = cell{p->w.v[n], (u32)t + p->w.refractory[n] - p->w.count[n]};
            continue;
        }
        cell c = cells[k];
        i32 age = (i32)((u32)t - c.last);
        p->w.v[n] = c.v;
        p->w.refractory[n] = (u16)(age < 0 ? -age : 0);
        p->w.count[n] = (u16)(age < 0 ? 0 : saturated((u32)age));
    }
}

// players is how many of the block's threads compute, by whole warps. Where blocks do not meet, the last three warps talk: one tells other
// blocks, one looks at what they tell, and one tells the host.
DEVICE u32 players(const event_lists *e) { return block_size() - (e->early > 1 ? 96 : 0); }
DEVICE void players_barrier(const event_lists *e) {
    if (e->early > 1) named_barrier<1>(players(e));
    else block_barrier();
}

// event_warps is how many warps, after the first one, update and deliver. Where blocks do not meet, the last one of the others looks rows up;
// else the last one of the last block tells the host of bursts, which takes it much of a burst's time.
DEVICE u32 event_warps(const event_lists *e) {
    return players(e) / 32 - 1 - (e->early > 1 || (block_size() > 64 && anew(block_index()) == block_count() - 1));
}

// parts_log_of is the logarithm of the parts of each of so many rows: rows are cut further while each part has a warp of its own.
DEVICE u32 parts_log_of(const run *p, u32 rows) {
    u32 log = p->parts_log, warps = (block_size() / 32 - 1) * block_count();
    while (log < p->most_parts_log && (u64)rows << (log + 1) <= warps) log++;
    return log;
}

// item_of is the number of the block's i-th part of all.
DEVICE u64 item_of(u32 i) { return (u64)i * block_count() + block_index(); }

// part_of is a part of the row of neuron n.
DEVICE spike part_of(const run *p, u32 n, u64 item, u32 parts_log) {
    u64 first = p->row[n], count = p->row[n + 1] - first, part = item & ((1u << parts_log) - 1), from = count * part >> parts_log;
    return spike{first + from, (count * (part + 1) >> parts_log) - from};
}

// rows_due is how many rows are due in burst t, those of who fired lag bursts before, whose queue has a place.
DEVICE u32 rows_due(const event_lists *e, u64 t) { return e->lengths[((u32)t - e->lag) & e->length_mask]; }

// source_of is whose row an item is, which is one of the queue at a place.
DEVICE u32 source_of(const event_lists *e, u32 place, u64 item, u32 parts_log) { return e->queues[(u64)place * e->all + (item >> parts_log)]; }

// due_ahead is what a lane of the first warp knows of the part that it looks up.
struct due_ahead {
    u32 rows, n;
};

// find_due and keep_due look up what is due in burst t: its loads are on their way between both.
DEVICE void find_due(const run *p, const event_lists *e, u32 place, due_ahead *d) {
    u32 parts_log = parts_log_of(p, d->rows);
    if (item_of(lane()) < (u64)d->rows << parts_log) d->n = source_of(e, place, item_of(lane()), parts_log);
}

DEVICE void keep_due(const run *p, event_block *m, u64 t, const due_ahead *d) {
    u32 parts_log = parts_log_of(p, d->rows), at = t % 2;
    bool some = item_of(lane()) < (u64)d->rows << parts_log;
    u32 parts = ones(vote(some));
    if (lane() == 0) m->rows[at] = d->rows, m->parts[at] = parts;
    if (!some) return;
    spike row = part_of(p, d->n, item_of(lane()), parts_log);
    m->due[at][lane()] = row;
#pragma unroll 1
    for (u32 k = 0; k < row.count && k < 128; k += SECTOR) bring_closer(p->all.target + row.first + k);
}

// alike reports whether all delays are one, and weights are at hand.
DEVICE bool alike(const run *p) {
    return p->delay == nullptr && p->late == nullptr && p->all.delay_bits == 0 && p->all.weight == nullptr && p->value_count <= NEAR_VALUES;
}

// add_part is add_synapses for a part of a row that is due in burst t.
DEVICE void add_part(const run *p, const event_lists *e, const event_block *m, u64 t, spike row) {
    if (!alike(p)) return add_synapses(p, (u32)t - e->back, row.first, row.first + row.count);
    i32 *sums = p->ring + (((u32)t - e->back + 1) & p->slot_mask) * (u64)p->ports;
    const u32 *target = p->all.target + row.first;
    const i32 *values = in_room<i32>(m->at_values);
#pragma unroll 1
    for (u32 k = lane(); k < (u32)row.count; k += 128) {
        u32 word[4];
#pragma unroll
        for (u32 j = 0; j < 4; j++) word[j] = k + 32 * j < (u32)row.count ? target[k + 32 * j] : 0; // all loads before the first addition
#pragma unroll
        for (u32 j = 0; j < 4; j++)
            if (k + 32 * j < (u32)row.count) accumulate(sums + port_of(&p->all, word[j]), values[word[j] >> p->all.port_bits]);
    }
}

// deliver_due is step 1 for burst t. The last warps have what is to be done first, as the first ones have neurons to update where there are
// few.
DEVICE void deliver_due(const run *p, const event_lists *e, const event_block *m, u64 t, u32 place) {
    u32 i = event_warps(e) - anew(thread_in_block()) / 32, at = t % 2, known = ahead(e) ? m->parts[at] : 0;
#pragma unroll 1
    for (; i < known; i += event_warps(e)) add_part(p, e, m, t, m->due[at][i]);
    if (ahead(e) && known < 32) return;
    u32 rows = ahead(e) ? m->rows[at] : rows_due(e, t), parts_log = parts_log_of(p, rows);
#pragma unroll 1
    for (; item_of(i) < (u64)rows << parts_log; i += event_warps(e))
        add_part(p, e, m, t, part_of(p, source_of(e, place, item_of(i), parts_log), item_of(i), parts_log));
}

// near_copy fills the tables of decay and of weights.
DEVICE void near_copy(const run *p, const block *s, const event_block *m) {
    if (p->value_count <= NEAR_VALUES) copy(in_room<i32>(m->at_values), p->all.values, p->value_count);
    for (u32 place = 0; place < p->w.area_count && place < NEAR_AREAS; place++) {
        const area *a = s->w.areas + place;
        if (a->model == LIF_EVENT) copy(in_room<float>(m->at_near) + place * NEAR, p->w.constants + a->program, a->refractory < NEAR ? a->refractory : NEAR);
    }
}

// stretch_of_area is what a warp looks at: of the block's neurons from ≤ k < until, the (ahead + k)-th ones of their area, those of some
// pieces, from the one that begins at first on, each step after the one before.
struct stretch_of_area {
    const area *a;
    const float *near; // the part of the area's table that is at hand, or null
    u32 from, until, ahead;
    i32 first, step; // first may be below from
    i32 *sums; // from that of the block's first neuron on, if the area had it
    u32 *bits; // of who fires
    found *list;
    cell *cells; // of the block
    u32 listed;
    float scale, inverse;
};

// lif_event_fires is the model's step 4 for the block's k-th neuron, a candidate with this sum.
DEVICE bool lif_event_fires(const network *w, const stretch_of_area *x, u32 k, i32 sum) {
    cell *own = x->cells + k, c = *own;
    const area *a = x->a;
    i32 age = (i32)((u32)w->t - c.last);
    if (age <= 0) return false; // 4a
    const float *of = constants_of(w, a, x->ahead + k);
    u32 since = saturated((u32)age); // 4b
    if (since >= a->refractory) since = a->refractory - 1;
    float factor = x->near != nullptr && since < NEAR ? x->near[since] : w->constants[a->program + since];
    float v = c.v * factor + quotient((float)sum, x->scale, x->inverse); // 4c
    bool fires = v >= of[0];                                             // 4d
    *own = cell{fires ? of[1] : v, (u32)w->t + (fires ? (u32)of[2] : 0)};
    return fires;
}

// sums_of_four are those of the neurons k to k + 3 of a stretch, 0 for those that are not in it.
DEVICE four sums_of_four(const stretch_of_area *x, i32 k) {
    four f = {};
    i32 from = (i32)x->from, until = (i32)x->until;
    const i32 *at = x->sums + k;
    if (k >= from && k + 4 <= until) return load_together(at);
    if (k >= until || k + 3 < from) return f;
#pragma unroll
    for (u32 j = 0; j < FOUR; j++)
        if (k + (i32)j >= from && k + (i32)j < until) f.word[j] = (u32)at[j];
    return f;
}

// list_found lists the lanes' neurons, one each, if sums are not 0. All lanes of the warp must call it.
DEVICE void list_found(stretch_of_area *x, u32 k, i32 sum) {
    u32 some = vote(sum != 0);
    if (sum != 0) x->list[x->listed + ones(some & ((1u << lane()) - 1))] = found{k, sum};
    x->listed += ones(some);
}

// note_fired notes that the block's k-th neuron fires in burst t, whose bits these are.
DEVICE void note_fired(event_block *m, u32 *bits, u64 t, u32 k) {
    add((i32 *)bits + k / 32, (i32)(1u << k % 32));
    u32 place = fetch_add(m->fired + t % 2, 1);
    if (place < 32) m->some[t % 2][place] = k;
}

// update_listed updates neurons of the list, 32 at a time, while there are so many.
DEVICE void update_listed(const block *s, event_block *m, stretch_of_area *x, u32 least) {
    warp_barrier();
#pragma unroll 1
    while (x->listed >= least) {
        u32 left = x->listed < 32 ? 0 : x->listed - 32;
        if (lane() < x->listed - left) {
            found one = x->list[left + lane()];
            if (lif_event_fires(&s->w, x, one.k, one.sum)) note_fired(m, x->bits, s->w.t, one.k);
        }
        x->listed = left;
    }
    warp_barrier();
}

// update_found is steps 2 to 4 for a warp's pieces of LOOK neurons of an area of lif_event. The next piece's sums are on their way meanwhile.
DEVICE void update_found(const block *s, event_block *m, stretch_of_area *x) {
    i32 at = (i32)(FOUR * lane());
    four now = sums_of_four(x, x->first + at);
#pragma unroll 1
    for (i32 k = x->first; k < (i32)x->until; k += x->step) {
        four next = sums_of_four(x, k + x->step + at);
#pragma unroll
        for (u32 j = 0; j < FOUR; j++) {
            if (now.word[j] != 0) x->sums[k + at + (i32)j] = 0; // 7
            list_found(x, (u32)(k + at) + j, (i32)now.word[j]);
        }
        update_listed(s, m, x, k + x->step < (i32)x->until ? 32 : 1);
        now = next;
    }
}

// update_driven is update_found where drives act in every burst, for pieces of 32 neurons.
DEVICE void update_driven(const block *s, event_block *m, stretch_of_area *x) {
#pragma unroll 1
    for (i32 first = x->first; first < (i32)x->until; first += x->step) {
        u32 k = (u32)first + lane();
        i32 sum = 0;
        if (k < x->until) {
            sum = sum_of(x->sums + (i32)k);
#pragma unroll 1
            for (u32 d = x->a->first_drive; d < x->a->first_drive + x->a->drives; d++)
                sum += amount_of(s->drives + d, s->counts, s->table, s->w.seed, x->ahead + k, s->w.t);
        }
        list_found(x, k, sum);
        update_listed(s, m, x, first + x->step < (i32)x->until ? 32 : 1);
    }
}

// queue_fired puts those of the block's neurons from ≤ k < until that fire into the queue, step 5, by a warp.
DEVICE void queue_fired(const run *p, const u32 *bits, u32 from, u32 until, u32 *queue, u32 *length) {
    warp_barrier();
#pragma unroll 1
    for (u32 word = from / 32; 32 * word < until; word += 32) {
        u32 k = 32 * (word + lane()), rest = k < until ? read(bits + k / 32) : 0; // a word may have neurons of other warps
        if (k < from) rest &= ~0u << (from - k);
        if (k + 32 > until && k < until) rest &= ~0u >> (k + 32 - until);
        if (vote(rest != 0) == 0) continue;
        u32 sum = ones(rest);
#pragma unroll
        for (u32 by = 1; by < 32; by *= 2) {
            u32 other = shuffle_up(sum, by);
            if (lane() >= by) sum += other;
        }
        u32 base = 0;
        if (lane() == 31) base = fetch_add(length, sum);
        base = shuffle_first(shuffle_xor(base, 31), 32) + sum - ones(rest);
#pragma unroll 1
        for (; rest != 0; rest &= rest - 1) queue[base++] = block_index() * p->block_neurons + k + ones((rest & -rest) - 1);
    }
}

// asleep reports whether no neuron of an area of sources fires in burst t.
DEVICE bool asleep(const area *a, u64 t) { return a->model == POISSON_SOURCE && a->each == NO_TABLE && (t < a->from || t >= a->until); }

// update_events is steps 2 to 5 of burst t for the block's neurons. All warps but the first take pieces of each area in turn, and the next
// area begins with the next warp.
DEVICE void update_events(const run *p, const event_lists *e, u64 t, block *s, event_block *m, u32 at) {
    u32 begin = block_index() * p->block_neurons, end = begin + own(p), warps = event_warps(e), turn = anew(thread_in_block()) / 32 - 1;
    u32 *bits = bits_of(p, m, t);
    i32 *slot = p->ring + (t & p->slot_mask) * p->ports;
#pragma unroll 1
    for (u32 place = s->from; begin < end && place < p->w.area_count && s->w.areas[place].first < end; place++) {
        const area *a = s->w.areas + place;
        u32 low = a->first > begin ? a->first - begin : 0, high = (a->end < end ? a->end : end) - begin;
        if (low >= high || asleep(a, t)) continue;
        bool looks = a->model == LIF_EVENT && a->drives == 0;
        u32 each = looks ? LOOK : 32;
        i32 *sums = slot + ((i64)a->first_port + begin - a->first);
        i32 first = (i32)low - (looks ? (i32)((u64)(sums + low) / 4 % FOUR) : 0); // so that four sums are loaded at once
        u32 all = ((u32)((i32)high - first) + each - 1) / each, rest = all < warps ? all : all % warps;
        first += (i32)(turn * each);
        turn = turn >= rest ? turn - rest : turn + warps - rest;
        if (first >= (i32)high) continue;
        i32 step = (i32)(warps * each);
        if (a->model == LIF_EVENT) {
            float scale = (float)s->w.scale;
            stretch_of_area x = {a, place < NEAR_AREAS ? in_room<float>(m->at_near) + place * NEAR : nullptr, low, high, begin - a->first, first, step,
                                 sums, bits, in_room<found>(m->at_found) + (anew(thread_in_block()) / 32 - 1) * FOUND,
                                 cells_of(p, e, m), 0, scale, 1.0f / scale};
            if (looks) update_found(s, m, &x);
            else update_driven(s, m, &x);
        } else {
#pragma unroll 1
            for (u32 k = (u32)first + lane(); k < high; k += (u32)step) {
                inputs in = {};
                if (fires<ALL_MODELS | 1 << PSC_EXP_EVENT, false>(p, s, &s->w, slot, place, begin + k, begin + k, &in)) note_fired(m, bits, t, k);
            }
        }
        if (ahead(e)) continue;
#pragma unroll 1
        for (; first < (i32)high; first += step)
            queue_fired(p, bits, first < (i32)low ? low : (u32)first, first + (i32)each < (i32)high ? (u32)first + each : high,
                        e->queues + (u64)at * e->all, e->lengths + ((u32)t & e->length_mask));
    }
}

// event_room is host_room for these networks: few neurons fire in a burst.
DEVICE u32 event_room(const run *p) { return p->block_neurons / 32; }

// bring_few brings the host who of the block's neurons fired in burst t, up to 32, by the block's first warp, and clears their bits. Queue is
// where they are queued, or null. The host's are in ascending order.
DEVICE void bring_few(const run *p, event_block *m, u64 t, u32 *bits, u32 *ids, u32 *queue, u32 total) {
    if (lane() >= total) return;
    const u32 *some = m->some[t % 2];
    u32 k = some[lane()], before = 0, n = block_index() * p->block_neurons + k;
#pragma unroll 1
    for (u32 i = 0; i < total; i++) before += some[i] < k;
    ids[before] = n;
    if (queue != nullptr) queue[lane()] = n;
    bits[k / 32] = 0;
}

// bring_many is bring_few for more: the host gets their numbers, or with listed no bits.
DEVICE void bring_many(const run *p, block *s, u32 *bits, u32 *ids, u32 *queue, bool listed) {
    u32 words = p->block_neurons / 32, each = (words + 31) / 32, from = lane() * each, until = from + each < words ? from + each : words;
    u32 sum = 0;
#pragma unroll 1
    for (u32 w = from; w < until; w++) sum += ones(bits[w]);
    u32 before = sum_before(&s->in_groups, sum);
#pragma unroll 1
    for (u32 w = from; w < until; w++) {
        u32 rest = bits[w];
        if (!listed) ids[w] = rest;
        if (rest != 0) bits[w] = 0;
#pragma unroll 1
        for (; rest != 0; rest &= rest - 1) {
            u32 n = block_index() * p->block_neurons + 32 * w + ones((rest & -rest) - 1);
            if (listed) ids[before] = n;
            if (queue != nullptr) queue[before] = n;
            before++;
        }
    }
}

// bring_fired is for the host, by the block's first warp: who of the block's neurons fired in burst t. It clears the bits. Where there is time
// it queues them, too, at a place.
DEVICE void bring_fired(const run *p, const event_lists *e, u64 t, u32 place, block *s, event_block *m) {
    u32 total = m->fired[t % 2], *ids = p->ids + place_of_burst(p, t) * event_room(p), *queue = nullptr, *bits = bits_of(p, m, t);
    if (ahead(e) && total > 0) {
        u32 base = 0;
        if (lane() == 0) base = fetch_add(e->lengths + ((u32)t & e->length_mask), total);
        queue = e->queues + (u64)place * e->all + shuffle_first(base, 32);
    }
    if (lane() == 0) report(p, t, total);
    bool listed = total <= event_room(p);
    if (listed && total <= 32) bring_few(p, m, t, bits, ids, queue, total);
    else bring_many(p, s, bits, ids, queue, listed);
    warp_barrier();
    if (lane() == 0) m->fired[t % 2] = 0;
}

// reads is what a state variable of the block's k-th neuron reads after burst t: connectome.Area.Reads.
DEVICE float reads(const run *p, const event_lists *e, const block *s, const event_block *m, u64 t, u32 k, u32 variable) {
    const network *w = &s->w;
    u32 n = block_index() * p->block_neurons + k;
    const area *a = area_of(w->areas, w->area_count, n);
    const float *decay = w->constants + a->program;
    if (a->model == LIF_EVENT && variable == 0) {
        cell c = cells_of(p, e, m)[k];
        i32 age = (i32)((u32)t - c.last);
        u32 since = age < 0 ? 0 : saturated((u32)age), entries = a->refractory;
        return c.v * decay[since < entries ? since : entries - 1];
    }
    if (a->model != PSC_EXP_EVENT || variable > 2) return variable == 0 ? w->v[n] : w->more[(variable - 1) * w->pitch + n];
    const float *row = decay_over(decay, a->refractory, w->count[n]);
    float ex = w->more[n], in = w->more[w->pitch + n];
    if (variable == 0) return w->v[n] * row[FACTOR_V] + (ex * row[FROM_EX] + in * row[FROM_IN]);
    u32 factor = variable == 1 ? FACTOR_EX : FACTOR_IN;
    float after = decay_over(decay, a->refractory, w->refractory[n])[factor];
    return after == 0 ? 0 : (variable == 1 ? ex : in) * row[factor] / after;
}

// bring_read brings the host the wanted state variables of the block's neurons after burst t.
DEVICE void bring_read(const run *p, const event_lists *e, const block *s, const event_block *m, u64 t) {
    const probes *x = &p->wanted;
    float *to = x->values + (t - p->first) * x->count;
    u32 end = x->first[block_index() + 1];
#pragma unroll 1
    for (u32 i = x->first[block_index()] + thread_in_block(); i < end; i += players(e)) {
        probe one = x->list[i];
        to[one.place] = reads(p, e, s, m, t, one.neuron, one.variable);
    }
}

// delivers reports whether rows of burst t + early are delivered in a turn.
DEVICE bool delivers(const run *p, const event_lists *e, const event_turn *x) {
    return x->t + e->early < p->first + p->bursts && (e->lag > 1 || x->updates == 0);
}

// take_on makes x what it is in the next turn.
DEVICE void take_on(const run *p, const event_lists *e, event_turn *x) {
    u64 end = p->first + p->bursts;
    x->number++;
    x->told = x->updates != 0 && x->t > p->first ? x->t : 0;
    x->done = x->updates != 0 && x->t + 1 == end;
    bool goes_on = x->done == 0 && (e->lag > 1 || x->updates == 0);
    if (x->updates != 0) x->before = x->at, x->at = next_place(e, x->at);
    x->updates = goes_on && x->number > 0;
    if (!goes_on) return;
    x->t++;
    x->due = next_place(e, x->due);
}

// meet_events ends a turn of the block. The next one begins when other blocks have finished the turn that it has to wait for; where they
// meet, and after the 0th turn, that is this one. Meanwhile what is the same for all neurons in the next turn is worked out.
DEVICE void meet_events(const run *p, const event_lists *e, block *s, event_block *m) {
    bool apart = e->early > 1;
    i32 number = m->now.number;
    players_barrier(e);
    if (thread_in_block() == 0) {
        if (number >= 0 && apart) store_block(&m->turns.done, (u32)number + 1);
        else if (number >= 0) tell_turn(p->arrived, (u32)number);
        m->now = m->next;
        s->w.t = m->next.t; // the law's step 4 reads it
    }
    u32 k = players(e) - 1 - thread_in_block();
    if (k < p->w.area_count && k < COMMON && !s->w.areas[k].differ) s->common[k] = term_at(&s->w, s->w.areas + k, 0, m->next.t);
    if (thread_in_block() == 0 && number >= 0) {
        if (apart && number == 0) await_turns(&m->turns, 1);
        while (!apart && !finished(p->arrived, (u32)number)) {}
    }
    players_barrier(e);
}

// play is a turn: the first warp tells the host of the burst before, and the others update burst t and deliver rows of burst t + early. The
// warp that looks rows up waits for other blocks where they do not meet.
DEVICE void play(const run *p, const event_lists *e, block *s, event_block *m) {
    event_turn x = m->now;
    bool gives = delivers(p, e, &x);
    u32 warp = anew(thread_in_block()) / 32, looker = e->early > 1 ? players(e) / 32 - 1 : 0;
    if (thread_in_block() == 0) {
        m->next = x;
        take_on(p, e, &m->next);
    }
    if (gives && p->stimulus_count > 0)
        give_scheduled(p, x.t + e->early, (u64)anew(block_index()) * players(e) + anew(thread_in_block()), (u64)anew(block_count()) * players(e));
    if (warp == 0 || warp == looker) {
        u64 next = x.t + e->early + 1;
        bool looks = warp == looker && ahead(e) && next < p->first + p->bursts;
        due_ahead d = {looks ? rows_due(e, next) : 0, 0};
        if (looks) find_due(p, e, next_place(e, x.due), &d);
        if (warp == 0 && x.updates != 0 && x.t > p->first) bring_fired(p, e, x.t - 1, x.before, s, m);
        if (looks) keep_due(p, m, next, &d);
        if (warp == 0 && x.updates != 0 && block_index() == 0 && lane() == 0) e->lengths[(u32)(x.t + e->early) & e->length_mask] = 0;
        if (warp > 0 && x.number > 0 && lane() == 0) await_turns(&m->turns, x.number + 1 > (i32)e->early ? x.number + 2 - e->early : 1);
    } else if (warp <= event_warps(e)) {
        if (gives) deliver_due(p, e, m, x.t + e->early, x.due);
        if (m->now.updates != 0) update_events(p, e, m->now.t, s, m, m->now.at);
    }
    if (m->now.updates != 0 && p->wanted.count > 0) {
        players_barrier(e);
        bring_read(p, e, s, m, m->now.t);
    }
}

// talk_events is what the last warps do where blocks do not meet, by one lane each: the number of threads before it is 0, 32 or 64.
DEVICE void talk_events(const run *p, event_block *m, u32 before) {
    if (before == 0) tell_turns(p->arrived, &m->turns, (u32)p->bursts + 2);
    if (before == 32) hear_turns(p->arrived, &m->turns, (u32)p->bursts);
    if (before < 64 || block_index() + 1 < block_count()) return;
    for (u32 told = 0; told < p->bursts;)
        for (u32 complete = load_block(&m->turns.complete); told < complete; told++) publish(p->done + told, p->first + told + 1);
}

// event_bursts is the law of many bursts in one launch, whose blocks all run at once. The first warp of a block tells the host, while the
// others compute the next burst.
//
//	for t := first; t < first + bursts; t++ {
//		deliver the rows of queues[t-lag], and the stimuli; with lag > 1 this is done for burst t + 1 while burst t is updated
//		for n := range neurons { if b.fires(n) { queues[t] = append(queues[t], n) } }
//	}
//
// With 768 threads a block none of its registers goes to memory from burst to burst.
KERNEL_OF_768 event_bursts(run p, event_lists e) {
    SHARED(event_block, m);
    SHARED(block, s);
    lay_out(&p, dynamic_memory(), &s, false);
    if (thread_in_block() == 0) lay_out_events(&p, &e, &m);
    begin_launch(&p);
    block_barrier();
    cells_copy(&p, &e, &s, &m, p.first - 1, false);
    near_copy(&p, &s, &m);
    for (u32 w = thread_in_block(); w < 2 * (p.block_neurons / 32); w += block_size()) in_room<u32>(m.at_bits)[w] = 0;
    if (anew(block_index()) == 0 && thread_in_block() < TURNS) ((u32 *)p.arrived_next)[thread_in_block() * TURN_APART] = 0;
    if (thread_in_block() == 0) {
        u32 due = e.at >= e.lag ? e.at - e.lag : e.at + e.depth - e.lag;
        m.now = event_turn{p.first - e.early, 0, e.at, e.at, due, 1 - (i32)e.early, 0, 0};
        m.turns = turns_here{};
    }
    if (thread_in_block() < 32 && ahead(&e)) {
        due_ahead d = {rows_due(&e, p.first), 0};
        find_due(&p, &e, e.at >= e.lag ? e.at - e.lag : e.at + e.depth - e.lag, &d);
        keep_due(&p, &m, p.first, &d);
    }
    block_barrier();
    if (thread_in_block() < players(&e)) {
        while (m.now.done == 0) {
            play(&p, &e, &s, &m);
            meet_events(&p, &e, &s, &m);
            if (e.early == 1 && m.now.told != 0) announce(&p, m.now.told - 1);
        }
        if (thread_in_block() < 32) bring_fired(&p, &e, p.first + p.bursts - 1, m.now.before, &s, &m);
        meet_events(&p, &e, &s, &m);
        if (e.early == 1) announce(&p, p.first + p.bursts - 1);
    } else {
        talk_events(&p, &m, anew(thread_in_block()) - players(&e));
    }
    block_barrier();
    cells_copy(&p, &e, &s, &m, p.first + p.bursts - 1, true);
}
