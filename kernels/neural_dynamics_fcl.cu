#ifndef BURST_NEURAL_DYNAMICS_FCL
#define BURST_NEURAL_DYNAMICS_FCL
#include "network.cuh"
#include "philox.cuh"

// The numbers are those of the descriptors in package genome.
enum model { FEAGI = 0, LIF = 1, PSC_EXP = 2, IZHIKEVICH = 3, POISSON_SOURCE = 4, SPIKE_LIST = 5, CUSTOM = 6, MODELS, LIF_EVENT = 8, PSC_EXP_EVENT = 9 };

// A bit a model; custom ones are in the unit custom.cu alone, and for the host. Launches of many bursts do not know those of BURST_BY_BURST.
#if defined(BURST_CUSTOM) || defined(BURST_ONE_UNIT)
const u32 ALL_MODELS = (1 << MODELS) - 1;
#else
const u32 ALL_MODELS = ((1 << MODELS) - 1) & ~(1 << CUSTOM);
#endif

const u32 BURST_BY_BURST = 1 << LIF_EVENT | 1 << PSC_EXP_EVENT;

DEVICE u32 saturated(u32 x) { return x < 65535 ? x : 65535; }

// The places of feagi's constants.
enum feagi_constant { THRESHOLD, THRESHOLD_LIMIT, LEAK, LEAK_AMOUNT, KEEP, REFRACTORY, FIRE_LIMIT, SNOOZE, ACCUMULATE, DRAWS_AS_FEAGI, EXCITABLE, RECTIFY, ALWAYS_RECOVER };

// excited is the excitability's draw, which is left out where any draw would do.
DEVICE bool excited(const area *a, u64 seed, u32 n, u64 t) {
    float excitability = a->k[EXCITABLE];
    if (a->k[DRAWS_AS_FEAGI] == 0) return a->below >> 32 != 0 || draw(anew(seed), EXCITABILITY, n, 0, t).w[0] < (u32)a->below;
    if (excitability >= 0.999f) return true;
    if (excitability <= 0) return false;
    u32 h = pcg(n * 2654435761u + ((u32)t + 1) * 1597334677u);
    return (float)h / 4294967296.0f < excitability;
}

// often is what feagi needs of an area for every candidate.
struct often {
    float threshold, threshold_limit, keep, leak_amount;
    u32 fire_limit, accumulate, rectify;
};

DEVICE often often_of(const area *a, float threshold) {
    const float *k = a->k;
    return often{threshold, k[THRESHOLD_LIMIT], k[KEEP], k[LEAK_AMOUNT], (u32)k[FIRE_LIMIT], (u32)k[ACCUMULATE], (u32)k[RECTIFY]};
}

// quanta_of is what a sum stands for where amounts are lifted: rectify is M, or 0 where they are not.
DEVICE i32 quanta_of(often o, i32 sum) {
    if (o.rectify == 0) return sum;
    sum = -(-sum >> ones(o.rectify - 1)); // sum/M, rounded up
    return o.accumulate && sum < 0 ? 0 : sum;
}

// stays reports whether a neuron without input is left as it is.
DEVICE bool stays(const area *a, const u16 *refractory) { return a->k[ALWAYS_RECOVER] == 0 || *refractory == 0; }

// special reports whether an area's neurons have either.
DEVICE bool special(const area *a) { return a->model == FEAGI && (a->k[RECTIFY] != 0 || a->k[ALWAYS_RECOVER] != 0); }

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
            *refractory = (u16)saturated((u32)a->k[REFRACTORY] + (snoozes ? (u32)a->k[SNOOZE] : 0));
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

// psc_exp_fires is what lif_psc_exp's step 4 does with its currents as they are before the burst's inputs; it says whether the neuron fires.
DEVICE bool psc_exp_fires(const float *k, float ex, float in, float term, float *v, u16 *refractory) {
    float x = *v;
    u32 r = *refractory;
    if (r > 0) r -= 1; // 4a
    else x = x + k[0] * x + k[1] * ex + k[2] * in + term; // 4b
    bool fires = x >= k[5]; // 4d
    *v = fires ? k[6] : x;
    *refractory = (u16)(fires ? (u32)k[7] : r);
    return fires;
}

// psc_exp is lif_psc_exp's step 4.
DEVICE bool psc_exp(const float *k, float input_ex, float input_in, float term, float *v, float *ex, float *in,
                    u16 *refractory) {
    float before_ex = *ex, before_in = *in;
    *ex = k[3] * before_ex + input_ex; // 4c
    *in = k[4] * before_in + input_in;
    return psc_exp_fires(k, before_ex, before_in, term, v, refractory);
}

