#pragma once
#include "run_bursts.cu"

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
    u32 room;      // bytes of a block's memory before what event_memory has
};

// FOUND is how many neurons with inputs a warp may have found and not updated yet: it looks at 128 at a time, and updates 32.
const u32 FOUND = 160;

// Of the first NEAR_AREAS areas a block's memory has the first NEAR entries of the table of decay, which lif_event needs most.
const u32 NEAR_AREAS = 8, NEAR = 512;

// event_memory is where what a block needs beside its struct block lies.
struct event_memory {
    u32 *bits;        // who fires, a bit a neuron: of two bursts by turns, one that is updated and one that the host hears of
    candidate *found; // of each warp; a port is a place among the block's neurons here
    float *near;
    cell *cells;
};

DEVICE event_memory event_memory_of(const run *p, const event_lists *e) {
    u8 *room = dynamic_memory() + e->room;
    event_memory m;
    m.bits = take<u32>(&room, 2 * (p->block_neurons / 32));
    m.found = take<candidate>(&room, FOUND * (block_size() / 32 - 1));
    m.near = take<float>(&room, NEAR * (p->w.area_count < NEAR_AREAS ? p->w.area_count : NEAR_AREAS));
    m.cells = e->cells == nullptr ? (cell *)room : e->cells + block_index() * p->block_neurons;
    return m;
}

DEVICE u32 *bits_of(const run *p, const event_memory *m, u64 t) { return m->bits + (u32)(t % 2) * (p->block_neurons / 32); }

// next_place is the place of the next burst's queue.
DEVICE u32 next_place(const event_lists *e, u32 at) { return at + 1 == e->depth ? 0 : at + 1; }

// cells_copy makes the cells of the block's neurons, or with back their state; t is the burst before the next one.
DEVICE void cells_copy(const run *p, const block *s, const event_memory *m, u64 t, bool back) {
    u32 begin = block_index() * p->block_neurons, place = s->from;
#pragma unroll 1
    for (u32 k = thread_in_block(); k < own(p); k += block_size()) {
        u32 n = begin + k;
        while (s->w.areas[place].end <= n) place++;
        if (s->w.areas[place].model != LIF_EVENT) continue;
        if (!back) {
            m->cells[k] = cell{p->w.v[n], (u32)t + p->w.refractory[n] - p->w.count[n]};
            continue;
        }
        cell c = m->cells[k];
        i32 age = (i32)((u32)t - c.last);
        p->w.v[n] = c.v;
        p->w.refractory[n] = (u16)(age < 0 ? -age : 0);
        p->w.count[n] = (u16)(age < 0 ? 0 : saturated((u32)age));
    }
}

// deliver_due is step 1 for burst t: rows of who fired lag bursts before, whose queue has a place. The last warps have what is to be done
// first, as the first ones have neurons to update where there are few.
DEVICE void deliver_due(const run *p, const event_lists *e, u64 t, u32 place) {
    u32 rows = e->lengths[((u32)t - e->lag) & e->length_mask], parts_log = p->parts_log, each = block_size() / 32 - 1;
    u32 warps = each * block_count(), warp = (each - anew(thread_in_block()) / 32) * block_count() + block_index();
    const u32 *queue = e->queues + (u64)place * e->all;
    while (parts_log < p->most_parts_log && (u64)rows << parts_log < warps) parts_log++;
#pragma unroll 1
    for (u64 item = warp; item < (u64)rows << parts_log; item += warps) {
        u32 n = queue[item >> parts_log];
        u64 first = p->row[n], count = p->row[n + 1] - first, part = item & ((1ull << parts_log) - 1);
        add_synapses(p, (u32)t - e->back, first + (count * part >> parts_log), first + (count * (part + 1) >> parts_log));
    }
}

// near_copy fills the tables of decay.
DEVICE void near_copy(const run *p, const block *s, const event_memory *m) {
    for (u32 place = 0; place < p->w.area_count && place < NEAR_AREAS; place++) {
        const area *a = s->w.areas + place;
        if (a->model == LIF_EVENT) copy(m->near + place * NEAR, p->w.constants + a->program, a->refractory < NEAR ? a->refractory : NEAR);
    }
}

