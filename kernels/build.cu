// Networks are built: the synapses of each projection are counted, and placed in their rows unless these are drawn one by one; rows are
// sorted at last, and those that stay on the device are packed. backend/cuda's Maker launches these; connectome/doc.go is their law.
#include "build_rows.cuh"
#include "coded_rows.cuh"

// count_synapses counts the synapses of a projection by their sources.
KERNEL AT_LEAST(3) count_synapses(building b, projection p) { count_all(&b, &p); }

// place_synapses gives them values, and places in their rows.
KERNEL AT_LEAST(3) place_synapses(building b, projection p) { place_all<false>(&b, &p); }

// make_narrow_rows, make_wide_rows and make_long_rows make rows complete, a block at a time, where a synapse is a key of 4 bytes, of 8, or
// none. The first two want the block's memory for as many keys as the power of two above most.
KERNEL_OF_1024 make_narrow_rows(building b, finishing r) { make_rows<u32>(&b, &r); }
KERNEL_OF_1024 make_wide_rows(building b, finishing r) { make_rows<u64>(&b, &r); }
KERNEL_OF_1024 make_long_rows(building b, finishing r) { finish_long_rows(&b, &r); }

// collect_weights lists the different weights of all synapses in found, which has FOUND_SLOTS, until there are more than most.
KERNEL collect_weights(building b, u64 synapses, u64 *found, u32 *count, u32 most) {
    for (u64 k = thread_index(); k < synapses; k += thread_count()) {
        if (!collect(found, count, most, weight_at(&b, k))) return;
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
    bool any = false;
    for (u64 k = thread_index(); k < synapses; k += thread_count()) {
        i32 above = b.weight[k] >> (31 - delay_bits);
        any = any || (above != 0 && above != -1);
    }
    if (any) greatest(wide, 1);
}

// join_delays puts each delay of two bytes below its weight, in one word.
KERNEL join_delays(building b, u64 synapses, u32 delay_bits) {
    for (u64 k = thread_index(); k < synapses; k += thread_count()) b.weight[k] = (i32)((u32)b.weight[k] << delay_bits | b.long_delay[k]);
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

// count_stretches adds up how many stretches of rows have each length, code_rows makes rows of places of rows.
KERNEL count_stretches(building b, coding c) { count_lengths(&b, &c); }
KERNEL code_rows(building b, coding c) { code_all(&b, &c); }

// exact_values are functions of words, for those who compare them with internal/exact: 0 the normal number, 1 the logarithm of 1 less the
// uniform number, 2 the exponential of the number with these bits.
KERNEL exact_values(u32 function, const u64 *x, u64 n, f64 *y) {
    for (u64 i = thread_index(); i < n; i += thread_count()) {
        y[i] = function == 0 ? normal_of(x[i]) : function == 1 ? log_of(x[i]) : exponential_of(from_bits(x[i]));
    }
}
