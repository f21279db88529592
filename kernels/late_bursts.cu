#pragma once
#include "late_rows.cuh"

// Many bursts in one launch for networks of lif with long rows, whose smallest delay is several bursts. The last warp of the
// last block tells the host.
KERNEL_OF_1024 late_bursts_lif(run args, late_queues queues) {
    const run *p = &args;
    const late_queues *e = &queues;
    SHARED(late_room, m);
    SHARED(resident, s);
    if (thread_in_block() == 0) divide<1 << LIF>(p, &s);
    block_barrier();
    begin_resident<1 << LIF>(p, &s);
    begin_launch(p);
    if (anew(block_index()) == 0 && thread_in_block() < TURNS) e->told_next[thread_in_block() * TURN_APART] = 0;
    if (thread_in_block() == 0) m.turns = turns_here{};
    block_barrier();
    u32 talker = anew(thread_in_block()) - late_workers();
    if (thread_in_block() < late_workers()) late_loop(p, e, &s, &m);
    else if (talker == 0) tell_turns(e->told, &m.turns, (u32)p->bursts + 2);
    else if (talker == 32) hear_turns(e->told, &m.turns, (u32)p->bursts);
    else if (talker == 64 && block_index() == block_count() - 1) tell_late(p, &m);
    block_barrier();
    end_resident<1 << LIF>(p, &s);
}
