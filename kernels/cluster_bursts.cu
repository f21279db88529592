#include "clusters.cuh"

#ifdef BURST_CLUSTERS
// Many bursts in one launch, for networks whose neurons' state and sums fit the shared memory of all blocks together: see
// clusters.cuh. Every block waits for all others once a burst, when all have listed who fired. The last warp of a block
// takes no part: that of the last block tells the host.

// So many units a thread loads before it adds the first one.
const u32 UNITS = 4;

// A thread counts what so many blocks have listed, so that there may be 32 times as many.
const u32 BLOCKS_EACH = 8;

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
    s->at_sums = reserve_room<i32>(&used, p->packed.ports);
    s->at_ahead = reserve_room<u32>(&used, block_count() + 1);
    s->at_bits = reserve_room<u32>(&used, own / 32);
    s->at_spans = reserve_room<u16>(&used, own / 32);
    s->at_labels = reserve_room<u8>(&used, own);
    s->at_v = reserve_room<float>(&used, own);
    s->at_more = reserve_room<float>(&used, p->w.variables * own);
    s->at_refractory = reserve_room<u16>(&used, own);
    s->at_count = reserve_room<u16>(&used, models & 1 << FEAGI ? own : 0);
    s->at_input = reserve_room<i32>(&used, p->packed.drawn ? own : 0);
    s->at_areas = reserve_room<area>(&used, p->w.area_count);
    s->at_terms = reserve_room<term>(&used, p->term_count);
    s->at_drives = reserve_room<drive>(&used, p->drive_count);
    s->at_counts = reserve_room<u32>(&used, p->count_entries);
    s->at_table = reserve_room<i32>(&used, p->table_entries);
    s->at_values = reserve_room<i32>(&used, p->value_count);
    s->joined = 0;
}

// zero_sums sets the block's sums to zero.
DEVICE void zero_sums(const run *p, const clustered *s) {
    four *sums = room_at<four>(s, s->at_sums);
    for (u32 k = thread_in_block(); k < p->packed.ports / FOUR; k += workers()) sums[k] = four{};
}

// begin_cluster fills the block's memory, which is divided.
template <u32 models> DEVICE void begin_cluster(const run *p, clustered *s) {
    begin_state<models>(p, s);
    copy(room_at<u8>(s, s->at_labels), p->packed.label + (u64)block_index() * p->block_neurons, own(p));
    i32 *sums = room_at<i32>(s, s->at_sums);
    for (u32 k = thread_in_block(); k < p->packed.ports; k += block_size()) sums[k] = 0;
}

// count_ahead finds how many rows of burst t's queue are ahead of each block's part, by the block's first warp.
DEVICE void count_ahead(const run *p, u64 t, const clustered *s) {
    u32 blocks = block_count(), each = (blocks + 31) / 32, first = thread_in_block() * each, count[BLOCKS_EACH], sum = 0;
    if (thread_in_block() >= 32) return;
    const u32 *lengths = lengths_of(p, t, blocks);
    u32 *ahead = room_at<u32>(s, s->at_ahead);
#pragma unroll
    for (u32 k = 0; k < BLOCKS_EACH; k++) count[k] = k < each && first + k < blocks ? read(lengths + first + k) : 0;
#pragma unroll
    for (u32 k = 0; k < BLOCKS_EACH; k++) sum += count[k];
    u32 before = sum_before(ahead + blocks, sum);
#pragma unroll
    for (u32 k = 0; k < BLOCKS_EACH; k++) {
        if (k < each && first + k < blocks) ahead[first + k] = before;
        before += count[k];
    }
}

// block_of is the block whose part of the queue has row i.
DEVICE u32 block_of(const u32 *ahead, u32 i) {
    u32 low = 0, high = block_count(); // the last block that has no more than i ahead
    while (high - low > 1) {
        u32 middle = (low + high) / 2;
        if (ahead[middle] <= i) low = middle;
        else high = middle;
    }
    return low;
}

// add_unit adds a unit's synapses to the block's sums.
DEVICE void add_unit(const clustered *s, u32 sums, u32 ports, const unit *u, i32 weight) {
#pragma unroll
    for (u32 j = 0; j < UNIT; j++) {
        u32 place = j % 2 == 0 ? u->word[j / 2] & 0xffff : u->word[j / 2] >> 16;
        if (place < ports) add_shared(s, sums, place, weight);
    }
}

