#include "network.cuh"
#include "philox.cuh"

DEVICE u32 saturated(u32 x) { return x < 65535 ? x : 65535; }

// excited is the excitability's draw.
DEVICE bool excited(const area *a, u64 seed, u32 n, u64 t) {
    if (!a->feagi_draw) return draw(seed, EXCITABILITY, n, 0, t).w[0] < a->excite_below;
    if (a->excitability >= 0.999f) return true;
    if (a->excitability <= 0) return false;
    u32 h = pcg(n * 2654435761u + ((u32)t + 1) * 1597334677u);
    return (float)h / 4294967296.0f < a->excitability;
}

// feagi is the model's step 4 for a candidate; it says whether the neuron fires.
DEVICE bool feagi(const area *a, float threshold, float input, u64 seed, u32 n, u64 t, float *v, u16 *refractory,
                  u16 *count) {
    bool blocked = a->fire_limit != 0 && *count >= a->fire_limit;
    if (*refractory > 0) { // 4a
        *refractory -= 1;
        if (*refractory == 0 && blocked) *count = 0;
        return false;
    }

    float x = a->accumulate ? *v + input : input; // 4b

    if (threshold <= x && x <= a->threshold_limit) { // 4c
        if (blocked) {
            *count = 0;
            *v = a->accumulate ? x : 0.0f;
            return false;
        }
        if (excited(a, seed, n, t)) {
            u32 fires = saturated((u32)*count + 1);
            bool snoozes = a->fire_limit != 0 && fires >= a->fire_limit;
            *v = 0.0f;
            *count = (u16)fires;
            *refractory = (u16)saturated(a->refractory + (snoozes ? a->snooze : 0));
            return true;
        }
    }

    if (a->fire_limit != 0) *count = 0; // 4d
    x = x * a->keep;
    if (a->leak_amount > 0 && x > 0) {
        x = x - a->leak_amount;
        if (x < 0) x = 0.0f;
    }
    *v = a->accumulate ? x : 0.0f;
    return false;
}

// lif is the model's step 4; it says whether the neuron fires.
DEVICE bool lif(const area *a, float input, float term, float *v, u16 *refractory) {
    if (*refractory > 0) { // 4a
        *refractory -= 1;
        return false;
    }
    float x = *v + (a->em1 * *v + term) + input; // 4b
    bool fires = x >= a->threshold;              // 4c
    *v = fires ? a->reset : x;
    if (fires) *refractory = (u16)a->refractory;
    return fires;
}

// update is step 4 for neuron n; it says whether the neuron fires.
DEVICE bool update(const area *areas, u32 area_count, const float *thresholds, const float *terms, u64 seed, u64 t,
                   i32 scale, const i32 *acc, u32 n, float *v, u16 *refractory, u16 *count) {
    const area *a = area_of(areas, area_count, n);
    u32 i = n - a->first;
    i32 sum = acc[a->first_port + i];
    float input = (float)sum / (float)scale; // 3
    if (a->model == LIF) return lif(a, input, terms[a - areas], v + n, refractory + n);
    if (sum == 0) return false; // feagi: no candidate, no change
    float threshold = a->thresholds == NO_TABLE ? a->threshold : thresholds[a->thresholds + i];
    return feagi(a, threshold, input, seed, n, t, v + n, refractory + n, count + n);
}

// neural_dynamics_fcl is steps 3 and 4 of the law, one thread a neuron and one a port; what fires and what is a candidate
// become bits, 32 a word, because their places in the lists are not known yet:
//
//	for n := range neurons { fired[n/32].bit(n%32) = b.update(n, float32(acc[port of n])/float32(scale)) }
//	for p := range ports { candidates[p/32].bit(p%32) = acc[p] != 0 }
KERNEL neural_dynamics_fcl(const area *areas, u32 area_count, const float *thresholds, const float *terms, u64 seed, u64 t,
                           i32 scale, const i32 *acc, u32 neurons, float *v, u16 *refractory, u16 *count, u32 *fired,
                           u32 ports, u32 *candidates) {
    u64 i = thread_index();
    bool fires = i < neurons && update(areas, area_count, thresholds, terms, seed, t, scale, acc, (u32)i, v, refractory, count);
    if (i / 32 * 32 < neurons) store_bits(fired + i / 32, fires);
    if (i / 32 * 32 < ports) store_bits(candidates + i / 32, i < ports && acc[i] != 0);
}
