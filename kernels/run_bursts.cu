#pragma once
#include "large.cuh"

// no_learners is what networks that do not learn add to the law of many bursts. learn_bursts.cu has the others.
struct no_learners {};
DEVICE void tell_fired(const no_learners *, u64, u32, u32) {}
DEVICE void tell_total(const no_learners *, u64, u32) {}
DEVICE bool all_learn(const no_learners *) { return false; }
DEVICE void learn_events_of(const no_learners *, const run *, u64, block *, u32 *) {}
DEVICE void learn_rows_of(const no_learners *, u64, i32 *) {}
DEVICE void learn_sweeps_of(const no_learners *, const run *, u64, block *, u32 *) {}
DEVICE void learn_next_of(const no_learners *, const run *, u64, const block *) {}
DEVICE void learn_every_of(const no_learners *, const run *, u64, block *, u32 *) {}

// by_teams reports whether teams of blocks sum rows, which is asked once a launch. Networks that learn, and large ones on path run, have none.
#if defined(BURST_LEARN) || (defined(BURST_LARGE) && !defined(BURST_ONE_UNIT))
DEVICE bool by_teams(const run *) { return false; }
#else
DEVICE bool by_teams(const run *p) { return p->sum.count > 0; }
#endif

// add_synapses adds synapses low ≤ k < high of a neuron that fired in a burst to the sums of the bursts in which they are due, by a warp.
DEVICE void add_synapses(const run *p, u32 fired, u64 low, u64 high) {
    for (u64 k = low + lane(); k < high; k += 128) {
        u32 port[4] = {}, slot[4] = {}; // left undefined they would be kept from turn to turn
        i32 weight[4] = {};
        for (u32 j = 0; j < 4; j++) // all loads before the first addition
            if (k + 32 * j < high) {
                u32 word = p->all.target[k + 32 * j];
                port[j] = port_of(&p->all, word);
                weight[j] = weight_of(&p->all, k + 32 * j, word);
                slot[j] = (fired + delay_of(p, k + 32 * j)) & p->slot_mask;
            }
        for (u32 j = 0; j < 4; j++)
            if (k + 32 * j < high) accumulate(p->ring + (u64)slot[j] * p->ports + port[j], weight[j]);
    }
}

// deliver is step 1: the rows of who fired in burst t − 1.
DEVICE void deliver(const run *p, u64 t, block *s) {
    if (rows_wait(p)) {
        deliver_first(p, t, s);
        return;
    }
    u64 items = (u64)queued(p, t, s) << p->parts_log;
    u64 warps = (u64)anew(block_count()) * block_size() / 32;
    for (u64 item = ((u64)anew(block_index()) * block_size() + anew(thread_in_block())) / 32; item < items; item += warps) {
        spike row = row_of(p, t, s, (u32)(item >> p->parts_log));
        u64 part = item & ((1ull << p->parts_log) - 1);
        u64 low = row.first + (row.count * part >> p->parts_log), high = row.first + (row.count * (part + 1) >> p->parts_log);
        add_synapses(p, (u32)t - 1, low, high);
    }
}

// sum_rows is deliver by teams, into the sums of the block's memory. Two turns are being loaded while one is added, of the next
// row too, whose stretch is there by then, and the number of the row after it.
template <bool table, bool alone> DEVICE void sum_rows_of(const run *p, u64 t, const block *s, u8 *room) {
    const teams *m = &p->sum;
    u32 block = anew(block_index()), team = block % m->count, number = block / m->count, rows = queued(p, t, s);
    u32 i = anew(thread_in_block()) / ROW_THREADS * m->size + number, step = anew(block_size()) / ROW_THREADS * m->size;
    if (number >= m->size || i >= rows) return;
    adder a = adder_of(m, &p->all, team, room);
    stretch now = {}, next = stretch_of(m, team, id_of(p, t, s, i));
    u32 after = id_of(p, t, s, i + step < rows ? i + step : i), k = 0;
    turn one = {}, two = {};
    for (u32 left = 2; left > 0;) {
        turn three = {};
        if (k >= now.until && i < rows) {
            now = next;
            k = now.from / SECTOR * SECTOR;
            next = stretch_of(m, team, after);
            i += step;
            after = id_of(p, t, s, i + step < rows ? i + step : 0);
        }
        if (k < now.until) three = next_turn<table>(&p->all, now, &k);
        else left -= i >= rows;
        add_turn<table, alone>(&a, &one);
        one = two;
        two = three;
    }
}

