// What the kernels of many bursts are given, what the blocks of run_bursts share, and how a block's memory is
// divided.
#pragma once
#ifdef BURST_ONE_UNIT
#define BURST_LARGE
#endif
#include "candidates.cuh"
#include "exchange.cuh"
#include "inject.cu"
#include "neural_dynamics_fcl.cu"
#include "places.cuh"
#include "teams.cuh"

// So many areas' terms are worked out once a burst.
const u32 COMMON = 64;

// scheduled is a stimulus of the genome.
struct scheduled {
    u64 at, every, from, until; // bursts
    u64 first, count;           // its amounts
};

// probe is a state variable that the host wants after each burst: variable 0 is v, k the k-th further one of the block's neuron.
struct probe {
    u32 neuron, variable;
    u32 place; // among the wanted ones of all blocks
};

// probes are all of them; first[b] ≤ i < first[b + 1] are block b's.
struct probes {
    const probe *list;
    const u32 *first;
    float *values; // mapped host memory: for each burst of the launch, count of them
    u64 count;     // 0: none are wanted
};

// spike is a fired neuron's row.
struct spike {
    u64 first; // synapse
    u64 count;
};

// waiting is what is left of a row that is delivered as it falls due: synapses from next on, of which those with delay d are due in burst
// fired + d. A block has a power of two of rows that wait at most, and for fewer bursts than WAITS.
struct waiting {
    u64 next;
    u32 left, fired;
};
const u32 WAITS = 64;

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
    const candidate *given; // mapped host memory: what a caller gives in the launch's first burst
    u64 given_count;

    const u64 *row;
    synapses all;
    const u8 *delay; // null when all are 1, or some are above 255: late has them, or the words of weights
    const u16 *late;
    u32 parts_log;   // a row is delivered by 2^parts_log warps

    i32 *ring;
    u32 slot_mask, ports;
    u32 neurons, block_neurons; // that the device owns; block_neurons: of each block, a multiple of 32

    spike *queue; // who fired in the burst before, in any order; with teams their ids
    u32 *length;  // of the queue: length_of
    u32 *arrived; // blocks at the grid's barrier; 8 bytes, 0 at first
    u64 *arrived_next; // and what the next launch counts them in

    u32 *ids;   // mapped host memory: for each burst of the launch and each block host_room words
    u32 *fired; // and how many of its neurons fired
    u64 *done;  // and t + 1 when they are all there
    u64 first;  // burst
    u64 bursts;

    u32 drive_count, term_count, count_entries, table_entries; // lengths of the tables
    u32 cached, tabled;                                        // whether the block's shared memory holds its neurons' state, and the tables
    u32 gathered;                                              // whether all blocks are one cluster, and meet at its barrier

    // Of resident_bursts alone, for which arrived has 64 bits.
    u32 own_rows, longest; // a block delivers so many rows, of so many synapses at most
    u32 most_parts_log;    // where all blocks share few rows
    u64 *stamps;           // mapped host memory: when each burst was complete, in nanoseconds
    u32 value_count;       // weights of few values

    // And of those of its networks whose rows are delivered early (early_rows.cuh): own_rows and longest are of synapses with delay 1.
    const u32 *soon;                   // so many synapses of each row have delay 1, its first ones; null for other networks
    spike *later;                      // what is left of the rows of who fired; those of odd bursts after places for all neurons
    u32 *later_length;                 // as length
    u32 later_parts, most_later_parts; // such a row is delivered by so many warps
    u32 front;                         // so many warps of a block have neurons to update
    u32 warp_rows;                     // rows that a warp delivers of its own neurons at once

    u32 devices;       // that share the network
    u32 further;       // whether any neuron has more than two ports
    const exchange *x; // where they are several, or rows are places; the fire queue is in its ids then, not in queue
    u64 *waited;       // of each block: ns that those who compute have spent storing ids, and waiting for the other devices'

    listing list;
    teams sum;
    places packed;
    probes wanted;

#ifdef BURST_LARGE // see large.cuh
    waiting *waits;    // rows that wait, one block's after the other's, of each burst after those of the burst before; null: rows are delivered whole
    u32 *waits_from;   // of each block, at t mod WAITS: where those begin whose neurons fired in burst t − 1, counted through all bursts
    u32 waits_mask;    // for a row's place among waits
    u32 waits_longest; // synapses with longer delays do not wait
    u32 by_four;       // whether blocks have room for what drives add, which are drawn for many neurons at a time
