#include "cluster_sums.cuh"

// Many bursts in one launch, for networks whose neurons' state and sums fit the shared memory of all blocks together: see
// clusters.cuh. Once a burst a block waits for all of its device, and later for those of others. Its last warp computes nothing: it
// talks with other devices, and that of the last block tells the host.

// quad is the state of four neighbouring neurons, as one thread updates them.
struct quad {
    floats v;
    halves refractory, count;
};

// divide_cluster gives everything its place, as divide does.
template <u32 models> DEVICE void divide_cluster(const run *p, clustered *s) {
    u32 used = 0, own = p->block_neurons, inside = outside(p) ? 0 : own;
    s->at_sums = reserve_room<i32>(&used, p->packed.ports + SPARE);
    s->at_bits = reserve_room<u32>(&used, own / 32);
    s->at_later = reserve_room<u32>(&used, workers());
    s->at_before = reserve_room<u16>(&used, own / 32);
    s->at_spans = reserve_room<u16>(&used, own / 32);
    s->at_v = reserve_room<float>(&used, inside);
    s->at_more = reserve_room<float>(&used, p->w.variables * inside);
    s->at_refractory = reserve_room<u16>(&used, inside);
    s->at_count = reserve_room<u16>(&used, models & 1 << FEAGI ? inside : 0);
    s->at_input = reserve_room<i32>(&used, p->packed.drawn * own);
    reserve_tables(p, s, &used);
    s->several = s->joined = s->stopped = s->stored = s->heard = s->lost = 0;
    s->waited = 0;
    s->x = *p->x;
}

// zero_sums sets the block's sums to zero, by its first threads.
DEVICE void zero_sums(const run *p, const clustered *s, u32 threads) {
    four *sums = room_at<four>(s, s->at_sums);
    for (u32 k = thread_in_block(); k < p->packed.ports / FOUR; k += threads) sums[k] = four{};
}

// find_due finds how many of the device's own ids are due in burst t + 1, for which all of its blocks must have told of burst t.
DEVICE bool find_due(const run *p, u64 t, clustered *s) { return heard_own(&s->x, t + 1 - p->packed.delay, s->told); }

// begin_cluster fills the block's memory, which is divided.
template <u32 models> DEVICE void begin_cluster(const run *p, clustered *s) {
    if (!outside(p)) bring_state<models>(p, s);
    begin_tables(p, s);
    zero_sums(p, s, block_size());
    if (thread_in_block() == 0 && !find_due(p, p->first - 1, s)) s->told[0] = 0; // a launch before has been stopped
}

// constant_input is what an area's drives add where none is drawn. Those of neurons with two ports are terms then.
DEVICE i32 constant_input(const clustered *s, const area *a, u64 t) {
    i32 sum = 0;
#pragma unroll 1
    for (u32 k = a->first_drive; k < a->first_drive + a->drives; k++) {
        const drive *d = room_at<drive>(s, s->at_drives) + k;
        if (d->from <= t && t < d->until) sum += drive_in(d, nullptr, nullptr, t).amount;
    }
    return sum;
}