DEVICE void sum_rows(const run *p, u64 t, const block *s, u8 *room) {
    bool alone = p->sum.split == 0;
    if (p->all.weight == nullptr) alone ? sum_rows_of<true, true>(p, t, s, room) : sum_rows_of<true, false>(p, t, s, room);
    else alone ? sum_rows_of<false, true>(p, t, s, room) : sum_rows_of<false, false>(p, t, s, room);
}

// further reports whether neurons may have more than two ports, which those of models of the genome's own alone have.
template <u32 models> DEVICE bool further(const run *p) { return models & 1 << CUSTOM && p->further; }

// stimulate is step 2 but for drives, and what is the same for all neurons in burst t.
DEVICE void stimulate(const run *p, u64 t, block *s) {
    bool any = give_scheduled(p, t, (u64)anew(block_index()) * block_size() + anew(thread_in_block()), (u64)anew(block_count()) * block_size());
    if (block_index() == 0 && thread_in_block() == 0) *length_of(p, t) = 0; // all have read it in bursts before
    // The areas' terms, and the burst, for update_block. The law's step 4 reads w.t.
    if (thread_in_block() == 0) {
        s->w.t = t, s->stimulated = stimulated(p, t, any);
        if (further<ALL_MODELS>(p)) s->w.acc = by_teams(p) ? p->sum.sums : p->ring + (t & p->slot_mask) * p->ports;
    }
    u32 k = block_size() - 1 - thread_in_block(); // the first warps have most to do
    if (k < p->w.area_count && k < COMMON && !s->w.areas[k].differ) s->common[k] = term_at(&s->w, s->w.areas + k, 0, t);
}

// sum_of takes the sum of a neuron's port out of the ring.
DEVICE i32 sum_of(i32 *acc) {
    i32 sum = *acc;
    if (sum != 0) *acc = 0; // 7
    return sum;
}

// input_of is the sum of a port: what teams have summed, or else the ring's; slot is that of this burst.
template <bool teams> DEVICE i32 input_of(const run *p, const block *s, i32 *slot, u32 port) {
    if (!teams) return sum_of(slot + port);
    i32 sum = sum_at(&p->sum, port);
    return s->stimulated ? sum + sum_of(slot + port) : sum;
}

// further_of is where the sums of further ports of neuron n lie, whose area is the place-th. The model's code loads them by itself.
DEVICE further_ports further_of(const block *s, u32 place, u32 n) {
    const area *a = s->w.areas + place;
    if (a->ports < 3) return further_ports{};
    u32 step = a->end - a->first;
    return further_ports{s->w.acc + a->first_port + (n - a->first) + 2 * step, step, a->ports - 2};
}

// gather_further brings what blocks of a team have summed for further ports, and stimuli, to where the sums lie.
DEVICE void gather_further(const run *p, const block *s, i32 *slot, u32 place, u32 n) {
    if (p->sum.size == 1 && !s->stimulated) return;
    further_ports more = further_of(s, place, n);
#pragma unroll 1
    for (u32 k = 0; k < more.count; k++) {
        i32 *sum = more.sums + k * more.step;
        *sum = input_of<true>(p, s, slot, (u32)(sum - p->sum.sums));
    }
}

// clear_further sets the ring's sums of further ports to zero, which teams replace in every burst.
DEVICE void clear_further(further_ports more) { // 7
#pragma unroll 1
    for (u32 k = 0; k < more.count; k++)
        if (more.sums[k * more.step] != 0) more.sums[k * more.step] = 0;
}

