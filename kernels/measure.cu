#include "toolbox.cuh"

// idle does nothing: what a launch of it takes is what any launch takes.
KERNEL idle(u32 *) {}

// atomic_adds adds 1 to counters at scattered places, whose number is a power of two:
//
//	for i := range threads { for r := range rounds { counters[hash(i, r) % len(counters)]++ } }
KERNEL atomic_adds(i32 *counters, u32 mask, u32 rounds) {
    u32 h = (u32)thread_index() * 2654435761u + 1;
    for (u32 r = 0; r < rounds; r++) {
        h = h * 1664525u + 1013904223u;
        add(counters + ((h >> 7) & mask), 1);
    }
}

// grid_barriers lets all blocks, which must run at once, wait for each other rounds times. arrived must be zero at first;
// round has a word a block; late counts who passed a barrier before its neighbour had come to it.
KERNEL grid_barriers(u32 *arrived, volatile u32 *round, i32 *late, u32 rounds) {
    u32 neighbour = (block_index() + 1) % block_count();
    for (u32 r = 1; r <= rounds; r++) {
        block_barrier();
        if (thread_in_block() == 0) {
            round[block_index()] = r;
            fence();
            add((i32 *)arrived, 1);
            while (*(volatile u32 *)arrived < r * block_count()) relax();
            fence();
            if (round[neighbour] < r) add(late, 1);
        }
        block_barrier();
    }
}
