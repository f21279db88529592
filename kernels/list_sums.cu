#include "sums.cuh"

// list_sums counts the bits that neural_dynamics_fcl has set, one thread a word, so that list_ids can find each one's
// place in its list.
//
//	for w, bits := range fired { firedSums.add(w, OnesCount32(bits)) }
//	for w, bits := range candidates { candidateSums.add(w, OnesCount32(bits)) }
KERNEL list_sums(const u32 *fired, u64 fired_words, u64 *fired_sums, const u32 *candidates, u64 candidate_words,
                 u64 *candidate_sums) {
    u64 w = thread_index();
    sums_add(fired_sums, fired_words, w, w < fired_words ? ones(fired[w]) : 0);
    sums_add(candidate_sums, candidate_words, w, w < candidate_words ? ones(candidates[w]) : 0);
}