#endif
};

// gathered reports whether all blocks are one cluster. Units for other networks do without that code.
#if (defined(BURST_LISTS) || defined(BURST_LARGE) || defined(BURST_LASTING)) && !defined(BURST_ONE_UNIT)
DEVICE bool gathered(const run *) { return false; }
#else
DEVICE bool gathered(const run *p) { return p->gathered; }
#endif

// length_of is where the length of burst t's queue is, among those of four bursts.
DEVICE u32 *length_of(const run *p, u64 t) { return p->length + ((u32)t + 1) % 4; }

// block is what a block's threads share: bits and sums, and where cached copies of its neurons' state and of the tables, which stay valid
// from burst to burst as global memory's do not in the first cache.
struct block {
    u32 group[GROUPS]; // how many fire before each group of words
    u32 in_groups;     // and in all
    u32 total[2];      // how many fire in all; of burst t at t mod 2
    u32 base;          // where the block's part of the queue begins
    u32 reserved;      // t + 1, modulo 2^32, once that is of burst t
    u32 told[MOST_DEVICES]; // how many fired on each device in the burst before, where there are several
    const u32 *ids[MOST_DEVICES]; // and where their ids are
    u32 stopped;            // whether another device has failed
    u64 waited;             // as in run
    exchange x;             // run's
    u32 stimulated;         // whether a stimulus acts in this burst
    u32 *bits;         // who fires, a bit a neuron
    float common[COMMON]; // the areas' terms in this burst, where neurons do not differ
    u32 from, alone;   // the area of the block's first neuron, and whether all others are of it too
    network w;         // with the copies in place of what they are copies of
    const drive *drives;
    const u32 *counts;
    const i32 *table;
#ifdef BURST_LARGE
    i32 *amounts;          // of each warp's 32·WORDS neurons, what drives add to first ports and then to second ones
    u32 waits_from[WAITS]; // run's, the block's
    u32 taken;             // how many of the block's rows that wait its warps have taken in this burst
#endif
};

// take is the next count entries of shared memory, aligned to 16 bytes.
template <class T> DEVICE T *take(u8 **room, u64 count) {
    T *p = (T *)*room;
    *room += (count * sizeof(T) + 15) / 16 * 16;
    return p;
}

// copy fills to from from, all threads of the block together.
template <class T> DEVICE void copy(T *to, const T *from, u64 count) {
    const u32 words = sizeof(T) / 4 > 0 ? sizeof(T) / 4 : 1;
    if (sizeof(T) % 4 != 0) {
#pragma unroll 1
        for (u64 i = thread_in_block(); i < count; i += block_size()) to[i] = from[i];
        return;
    }
#pragma unroll 1
    for (u64 i = thread_in_block(); i < count * words; i += block_size()) ((u32 *)to)[i] = ((const u32 *)from)[i];
}

// own is how many neurons the block has, from its first one on.
DEVICE u32 own(const run *p) {
    u64 begin = (u64)block_index() * p->block_neurons;
    if (begin >= p->neurons) return 0;
    return p->neurons - begin < p->block_neurons ? (u32)(p->neurons - begin) : p->block_neurons;
}

// state_copy moves a variable of the block's neurons into shared memory, or back.
template <class T> DEVICE void state_copy(T **at, T *global, u8 **room, const run *p, bool back) {
    if (global == nullptr) return;
    u32 begin = block_index() * p->block_neurons;
    T *own_part = take<T>(room, p->block_neurons);
    for (u32 k = thread_in_block(); k < own(p); k += block_size()) {
        T *one = global + neuron_of(p->w.own, begin + k);
        if (back) *one = own_part[k];
        else own_part[k] = *one;
    }
    *at = own_part;
}

// hear_before finds how many fired on each device in the burst before the launch, a warp a device.
DEVICE void hear_before(const run *p, block *s) {
    const exchange *x = p->x;
    u64 t = p->first - 1;
#pragma unroll 1
    for (u32 q = thread_in_block() / 32; q < p->devices; q += block_size() / 32) {
        u32 count;
        bool all = q == x->self ? heard_own(x, t, &count) : heard_other(x, q, t, &count);
        if (lane() == 0) s->told[q] = all ? count : 0, s->ids[q] = ids_of(x, x->self, q, t); // all may be no: a launch before has been stopped
    }
}

