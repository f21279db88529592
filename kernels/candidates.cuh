// How launches of many bursts list candidates (step 3) for a host that wants them: each block notes its neurons' sums, packed
// 32 by 32, and how many candidates each of its spans of ports has; once all blocks have, each writes its candidates to their
// places in the list, while the burst after that is under way. The unit lists.cu has this; in the others it costs nothing.
#pragma once
#include "burst.cuh"
#include "network.cuh"

// The words of a block's answers are summed in so many groups.
const u32 GROUPS = 32;

// span is a run of neighbouring ports whose neurons one block has. A set of ports is all neurons' first ports, or all their
// second ones, and so on.
struct span {
    u32 place, set;   // place: among all spans, ascending by port
    u32 from, until;  // the block's neurons
    u32 port, neuron; // of from
};

// listing is where candidates are listed. Of two bursts' notes and counts those of burst b of the launch are at b mod 2: they
// are read while the next burst's are written.
struct listing {
    listed *lists;    // of the launch's bursts; null where nobody wants them
    u64 room;         // of a list, candidates
    u8 *notes;        // of two bursts, the blocks and their sets
    u64 note_bytes;   // of a block's set
    const span *spans;
    const u32 *first; // first[b] ≤ i < first[b + 1] are block b's spans
    u32 *counts;      // of two bursts, candidates of each span
    u32 *totals;      // mapped host memory: for each burst of the launch how many candidates
    u32 span_count;
    u32 sets; // ports of the neurons that have most
};

// notes are what a block keeps of a burst's sums for a set. The candidates among neurons 32·w to 32·w + 31 are packed from
// place 32·w on.
struct notes {
    i32 *sums;
    u32 *bits;  // which neurons are candidates
    u32 *ahead; // candidates before each word of bits, and in all
    u8 *lanes;  // which neuron of the 32
};

// lists reports whether candidates are wanted: where a GPU computes, that is the unit's one answer.
DEVICE bool lists(const listing *l) {
#if defined(BURST_ONE_UNIT)
    return l->lists != nullptr;
#elif defined(BURST_LISTS)
    return l != nullptr;
#else
    return l == nullptr;
#endif
}

// notes_of is what the block keeps of the launch's burst of that number. A block has own neurons, a multiple of 32.
DEVICE notes notes_of(const listing *l, u64 burst, u32 own, u32 set) {
    u32 number = (((u32)burst % 2) * block_count() + block_index()) * l->sets + set;
    i32 *sums = (i32 *)(l->notes + number * l->note_bytes);
    u32 *bits = (u32 *)sums + own, *ahead = bits + own / 32;
    return notes{sums, bits, ahead, (u8 *)(ahead + own / 32 + 1)};
}

// rank is how many of the block's first k neurons are candidates, once they are counted.
DEVICE u32 rank(notes n, u32 k) {
    return n.ahead[k / 32] + (k % 32 == 0 ? 0 : ones(n.bits[k / 32] & ((1u << k % 32) - 1)));
}

// further_ports are the sums of a neuron's third and further ports: so many, each step places after the one before.
struct further_ports {
    i32 *sums;
    u32 step, count;
};

// note keeps the sums of the block's k-th neuron, drives included. All lanes of the warp must call it.
DEVICE void note(const listing *l, u64 burst, u32 own, u32 k, i32 first, i32 second, further_ports more) {
#pragma unroll 1
    for (u32 set = 0; set < l->sets; set++) {
        i32 sum = set == 0 ? first : set == 1 ? second : set - 2 < more.count ? more.sums[(set - 2) * more.step] : 0;
        notes n = notes_of(l, burst, own, set);
        u32 place = k / 32 * 32 + store_bits(n.bits + k / 32, sum != 0);
        if (sum == 0) continue;
        n.sums[place] = sum;
        n.lanes[place] = (u8)(k % 32);
    }
}

// count_candidates finds how many there are before each word of the block's bits. Its first warp does.
DEVICE void count_candidates(const listing *l, u64 burst, u32 own) {
    u32 words = own / 32, each = (words + GROUPS - 1) / GROUPS, g = thread_in_block();
    if (g >= GROUPS) return;
#pragma unroll 1
    for (u32 set = 0; set < l->sets; set++) {
        notes n = notes_of(l, burst, own, set);
        u32 sum = 0;
#pragma unroll 1
        for (u32 w = g * each; w < (g + 1) * each && w < words; w++) sum += ones(n.bits[w]);
        u32 before = sum_before(n.ahead + words, sum);
#pragma unroll 1
        for (u32 w = g * each; w < (g + 1) * each && w < words; w++) {
            n.ahead[w] = before;
            before += ones(n.bits[w]);
        }
    }
}

// count_spans tells all blocks how many candidates each of the block's spans has, by so many threads.
DEVICE void count_spans(const listing *l, u64 burst, u32 own, u32 threads) {
    u32 *counts = l->counts + burst % 2 * l->span_count, end = l->first[block_index() + 1];
    for (u32 i = l->first[block_index()] + thread_in_block(); i < end; i += threads) {
        span s = l->spans[i];
        notes n = notes_of(l, burst, own, s.set);
        counts[s.place] = rank(n, s.until) - rank(n, s.from);
    }
}

// list_span lists a span's candidates among the neurons from ≤ k < until; list is the place of the span's first one. A warp
// lists those of 32 neurons at a time.
DEVICE void list_span(listed *list, notes n, span s, u32 from, u32 until) {
    u32 k = from / 32 * 32, begin = rank(n, from), end = rank(n, k + 32 < until ? k + 32 : until);
    u32 at = k + begin - n.ahead[k / 32];
    list += begin - rank(n, s.from);
#pragma unroll 1
    for (; k < until; k += 32) {
        u32 count = end - begin, q = at + lane();
        begin = end;
        if (k + 32 < until) end = rank(n, k + 64 < until ? k + 64 : until); // on its way while these are listed
        if (lane() < count) {
            u32 i = k - s.from + n.lanes[q];
            list[lane()] = listed{s.port + i, s.neuron + i, n.sums[q]};
        }
        list += count;
        at = k + 32;
    }
}

// list_candidates lists the block's candidates, by so many threads of it, and tells the host how many all blocks have. All
// blocks must have counted theirs. Each warp has neighbouring neurons, so that it needs few spans' places.
//
//	for _, s := range spans { for k := s.from; k < s.until; k++ { if sum := sums[s.set][k]; sum != 0 {
//		list = append(list, listed{s.port + k − s.from, s.neuron + k − s.from, sum})
//	} } }
DEVICE void list_candidates(const listing *l, u64 burst, u32 own, u32 threads) {
    u32 warp = thread_in_block() / 32, warps = threads / 32, each = (own / 32 + warps - 1) / warps * 32, end = l->first[block_index() + 1];
    const u32 *counts = l->counts + burst % 2 * l->span_count;
#pragma unroll 1
    for (u32 i = l->first[block_index()]; i < end; i++) {
        span s = l->spans[i];
        u32 from = s.from > warp * each ? s.from : warp * each, until = s.until < (warp + 1) * each ? s.until : (warp + 1) * each;
        if (from < until) list_span(l->lists + burst * l->room + sum_first(counts, s.place), notes_of(l, burst, own, s.set), s, from, until);
    }
    if (block_index() != block_count() - 1 || warp != warps - 1) return;
    u32 total = sum_first(counts, l->span_count);
    if (lane() == 0) l->totals[burst] = total;
}
