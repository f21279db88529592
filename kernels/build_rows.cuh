// Rows of a network that is built: they are drawn, where all that leads from a neuron can be, sorted, hashed and written, by a block each.
#pragma once
#include "kept_rows.cuh"

// finishing is what a launch makes of the rows of more than least and up to most synapses.
struct finishing {
    const projection *drawn; // whose synapses are made here, ascending by their sources; the others are there
    u32 count;
    u32 room_log;      // of rows that do not fit the block's memory: it has room for 2^room_log keys; 0: synapses have none
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

// synapse_of is the synapse of a key; its label is its weight where rows are packed.
template <class K> DEVICE synapse synapse_of(const building *b, K key, u32 *label) {
    u32 low = (u32)(key & (((K)1 << b->low_bits) - 1));
    K above = key >> b->low_bits;
    *label = low;
    return synapse{(u32)(above & (((K)1 << b->port_bits) - 1)), (i32)(low + (u32)b->least), has_delays(b) ? (u32)(above >> b->port_bits) : 1};
}

// placed_key is that of the k-th synapse, which has been placed.
template <class K> DEVICE K placed_key(const building *b, u64 k) {
    u32 word = b->target[k];
    if (b->key_bytes == 4) return word;
    if (b->key_bytes == 8) return (K)((u64)(u32)b->weight[k] << 32 | word);
    return key_of<K>(b, synapse{word & (u32)((1ull << b->port_bits) - 1), 0, delay_at(b, k)}, word >> b->port_bits); // rows are packed
}

// replace_placed makes the synapse of a key the k-th one, where another has been placed.
template <class K> DEVICE void replace_placed(const building *b, u64 k, K key) {
    u32 label = 0;
    if (b->key_bytes > 0) return store_key(b, k, key);
    synapse s = synapse_of(b, key, &label);
    store(b, k, s, label);
}

// each_log tells how many keys a thread sorts at a time: as many as take 64 bytes.
template <class K> DEVICE constexpr u32 each_log() { return sizeof(K) == 4 ? 4 : 3; }

// spaced is where the k-th key lies: gaps let lanes that go by EACH reach different banks.
template <class K> DEVICE u32 spaced(u32 k) { return k + k / (128 / sizeof(K)); }

template <class K> DEVICE void in_order(K *a, K *b) {
    K first = *a, second = *b;
    *a = second < first ? second : first;
    *b = second < first ? first : second;
}

// step puts pairs of keys in order, of which one is in the lower half of 2·BY of them.
template <u32 BY, u32 FLIP, class K, u32 EACH> DEVICE void step(K (&own)[EACH]) {
    for (u32 j = 0; j < EACH; j++) {
        if ((j & BY) == 0) in_order(own + j, own + (j ^ FLIP));
    }
}

// merge_each merges keys of which 2^steps are two halves that ascend.
template <class K, u32 EACH> DEVICE void merge_each(K (&own)[EACH], u32 steps) {
    if (steps > 3) step<EACH / 2, EACH / 2>(own);
    if (steps > 2) step<4, 4>(own);
    if (steps > 1) step<2, 2>(own);
    step<1, 1>(own);
}

// merge_keys merges 2^log keys by a block: stretches of 2^left of them, halves of which ascend and end before the others begin, become sorted.
template <class K> DEVICE void merge_keys(K *keys, u32 log, u32 left) {
    const u32 EACH_LOG = each_log<K>(), EACH = 1 << EACH_LOG;
    while (left > 0) {
        u32 steps = left < EACH_LOG ? left : EACH_LOG;
        left -= steps;
        u32 mask = (1u << left) - 1;
        for (u32 g = thread_in_block(); g < 1u << log >> EACH_LOG; g += block_size()) {
            u32 first = (g & ~mask) << EACH_LOG | (g & mask);
            K own[EACH];
            for (u32 j = 0; j < EACH; j++) own[j] = keys[spaced<K>(first + (j << left))];
            merge_each(own, steps);
            for (u32 j = 0; j < EACH; j++) keys[spaced<K>(first + (j << left))] = own[j];
        }
        block_barrier();
    }
}

// sort_keys sorts 2^log keys, at least as many as a thread sorts at a time, by a block, as sort_row sorts. All threads must call it, and
// see the keys then.
template <class K> DEVICE void sort_keys(K *keys, u32 log) {
    const u32 EACH_LOG = each_log<K>(), EACH = 1 << EACH_LOG;
    u32 groups = 1u << log >> EACH_LOG;
    for (u32 g = thread_in_block(); g < groups; g += block_size()) {
        K own[EACH];
        for (u32 j = 0; j < EACH; j++) own[j] = keys[spaced<K>(g * EACH + j)];
        step<1, 1>(own);
        step<2, 3>(own);
        step<1, 1>(own);
        step<4, 7>(own);
        merge_each(own, 2);
        if (EACH > 8) {
            step<EACH / 2, EACH - 1>(own);
            merge_each(own, 3);
        }
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
        merge_keys(keys, log, left);
    }
}

// order_placed puts the keys of two synapses in order, which have been placed.
template <class K> DEVICE void order_placed(const building *b, u64 i, u64 j) {
    K first = placed_key<K>(b, i), second = placed_key<K>(b, j);
    if (second >= first) return;
    replace_placed(b, i, second);
    replace_placed(b, j, first);
}

// sort_placed sorts n synapses from the first on, which have been placed, by their keys: 2^log of these at a time in room as far as they
// are neighbours. All threads must call it, and see the synapses then.
template <class K> DEVICE void sort_placed(const building *b, u64 from, u64 n, K *room, u32 log) {
    u64 some = 1ull << log;
    for (u64 length = some; length / 2 < n; length *= 2) {
        for (u64 by = length / 2; by >= some; by /= 2) {
            u64 flip = by == length / 2 ? length - 1 : by;
            for (u64 k = thread_in_block();; k += block_size()) {
                u64 i = (k & ~(by - 1)) << 1 | (k & (by - 1)), j = i ^ flip;
                if (i >= n) break;
                if (j < n) order_placed<K>(b, from + i, from + j);
            }
            block_barrier();
        }
        for (u64 first = 0; first < n; first += some) {
            u32 count = n - first < some ? (u32)(n - first) : (u32)some;
            for (u32 k = thread_in_block(); k < some; k += block_size()) room[spaced<K>(k)] = k < count ? placed_key<K>(b, from + first + k) : ~(K)0;
            block_barrier();
            if (length == some) sort_keys(room, log);
            else merge_keys(room, log, log);
            for (u32 k = thread_in_block(); k < count; k += block_size()) replace_placed(b, from + first + k, room[spaced<K>(k)]);
            block_barrier();
        }
    }
}

// keys_room and places_room are where the synapses of a row go while it is drawn: to keys, or at once to their places.
template <class K> struct keys_room {
    K *keys;
};
template <class K> DEVICE void put(const building *b, keys_room<K> room, u32 k, synapse s, u32 label) {
    room.keys[spaced<K>(k)] = key_of<K>(b, s, label);
}
struct places_room {
    u64 first;
};
DEVICE void put(const building *b, places_room room, u32 k, synapse s, u32 label) { store_placed(b, room.first + k, s, label); }

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
            if (made) put(b, room, first, valued<false>(b, p, source, target, ordinal, f), p->label);
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
    for (u64 n = b->first + block_index(); n < b->neurons; n += block_count()) {
        u64 first = b->row[n];
        u32 count = (u32)(b->row[n + 1] - first), placed = b->cursor[n], log = each_log<K>(), label = 0;
        if (count <= r->least || count > r->most) continue;
        while (1u << log < count) log++;
        if (thread_in_block() == 0) filled = placed;
        for (u32 k = thread_in_block(); k < placed; k += block_size()) keys[spaced<K>(k)] = placed_key<K>(b, first + k);
        for (u32 k = count + thread_in_block(); k < 1u << log; k += block_size()) keys[spaced<K>(k)] = ~(K)0;
        block_barrier();
        draw_row(b, r, n, &filled, keys_room<K>{keys}, &f);
        sort_keys(keys, log);
        for (u32 k = thread_in_block(); k < count; k += block_size()) {
            synapse s = synapse_of(b, keys[spaced<K>(k)], &label);
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
    for (u64 n = b->first + block_index(); n < b->neurons; n += block_count()) {
        u64 first = b->row[n], count = b->row[n + 1] - first;
        if (count <= r->least || count > r->most) continue;
        if (thread_in_block() == 0) filled = b->cursor[n];
        block_barrier();
        draw_row(b, r, n, &filled, places_room{first}, &f);
        bool keys = r->room_log > 0, narrow = b->key_bytes == 4;
        if (keys && narrow) sort_placed(b, first, count, (u32 *)dynamic_memory(), r->room_log);
        if (keys && !narrow) sort_placed(b, first, count, (u64 *)dynamic_memory(), r->room_log);
        for (u64 k = first + thread_in_block(); k < first + count && b->key_bytes > 0; k += block_size()) {
            u32 label = 0;
            synapse s = synapse_of(b, narrow ? placed_key<u32>(b, k) : placed_key<u64>(b, k), &label);
            store(b, k, s, label);
        }
        u32 *port = b->target + first;
        i32 *weight = b->weight != nullptr ? b->weight + first : nullptr;
        u64 left = keys ? 0 : count; // to be sorted
        if (b->long_delay != nullptr) sort_row(order_of<u16>{port, weight, b->long_delay + first, b->port_bits}, left);
        else sort_row(order_of<u8>{port, weight, b->short_delay != nullptr ? b->short_delay + first : nullptr, b->port_bits}, left);
        if (r->hash == nullptr) continue;
        for (u64 k = first + thread_in_block(); k < first + count; k += block_size()) hash += synapse_hash(n, synapse_at(b, r->values, k));
    }
    report(b, f);
    if (r->hash != nullptr) add_warp(r->hash, hash);
}
