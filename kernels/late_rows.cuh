// How blocks that keep their neurons' state compute networks whose smallest delay is several bursts, without meeting: a block tells when it
// has finished a turn, and waits for the turn that others finished apart turns ago. In the turn of burst t some warps update, others
// deliver the rows of who fired in burst t - apart, one draws, one tells the host of the burst before, and one talks with other blocks.
#pragma once
#include "ahead.cuh"
#include "turns.cuh"

// late_queues is what such a launch needs beside run.
struct late_queues {
    u32 apart;      // turns that blocks are apart at most; delays are twice that at least
    u32 back;       // if all delays are one, that, else 0
    u32 mask;       // of queues, of 2·apart bursts at least
    u32 *lengths;   // of the queue of burst t at t & LENGTHS - 1
    spike *queues;  // that of burst t from (t & mask)·neurons on
    u32 *told;      // counters of turns
    u32 *told_next; // those of the next launch
};

// LENGTHS is 3·TURNS at least.
const u32 LENGTHS = 32;

// late_room is what the block has of two bursts by turns, at their number mod 2.
struct alignas(8) late_room {
    turns_here turns;
    float common[2][COMMON]; // areas' terms
    u32 total;
};

// The last warps of a block talk: one tells other blocks, one looks at what they tell, and one tells the host. Of the others, the last one lists
// who fires, and those before it draw.
const u32 TALKERS = 3;
DEVICE u32 late_workers() { return block_size() - 32 * TALKERS; }
DEVICE void late_barrier() { named_barrier<1>(late_workers()); }

// drawers is how many warps draw.
DEVICE u32 drawers(const run *p) { return p->drive_count > 0 ? (p->block_neurons + 127) / 128 : 0; }

// drawn_at is where drives have put what they add for the block's neurons in burst t.
DEVICE i32 *drawn_at(const run *p, const resident *s, u64 t) { return room_at<i32>(s, s->at_input) + (t & 1) * p->block_neurons; }

// bits_at are those of who fires in burst t.
DEVICE u32 *bits_at(const run *p, const resident *s, u64 t) { return t & 1 ? room_at<u32>(s, s->at_list) : room_at<u32>(s, s->at_bits); }

// draw_late is drive_block for neurons with one port, of which the warp-th of those that draw has 128.
DEVICE void draw_late(const run *p, u64 t, const resident *s, u32 warp) {
    u32 begin = block_index() * p->block_neurons, count = s->own, k = 4 * (32 * warp + lane()), n = begin + k;
    if (k < count) {
        four sum = {};
#pragma unroll 1
        for (u32 from = k; from < k + 4 && from < count;) { // one area's after the other's
            const area *a = room_at<area>(s, s->at_areas) + (area_at(p, s, n + from - k, from) & ~SIMPLE);
#pragma unroll 1
            for (u32 d = a->first_drive; d < a->first_drive + a->drives; d++) {
                i32 amounts[4];
                amounts_of(room_at<drive>(s, s->at_drives) + d, room_at<u32>(s, s->at_counts), room_at<i32>(s, s->at_table), p->w.seed, n, t, amounts);
#pragma unroll
                for (u32 j = 0; j < 4; j++)
                    if (k + j >= from && n + j < a->end) sum.word[j] += (u32)amounts[j];
            }
            from = k + (a->end - n);
        }
        *(four *)(drawn_at(p, s, t) + k) = sum;
    }
}

// terms_late finds the areas' terms in burst t, by a warp.
DEVICE void terms_late(const run *p, u64 t, const resident *s, late_room *m) {
    const area *areas = room_at<area>(s, s->at_areas);
    network w = p->w;
    w.terms = room_at<term>(s, s->at_terms);
#pragma unroll 1
    for (u32 k = lane(); k < p->w.area_count && k < COMMON; k += 32)
        if (!areas[k].differ) m->common[t & 1][k] = term_at(&w, areas + k, 0, t);
}