// lif_event_fires is the model's step 4 for the i-th neuron of an area, a candidate with this sum; near is the part of its table that
// is at hand, or null.
DEVICE bool lif_event_fires(const network *w, const area *a, const float *near, u32 i, cell *own, i32 sum) {
    cell c = *own;
    i32 age = (i32)((u32)w->t - c.last);
    if (age <= 0) return false; // 4a
    const float *k = constants_of(w, a, i);
    u32 since = saturated((u32)age); // 4b
    if (since >= a->refractory) since = a->refractory - 1;
    float factor = near != nullptr && since < NEAR ? near[since] : w->constants[a->program + since];
    float x = c.v * factor + input(w, sum); // 4c
    bool fires = x >= k[0];                 // 4d
    *own = cell{fires ? k[1] : x, (u32)w->t + (fires ? (u32)k[2] : 0)};
    return fires;
}

// stretch_of_area is what a warp has to update: the block's neurons from ≤ k < until, the (ahead + k)-th ones of their area.
struct stretch_of_area {
    const area *a;
    const float *near;
    u32 from, until, ahead;
    i32 *sums;      // that of the block's k-th neuron is sums[first + k]
    u32 first;
    u32 *bits;      // of who fires
    candidate *list;
    u32 listed;
};

// sums_of_four takes the sums of the neurons k to k + 3 of a stretch out of the ring, for those that are in it.
DEVICE four sums_of_four(const stretch_of_area *x, i32 k) {
    four f = {};
    i32 from = (i32)x->from, until = (i32)x->until;
    if (k >= until || k + 3 < from) return f;
    i32 *at = x->sums + (u32)(x->first + k);
    if (k >= from && k + 4 <= until) {
        f = *(const four *)at;
        if ((f.word[0] | f.word[1] | f.word[2] | f.word[3]) != 0) *(four *)at = four{};
        return f;
    }
#pragma unroll
    for (u32 j = 0; j < FOUR; j++)
        if (k + (i32)j >= from && k + (i32)j < until) f.word[j] = (u32)sum_of(at + j);
    return f;
}

// list_found lists the lanes' neurons, one each, if sums are not 0. All lanes of the warp must call it.
DEVICE void list_found(stretch_of_area *x, u32 k, i32 sum) {
    u32 some = vote(sum != 0);
    if (sum != 0) x->list[x->listed + ones(some & ((1u << lane()) - 1))] = candidate{k, sum};
    x->listed += ones(some);
}

// note_fired notes that the block's k-th neuron fires.
DEVICE void note_fired(u32 *bits, u32 k) { add((i32 *)bits + k / 32, (i32)(1u << k % 32)); }

// update_listed updates neurons of the list, 32 at a time, while there are so many.
DEVICE void update_listed(const block *s, const event_memory *m, stretch_of_area *x, u32 least) {
    warp_barrier();
#pragma unroll 1
    while (x->listed >= least) {
        u32 left = x->listed < 32 ? 0 : x->listed - 32;
        if (lane() < x->listed - left) {
            candidate c = x->list[left + lane()];
            if (lif_event_fires(&s->w, x->a, x->near, x->ahead + c.port, m->cells + c.port, c.sum)) note_fired(x->bits, c.port);
        }
        x->listed = left;
    }
    warp_barrier();
}

// update_found is steps 2 to 4 for a stretch of an area of lif_event. Sums are on their way for 256 neurons while those before are looked at.
DEVICE void update_found(const block *s, const event_memory *m, stretch_of_area *x) {
    i32 k = (i32)x->from - (i32)((x->first + x->from) % FOUR) + (i32)(FOUR * lane()), step = 32 * FOUR;
    four now = sums_of_four(x, k), next = sums_of_four(x, k + step);
#pragma unroll 1
    for (i32 end = (i32)x->until + (i32)(FOUR * lane()); k < end; k += step) {
        four after = sums_of_four(x, k + 2 * step);
#pragma unroll
        for (u32 j = 0; j < FOUR; j++) list_found(x, (u32)k + j, (i32)now.word[j]);
        update_listed(s, m, x, k + step < end ? 32 : 1);
        now = next;
        next = after;
    }
}

