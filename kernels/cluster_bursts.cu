#include "clusters.cuh"

#ifdef BURST_CLUSTERS
// Many bursts in one launch, for networks whose neurons' state and sums fit the shared memory of all blocks together: see
// clusters.cuh. Every block waits for all others once a burst, when all have listed who fired. The last warp of a block
// takes no part: that of the last block tells the host.

// quad is the state of four neighbouring neurons, as one thread updates them.
struct alignas(16) floats {
    float at[4];
};
struct alignas(8) halves {
    u16 at[4];
};
struct quad {
    floats v;
    halves refractory, count;
};

// divide_cluster gives everything its place, as divide does.
template <u32 models> DEVICE void divide_cluster(const run *p, clustered *s) {
    u32 used = 0, own = p->block_neurons;
    s->at_sums = reserve_room<i32>(&used, p->packed.ports + BESIDE);
    s->at_bits = reserve_room<u32>(&used, own / 32);
    s->at_spans = reserve_room<u16>(&used, own / 32);
    s->at_labels = reserve_room<u8>(&used, own);
    s->at_v = reserve_room<float>(&used, own);
    s->at_more = reserve_room<float>(&used, p->w.variables * own);
    s->at_refractory = reserve_room<u16>(&used, own);
    s->at_count = reserve_room<u16>(&used, models & 1 << FEAGI ? own : 0);
    s->at_input = reserve_room<i32>(&used, p->drive_count > 0 ? own : 0);
    s->at_areas = reserve_room<area>(&used, p->w.area_count);
    s->at_terms = reserve_room<term>(&used, p->term_count);
    s->at_drives = reserve_room<drive>(&used, p->drive_count);
    s->at_counts = reserve_room<u32>(&used, p->count_entries);
    s->at_table = reserve_room<i32>(&used, p->table_entries);
    s->at_values = reserve_room<i32>(&used, p->value_count);
    s->joined = 0;
}

// begin_sums sets the block's sums to zero.
DEVICE void zero_sums(const run *p, const clustered *s) {
    four *sums = room_at<four>(s, s->at_sums);
    for (u32 k = thread_in_block(); k < p->packed.ports / FOUR; k += workers()) sums[k] = four{};
}

// begin_cluster fills the block's memory, which is divided.
template <u32 models> DEVICE void begin_cluster(const run *p, clustered *s) {
    begin_state<models>(p, s);
    copy(room_at<u8>(s, s->at_labels), p->packed.label + (u64)block_index() * p->block_neurons, own(p));
    i32 *sums = room_at<i32>(s, s->at_sums);
    for (u32 k = thread_in_block(); k < p->packed.ports + BESIDE; k += block_size()) sums[k] = 0;
}

// sum_places is step 1 for the fire queue of burst t − 1, of which the block takes every so manieth row; turn is where its
// length is. Two turns of units are being loaded while one is added, of the next row too, whose stretch is there by then.
template <bool wide> DEVICE void sum_places(const run *p, u64 t, u32 turn, const clustered *s) {
    const places *m = &p->packed;
    const u32 *queue = queue_of(p, t - 1);
    u32 team = block_index() / m->size, threads = 1u << m->share_log, mask = (1u << m->id_bits) - 1, rows = read(p->length + turn);
    u32 i = (thread_in_block() >> m->share_log) * m->size + block_index() % m->size, step = (workers() >> m->share_log) * m->size;
    if (i >= rows) return;
    const i32 *values = room_at<i32>(s, s->at_values);
    u32 sums = shared_address(s, s->at_sums), word = queue[i], after = queue[i + step < rows ? i + step : i];
    u32 from, until, k = 0, end = 0; // of the next stretch, and of the one at hand
    stretch_at(m, team, word & mask, &from, &until);
    i32 weight = 0, weight_one = 0, weight_two = 0;
    unit one = {}, two = {};
    bool some_one = false, some_two = false;
    for (u32 left = 2; left > 0;) {
        if (k >= end && i < rows) {
            k = from, end = until;
            weight = values[word >> m->id_bits];
            word = after;
            stretch_at(m, team, word & mask, &from, &until);
            i += step;
            after = queue[i + step < rows ? i + step : 0];
        }
        unit three = {};
        bool some = false;
        if (k < end) {
            u32 mine = k + (thread_in_block() & (threads - 1));
            some = mine < end;
            if (some) three = load_unit<wide>(m, mine);
            k += threads;
        } else {
            left -= i >= rows;
        }
        if (some_one) {
#pragma unroll
            for (u32 j = 0; j < (wide ? 4 : 2); j++) {
                add_shared(s, sums, one.word[j] & 0xffff, weight_one);
                add_shared(s, sums, one.word[j] >> 16, weight_one);
            }
        }
        one = two, weight_one = weight_two, some_one = some_two;
        two = three, weight_two = weight, some_two = some;
    }
}

