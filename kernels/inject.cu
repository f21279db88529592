#ifndef BURST_INJECT
#define BURST_INJECT
#include "network.cuh"
#include "philox.cuh"

// events is how many thresholds draw x has passed: those that are not above it.
DEVICE i32 events(const u32 *counts, u32 entries, u32 x) {
    u32 low = 0, high = entries;
    while (low < high) {
        u32 middle = low + (high - low) / 2;
        if (counts[middle] <= x) low = middle + 1;
        else high = middle;
    }
    return (i32)low;
}

// draw_for is the draw of a drive for neuron n, which it shares with three others, in burst t. Keys of all rounds would take too
// many registers.
DEVICE words draw_for(const drive *d, u64 seed, u32 n, u64 t) {
    return draw(anew(seed), d->kind == POISSON ? POISSON_DRIVE : NOISE_DRIVE, n / 4, d->place, t);
}

// at_once is what a drive has in one burst: its amount, thresholds and amounts of numbers of events; or own where neurons differ.
struct at_once {
    i32 amount;
    u32 entries;
    const u32 *counts;
    const i32 *table;
    const own_numbers *own;
};

DEVICE at_once drive_in(const drive *d, const u32 *counts, const i32 *table, u64 t) {
    at_once x = {d->amount, d->entries, counts + d->counts, table + d->table, nullptr};
    const instant *now = instant_of(&d->moving, t);
    if (now == nullptr) return x;
    if (d->differ) {
        x.own = (const own_numbers *)now;
        return x;
    }
    if (d->kind == INJECT) x.amount = now->amount;
    if (d->kind == POISSON) x.entries = now->entries, x.counts = (const u32 *)(now + 1);
    if (d->kind == NOISE) x.table = (const i32 *)(now + 1);
    return x;
}

// step_of is connectome.Own.Step: the quanta of the k-th step of a normal drive for a neuron.
DEVICE i32 step_of(const own_numbers *own, const own_noise *x, i32 k) {
    const double most = 2147483647, beyond = 2147483648.0;
    double amount = (x->mean + (double)(k - 396) * x->sd / 64) * own->scale;
    double size = amount < 0 ? -amount : amount;
    if (size > beyond) size = beyond;
    double whole = (double)(i64)size;
    if (size - whole >= 0.5) whole += 1;
    if (whole > most) whole = beyond;
    i64 q = amount < 0 ? -(i64)whole : (i64)whole;
    if (own->lift != 0 && whole < beyond) {
        q *= own->lift;
        if (q <= 0) q--;
    }
    return (i32)(q > (i64)most ? (i64)most : q < -(i64)most ? -(i64)most : q);
}

// own_amount is what a drive adds for the i-th neuron of its area, which has its own numbers, where it draws x.
DEVICE i32 own_amount(const drive *d, const at_once *now, u32 i, u32 x) {
    if (d->kind == NOISE) return step_of(now->own, (const own_noise *)(now->own + 1) + i, events(now->counts, now->entries, x));
    const own_events *one = (const own_events *)(now->own + 1) + i;
    return events((const u32 *)(now->own + 1) + one->counts, one->entries, x) * one->amount;
}

// amount_of is what a drive adds for the i-th neuron of its area in burst t, 0 while it does not act.
DEVICE i32 amount_of(const drive *d, const u32 *counts, const i32 *table, u64 seed, u32 i, u64 t) {
    if (t < d->from || t >= d->until) return 0;
    at_once x = drive_in(d, counts, table, t);
    if (d->kind == INJECT) return x.amount;
    u32 n = d->first + i, draw = word_of(draw_for(d, seed, n, t), n);
    if (x.own != nullptr) return own_amount(d, &x, i, draw);
    i32 k = events(x.counts, x.entries, draw);
    return d->kind == POISSON ? k * x.amount : x.table[k];
}

// amounts_of is amount_of for neurons n to n + 3, which share a draw; n is a multiple of 4.
DEVICE void amounts_of(const drive *d, const u32 *counts, const i32 *table, u64 seed, u32 n, u64 t, i32 *amounts) {
    bool acting = t >= d->from && t < d->until;
    at_once now = drive_in(d, counts, table, t);
#pragma unroll
    for (u32 j = 0; j < 4; j++) amounts[j] = acting ? now.amount : 0;
    if (!acting || d->kind == INJECT) return;
    words x = draw_for(d, seed, n, t);
    if (now.own != nullptr) {
#pragma unroll
        for (u32 j = 0; j < 4; j++) {
            u32 i = n + j - d->first; // of another area's neuron it is beyond the count
            amounts[j] = i < d->count ? own_amount(d, &now, i, x.w[j]) : 0;
        }
        return;
    }
    const u32 *passed = now.counts - 1;
    u32 k[4] = {}, entries = now.entries, step = 1;
    while (step <= entries / 2) step *= 2;
#pragma unroll 1
    for (; step > 0; step /= 2) { // events of four at once, so that their loads do not wait for each other
#pragma unroll
        for (u32 j = 0; j < 4; j++)
            if (k[j] + step <= entries && passed[k[j] + step] <= x.w[j]) k[j] += step;
    }
#pragma unroll
    for (u32 j = 0; j < 4; j++) amounts[j] = d->kind == POISSON ? (i32)k[j] * now.amount : now.table[k[j]];
}

// first_port_for is the first neuron's port that takes such an amount of a drive.
DEVICE u32 first_port_for(const drive *d, i32 amount) { return d->first_port + (amount < 0 ? d->split : 0); }

// for_second reports whether a neuron's second port takes such an amount of a drive.
DEVICE bool for_second(u32 seconds, i32 amount) { return seconds >> ((u32)amount >> 31) & 1; }

#ifndef BURST_MANY // units with kernels of many bursts alone
// inject is step 2 of the law, one thread a stimulus and one a driven neuron:
//
//	for _, s := range in { acc[s.Port] += s.Amount }
//	for _, d := range drives { if d.Active(t) { for i := range d.count { if own.Owns(d.first + i) {
//		amount := d.Amount
//		if d.Kind != Inject {
//			n := d.first + i
//			amount = d.InputOf(i, Draw(seed, purpose of the kind, place<<32|n/4, t)[n%4])
//		}
//		if amount < 0 { i += d.split }
//		acc[d.first_port+i] += amount
//	} } } }
KERNEL inject(const candidate *stimuli, u64 stimulus_count, const drive *drives, u32 drive_count, const u32 *counts,
              const i32 *table, u64 seed, u64 t, i32 *acc, part own) {
    u64 k = thread_index();
    if (k < stimulus_count) {
        add(acc + stimuli[k].port, stimuli[k].sum);
        return;
    }
    k -= stimulus_count;
    if (drive_count == 0 || k >= drives[drive_count - 1].end) return;
    u32 low = 0, high = drive_count - 1; // the first drive that ends after thread k
    while (low < high) {
        u32 middle = low + (high - low) / 2;
        if (drives[middle].end <= k) low = middle + 1;
        else high = middle;
    }
    const drive *d = drives + low;
    u32 i = (u32)(k - (d->end - d->count));
    if (!owns(own, d->first + i)) return;
    i32 amount = amount_of(d, counts, table, seed, i, t);
    if (amount != 0) add(acc + first_port_for(d, amount) + i, amount);
}
#endif
#endif
