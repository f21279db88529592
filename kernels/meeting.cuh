// How blocks that keep their neurons' state wait for each other, and tell the host meanwhile who fires.
#pragma once
#include "resident.cuh"

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
    do now = acquire_word((const u64 *)p->arrived); // a fence would wait for what is on its way to the host
    while ((u32)now < wanted);
    return (u32)(now >> field_of(met)) & 0xffff;
}
