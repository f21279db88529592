// Rows of places (places.cuh), made of rows that are sorted, packed, and of one weight each, a row at a time by a block.
#pragma once
#include "kept_rows.cuh"
#include "places.cuh"

// place_in is the place of a neuron among those of the part, which owns it.
DEVICE u32 place_in(part p, u32 n) { return p.of == 1 ? n : n / SLICE / p.of * SLICE + n % SLICE; }

// coding is how rows of places lie. Ports are neurons.
struct coding {
    u32 teams, neurons, rounds; // teams, neurons of each, and rounds of a block
    u32 units, pieces_log;      // of a slot; of a row
    u16 *slot, *more;
    u32 *further; // units of more that are taken
    u64 *lengths; // by length, how many stretches have it
};

// neuron_at and team_at are whose synapse the k-th is.
DEVICE u32 neuron_at(const building *b, u64 k) { return place_in(b->own, b->target[k] & ((1u << b->port_bits) - 1)); }
DEVICE u32 team_at(const building *b, const coding *c, u64 k) { return neuron_at(b, k) / c->neurons; }

// find_stretches finds where each team's stretch of neuron n's row begins and ends; where there is none, both are 0. All threads must call
// it, and see the stretches then.
DEVICE void find_stretches(const building *b, const coding *c, u64 n, u32 *begin, u32 *end) {
    u64 first = b->row[n];
    u32 count = (u32)(b->row[n + 1] - first);
    for (u32 t = thread_in_block(); t < c->teams; t += block_size()) begin[t] = end[t] = 0;
    block_barrier();
    for (u32 k = thread_in_block(); k < count; k += block_size()) {
        u32 team = team_at(b, c, first + k);
        if (k == 0 || team_at(b, c, first + k - 1) != team) begin[team] = k;
        if (k == count - 1 || team_at(b, c, first + k + 1) != team) end[team] = k + 1;
    }
    block_barrier();
}

// few are stretches by lengths that a block counts by itself.
const u32 FEW = 1024;
struct few_lengths {
    u32 of[FEW];
};

// count_lengths adds up lengths of stretches.
DEVICE void count_lengths(const building *b, const coding *c) {
    SHARED(few_lengths, few);
    u32 *begin = (u32 *)dynamic_memory(), *end = begin + c->teams;
    for (u32 i = thread_in_block(); i < FEW; i += block_size()) few.of[i] = 0;
    for (u64 n = b->first + block_index(); n < b->neurons; n += block_count()) {
        find_stretches(b, c, n, begin, end);
        for (u32 t = thread_in_block(); t < c->teams; t += block_size()) {
            u32 length = end[t] - begin[t];
            if (length < FEW) fetch_add(few.of + length, 1);
            else add(c->lengths + length, (u64)1);
        }
        block_barrier();
    }
    for (u32 i = thread_in_block(); i < FEW; i += block_size()) {
        if (few.of[i] > 0) add(c->lengths + i, (u64)few.of[i]);
    }
}

const u32 LINKED = UNIT - 3; // places of a unit that says where synapses go on

// more_units is how many further units so many synapses take, with slots of so many.
DEVICE u32 more_units(u32 count, u32 units) {
    if (count < units * UNIT) return 0;
    count -= units * UNIT - 3;
    return count < UNIT ? 1 : 1 + (count - (UNIT - 1) + LINKED - 1) / LINKED;
}

// piece_of is the part of a stretch that belongs to a piece of its row.
struct stretch_piece {
    u32 first, count;
};
DEVICE stretch_piece piece_of(const coding *c, u32 length, u32 piece) {
    u32 first = (u32)((u64)length * piece >> c->pieces_log);
    return stretch_piece{first, (u32)((u64)length * (piece + 1) >> c->pieces_log) - first};
}

// begin_unit makes a unit one of a label, or of none, without synapses; link says where they go on.
DEVICE void begin_unit(u16 *at, u32 label) { *(unit *)at = unit{{NOBODY << 16 | label, ~0u, ~0u, ~0u}}; }
DEVICE void link(u16 *at, u32 number) {
    at[0] |= FULL;
    at[1] = (u16)number;
    at[2] = (u16)(number >> 16);
}

