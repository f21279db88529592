// Rows of a network that is built: they are drawn, where all that leads from a neuron can be, sorted, hashed and written, by a block each.
#pragma once
#include "kept_rows.cuh"

// finishing is what a launch makes of the rows of more than least and up to most synapses.
struct finishing {
    const projection *drawn; // whose synapses are made here, ascending by their sources; the others are there
    u32 count;
    u32 low_bits;      // of a key, see key_of
    u64 least, most;
    const i32 *values; // weights of labels
    u64 *hash;         // that of all synapses is added there; null: nobody asks for it
};

// order_of are the synapses of a row, which are sorted by delay, port and weight; without delays these are all the same. Packed ones have
// no weights but labels, which ascend with them.
template <class D> struct order_of {
    u32 *port;
    i32 *weight;
    D *delay;
    u32 port_bits;
};

template <class D> DEVICE bool comes_before(order_of<D> r, u64 i, u64 j) {
    if (r.delay != nullptr && r.delay[i] != r.delay[j]) return r.delay[i] < r.delay[j];
    u32 a = r.port[i], b = r.port[j];
    if (r.weight != nullptr) return a != b ? a < b : r.weight[i] < r.weight[j];
    return (a << (32 - r.port_bits) | a >> r.port_bits) < (b << (32 - r.port_bits) | b >> r.port_bits);
}

template <class T> DEVICE void exchange_words(T *list, u64 i, u64 j) {
    T first = list[i];
    list[i] = list[j];
    list[j] = first;
}

// sort_row sorts n synapses by a block, in place (Batcher's bitonic sort, its merges mirrored, so that what would come behind the last
// synapse stays there). All threads must call it, and see the row then.
template <class D> DEVICE void sort_row(order_of<D> r, u64 n) {
    for (u64 length = 2; length / 2 < n; length *= 2) {
        for (u64 by = length / 2; by > 0; by /= 2) {
            u64 flip = by == length / 2 ? length - 1 : by;
            for (u64 k = thread_in_block();; k += block_size()) {
                u64 i = (k & ~(by - 1)) << 1 | (k & (by - 1)), j = i ^ flip;
                if (i >= n) break;
                if (j >= n || !comes_before(r, j, i)) continue;
                exchange_words(r.port, i, j);
                if (r.weight != nullptr) exchange_words(r.weight, i, j);
                if (r.delay != nullptr) exchange_words(r.delay, i, j);
            }
            block_barrier();
        }
    }
}

// A key is a delay, a port, and in low_bits a label or a weight above the least, so that keys ascend as synapses do. Where all delays are
// 1 it has none.
template <class K> DEVICE K key_of(const building *b, u32 low_bits, synapse s, u32 label) {
    K delay = has_delays(b) ? s.delay : 0, low = b->weight == nullptr ? label : (u32)s.weight ^ 1u << 31;
    return (delay << b->port_bits | s.port) << low_bits | low;
}

// seen is a synapse, whose label is then its weight where rows are packed.
DEVICE synapse seen(const building *b, u64 k, u32 *label) {
    u32 word = b->target[k];
    if (b->weight != nullptr) return synapse{word, b->weight[k], delay_at(b, k)};
    *label = word >> b->port_bits;
    return synapse{word & ((1u << b->port_bits) - 1), 0, delay_at(b, k)};
}

template <class K> DEVICE synapse synapse_of(const building *b, u32 low_bits, K key, u32 *label) {
    u32 low = (u32)(key & (((K)1 << low_bits) - 1));
    K above = key >> low_bits;
    *label = low;
    return synapse{(u32)(above & (((K)1 << b->port_bits) - 1)), (i32)(low ^ 1u << 31), has_delays(b) ? (u32)(above >> b->port_bits) : 1};
}

// EACH are the keys that a thread sorts at a time.
const u32 EACH_LOG = 3, EACH = 1 << EACH_LOG;

// spaced is where the k-th key lies: gaps let lanes that go by EACH reach different banks.
template <class K> DEVICE u32 spaced(u32 k) { return k + k / (128 / sizeof(K)); }

