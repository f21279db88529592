// Rows that stay on the device where they have been made: their weights are listed and packed with the ports, and their hash is added up.
#pragma once
#include "build.cuh"

const u32 FOUND_SHIFT = 18, FOUND_SLOTS = 1 << 14; // of a table of weights, each with bit 32 set: four times as many as it lists

// collect puts a weight into the table if it is not there, and reports whether there are no more than most.
DEVICE bool collect(u64 *found, u32 *count, u32 most, i32 weight) {
    u64 entry = 1ull << 32 | (u32)weight;
    for (u32 i = (u32)weight * 0x9e3779b1u >> FOUND_SHIFT;; i = (i + 1) % FOUND_SLOTS) {
        u64 there = read(found + i);
        if (there == entry) return true;
        if (read(count) > most) return false; // before the table is full
        if (there != 0) continue;
        there = replace(found + i, 0, entry);
        if (there == 0) fetch_add(count, 1);
        if (there == 0 || there == entry) return true;
    }
}

// label_of is the place of a weight in an ascending list that has it.
DEVICE u32 label_of(const i32 *values, u32 count, i32 weight) {
    u32 low = 0;
    for (u32 high = count - 1; low < high;) {
        u32 middle = (low + high) / 2;
        if (values[middle] < weight) low = middle + 1;
        else high = middle;
    }
    return low;
}

DEVICE u32 delay_at(const building *b, u64 k) {
    if (b->join_bits > 0) return (u32)b->weight[k] & ((1u << b->join_bits) - 1);
    return b->short_delay != nullptr ? b->short_delay[k] : b->long_delay != nullptr ? b->long_delay[k] : 1;
}

// weight_at is the weight of the k-th synapse, which may be a key yet.
DEVICE i32 weight_at(const building *b, u64 k) {
    if (b->key_bytes == 0) return b->weight[k] >> b->join_bits;
    u64 key = b->key_bytes == 4 ? b->target[k] : (u64)(u32)b->weight[k] << 32 | b->target[k];
    return (i32)((u32)(key & ((1ull << b->low_bits) - 1)) + (u32)b->least);
}

// synapse_at is the k-th synapse; a row is packed where there are no weights.
DEVICE synapse synapse_at(const building *b, const i32 *values, u64 k) {
    u32 word = b->target[k];
    if (b->weight != nullptr) return synapse{word, b->weight[k] >> b->join_bits, delay_at(b, k)};
    return synapse{word & ((1u << b->port_bits) - 1), values[word >> b->port_bits], delay_at(b, k)};
}

// folded is fold of connectome/hash.go.
DEVICE u64 folded(u64 hash, u64 x) { return mix(hash * 0x9e3779b97f4a7c15ull + x); }

DEVICE u64 synapse_hash(u64 source, synapse s) {
    u64 values = (u64)(s.delay >> 8) << 40 | (u64)(u32)s.weight << 8 | (s.delay & 0xff);
    return folded(folded(1, source << 32 | s.port), values);
}

// first_later is the first synapse of a sorted row whose delay is above 1.
DEVICE u64 first_later(const building *b, u64 low, u64 high) {
    while (low < high) {
        u64 middle = (low + high) / 2;
        if (delay_at(b, middle) > 1) high = middle;
        else low = middle + 1;
    }
    return low;
}
