#include "resident_bursts.cu"

// Many bursts in one launch, as resident_bursts does them, for long rows with delays. Of the row of a neuron that fires only the
// synapses with delay 1, its first ones, have to be delivered before the next burst: its block does that. The rest waits in
// a queue of its own, which all blocks deliver during the next burst, so that no burst waits for it: warps that have no neurons to
// update, the back ones, begin with it at once.

// front_barrier is block_barrier for the warps that update.
#ifndef BURST_ON_HOST
DEVICE void front_barrier(const run *p) { asm volatile("bar.sync 2, %0;" ::"r"(32 * p->front) : "memory"); }
#endif

// turn_of is the place of the lengths of burst t's queues.
DEVICE u32 turn_of(u64 t) { return (u32)t % 4; }

// post queues what is left of the rows of who fires in burst t, and synapses with delay 1 that are too many for the block. The front's last
// threads do, whose warps deliver nothing where few fire.
DEVICE void post(const run *p, u64 t, resident *s) {
    const u16 *list = room_at<u16>(s, s->at_list);
    const u32 *rows = room_at<u32>(s, s->at_rows);
    u32 total = s->total, first = 32 * p->front - 1 - thread_in_block(), turn = turn_of(t), next = turn_of(t + 1);
#pragma unroll 1
    for (u32 j = first; j < total; j += workers()) {
        u32 k = list[j], soon = at_once<true>(s, k), count = rows[k + 1] - rows[k];
        u64 row = s->first_row + rows[k];
        if (count > soon) p->later[(t & 1) * p->neurons + fetch_add(p->later_length + turn, 1)] = spike{row + soon, count - soon};
        if (j >= p->own_rows || soon <= p->longest) continue;
        p->queue[fetch_add(p->length + turn, 1)] = spike{row, soon};
        s->left = 1;
    }
    if (first != 0) return;
    if (block_index() == 0) p->length[next] = p->later_length[next] = 0; // all blocks have read them in the bursts before
    if (total > p->own_rows) {
        s->base = fetch_add(p->length + turn, total - p->own_rows);
        s->left = 1;
    }
}

// deliver_later is step 1 for the queue of rows rows that burst t has left: the block's part. Each warp of the back has one piece of a row,
// and where there are more pieces, all warps share the others; the front does not look at what the back has taken.
DEVICE void deliver_later(const run *p, u64 t, u32 rows, const resident *s) {
    u32 warps = workers() / 32, back = anew(warps - p->front), warp = anew(thread_in_block()) / 32, apart = back * block_count();
    if (rows == 0 || (warp < p->front && rows * p->later_parts <= apart)) return;
    u32 parts = (back > 0 ? apart : warps * block_count()) / rows, own = apart + block_index() * warps + warp;
    if (parts < p->later_parts) parts = p->later_parts;
    if (parts > p->most_later_parts) parts = p->most_later_parts;
    const i32 *values = room_at<i32>(s, s->at_values);
    const spike *later = p->later + (t & 1) * p->neurons;
#pragma unroll 1
    for (u32 piece = warp < p->front ? own : block_index() * back + warp - p->front; piece < rows * parts;
         piece = piece < apart ? own : piece + warps * block_count()) {
        spike row = later[piece / parts];
        u32 part = piece % parts, each = ((u32)row.count + parts - 1) / parts;
        u64 k = (u64)part * each, end = k + each < row.count ? k + each : row.count;
        deliver_synapses<false>(p, t, values, row.first + k + lane(), row.first + end);
    }
}

#ifndef BURST_ON_HOST
// work_delayed is work of resident_bursts with delays:
//
//	for t := first; t < first + bursts; t++ {
//		for n := range neurons { if b.fires(n) { queue = append(queue, n) } }; deliver what the burst before has left
//		deliver the synapses with delay 1 of the queue, in a second round what blocks have too many of, and the stimuli of burst t + 1
//	}
//
// A burst is complete at the meeting after its own, where all its ids have reached the host.
template <u32 models> DEVICE void work_delayed(const run *p, resident *s) {
    bool shared = true, updates = thread_in_block() < 32 * p->front, last_thread = thread_in_block() == workers() - 1;
    u32 written = 0; // bursts' lists
    for (u64 t = p->first - 1;;) {
        u32 rows = shared ? 0 : p->later_length[turn_of(t - 1)];
        if (!shared && updates) {
            update_resident<models>(p, t, s);
            front_barrier(p);
            count_groups(p, s);
            if (lists(&p->list)) count_candidates(&p->list, t - p->first, p->block_neurons);
            front_barrier(p);
            list_block(p, s);
            if (lists(&p->list)) count_spans(&p->list, t - p->first, p->block_neurons, 32 * p->front);
            front_barrier(p);
            post(p, t, s);
        }
        if (shared || updates) deliver_rows<true>(p, t, turn_of(t), s, shared);
        deliver_later(p, t - 1, rows, s);
        u32 met = (u32)(t + shared - p->first); // bursts of which the host has been told by the next meeting
        if (lists(&p->list) && written < met) list_candidates(&p->list, written++, p->block_neurons, workers());
        if (!shared && updates && s->total > p->own_rows) {
            front_barrier(p);
            leave<true>(p, s);
        }
        bool last = t + 1 == p->first + p->bursts, fresh = !shared || t + 1 == p->first;
        if (fresh && !last) stimulate_blocks(p, t + 1);
        bool more = meet<true>(p, t + 1, s, fresh);
        if (last_thread) store_block(&s->complete, met);
        if (last) break;
        shared = !shared && more;
        if (shared) continue;
        t++;
    }
    if (lists(&p->list)) list_candidates(&p->list, p->bursts - 1, p->block_neurons, workers());
    meet<true>(p, p->first + p->bursts, s, false);
    if (last_thread) store_block(&s->complete, (u32)p->bursts);
}

KERNEL_OF_1024 delayed_bursts(run p) { run_resident<ALL_MODELS, work_delayed<ALL_MODELS>>(&p); }
KERNEL_OF_1024 delayed_bursts_feagi(run p) { run_resident<1 << FEAGI, work_delayed<1 << FEAGI>>(&p); }
KERNEL_OF_1024 delayed_bursts_lif(run p) { run_resident<1 << LIF, work_delayed<1 << LIF>>(&p); }
KERNEL_OF_1024 delayed_bursts_psc_exp(run p) { run_resident<1 << PSC_EXP, work_delayed<1 << PSC_EXP>>(&p); }
#endif
