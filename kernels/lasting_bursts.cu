#pragma once
#include "calls.cuh"
#include "resident_bursts.cu"

// resident_bursts for a caller that acts between bursts: the launch goes on. A block answers as soon as its neurons are updated: the host then
// works beside what the blocks still have to deliver. Each block waits for its own request, which has the stimuli of its own ports. The launch
// ends between two bursts as if it had been of so many where the host says so, or has asked for nothing for a while: one block, the chief,
// decides that.

// answer is answer_by where the block keeps its neurons' state.
DEVICE void answer(const calls *c, const run *p, u64 t, const resident *s) {
    if (thread_in_block() < 32) answer_by(c, p, t, room_at<u32>(s, s->at_bits), room_at<float>(s, s->at_v), room_at<float>(s, s->at_more));
}

// hear waits for the block's request for burst t and adds its stimuli to the ring. It says whether there is one.
DEVICE bool hear(const calls *c, const run *p, u64 t) {
    SHARED(u64, heard);
    i32 *slot = p->ring + (t & p->slot_mask) * p->ports;
    u32 place = place_in(p, t);
    u32 at = anew(thread_in_block());
    if (at < 32) {
        u64 word, count = request_for(c, place, &word);
        if (count != STOP && at > 0 && at < REQUEST && at <= count) accumulate(slot + low(word), (i32)(word >> 32));
        if (at == 0) heard = count;
    }
    worker_barrier();
    if (heard == STOP) return false;
    if (heard < REQUEST) return true;
#pragma unroll 1
    for (u32 k = at; k < heard + 1 - REQUEST; k += workers()) {
        u64 one = further_for(c, place, k);
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