// fires is the drives' part of step 2, and steps 3 and 4, for neuron n, whose area is the place-th and has one of the models, and whose
// state lies at a place; slot is the ring's of this burst. The sums of the neuron's first two ports are left in in, of others where they lie.
template <u32 models, bool teams>
DEVICE bool fires(const run *p, const block *s, const network *w, i32 *slot, u32 place, u32 n, u32 at, inputs *in) {
    const area *a = w->areas + place;
    u32 i = n - a->first, ports = a->ports;
    u32 port = a->first_port + i, step = a->end - a->first;
    i32 first = ports > 0 ? input_of<teams>(p, s, slot, port) : 0;
    i32 second = ports > 1 ? input_of<teams>(p, s, slot, port + step) : 0;
    if (teams && further<models>(p)) gather_further(p, s, slot, place, n);
    for (u32 k = a->first_drive; k < a->first_drive + a->drives; k++) {
        const drive *d = s->drives + k;
        i32 amount = amount_of(d, s->counts, s->table, w->seed, i, w->t);
        if (further<models>(p) && first_port_for(d, amount) > a->first_port + step) w->acc[first_port_for(d, amount) + i] += amount;
        else if (ports > 1 && for_second(d->seconds, amount)) second += amount;
        else first += amount;
    }
    *in = inputs{first, second};
    float term = a->differ || place >= COMMON ? term_of(w, a, i) : s->common[place];
    return update<models>(w, a, i, at, first, second, term);
}

// update_block is steps 3 and 4 for the block's neurons, by so many threads.
template <u32 models, bool teams> DEVICE void update_block(const run *p, u64 t, block *s, u32 threads) {
    u32 begin = block_index() * p->block_neurons, count = own(p);
    i32 *slot = p->ring + (t & p->slot_mask) * p->ports;
    u32 place = s->from; // of the area, which ascends with the neurons
    for (u32 k = thread_in_block(); k < p->block_neurons; k += threads) {
        u32 n = neuron_of(p->w.own, begin + k);
        while (!s->alone && k < count && s->w.areas[place].end <= n) place++;
        inputs in = {};
        bool yes = k < count && fires<models, teams>(p, s, &s->w, slot, place, n, p->cached ? k : n, &in);
        store_bits(s->bits + k / 32, yes);
        if (lists(&p->list)) note(&p->list, t - p->first, p->block_neurons, k, in.first, in.second, further<models>(p) && k < count ? further_of(s, place, n) : further_ports{});
        if (!teams && further<models>(p) && k < count) clear_further(further_of(s, place, n));
        if (lane() == 0 && s->bits[k / 32] != 0) add((i32 *)s->total + t % 2, (i32)ones(s->bits[k / 32]));
    }
}

// count_fired finds how many fire before each group of words, by so many threads.
DEVICE void count_fired(const run *p, u64 t, block *s, u32 threads) {
    u32 words = p->block_neurons / 32, each = (words + GROUPS - 1) / GROUPS, g = thread_in_block();
    if (g < GROUPS) {
        u32 sum = 0;
        for (u32 w = g * each; w < (g + 1) * each && w < words; w++) sum += ones(s->bits[w]);
        s->group[g] = sum_before(&s->in_groups, sum);
    }
    if (thread_in_block() == threads - 1) s->total[(t + 1) % 2] = 0;
    if (lists(&p->list)) count_candidates(&p->list, t - p->first, p->block_neurons);
}

// reserve takes a part of the queue for the block. One thread does, of a warp in the middle: the first warps list, and the last ones learn.
// Threads that list wait for it (base_of).
template <class learners_of> DEVICE void reserve(const run *p, u64 t, block *s, const learners_of *x) {
    if (thread_in_block() != block_size() / 2) return;
    u32 total = s->total[t % 2];
    s->base = total == 0 ? 0 : fetch_add(length_of(p, t), total);
    tell_total(x, t, total);
    store_block(&s->reserved, (u32)t + 1);
}