template <class K> DEVICE void in_order(K *a, K *b) {
    K first = *a, second = *b;
    *a = second < first ? second : first;
    *b = second < first ? first : second;
}

// step puts pairs of keys in order, of which one is in the lower half of 2·BY of them.
template <u32 BY, u32 FLIP, class K> DEVICE void step(K (&own)[EACH]) {
    for (u32 j = 0; j < EACH; j++) {
        if ((j & BY) == 0) in_order(own + j, own + (j ^ FLIP));
    }
}

// merge_each merges keys of which 2^steps are two halves that ascend.
template <class K> DEVICE void merge_each(K (&own)[EACH], u32 steps) {
    if (steps > 2) step<4, 4>(own);
    if (steps > 1) step<2, 2>(own);
    step<1, 1>(own);
}

// sort_keys sorts 2^log keys, at least EACH, by a block, as sort_row sorts. All threads must call it, and see the keys then.
template <class K> DEVICE void sort_keys(K *keys, u32 log) {
    u32 groups = 1u << log >> EACH_LOG;
    for (u32 g = thread_in_block(); g < groups; g += block_size()) {
        K own[EACH];
        for (u32 j = 0; j < EACH; j++) own[j] = keys[spaced<K>(g * EACH + j)];
        step<1, 1>(own);
        step<2, 3>(own);
        step<1, 1>(own);
        step<4, 7>(own);
        merge_each(own, 2);
        for (u32 j = 0; j < EACH; j++) keys[spaced<K>(g * EACH + j)] = own[j];
    }
    block_barrier();
    for (u32 length = EACH_LOG + 1; length <= log; length++) {
        u32 left = length - EACH_LOG, mask = (1u << left) - 1; // the upper half of what is merged is read from its end
        for (u32 g = thread_in_block(); g < groups; g += block_size()) {
            u32 first = (g & ~mask) << EACH_LOG, low = g & mask;
            K own[EACH];
            for (u32 j = 0; j < EACH; j++) own[j] = keys[spaced<K>(first + (j << left) + (j < EACH / 2 ? low : mask - low))];
            step<EACH / 2, EACH - 1>(own);
            merge_each(own, EACH_LOG - 1);
            for (u32 j = 0; j < EACH; j++) keys[spaced<K>(first + (j << left) + (j < EACH / 2 ? low : mask - low))] = own[j];
        }
        block_barrier();
        while (left > 0) {
            u32 steps = left < EACH_LOG ? left : EACH_LOG;
            left -= steps;
            mask = (1u << left) - 1;
            for (u32 g = thread_in_block(); g < groups; g += block_size()) {
                u32 first = (g & ~mask) << EACH_LOG | (g & mask);
                K own[EACH];
                for (u32 j = 0; j < EACH; j++) own[j] = keys[spaced<K>(first + (j << left))];
                merge_each(own, steps);
                for (u32 j = 0; j < EACH; j++) keys[spaced<K>(first + (j << left))] = own[j];
            }
            block_barrier();
        }
    }
}

// keys_room and places_room are where the synapses of a row go while it is drawn: to keys, or at once to their places.
template <class K> struct keys_room {
    K *keys;
    u32 low_bits;
};
template <class K> DEVICE void put(const building *b, keys_room<K> room, u32 k, synapse s, u32 label) {
    room.keys[spaced<K>(k)] = key_of<K>(b, room.low_bits, s, label);
}
struct places_room {
    u64 first;
};
DEVICE void put(const building *b, places_room room, u32 k, synapse s, u32 label) { store(b, room.first + k, s, label); }