// quad_sums are what has reached first or second ports of the block's neurons from the k-th on: what the cluster's blocks have summed,
// what was drawn, and where one acts stimuli. The sums are those of a round.
template <bool two> DEVICE four quad_sums(const run *p, const clustered *s, u64 t, u32 k, bool second, u32 round) {
    u32 size = cluster_size(p), number = block_index() % size, at = s->at_sums + 4 * (number * p->block_neurons + k + (two && second ? p->packed.neurons : 0));
    if (round > 0) at -= 4 * round * p->packed.neurons;
    four sum = *room_at<four>(s, at);
#pragma unroll
    for (u32 i = 1; i < MOST_BLOCKS; i++) {
        if (i >= size) break;
        four one = remote_four(s, number + i < size ? number + i : number + i - size, at);
#pragma unroll
        for (u32 j = 0; j < 4; j++) sum.word[j] += one.word[j];
    }
    if (p->packed.drawn > (two && second)) {
        four one = *room_at<four>(s, s->at_input + 4 * (k + (two && second ? p->block_neurons : 0)));
#pragma unroll
        for (u32 j = 0; j < 4; j++) sum.word[j] += one.word[j];
    }
    if (!s->stimulated) return sum;
    u32 count = own(p), n = neuron_of(p->w.own, block_index() * p->block_neurons + k);
#pragma unroll 1
    for (u32 j = 0; j < 4 && k + j < count; j++) {
        const area *a = two ? room_at<area>(s, s->at_areas) + (area_at(p, s, n + j, k + j) & ~SIMPLE) : nullptr;
        i32 *slot = p->ring + (t & p->slot_mask) * p->ports + (two ? port_at(a, n + j, second) : n + j), in = *slot;
        *slot = 0;
        sum.word[0] += j == 0 ? in : 0, sum.word[1] += j == 1 ? in : 0, sum.word[2] += j == 2 ? in : 0, sum.word[3] += j == 3 ? in : 0;
    }
    return sum;
}

// update_quad is steps 3 and 4 for four of the block's neurons from the k-th on; it says which fire, a bit each. Their state lies away from the
// block or in its memory.
template <u32 models, bool away> DEVICE u32 update_quad(const run *p, const clustered *s, u64 t, u32 k, u32 round) {
    u32 first = neuron_of(p->w.own, block_index() * p->block_neurons + k), count = own(p), answers = 0;
    if (away && k >= count) return 0; // there is no memory behind the last neurons
    u32 span = room_at<u16>(s, s->at_spans)[k / 32];
    const bool two = models == 1 << PSC_EXP, quads = models == 1 << LIF || models == 1 << FEAGI; // ports; whether four are stored at a time
    floats *v = away ? (floats *)(p->w.v + first) : room_at<floats>(s, s->at_v + 4 * k);
    halves *refractory = away ? (halves *)(p->w.refractory + first) : room_at<halves>(s, s->at_refractory + 2 * k);
    halves *counts = away ? (halves *)(p->w.count + first) : room_at<halves>(s, s->at_count + 2 * k);
    four sum = quad_sums<two>(p, s, t, k, false, round), more = two ? quad_sums<two>(p, s, t, k, true, round) : four{};
    network w = view<models>(p, s, t);
    quad q;
    if (away) w.v = p->w.v, w.more = p->w.more, w.pitch = p->w.pitch, w.refractory = p->w.refractory, w.count = p->w.count;
    if (quads) {
        q.v = *v, q.refractory = *refractory;
        if (models == 1 << FEAGI) q.count = *counts;
        w.v = q.v.at, w.refractory = q.refractory.at, w.count = q.count.at;
    }
#pragma unroll
    for (u32 j = 0; j < 4; j++) {
        if (k + j >= count) break;
        u32 place = (span == MIXED ? area_at(p, s, first + j, k) : span) & ~SIMPLE, at = quads ? j : away ? first + j : k + j;
        const area *a = room_at<area>(s, s->at_areas) + place;
        u32 i = first + j - a->first;
        i32 in = (i32)sum.word[j], second = (i32)more.word[j];
        if (!two && !p->packed.drawn) in += constant_input(s, a, t);
        float term = a->differ || place >= COMMON ? term_of(&w, a, i) : s->common[place];
        answers |= (u32)update<models>(&w, a, i, at, in, second, term) << j;
    }
    if (quads) {
        *v = q.v, *refractory = q.refractory;
        if (models == 1 << FEAGI) *counts = q.count;
    }
    return answers;
}

// update_quads is steps 3 and 4 for those of the block's neurons that a round updates, whose bits it leaves.
template <u32 models, bool away> DEVICE void update_quads(const run *p, u64 t, const clustered *s, u32 round) {
    u32 quads = p->block_neurons / 4 / rounds(p), *bits = room_at<u32>(s, s->at_bits) + round * (quads / 8);
#pragma unroll 1
    for (u32 q = thread_in_block(); q / 32 * 32 < quads; q += workers()) {
        bool some = q < quads;
        store_nibbles(bits + q / 8, some ? update_quad<models, away>(p, s, t, 4 * (round * quads + q), round) : 0, some);
    }
}

