// Launches that go on: host and blocks tell each other by words of mapped memory, each of which says by 8 bits of which of the launch's bursts
// it is, so that their order does not matter and nobody waits for fences.
#pragma once
#include "run.cuh"

// REQUEST is how many words a block has of its request: the first one says how many stimuli the block has, and the others are these, each an
// amount above 32 bits: the burst's place and a port of 24 bits. Its answer are numbers of 14 bits, four a word, lowest first, below the
// burst's place: how many of its neurons fire, and which, if they are fewer than ANSWERS. ANSWER is how many words of it lie beside those of the other blocks; further ones have places of their own.
const u32 REQUEST = 16, ANSWER = 8, ANSWERS = 512;

// STOP in the chief's request ends a launch. ASKING and OVER are what the chief tells the host of the end.
const u64 STOP = ~0ull, ASKING = 1, OVER = 2;

// calls is what host and blocks tell each other. All but halt is mapped host memory.
struct calls {
    static const bool waits = true;
    const u64 *requests, *rest; // rest: of each block room words, the stimuli that a request has no room for
    u64 *answers, *further; // answers: of each block ANSWER words; further: those after them
    const u64 *next; // which of the launch's bursts the host asks for next, written before its requests: it writes these unless the launch is over
    u64 *over;       // ASKING, OVER, or 0
    u64 *halt;       // the number of the newest launch that ends early
    u64 launch;      // this one's
    u64 room;
    u64 patience; // nanoseconds
};

// place_in is a burst's place in the launch.
DEVICE u32 place_in(const run *p, u64 t) { return (u32)(t - p->first); }

// says reports whether a word of a request is of the burst at a place, and low are its 24 bits below that.
DEVICE bool says(u64 word, u32 place) { return (u32)word >> 24 == place; }
DEVICE u32 low(u64 word) { return (u32)word & 0xffffff; }

// gives_up says that the launch ends, unless the host is asking for the burst of a number: who is second sees what the first has written.
DEVICE bool gives_up(const calls *c, u64 number) {
    publish(c->over, ASKING);
    fence_both();
    if (load_system(c->next) != number) return true;
    publish(c->over, 0);
    return false;
}

// request_for waits for the block's request for the burst at a place, by a warp. The answer is how many stimuli it has, or STOP; a lane has
// its word of it.
DEVICE u64 request_for(const calls *c, u32 place, u64 *own) {
    u32 at = anew(lane());
    const u64 *from = at < REQUEST ? c->requests + anew(block_index()) * REQUEST + at : c->halt;
    u64 since = nanoseconds(), word;
    u32 count;
    bool halted, lacks;
    do {
        word = load_system(from);
        count = shuffle_first(low(word), 32);
        halted = vote(at >= REQUEST && word == c->launch) != 0;
        lacks = vote(at < REQUEST && at <= count && !says(word, place)) != 0;
        if (anew(block_index()) != block_count() - 1 || at > 0 || !lacks) continue;
        if (word != STOP && nanoseconds() - since < c->patience) continue;
        since = nanoseconds();
        if (word != STOP && !gives_up(c, place)) continue;
        store_system(c->halt, c->launch);
        publish(c->over, OVER);
    } while (lacks && !halted);
    *own = word;
    return halted ? STOP : count;
}

// further_for is the k-th stimulus for which the request for the burst at a place has no room.
DEVICE u64 further_for(const calls *c, u32 place, u32 k) {
    u64 one;
    do one = load_system(c->rest + anew(block_index()) * c->room + k);
    while (!says(one, place));
    return one;
}

// answer_by tells the host who of the block's neurons fires in burst t, step 5, by a warp, once all neurons are updated. The first warp may
// bring it what else it wants of the burst, of variables that lie at v and more; they are null where nothing is wanted and fewer than ANSWERS fire.
DEVICE void answer_by(const calls *c, const run *p, u64 t, const u32 *bits, const float *v, const float *more_v) {
    SHARED(u32, total);
    struct list { u16 numbers[ANSWERS]; };
    SHARED(list, l);
    u32 at = anew(lane());
    u32 words = p->block_neurons / 32, each = (words + 31) / 32, from = at * each, sum = 0;
#pragma unroll 1
    for (u32 w = from; w < from + each && w < words; w++) sum += ones(bits[w]);
    u32 before = sum_before(&total, sum);
#pragma unroll 1
    for (u32 w = from; w < from + each && w < words; w++)
#pragma unroll 1
        for (u32 rest = bits[w]; rest != 0 && before < ANSWERS - 1; rest &= rest - 1) l.numbers[++before] = (u16)(32 * w + ones((rest & -rest) - 1));
    warp_barrier();
    u32 count = total;
    if (at == 0) l.numbers[0] = (u16)count;
    const probes *x = &p->wanted;
    u32 block = anew(block_index()), used = count < ANSWERS ? count / 4 + 1 : 1;
    bool more = v != nullptr && (count >= ANSWERS || (x->count > 0 && x->first[block] < x->first[block + 1]));
    if (v != nullptr && count >= ANSWERS) bring_bits(p, p->first, bits, 32);
    if (v != nullptr) bring_values(p, p->first, v, more_v, p->block_neurons, true, 32);
    if (more) warp_barrier();
#pragma unroll 1
    for (u32 w = at; w < (used < ANSWER ? ANSWER : used); w += 32) { // whole lines of caches
        u64 word = (u64)place_in(p, t + 1) << 56;
#pragma unroll
        for (u32 j = 0; j < 4; j++) word |= (u64)(l.numbers[4 * w + j] & 0x3fff) << 14 * j;
        u64 *to = w < ANSWER ? c->answers + block * ANSWER + w : c->further + block * (ANSWERS / 4 - ANSWER) + w - ANSWER;
        if (more && w == 0) publish(to, word);
        else store_system(to, word);
    }
}