// draw_row draws what is missing of neuron n's row. *filled are the synapses that are there. All threads must call it.
template <class R> DEVICE void draw_row(const building *b, const finishing *r, u64 n, u32 *filled, R room, tallies *f) {
    SHARED(projection, here);
    u32 i = 0;
    for (u32 end = r->count; i < end;) { // the first projection from the neuron's area
        u32 middle = (i + end) / 2;
        if (r->drawn[middle].from + r->drawn[middle].sources <= n) i = middle + 1;
        else end = middle;
    }
    for (; i < r->count && r->drawn[i].from <= n; i++) {
        block_barrier();
        for (u32 k = thread_in_block(); k < sizeof(projection) / 8; k += block_size()) ((u64 *)&here)[k] = ((const u64 *)(r->drawn + i))[k];
        block_barrier();
        const projection *p = &here;
        u64 source = n - p->from, each = along(p);
        for (u64 j = 0; j < each; j += block_size()) {
            u64 target = 0, ordinal = 0, k = j + thread_in_block();
            bool made = k < each && of_row(b, p, source, k, &target, &ordinal) && wanted(b, p, target, ordinal);
            u32 bits = vote(made), first = 0;
            if (lane() == 0) first = fetch_add(filled, ones(bits));
            first = shuffle_first(first, 32) + ones(bits & ((1u << lane()) - 1));
            if (made) put(b, room, first, valued(b, p, target, ordinal, f), p->label);
        }
    }
    block_barrier();
}

// make_rows makes rows whose keys fit the block's memory.
template <class K> DEVICE void make_rows(const building *b, const finishing *r) {
    K *keys = (K *)dynamic_memory();
    SHARED(u32, filled);
    tallies f = {1, false};
    u64 hash = 0;
    for (u64 n = block_index(); n < b->neurons; n += block_count()) {
        u64 first = b->row[n];
        u32 count = (u32)(b->row[n + 1] - first), placed = b->cursor[n], log = EACH_LOG, label = 0;
        if (count <= r->least || count > r->most) continue;
        while (1u << log < count) log++;
        if (thread_in_block() == 0) filled = placed;
        for (u32 k = thread_in_block(); k < placed; k += block_size()) {
            synapse s = seen(b, first + k, &label);
            keys[spaced<K>(k)] = key_of<K>(b, r->low_bits, s, label);
        }
        for (u32 k = count + thread_in_block(); k < 1u << log; k += block_size()) keys[spaced<K>(k)] = ~(K)0;
        block_barrier();
        draw_row(b, r, n, &filled, keys_room<K>{keys, r->low_bits}, &f);
        sort_keys(keys, log);
        for (u32 k = thread_in_block(); k < count; k += block_size()) {
            synapse s = synapse_of(b, r->low_bits, keys[spaced<K>(k)], &label);
            store(b, first + k, s, label);
            if (r->hash == nullptr) continue;
            if (b->weight == nullptr) s.weight = r->values[label];
            hash += synapse_hash(n, s);
        }
        block_barrier(); // the block's memory is free again
    }
    report(b, f);
    if (r->hash != nullptr) add_warp(r->hash, hash);
}

// finish_long_rows makes rows whose keys do not.
DEVICE void finish_long_rows(const building *b, const finishing *r) {
    SHARED(u32, filled);
    tallies f = {1, false};
    u64 hash = 0;
    for (u64 n = block_index(); n < b->neurons; n += block_count()) {
        u64 first = b->row[n], count = b->row[n + 1] - first;
        if (count <= r->least || count > r->most) continue;
        if (thread_in_block() == 0) filled = b->cursor[n];
        block_barrier();
        draw_row(b, r, n, &filled, places_room{first}, &f);
        u32 *port = b->target + first;
        i32 *weight = b->weight != nullptr ? b->weight + first : nullptr;
        if (b->long_delay != nullptr) sort_row(order_of<u16>{port, weight, b->long_delay + first, b->port_bits}, count);
        else sort_row(order_of<u8>{port, weight, b->short_delay != nullptr ? b->short_delay + first : nullptr, b->port_bits}, count);
        if (r->hash == nullptr) continue;
        for (u64 k = first + thread_in_block(); k < first + count; k += block_size()) hash += synapse_hash(n, synapse_at(b, r->values, k));
    }
    report(b, f);
    if (r->hash != nullptr) add_warp(r->hash, hash);
}
