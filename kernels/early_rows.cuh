// How blocks that keep their neurons' state deliver long rows with delays while neurons are updated, and others where the update leaves
// registers for it. Of the row of a neuron that fires only the synapses with delay 1, its first ones, have to be delivered before the
// next burst: the warp that has updated it does that at once, while others still update; of more than a few rows it leaves the
// others to all of the block's warps. The rest waits in a queue of its own, which all blocks deliver during the next burst, so that no
// burst waits for it: warps that have no neurons to update, the back ones, begin with it at once. Who fired is listed for the host while
// blocks wait for each other.
#pragma once
#include "own_rows.cuh"

// early reports whether the network's rows are delivered so.
DEVICE bool early(const run *p) { return p->soon != nullptr; }

// later_length_of is length_of for what is not due at once.
DEVICE u32 *later_length_of(const run *p, u64 t) { return p->later_length + ((u32)t + 1) % 4; }

// stock is where a block finds its rows, which a thread looks up once for many.
struct stock {
    const u32 *rows, *soon;
    const i32 *values;
    u64 first_row;
};

DEVICE stock stock_of(const resident *s) {
    return stock{room_at<u32>(s, anew(s->at_rows)), room_at<u32>(s, anew(s->at_soon)), room_at<i32>(s, anew(s->at_values)),
                 anew(s->first_row)};
}

// deliver_row delivers the synapses with delay 1 of the block's k-th neuron, which fires in burst t, by a warp.
DEVICE void deliver_row(const run *p, u64 t, const stock *from, u32 k) {
    u32 count = from->soon[k], place = anew(thread_in_block()) % 32;
    u64 row = from->first_row + from->rows[k];
    u32 next = 32 * AT_ONCE + SECTOR * place; // a thread's next turns, 32 bytes for each
    if (next < count) bring_closer(p->all.target + row + next);
    if (next < count && p->all.weight != nullptr) bring_closer(p->all.weight + row + next);
    deliver_synapses<true>(p, t, from->values, row, place, count);
}

// leave_row leaves a row's synapses with delay 1 to all blocks.
DEVICE void leave_row(const run *p, u64 t, resident *s, const stock *from, u32 k) {
    p->queue[fetch_add(length_of(p, t), 1)] = spike{from->first_row + from->rows[k], from->soon[k]};
    s->left = 1;
}

// deliver_word is step 1 with delay 1 for those of the neurons 32·w to 32·w + 31 that fire in burst t, as bits say, by the warp that
// has updated them: it delivers the rows of some, of how many it has taken, and lists the others for all of the block's warps, or leaves
// them to all blocks if they are long. It queues what is left of the rows.
DEVICE void deliver_word(const run *p, u64 t, resident *s, const stock *from, u32 w, u32 bits, u32 *taken) {
    const u32 *rows = from->rows, *soon = from->soon;
    u32 place = anew(thread_in_block()) % 32, k = 32 * w + place, at = 0, before = *taken;
    bool fires = bits >> place & 1;
    if (fires && rows[k + 1] - rows[k] > soon[k]) at = fetch_add(later_length_of(p, t), 1);
#pragma unroll 1
    for (u32 others = bits; others != 0; others &= others - 1) {
        u32 j = 32 * w + ones((others & -others) - 1);
        if ((*taken)++ < p->warp_rows && soon[j] <= p->longest) deliver_row(p, t, from, j);
    }
    if (!fires) return;
    k = 32 * anew(w) + place;
    u32 count = soon[k], later = rows[k + 1] - rows[k] - count;
    if (later > 0) p->later[(t & 1) * p->neurons + at] = spike{from->first_row + rows[k] + count, later};
    if (count == 0 || (before + ones(bits & ((1u << place) - 1)) < p->warp_rows && count <= p->longest)) return;
    u32 number = count <= p->longest ? fetch_add(&s->listed, 1) : p->own_rows;
    if (number < p->own_rows) room_at<u16>(s, s->at_list)[number] = (u16)k;
    else leave_row(p, t, s, from, k);
}

// deliver_soon is deliver_word for all neurons that the warp has updated.
DEVICE void deliver_soon(const run *p, u64 t, resident *s) {
    u32 taken = 0;
    const u32 *bits = room_at<u32>(s, anew(s->at_bits));
    stock from = stock_of(s);
    warp_barrier();
#pragma unroll 1
    for (u32 w = anew(thread_in_block()) / 32; w < p->block_neurons / 32; w += workers() / 32) {
        u32 one = bits[w];
        if (one != 0) deliver_word(p, t, s, &from, w, one, &taken);
    }
}

// deliver_listed is step 1 with delay 1 for the rows that the block's warps have listed.
DEVICE void deliver_listed(const run *p, u64 t, const resident *s) {
    u32 rows = s->listed < p->own_rows ? s->listed : p->own_rows;
    const u16 *list = room_at<u16>(s, anew(s->at_list));
    stock from = stock_of(s);
#pragma unroll 1
    for (u32 i = anew(thread_in_block()) / 32; i < rows; i += p->front) deliver_row(p, t, &from, list[i]);
}

// clear_lengths makes the queues of burst t + 1 empty, which all have read in the bursts before.
DEVICE void clear_lengths(const run *p, u64 t) {
    if (block_index() == 0 && thread_in_block() == 0) *length_of(p, t + 1) = *later_length_of(p, t + 1) = 0;
}

// left_of is how many rows the burst before t has left, or with shared warps of burst t to all. It is asked for before the update,
// which its answer needs not wait for.
DEVICE u32 left_of(const run *p, u64 t, bool shared) { return shared ? *length_of(p, t) : *later_length_of(p, t - 1); }

// deliver_left is step 1 for the queue of so many rows that burst t has left, which the block delivers its part of: each warp of
// the back has one piece of a row, and where there are more pieces, all warps share the others; the front does not look at what the
// back has taken. With shared it is step 1 for what is due at once and warps have left to all.
DEVICE void deliver_left(const run *p, u64 t, const resident *s, bool shared, u32 rows) {
    u32 warps = workers() / 32, thread = anew(thread_in_block()), warp = thread / 32, back = shared ? 0 : warps - p->front, blocks = anew(block_count());
    u32 least = shared ? 1 : p->later_parts, apart = back * blocks;
    if (rows == 0 || (back > 0 && warp < p->front && rows * least <= apart)) return;
    const spike *queue = shared ? p->queue : p->later + (t & 1) * p->neurons;
    const i32 *values = room_at<i32>(s, s->at_values);
    u32 own = apart + block_index() * warps + warp, parts = (back > 0 ? apart : warps * blocks) / rows;
    if (parts < least) parts = least;
    if (parts > p->most_later_parts) parts = p->most_later_parts;
#pragma unroll 1
    for (u32 piece = back > 0 && warp >= p->front ? block_index() * back + warp - p->front : own; piece < rows * parts;
         piece = piece < apart ? own : piece + warps * blocks) {
        spike row = queue[piece / parts];
        u32 part = piece % parts, each = ((u32)row.count + parts - 1) / parts;
        u64 k = (u64)part * each, end = k + each < row.count ? k + each : row.count;
        deliver_synapses<false>(p, t, values, row.first, (u32)k + thread % 32, (u32)end);
    }
}

// front_barrier is block_barrier for the warps that update.
DEVICE void front_barrier(const run *p) { named_barrier<2>(32 * p->front); }