// add_more adds what begins in a unit of more.
DEVICE void add_more(const clustered *s, u32 sums, const places *m, u32 number, i32 weight) {
#pragma unroll 1
    while (number != NO_UNIT) {
        unit u = load_unit(m->more, number);
        number = further(&u);
        add_unit(s, sums, m->ports, &u, weight);
    }
}

// load_words loads the queue's words for the next units that a thread loads, whose rows begin at i, a step apart. block is the one
// that has the row before, and becomes that of the last row.
DEVICE void load_words(const run *p, const u32 *queue, const u32 *ahead, u32 i, u32 end, u32 step, u32 *words, u32 *block) {
    u32 more_log = p->packed.more_log;
#pragma unroll
    for (u32 j = 0; j < UNITS; j++) {
        if (j & ((1u << more_log) - 1)) {
            words[j] = words[j - 1];
            continue;
        }
        u32 row = i + (j >> more_log) * step;
        words[j] = 0;
        if (row >= end) continue;
        while (ahead[*block + 1] <= row) ++*block;
        words[j] = queue[*block * p->block_neurons + row - ahead[*block]];
    }
}

// sum_places is step 1 for the fire queue of burst t − 1, of which each warp of a cluster takes neighbouring rows. A thread loads
// several units before it adds the first one: of as many rows, or a row's that are its share, 2^more_log. Synapses that go on
// elsewhere are left to the end, where all threads wait for theirs together.
DEVICE void sum_places(const run *p, u64 t, const clustered *s) {
    const places *m = &p->packed;
    const u32 *ahead = room_at<u32>(s, s->at_ahead), *queue = queue_of(p, t - 1, block_count());
    const i32 *values = room_at<i32>(s, s->at_values);
    u32 team = block_index() / m->size, mask = (1u << m->id_bits) - 1, rows = ahead[block_count()], sums = shared_address(s, s->at_sums);
    u32 warps = workers() / 32, warp = block_index() % m->size * warps + thread_in_block() / 32;
    u32 part = lane() & ((1u << m->share_log) - 1), group = lane() >> m->share_log, step = 32 >> m->share_log, each = 1u << m->more_log;
    u32 i = (u32)((u64)rows * warp / (warps * m->size)) + group, end = (u32)((u64)rows * (warp + 1) / (warps * m->size));
    if (i >= end) return;
    u32 further_on = NO_UNIT; // where synapses go on
    i32 further_weight = 0;
    u32 words[UNITS], block = block_of(ahead, i);
    load_words(p, queue, ahead, i, end, step, words, &block);
    for (; i < end;) {
        unit u[UNITS];
        i32 weight[UNITS];
#pragma unroll
        for (u32 j = 0; j < UNITS; j++) {
            u32 number = part + ((j & (each - 1)) << m->share_log);
            bool some = i + (j >> m->more_log) * step < end && number < m->units;
            weight[j] = values[words[j] >> m->id_bits];
            u[j] = unit{{~0u, ~0u, ~0u, ~0u}};
            if (some) u[j] = load_unit(m->slot, ((u64)(words[j] & mask) * m->count + team) * m->units + number);
        }
        i += (UNITS >> m->more_log) * step;
        load_words(p, queue, ahead, i, end, step, words, &block);
#pragma unroll
        for (u32 j = 0; j < UNITS; j++) {
            u32 on = further(u + j);
            add_unit(s, sums, m->ports, u + j, weight[j]);
            if (on == NO_UNIT) continue;
            add_more(s, sums, m, further_on, further_weight);
            further_on = on, further_weight = weight[j];
        }
    }
    add_more(s, sums, m, further_on, further_weight);
}

// draw_inputs is the drives' part of step 2 for burst t: what they add for each of the block's neurons.
DEVICE void draw_inputs(const run *p, u64 t, const clustered *s) {
    u32 begin = block_index() * p->block_neurons, count = own(p);
    i32 *input = room_at<i32>(s, s->at_input);
    for (u32 k = thread_in_block(); p->packed.drawn && k < count; k += workers()) {
        const area *a = room_at<area>(s, s->at_areas) + (area_at(p, s, begin, k) & ~SIMPLE);
        i32 sum = 0;
        for (u32 d = a->first_drive; d < a->first_drive + a->drives; d++)
            sum += amount_of(room_at<drive>(s, s->at_drives) + d, room_at<u32>(s, s->at_counts), room_at<i32>(s, s->at_table),
                             p->w.seed, begin + k - a->first, t);
        input[k] = sum;
    }
}