// base_of is where the block's part begins.
DEVICE u32 base_of(const block *s, u64 t) {
    while (load_block(&s->reserved) != (u32)t + 1) {}
    return s->base;
}

// told_ids is where the device lists who fires in burst t, for teams and the other devices.
DEVICE u32 *told_ids(const run *p, u64 t, const block *s) { return p->devices == 1 ? (u32 *)p->queue : ids_of(&s->x, s->x.self, s->x.self, t); }

// fired_before is how many of the block's neurons before the k-th fire, which is in a word of its bits and fires; each words are a group.
DEVICE u32 fired_before(const block *s, u32 word, u32 each, u32 k) {
    u32 before = s->group[word / each] + ones(s->bits[word] & ((1u << k % 32) - 1));
    for (u32 v = word / each * each; v < word; v++) before += ones(s->bits[v]);
    return before;
}

// list is step 5: the block's part of the queue, ascending; one thread a neuron, as before.
template <bool teams, class learners_of> DEVICE void list(const run *p, u64 t, const block *s, const learners_of *x) {
    u32 words = p->block_neurons / 32, each = (words + GROUPS - 1) / GROUPS, begin = block_index() * p->block_neurons;
    bool alone = p->devices == 1 && !teams;
    u32 base = ~0u; // not known yet: the first row is loaded meanwhile
    for (u32 k = thread_in_block(); k < p->block_neurons; k += block_size()) {
        u32 word = k / 32, bits = s->bits[word];
        if ((bits >> k % 32 & 1) == 0) continue;
        u32 n = neuron_of(p->w.own, begin + k), before = fired_before(s, word, each, k);
        u64 first = teams ? 0 : p->row[n], end = teams ? 0 : p->row[n + 1];
        if (base == ~0u) base = base_of(s, t);
        before += base;
        if (!alone) {
            told_ids(p, t, s)[before] = n;
            continue;
        }
        p->queue[before] = spike{first, end - first};
        tell_fired(x, t, before, n);
    }
    if (lists(&p->list)) count_spans(&p->list, t - p->first, p->block_neurons, block_size());
}

// list_for_host brings the host what list has listed for teams or the other devices, which must not wait for that, by so many threads.
DEVICE void list_for_host(const run *p, u64 t, const block *s, u32 threads) {
    u32 total = s->total[t % 2];
    if (total > host_room(p)) {
        bring_bits(p, t, s->bits, threads);
    } else {
        const u32 *own = told_ids(p, t, s) + s->base;
        u32 *ids = for_host(p, t);
        for (u32 k = thread_in_block(); k < total; k += threads) ids[k] = own[k];
    }
    if (thread_in_block() == 0) report(p, t, total);
}

// fired_for_host brings the host who of the block has fired in burst t, once other blocks do not wait for it: what goes to the host takes
// a barrier's time to get there. So many threads do.
DEVICE void fired_for_host(const run *p, u64 t, const block *s, u32 threads) {
    u32 words = p->block_neurons / 32, each = (words + GROUPS - 1) / GROUPS, begin = block_index() * p->block_neurons;
    u32 total = s->total[t % 2], *ids = for_host(p, t);
    if (thread_in_block() == 0) report(p, t, total);
    if (total > host_room(p)) return bring_bits(p, t, s->bits, threads);
    for (u32 k = thread_in_block(); k < p->block_neurons; k += threads)
        if (s->bits[k / 32] >> k % 32 & 1) ids[fired_before(s, k / 32, each, k)] = neuron_of(p->w.own, begin + k);
}

// burst_for_host brings the host what it wants of burst t, before the next update: its fire queue, where list_for_host does not, and state
// variables, by so many threads.
template <bool teams> DEVICE void burst_for_host(const run *p, u64 t, const block *s, u32 threads) {
    if (p->devices == 1 && !teams) fired_for_host(p, t, s, threads);
    bring_values(p, t, s->w.v, s->w.more, (u32)s->w.pitch, p->cached, threads);
}

