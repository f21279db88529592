#ifndef BURST_NEURAL_DYNAMICS_FCL
#define BURST_NEURAL_DYNAMICS_FCL
#include "network.cuh"
#include "philox.cuh"

DEVICE u32 saturated(u32 x) { return x < 65535 ? x : 65535; }

// excited is the excitability's draw, which is left out where any draw would do.
DEVICE bool excited(const area *a, u64 seed, u32 n, u64 t) {
    if (!a->feagi_draw) return a->below >> 32 != 0 || draw(anew(seed), EXCITABILITY, n, 0, t).w[0] < (u32)a->below;
    if (a->excitability >= 0.999f) return true;
    if (a->excitability <= 0) return false;
    u32 h = pcg(n * 2654435761u + ((u32)t + 1) * 1597334677u);
    return (float)h / 4294967296.0f < a->excitability;
}

// often is what feagi needs of an area for every candidate.
struct often {
    float threshold, threshold_limit, keep, leak_amount;
    u32 fire_limit, accumulate;
};

DEVICE often often_of(const area *a, float threshold) {
    return often{threshold, a->threshold_limit, a->keep, a->leak_amount, a->fire_limit, a->accumulate};
}

// blocked reports whether a neuron has fired too often in a row.
DEVICE bool blocked(often o, const u16 *count) { return o.fire_limit != 0 && *count >= o.fire_limit; }

// feagi is the model's step 4 for a candidate; it says whether the neuron fires.
DEVICE bool feagi(const area *a, often o, float input, u64 seed, u32 n, u64 t, float *v, u16 *refractory, u16 *count) {
    if (*refractory > 0) { // 4a
        *refractory -= 1;
        if (*refractory == 0 && blocked(o, count)) *count = 0;
        return false;
    }

    float x = o.accumulate ? *v + input : input; // 4b

    if (o.threshold <= x && x <= o.threshold_limit) { // 4c
        if (blocked(o, count)) {
            *count = 0;
            *v = o.accumulate ? x : 0.0f;
            return false;
        }
        if (excited(a, seed, n, t)) {
            u32 fires = saturated((u32)*count + 1);
            bool snoozes = o.fire_limit != 0 && fires >= o.fire_limit;
            *v = 0.0f;
            *count = (u16)fires;
            *refractory = (u16)saturated(a->refractory + (snoozes ? a->snooze : 0));
            return true;
        }
    }

    if (o.fire_limit != 0) *count = 0; // 4d
    x = x * o.keep;
    if (o.leak_amount > 0 && x > 0) {
        x = x - o.leak_amount;
        if (x < 0) x = 0.0f;
    }
    *v = o.accumulate ? x : 0.0f;
    return false;
}

// lif is the model's step 4 with the constants k; it says whether the neuron fires.
DEVICE bool lif(const float *k, float input, float term, float *v, u16 *refractory) {
    if (*refractory > 0) { // 4a
        *refractory -= 1;
        return false;
    }
    float x = *v + (k[0] * *v + term) + input; // 4b
    bool fires = x >= k[1];                    // 4c
    *v = fires ? k[2] : x;
    if (fires) *refractory = (u16)k[3];
    return fires;
}

// psc_exp is lif_psc_exp's step 4.
DEVICE bool psc_exp(const float *k, float input_ex, float input_in, float term, float *v, float *ex, float *in,
                    u16 *refractory) {
    float x = *v;
    u32 r = *refractory;
    if (r > 0) r -= 1; // 4a
    else x = x + k[0] * x + k[1] * *ex + k[2] * *in + term; // 4b
    *ex = k[3] * *ex + input_ex; // 4c
    *in = k[4] * *in + input_in;
    bool fires = x >= k[5]; // 4d
    *v = fires ? k[6] : x;
    *refractory = (u16)(fires ? (u32)k[7] : r);
    return fires;
}