// update_driven is update_found where drives act in every burst.
DEVICE void update_driven(const block *s, const event_memory *m, stretch_of_area *x) {
#pragma unroll 1
    for (u32 k = x->from; k < x->until; k += 32) {
        i32 sum = 0;
        if (k + lane() < x->until) {
            sum = sum_of(x->sums + (u32)(x->first + k + lane()));
#pragma unroll 1
            for (u32 d = x->a->first_drive; d < x->a->first_drive + x->a->drives; d++)
                sum += amount_of(s->drives + d, s->counts, s->table, s->w.seed, x->ahead + k + lane(), s->w.t);
        }
        list_found(x, k + lane(), sum);
        update_listed(s, m, x, k + 32 < x->until ? 32 : 1);
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

// update_events is steps 2 to 5 of burst t for the block's neurons. Each warp but the first has a part of those of each area, as those of
// some models take longer than others.
DEVICE void update_events(const run *p, const event_lists *e, u64 t, block *s, const event_memory *m, u32 at) {
    u32 begin = block_index() * p->block_neurons, end = begin + own(p), warps = block_size() / 32 - 1, turn = anew(thread_in_block()) / 32 - 1;
    u32 *bits = bits_of(p, m, t);
    i32 *slot = p->ring + (t & p->slot_mask) * p->ports;
#pragma unroll 1
    for (u32 place = s->from; begin < end && place < p->w.area_count && s->w.areas[place].first < end; place++) {
        const area *a = s->w.areas + place;
        u32 low = a->first > begin ? a->first - begin : 0, high = (a->end < end ? a->end : end) - begin;
        if (low >= high || asleep(a, t)) continue;
        u32 each = (high - low + 32 * warps - 1) / (32 * warps) * 32, from = low + turn * each, until = from + each < high ? from + each : high;
        u32 used = (high - low + each - 1) / each;
        turn = turn >= used ? turn - used : turn + warps - used; // the next area begins with the next warp
        if (from >= high) continue;
        if (a->model == LIF_EVENT) {
            stretch_of_area x = {a, place < NEAR_AREAS ? m->near + place * NEAR : nullptr, from, until, begin - a->first, slot,
                                 a->first_port + begin - a->first, bits, m->found + (thread_in_block() / 32 - 1) * FOUND, 0};
            if (a->drives > 0) update_driven(s, m, &x);
            else update_found(s, m, &x);
        } else {
#pragma unroll 1
            for (u32 k = from + lane(); k < until; k += 32) {
                inputs in = {};
                if (fires<ALL_MODELS | 1 << PSC_EXP_EVENT, false>(p, s, &s->w, slot, place, begin + k, begin + k, &in)) note_fired(bits, k);
            }
        }
        queue_fired(p, bits, from, until, e->queues + (u64)at * e->all, e->lengths + ((u32)t & e->length_mask));
    }
}

// bring_fired is for the host, by the block's first warp: who of the block's neurons fired in burst t. It clears the bits.
DEVICE void bring_fired(const run *p, u64 t, block *s, u32 *bits) {
    u32 words = p->block_neurons / 32, each = (words + 31) / 32, from = lane() * each, until = from + each < words ? from + each : words;
    u32 sum = 0;
#pragma unroll 1
    for (u32 w = from; w < until; w++) sum += ones(bits[w]);
    u32 before = sum_before(&s->in_groups, sum);
    warp_barrier();
    u32 total = s->in_groups, *ids = for_host(p, t);
    if (lane() == 0) report(p, t, total);
    bool listed = total <= host_room(p);
    if (!listed) bring_bits(p, t, bits, 32);
    warp_barrier();
#pragma unroll 1
    for (u32 w = from; w < until; w++) {
        u32 rest = bits[w];
        if (rest != 0) bits[w] = 0;
#pragma unroll 1
        for (; listed && rest != 0; rest &= rest - 1) ids[before++] = block_index() * p->block_neurons + 32 * w + ones((rest & -rest) - 1);
    }
}

// reads is what a state variable of the block's k-th neuron reads after burst t: connectome.Area.Reads.
DEVICE float reads(const run *p, const block *s, const event_memory *m, u64 t, u32 k, u32 variable) {
    const network *w = &s->w;
    u32 n = block_index() * p->block_neurons + k;
    const area *a = area_of(w->areas, w->area_count, n);
    const float *decay = w->constants + a->program;
    if (a->model == LIF_EVENT && variable == 0) {
        cell c = m->cells[k];
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
DEVICE void bring_read(const run *p, const block *s, const event_memory *m, u64 t) {
    const probes *x = &p->wanted;
    float *to = x->values + (t - p->first) * x->count;
    u32 end = x->first[block_index() + 1];
#pragma unroll 1
    for (u32 i = x->first[block_index()] + thread_in_block(); i < end; i += block_size()) {
        probe one = x->list[i];
        to[one.place] = reads(p, s, m, t, one.neuron, one.variable);
    }
}

// meet_events is grid_barrier; meanwhile what is the same for all neurons in burst next is worked out.
DEVICE void meet_events(const run *p, block *s, u64 next, u32 *wanted) {
    block_barrier();
    *wanted += block_count();
    if (thread_in_block() == 0) {
        arrive(p->arrived);
        s->w.t = next; // the law's step 4 reads it
    }
    u32 k = block_size() - 1 - thread_in_block();
    if (k < p->w.area_count && k < COMMON && !s->w.areas[k].differ) s->common[k] = term_at(&s->w, s->w.areas + k, 0, next);
    if (thread_in_block() == 0)
        while (acquire_word(p->arrived) < *wanted) {}
    block_barrier();
}

// event_bursts is the law of many bursts in one launch, whose blocks all run at once. The first warp of a block tells the host, while the
// others compute the next burst.
//
//	for t := first; t < first + bursts; t++ {
//		deliver the rows of queues[t-lag], and the stimuli; with lag > 1 this is done for burst t + 1 while burst t is updated
//		for n := range neurons { if b.fires(n) { queues[t] = append(queues[t], n) } }
//	}
KERNEL_OF_1024 event_bursts(run p, event_lists e) {
    SHARED(block, s);
    lay_out(&p, dynamic_memory(), &s, false);
    begin_launch(&p);
    block_barrier();
    event_memory m = event_memory_of(&p, &e);
    cells_copy(&p, &s, &m, p.first - 1, false);
    near_copy(&p, &s, &m);
    for (u32 w = thread_in_block(); w < 2 * (p.block_neurons / 32); w += block_size()) m.bits[w] = 0;
    u32 at = e.at, due = e.at >= e.lag ? e.at - e.lag : e.at + e.depth - e.lag, wanted = 0;
    u64 thread = (u64)block_index() * block_size() + thread_in_block(), threads = (u64)block_count() * block_size();
    bool first = thread_in_block() < 32, updates = false; // whether burst t is updated in this turn
    for (u64 t = p.first - 1;;) {
        bool last = t + 1 == p.first + p.bursts, delivers = !last && (e.lag > 1 || !updates);
        if (delivers) give_scheduled(&p, t + 1, thread, threads);
        if (!first) {
            if (delivers) deliver_due(&p, &e, t + 1, due);
            if (updates) update_events(&p, &e, t, &s, &m, at);
        } else if (updates) {
            if (t > p.first) bring_fired(&p, t - 1, &s, bits_of(&p, &m, t - 1));
            if (block_index() == 0 && lane() == 0) e.lengths[(u32)(t + 1) & e.length_mask] = 0;
        }
        if (updates && p.wanted.count > 0) {
            block_barrier();
            bring_read(&p, &s, &m, t);
        }
        meet_events(&p, &s, delivers ? t + 1 : t, &wanted);
        if (updates && t > p.first) announce(&p, t - 1);
        if (updates) at = next_place(&e, at);
        if (updates && last) break;
        updates = delivers;
        if (delivers) {
            t++;
            due = next_place(&e, due);
        }
    }
    u64 newest = p.first + p.bursts - 1;
    if (first) bring_fired(&p, newest, &s, bits_of(&p, &m, newest));
    cells_copy(&p, &s, &m, newest, true);
    meet_events(&p, &s, newest, &wanted);
    announce(&p, newest);
}
