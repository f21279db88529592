#pragma once
#include "resident_bursts.cu"

// resident_bursts for a caller that acts between bursts: the launch goes on. When a burst is complete one block, the chief, tells the host,
// and waits for a word of it: the next burst is called for, with so many stimuli. The others wait for the chief where all meet. If no word
// comes for a while, or one that stops, the launch ends between two bursts as if it had been of so many. The host has
// read a burst when it calls for the next: all are told at one place. Looks that acquire stand for fences, which would wait for what is on
// its way to the host.

// STOP is the word that ends a launch.
const u64 STOP = ~0ull;

// calls is what the host and the chief tell each other.
struct calls {
    static const bool waits = true;
    const u64 *word;  // mapped host memory: above which of the launch's bursts is called for, counted from 0, below how many stimuli it has
    u64 *over;        // mapped host memory: not 0 once the launch ends before its last burst
    const u64 *given; // mapped host memory: the stimuli, each a port below an amount
    u64 patience;     // nanoseconds
};

// hear tells the host that all bursts before t are complete once so many blocks have met, and gives its word for burst t, or STOP.
DEVICE u64 hear(const calls *c, const run *p, u64 t, u32 wanted) {
    u32 number = (u32)(t - p->first);
    p->stamps[0] = nanoseconds(); // on its way meanwhile: whoever tells the host waits for it
    while ((u32)acquire_word((const u64 *)p->arrived) < wanted) {}
    publish(p->done, t);
    u64 since = nanoseconds(), word;
    do {
        word = acquire_system(c->word);
        if ((u32)(word >> 32) == number) return word;
    } while (word != STOP && nanoseconds() - since < c->patience);
    publish(c->over, 1);
    return STOP;
}

// give_called adds the stimuli of burst t to the ring, by the workers of a block.
DEVICE void give_called(const calls *c, const run *p, u64 t, u32 count) {
    const u32 EACH = 4; // that a thread has on their way at once
    i32 *slot = p->ring + (t & p->slot_mask) * p->ports;
#pragma unroll 1
    for (u32 k = anew(thread_in_block()); k < count; k += EACH * workers()) {
        u64 one[EACH];
#pragma unroll
        for (u32 j = 0; j < EACH; j++) one[j] = k + j * workers() < count ? load_system(c->given + k + j * workers()) : 0;
#pragma unroll
        for (u32 j = 0; j < EACH; j++)
            if (k + j * workers() < count) accumulate(slot + (u32)one[j], (i32)(one[j] >> 32));
    }
}

// await lets all blocks meet, as meet does, once the host has called for burst t and its stimuli are in the ring. It says whether there
// is one.
DEVICE bool await(const calls *c, const run *p, u64 t, resident *s) {
    SHARED(u64, word);
    worker_barrier();
    bool last = thread_in_block() == workers() - 1, chief = block_index() == block_count() - 1;
    u32 field = 0, wanted = 0;
    if (last) {
        u32 met = ++s->met;
        field = 32 + 16 * (met & 1), wanted = met * block_count();
        if (chief) word = hear(c, p, t, wanted - 1);
        else arrive((u64 *)p->arrived, 1);
    }
    if (chief) {
        worker_barrier();
        u64 heard = word;
        if (heard != STOP) give_called(c, p, t, (u32)heard);
        worker_barrier();
        if (last) arrive((u64 *)p->arrived, 1 | (heard == STOP ? 1ull << field : 0));
    }
    if (last) {
        u64 now;
        do now = acquire_word((const u64 *)p->arrived);
        while ((u32)now < wanted);
        u32 seen = (u32)(now >> field) & 0xffff, *before = s->seen + (field - 32) / 16;
        s->more = seen != *before;
        *before = seen;
    }
    worker_barrier();
    if (!s->more) return true;
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