const u32 MOST_AGE = 65535; // connectome.MostAge

// lif_event is the model's step 4. decay begins the area's table, of so many entries.
DEVICE bool lif_event(const float *k, const float *decay, u32 entries, bool candidate, float input, float *v, u16 *refractory, u16 *age) {
    if (*refractory > 0) { // 4a
        *refractory -= 1;
        *age = 0;
        return false;
    }
    u32 since = *age < MOST_AGE ? *age + 1 : MOST_AGE; // 4b
    *age = (u16)since;
    if (!candidate) return false;
    float x = *v * decay[since < entries ? since : entries - 1] + input; // 4c
    bool fires = x >= k[0];                                              // 4d
    *v = fires ? k[1] : x;
    *age = 0;
    if (fires) *refractory = (u16)k[2];
    return fires;
}

// A row of the table of decay of lif_psc_exp_event, as connectome has it.
enum decay_row { FACTOR_V, FROM_EX, FROM_IN, FACTOR_EX, FACTOR_IN, DECAY_ROW };

DEVICE const float *decay_over(const float *decay, u32 rows, u32 bursts) {
    return decay + DECAY_ROW * (bursts < rows ? bursts : rows - 1);
}

// psc_exp_event is lif_psc_exp_event's step 4. decay begins the area's table, of so many rows.
DEVICE bool psc_exp_event(const float *k, const float *decay, u32 rows, bool candidate, float input_ex, float input_in, float *v, float *ex,
                          float *in, u16 *refractory, u16 *age) {
    if (*refractory > 0) { // 4a
        *refractory -= 1;
        *age = 0;
        const float *ahead = decay_over(decay, rows, *refractory);
        if (candidate) *ex = *ex + input_ex * ahead[FACTOR_EX];
        if (candidate) *in = *in + input_in * ahead[FACTOR_IN];
        return false;
    }
    u32 since = *age < MOST_AGE ? *age + 1 : MOST_AGE; // 4b
    const float *row = decay_over(decay, rows, since);
    float x = *v * row[FACTOR_V] + (*ex * row[FROM_EX] + *in * row[FROM_IN]);
    bool fires = x >= k[0];
    if (candidate || fires) { // 4c
        *v = x;
        *ex = *ex * row[FACTOR_EX] + input_ex;
        *in = *in * row[FACTOR_IN] + input_in;
        since = 0;
    }
    *age = (u16)since;
    if (fires) { // 4d
        const float *ahead = decay_over(decay, rows, (u32)k[2]);
        *v = k[1];
        *ex = *ex * ahead[FACTOR_EX];
        *in = *in * ahead[FACTOR_IN];
        *refractory = (u16)k[2];
    }
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
    i32 *acc; // the sums of this burst
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
        double x = d->each == NO_TABLE ? d->all : w->addends[d->each + i];
        const instant *now = instant_of(&d->moving, anew(t));
        if (now != nullptr) x = now->factor * x;
        sum += x;
    }
    return (float)sum;
}

DEVICE float term_of(const network *w, const area *a, u32 i) { return term_at(w, a, i, w->t); }

// quotient is x/scale, rounded once. Two corrections of a product with the rounded reciprocal give it, as every quotient of whole numbers
// that float can hold (Markstein 1990).
DEVICE float quotient(float x, float scale, float inverse) {
    float q = x * inverse;
    q = product_sum(product_sum(-q, scale, x), inverse, q);
    return product_sum(product_sum(-q, scale, x), inverse, q);
}

// input is a port's sum in the genome's unit.
DEVICE float input(const network *w, i32 sum) { // 3
    float scale = (float)w->scale;
    return quotient((float)sum, scale, 1.0f / scale);
}

// constants_of are those of the i-th neuron of an area that may differ from neuron to neuron.
DEVICE const float *constants_of(const network *w, const area *a, u32 i) {
    return a->each != NO_TABLE ? w->constants + a->each + (u64)a->own * i : a->k;
}

// over is a limit of draws where the rate is multiplied by a factor: their product, to nearest, at most 2^32.
DEVICE u64 over(u64 below, double factor) {
    double x = (double)below * (factor > 0 ? factor : 0);
    if (x >= 4294967296.0) return 1ull << 32;
    u64 whole = (u64)x;
    return x - (double)whole >= 0.5 ? whole + 1 : whole;
}

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
    const instant *now = instant_of(&a->moving, w->t);
    if (now != nullptr) below = over(below, now->factor);
    return from <= w->t && w->t < until && draw_of(anew(w->seed), SOURCE, a->first + i, 0, w->t) < below;
}

