#ifndef BURST_RESIDENT
#define BURST_RESIDENT
#include "resident.cuh"

// Many bursts in one launch, as run_bursts does them, for networks whose neurons' state, places of rows and tables fit the
// shared memory of all blocks together. A block delivers the rows of its own neurons, so that most bursts wait for all
// blocks but once; what it has too many of, and rows that are too long for one block, it leaves to all in the queue. The
// last warp of a block takes no part: that of the last block tells the host.

// So many synapses of a row a thread loads before it delivers the first one.
const u32 AT_ONCE = 4;

// send tells the host who fires, step 5, and leaves long rows to all blocks. turn is (t + 1) mod 3.
DEVICE void send(const run *p, u64 t, u32 turn, resident *s) {
    u32 total = s->total, *length = p->length + turn;
    bool listed = total <= host_room(p);
    if (!listed) bring_bits(p, t, room_at<u32>(s, s->at_bits), workers());
    if (thread_in_block() < total) {
        const u16 *list = room_at<u16>(s, s->at_list);
        const u32 *rows = room_at<u32>(s, s->at_rows);
        u32 begin = block_index() * p->block_neurons;
        u32 *ids = for_host(p, t);
#pragma unroll 1
        for (u32 j = thread_in_block(); j < total; j += workers()) {
            u32 k = list[j], count = rows[k + 1] - rows[k];
            if (listed) ids[j] = begin + k;
            if (j >= p->own_rows || count <= p->longest) continue;
            p->queue[fetch_add(length, 1)] = spike{s->first_row + rows[k], count};
            s->left = 1;
        }
    }
    if (thread_in_block() == 0) {
        report(p, t, total);
        if (block_index() == 0) p->length[turn == 2 ? 0 : turn + 1] = 0; // all blocks have read it in the burst before
        if (total > p->own_rows) {
            s->base = fetch_add(length, total - p->own_rows);
            s->left = 1;
        }
    }
}

// leave puts the rows that the block has too many of into the queue.
DEVICE void leave(const run *p, const resident *s) {
    const u16 *list = room_at<u16>(s, s->at_list);
    const u32 *rows = room_at<u32>(s, s->at_rows);
    for (u32 j = p->own_rows + thread_in_block(); j < s->total; j += workers()) {
        u32 k = list[j];
        p->queue[s->base + j - p->own_rows] = spike{s->first_row + rows[k], rows[k + 1] - rows[k]};
    }
}

// deliver_one delivers a synapse of a neuron that fired in burst t.
DEVICE void deliver_one(const run *p, u64 t, const i32 *values, u32 word, i32 weight, u32 delay) {
    i32 *slot = p->ring + (u64)(((u32)t + delay) & p->slot_mask) * p->ports;
    accumulate(slot + port_of(&p->all, word), p->all.weight != nullptr ? weight : values[word >> p->all.port_bits]);
}

// deliver_synapses delivers every 32nd synapse k ≤ i < end of a row of a neuron that fired in burst t, so many before it waits; with
// next all have delay 1. What is not loaded is 0: a variable that only some turns set would keep its register through all bursts.
template <bool next> DEVICE void deliver_synapses(const run *p, u64 t, const i32 *values, u64 row, u32 k, u32 end) {
#pragma unroll 1
    for (; k < end; k += 32 * AT_ONCE) {
        u32 word[AT_ONCE], delay[AT_ONCE];
        i32 weight[AT_ONCE];
#pragma unroll
        for (u32 j = 0; j < AT_ONCE; j++) { // all loads before the first addition
            word[j] = delay[j] = 0;
            weight[j] = 0;
            if (k + 32 * j >= end) continue;
            u64 i = row + k + 32 * j;
            word[j] = p->all.target[i];
            if (p->all.weight != nullptr) weight[j] = p->all.weight[i];
            if (!next) delay[j] = p->delay == nullptr ? 1 : p->delay[i];
        }
#pragma unroll
        for (u32 j = 0; j < AT_ONCE; j++)
            if (next ? k + 32 * j < end : delay[j] != 0) deliver_one(p, t, values, word[j], weight[j], next ? 1 : delay[j]);
    }
}

