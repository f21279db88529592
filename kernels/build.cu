// Networks are built: the synapses of each projection are counted, then placed in their rows, which are sorted at last. backend/cuda's
// Maker launches these; connectome/doc.go is their law.
#include "build.cuh"

// count_synapses counts the synapses of a projection by their sources.
KERNEL count_synapses(building b, projection p) { all_synapses<false>(&b, &p); }

// place_synapses gives them values, and places in their rows.
KERNEL place_synapses(building b, projection p) { all_synapses<true>(&b, &p); }

// sort_rows sorts each row of more than least and up to most synapses, a block at a time: in the block's memory, which has 10 bytes for
// each of most, or where they are.
KERNEL sort_rows(building b, u64 least, u64 most, u32 in_place) {
    u8 *room = dynamic_memory();
    order_of<u16> own = {(u32 *)room, (i32 *)(room + 4 * most), (u16 *)(room + 8 * most)};
    for (u64 n = block_index(); n < b.neurons; n += block_count()) {
        u64 first = b.row[n], count = b.row[n + 1] - first;
        if (count <= least || count > most) continue;
        u32 *port = b.target + first;
        i32 *weight = b.weight + first;
        if (in_place) {
            if (b.long_delay != nullptr) sort_row(order_of<u16>{port, weight, b.long_delay + first}, count);
            else sort_row(order_of<u8>{port, weight, b.short_delay != nullptr ? b.short_delay + first : nullptr}, count);
            continue;
        }
        for (u64 k = thread_in_block(); k < count; k += block_size()) {
            own.port[k] = port[k];
            own.weight[k] = weight[k];
            own.delay[k] = b.long_delay != nullptr ? b.long_delay[first + k] : b.short_delay != nullptr ? b.short_delay[first + k] : 1;
        }
        block_barrier();
        sort_row(own, count);
        for (u64 k = thread_in_block(); k < count; k += block_size()) {
            port[k] = own.port[k];
            weight[k] = own.weight[k];
            if (b.long_delay != nullptr) b.long_delay[first + k] = own.delay[k];
            else if (b.short_delay != nullptr) b.short_delay[first + k] = (u8)own.delay[k];
        }
        block_barrier(); // the block's memory is free again
    }
}

// exact_values are functions of words, for those who compare them with internal/exact: 0 the normal number, 1 the logarithm of 1 less the
// uniform number, 2 the exponential of the number with these bits.
KERNEL exact_values(u32 function, const u64 *x, u64 n, f64 *y) {
    for (u64 i = thread_index(); i < n; i += thread_count()) {
        y[i] = function == 0 ? exact_normal(x[i]) : function == 1 ? exact_log(1 - exact_uniform(x[i])) : exact_exp(from_bits(x[i]));
    }
}
