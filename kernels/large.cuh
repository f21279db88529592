// Networks that are too large for the second cache: rows that wait until their synapses are due, and draws and updates of four neurons a lane.
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

// first_of is the block's first row among those of who fired in burst t − 1. It has every block_count-th one from there on, in each burst
// another first one, as the last blocks may have one less.
DEVICE u32 first_of(u64 t) { return (anew(block_index()) + 53 * (u32)t) % anew(block_count()); }

// waits_of is how many of the block's rows of who fired in burst t − 1 begin to wait; for others there is no room.
DEVICE u32 waits_of(const run *p, u64 t, const block *s) {
    u32 room = p->waits_mask + 1 - (s->waits_from[t % WAITS] - s->waits_from[(t + 1 - p->waits_longest) % WAITS]);
    u32 fresh = queued(p, t, s), first = first_of(t), count = first < fresh ? (fresh - first - 1) / anew(block_count()) + 1 : 0;
    return count < room ? count : room;
}

// place_of_row is the place of a waiting row of the block by its number through all bursts.
DEVICE waiting *place_of_row(const run *p, u32 number) {
    return p->waits + (u64)anew(block_index()) * (p->waits_mask + 1) + (number & p->waits_mask);
}

// deliver_first is deliver where sums of all bursts to come are more than the second cache holds: a warp delivers what is due of each row of
// who fired in burst t − 1, which then waits, or all of it where there is no place.
DEVICE void deliver_first(const run *p, u64 t, block *s) {
    u32 fresh = queued(p, t, s), places = waits_of(p, t, s), end = s->waits_from[t % WAITS];
    if (thread_in_block() == 0) s->waits_from[(t + 1) % WAITS] = end + places, s->taken = 0;
#pragma unroll 1
    for (u32 k = anew(thread_in_block()) / 32, item; (item = first_of(t) + k * anew(block_count())) < fresh; k += anew(block_size()) / 32) {
        spike row = row_of(p, t, s, item);
        waiting w = {row.first, (u32)row.count, (u32)t - 1};
        if (k < places) {
            deliver_due(p, t, &w);
            if (lane() == 0) *place_of_row(p, end + k) = w;
        } else {
            deliver_far(p, t, row, 0);
        }
    }
}

// take_item is the next of the items that the block's warps take.
DEVICE u32 take_item(u32 *taken) {
    u32 item = 0;
    if (lane() == 0) item = fetch_add(taken, 1);
    return shuffle_from(item, 0);
}

// deliver_waiting delivers what is due in burst t + 1 of rows that wait in burst t, so that most additions go to the sums of one burst. It also
// delivers what does not wait of those that began to in burst t, which are first. A warp takes one row after the other, because some take
// several times as long as others; the next one is looked up meanwhile.
DEVICE void deliver_waiting(const run *p, u64 t, block *s) {
    if (!rows_wait(p)) return;
    u32 end = s->waits_from[(t + 1) % WAITS], count = end - s->waits_from[(t + 2 - p->waits_longest) % WAITS], item = take_item(&s->taken);
    waiting next = {};
    if (item < count) next = *place_of_row(p, end - 1 - item);
#pragma unroll 1
    while (item < count) {
        waiting w = next, *place = place_of_row(p, end - 1 - item);
        item = take_item(&s->taken);
        if (item < count) next = *place_of_row(p, end - 1 - item);
        if (w.fired + 1 == (u32)t) w.left = (u32)(deliver_far(p, t, spike{w.next, w.left}, p->waits_longest) - w.next);
        deliver_due(p, t + 1, &w);
        warp_barrier(); // all have read it
        if (lane() == 0) *place = w;
    }
}

// take_waits brings where the block's rows begin to wait into its memory, and leave_waits back.
DEVICE void take_waits(const run *p, block *s) {
    if (!rows_wait(p)) return;
    for (u32 i = thread_in_block(); i < WAITS; i += block_size()) s->waits_from[i] = p->waits_from[block_index() * WAITS + i];
}
DEVICE void leave_waits(const run *p, const block *s) {
    if (!rows_wait(p)) return;
    for (u32 i = thread_in_block(); i < WAITS; i += block_size()) p->waits_from[block_index() * WAITS + i] = s->waits_from[i];
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

// drive_four is the drives' part of step 2 for neurons n to n + 3, which share a draw: what reaches their first ports, and their second
// ones. The first one's area is the place-th or a later one.
DEVICE void drive_four(const run *p, const block *s, const i32 *slot, u32 *place, u32 n, i32 *first, i32 *second) {
    const network *w = &s->w;
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
            for (u32 j = 0; j < 4; j++) {
                bool has = n + j >= from && n + j < a->end, other = for_second(seconds, amounts[j]);
                first[j] += has && !other ? amounts[j] : 0;
                second[j] += has && other ? amounts[j] : 0;
            }
        }
        from = a->end;
    }
}

