// Rows in half the bytes, for the blocks of clusters (clusters.cuh).
#pragma once
#include "burst.cuh"

// Eight words of 16 bits are a unit. A slot is a few units: word 0 of the first one is the label of the row's weight, with FULL where
// words 1 and 2 are the number of a unit of more with further synapses, which begins alike. All other words are a synapse's place each,
// or NOBODY.
const u32 NOBODY = 0xffff, FULL = 0x8000, UNIT = 8;

// places are the synapses of all rows, which have one weight each, and all one delay. The neurons are dealt to teams in turn, so many to each. A
// synapse is its port's place in the team, and a row has a slot for each team, so that nobody needs to look up where its
// synapses begin. Rows too long for that have pieces, each of which is a row with the same weight.
struct places {
    u32 count;      // of teams; 0: there are none
    u32 size;       // blocks of a team: those of a cluster
    u32 neurons;    // of a team: size·block_neurons
    u32 ports;      // and theirs, second ones after the first ones of all
    u32 units_log;  // a slot has 2^units_log units, which as many threads load
    u32 pieces_log; // a row has 2^pieces_log pieces
    u32 drawn;      // how many ports of a neuron drives reach at most, if any drive is drawn in each burst
    u32 delay;      // of all synapses, in bursts
    u32 outside;    // whether the neurons' state stays in global memory, because blocks have no room for it
    u32 apart;      // bursts that blocks are apart at most, 0 or 1
    u32 rounds;     // if they have none for all sums either, a block alone is so many teams, one after the other
    const u16 *slot; // of piece n and the q-th slot: from unit (n·count + q)·2^units_log on
    const u16 *more;
};

// first_of is the first neuron of the team whose slot is a row's q-th. Slots of blocks' first rounds come before those of their second ones,
// since a sector of 32 bytes may hold two slots: two blocks then read it at about the same time.
DEVICE u32 first_of(const places *m, u32 q) {
    u32 each = m->count / m->rounds;
    return (q % each * m->rounds + q / each) * m->neurons;
}

// unit is a unit's words, two each.
typedef four unit;

// load_unit loads a unit of the slots, or of more.
DEVICE unit load_unit(const u16 *units, u64 number) {
    return load_streamed((const unit *)units + number);
}

// further is the number of the unit where the synapses of a slot's first unit or of one of more go on, or none; the unit's words are
// then places or nobody's.
const u32 NO_UNIT = ~0u;
DEVICE u32 further(unit *u) {
    bool full = u->word[0] & FULL;
    u32 number = full ? u->word[0] >> 16 | u->word[1] << 16 : NO_UNIT;
    u->word[0] |= full ? ~0u : NOBODY;
    u->word[1] |= full ? NOBODY : 0;
    return number;
}

// label_of is where values have the weight of the row whose slot begins with a unit.
DEVICE u32 label_of(const unit *u) { return u->word[0] & (FULL - 1); }