// drive_quads is the drives' part of step 2 for burst t: what they add for each of the block's neurons.
DEVICE void drive_quads(const run *p, u64 t, const clustered *s) {
    u32 begin = block_index() * p->block_neurons, count = own(p);
    i32 *input = room_at<i32>(s, s->at_input);
    for (u32 k = thread_in_block(); p->drive_count > 0 && k < count; k += workers()) {
        const area *a = room_at<area>(s, s->at_areas) + (area_at(p, s, begin, k) & ~SIMPLE);
        i32 sum = 0;
        for (u32 d = a->first_drive; d < a->first_drive + a->drives; d++)
            sum += amount_of(room_at<drive>(s, s->at_drives) + d, room_at<u32>(s, s->at_counts), room_at<i32>(s, s->at_table),
                             p->w.seed, begin + k - a->first, t);
        input[k] = sum;
    }
}

// quad_sums are what has reached the block's neurons from the k-th on: what the cluster's blocks have summed, drives, and
// where one acts stimuli.
DEVICE four quad_sums(const run *p, const clustered *s, u64 t, u32 k) {
    u32 number = block_index() % p->packed.size, at = s->at_sums + 4 * (number * p->block_neurons + k);
    four sum = *room_at<four>(s, at);
#pragma unroll
    for (u32 i = 1; i < MOST_BLOCKS; i++) {
        if (i >= p->packed.size) break;
        four one = remote_four(s, number + i < p->packed.size ? number + i : number + i - p->packed.size, at);
#pragma unroll
        for (u32 j = 0; j < 4; j++) sum.word[j] += one.word[j];
    }
    if (p->drive_count > 0) {
        four one = *room_at<four>(s, s->at_input + 4 * k);
#pragma unroll
        for (u32 j = 0; j < 4; j++) sum.word[j] += one.word[j];
    }
    if (!s->stimulated) return sum;
    u32 begin = block_index() * p->block_neurons, count = own(p);
    i32 *slot = p->ring + (t & p->slot_mask) * p->ports + begin;
    for (u32 j = 0; j < 4 && k + j < count; j++) {
        sum.word[j] += slot[k + j];
        slot[k + j] = 0;
    }
    return sum;
}

// store_nibbles makes *word the 32 answers of eight lanes, four each. All lanes of the warp must call it; word is the lanes' own.
DEVICE void store_nibbles(u32 *word, u32 answers, bool some) {
    u32 bits = answers << lane() % 8 * 4;
#ifdef BURST_ON_HOST
    if (some) *word = (lane() % 8 == 0 ? 0 : *word) | bits;
#else
    for (u32 by = 1; by < 8; by *= 2) bits |= shuffle_xor(bits, by);
    if (some && lane() % 8 == 0) *word = bits;
#endif
}