// izhikevich is the model's step 4.
DEVICE bool izhikevich(const float *k, float input, float term, float *v, float *u) {
    float x = *v, y = *u, current = input + term; // 4a
    for (int half = 0; half < 2; half++) {        // 4b
        float slope = 0.04f * x * x + 5.0f * x + 140.0f - y + current;
        x = x + k[0] * slope;
    }
    y = y + k[1] * (k[2] * x - y); // 4c
    bool fires = x >= k[5];        // 4d
    *v = fires ? k[3] : x;
    *u = fires ? y + k[4] : y;
    return fires;
}

// fires_at reports whether burst t is among the ascending bursts low ≤ k < high.
DEVICE bool fires_at(const u64 *bursts, u64 low, u64 high, u64 t) {
    u64 end = high;
    while (low < high) {
        u64 middle = low + (high - low) / 2;
        if (bursts[middle] < t) low = middle + 1;
        else high = middle;
    }
    return low < end && bursts[low] == t;
}

// network is what neural_dynamics_fcl reads and the neurons' state that it changes.
struct network {
    const area *areas;
    u32 area_count;
    const float *constants; // of neurons that have their own
    const u64 *numbers;     // of sources: below, from, until of each neuron; or where its bursts begin, and the bursts
    const term *terms;
    const double *addends;
    u64 seed, t;
    i32 scale;
    const i32 *acc;
    float *v, *more; // more: the k-th further variable of neuron n at k·pitch + n
    u64 pitch;
    u32 variables; // further ones
    u16 *refractory, *count;
    part own;
};

// term_at is what the constant drives add in burst t to the formula of the i-th neuron of an area.
DEVICE float term_at(const network *w, const area *a, u32 i, u64 t) {
    double sum = 0;
#pragma unroll 1
    for (u32 k = a->first_term; k < a->first_term + a->terms; k++) {
        const term *d = w->terms + k;
        if (t < d->from || t >= d->until) continue;
        sum += d->each == NO_TABLE ? d->all : w->addends[d->each + i];
    }
    return (float)sum;
}

DEVICE float term_of(const network *w, const area *a, u32 i) { return term_at(w, a, i, w->t); }

// input is a port's sum in the genome's unit, the quotient rounded once. Two corrections of a product with the rounded
// reciprocal give it, as every quotient of whole numbers that float can hold (Markstein 1990).
DEVICE float input(const network *w, i32 sum) { // 3
    float x = (float)sum, scale = (float)w->scale, inverse = 1.0f / scale, q = x * inverse;
    q = product_sum(product_sum(-q, scale, x), inverse, q);
    return product_sum(product_sum(-q, scale, x), inverse, q);
}

// threshold_of is that of the i-th neuron of a feagi area.
DEVICE float threshold_of(const network *w, const area *a, u32 i) { return a->each != NO_TABLE ? w->constants[a->each + i] : a->k[0]; }

// source_fires is step 4 for the i-th neuron of a source area.
DEVICE bool source_fires(const network *w, const area *a, u32 i) {
    const u64 *own = w->numbers + a->each;
    if (a->model == SPIKE_LIST) return fires_at(w->numbers, own[i], own[i + 1], w->t);
    u64 below = a->below, from = a->from, until = a->until;
    if (a->each != NO_TABLE) {
        below = own[3 * i];
        from = own[3 * i + 1];
        until = own[3 * i + 2];
    }
    return from <= w->t && w->t < until && draw_of(anew(w->seed), SOURCE, a->first + i, 0, w->t) < below;
}