// by_fours reports whether a thread updates four neurons.
template <u32 models> DEVICE bool by_fours() { return models == 1 << PSC_EXP || models == 1 << LIF; }

// take_sums adds to sums what the ring has for the ports from the port-th on, those of neurons from ≤ j < until of four, and sets it to 0.
DEVICE void take_sums(i32 *slot, u32 port, u32 from, u32 until, i32 *sums) {
    i32 more[4];
#pragma unroll
    for (u32 j = 0; j < 4; j++) more[j] = from <= j && j < until ? slot[port + j] : 0;
#pragma unroll
    for (u32 j = 0; j < 4; j++) {
        sums[j] += more[j];
        if (more[j] != 0) slot[port + j] = 0; // 7
    }
}

// update_four is steps 3, 4 and 7 for the block's neurons from the k-th on, four or what is left, of which the first is neuron n of the place-th
// area: what drives add to their ports is in first and second already. It says which fire, a bit each.
template <u32 models> DEVICE u32 update_four(const run *p, const block *s, i32 *slot, u32 place, u32 k, u32 n, i32 *first, i32 *second) {
    const network *w = &s->w;
    const bool two = models == 1 << PSC_EXP; // ports
    u32 at = p->cached ? k : n, left = own(p) - k, answers = 0;
    floats *to_v = (floats *)(w->v + at), *to_ex = (floats *)(w->more + at), *to_in = (floats *)(w->more + w->pitch + at);
    halves *to_refractory = (halves *)(w->refractory + at);
    floats v = *to_v, ex = {}, in = {};
    halves refractory = *to_refractory;
    if (two) ex = *to_ex, in = *to_in;
    network units = {}; // in registers, so that the scale's reciprocal is worked out once
    units.scale = w->scale;
#pragma unroll 1
    for (u32 from = 0; from < 4 && from < left;) { // one area's after the other's; one after the other if they differ in their terms
        const area *a = w->areas + place;
        u32 until = a->differ ? from + 1 : a->end - n < left ? a->end - n : left, port = a->first_port + n - a->first;
        take_sums(slot, port, from, until, first);
        if (two) take_sums(slot, port + (a->end - a->first), from, until, second);
        float term = a->differ || place >= COMMON ? term_of(w, a, n + from - a->first) : s->common[place];
#pragma unroll
        for (u32 j = 0; j < 4; j++) {
            if (j < from || j >= until) continue;
            const float *c = constants_of(w, a, n + j - a->first);
            bool yes = two ? psc_exp(c, input(&units, first[j]), input(&units, second[j]), term, v.at + j, ex.at + j, in.at + j, refractory.at + j)
                           : lif(c, input(&units, first[j]), term, v.at + j, refractory.at + j);
            answers |= (u32)yes << j;
        }
        from = until;
        if (n + from >= a->end) place++;
    }
    *to_v = v;
    if (two) *to_ex = ex, *to_in = in;
    *to_refractory = refractory;
    return answers;
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
    for (u32 word = 32 * WORDS * warp; word < p->block_neurons; word += WORDS * block_size()) {
        u32 four = word + 4 * lane(), n = neuron_of(p->w.own, begin + four), answers = 0;
        i32 first[4] = {}, second[4] = {};
        if (four < count) drive_four(p, s, slot, &ahead, n, first, second);
        if (by_fours<models>()) {
            if (four < count) answers = update_four<models>(p, s, slot, ahead, four, n, first, second);
            bool some = four < p->block_neurons;
            store_nibbles(s->bits + four / 32, answers, some);
            if (answers != 0) add((i32 *)s->total + t % 2, (i32)ones(answers));
            continue;
        }
#pragma unroll
        for (u32 j = 0; j < 4; j++) amounts[4 * lane() + j] = first[j], amounts[32 * WORDS + 4 * lane() + j] = second[j];
        warp_barrier();
#pragma unroll 1
        for (u32 j = lane(); j < 32 * WORDS && word + j < p->block_neurons; j += 32) {
            u32 k = word + j, n = neuron_of(p->w.own, begin + k);
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
DEVICE void deliver_first(const run *, u64, block *) {}
DEVICE void deliver_waiting(const run *, u64, block *) {}
DEVICE void take_waits(const run *, block *) {}
DEVICE void leave_waits(const run *, const block *) {}
template <u32 models> DEVICE void update_drawn(const run *, u64, block *) {}
#endif
