// How blocks that keep their neurons' state wait for each other, and tell the host meanwhile who fires.
#pragma once
#include "resident.cuh"

// bring_ids tells the host which of the block's neurons fired in burst t, step 5, ascending, by its first warp alone: others have their own
// to do. Where more fire than the host has places for, it gets bits.
DEVICE void bring_ids(const run *p, u64 t, resident *s) {
    u32 place = anew(thread_in_block()), total = 0;
    if (place >= 32) return;
    const u32 *bits = room_at<u32>(s, anew(s->at_bits));
    u32 words = p->block_neurons / 32, begin = block_index() * p->block_neurons, *ids = for_host(p, t);
#pragma unroll 1
    for (u32 w = place; w - place < words; w += 32) {
        u32 rest = w < words ? bits[w] : 0, number = total + sum_before(&s->total, ones(rest));
        total = shuffle_from(number + ones(rest), 31);
#pragma unroll 1
        for (; rest != 0; rest &= rest - 1, number++)
            if (number < host_room(p)) ids[number] = begin + 32 * w + ones((rest & -rest) - 1);
    }
    warp_barrier();
    if (total > host_room(p)) bring_bits(p, t, bits, 32);
    if (place == 0) report(p, t, total);
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
    do now = acquire_word((const u64 *)p->arrived); // a fence would wait for what is on its way to the host
    while ((u32)now < wanted);
    return (u32)(now >> field_of(met)) & 0xffff;
}