// lay_out divides the block's memory and fills the copies, or with back brings the state to where it came from. Thread 0
// alone writes s.
DEVICE void lay_out(const run *p, u8 *room, block *s, bool back) {
    network w = p->w;
    u32 *bits = take<u32>(&room, p->block_neurons / 32);
    const drive *drives = p->drives;
    const u32 *counts = p->counts;
    const i32 *table = p->table;
    if (p->cached) {
        state_copy(&w.v, p->w.v, &room, p, back);
        for (u32 k = 0; k < p->w.variables; k++) {
            float *one;
            state_copy(&one, p->w.more + k * p->w.pitch, &room, p, back);
            if (k == 0) w.more = one;
        }
        w.pitch = p->block_neurons;
        state_copy(&w.refractory, p->w.refractory, &room, p, back);
        state_copy(&w.count, p->w.count, &room, p, back);
    }
    if (p->tabled) {
        area *areas = take<area>(&room, p->w.area_count);
        term *terms = take<term>(&room, p->term_count);
        drive *own_drives = take<drive>(&room, p->drive_count);
        u32 *own_counts = take<u32>(&room, p->count_entries);
        i32 *own_table = take<i32>(&room, p->table_entries);
        if (!back) {
            copy(areas, p->w.areas, p->w.area_count);
            copy(terms, p->w.terms, p->term_count);
            copy(own_drives, p->drives, p->drive_count);
            copy(own_counts, p->counts, p->count_entries);
            copy(own_table, p->table, p->table_entries);
        }
        w.areas = areas;
        w.terms = terms;
        drives = own_drives;
        counts = own_counts;
        table = own_table;
    }
    if (thread_in_block() == 0 && !back) {
        s->total[0] = s->total[1] = s->stopped = 0;
        s->reserved = (u32)p->first;
        s->waited = 0;
        s->bits = bits;
        s->w = w;
        s->drives = drives;
        s->counts = counts;
        s->table = table;
#ifdef BURST_LARGE
        s->amounts = (i32 *)room;
#endif
        u32 begin = block_index() * p->block_neurons, count = own(p);
        s->from = 0;
        while (count > 0 && p->w.areas[s->from].end <= neuron_of(p->w.own, begin)) s->from++;
        s->alone = count == 0 || neuron_of(p->w.own, begin + count - 1) < p->w.areas[s->from].end;
        if (p->devices > 1) s->x = *p->x;
        else s->x.devices = 1;
    }
    if (!back && p->devices > 1) hear_before(p, s);
}

// place_of_burst counts bursts and their blocks.
DEVICE u64 place_of_burst(const run *p, u64 t) { return (anew(t) - p->first) * block_count() + anew(block_index()); }

// host_room is how many words the host has for who of a block fires in a burst: their ids, ascending, or where more do a bit for each of
// the block's neurons. A launch has the more bursts the less room each takes.
DEVICE u32 host_room(const run *p) { return p->block_neurons / 4; }

// for_host is where they are, of burst t.
DEVICE u32 *for_host(const run *p, u64 t) { return p->ids + place_of_burst(p, t) * host_room(p); }

// report tells the host how many of the block's neurons fired in burst t.
DEVICE void report(const run *p, u64 t, u32 count) { p->fired[place_of_burst(p, t)] = count; }

// bring_bits brings the host the bits of who fired in burst t, so many threads of the block together.
DEVICE void bring_bits(const run *p, u64 t, const u32 *bits, u32 threads) {
    u32 *to = for_host(p, t);
#pragma unroll 1
    for (u32 w = thread_in_block(); w < p->block_neurons / 32; w += threads) to[w] = bits[w];
}

// acts reports whether a stimulus acts in burst t.
DEVICE bool acts(const scheduled *s, u64 t) {
    if (s->every == 0) return t == s->at;
    return t % s->every == 0 && s->from <= t && t < s->until;
}

// give adds amounts to sums, by so many threads.
DEVICE void give(i32 *acc, const candidate *amounts, u64 count, u64 thread, u64 threads) {
#pragma unroll 1
    for (u64 k = thread; k < count; k += threads) accumulate(acc + amounts[k].port, amounts[k].sum);
}

