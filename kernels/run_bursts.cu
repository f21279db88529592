#include "network.cuh"
#include "philox.cuh"

// Neurons that a block of run_bursts can have, for whose answers it has bits in shared memory.
const u32 BLOCK_WORDS = 8192;
// The words of these bits are summed in so many groups.
const u32 GROUPS = 32;

// scheduled is a stimulus of the genome.
struct scheduled {
    u64 at, every, from, until; // bursts
    u64 first, count;           // its amounts
};

// run is what run_bursts needs beside the network. Sums wait in a ring of slots, a power of two and more than the longest
// delay, so that a fired row is delivered at once, whatever its delays.
struct run {
    network w;
    const drive *drives;
    const u32 *counts;
    const i32 *table;
    const scheduled *stimuli;
    u64 stimulus_count;
    const candidate *amounts;

    const u64 *row;
    const u32 *target;
    const i32 *weight;
    const u8 *delay; // null when all are 1
    u32 parts_log;   // a row is delivered by 2^parts_log warps

    i32 *ring;
    u32 slot_mask, ports;
    u32 neurons, block_neurons; // block_neurons: of each block, a multiple of 32

    u32 *queue;  // who fired in the burst before, in any order
    u32 *length; // of the queue: that of burst t at (t + 1) mod 2
    u32 *arrived; // blocks at the grid's barrier

    u32 *ids;      // mapped host memory: for each burst of the launch, neurons that fired, a block's from its first neuron on
    u32 *fired;    // and how many of each block
    u64 *done;     // and t + 1 when they are all there
    u64 first;     // burst
    u64 bursts;
};

// shared is a block's memory.
struct shared {
    u32 bits[BLOCK_WORDS]; // who fires, a bit a neuron
    u32 group[GROUPS];     // how many fire in each group of words
    u32 total[2];          // how many fire in all; of burst t at t mod 2
    u32 base;              // where the block's part of the queue begins
};

// acts reports whether a stimulus acts in burst t.
DEVICE bool acts(const scheduled *s, u64 t) {
    if (s->every == 0) return t == s->at;
    return t % s->every == 0 && s->from <= t && t < s->until;
}

// deliver is steps 1 and 2 but for drives: the rows of who fired in burst t − 1, and the stimuli of burst t.
DEVICE void deliver(const run *p, u64 t) {
    u64 items = (u64)read(p->length + t % 2) << p->parts_log;
    for (u64 item = thread_index() / 32; item < items; item += thread_count() / 32) {
        u32 n = p->queue[item >> p->parts_log];
        u64 first = p->row[n], length = p->row[n + 1] - first, part = item & ((1ull << p->parts_log) - 1);
        u64 low = first + (length * part >> p->parts_log), high = first + (length * (part + 1) >> p->parts_log);
        for (u64 k = low + lane(); k < high; k += 128) {
            u32 port[4], slot[4];
            i32 weight[4];
            for (u32 j = 0; j < 4; j++) // all loads before the first addition
                if (k + 32 * j < high) {
                    port[j] = p->target[k + 32 * j];
                    weight[j] = p->weight[k + 32 * j];
                    slot[j] = ((u32)t - 1 + (p->delay == nullptr ? 1 : p->delay[k + 32 * j])) & p->slot_mask;
                }
            for (u32 j = 0; j < 4; j++)
                if (k + 32 * j < high) add(p->ring + (u64)slot[j] * p->ports + port[j], weight[j]);
        }
    }
    i32 *acc = p->ring + ((u64)t & p->slot_mask) * p->ports;
    for (u64 s = 0; s < p->stimulus_count; s++) {
        const scheduled *one = p->stimuli + s;
        if (!acts(one, t)) continue;
        for (u64 k = thread_index(); k < one->count; k += thread_count())
            add(acc + p->amounts[one->first + k].port, p->amounts[one->first + k].sum);
    }
    if (thread_index() == 0) p->length[(t + 1) % 2] = 0; // the other one was read in the burst before
}

// sum_of takes the sum of a neuron's port out of the ring.
DEVICE i32 sum_of(i32 *acc) {
    i32 sum = *acc;
    if (sum != 0) *acc = 0; // 7
    return sum;
}

// fires is the drives' part of step 2, and steps 3 and 4, for neuron n.
DEVICE bool fires(const run *p, const network *w, u32 n) {
    const area *a = area_of(w->areas, w->area_count, n);
    u32 i = n - a->first, count = a->end - a->first, ports = ports_of(a->model);
    i32 *acc = p->ring + (w->t & p->slot_mask) * p->ports + a->first_port + i;
    i32 first = ports > 0 ? sum_of(acc) : 0, second = ports > 1 ? sum_of(acc + count) : 0;
    for (u32 k = a->first_drive; k < a->first_drive + a->drives; k++) {
        i32 amount = amount_of(p->drives + k, p->counts, p->table, w->seed, i, w->t);
        if (amount < 0 && ports > 1) second += amount;
        else first += amount;
    }
    return update(w, a, i, first, second);
}

