// How blocks know of each other how far they are, where they need not meet: each tells when it has finished a turn, and waits for a turn
// that all others finished some turns ago.
#pragma once
#include "burst.cuh"

// Blocks that wait for each other are TURNS turns apart at most. The counters of turns lie in lines of their own.
const u32 TURNS = 8, TURN_APART = 32;

// tell_turn tells that the block has finished a turn, after all that it wrote before a barrier ahead of this.
DEVICE void tell_turn(u32 *told, u32 turn) { arrive(told + turn % TURNS * TURN_APART); }

// finished reports whether all blocks have finished a turn; the thread then sees what they had written.
DEVICE bool finished(const u32 *told, u32 turn) { return acquire_word(told + turn % TURNS * TURN_APART) >= (turn / TURNS + 1) * block_count(); }

// turns_here is what a block's threads tell each other, by store_block and load_block: of how many bursts the host has got all, how many turns
// the block has finished, and how many all blocks. It lies at the beginning of the block's memory, where racecheck.awk of backend/cuda knows it.
struct turns_here {
    u32 complete, done, known;
};

// tell_turns tells of so many turns, as the block finishes them. One thread does, for whose fence no other has to wait.
DEVICE void tell_turns(u32 *told, const turns_here *here, u32 turns) {
    for (u32 next = 0; next < turns;) {
        u32 done = load_block(&here->done);
        if (next == done) pause();
        for (; next < done; next++) tell_turn(told, next);
    }
}

// await_turns waits until all blocks have finished so many turns. Another thread of the block looks.
DEVICE void await_turns(const turns_here *here, u32 turns) {
    while (load_block(&here->known) < turns) {}
}

// hear_turns looks how far all blocks are, by one thread, in a launch of so many bursts. Turn n updates the n-th burst and tells the host of
// the one before it; one more turn tells of the last burst.
DEVICE void hear_turns(const u32 *told, turns_here *here, u32 bursts) {
    for (u32 n = 1; n <= bursts + 2; n++) {
        while (!finished(told, n - 1)) {}
        store_block(&here->known, n);
        if (n > 2) store_block(&here->complete, n - 2);
    }
}