// silence is how many bursts a neuron of such a model is silent that has fired: what its code says, 2 and that number, or what the area says.
DEVICE u32 silence(const area *a, u32 fires) { return fires > 1 ? fires - 2 : a->refractory; }

// custom is step 4 of a model that the genome defines, for the i-th neuron of an area, number n. The backend writes the
// models' code after the remark custom_update, at each place where a compiler has left it, before the driver sees the PTX:
// nothing is called, and the code has the registers that the remark names. Sums of a neuron's third and further ports it takes from
// acc, where those of a port lie as many places after those of the port before as the area has neurons.
DEVICE bool custom(const network *w, const area *a, u32 i, u32 n, float first, float second) {
    const float *each = w->constants + a->each;
    const i32 *sums = w->acc + a->first_port + i;
    float *v = w->v + n, *more = w->more + n, scale = (float)w->scale;
    u32 r = w->refractory[n], count = a->end - a->first, fires;
#ifdef BURST_ONE_UNIT
    fires = custom_update(a->program, r, first, second, sums, scale, v, more, w->pitch, a->k, each, i, count, a->first + i, w->seed, w->t); // runs what stands in the place of the remark
#else
    asm volatile("// custom_update %0 %1 %2 %3 %4 %5 %6 %7 %8 %9 %10 %11 %12 %13 %14 %15 %16"
                 : "=r"(fires)
                 : "r"(a->program), "r"(r), "f"(first), "f"(second), "l"(sums), "f"(scale), "l"(v), "l"(more), "l"(w->pitch), "l"(a->k),
                   "l"(each), "r"(i), "r"(count), "r"(a->first + i), "l"(w->seed), "l"(w->t)
                 : "memory");
#endif
    w->refractory[n] = (u16)(fires ? silence(a, fires) : r > 0 ? r - 1 : 0);
    return fires;
}

// update is step 4 for the i-th neuron of an area, whose ports have these sums, whose drives add term to its formula, and
// whose state lies at place n; it says whether the neuron fires. The area's model is one of the given ones.
template <u32 models>
DEVICE bool update(const network *w, const area *a, u32 i, u32 n, i32 first, i32 second, float term) {
    if (models & 1 << FEAGI && (models == 1 << FEAGI || a->model == FEAGI)) {
        if (first == 0 && stays(a, w->refractory + n)) return false;
        often o = often_of(a, constants_of(w, a, i)[THRESHOLD]);
        return feagi(a, o, input(w, quanta_of(o, first)), w->seed, a->first + i, w->t, w->v + n, w->refractory + n, w->count + n);
    }
    if (models & 1 << LIF && (models == 1 << LIF || a->model == LIF)) {
        return lif(constants_of(w, a, i), input(w, first), term, w->v + n, w->refractory + n);
    }
    if (models & 1 << PSC_EXP && (models == 1 << PSC_EXP || a->model == PSC_EXP)) {
        return psc_exp(constants_of(w, a, i), input(w, first), input(w, second), term, w->v + n, w->more + n,
                       w->more + w->pitch + n, w->refractory + n);
    }
    if (models & 1 << IZHIKEVICH && a->model == IZHIKEVICH) {
        return izhikevich(constants_of(w, a, i), input(w, first), term, w->v + n, w->more + n);
    }
    if (models & 1 << LIF_EVENT && a->model == LIF_EVENT) {
        return lif_event(constants_of(w, a, i), w->constants + a->program, a->refractory, first != 0, input(w, first), w->v + n,
                         w->refractory + n, w->count + n);
    }
    if (models & 1 << PSC_EXP_EVENT && a->model == PSC_EXP_EVENT) {
        return psc_exp_event(constants_of(w, a, i), w->constants + a->program, a->refractory, (first | second) != 0, input(w, first),
                             input(w, second), w->v + n, w->more + n, w->more + w->pitch + n, w->refractory + n, w->count + n);
    }
    if (models & 1 << CUSTOM && (models == 1 << CUSTOM || a->model == CUSTOM))
        return custom(w, a, i, n, input(w, first), input(w, second));
    return source_fires(w, a, i);
}

// update_plain is update for neuron n with the sums of acc.
DEVICE bool update_plain(const network *w, u32 n) {
    const area *a = area_of(w->areas, w->area_count, n);
    u32 i = n - a->first, port = a->first_port + i, ports = a->ports;
    return update<ALL_MODELS | BURST_BY_BURST>(w, a, i, n, ports > 0 ? w->acc[port] : 0,
                                               ports > 1 ? w->acc[port + (a->end - a->first)] : 0, term_of(w, a, i));
}

#if !defined(BURST_DRIVEN) && !defined(BURST_MANY)
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
#endif
