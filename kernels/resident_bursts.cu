#pragma once
#include "early_rows.cuh"

// Many bursts in one launch, as run_bursts does them, for networks whose neurons' state, places of rows and tables fit the
// shared memory of all blocks together. Rows are delivered when all neurons are updated (own_rows.cuh), or while they are
// (early_rows.cuh). The last warp of a block takes no part: that of the last block tells the host.

// uncalled are launches whose bursts follow each other. lasting_bursts.cu has those in which the host calls for each.
struct uncalled {
    static const bool waits = false;
};
DEVICE bool await(const uncalled *, const run *, u64, resident *) { return true; }
DEVICE void answer(const uncalled *, const run *, u64, const resident *) {}

// list_alone lists who fires, ascending, as list_block does, by the block's first warp alone: others have their own to do.
DEVICE void list_alone(const run *p, resident *s) {
    u32 words = p->block_neurons / 32, each = (words + GROUPS - 1) / GROUPS, g = anew(thread_in_block());
    if (g >= GROUPS) return;
    const u32 *bits = room_at<u32>(s, s->at_bits);
    u16 *list = room_at<u16>(s, s->at_list);
    u32 before = s->group[g];
#pragma unroll 1
    for (u32 w = g * each; w < (g + 1) * each && w < words; w++)
#pragma unroll 1
        for (u32 rest = bits[w]; rest != 0; rest &= rest - 1) list[before++] = (u16)(32 * w + ones((rest & -rest) - 1));
}

// bring_ids tells the host which of the block's neurons fired in burst t, step 5, once its first warp has listed them.
DEVICE void bring_ids(const run *p, u64 t, const resident *s) {
    const u16 *list = room_at<u16>(s, s->at_list);
    u32 begin = block_index() * p->block_neurons, total = s->total, *ids = for_host(p, t);
    if (thread_in_block() >= 32) return;
    if (total > host_room(p)) {
        bring_bits(p, t, room_at<u32>(s, s->at_bits), 32);
    } else {
#pragma unroll 1
        for (u32 j = lane(); j < total; j += 32) ids[j] = begin + list[j];
    }
    if (lane() == 0) report(p, t, total);
}

// field_of is where arrived counts the blocks that have left rows, for even and odd meetings apart.
DEVICE u32 field_of(u32 met) { return 32 + 16 * (met & 1); }

// come tells all blocks that this one has come to its next meeting, and whether it has left rows. Its last worker warp does. Where all
// blocks are one cluster a lane tells each of them, in its memory.
template <bool near> DEVICE void come(const run *p, resident *s) {
    u32 met = s->met + 1, left = s->left;
    if (!near) {
        if (lane() == 31) arrive((u64 *)p->arrived, 1 | (left ? 1ull << field_of(met) : 0));
    } else if (lane() < block_count()) {
        if (left) join_cluster(remote_address(address(s->leaving + (met & 1)), lane()));
        fence_cluster();
        join_cluster(remote_address(address(&s->joined), lane()));
    }
    warp_barrier();
    if (lane() == 31) s->met = met, s->left = s->listed = 0;
}

// all_there waits until all blocks have come; its answer is how often some had left rows, at even meetings or at odd ones. One thread does.
template <bool near> DEVICE u32 all_there(const run *p, const resident *s) {
    u32 met = s->met, wanted = met * block_count();
    if (near) {
        u32 own = address(&s->joined);
        while (joined(own) < wanted) {}
        return read(s->leaving + (met & 1));
    }
    u64 now;
    do now = arrivals((const u64 *)p->arrived);
    while ((u32)now < wanted);
    acquire();
    return (u32)(now >> field_of(met)) & 0xffff;
}

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
    if (!calls_of::waits && soon && drives && t > p->first) {
        count_groups(p, s);
        warp_barrier();
        list_alone(p, s);
        warp_barrier();
        bring_ids(p, t - 1, s);
    }
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
        if (soon) deliver_left(p, t, s, shared, left);
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
        if (early(p)) burst_loop<models, true>(p, &s, (const uncalled *)nullptr);
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
