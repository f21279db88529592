#include "network.cuh"
#include "philox.cuh"

// events is the number of Poisson events that draw x stands for: the thresholds that are not above it.
DEVICE i32 events(const u32 *counts, u32 entries, u32 x) {
    u32 low = 0, high = entries;
    while (low < high) {
        u32 middle = low + (high - low) / 2;
        if (counts[middle] <= x) low = middle + 1;
        else high = middle;
    }
    return (i32)low;
}

// inject is step 2 of the law, one thread a stimulus and one a driven neuron:
//
//	for _, s := range in { acc[s.Port] += s.Amount }
//	for _, d := range drives { if d.Active(t) { for i := range d.count {
//		amount := d.Amount
//		if d.Kind == Poisson {
//			n := d.first + i
//			amount *= d.Events(Draw(seed, PoissonDrive, place<<32|n/4, t)[n%4])
//		}
//		acc[d.first_port+i] += amount
//	} } }
KERNEL inject(const candidate *stimuli, u64 stimulus_count, const drive *drives, u32 drive_count, const u32 *counts,
              u64 seed, u64 t, i32 *acc) {
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
    if (t < d->from || t >= d->until) return;
    u32 i = (u32)(k - (d->end - d->count));
    i32 amount = d->amount;
    if (d->kind == POISSON) {
        u32 n = d->first + i;
        words x = draw(seed, POISSON_DRIVE, n / 4, d->place, t);
        u32 word = n % 4 < 2 ? (n % 4 == 0 ? x.w[0] : x.w[1]) : (n % 4 == 2 ? x.w[2] : x.w[3]);
        amount *= events(counts + d->counts, d->entries, word);
    }
    if (amount != 0) add(acc + d->first_port + i, amount);
}
