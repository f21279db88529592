// How blocks that keep their neurons' state compute networks of lif_psc_exp with long rows and delays. Whether such a neuron fires in burst
// t + 1 follows from what it has received until burst t. So neurons receive what is due in burst t, and then decide whether they fire in
// burst t + 1. All blocks deliver the rows of those that do during that burst, so that no row is delivered between an update and
// the meeting after it: in a burst some warps update, others deliver, and then blocks wait for each other once.
#pragma once
#include "early_rows.cuh"
#include "meeting.cuh"

// ahead reports whether the network, of lif_psc_exp alone, is computed so.
DEVICE bool ahead(const run *p) { return early(p) && p->delay != nullptr && !lists(&p->list); }

// decide is the drives' part of step 2, and steps 3 and 4c of burst t, for the block's k-th neuron with these sums, if it receives; and the
// rest of step 4 of burst t + 1, if it decides. It says whether the neuron fires then.
DEVICE bool decide(const run *p, const resident *s, const updater *u, u32 k, reached r, bool receives, bool decides) {
    u32 place = r.place & ~SIMPLE;
    const area *a = u->areas + place;
    const network *w = &u->w;
    const float *c = r.place & SIMPLE ? a->k : constants_of(w, a, u->begin + k - a->first);
    float *ex = w->more + k, *in = ex + w->pitch, now_ex = *ex, now_in = *in;
    if (receives) {
        if (r.first != 0) u->slot[r.port] = 0;
        if (r.second != 0) u->slot[r.port + (a->end - a->first)] = 0;
        if (p->drive_count > 0) {
            const i32 *drawn = room_at<i32>(s, s->at_input);
            r.first += drawn[k];
            r.second += drawn[p->block_neurons + k];
        }
        *ex = now_ex = c[3] * now_ex + input(w, r.first);
        *in = now_in = c[4] * now_in + input(w, r.second);
    }
    if (!decides) return false;
    float term = a->differ || place >= COMMON ? term_of(w, a, u->begin + k - a->first) : s->common[place];
    return psc_exp_fires(c, now_ex, now_in, term, w->v + k, w->refractory + k);
}

// queue_row leaves the row of the block's k-th neuron, which fires in burst t, to all blocks.
DEVICE void queue_row(const run *p, u64 t, const stock *from, u32 k) {
    u32 begin = from->rows[k], count = from->rows[k + 1] - begin;
    if (count > 0) p->later[(t & 1) * p->neurons + fetch_add(later_length_of(p, t), 1)] = spike{from->first_row + begin, count};
}

// bring_row_closer starts to bring the row of the block's k-th neuron into the second cache, by a warp.
DEVICE void bring_row_closer(const run *p, const stock *from, u32 k) {
    u64 row = from->first_row + from->rows[k], end = from->first_row + from->rows[k + 1];
#pragma unroll 1
    for (u64 i = row + SECTOR * (anew(thread_in_block()) % 32); i < end; i += SECTOR * 32) {
        bring_closer(p->all.target + i);
        if (p->all.weight != nullptr) bring_closer(p->all.weight + i);
        if (i % (4 * SECTOR) < SECTOR) bring_closer(p->delay + i);
    }
}

// bring_rows_closer is bring_row_closer for all of the block's neurons whose bits say that they fire.
DEVICE void bring_rows_closer(const run *p, const resident *s) {
    const u32 *bits = room_at<u32>(s, anew(s->at_bits));
    stock from = stock_of(s);
#pragma unroll 1
    for (u32 w = anew(thread_in_block()) / 32; w < p->block_neurons / 32; w += workers() / 32)
#pragma unroll 1
        for (u32 rest = bits[w]; rest != 0; rest &= rest - 1) bring_row_closer(p, &from, 32 * w + ones((rest & -rest) - 1));
}

// update_ahead is decide for the block's neurons. Of those who fire in burst t + 1 it leaves the bits and the rows.
template <u32 models> DEVICE void update_ahead(const run *p, u64 t, resident *s, bool receives, bool decides) {
    u32 count = s->own, end = p->block_neurons, step = workers(), k = anew(thread_in_block());
    u32 *bits = room_at<u32>(s, s->at_bits);
    stock from = stock_of(s);
    updater u = {};
    u.w = view<models>(p, s, t + 1);
    u.slot = p->ring + (t & p->slot_mask) * p->ports;
    u.areas = u.w.areas;
    u.begin = anew(block_index()) * end;
    u.at_spans = anew(s->at_spans);
    u.ahead = ~0u;
    reached one = {};
    if (k < count) one = load_sums<models>(p, s, &u, k);
#pragma unroll 1
    for (; k < end; k += step) {
        reached next = {};
        if (k + step < count) next = load_sums<models>(p, s, &u, k + step);
        bool fires = k < count && decide(p, s, &u, k, one, receives, decides);
        store_bits(bits + k / 32, fires);
        if (fires) queue_row(p, t + 1, &from, k);
        one = next;
    }
}

