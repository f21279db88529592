// Networks are built: the synapses of each projection are counted, then placed in their rows, which are sorted at last; rows that stay on
// the device are packed. backend/cuda's Maker launches these; connectome/doc.go is their law.
#include "build.cuh"
#include "kept_rows.cuh"

// count_synapses counts the synapses of a projection by their sources.
KERNEL count_synapses(building b, projection p) { all_synapses<false>(&b, &p); }

// place_synapses gives them values, and places in their rows.
KERNEL place_synapses(building b, projection p) { all_synapses<true>(&b, &p); }

// sort_rows sorts each row of more than least and up to most synapses, a block at a time: in the block's memory, which has 10 bytes for
// each of most (6 where rows are packed), or where they are.
KERNEL sort_rows(building b, u64 least, u64 most, u32 in_place) {
    u8 *room = dynamic_memory();
    bool packed = b.weight == nullptr;
    order_of<u16> own = {(u32 *)room, packed ? nullptr : (i32 *)(room + 4 * most), (u16 *)(room + (packed ? 4 : 8) * most), b.port_bits};
    for (u64 n = block_index(); n < b.neurons; n += block_count()) {
        u64 first = b.row[n], count = b.row[n + 1] - first;
        if (count <= least || count > most) continue;
        u32 *port = b.target + first;
        i32 *weight = packed ? nullptr : b.weight + first;
        if (in_place) {
            if (b.long_delay != nullptr) sort_row(order_of<u16>{port, weight, b.long_delay + first, b.port_bits}, count);
            else sort_row(order_of<u8>{port, weight, b.short_delay != nullptr ? b.short_delay + first : nullptr, b.port_bits}, count);
            continue;
        }
        for (u64 k = thread_in_block(); k < count; k += block_size()) {
            own.port[k] = port[k];
            if (!packed) own.weight[k] = weight[k];
            own.delay[k] = b.long_delay != nullptr ? b.long_delay[first + k] : b.short_delay != nullptr ? b.short_delay[first + k] : 1;
        }
        block_barrier();
        sort_row(own, count);
        for (u64 k = thread_in_block(); k < count; k += block_size()) {
            port[k] = own.port[k];
            if (!packed) weight[k] = own.weight[k];
            if (b.long_delay != nullptr) b.long_delay[first + k] = own.delay[k];
            else if (b.short_delay != nullptr) b.short_delay[first + k] = (u8)own.delay[k];
        }
        block_barrier(); // the block's memory is free again
    }
}

// collect_weights lists the different weights of all synapses in found, which has FOUND_SLOTS, until there are more than most.
KERNEL collect_weights(building b, u64 synapses, u64 *found, u32 *count, u32 most) {
    for (u64 k = thread_index(); k < synapses; k += thread_count()) {
        if (!collect(found, count, most, b.weight[k])) return;
    }
}

// pack_rows adds to each port the label of its weight among those of count synapses, which ascend.
KERNEL pack_rows(building b, u64 synapses, const i32 *values, u32 count) {
    for (u64 k = thread_index(); k < synapses; k += thread_count()) b.target[k] |= label_of(values, count, b.weight[k]) << b.port_bits;
}

// narrow_delays copies delays of two bytes, none above 255, to one byte each.
KERNEL narrow_delays(building b, u64 synapses, u8 *to) {
    for (u64 k = thread_index(); k < synapses; k += thread_count()) to[k] = (u8)b.long_delay[k];
}

// find_wide sets *wide where a weight does not fit the bits of its word that so many ones of a delay leave.
KERNEL find_wide(building b, u64 synapses, u32 delay_bits, u32 *wide) {
    for (u64 k = thread_index(); k < synapses; k += thread_count()) {
        i32 above = b.weight[k] >> (31 - delay_bits);
        if (above != 0 && above != -1) mark(wide);
    }
}

// join_delays puts each delay of two bytes below its weight, in one word.
KERNEL join_delays(building b, u64 synapses, u32 delay_bits) {
    for (u64 k = thread_index(); k < synapses; k += thread_count()) b.weight[k] = (i32)((u32)b.weight[k] << delay_bits | b.long_delay[k]);
}

// hash_rows adds to *sum the hash of all synapses, as connectome.Connectome has it; a warp has a row. values are the weights of labels.
KERNEL hash_rows(building b, const i32 *values, u64 *sum) {
    u64 own = 0;
    for (u64 n = thread_index() / 32; n < b.neurons; n += thread_count() / 32) {
        for (u64 k = b.row[n] + lane(); k < b.row[n + 1]; k += 32) own += synapse_hash(n, synapse_at(&b, values, k));
    }
    add(sum, own);
}

// count_soon counts the synapses of each row that have delay 1, which come first, and adds them to *sum.
KERNEL count_soon(building b, u32 *soon, u64 *sum) {
    u64 own = 0;
    for (u64 n = thread_index(); n < b.neurons; n += thread_count()) {
        u64 first = b.row[n], end = first_later(&b, first, b.row[n + 1]);
        soon[n] = (u32)(end - first);
        own += end - first;
    }
    add(sum, own);
}

// exact_values are functions of words, for those who compare them with internal/exact: 0 the normal number, 1 the logarithm of 1 less the
// uniform number, 2 the exponential of the number with these bits.
KERNEL exact_values(u32 function, const u64 *x, u64 n, f64 *y) {
    for (u64 i = thread_index(); i < n; i += thread_count()) {
        y[i] = function == 0 ? exact_normal(x[i]) : function == 1 ? exact_log(1 - exact_uniform(x[i])) : exact_exp(from_bits(x[i]));
    }
}
