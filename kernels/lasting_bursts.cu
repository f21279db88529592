#pragma once
#include "resident_bursts.cu"

// resident_bursts for a caller that acts between bursts: the launch goes on. Host and blocks tell each other by words of mapped memory, each
// of which says by 8 bits of which of the launch's bursts it is, so that their order does not matter and nobody waits for fences. A block answers as soon as its neurons are updated: the host then works beside what the blocks still have to deliver.
// Each block waits for its own request, which has the stimuli of its own ports. The launch ends between two bursts as if it had been of so
// many where the host says so, or has asked for nothing for a while: one block, the chief, decides that.

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

// answer tells the host who of the block's neurons fires in burst t, step 5, and brings it what else it wants of the burst, by the first
// warp, once all neurons are updated.
DEVICE void answer(const calls *c, const run *p, u64 t, const resident *s) {
    SHARED(u32, total);
    struct list { u16 numbers[ANSWERS]; };
    SHARED(list, l);
    if (thread_in_block() >= 32) return;
    u32 at = anew(thread_in_block());
    const u32 *bits = room_at<u32>(s, s->at_bits);
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
    bool more = count >= ANSWERS || (x->count > 0 && x->first[block] < x->first[block + 1]);
    if (count >= ANSWERS) bring_bits(p, p->first, bits, 32);
    bring_values(p, p->first, room_at<float>(s, s->at_v), room_at<float>(s, s->at_more), p->block_neurons, true, 32);
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

// hear waits for the block's request for burst t and adds its stimuli to the ring. It says whether there is one.
DEVICE bool hear(const calls *c, const run *p, u64 t) {
    SHARED(u64, heard);
    i32 *slot = p->ring + (t & p->slot_mask) * p->ports;
    u32 place = place_in(p, t);
    u32 at = anew(thread_in_block());
    if (at < 32) {
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
        if (!halted && at > 0 && at < REQUEST && at <= count) accumulate(slot + low(word), (i32)(word >> 32));
        if (at == 0) heard = halted ? STOP : count;
    }
    worker_barrier();
    if (heard == STOP) return false;
    if (heard < REQUEST) return true;
    const u64 *rest = c->rest + anew(block_index()) * c->room;
#pragma unroll 1
    for (u32 k = at; k < heard + 1 - REQUEST; k += workers()) {
        u64 one;
        do one = load_system(rest + k);
        while (!says(one, place));
        accumulate(slot + low(one), (i32)(one >> 32));
    }
    worker_barrier();
    return true;
}

// await waits for the request for burst t, with its stimuli in the ring. It says whether there is one.
DEVICE bool await(const calls *c, const run *p, u64 t, resident *) {
    if (hear(c, p, t)) return true;
    if (block_index() == 0 && thread_in_block() == 0) *length_of(p, t - 1) = 0; // rows that were left are delivered
    return false;
}

// run_lasting is run_resident for such launches, whose last warps do nothing.
template <u32 models> DEVICE void run_lasting(const run *p, const calls *c) {
    SHARED(resident, s);
    if (thread_in_block() == 0) divide<models>(p, &s);
    block_barrier();
    begin_resident<models>(p, &s);
    begin_launch(p);
    block_barrier();
    if (thread_in_block() < workers()) {
        if (early(p)) burst_loop<models, true>(p, &s, c);
        else burst_loop<models, false>(p, &s, c);
    }
    block_barrier();
    end_resident<models>(p, &s);
}

KERNEL_OF_1024 lasting_bursts(run p, calls c) { run_lasting<ALL_MODELS>(&p, &c); }
KERNEL_OF_1024 lasting_bursts_feagi(run p, calls c) { run_lasting<1 << FEAGI>(&p, &c); }
KERNEL_OF_1024 lasting_bursts_lif(run p, calls c) { run_lasting<1 << LIF>(&p, &c); }
KERNEL_OF_1024 lasting_bursts_psc_exp(run p, calls c) { run_lasting<1 << PSC_EXP>(&p, &c); }
