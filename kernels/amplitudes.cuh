// Amplitudes: the potentials at which neurons of areas with psp_max were fired, and what synapses deliver of them.
#pragma once
#include "network.cuh"

// amplitude is the potential at which a neuron was fired, in quanta.
struct amplitude {
    u32 neuron;
    i32 quanta;
};

// amplitudes are those of the last bursts.
struct amplitudes {
    const amplitude *lists; // those of burst b from (b mod delays)·room on, ascending
    const u64 *before;      // lengths of the lists of the bursts before, the newest first, added up
    u64 room;
    u32 delays;
};

// amplitudes_of is the list of d bursts before t, of before[d] − before[d−1] entries.
DEVICE const amplitude *amplitudes_of(const amplitudes *p, u64 t, u64 d) { return p->lists + (t + p->delays - d) % p->delays * p->room; }

// amplitude_of is the amplitude of a neuron that fired d bursts before t.
DEVICE i32 amplitude_of(const amplitudes *p, u64 t, u64 d, u32 neuron) {
    const amplitude *list = amplitudes_of(p, t, d);
    u64 low = 0, high = p->before[d] - p->before[d - 1];
    while (high - low > 1) {
        u64 middle = low + (high - low) / 2;
        if (list[middle].neuron <= neuron) low = middle;
        else high = middle;
    }
    return list[low].quanta;
}

// delivers is what a synapse delivers of an amplitude before it is lifted: connectome.Delivers.
DEVICE i64 delivers(i32 factor, i32 quanta, i32 scale, i32 by) {
    i64 product = (i64)factor * quanta;
    u64 size = product < 0 ? -(u64)product : (u64)product;
    if (by > 0) {
        u64 among = (u64)scale * (u64)by;
        size = (size + among - 1) / among;
    } else if (size > 0) {
        size = (size + (u64)scale / 2) / (u64)scale;
        if (size == 0) size = 1;
    }
    return product < 0 ? -(i64)size : (i64)size;
}
