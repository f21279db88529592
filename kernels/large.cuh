// Networks that are too large for the second cache: rows that wait until their synapses are due, and draws for many neurons at a time.
#pragma once
#include "run.cuh"

#ifdef BURST_LARGE
DEVICE bool rows_wait(const run *p) { return p->waits != nullptr; }
DEVICE bool draws_many(const run *p) { return p->by_four; }

// TURN is how many synapses a lane loads before it adds the first.
const u32 TURN = 2;

// synapse_turn is those of a warp's lanes from synapse first on, of which none is at or beyond end.
struct synapse_turn {
    u32 port[TURN], delay[TURN];
    i32 weight[TURN];
};

DEVICE synapse_turn load_turn(const run *p, u64 first, u64 end) {
    synapse_turn x = {}; // left undefined they would be kept from turn to turn
#pragma unroll
    for (u32 j = 0; j < TURN; j++) {
        u64 k = first + 32 * j + lane();
        if (k >= end) continue;
        u32 word = p->all.target[k];
        x.port[j] = port_of(&p->all, word);
        x.weight[j] = weight_of(&p->all, k, word);
        x.delay[j] = delay_of(p, k);
    }
    return x;
}

// deliver_far delivers what does not wait of a row that fired in burst t − 1, the synapses with delays above longest, and gives where these
// begin. It goes from the row's end on, so that nobody has to look for them.
DEVICE u64 deliver_far(const run *p, u64 t, spike row, u32 longest) {
    u64 first = row.first, end = row.first + row.count;
#pragma unroll 1
    while (end > first) {
        u64 from = end - first > 32 * TURN ? end - 32 * TURN : first;
        synapse_turn x = load_turn(p, from, end);
        u32 count = 0;
#pragma unroll
        for (u32 j = 0; j < TURN; j++) {
            bool far = x.delay[j] > longest; // what is beyond the end has delay 0
            count += ones(vote(far));
            if (far) accumulate(p->ring + (u64)(((u32)t - 1 + x.delay[j]) & p->slot_mask) * p->ports + x.port[j], x.weight[j]);
        }
        if (count < end - from) return end - count;
        end = from;
    }
    return first;
}

// deliver_due delivers those synapses of a waiting row that are due in burst t.
DEVICE void deliver_due(const run *p, u64 t, waiting *w) {
    i32 *slot = p->ring + (u64)((u32)t & p->slot_mask) * p->ports;
#pragma unroll 1
    for (u32 count = 32 * TURN; count == 32 * TURN && w->left > 0;) {
        synapse_turn x = load_turn(p, w->next, w->next + w->left);
        count = 0;
#pragma unroll
        for (u32 j = 0; j < TURN; j++) {
            bool due = x.delay[j] == (u32)t - w->fired;
            count += ones(vote(due));
            if (due) accumulate(slot + x.port[j], x.weight[j]);
        }
        w->next += count;
        w->left -= count;
    }
}

// waits_of is how many rows of who fired in burst t − 1 begin to wait; for others there is no room.
DEVICE u32 waits_of(const run *p, u64 t, const block *s) {
    u32 room = p->waits_mask + 1 - (s->waits_from[t % WAITS] - s->waits_from[(t + 1 - p->waits_longest) % WAITS]), count = queued(p, t, s);
    return count < room ? count : room;
}

// deliver_in_turn is deliver where sums of all bursts to come are more than the second cache holds: a warp delivers what is due of each
// waiting row, and what does not wait of a new one, so that most additions go to the sums of one burst.
DEVICE void deliver_in_turn(const run *p, u64 t, const block *s) {
    u32 fresh = queued(p, t, s), places = waits_of(p, t, s), end = s->waits_from[t % WAITS];
    u32 begin = s->waits_from[(t + 1 - p->waits_longest) % WAITS], items = fresh + (end - begin);
    u32 warps = anew(block_count()) * block_size() / 32;
#pragma unroll 1
    for (u32 item = (anew(block_index()) * block_size() + anew(thread_in_block())) / 32; item < items; item += warps) {
        waiting *place = p->waits + ((item < fresh ? end + item : begin + item - fresh) & p->waits_mask), w;
        if (item < fresh) {
            spike row = row_of(p, t, s, item);
            u64 until = deliver_far(p, t, row, item < places ? p->waits_longest : 0);
            w = waiting{row.first, (u32)(until - row.first), (u32)t - 1};
        } else {
            w = *place;
        }
        deliver_due(p, t, &w);
        warp_barrier(); // all have read it
        if (lane() == 0 && (item >= fresh || item < places)) *place = w;
    }
}

// begin_waits counts those of burst t − 1 that wait, before who fires in burst t is queued.
DEVICE void begin_waits(const run *p, u64 t, block *s) {
    if (rows_wait(p) && thread_in_block() == 0) s->waits_from[(t + 1) % WAITS] = s->waits_from[t % WAITS] + waits_of(p, t, s);
}

// take_waits brings where rows begin to wait into the block's memory, and leave_waits back.
DEVICE void take_waits(const run *p, block *s) {
    if (!rows_wait(p)) return;
    for (u32 i = thread_in_block(); i < WAITS; i += block_size()) s->waits_from[i] = p->waits_from[i];
}
DEVICE void leave_waits(const run *p, const block *s) {
    if (!rows_wait(p) || block_index() > 0) return;
    for (u32 i = thread_in_block(); i < WAITS; i += block_size()) p->waits_from[i] = s->waits_from[i];
}