// update_quad is steps 3 and 4 for four of the block's neurons from the k-th on; it says which fire, a bit each.
template <u32 models> DEVICE u32 update_quad(const run *p, const clustered *s, u64 t, u32 k) {
    u32 begin = block_index() * p->block_neurons, count = own(p), answers = 0, span = room_at<u16>(s, s->at_spans)[k / 32];
    four sum = quad_sums(p, s, t, k);
    network w = view<models>(p, s, t);
    quad q;
    if (models == 1 << LIF || models == 1 << FEAGI) {
        q.v = *room_at<floats>(s, s->at_v + 4 * k);
        q.refractory = *room_at<halves>(s, s->at_refractory + 2 * k);
        if (models == 1 << FEAGI) q.count = *room_at<halves>(s, s->at_count + 2 * k);
        w.v = q.v.at, w.refractory = q.refractory.at, w.count = q.count.at;
    }
#pragma unroll
    for (u32 j = 0; j < 4; j++) {
        if (k + j >= count) break;
        u32 place = (span == MIXED ? area_at(p, s, begin, k + j) : span) & ~SIMPLE, at = models == 1 << LIF || models == 1 << FEAGI ? j : k + j;
        const area *a = room_at<area>(s, s->at_areas) + place;
        u32 i = begin + k + j - a->first;
        float term = a->differ || place >= COMMON ? term_of(&w, a, i) : s->common[place];
        answers |= (u32)update<models>(&w, a, i, at, (i32)sum.word[j], 0, term) << j;
    }
    if (models == 1 << LIF || models == 1 << FEAGI) {
        *room_at<floats>(s, s->at_v + 4 * k) = q.v;
        *room_at<halves>(s, s->at_refractory + 2 * k) = q.refractory;
        if (models == 1 << FEAGI) *room_at<halves>(s, s->at_count + 2 * k) = q.count;
    }
    return answers;
}

// update_cluster is steps 3 and 4 for the block's neurons, whose bits it leaves.
template <u32 models> DEVICE void update_cluster(const run *p, u64 t, const clustered *s) {
    u32 quads = p->block_neurons / 4, *bits = room_at<u32>(s, s->at_bits);
    for (u32 q = thread_in_block(); q / 32 * 32 < quads; q += workers()) {
        bool some = q < quads;
        store_nibbles(bits + q / 8, some ? update_quad<models>(p, s, t, 4 * q) : 0, some);
    }
}

// list_cluster is step 5: the block's part of the queue, ascending, one thread a word.
DEVICE void list_cluster(const run *p, u64 t, const clustered *s) {
    u32 words = p->block_neurons / 32, each = (words + GROUPS - 1) / GROUPS, begin = block_index() * p->block_neurons;
    const u32 *bits = room_at<u32>(s, s->at_bits);
    const u8 *labels = room_at<u8>(s, s->at_labels);
    u32 *queue = queue_of(p, t);
#pragma unroll 1
    for (u32 w = thread_in_block(); w < words; w += workers()) {
        u32 rest = bits[w], at = s->base + s->group[w / each];
        if (rest == 0) continue;
#pragma unroll 1
        for (u32 v = w / each * each; v < w; v++) at += ones(bits[v]);
#pragma unroll 1
        for (; rest != 0; rest &= rest - 1) {
            u32 k = 32 * w + ones((rest & -rest) - 1);
            queue[at++] = (begin + k) | (u32)labels[k] << p->packed.id_bits;
        }
    }
}

// take_part takes a part of burst t's queue for the block, by one thread; turn is where its length is.
DEVICE void take_part(const run *p, u32 turn, clustered *s) {
    s->base = s->total == 0 ? 0 : fetch_add(p->length + turn, s->total);
    if (block_index() == 0) p->length[turn == 2 ? 0 : turn + 1] = 0; // all blocks have read it in the burst before
}

