#include "network.cuh"
#include "sums.cuh"

// fired_rows finds what synaptic_propagation_fcl has to deliver: the synapses with delay d of each neuron that fired d
// bursts ago, one thread a pair of neuron and delay. The pairs of all delays are numbered one after the other: those of
// delay d are before[d-1] ≤ pair < before[d]. A launch takes count pairs from number offset on. delay is null when all
// delays are 1, or some are above 255: late has them, or the words of weights in rows. queues holds the fire queue of
// burst b at (b mod delays)·neurons.
//
//	for i := range count {
//		d, j := delay and place of pair offset+i
//		n := queue of burst t-d [j]
//		start[i], length[i] = the synapses of row n whose delay is d
//		sums.add(i, length[i])
//	}
KERNEL fired_rows(u64 offset, u64 count, const u64 *before, u32 delays, u64 t, const u32 *queues, u64 neurons,
                  const u64 *row, const u8 *delay, const u16 *late, synapses rows, u64 *start, u64 *length, u64 *sums) {
    u64 i = thread_index(), found = 0;
    if (i < count) {
        u64 pair = offset + i;
        u32 low = 1, high = delays; // the first delay d with pair < before[d]
        while (low < high) {
            u32 middle = low + (high - low) / 2;
            if (before[middle] <= pair) low = middle + 1;
            else high = middle;
        }
        u64 slot = (t + delays - low) % delays;
        u32 n = queues[slot * neurons + (pair - before[low - 1])];
        u64 first = row[n], end = row[n + 1];
        if (delay != nullptr) {
            first = first_delay(delay, first, end, low);
            end = first_delay(delay, first, end, low + 1);
        } else if (late != nullptr) {
            first = first_delay(late, first, end, low);
            end = first_delay(late, first, end, low + 1);
        } else if (MOVING && rows.delay_bits > 0) {
            u32 mask = (1u << rows.delay_bits) - 1;
            first = first_delay(rows.weight, first, end, low, mask);
            end = first_delay(rows.weight, first, end, low + 1, mask);
        }
        start[i] = first;
        length[i] = found = end - first;
    }
    sums_add(sums, count, i, found);
}
