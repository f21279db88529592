#include "network.cuh"
#include "sums.cuh"

// place is the number of set bits before bit i.
DEVICE u64 place(const u32 *bits, u64 words, const u64 *sums, u64 i) {
    u64 word = i / 32, before = sums_before(sums, words, word);
    for (u64 w = word & ~31ull; w < word; w++) before += ones(bits[w]);
    return before + ones(bits[word] & ((1u << i % 32) - 1));
}

// list_ids is steps 5 and 7 of the law, one thread a neuron and one a port: the fire queue and the fire candidate list,
// both ascending, their lengths, and sums that are zero again. list is null when nobody wants the candidates.
//
//	for n, bit := range fired { if bit { queue = append(queue, n) } }
//	for p, bit := range candidates { if bit { list = append(list, listed{p, neuron of p, acc[p]}); acc[p] = 0 } }
//	lengths = {len(queue), len(list)}
KERNEL list_ids(const u32 *fired, u32 neurons, const u64 *fired_sums, u32 *queue, const u32 *candidates, u32 ports,
                const u64 *candidate_sums, const area *areas, u32 area_count, i32 *acc, listed *list, u64 *lengths) {
    u64 i = thread_index();
    u64 fired_words = sums_nodes(neurons, 5), candidate_words = sums_nodes(ports, 5);
    if (i == 0) {
        lengths[0] = sums_total(fired_sums, fired_words);
        lengths[1] = sums_total(candidate_sums, candidate_words);
    }
    if (i < neurons && fired[i / 32] >> i % 32 & 1) queue[place(fired, fired_words, fired_sums, i)] = (u32)i;
    if (i < ports && candidates[i / 32] >> i % 32 & 1) {
        if (list != nullptr)
            list[place(candidates, candidate_words, candidate_sums, i)] =
                listed{(u32)i, neuron_at(areas, area_count, (u32)i), acc[i]};
        acc[i] = 0;
    }
}
