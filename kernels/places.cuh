// Rows in half the bytes, for the blocks of clusters (clusters.cuh).
#pragma once
#include "burst.cuh"

// Eight words of 16 bits are a unit. A slot is a few units: word 0 of the first one is FULL where the slot does not hold all of
// its synapses, and then words 1 and 2 are the lower and upper half of the number of a unit of more, which holds further ones in
// the same way. All other words are a synapse's place each, or NOBODY.
const u32 NOBODY = 0xffff, FULL = 0xfffe, UNIT = 8;

// places are the synapses of all rows, which have one weight each. The neurons are dealt to teams in turn, so many to each. A
// synapse is its target's place in the team, and a row has a slot for each team, so that nobody needs to look up where its
// synapses begin.
struct places {
    u32 count;      // of teams; 0: there are none
    u32 size;       // blocks of a team: those of a cluster
    u32 ports;      // of a team: size·block_neurons
    u32 units;      // of a slot
    u32 share_log;  // 2^share_log threads share a slot
    u32 more_log;   // and each has up to 2^more_log units of it
    u32 id_bits;    // a queue's word is a neuron's number and, above so many bits, its label
    u32 drawn;      // whether any drive is drawn in each burst
    const u16 *slot; // of row n and team q: from unit (n·count + q)·units on
    const u16 *more;
    const u8 *label; // where values have the weight of a neuron's row
};

// unit is a unit's words, two each.
struct alignas(16) unit {
    u32 word[UNIT / 2];
};

// load_unit loads a unit of the slots, or of more.
DEVICE unit load_unit(const u16 *units, u64 number) {
    const unit *from = (const unit *)units + number;
#ifdef BURST_ON_HOST
    return *from;
#else
    unit u;
    asm("ld.global.nc.L1::no_allocate.v4.u32 {%0, %1, %2, %3}, [%4];" : "=r"(u.word[0]), "=r"(u.word[1]), "=r"(u.word[2]), "=r"(u.word[3]) : "l"(from));
    return u;
#endif
}

// further is the number of the unit where a unit's synapses go on, or none; the unit's words are then places or nobody's.
const u32 NO_UNIT = ~0u;
DEVICE u32 further(unit *u) {
    u32 first = u->word[0] & 0xffff, number = NO_UNIT;
    if (first == FULL) {
        number = u->word[0] >> 16 | u->word[1] << 16;
        u->word[0] = ~0u;
        u->word[1] |= 0xffff;
    }
    return number;
}
