// The tables of a network, as backend/cuda fills them: field for field its types area and drive.
#pragma once
#include "burst.cuh"

enum model { FEAGI = 0, LIF = 1 };

const u64 NO_TABLE = ~0ull;

// area is a span of neurons that follow one model with one set of parameters.
struct area {
    u32 first, end;  // neurons
    u32 first_port;  // of neuron first; one port a neuron
    u32 model;
    u64 thresholds;  // where the area's own thresholds begin in the table, or NO_TABLE
    u64 excite_below; // a Philox draw below this fires
    float threshold, threshold_limit;
    float keep, leak_amount; // V·keep is V·(1 − leak)
    float excitability;      // compared with FEAGI's hash when feagi_draw
    float em1, reset;        // lif
    u32 refractory, fire_limit, snooze;
    u32 accumulate, feagi_draw;
};

enum drive_kind { INJECT = 0, POISSON = 1 };

// drive is an area's own input in bursts from ≤ t < until, one thread a neuron.
struct drive {
    u64 end;         // threads of this and all earlier drives
    u64 from, until; // bursts
    u64 counts;      // Poisson: where the table of thresholds begins
    u32 entries;     // Poisson: the table's length
    u32 first, first_port, count; // neurons
    u32 place;       // among its area's drives
    u32 kind;
    i32 amount; // quanta
};

// candidate is an entry of the fire candidate list.
struct candidate {
    u32 port;
    i32 sum; // quanta
};

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