// update_cluster is update_quads, wherever the state is.
template <u32 models> DEVICE void update_cluster(const run *p, u64 t, const clustered *s, u32 round) {
    if (outside(p)) update_quads<models, true>(p, t, s, round);
    else update_quads<models, false>(p, t, s, round);
}

// ones_ahead is how many bits are set in the words before the w-th. All lanes of the warp must call it, each for the word after
// that of the lane before.
DEVICE u32 ones_ahead(const u32 *bits, u32 words, u32 w) {
    u32 sum = 0;
    u32 total;
    for (u32 v = lane(); v < w - lane(); v += 32) sum += ones(bits[v]);
    for (u32 by = 16; by > 0; by /= 2) sum += shuffle_xor(sum, by);
    return sum + sum_before(&total, w < words ? ones(bits[w]) : 0);
}

// count_words finds how many fire ahead of each of the block's words, and in all, and takes a part of the queue for them.
DEVICE void count_words(const run *p, u64 t, clustered *s) {
    u32 words = p->block_neurons / 32;
    const u32 *bits = room_at<u32>(s, s->at_bits);
    u16 *before = room_at<u16>(s, s->at_before);
    if (thread_index() == 0) *length_of(p, t + 1 + p->packed.apart) = 0; // it was used in bursts before
#pragma unroll 1
    for (u32 w = thread_in_block(); w / 32 * 32 < words; w += workers()) {
        u32 ahead = ones_ahead(bits, words, w);
        if (w < words) before[w] = (u16)ahead;
        if (w != words - 1) continue;
        u32 total = ahead + ones(bits[w]);
        s->total = total;
        s->base = total == 0 ? 0 : fetch_add(length_of(p, t), total);
    }
}

// fired_of is the i-th of the block's neurons that fire, as the device numbers its own.
DEVICE u32 fired_of(const run *p, const clustered *s, u32 i) {
    const u16 *before = room_at<u16>(s, s->at_before);
    u32 low = 0, high = p->block_neurons / 32; // the last word that has no more than i ahead
    while (high - low > 1) {
        u32 middle = (low + high) / 2;
        if (before[middle] <= i) low = middle;
        else high = middle;
    }
    u32 rest = room_at<u32>(s, s->at_bits)[low];
#pragma unroll 1
    for (u32 k = i - before[low]; k > 0; k--) rest &= rest - 1;
    return block_index() * p->block_neurons + 32 * low + ones((rest & -rest) - 1);
}

// list_cluster is step 5: the block's part of the queue, ascending, one thread a neuron that fires.
DEVICE void list_cluster(const run *p, u64 t, const clustered *s) {
    u32 *own = ids_of(&s->x, s->x.self, s->x.self, t) + s->base;
#pragma unroll 1
    for (u32 i = thread_in_block(); i < s->total; i += workers()) own[i] = neuron_of(p->w.own, fired_of(p, s, i));
}

// bring_queue brings the host what the block has listed in burst t.
DEVICE void bring_queue(const run *p, u64 t, const clustered *s) {
    if (s->total > host_room(p)) {
        bring_bits(p, t, room_at<u32>(s, s->at_bits), workers());
    } else {
        const u32 *own = ids_of(&s->x, s->x.self, s->x.self, t) + s->base;
        u32 *ids = for_host(p, t);
        for (u32 k = thread_in_block(); k < s->total; k += workers()) ids[k] = own[k];
    }
    if (thread_in_block() == 0) report(p, t, s->total);
}

// bring_cluster is bring_resident, wherever the state is.
DEVICE void bring_cluster(const run *p, u64 t, const clustered *s) {
    if (outside(p)) bring_values(p, t, p->w.v, p->w.more, (u32)p->w.pitch, false, workers());
    else bring_resident(p, t, s);
}

