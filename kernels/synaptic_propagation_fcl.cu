#include "network.cuh"
#include "sums.cuh"

// Deliveries that a warp takes at a time; finding the first one's row is paid once for all of them if the row is long.
const u64 CHUNK = 256;

// synaptic_propagation_fcl is step 1 of the law: it delivers the synapses that fired_rows found. Work is split by synapse
// and not by neuron, so that rows of any length keep all threads busy; sums of integers do not depend on the order.
//
//	for i := range count { for k := start[i]; k < start[i]+length[i]; k++ { acc[target[k]] += weight[k] } }
KERNEL synaptic_propagation_fcl(u64 count, const u64 *start, const u64 *length, const u64 *sums, synapses rows,
                                i32 *acc) {
    u64 total = sums_total(sums, count);
    for (u64 chunk = thread_index() / 32 * CHUNK; chunk < total; chunk += thread_count() / 32 * CHUNK) {
        u64 chunk_end = chunk + CHUNK < total ? chunk + CHUNK : total;
        u64 row_end = 0, shift = 0; // delivery k is synapse k + shift (modulo 2^64) while k < row_end
        for (u64 k = chunk + lane(); k < chunk_end; k += 32) {
            if (k >= row_end) {
                u64 place = k, i = sums_find(sums, count, &place);
                for (; length[i] <= place; i++) place -= length[i];
                row_end = k - place + length[i];
                shift = start[i] + place - k;
            }
            u32 word = rows.target[k + shift];
            add(acc + port_of(&rows, word), weight_of(&rows, k + shift, word));
        }
    }
}
