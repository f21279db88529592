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
// late counts blocks that passed a barrier before all had arrived.
KERNEL grid_barriers(u32 *arrived, i32 *late, u32 rounds) {
    for (u32 r = 1; r <= rounds; r++) {
        barrier();
        if (thread_in_block() == 0) {
            fence();
            add((i32 *)arrived, 1);
            while (*(volatile u32 *)arrived < r * block_count()) relax();
            fence();
            if (*(volatile u32 *)arrived < r * block_count()) add(late, 1);
        }
        barrier();
    }
}