// announce tells the host that a burst is complete; the last thread does, which has the least to do.
DEVICE void announce(const run *p, u64 t) {
    if (block_index() == block_count() - 1 && thread_in_block() == block_size() - 1) publish(p->done + (t - p->first), t + 1);
}

// catch_up delivers to the ring what a fire queue of an earlier burst still has to deliver, the synapses of its neurons with
// delays of at least least, one warp a row:
//
//	for _, n := range queue { for k := row[n]; k < row[n+1]; k++ { if delay[k] >= least {
//		ring[firedAt+delay[k]][target[k]] += weight[k]
//	} } }
KERNEL catch_up(run p, const u32 *queue, u32 length, u64 fired_at, u32 least) {
    for (u64 i = thread_index() / 32; i < length; i += thread_count() / 32) {
        u64 end = p.row[queue[i] + 1];
        for (u64 k = p.row[queue[i]] + lane(); k < end; k += 32) {
            u32 d = delay_of(&p, k);
            if (d < least) continue;
            u32 word = p.all.target[k];
            add(p.ring + ((fired_at + d) & p.slot_mask) * p.ports + port_of(&p.all, word), weight_of(&p.all, k, word));
        }
    }
}

#ifndef BURST_EVENT
// queue_rows makes the queue of a fire queue, one thread a neuron, or its number where there are teams:
//
//	for i, n := range fired { queue[i] = spike{row[n], row[n+1]-row[n]} }
KERNEL queue_rows(run p, const u32 *fired, u32 length) {
    u64 i = thread_index();
    if (i >= length) return;
    if (p.sum.count > 0) ((u32 *)p.queue)[i] = fired[i];
    else p.queue[i] = spike{p.row[fired[i]], p.row[fired[i] + 1] - p.row[fired[i]]};
}
#endif

#if !defined(BURST_LEARN) && !defined(BURST_MANY)
// cut_rows finds where each team's synapses begin in each row, one thread a row and team, and where the row ends:
//
//	for n := range rows { for q := range teams.count+1 { cut[n*(teams.count+1)+q] = row[n] + sort.Search(row n, place >= q*teams.ports) } }
KERNEL cut_rows(run p, u64 rows) {
    u64 places = rows * (p.sum.count + 1);
    for (u64 i = thread_index(); i < places; i += thread_count()) {
        u64 n = i / (p.sum.count + 1), port = i % (p.sum.count + 1) * p.sum.ports, low = p.row[n], high = p.row[n + 1];
        while (low < high) {
            u64 middle = low + (high - low) / 2;
            if (place_of(p.sum.split, port_of(&p.all, p.all.target[middle])) < port) low = middle + 1;
            else high = middle;
        }
        p.sum.cut[i] = (u32)low;
    }
}
#endif

// wait_for_grid waits until so many blocks have come to the grid's barrier, by the block's first thread.
DEVICE void wait_for_grid(const run *p, block *s, u32 wanted) {
    u32 turns = 0;
    while (acquire_word(p->arrived) < wanted && !s->stopped) s->stopped = stopped(&s->x, &turns);
}

// grid_barrier lets all blocks' threads wait for each other; what they wrote before is seen by all after it.
DEVICE void grid_barrier(const run *p, block *s, u32 *wanted) {
    if (gathered(p)) return cluster_barrier();
    block_barrier();
    *wanted += block_count();
    if (thread_in_block() == 0) {
        arrive(p->arrived);
        wait_for_grid(p, s, *wanted);
    }
    block_barrier();
}

// hear_all waits until the blocks of all devices have told who fired in burst t, a warp a device.
DEVICE void hear_all(const run *p, u64 t, block *s) {
#pragma unroll 1
    for (u32 q = anew(thread_in_block()) / 32; q < p->devices; q += anew(block_size()) / 32) {
        u32 count = 0;
        bool all = q == s->x.self ? hear_own(&s->x, t, &count) : hear_other(&s->x, q, t, &count);
        if (lane() == 0) s->told[q] = count, s->ids[q] = ids_of(&s->x, s->x.self, q, t);
        if (!all) s->stopped = 1;
    }
    block_barrier();
}