// custom is step 4 of a model that the genome defines, for the i-th neuron of an area, number n. The backend writes the
// models' code after the remark custom_update, at each place where a compiler has left it, before the driver sees the PTX:
// nothing is called, and the code has the registers that the remark names.
DEVICE bool custom(const network *w, const area *a, u32 i, u32 n, float first, float second) {
    const float *each = w->constants + a->each;
    float *v = w->v + n, *more = w->more + n;
    u32 r = w->refractory[n], count = a->end - a->first, fires;
#ifdef BURST_ONE_UNIT
    fires = custom_update(a->program, r, first, second, v, more, w->pitch, a->k, each, i, count); // runs what stands in the place of the remark
#else
    asm volatile("// custom_update %0 %1 %2 %3 %4 %5 %6 %7 %8 %9 %10 %11"
                 : "=r"(fires)
                 : "r"(a->program), "r"(r), "f"(first), "f"(second), "l"(v), "l"(more), "l"(w->pitch), "l"(a->k), "l"(each),
                   "r"(i), "r"(count)
                 : "memory");
#endif
    w->refractory[n] = (u16)(fires ? a->refractory : r > 0 ? r - 1 : 0);
    return fires;
}

// update is step 4 for the i-th neuron of an area, whose ports have these sums, whose drives add term to its formula, and
// whose state lies at place n; it says whether the neuron fires. The area's model is one of the given ones.
template <u32 models>
DEVICE bool update(const network *w, const area *a, u32 i, u32 n, i32 first, i32 second, float term) {
    const float *k = a->k;
    if (models & 1 << FEAGI && (models == 1 << FEAGI || a->model == FEAGI)) {
        if (first == 0) return false; // no candidate, no change
        often o = often_of(a, threshold_of(w, a, i));
        return feagi(a, o, input(w, first), w->seed, a->first + i, w->t, w->v + n, w->refractory + n, w->count + n);
    }
    if (models & 1 << LIF && (models == 1 << LIF || a->model == LIF)) {
        if (a->each != NO_TABLE) k = w->constants + a->each + 4ull * i;
        return lif(k, input(w, first), term, w->v + n, w->refractory + n);
    }
    if (models & 1 << PSC_EXP && (models == 1 << PSC_EXP || a->model == PSC_EXP)) {
        if (a->each != NO_TABLE) k = w->constants + a->each + 8ull * i;
        return psc_exp(k, input(w, first), input(w, second), term, w->v + n, w->more + n,
                       w->more + w->pitch + n, w->refractory + n);
    }
    if (models & 1 << IZHIKEVICH && a->model == IZHIKEVICH) {
        if (a->each != NO_TABLE) k = w->constants + a->each + 6ull * i;
        return izhikevich(k, input(w, first), term, w->v + n, w->more + n);
    }
    if (models & 1 << CUSTOM && (models == 1 << CUSTOM || a->model == CUSTOM))
        return custom(w, a, i, n, input(w, first), input(w, second));
    return source_fires(w, a, i);
}

// update_plain is update for neuron n with the sums of acc.
DEVICE bool update_plain(const network *w, u32 n) {
    const area *a = area_of(w->areas, w->area_count, n);
    u32 i = n - a->first, port = a->first_port + i, ports = a->ports;
    return update<ALL_MODELS>(w, a, i, n, ports > 0 ? w->acc[port] : 0, ports > 1 ? w->acc[port + (a->end - a->first)] : 0,
                              term_of(w, a, i));
}

// neural_dynamics_fcl is steps 3 and 4 of the law, one thread a neuron and one a port; what fires and what is a candidate
// become bits, 32 a word, because their places in the lists are not known yet:
//
//	for n := range neurons { fired[n/32].bit(n%32) = own.Owns(n) && b.fires(n) }
//	for p := range ports { candidates[p/32].bit(p%32) = acc[p] != 0 }
KERNEL neural_dynamics_fcl(network w, u32 neurons, u32 *fired, u32 ports, u32 *candidates) {
    u64 i = thread_index();
    bool fires = i < neurons && owns(w.own, (u32)i) && update_plain(&w, (u32)i);
    if (i / 32 * 32 < neurons) store_bits(fired + i / 32, fires);
    if (i / 32 * 32 < ports) store_bits(candidates + i / 32, i < ports && w.acc[i] != 0);
}
#endif