// stimulate_cluster is what burst t needs and no fire queue changes: prepare, by the block's last threads first, which have no part in
// listing.
DEVICE void stimulate_cluster(const run *p, u64 t, clustered *s) {
    u32 thread = workers() - 1 - thread_in_block();
    bool any = give_scheduled(p, t, (u64)block_index() * workers() + thread, (u64)block_count() * workers());
    const area *areas = room_at<area>(s, s->at_areas);
    if (thread < p->w.area_count && thread < COMMON && !areas[thread].differ) {
        network w = p->w;
        w.terms = room_at<term>(s, s->at_terms);
        s->common[thread] = term_at(&w, areas + thread, 0, t);
    }
    if (thread == 0) s->stimulated = stimulated(p, t, any);
}

// meet_here lets the device's blocks wait for each other.
DEVICE void meet_here(const run *p, clustered *s) {
    worker_barrier();
    if (thread_in_block() == workers() - 1) {
        u32 wanted = ++s->met * block_count(), turns = 0;
        arrive(p->arrived);
        while (arrivals(p->arrived) < wanted && !gives_up(s, &turns)) {}
        acquire();
    }
    worker_barrier();
}

// meet tells who of the block fired in burst t and lets the device's blocks wait for each other; meanwhile it works out what drives
// add in the next burst. begin is when the block's ids were first stored.
template <u32 models> DEVICE void meet(const run *p, u64 t, clustered *s, u64 begin) {
    worker_barrier();
    if (thread_in_block() == 0) {
        store_block(&s->stored, (u32)(t - p->first) + 1);
        tell_own(&s->x, t, s->total);
        s->waited += nanoseconds() - begin;
    }
    drive_block<models == 1 << PSC_EXP>(p, t + 1, s, p->packed.drawn);
    if (thread_in_block() == workers() - 1) {
        u32 most = p->packed.apart, apart = s->told[0] > p->neurons / 32 ? 0 : most; // blocks that look at many rows look at the same ones
        if (t < p->first + apart) { // the launch before has ended
            if (block_index() == 0) forget(&s->x, t + most);
        } else if (!hear_own(&s->x, t - apart, s->told, apart + most)) {
            store_block(&s->stopped, 1);
        }
        if (p->packed.delay > 1) find_due(p, t, s);
    }
    worker_barrier();
}

// talk brings the other devices the ids of who of the block fired in each burst, tells them, and waits for what they tell of the burst that is
// due next, which is told long before where delays are long. The last warp alone does so: where all warps look at the same words, these come late. In the last block its first lane tells the host between.
DEVICE void talk(const run *p, clustered *s) {
    const exchange *x = &s->x;
    u32 k = lane(), announced = 0, count = 0;
    bool serves = k == 0 && block_index() == block_count() - 1, lost = false;
#pragma unroll 1
    for (u32 i = 0;; i++) { // the burst before the first one has been told
        u64 t = p->first + i - 1;
        while (!lost && vote(load_block(&s->stored) < i)) {
            u32 complete = serves ? load_block(&s->complete) : 0;
            if (announced < complete && complete != NO_MORE) tell(p, ++announced);
            lost = vote(load_block(&s->stopped) != 0);
            pause();
        }
        if (lost) break;
        if (i > 0) {
            push(x, t, s->base, s->total, k, 32);
            warp_barrier();
            if (0 < k && k < x->devices) {
                fence_system();
                tell_other(x, device_at(s, k), t, s->total);
            }
        }
        if (i == p->bursts) break;
#pragma unroll 1
        for (u32 j = 1; j < x->devices && !lost; j++) {
            lost = !hear_other(x, device_at(s, j), t + 1 - p->packed.delay, &count);
            if (k == 0) s->told[j] = count;
        }
        warp_barrier();
        if (k == 0 && lost) store_block(&s->lost, 1);
        if (lost) break;
        if (k == 0) store_block(&s->heard, i + 1);
    }
    if (serves) serve(p, s, announced);
}

