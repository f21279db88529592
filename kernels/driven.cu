// Areas with psp_max: what a spike delivers follows from the potential at which its neuron was fired. A unit of its own: other networks
// load none of it. The host makes amplitudes of the potentials, and gives them back for as many bursts as delays are long.
#define BURST_DRIVEN
#define BURST_MOVING
#include "amplitudes.cuh"
#include "neural_dynamics_fcl.cu"

// driven are the synapses of such areas, in rows like those of all others, and what has been fired in the last bursts.
struct driven {
    const u64 *row;
    const u32 *target;      // ports
    const i32 *weight;      // factors of the amplitude, in quanta
    const u8 *delay;        // null: all are 1
    const i32 *divide;      // what each neuron's spikes divide by, 0: nothing; null: none divides
    amplitudes fired;
};

// lift_for is an amount as it is sent to an area.
DEVICE i32 lift_for(const area *a, i64 q) {
    if (a->model != FEAGI || a->k[RECTIFY] == 0) return (i32)q;
    q *= (i64)a->k[RECTIFY];
    return (i32)(q <= 0 ? q - 1 : q);
}

// driven_deliver is step 1d in burst t, a warp for each pair of spike and delay. Those of delay d are before[d-1] ≤ pair < before[d].
//
//	for d := range delays { for _, x := range amplitudes of burst t-d {
//		for k := range synapses of x.neuron with delay d { acc[target[k]] += lifted(Delivers(weight[k], x.quanta)) }
//	} }
KERNEL driven_deliver(driven p, u64 t, i32 scale, const area *areas, u32 area_count, i32 *acc) {
    const u64 *before = p.fired.before;
    for (u64 pair = thread_index() / 32; pair < before[p.fired.delays]; pair += thread_count() / 32) {
        u32 d = 1, high = p.fired.delays; // the first delay with pair < before[d]
        while (d < high) {
            u32 middle = d + (high - d) / 2;
            if (before[middle] <= pair) d = middle + 1;
            else high = middle;
        }
        amplitude x = amplitudes_of(&p.fired, t, d)[pair - before[d - 1]];
        u64 first = p.row[x.neuron], end = p.row[x.neuron + 1];
        if (p.delay != nullptr) {
            first = first_delay(p.delay, first, end, d);
            end = first_delay(p.delay, first, end, d + 1);
        } else if (d > 1) {
            end = first;
        }
        i32 by = p.divide != nullptr ? p.divide[x.neuron] : 0;
        for (u64 k = first + lane(); k < end; k += 32) {
            u32 port = p.target[k];
            const area *to = area_of(areas, area_count, neuron_at(areas, area_count, port));
            add(acc + port, lift_for(to, delivers(p.weight[k], x.quanta, scale, by)));
        }
    }
}

// driven_potentials keeps V of step 4c of neurons of the model feagi, which firing makes 0; one thread a neuron, before the update.
KERNEL driven_potentials(network w, u32 neurons, float *potential) {
    u64 n = thread_index();
    if (n >= neurons) return;
    const area *a = area_of(w.areas, w.area_count, (u32)n);
    if (a->model != FEAGI) return;
    often o = often_of(a, 0);
    float x = input(&w, quanta_of(o, w.acc[port_at(a, (u32)n, false)]));
    potential[n] = o.accumulate ? w.v[n] + x : x;
}

// driven_fired lists the potentials of the neurons that have fired, in their order; one thread each.
KERNEL driven_fired(const u32 *queue, const u64 *lengths, const float *potential, float *found) {
    u64 i = thread_index();
    if (i < lengths[0]) found[i] = potential[queue[i]];
}
