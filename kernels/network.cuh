// The tables of a network, as backend/cuda fills them: field for field its types area and drive.
#pragma once
#include "burst.cuh"

typedef long long i64;

const u64 NO_TABLE = ~0ull;
const u32 MOST_CONSTANTS = 14; // of a model

// instant is what a drive or a source area with a factor has in one burst. The burst's thresholds or amounts follow it.
struct instant {
    double factor; // of terms, and of the limit of a source's draws
    u32 entries;   // Poisson: thresholds
    i32 amount;    // injected, quanta
};

// instants are where those of a launch's bursts lie, burst t's at first + (t & mask)·stride; null for what stays as it is.
struct instants {
    const u8 *first;
    u32 mask, stride;
};

// MOVING tells units for networks with factors, or with delays above 255 bursts. In the others even asking took up to 0.5 µs a burst.
#if defined(BURST_MOVING) || defined(BURST_ONE_UNIT)
const bool MOVING = true;
#else
const bool MOVING = false;
#endif

// instant_of is that of burst t, or null.
DEVICE const instant *instant_of(const instants *m, u64 t) {
    return MOVING && m->first != nullptr ? (const instant *)(m->first + (t & m->mask) * m->stride) : nullptr;
}

// area is a span of neurons that follow one model with one set of parameters.
struct area {
    u32 first, end;  // neurons
    u32 first_port;  // of neuron first; second ports of neurons come after the first ones of all, and so on
    u32 model;
    u32 ports;       // of a neuron
    u32 program;     // custom: its number among the network's; with a table of decay: where that begins among the constants
    u64 each;        // where neurons with constants of their own have them, own each, in the table of constants (spike_list
                     // and poisson: of numbers), or NO_TABLE
    u64 below;       // feagi, poisson: a Philox draw below this fires
    u64 from, until; // poisson: fires in bursts from ≤ t < until
    float k[MOST_CONSTANTS]; // the model's constants, in the order of its descriptor in package genome
    u32 own;         // how many of them, the first ones, may differ from neuron to neuron
    u32 refractory;  // custom; with a table of decay: its rows
    u32 first_term, terms;   // its constant drives that are terms of the model's formula
    u32 first_drive, drives; // those that go into acc
    u32 differ;              // whether neurons differ in what the terms add
    instants moving;          // poisson: of the rate
};

// term is a constant drive that is a term of its model's formula, in bursts from ≤ t < until.
struct term {
    u64 from, until;
    u64 each;   // where its addends begin, one a neuron, or NO_TABLE
    double all; // else
    instants moving;
};

enum drive_kind { INJECT = 0, POISSON = 1, NOISE = 2 };

// drive is an area's own input in bursts from ≤ t < until, one thread a neuron.
struct drive {
    u64 end;         // threads of this and all earlier drives
    u64 from, until; // bursts
    u64 counts;      // Poisson, noise: where the table of thresholds begins
    u64 table;       // noise: where the table of amounts begins
    u32 entries;     // Poisson, noise: the length of the table of thresholds
    u32 first, first_port, count; // neurons; first_port: of neuron first, for amounts ≥ 0
    u32 place;       // among its area's drives
    u32 kind;
    u32 split;  // ports from that of amounts ≥ 0 to that of amounts < 0; 0 where one takes both
    i32 amount; // quanta
    u32 differ; // whether neurons have numbers of their own: in all bursts moving is then where own_numbers lie
    u32 seconds; // whether a neuron's second port takes amounts ≥ 0 (bit 0) and amounts < 0 (bit 1)
    instants moving;
};

// own_numbers are followed by an own_events or own_noise for each neuron of the drive's area, and these by thresholds.
struct own_numbers {
    double scale; // noise: quanta per unit
    i64 lift;     // noise: of an area that rectifies, 0 for others
};
struct own_events {
    u64 counts;  // where the neuron's thresholds begin behind the own_numbers, in words of 4 bytes
    u32 entries; // how many there are
    i32 amount;  // quanta
};
struct own_noise {
    double mean, sd; // in the port's unit
};

// candidate is a sum for a port.
struct candidate {
    u32 port;
    i32 sum; // quanta
};

const u32 SLICE = 64; // neurons that are dealt to a part at a time

// part is what a device owns of a network: the slices whose number modulo of is index. Alone it is {0, 1}.
struct part {
    u32 index, of;
};

DEVICE bool owns(part p, u32 n) { return p.of == 1 || n / SLICE % p.of == p.index; }

// neuron_of is the k-th neuron that a part owns.
DEVICE u32 neuron_of(part p, u32 k) { return (k / SLICE * p.of + p.index) * SLICE + k % SLICE; }

// listed is an entry of the fire candidate list as the host has it.
struct listed {
    u32 port, neuron;
    i32 sum; // quanta
};

// synapses are those of all rows. Where weights are few, weight is null, and a target's lower bits are its port, the others
// its weight's place in values. Else a weight may lie above its delay in one word.
struct synapses {
    const u32 *target;
    const i32 *weight;
    const i32 *values;
    u32 port_bits, port_mask;
    u32 delay_bits; // of a weight's word that are the delay, 0: delays lie elsewhere
};

DEVICE u32 port_of(const synapses *s, u32 word) { return word & s->port_mask; }

// weight_of is the weight of synapse k, whose target is word.
DEVICE i32 weight_of(const synapses *s, u64 k, u32 word) {
    if (s->weight == nullptr) return s->values[word >> s->port_bits];
    return MOVING ? s->weight[k] >> s->delay_bits : s->weight[k];
}

// area_of is the area that holds neuron n.
DEVICE const area *area_of(const area *areas, u32 count, u32 n) {
    u32 low = 0, high = count;
    while (low < high) {
        u32 middle = low + (high - low) / 2;
        if (areas[middle].end <= n) low = middle + 1;
        else high = middle;
    }
    return areas + low;
}

// port_at is the first or second port of neuron n of an area.
DEVICE u32 port_at(const area *a, u32 n, bool second) { return a->first_port + n - a->first + (second ? a->end - a->first : 0); }

// neuron_at is the neuron that has a port.
DEVICE u32 neuron_at(const area *areas, u32 count, u32 port) {
    u32 low = 0, high = count; // the first area whose ports begin after it
    while (low < high) {
        u32 middle = low + (high - low) / 2;
        if (areas[middle].first_port <= port) low = middle + 1;
        else high = middle;
    }
    const area *a = areas + (low - 1);
    u32 k = port - a->first_port, neurons = a->end - a->first;
    return a->first + k % neurons;
}

// first_delay is the first synapse of low ≤ k < high whose delay, the bits of mask, is at least d.
template <class T> DEVICE u64 first_delay(const T *delay, u64 low, u64 high, u32 d, u32 mask = ~0u) {
    while (low < high) {
        u64 middle = low + (high - low) / 2;
        if (((u32)delay[middle] & mask) < d) low = middle + 1;
        else high = middle;
    }
    return low;
}