// work_cluster is the law of many bursts in one launch, whose blocks all run at once, for areas of some models.
//
//	for t := first; t < first + bursts; t++ {
//		deliver the rows of the queue
//		for n := range neurons { if b.fires(n) { queue = append(queue, n) } }
//		with several devices, the queue becomes all devices' queues
//	}
// The host has the fire queue of a burst when all blocks have met in the next one: no block waits for what it writes to the host.
template <u32 models> DEVICE void work_cluster(const run *p, clustered *s) {
    u32 last = workers() - 1, size = cluster_size(p);
    stimulate_cluster(p, p->first, s);
    drive_block<models == 1 << PSC_EXP>(p, p->first, s, p->packed.drawn);
    meet_here(p, s);
    bool failed = s->stopped; // before the first warp goes on, which may be the next to see a failure
    worker_barrier();
    for (u64 t = p->first; t < p->first + p->bursts && !failed; t++) {
        for (u32 round = 0; round < rounds(p); round++) {
            if (round > 0) {
                zero_sums(p, s, workers());
                worker_barrier();
            }
            sum_places(p, t, s, round);
            worker_barrier();
            if (size > 1) {
                if (thread_in_block() == last) join(s, size, (u32)(t - p->first + 1) * size);
                worker_barrier();
            }
            if (s->stopped) break;
            if (t > p->first && round == 0) {
                bring_queue(p, t - 1, s);
                bring_cluster(p, t - 1, s);
                if (s->total > host_room(p) || p->wanted.count > 0) worker_barrier(); // the update writes the bits and variables that are brought
            }
            update_cluster<models>(p, t, s, round);
            worker_barrier();
        }
        if (s->stopped) break;
        count_words(p, t, s);
        if (t + 1 < p->first + p->bursts) stimulate_cluster(p, t + 1, s);
        worker_barrier();
        u64 begin = nanoseconds();
        list_cluster(p, t, s);
        meet<models>(p, t, s, begin);
        if (s->stopped) break;
        if (thread_in_block() == last) store_block(&s->complete, t < p->first + p->packed.apart ? 0 : (u32)(t - p->first) - p->packed.apart); // bursts whose ids the host has
        zero_sums(p, s, workers());
        worker_barrier();
    }
    if (!s->stopped) {
        bring_queue(p, p->first + p->bursts - 1, s);
        bring_cluster(p, p->first + p->bursts - 1, s);
    }
    meet_here(p, s);
    if (thread_in_block() == last) {
        p->waited[block_index()] += s->waited;
        store_block(&s->complete, s->stopped ? NO_MORE : (u32)p->bursts);
    }
}

template <u32 models> DEVICE void run_cluster(const run *p) {
    SHARED(clustered, s);
    if (thread_in_block() == 0) divide_cluster<models>(p, &s);
    block_barrier();
    begin_cluster<models>(p, &s);
    begin_launch(p);
    wait_cluster();
    if (thread_in_block() < workers()) work_cluster<models>(p, &s);
    else if (p->devices > 1) talk(p, &s);
    else if (thread_in_block() == workers() && block_index() == block_count() - 1) serve(p, &s, 0);
    warp_barrier();
    wait_cluster(); // a block's memory is there as long as others may read it
    if (!outside(p)) end_resident<models>(p, &s);
}

KERNEL_OF_1024 cluster_bursts_lif(run p) { run_cluster<1 << LIF>(&p); }
#ifndef BURST_OUTSIDE
KERNEL_OF_1024 cluster_bursts(run p) { run_cluster<ALL_MODELS>(&p); }
KERNEL_OF_1024 cluster_bursts_feagi(run p) { run_cluster<1 << FEAGI>(&p); }
KERNEL_OF_1024 cluster_bursts_psc_exp(run p) { run_cluster<1 << PSC_EXP>(&p); }
#endif