// update_block is steps 3 and 4 for the block's neurons.
DEVICE void update_block(const run *p, u64 t, shared *s) {
    network w = p->w;
    w.t = t;
    u32 begin = block_index() * p->block_neurons;
    for (u32 k = thread_in_block(); k < p->block_neurons; k += block_size()) {
        u32 n = begin + k;
        bool yes = n < p->neurons && n >= begin && fires(p, &w, n);
        store_bits(s->bits + k / 32, yes);
#ifdef BURST_ON_HOST
        if (yes) s->total[t % 2]++;
#else
        if (lane() == 0 && s->bits[k / 32] != 0) add((i32 *)s->total + t % 2, (i32)ones(s->bits[k / 32]));
#endif
    }
}

// reserve takes a part of the queue for the block, and sums the groups of words.
DEVICE void reserve(const run *p, u64 t, shared *s) {
    u32 words = p->block_neurons / 32, each = (words + GROUPS - 1) / GROUPS, g = thread_in_block();
    if (g < GROUPS) {
        u32 sum = 0;
        for (u32 w = g * each; w < (g + 1) * each && w < words; w++) sum += ones(s->bits[w]);
        s->group[g] = sum;
    }
    if (thread_in_block() == block_size() - 1) {
        u32 total = s->total[t % 2];
        s->total[(t + 1) % 2] = 0;
        s->base = total == 0 ? 0 : fetch_add(p->length + (t + 1) % 2, total);
    }
}

// list is step 5: the block's part of the queue, and the same for the host, ascending.
DEVICE void list(const run *p, u64 t, const shared *s) {
    u32 words = p->block_neurons / 32, each = (words + GROUPS - 1) / GROUPS, begin = block_index() * p->block_neurons;
    u32 *ids = p->ids + (t - p->first) * ((u64)p->block_neurons * block_count()) + begin;
    for (u32 w = thread_in_block(); w < words; w += block_size()) {
        u32 bits = s->bits[w];
        if (bits == 0) continue;
        u32 before = 0;
        for (u32 g = 0; g < w / each; g++) before += s->group[g];
        for (u32 v = w / each * each; v < w; v++) before += ones(s->bits[v]);
        for (; bits != 0; bits &= bits - 1) {
            u32 n = begin + w * 32 + lowest(bits);
            p->queue[s->base + before] = n;
            ids[before] = n;
            before++;
        }
    }
    if (thread_in_block() == 0) p->fired[(t - p->first) * block_count() + block_index()] = s->total[t % 2];
}

// announce tells the host that a burst is complete.
DEVICE void announce(const run *p, u64 t) {
    if (thread_index() == 0) *(volatile u64 *)(p->done + (t - p->first)) = t + 1;
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
            u32 d = p.delay == nullptr ? 1 : p.delay[k];
            if (d >= least) add(p.ring + ((fired_at + d) & p.slot_mask) * p.ports + p.target[k], p.weight[k]);
        }
    }
}

#ifndef BURST_ON_HOST
// grid_barrier lets all blocks' threads wait for each other; what they wrote before is seen by all after it, and with
// system set by the host too.
DEVICE void grid_barrier(u32 *arrived, u32 *wanted, bool system) {
    block_barrier();
    *wanted += block_count();
    if (thread_in_block() == 0) {
        if (system) fence_system();
        else fence();
        add((i32 *)arrived, 1);
        while (read(arrived) < *wanted) {
        }
        fence();
    }
    block_barrier();
}

// run_bursts is the law of many bursts in one launch, whose blocks all run at once.
//
//	for t := first; t < first + bursts; t++ {
//		deliver the rows of the queue, and the stimuli
//		for n := range neurons { if b.fires(n) { queue = append(queue, n) } }
//	}
KERNEL_OF_1024 run_bursts(run p) {
    SHARED shared s;
    u32 wanted = 0;
    if (thread_in_block() < 2) s.total[thread_in_block()] = 0;
    for (u64 t = p.first; t < p.first + p.bursts; t++) {
        deliver(&p, t);
        grid_barrier(p.arrived, &wanted, true);
        if (t > p.first) announce(&p, t - 1); // its ids have had the delivery's time to arrive
        update_block(&p, t, &s);
        block_barrier();
        reserve(&p, t, &s);
        block_barrier();
        list(&p, t, &s);
        grid_barrier(p.arrived, &wanted, false);
    }
    grid_barrier(p.arrived, &wanted, true);
    announce(&p, p.first + p.bursts - 1);
}
#endif