// update_late is steps 2 to 5 of burst t for the block's neurons, by the front warps.
DEVICE void update_late(const run *p, const late_queues *e, u64 t, const resident *s, const late_room *m) {
    u32 count = s->own, end = p->block_neurons, step = 32 * p->front;
    u32 *bits = bits_at(p, s, t);
    const u32 *rows = room_at<u32>(s, s->at_rows);
    const i32 *drawn = drawn_at(p, s, t);
    updater u = {};
    u.w = view<1 << LIF>(p, s, t);
    u.slot = p->ring + (t & p->slot_mask) * p->ports;
    u.areas = u.a = u.w.areas;
    u.begin = anew(block_index()) * end;
    u.at_spans = anew(s->at_spans);
    u.ahead = u.place = ~0u;
    u32 k = thread_in_block();
    reached one = {};
    if (k < count) one = load_sums<1 << LIF>(p, s, &u, k);
#pragma unroll 1
    for (; k < end; k += step) {
        reached next = {};
        if (k + step < count) next = load_sums<1 << LIF>(p, s, &u, k + step);
        bool fires = false;
        if (k < count) {
            u32 place = one.place & ~SIMPLE, i = u.begin + k - u.areas[place].first;
            const area *a = u.areas + place;
            if (one.first != 0) u.slot[one.port] = 0;
            if (p->drive_count > 0) one.first += drawn[k];
            float term = a->differ || place >= COMMON ? term_of(&u.w, a, i) : m->common[t & 1][place];
            fires = lif(one.place & SIMPLE ? a->k : constants_of(&u.w, a, i), input(&u.w, one.first), term, u.w.v + k, u.w.refractory + k);
        }
        store_bits(bits + k / 32, fires);
        if (fires && rows[k + 1] > rows[k])
            e->queues[(t & e->mask) * p->neurons + fetch_add(e->lengths + (t & (LENGTHS - 1)), 1)] = spike{s->first_row + rows[k], rows[k + 1] - rows[k]};
        one = next;
    }
}

// deliver_late is step 1 for the rows of who fired in burst t, of which each of so many warps behind the front has a part; where there are
// more, all share the others.
DEVICE void deliver_late(const run *p, const late_queues *e, u64 t, const resident *s, u32 warp, u32 warps) {
    u32 blocks = anew(block_count()), back = warps - p->front, apart = back * blocks, parts = apart / 32;
    if (parts > p->most_later_parts) parts = p->most_later_parts;
    if (parts < p->later_parts) parts = p->later_parts;
    const spike *queue = e->queues + (t & e->mask) * p->neurons;
    u32 own = apart + block_index() * warps + warp, piece = warp < p->front ? own : block_index() * back + warp - p->front;
    u32 number = piece / parts;
    spike row = queue[number < p->neurons ? number : 0];
    u32 pieces = e->lengths[t & (LENGTHS - 1)] * parts;
    const i32 *values = room_at<i32>(s, s->at_values);
    u64 fired = e->back > 0 ? t + e->back - 1 : t;
#pragma unroll 1
    while (piece < pieces) {
        u32 count = (u32)row.count, each = (count + parts - 1) / parts, from = (piece - number * parts) * each, end = from + each < count ? from + each : count;
        deliver_synapses<false>(p, fired, values, row.first, from + lane(), end);
        piece = piece < apart ? own : piece + warps * blocks;
        number = piece / parts;
        if (piece < pieces) row = queue[number];
    }
}

