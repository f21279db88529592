// How blocks that keep their neurons' state deliver the rows of those that fire, once all of them are updated. A block delivers the rows
// of its own neurons, so that most bursts wait for all blocks but once; what it has too many of, and rows that are too long for one
// block, it leaves to all in the queue.
#pragma once
#include "resident.cuh"

// So many synapses of a row a thread loads before it delivers the first one.
const u32 AT_ONCE = 4;

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

// send leaves long rows to all blocks, and with told tells the host who fires, step 5.
DEVICE void send(const run *p, u64 t, resident *s, bool told) {
    u32 total = s->total, *length = length_of(p, t);
    bool listed = total <= host_room(p);
    if (told && !listed) bring_bits(p, t, room_at<u32>(s, s->at_bits), workers());
    if (thread_in_block() < total) {
        const u16 *list = room_at<u16>(s, s->at_list);
        const u32 *rows = room_at<u32>(s, s->at_rows);
        u32 begin = block_index() * p->block_neurons;
        u32 *ids = for_host(p, t);
#pragma unroll 1
        for (u32 j = thread_in_block(); j < total; j += workers()) {
            u32 k = list[j], count = rows[k + 1] - rows[k];
            if (told && listed) ids[j] = begin + k;
            if (j >= p->own_rows || count <= p->longest) continue;
            p->queue[fetch_add(length, 1)] = spike{s->first_row + rows[k], count};
            s->left = 1;
        }
    }
    if (thread_in_block() == 0) {
        if (told) report(p, t, total);
        if (block_index() == 0) *length_of(p, t + 1) = 0; // all blocks have read it in bursts before
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

// deliver_rows is step 1 for neurons that fired in burst t: those of the block but for what all blocks share, or with shared
// the block's part of that. A warp delivers a piece of a row at a time, of which there are 2^parts_log, or more where all
// blocks share few rows.
DEVICE void deliver_rows(const run *p, u64 t, const resident *s, bool shared) {
    u32 warps = workers() / 32, thread = anew(thread_in_block()), warp = thread / 32;
    u32 rows = s->total < p->own_rows ? s->total : p->own_rows, parts_log = p->parts_log;
    if (shared) {
        rows = read(length_of(p, t));
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