// device_barrier lets the blocks of all devices wait for each other, which tell who fired in burst t, and serve the host meanwhile.
DEVICE void device_barrier(const run *p, u64 t, block *s) {
    u64 begin = thread_in_block() == 0 ? nanoseconds() : 0;
    push(&s->x, t, s->base, s->total[t % 2], thread_in_block(), block_size());
    block_barrier();
    if (thread_in_block() == 0) tell_all(&s->x, t, s->total[t % 2]);
    list_for_host(p, t, s, block_size());
    warp_barrier();
    hear_all(p, t, s);
    if (thread_in_block() == 0) s->waited += nanoseconds() - begin;
}

// tell_alone is step 5 by the block's first warp, which also tells the other blocks and devices, while other warps have rows to deliver.
DEVICE void tell_alone(const run *p, u64 t, block *s) {
    if (thread_in_block() >= 32) return;
    u32 words = p->block_neurons / 32, each = (words + GROUPS - 1) / GROUPS, begin = block_index() * p->block_neurons;
    count_fired(p, t, s, block_size());
    u32 total = s->total[t % 2], base = 0;
    if (lane() == 0) {
        if (total > 0) base = fetch_add(length_of(p, t), total);
        s->base = base;
        s->total[(t + 1) % 2] = 0;
    }
    u32 before = shuffle_from(base, 0) + s->group[lane()];
#pragma unroll 1
    for (u32 w = lane() * each; w < (lane() + 1) * each && w < words; w++)
#pragma unroll 1
        for (u32 rest = s->bits[w]; rest != 0; rest &= rest - 1) {
            u32 n = neuron_of(p->w.own, begin + 32 * w + ones((rest & -rest) - 1));
            if (p->devices > 1) told_ids(p, t, s)[before++] = n;
            else p->queue[before++] = spike{p->row[n], p->row[n + 1] - p->row[n]};
        }
    warp_barrier();
    if (p->devices == 1) {
        if (lane() == 0 && !gathered(p)) arrive(p->arrived);
        return;
    }
    push(&s->x, t, s->base, total, lane(), 32);
    warp_barrier();
    if (lane() == 0) tell_all(&s->x, t, total);
    list_for_host(p, t, s, 32);
}

// meet_beside lets the blocks of all devices wait for each other, which tell who fired in burst t and deliver rows that wait meanwhile.
DEVICE void meet_beside(const run *p, u64 t, block *s, u32 *wanted) {
    u64 begin = nanoseconds();
    tell_alone(p, t, s);
    u64 told = nanoseconds();
    deliver_waiting(p, t, s);
    if (gathered(p)) {
        cluster_barrier();
        return;
    }
    if (p->devices > 1) {
        u64 end = nanoseconds();
        hear_all(p, t, s);
        if (thread_in_block() == 0) s->waited += nanoseconds() - end + (told - begin);
        return;
    }
    *wanted += block_count();
    if (thread_in_block() == 0) wait_for_grid(p, s, *wanted);
    block_barrier();
}