// list_late tells the host who of the block's neurons fired in burst t, ascending, by a warp, and brings their rows closer.
DEVICE void list_late(const run *p, u64 t, const resident *s, late_room *m) {
    const u32 *bits = bits_at(p, s, t);
    u32 words = p->block_neurons / 32, each = (words + 31) / 32, from = lane() * each, until = from + each < words ? from + each : words, sum = 0;
#pragma unroll 1
    for (u32 w = from; w < until; w++) sum += ones(bits[w]);
    u32 before = sum_before(&m->total, sum);
    warp_barrier();
    u32 total = m->total, *ids = for_host(p, t);
    bool listed = total <= host_room(p);
    stock rows = stock_of(s);
#pragma unroll 1
    for (u32 w = from; w < until; w++) {
        u32 rest = bits[w];
        if (!listed) ids[w] = rest;
#pragma unroll 1
        for (; listed && rest != 0; rest &= rest - 1) ids[before++] = block_index() * p->block_neurons + 32 * w + ones((rest & -rest) - 1);
    }
    if (lane() == 0) report(p, t, total);
    if (!listed) return;
#pragma unroll 1
    for (u32 w = 0; w < words; w++)
#pragma unroll 1
        for (u32 rest = bits[w]; rest != 0; rest &= rest - 1) {
            u32 k = 32 * w + ones((rest & -rest) - 1);
            u64 row = rows.first_row + rows.rows[k], end = rows.first_row + rows.rows[k + 1];
#pragma unroll 1
            for (u64 i = row + SECTOR * 4 * lane(); i < end; i += SECTOR * 4 * 32) {
                bring_closer(p->all.target + i);
                if (p->all.weight != nullptr) bring_closer(p->all.weight + i);
            }
        }
}

// tell_late tells the host of one burst after the other, by a thread.
DEVICE void tell_late(const run *p, const late_room *m) {
    for (u32 told = 0; told < p->bursts;)
        for (u32 complete = load_block(&m->turns.complete); told < complete;) tell(p, ++told);
}

// give_late is the genome's stimuli of burst t.
DEVICE void give_late(const run *p, u64 t) {
    give_scheduled(p, t, (u64)block_index() * late_workers() + anew(thread_in_block()), (u64)anew(block_count()) * late_workers());
}

// late_loop is the law of many bursts for these networks.
//
//	for t := first; t < first + bursts; t++ {
//		for n := range neurons { if b.fires(n) { queues[t] = append(queues[t], n) } }
//		deliver the rows of queues[t-apart], and the stimuli of burst t + apart
//	}
//	deliver the rows that are left
//
// In turn 0 blocks draw for the first burst, and wait for each other.
DEVICE void late_loop(const run *p, const late_queues *e, resident *s, late_room *m) {
    u32 warp = anew(thread_in_block()) / 32, lister = late_workers() / 32 - 1, warps = lister - drawers(p);
    u64 end = p->first + p->bursts;
#pragma unroll 1
    for (u32 j = 1; j < e->apart && j <= p->bursts; j++) give_late(p, p->first + j - 1);
    u64 t = p->first - 1;
#pragma unroll 1
    for (u32 number = 0; number <= (u32)p->bursts + e->apart; number++, t++) {
        bool updates = number > 0 && t < end, goes_on = t + 1 < end;
        if (t + e->apart < end) give_late(p, t + e->apart);
        if (number == 0) {
            late_barrier();
            if (thread_in_block() == 0) store_block(&m->turns.done, 1);
        }
        if (warp < warps) {
            if (warp < p->front && updates) {
                update_late(p, e, t, s, m);
                if (p->wanted.count > 0) {
                    front_barrier(p);
                    bring_values(p, t, room_at<float>(s, s->at_v), room_at<float>(s, s->at_more), p->block_neurons, true, 32 * p->front);
                    front_barrier(p);
                }
            }
            if (number > e->apart) deliver_late(p, e, t - e->apart, s, warp, warps);
        } else if (warp < lister) {
            if (goes_on) draw_late(p, t + 1, s, warp - warps);
        } else {
            if (block_index() == 0 && lane() == 0) e->lengths[(t + e->apart) & (LENGTHS - 1)] = 0;
            if (number > 1 && t <= end) list_late(p, t - 1, s, m);
            if (goes_on) terms_late(p, t + 1, s, m);
            if (lane() == 0) await_turns(&m->turns, number + 2 > e->apart + 1 ? number + 2 - e->apart : 1);
        }
        late_barrier();
        if (thread_in_block() == 0) store_block(&m->turns.done, number + 1);
    }
}