// deliver_queue is step 1 for the rows of who fired in burst t, which the block delivers its part of, or with due for what a launch before
// has left of them that is due at once. A row has so many parts, one for a warp, whatever the queue's length is, so that an entry is on its
// way together with the length. The back's warps have up to two parts, neighbouring ones of a row, as their synapses lie in one page of
// memory; where there are more parts, all warps share the others. length is that of the queue, asked for before the update, which its answer
// needs not wait for.
DEVICE void deliver_queue(const run *p, u64 t, const resident *s, bool due, u32 length) {
    u32 thread = anew(thread_in_block()), warps = workers() / 32, warp = thread / 32, blocks = anew(block_count());
    u32 back = warps - p->front, apart = back * blocks, parts = apart / 32;
    if (parts > p->most_later_parts) parts = p->most_later_parts;
    if (parts < p->later_parts) parts = p->later_parts;
    const spike *queue = due ? p->queue : p->later + (t & 1) * p->neurons;
    u32 own = 2 * apart + block_index() * warps + warp, piece = warp < p->front ? own : block_index() * back + warp - p->front;
    u32 number = piece / parts;
    spike row = queue[number < p->neurons ? number : 0];
    u32 pieces = (due ? *length_of(p, t) : length) * parts;
    const i32 *values = room_at<i32>(s, s->at_values);
#pragma unroll 1
    while (piece < pieces) {
        u32 count = (u32)row.count, each = (count + parts - 1) / parts, from = (piece - number * parts) * each, end = from + each < count ? from + each : count;
        deliver_synapses<false>(p, t, values, row.first, from + thread % 32, end);
        piece = piece < apart ? piece + apart : piece < 2 * apart ? own : piece + warps * blocks;
        number = piece / parts;
        if (piece < pieces) row = queue[number];
    }
}

// bring_values_ahead tells the host the wanted state variables of the block's neurons that have decided on burst t: potentials after
// burst t, others after the burst before.
DEVICE void bring_values_ahead(const run *p, u64 t, const resident *s) {
    const probes *x = &p->wanted;
    if (x->count == 0) return;
    u32 end = x->first[block_index() + 1];
#pragma unroll 1
    for (u32 i = x->first[block_index()] + thread_in_block(); i < end; i += workers()) {
        probe one = x->list[i];
        u64 at = one.variable == 0 ? t : t - 1;
        if (at + 1 == p->first || at == p->first + p->bursts) continue; // another launch's
        x->values[(at - p->first) * x->count + one.place] =
            one.variable == 0 ? room_at<float>(s, s->at_v)[one.neuron] : room_at<float>(s, s->at_more)[(one.variable - 1) * p->block_neurons + one.neuron];
    }
}

// draw_each is drive_block with a thread for each neuron: it takes more instructions in all, and half as long where there are enough threads.
DEVICE void draw_each(const run *p, u64 t, const resident *s) {
    u32 begin = block_index() * p->block_neurons, count = p->drive_count > 0 ? own(p) : 0;
#pragma unroll 1
    for (u32 k = turn_of(); k < count; k += workers()) {
        u32 n = neuron_of(p->w.own, begin + k);
        const area *a = room_at<area>(s, s->at_areas) + (area_at(p, s, n, k) & ~SIMPLE);
        i32 first = 0, second = 0;
#pragma unroll 1
        for (u32 j = a->first_drive; j < a->first_drive + a->drives; j++) {
            const drive *d = room_at<drive>(s, s->at_drives) + j;
            i32 amount = amount_of(d, room_at<u32>(s, s->at_counts), room_at<i32>(s, s->at_table), p->w.seed, n - d->first, t);
            if (for_second(d->seconds, amount)) second += amount;
            else first += amount;
        }
        i32 *to = room_at<i32>(s, s->at_input) + k;
        to[0] = first;
        to[p->block_neurons] = second;
    }
}

// meet_ahead lets all blocks wait for each other before burst t. Meanwhile the block tells the host who fires in burst t, and finds what its
// drives add in it, and the areas' terms in the burst after it, if the launch goes on; and brings rows closer, and tells state variables.
DEVICE void meet_ahead(const run *p, u64 t, resident *s, bool goes_on, bool tells) {
    worker_barrier();
    if (thread_in_block() >= workers() - 32) {
        if (gathered(p)) come<true>(p, s);
        else come<false>(p, s);
    }
    if (tells) bring_values_ahead(p, t, s);
    if (goes_on) {
        find_terms(p, t + 1, s);
        bring_ids(p, t, s);
        draw_each(p, t, s);
        bring_rows_closer(p, s);
    }
    if (thread_in_block() == workers() - 1) {
        if (gathered(p)) all_there<true>(p, s);
        else all_there<false>(p, s);
    }
    worker_barrier();
}

// ahead_loop is burst_loop for these networks. Its first round decides on the first burst, and delivers what another kernel may have left.
template <u32 models> DEVICE void ahead_loop(const run *p, resident *s) {
    bool updates = thread_in_block() < 32 * p->front, last_thread = thread_in_block() == workers() - 1;
    u64 end = p->first + p->bursts;
    find_terms(p, p->first, s);
    worker_barrier();
    for (u64 t = p->first - 1;; t++) {
        bool begun = t + 1 != p->first, goes_on = t + 1 != end;
        u32 length = *later_length_of(p, t);
        if (updates) {
            if (block_index() == 0 && thread_in_block() == 0) *length_of(p, t + 2) = *later_length_of(p, t + 2) = 0; // all have read them in bursts before
            update_ahead<models>(p, t, s, begun, goes_on);
        }
#pragma unroll 1
        for (u32 due = !begun;; due = 0) {
            deliver_queue(p, t, s, due, length);
            if (!due) break;
        }
        if (goes_on) stimulate_blocks(p, t + 1);
        meet_ahead(p, t + 1, s, goes_on, p->wanted.count > 0);
        if (begun && last_thread) store_block(&s->complete, (u32)(t - p->first) + (p->wanted.count == 0));
        if (!goes_on) break;
    }
    if (block_index() == 0 && thread_in_block() == 0) *later_length_of(p, end - 1) = 0; // they are delivered
    if (p->wanted.count == 0) return;
    meet_ahead(p, end, s, false, false); // values of the last burst are told
    if (last_thread) store_block(&s->complete, (u32)p->bursts);
}