// deliver_rows is step 1 for neurons that fired in burst t: those of the block but for what all blocks share, or with shared
// the block's part of that. A warp delivers a piece of a row at a time, of which there are 2^parts_log, or more where all
// blocks share few rows. turn is (t + 1) mod 3.
DEVICE void deliver_rows(const run *p, u64 t, u32 turn, const resident *s, bool shared) {
    u32 warps = workers() / 32, thread = anew(thread_in_block()), warp = thread / 32;
    u32 rows = s->total < p->own_rows ? s->total : p->own_rows, parts_log = p->parts_log;
    if (shared) {
        rows = read(p->length + turn);
        warp += block_index() * warps;
        warps *= block_count();
        while (parts_log < p->most_parts_log && (u64)rows << parts_log < warps) parts_log++;
    }
    const i32 *values = room_at<i32>(s, s->at_values);
#pragma unroll 1
    for (u64 piece = warp; piece < (u64)rows << parts_log; piece += warps) {
        spike row;
        if (shared) {
            row = p->queue[piece >> parts_log];
        } else {
            const u32 *at = room_at<u32>(s, s->at_rows) + room_at<u16>(s, s->at_list)[piece >> parts_log];
            u32 count = at[1] - at[0];
            row = spike{s->first_row + at[0], count > p->longest ? 0 : count};
        }
        u64 part = piece & ((1ull << parts_log) - 1);
        u32 k = (u32)(row.count * part >> parts_log) + thread % 32, end = (u32)(row.count * (part + 1) >> parts_log);
        deliver_synapses<false>(p, t, values, row.first, k, end);
    }
}

// list_alone lists who fires, ascending, as list_block does, by the block's first warp alone: others have their own to do.
DEVICE void list_alone(const run *p, resident *s) {
    u32 words = p->block_neurons / 32, each = (words + GROUPS - 1) / GROUPS, g = anew(thread_in_block());
    if (g >= GROUPS) return;
    const u32 *bits = room_at<u32>(s, s->at_bits);
    u16 *list = room_at<u16>(s, s->at_list);
    u32 before = s->group[g];
#pragma unroll 1
    for (u32 w = g * each; w < (g + 1) * each && w < words; w++)
#pragma unroll 1
        for (u32 rest = bits[w]; rest != 0; rest &= rest - 1) list[before++] = (u16)(32 * w + ones((rest & -rest) - 1));
}

// bring_ids tells the host which of the block's neurons fired in burst t, step 5, once its first warp has listed them.
DEVICE void bring_ids(const run *p, u64 t, const resident *s) {
    const u16 *list = room_at<u16>(s, s->at_list);
    u32 begin = block_index() * p->block_neurons, total = s->total, *ids = for_host(p, t);
    if (thread_in_block() >= 32) return;
    if (total > host_room(p)) {
        bring_bits(p, t, room_at<u32>(s, s->at_bits), 32);
    } else {
#pragma unroll 1
        for (u32 j = lane(); j < total; j += 32) ids[j] = begin + list[j];
    }
    if (lane() == 0) report(p, t, total);
}

// meet lets all blocks wait for each other; what they wrote before is seen by all after it. It says whether any block has
// left rows. arrived counts blocks in its lower half; in the upper half it counts, for even and odd meetings apart, those that
// have. With drives the block works out meanwhile what they add in burst t, and in delayed_bursts the areas' terms, and tells the
// host of the burst before, which the next meeting waits for.
template <bool delayed> DEVICE bool meet(const run *p, u64 t, resident *s, bool drives) {
    worker_barrier();
    bool last = thread_in_block() == workers() - 1;
    u32 field = 0, wanted = 0;
    if (last) {
        u32 met = ++s->met;
        field = 32 + 16 * (met & 1), wanted = met * block_count();
        arrive((u64 *)p->arrived, 1 | (s->left ? 1ull << field : 0));
        s->left = s->listed = 0;
    }
    if (delayed && drives) find_terms(p, t, s);
    if (delayed && drives && t > p->first) {
        count_groups(p, s);
        warp_barrier();
        list_alone(p, s);
        warp_barrier();
        bring_ids(p, t - 1, s);
    }
    if (drives) drive_block<true>(p, t, s, p->drive_count > 0 ? 2 : 0);
    if (last) {
        u64 now;
        do now = arrivals((const u64 *)p->arrived);
        while ((u32)now < wanted);
        acquire();
        u32 seen = (u32)(now >> field) & 0xffff, *before = s->seen + (field - 32) / 16;
        s->more = seen != *before;
        *before = seen;
    }
    worker_barrier();
    return s->more;
}