// slot_at is where the slot of a team lies among those of a row's piece, whose first is at own.
DEVICE u16 *slot_at(const coding *c, u16 *own, u32 piece, u32 team) {
    u32 q = team % c->rounds * (c->teams / c->rounds) + team / c->rounds;
    return own + (u64)(piece * c->teams + q) * c->units * UNIT;
}

// begin_slots makes the slots of a row empty, and begins the further units that its stretches take, the first of which are kept in next.
DEVICE void begin_slots(const coding *c, u16 *own, u32 label, const u32 *begin, const u32 *end, u32 *next) {
    u32 slots = c->teams << c->pieces_log;
    for (u32 i = thread_in_block(); i < slots * c->units; i += block_size()) begin_unit(own + (u64)i * UNIT, i % c->units == 0 ? label : NOBODY);
    block_barrier();
    for (u32 q = thread_in_block(); q < slots; q += block_size()) {
        u32 piece = q / c->teams, team = q % c->teams;
        u32 more = more_units(piece_of(c, end[team] - begin[team], piece).count, c->units);
        if (more == 0) continue;
        next[q] = fetch_add(c->further, more);
        link(slot_at(c, own, piece, team), next[q]);
        for (u32 i = 0; i < more; i++) {
            u16 *at = c->more + (u64)(next[q] + i) * UNIT;
            begin_unit(at, label);
            if (i + 1 < more) link(at, next[q] + i + 1);
        }
    }
    block_barrier();
}

// From so many units on a slot's places are spread, so that a warp which adds a unit a lane adds few of one bank of shared memory at a time.
const u32 SPREAD = 8;

// spread_place is where the i-th of a piece's places lies in its slot, which holds all: they are sorted by banks, and the r-th has word r mod
// words, of the units in turn; the first one, where the label is, comes last instead. at are the piece's targets.
DEVICE u32 spread_place(const building *b, const coding *c, const u32 *at, u32 count, u32 i, u32 before) {
    u32 mask = (1u << b->port_bits) - 1, bank = ((at[i] & mask) - before) % 32, rank = 0, words = count / c->units + 1;
    for (u32 j = 0; j < count; j++) {
        u32 other = ((at[j] & mask) - before) % 32;
        rank += other < bank || (other == bank && j < i);
    }
    if (rank == 0) rank = count;
    return rank / words * UNIT + rank % words;
}

// code_all codes rows.
DEVICE void code_all(const building *b, const coding *c) {
    u32 *begin = (u32 *)dynamic_memory(), *end = begin + c->teams, *next = end + c->teams, slots = c->teams << c->pieces_log, room = c->units * UNIT;
    for (u64 n = b->first + block_index(); n < b->neurons; n += block_count()) {
        u64 first = b->row[n];
        u32 count = (u32)(b->row[n + 1] - first), label = count > 0 ? b->target[first] >> b->port_bits : 0;
        u16 *own = c->slot + n * slots * room;
        find_stretches(b, c, n, begin, end);
        begin_slots(c, own, label, begin, end, next);
        for (u32 k = thread_in_block(); k < count; k += block_size()) {
            u32 own_neuron = neuron_at(b, first + k), team = own_neuron / c->neurons, piece = 0, i = k - begin[team];
            stretch_piece p = piece_of(c, end[team] - begin[team], 0);
            while (i >= p.first + p.count) p = piece_of(c, end[team] - begin[team], ++piece);
            i -= p.first;
            u16 *at = slot_at(c, own, piece, team) + 1;
            if (c->units >= SPREAD && p.count < room) i = spread_place(b, c, b->target + first + begin[team] + p.first, p.count, i, team * c->neurons) - 1;
            else if (p.count >= room && i < room - 3) at += 2;
            else if (p.count >= room) {
                i -= room - 3;
                u32 full = more_units(p.count, c->units) - 1, u = i / LINKED < full ? i / LINKED : full;
                i -= u * LINKED;
                at = c->more + (u64)(next[piece * c->teams + team] + u) * UNIT + (u < full ? 3 : 1);
            }
            at[i] = (u16)(own_neuron - team * c->neurons);
        }
        block_barrier(); // what is known of stretches is used no more
    }
}