// bring_ids brings the host what the block has listed in burst t, which no block waits for.
DEVICE void bring_ids(const run *p, u64 t, const clustered *s) {
    const u32 *own = queue_of(p, t) + s->base;
    u32 *ids = p->ids + ((t - p->first) * block_count() + block_index()) * (u64)p->block_neurons, mask = (1u << p->packed.id_bits) - 1;
    for (u32 k = thread_in_block(); k < s->total; k += workers()) ids[k] = own[k] & mask;
    if (thread_in_block() == 0) p->fired[(t - p->first) * block_count() + block_index()] = s->total;
}

// stimulate_cluster is what burst t needs and no fire queue changes.
DEVICE void stimulate_cluster(const run *p, u64 t, clustered *s) {
    prepare(p, t, s);
    if (thread_in_block() != 0) return;
    s->stimulated = 0;
    for (u64 i = 0; i < p->stimulus_count; i++) s->stimulated |= acts(p->stimuli + i, t);
}

#ifndef BURST_ON_HOST
// meet_all lets all blocks wait for each other, and meanwhile works out what drives add in burst t.
DEVICE void meet_all(const run *p, u64 t, clustered *s) {
    worker_barrier();
    bool last = thread_in_block() == workers() - 1;
    if (last) arrive(p->arrived);
    drive_quads(p, t, s);
    if (last) {
        u32 wanted = ++s->met * block_count();
        while (arrivals(p->arrived) < wanted) {
        }
        acquire();
    }
    worker_barrier();
}

// work_cluster is the law of many bursts in one launch, whose blocks all run at once, for areas of some models.
//
//	for t := first; t < first + bursts; t++ {
//		deliver the rows of the queue
//		for n := range neurons { if b.fires(n) { queue = append(queue, n) } }
//	}
template <u32 models> DEVICE void work_cluster(const run *p, clustered *s) {
    u32 turn = (u32)(p->first % 3), last = workers() - 1, size = p->packed.size;
    stimulate_cluster(p, p->first, s);
    meet_all(p, p->first, s);
    for (u64 t = p->first; t < p->first + p->bursts; t++) {
        if (p->packed.wide) sum_places<true>(p, t, turn, s);
        else sum_places<false>(p, t, turn, s);
        turn = turn == 2 ? 0 : turn + 1;
        worker_barrier();
        if (size > 1) {
            if (thread_in_block() == last) join(s, size, (u32)(t - p->first + 1) * size);
            worker_barrier();
        }
        update_cluster<models>(p, t, s);
        worker_barrier();
        count_groups(p, s);
        if (thread_in_block() == 31) take_part(p, turn, s);
        worker_barrier();
        list_cluster(p, t, s);
        if (t + 1 < p->first + p->bursts) stimulate_cluster(p, t + 1, s);
        meet_all(p, t + 1, s);
        if (thread_in_block() == last) store_block(&s->complete, (u32)(t - p->first)); // bursts whose ids the host has
        zero_sums(p, s);
        bring_ids(p, t, s);
        worker_barrier();
    }
    meet_all(p, p->first + p->bursts, s);
    if (thread_in_block() == last) store_block(&s->complete, (u32)p->bursts);
}

template <u32 models> DEVICE void run_cluster(const run *p) {
    SHARED clustered s;
    if (thread_in_block() == 0) divide_cluster<models>(p, &s);
    block_barrier();
    begin_cluster<models>(p, &s);
    cluster_barrier();
    if (thread_in_block() < workers()) work_cluster<models>(p, &s);
    else if (thread_in_block() == workers() && block_index() == block_count() - 1) serve(p, &s);
    block_barrier();
    end_resident<models>(p, &s);
}

KERNEL_OF_1024 cluster_bursts(run p) { run_cluster<ALL_MODELS>(&p); }
KERNEL_OF_1024 cluster_bursts_feagi(run p) { run_cluster<1 << FEAGI>(&p); }
KERNEL_OF_1024 cluster_bursts_lif(run p) { run_cluster<1 << LIF>(&p); }
#endif
#endif