// work is the law of many bursts in one launch, whose blocks all run at once, for areas of some models.
//
//	for t := first; t < first + bursts; t++ {
//		for n := range neurons { if b.fires(n) { queue = append(queue, n) } }
//		deliver the rows of the queue, in a second round what blocks have left, and the stimuli of burst t + 1
//	}
//
// Where candidates are listed, those of a burst are before the next meeting, and it is complete then.
template <u32 models> DEVICE void work(const run *p, resident *s) {
    bool shared = true; // what the launch before has left
    u32 turn = (u32)(p->first % 3), written = 0; // written: bursts' lists
    for (u64 t = p->first - 1;;) {
        if (!shared) {
            update_resident<models>(p, t, s);
            worker_barrier();
            count_groups(p, s);
            if (lists(&p->list)) count_candidates(&p->list, t - p->first, p->block_neurons);
            worker_barrier();
            list_block(p, s);
            if (lists(&p->list)) count_spans(&p->list, t - p->first, p->block_neurons, workers());
            worker_barrier();
            send(p, t, turn, s);
        }
        deliver_rows(p, t, turn, s, shared);
        u32 met = (u32)(t + shared - p->first); // bursts that all blocks have computed
        if (lists(&p->list) && written < met) list_candidates(&p->list, written++, p->block_neurons, workers());
        if (!shared && s->total > p->own_rows) {
            worker_barrier();
            leave(p, s);
        }
        bool last = t + 1 == p->first + p->bursts, fresh = !shared || t + 1 == p->first;
        if (fresh && !last) prepare(p, t + 1, s);
        bool more = meet<false>(p, t + 1, s, fresh);
        if ((lists(&p->list) || !shared) && thread_in_block() == workers() - 1) store_block(&s->complete, lists(&p->list) ? met : met + 1);
        if (last) break;
        shared = !shared && more;
        if (shared) continue;
        t++;
        turn = turn == 2 ? 0 : turn + 1;
    }
    if (!lists(&p->list)) return;
    list_candidates(&p->list, p->bursts - 1, p->block_neurons, workers());
    meet<false>(p, p->first + p->bursts, s, false);
    if (thread_in_block() == workers() - 1) store_block(&s->complete, (u32)p->bursts);
}

template <u32 models, void (*work)(const run *, resident *)> DEVICE void run_resident(const run *p) {
    SHARED(resident, s);
    if (thread_in_block() == 0) divide<models>(p, &s);
    block_barrier();
    begin_resident<models>(p, &s);
    block_barrier();
    if (thread_in_block() < workers()) work(p, &s);
    else if (thread_in_block() == workers() && block_index() == block_count() - 1) serve(p, &s, 0);
    block_barrier();
    end_resident<models>(p, &s);
}

KERNEL_OF_1024 resident_bursts(run p) { run_resident<ALL_MODELS, work<ALL_MODELS>>(&p); }
KERNEL_OF_1024 resident_bursts_feagi(run p) { run_resident<1 << FEAGI, work<1 << FEAGI>>(&p); }
KERNEL_OF_1024 resident_bursts_lif(run p) { run_resident<1 << LIF, work<1 << LIF>>(&p); }
KERNEL_OF_1024 resident_bursts_psc_exp(run p) { run_resident<1 << PSC_EXP, work<1 << PSC_EXP>>(&p); }
#endif