// run_loop is the law of many bursts in one launch, whose blocks all run at once, for areas of some models. It says whether they have all
// been computed.
//
//	for t := first; t < first + bursts; t++ {
//		deliver the rows of the queue, and the stimuli
//		for n := range neurons { if b.fires(n) { queue = append(queue, n) } }
//		with several devices, the queue becomes all devices' queues
//	}
template <u32 models, bool teams, class learners_of> DEVICE bool run_loop(const run *p, block *s, u32 *wanted, const learners_of *x) {
    for (u64 t = p->first; t < p->first + p->bursts; t++) {
        stimulate(p, t, s);
        if (t > p->first) burst_for_host<teams>(p, t - 1, s, block_size());
        learn_events_of(x, p, t, s, wanted);
        learn_rows_of(x, t, p->ring + (t & p->slot_mask) * p->ports);
        if (teams) {
            if (t > p->first && p->devices == 1) list_for_host(p, t - 1, s, block_size());
            sum_rows(p, t, s, dynamic_memory());
            block_barrier();
            bring_sums(&p->sum, dynamic_memory());
        } else if (!all_learn(x)) {
            deliver(p, t, s);
        }
        if (lists(&p->list) && t > p->first) list_candidates(&p->list, t - 1 - p->first, p->block_neurons, block_size());
        grid_barrier(p, s, wanted);
        if (s->stopped) return false;
        if (t > p->first) announce(p, t - 1); // its ids have had the delivery's time to arrive, and its candidates are listed
        learn_sweeps_of(x, p, t, s, wanted);
        if (!teams && draws_many(p)) update_drawn<models>(p, t, s);
        else update_block<models, teams>(p, t, s, block_size());
        block_barrier();
        if (!teams && rows_wait(p)) {
            meet_beside(p, t, s, wanted);
            if (s->stopped) return false;
            continue;
        }
        count_fired(p, t, s, block_size());
        block_barrier();
        reserve(p, t, s, x);
        learn_next_of(x, p, t, s);
        list<teams>(p, t, s, x);
        if (p->devices == 1) {
            grid_barrier(p, s, wanted);
            learn_every_of(x, p, t, s, wanted);
            continue;
        }
        block_barrier();
        device_barrier(p, t, s);
        if (s->stopped) return false;
    }
    burst_for_host<teams>(p, p->first + p->bursts - 1, s, block_size());
    return true;
}

// bursts is a launch of many bursts.
template <u32 models, class learners_of> DEVICE void bursts(const run *p, const learners_of *x) {
    SHARED(block, s);
    if (by_teams(p)) begin_sums(&p->sum, &p->all, p->value_count, dynamic_memory());
    lay_out(p, dynamic_memory() + p->sum.room, &s, false);
    take_waits(p, &s);
    begin_launch(p);
    block_barrier();
    u32 wanted = 0;
    if (by_teams(p)) {
        if (!run_loop<models, true>(p, &s, &wanted, x)) return;
    } else if (!run_loop<models, false>(p, &s, &wanted, x)) {
        return;
    }
    lay_out(p, dynamic_memory() + p->sum.room, &s, true);
    leave_waits(p, &s);
    if (p->devices > 1 && thread_in_block() == 0) p->waited[block_index()] += s.waited;
    if (by_teams(p) && p->devices == 1) list_for_host(p, p->first + p->bursts - 1, &s, block_size());
    if (lists(&p->list)) list_candidates(&p->list, p->bursts - 1, p->block_neurons, block_size());
    grid_barrier(p, &s, &wanted);
    announce(p, p->first + p->bursts - 1);
}

#if !defined(BURST_OUTSIDE) && !defined(BURST_EVENT) && !defined(BURST_LOCAL)
// One kernel for networks of each of the common models alone: less code and fewer registers than one for all.
KERNEL_OF_1024 run_bursts(run p) {
    no_learners none;
    bursts<ALL_MODELS>(&p, &none);
}
#ifndef BURST_CUSTOM
KERNEL_OF_1024 run_bursts_feagi(run p) {
    no_learners none;
    bursts<1 << FEAGI>(&p, &none);
}
KERNEL_OF_1024 run_bursts_lif(run p) {
    no_learners none;
    bursts<1 << LIF>(&p, &none);
}
KERNEL_OF_1024 run_bursts_psc_exp(run p) {
    no_learners none;
    bursts<1 << PSC_EXP>(&p, &none);
}
#endif
#if defined(BURST_CUSTOM) || defined(BURST_ONE_UNIT)
KERNEL_OF_1024 run_bursts_custom(run p) {
    no_learners none;
    bursts<1 << CUSTOM>(&p, &none);
}
#endif
#endif