// So many words of 32 neurons are drawn for at a time, four neurons a lane.
const u32 WORDS = 4;

// bring_four brings the state and the sums of neuron n of an area, and of the three after it, closer.
DEVICE void bring_four(const run *p, const block *s, const i32 *slot, const area *a, u32 n) {
    u32 port = a->first_port + n - a->first;
    bring_closer(slot + port);
    if (a->ports > 1) bring_closer(slot + port + (a->end - a->first));
    if (p->cached) return;
    bring_closer(s->w.v + n);
    bring_closer(s->w.refractory + n);
#pragma unroll 1
    for (u32 k = 0; k < s->w.variables; k++) bring_closer(s->w.more + k * s->w.pitch + n);
}

// drive_four is the drives' part of step 2 for neurons n to n + 3, which share a draw: what reaches their first ports, and 32·WORDS places on
// their second ones. The first one's area is the place-th or a later one.
DEVICE void drive_four(const run *p, const block *s, const i32 *slot, u32 *place, u32 n, i32 *first) {
    const network *w = &s->w;
    i32 *second = first + 32 * WORDS;
#pragma unroll
    for (u32 j = 0; j < 4; j++) first[j] = second[j] = 0;
#pragma unroll 1
    while (!s->alone && w->areas[*place].end <= n) ++*place;
    bring_four(p, s, slot, w->areas + *place, n);
    u32 from = n;
#pragma unroll 1
    for (u32 q = *place; from < n + 4 && q < w->area_count; q++) { // one area's after the other's
        const area *a = w->areas + q;
#pragma unroll 1
        for (u32 k = a->first_drive; k < a->first_drive + a->drives; k++) {
            i32 amounts[4];
            amounts_of(s->drives + k, s->counts, s->table, w->seed, n, w->t, amounts);
            u32 seconds = s->drives[anew(k)].seconds;
#pragma unroll
            for (u32 j = 0; j < 4; j++)
                if (n + j >= from && n + j < a->end) *(for_second(seconds, amounts[j]) ? second + j : first + j) += amounts[j];
        }
        from = a->end;
    }
}

// fires_drawn is fires where what drives add is in in already. All loads come before the first store, so that they do not wait for each
// other.
template <u32 models> DEVICE bool fires_drawn(const block *s, i32 *slot, u32 place, u32 n, u32 at, inputs *in) {
    const network *w = &s->w;
    const area *a = w->areas + place;
    u32 i = n - a->first, port = a->first_port + i, next = port + (a->end - a->first);
    inputs sum = {a->ports > 0 ? slot[port] : 0, a->ports > 1 ? slot[next] : 0};
    in->first += sum.first;
    in->second += sum.second;
    float term = a->differ || place >= COMMON ? term_of(w, a, i) : s->common[place];
    bool yes = update<models>(w, a, i, at, in->first, in->second, term);
    if (sum.first != 0) slot[port] = 0; // 7
    if (sum.second != 0) slot[next] = 0;
    return yes;
}

// update_drawn is update_block for blocks of many neurons: a warp draws for WORDS words of 32 neurons at a time, four neurons a lane.
template <u32 models> DEVICE void update_drawn(const run *p, u64 t, block *s) {
    u32 begin = block_index() * p->block_neurons, count = own(p);
    i32 *slot = p->ring + (t & p->slot_mask) * p->ports;
    u32 place = s->from, ahead = s->from; // of areas, which ascend with the neurons
    u32 warp = anew(thread_in_block()) / 32;
    i32 *amounts = s->amounts + 2 * 32 * WORDS * warp;
#pragma unroll 1
    for (u32 first = 32 * WORDS * warp; first < p->block_neurons; first += WORDS * block_size()) {
        if (first + 4 * lane() < count) drive_four(p, s, slot, &ahead, neuron_of(p->w.own, begin + first + 4 * lane()), amounts + 4 * lane());
        warp_barrier();
#pragma unroll 1
        for (u32 j = lane(); j < 32 * WORDS && first + j < p->block_neurons; j += 32) {
            u32 k = first + j, n = neuron_of(p->w.own, begin + k);
            while (!s->alone && k < count && s->w.areas[place].end <= n) place++;
            inputs in = {amounts[j], amounts[32 * WORDS + j]};
            store_bits(s->bits + k / 32, k < count && fires_drawn<models>(s, slot, place, n, p->cached ? k : n, &in));
            if (lane() == 0 && s->bits[k / 32] != 0) add((i32 *)s->total + t % 2, (i32)ones(s->bits[k / 32]));
        }
        warp_barrier(); // all have read what the next draws replace
    }
}
#else // other units do not ask
DEVICE bool rows_wait(const run *) { return false; }
DEVICE bool draws_many(const run *) { return false; }
DEVICE void deliver_in_turn(const run *, u64, const block *) {}
DEVICE void begin_waits(const run *, u64, block *) {}
DEVICE void take_waits(const run *, block *) {}
DEVICE void leave_waits(const run *, const block *) {}
template <u32 models> DEVICE void update_drawn(const run *, u64, block *) {}
#endif
