// Rows in half the bytes, for the blocks of clusters (clusters.cuh).
#pragma once
#include "burst.cuh"

// places are the synapses of all rows, which have one weight each. The neurons are dealt to teams in turn, so many to each, and a
// row is cut into stretches, one a team; a synapse is its target's place in the team. Stretches begin at units of 4 or 8
// places, and what is left of the last unit is places behind the team's, which nobody reads.
struct places {
    u32 count;     // of teams; 0: there are none
    u32 size;      // blocks of a team: those of a cluster
    u32 ports;     // of a team: size·block_neurons
    u32 wide;      // whether units have 8 places
    u32 share_log; // 2^share_log threads share a stretch
    u32 id_bits;   // a queue's word is a neuron's number and, above so many bits, its label
    const u32 *cut;   // row n's stretch of team q are the units cut[n·(count + 1) + q] ≤ u < cut[n·(count + 1) + q + 1]
    const u16 *place;
    const u8 *label; // where values have the weight of a neuron's row
};

const u32 BESIDE = 32; // places behind a team's that nobody reads

// unit is a unit's places, two a word.
struct alignas(16) unit {
    u32 word[4];
};

// load_unit loads the unit of a number.
template <bool wide> DEVICE unit load_unit(const places *m, u32 number) {
    const u32 *from = (const u32 *)m->place + (u64)number * (wide ? 4 : 2);
    unit u = {};
#ifdef BURST_ON_HOST
    for (u32 j = 0; j < (wide ? 4 : 2); j++) u.word[j] = from[j];
#else
    if (wide) asm("ld.global.nc.v4.u32 {%0, %1, %2, %3}, [%4];" : "=r"(u.word[0]), "=r"(u.word[1]), "=r"(u.word[2]), "=r"(u.word[3]) : "l"(from));
    else asm("ld.global.nc.v2.u32 {%0, %1}, [%2];" : "=r"(u.word[0]), "=r"(u.word[1]) : "l"(from));
#endif
    return u;
}

// stretch_at loads where a team's stretch of row n begins and ends.
DEVICE void stretch_at(const places *m, u32 team, u32 n, u32 *from, u32 *until) {
    const u32 *cut = m->cut + (u64)n * (m->count + 1) + team;
    *from = cut[0];
    *until = cut[1];
}