// constant_input is what an area's drives add where none is drawn.
DEVICE i32 constant_input(const clustered *s, const area *a, u64 t) {
    i32 sum = 0;
#pragma unroll 1
    for (u32 k = a->first_drive; k < a->first_drive + a->drives; k++) {
        const drive *d = room_at<drive>(s, s->at_drives) + k;
        if (d->from <= t && t < d->until) sum += d->amount;
    }
    return sum;
}

// quad_sums are what has reached the block's neurons from the k-th on: what the cluster's blocks have summed, what was drawn,
// and where one acts stimuli.
DEVICE four quad_sums(const run *p, const clustered *s, u64 t, u32 k) {
    u32 size = p->packed.size, number = block_index() % size, at = s->at_sums + 4 * (number * p->block_neurons + k);
    four sum = *room_at<four>(s, at);
#pragma unroll
    for (u32 i = 1; i < MOST_BLOCKS; i++) {
        if (i >= size) break;
        four one = remote_four(s, number + i < size ? number + i : number + i - size, at);
#pragma unroll
        for (u32 j = 0; j < 4; j++) sum.word[j] += one.word[j];
    }
    if (p->packed.drawn) {
        four one = *room_at<four>(s, s->at_input + 4 * k);
#pragma unroll
        for (u32 j = 0; j < 4; j++) sum.word[j] += one.word[j];
    }
    if (!s->stimulated) return sum;
    u32 begin = block_index() * p->block_neurons, count = own(p);
    i32 *slot = p->ring + (t & p->slot_mask) * p->ports + begin;
#pragma unroll 1
    for (u32 j = 0; j < 4 && k + j < count; j++) {
        i32 in = slot[k + j];
        slot[k + j] = 0;
        sum.word[0] += j == 0 ? in : 0, sum.word[1] += j == 1 ? in : 0, sum.word[2] += j == 2 ? in : 0, sum.word[3] += j == 3 ? in : 0;
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
        i32 in = (i32)sum.word[j];
        if (!p->packed.drawn) in += constant_input(s, a, t);
        float term = a->differ || place >= COMMON ? term_of(&w, a, i) : s->common[place];
        answers |= (u32)update<models>(&w, a, i, at, in, 0, term) << j;
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
#pragma unroll 1
    for (u32 q = thread_in_block(); q / 32 * 32 < quads; q += workers()) {
        bool some = q < quads;
        store_nibbles(bits + q / 8, some ? update_quad<models>(p, s, t, 4 * q) : 0, some);
    }
}

// ones_ahead is how many bits are set in the words before the w-th. All lanes of the warp must call it, each for the word after
// that of the lane before.
DEVICE u32 ones_ahead(const u32 *bits, u32 words, u32 w) {
    u32 sum = 0;
#ifdef BURST_ON_HOST
    for (u32 v = 0; v < w && v < words; v++) sum += ones(bits[v]);
    return sum;
#else
    u32 total;
    for (u32 v = lane(); v < w - lane(); v += 32) sum += ones(bits[v]);
    for (u32 by = 16; by > 0; by /= 2) sum += shuffle_xor(sum, by);
    return sum + sum_before(&total, w < words ? ones(bits[w]) : 0);
#endif
}

// list_cluster is step 5: the block's part of the queue, ascending, one thread a word.
DEVICE void list_cluster(const run *p, u64 t, clustered *s) {
    u32 words = p->block_neurons / 32, begin = block_index() * p->block_neurons;
    const u32 *bits = room_at<u32>(s, s->at_bits);
    const u8 *labels = room_at<u8>(s, s->at_labels);
    u32 *queue = queue_of(p, t, block_count()) + begin;
#pragma unroll 1
    for (u32 w = thread_in_block(); w / 32 * 32 < words; w += workers()) {
        u32 at = ones_ahead(bits, words, w), rest = w < words ? bits[w] : 0;
        if (w == words - 1) lengths_of(p, t, block_count())[block_index()] = s->total = at + ones(rest);
#pragma unroll 1
        for (; rest != 0; rest &= rest - 1) {
            u32 k = 32 * w + ones((rest & -rest) - 1);
            queue[at++] = (begin + k) | (u32)labels[k] << p->packed.id_bits;
        }
    }
}

// bring_queue brings the host what the block has listed in burst t.
DEVICE void bring_queue(const run *p, u64 t, const clustered *s) {
    const u32 *own = queue_of(p, t, block_count()) + block_index() * p->block_neurons;
    u32 *ids = p->ids + ((t - p->first) * block_count() + block_index()) * (u64)p->block_neurons, mask = (1u << p->packed.id_bits) - 1;
    for (u32 k = thread_in_block(); k < s->total; k += workers()) ids[k] = own[k] & mask;
    if (thread_in_block() == 0) p->fired[(t - p->first) * block_count() + block_index()] = s->total;
}

// stimulate_cluster is what burst t needs and no fire queue changes: prepare, by the block's last threads first, which have no part in
// listing.
DEVICE void stimulate_cluster(const run *p, u64 t, clustered *s) {
    u32 thread = workers() - 1 - thread_in_block();
    u32 any = 0;
#pragma unroll 1
    for (u64 i = 0; i < p->stimulus_count; i++) {
        const scheduled *one = p->stimuli + i;
        if (!acts(one, t)) continue;
        any = 1;
        i32 *acc = p->ring + ((u64)t & p->slot_mask) * p->ports;
#pragma unroll 1
        for (u64 k = (u64)block_index() * workers() + thread; k < one->count; k += (u64)block_count() * workers())
            accumulate(acc + p->amounts[one->first + k].port, p->amounts[one->first + k].sum);
    }
    const area *areas = room_at<area>(s, s->at_areas);
    if (thread < p->w.area_count && thread < COMMON && !areas[thread].differ) {
        network w = p->w;
        w.terms = room_at<term>(s, s->at_terms);
        s->common[thread] = term_at(&w, areas + thread, 0, t);
    }
    if (thread == 0) s->stimulated = any;
}

// queue_places makes the queue of the fire queue of burst p.first − 1 for clusters, whose parts are empty, one thread a neuron.
KERNEL queue_places(run p, const u32 *fired, u32 length) {
    u32 i = (u32)thread_index(), blocks = p.packed.count * p.packed.size;
    if (i >= length) return;
    u32 n = fired[i], block = n / p.block_neurons, low = 0, high = i; // the first one of the block
    while (low < high) {
        u32 middle = (low + high) / 2;
        if (fired[middle] < block * p.block_neurons) low = middle + 1;
        else high = middle;
    }
    queue_of(&p, p.first - 1, blocks)[block * p.block_neurons + i - low] = n | (u32)p.packed.label[n] << p.packed.id_bits;
    add((i32 *)lengths_of(&p, p.first - 1, blocks) + block, 1);
}

#ifndef BURST_ON_HOST
// meet_all lets all blocks wait for each other, and meanwhile works out what drives add in burst t.
DEVICE void meet_all(const run *p, u64 t, clustered *s) {
    worker_barrier();
    bool last = thread_in_block() == workers() - 1;
    if (last) arrive(p->arrived);
    draw_inputs(p, t, s);
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
// The host has the fire queue of a burst when all have met in the next one: no block waits for what it writes to the host.
template <u32 models> DEVICE void work_cluster(const run *p, clustered *s) {
    u32 last = workers() - 1, size = p->packed.size;
    count_ahead(p, p->first - 1, s);
    stimulate_cluster(p, p->first, s);
    meet_all(p, p->first, s);
    for (u64 t = p->first; t < p->first + p->bursts; t++) {
        sum_places(p, t, s);
        worker_barrier();
        if (size > 1) {
            if (thread_in_block() == last) join(s, size, (u32)(t - p->first + 1) * size);
            worker_barrier();
        }
        if (t > p->first) bring_queue(p, t - 1, s);
        update_cluster<models>(p, t, s);
        worker_barrier();
        list_cluster(p, t, s);
        if (t + 1 < p->first + p->bursts) stimulate_cluster(p, t + 1, s);
        meet_all(p, t + 1, s);
        if (thread_in_block() == last) store_block(&s->complete, (u32)(t - p->first)); // bursts whose ids the host has
        count_ahead(p, t, s);
        zero_sums(p, s);
        worker_barrier();
    }
    bring_queue(p, p->first + p->bursts - 1, s);
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
