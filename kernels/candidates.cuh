// How launches of many bursts list candidates (step 3) for a host that wants them: for each burst a bit a port, and the sums
// of the ports whose bit is set, packed. The unit lists.cu has this; in the others it costs nothing.
#pragma once
#include "burst.cuh"

// The words of a block's answers are summed in so many groups.
const u32 GROUPS = 32;
// So many sums of a block lie side by side in a list.
const u32 TOGETHER = 32;

// listing is where candidates are listed. A set of ports is all neurons' first ports, or all their second ones; the host knows
// their numbers. The sum of the r-th candidate of block b, second ports after first ones, lies at
// (r div TOGETHER·blocks + b)·TOGETHER + r mod TOGETHER of the list's sums: where blocks have about as many candidates, few or
// many, these are the list's beginning, and one copy brings them.
struct listing {
    u8 *lists;    // of the launch's bursts: for each set, block and neuron a bit, then the sums; null where nobody wants them
    u64 bytes;    // of a list
    u64 sums_at;  // in it
    i32 *inputs;  // for each set, block and neuron the sum in the burst in hand
    u32 *counts;  // mapped host memory: for each burst, block and set how many candidates
    u32 sets;     // 2 where any neuron has two ports
};

// tally is where a block's candidates go: how many there are before each group of words, and in all, for each set.
struct tally {
    u32 group[2][GROUPS];
    u32 total[2];
};

// lists reports whether candidates are wanted: where a GPU computes, that is the unit's one answer.
DEVICE bool lists(const listing *l) {
#if defined(BURST_ON_HOST)
    return l->lists != nullptr;
#elif defined(BURST_LISTS)
    return l != nullptr;
#else
    return l == nullptr;
#endif
}

// candidate_bits is where the block has its bits of a set, of the launch's burst of that number; inputs_of likewise. A block has
// own neurons, a multiple of 32.
DEVICE u32 *candidate_bits(const listing *l, u64 burst, u32 own, u32 set) {
    return (u32 *)(l->lists + burst * l->bytes) + ((u64)set * block_count() + block_index()) * (own / 32);
}
DEVICE i32 *inputs_of(const listing *l, u32 own, u32 set) {
    return l->inputs + ((u64)set * block_count() + block_index()) * own;
}

// note keeps the sums of the block's k-th neuron, drives included. All lanes of the warp must call it.
DEVICE void note(const listing *l, u64 burst, u32 own, u32 k, i32 first, i32 second) {
    for (u32 set = 0; set < l->sets; set++) {
        i32 sum = set == 0 ? first : second;
        inputs_of(l, own, set)[k] = sum;
        store_bits(candidate_bits(l, burst, own, set) + k / 32, sum != 0);
    }
}

// count_candidates finds how many there are before each group of words, and in all. Its first warp does.
DEVICE void count_candidates(const listing *l, u64 burst, u32 own, tally *s) {
    u32 words = own / 32, each = (words + GROUPS - 1) / GROUPS, g = thread_in_block();
    if (g >= GROUPS) return;
    for (u32 set = 0; set < l->sets; set++) {
        const u32 *bits = candidate_bits(l, burst, own, set);
        u32 sum = 0;
        for (u32 w = g * each; w < (g + 1) * each && w < words; w++) sum += ones(bits[w]);
        s->group[set][g] = sum_before(&s->total[set], sum);
    }
}

// list_candidates packs their sums and tells the host how many there are, by so many threads of the block.
//
//	for set := range sets { for k := range own { if bit(set, k) { sums = append(sums, inputs[set][k]) } } }
DEVICE void list_candidates(const listing *l, u64 burst, u32 own, const tally *s, u32 threads) {
    u32 words = own / 32, each = (words + GROUPS - 1) / GROUPS, first = 0;
    i32 *sums = (i32 *)(l->lists + burst * l->bytes + l->sums_at);
    for (u32 set = 0; set < l->sets; set++) {
        const u32 *bits = candidate_bits(l, burst, own, set);
        const i32 *inputs = inputs_of(l, own, set);
        for (u32 k = thread_in_block(); k < own; k += threads) {
            u32 word = k / 32, rest = bits[word];
            if ((rest >> k % 32 & 1) == 0) continue;
            u32 r = first + s->group[set][word / each] + ones(rest & ((1u << k % 32) - 1));
            for (u32 v = word / each * each; v < word; v++) r += ones(bits[v]);
            sums[((u64)(r / TOGETHER) * block_count() + block_index()) * TOGETHER + r % TOGETHER] = inputs[k];
        }
        if (thread_in_block() == 0) l->counts[(burst * block_count() + block_index()) * l->sets + set] = s->total[set];
        first += s->total[set];
    }
}
