#pragma once
#include "ahead.cuh"

// Many bursts in one launch, as run_bursts does them, for networks whose neurons' state, places of rows and tables fit the
// shared memory of all blocks together. Rows are delivered when all neurons are updated (own_rows.cuh), or while they are
// (early_rows.cuh, ahead.cuh). The last warp of a block takes no part: that of the last block tells the host.

// uncalled are launches whose bursts follow each other. lasting_bursts.cu has those in which the host calls for each.
struct uncalled {
    static const bool waits = false;
};
DEVICE bool await(const uncalled *, const run *, u64, resident *) { return true; }
DEVICE void answer(const uncalled *, const run *, u64, const resident *) {}

// meet lets all blocks wait for each other; what they wrote before is seen by all after it. It says whether any block has
// left rows. arrived counts blocks in its lower half; in the upper half it counts, for even and odd meetings apart, those that
// have. With drives the block works out meanwhile what they add in burst t, and where rows are delivered early (soon) the areas' terms,
// and tells the host of the burst before, which the next meeting waits for.
template <bool soon, class calls_of> DEVICE bool meet(const run *p, u64 t, resident *s, bool drives) {
    worker_barrier();
    if (thread_in_block() >= workers() - 32) {
        if (!calls_of::waits && gathered(p)) come<true>(p, s);
        else come<false>(p, s);
    }
    if (soon && drives) find_terms(p, t, s);
    if (!calls_of::waits && soon && drives && t > p->first) bring_resident(p, t - 1, s);
    if (!calls_of::waits && soon && drives && t > p->first) bring_ids(p, t - 1, s);
    if (drives) drive_block<true>(p, t, s, p->drive_count > 0 ? 2 : 0);
    if (thread_in_block() == workers() - 1) {
        u32 seen = !calls_of::waits && gathered(p) ? all_there<true>(p, s) : all_there<false>(p, s), *before = s->seen + (s->met & 1);
        s->more = seen != *before;
        *before = seen;
    }
    worker_barrier();
    return s->more;
}

// end_early delivers the synapses with delay 1 of who fires, by the front warps, which have updated the block's neurons.
DEVICE void end_early(const run *p, u64 t, resident *s) {
    deliver_soon(p, t, s);
    front_barrier(p);
    deliver_listed(p, t, s);
    if (!lists(&p->list)) return;
    front_barrier(p);
    count_candidates(&p->list, t - p->first, p->block_neurons);
    front_barrier(p);
    count_spans(&p->list, t - p->first, p->block_neurons, 32 * p->front);
}

// end_own lists who fires once the block's neurons are updated, and tells the host.
template <class calls_of> DEVICE void end_own(const run *p, u64 t, resident *s, const calls_of *c) {
    worker_barrier();
    answer(c, p, t, s);
    count_groups(p, s);
    if (lists(&p->list)) count_candidates(&p->list, t - p->first, p->block_neurons);
    worker_barrier();
    list_block(p, s);
    if (lists(&p->list)) count_spans(&p->list, t - p->first, p->block_neurons, workers());
    if (!calls_of::waits) bring_resident(p, t, s);
    worker_barrier();
    send(p, t, s, !calls_of::waits);
}

// burst_loop is the law of many bursts in one launch, whose blocks all run at once, for areas of some models.
//
//	for t := first; t < first + bursts; t++ {
//		for n := range neurons { if b.fires(n) { queue = append(queue, n) } }
//		deliver the rows of the queue, in a second round what blocks have left, and the stimuli of burst t + 1
//	}
//
// Where rows are delivered early, what the burst before has left of them is delivered beside. A burst is complete when all blocks have
// met, and where all its ids, or its candidates, are brought before the next meeting, then.
template <u32 models, bool soon, class calls_of> DEVICE void burst_loop(const run *p, resident *s, const calls_of *c) {
    bool shared = true; // what the launch before has left
    bool updates = !soon || thread_in_block() < 32 * p->front, last_thread = thread_in_block() == workers() - 1;
    u32 written = 0; // bursts' lists
    for (u64 t = p->first - 1;;) {
        u32 left = soon ? left_of(p, t, shared) : 0;
        if (!shared && updates) {
            if (soon) clear_lengths(p, t);
            update_resident<models>(p, t, s);
            if (soon && calls_of::waits) {
                front_barrier(p);
                answer(c, p, t, s);
            }
            if (soon) end_early(p, t, s);
            else end_own<calls_of>(p, t, s, c);
        }
        if (soon) deliver_left(p, shared ? t : t - 1, s, shared, left);
        else deliver_rows(p, t, s, shared);
        u32 met = (u32)(t + shared - p->first); // bursts that all blocks have computed
        if (lists(&p->list) && written < met) list_candidates(&p->list, written++, p->block_neurons, workers());
        if (!soon && !shared && s->total > p->own_rows) {
            worker_barrier();
            leave(p, s);
        }
        bool last = t + 1 == p->first + p->bursts, fresh = !shared || t + 1 == p->first;
        if (fresh && !last) {
            stimulate_blocks(p, t + 1);
            if (!soon) find_terms(p, t + 1, s);
        }
        bool more = meet<soon, calls_of>(p, t + 1, s, fresh);
        if (!calls_of::waits && last_thread) store_block(&s->complete, soon || lists(&p->list) ? met : (u32)(t + 1 - p->first));
        if (last) break;
        shared = !shared && more;
        if (shared) continue;
        if (calls_of::waits && t + 1 > p->first && !await(c, p, t + 1, s)) return;
        t++;
    }
    if (calls_of::waits || (!soon && !lists(&p->list))) return;
    if (lists(&p->list)) list_candidates(&p->list, p->bursts - 1, p->block_neurons, workers());
    meet<soon, calls_of>(p, p->first + p->bursts, s, false);
    if (last_thread) store_block(&s->complete, (u32)p->bursts);
}

#ifndef BURST_LASTING
template <u32 models> DEVICE void run_resident(const run *p) {
    SHARED(resident, s);
    if (thread_in_block() == 0) divide<models>(p, &s);
    block_barrier();
    begin_resident<models>(p, &s);
    begin_launch(p);
    if (gathered(p)) cluster_barrier();
    else block_barrier();
    if (thread_in_block() < workers()) {
        if (models == 1 << PSC_EXP && ahead(p)) ahead_loop<models>(p, &s);
        else if (early(p)) burst_loop<models, true>(p, &s, (const uncalled *)nullptr);
        else burst_loop<models, false>(p, &s, (const uncalled *)nullptr);
    } else if (thread_in_block() == workers() && block_index() == block_count() - 1) serve(p, &s, 0);
    block_barrier();
    end_resident<models>(p, &s);
}

KERNEL_OF_1024 resident_bursts(run p) { run_resident<ALL_MODELS>(&p); }
KERNEL_OF_1024 resident_bursts_feagi(run p) { run_resident<1 << FEAGI>(&p); }
KERNEL_OF_1024 resident_bursts_lif(run p) { run_resident<1 << LIF>(&p); }
KERNEL_OF_1024 resident_bursts_psc_exp(run p) { run_resident<1 << PSC_EXP>(&p); }
#endif