// give_scheduled is the genome's stimuli of burst t, by so many threads of all blocks; it says whether one acts.
DEVICE bool give_scheduled(const run *p, u64 t, u64 thread, u64 threads) {
    bool any = false;
#pragma unroll 1
    for (u64 i = 0; i < p->stimulus_count; i++) {
        const scheduled *one = p->stimuli + i;
        if (!acts(one, t)) continue;
        any = true;
        give(p->ring + (t & p->slot_mask) * p->ports, p->amounts + one->first, one->count, thread, threads);
    }
    return any;
}

// begin_launch is what a caller gives in the launch's first burst, before any neuron is updated. It also makes the launch after this one
// ready, which counts its blocks where the one before has.
DEVICE void begin_launch(const run *p) {
    if (anew(block_index()) + anew(thread_in_block()) == 0) *p->arrived_next = 0;
    u64 thread = (u64)anew(block_index()) * block_size() + anew(thread_in_block()), threads = (u64)anew(block_count()) * block_size();
    give(p->ring + (anew(p->first) & p->slot_mask) * p->ports, p->given, p->given_count, thread, threads);
}

// stimulated reports whether sums of burst t may come from stimuli, of which any of the genome's may act.
DEVICE bool stimulated(const run *p, u64 t, bool any) { return any || (p->given_count > 0 && t == p->first); }

// bring_values brings the host the wanted state variables of the block's neurons after burst t, by so many threads of it. Where inside,
// v and more have places for the block's neurons alone, else for all.
DEVICE void bring_values(const run *p, u64 t, const float *v, const float *more, u32 pitch, bool inside, u32 threads) {
    const probes *x = &p->wanted;
    if (x->count == 0) return;
    float *to = x->values + (t - p->first) * x->count;
    u32 end = x->first[block_index() + 1];
#pragma unroll 1
    for (u32 i = x->first[block_index()] + thread_in_block(); i < end; i += threads) {
        probe one = x->list[i];
        u32 at = inside ? one.neuron : neuron_of(p->w.own, block_index() * p->block_neurons + one.neuron);
        to[one.place] = one.variable == 0 ? v[at] : more[(u64)(one.variable - 1) * pitch + at];
    }
}

// queued is how many fired in burst t − 1, on all devices.
DEVICE u32 queued(const run *p, u64 t, const block *s) {
    if (p->devices == 1) return *length_of(p, t - 1); // for the first cache: all warps of a block read it
    u32 sum = 0;
#pragma unroll 1
    for (u32 q = 0; q < p->devices; q++) sum += s->told[q];
    return sum;
}

// id_of is the i-th of them, where there are several devices or teams.
DEVICE u32 id_of(const run *p, u64 t, const block *s, u32 i) {
    if (p->devices == 1) return ((const u32 *)p->queue)[i];
    u32 q = 0;
    for (; i >= s->told[q]; q++) i -= s->told[q];
    return s->ids[q][i];
}

// row_of is the row of the i-th of them.
DEVICE spike row_of(const run *p, u64 t, const block *s, u32 i) {
    if (p->devices == 1) return p->queue[i];
    u32 n = id_of(p, t, s, i);
    return spike{p->row[n], p->row[n + 1] - p->row[n]};
}

// delay_of is the delay of synapse k.
DEVICE u32 delay_of(const run *p, u64 k) {
    if (MOVING && p->all.delay_bits > 0) return (u32)p->all.weight[k] & ((1u << p->all.delay_bits) - 1);
    if (MOVING && p->late != nullptr) return p->late[k];
    return p->delay == nullptr ? 1 : p->delay[k];
}

// floats and halves are a variable of four neighbouring neurons, as one thread updates them.
struct alignas(16) floats {
    float at[4];
};
struct alignas(8) halves {
    u16 at[4];
};

// store_nibbles makes *word the 32 answers of eight lanes, four each. All lanes of the warp must call it; word is the lanes' own.
DEVICE void store_nibbles(u32 *word, u32 answers, bool some) {
    u32 bits = answers << lane() % 8 * 4;
    for (u32 by = 1; by < 8; by *= 2) bits |= shuffle_xor(bits, by);
    if (some && lane() % 8 == 0) *word = bits;
}

// inputs are the sums of a neuron's ports.
struct inputs {
    i32 first, second;
};
