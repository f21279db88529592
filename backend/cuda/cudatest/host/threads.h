// Threads of a launch that wait for each other, as fibers taken in turns on one processor.
#pragma once
#include <cstdlib>
#include <ucontext.h>
#include <vector>

struct fiber {
    ucontext_t context;
    void *stack;
    unsigned block, thread;
    bool done;
};

// gate is a block's barrier: who comes last opens it.
struct gate {
    unsigned waiting, threads;
    unsigned long long opened;
};

static ucontext_t scheduler;
static fiber *turn;
static std::vector<gate> gates;
static void (*body)(); // of every fiber

static void fiber_relax() { swapcontext(&turn->context, &scheduler); }

static void fiber_barrier() {
    gate &g = gates[turn->block];
    auto round = g.opened;
    if (++g.waiting == g.threads) {
        g.waiting = 0;
        g.opened++;
        return;
    }
    while (g.opened == round) fiber_relax();
}

static void fiber_main() {
    body();
    turn->done = true;
    swapcontext(&turn->context, &scheduler);
}

// run_together runs blocks first..first+count-1 of the given number of threads; begin is told who runs next.
template <class Begin> static void run_together(unsigned first, unsigned count, unsigned threads, void (*what)(), Begin begin) {
    const size_t STACK = 64 << 10;
    body = what;
    gates.assign(first + count, gate{0, threads, 0});
    std::vector<fiber> fibers(size_t(count) * threads);
    for (size_t i = 0; i < fibers.size(); i++) {
        fiber &f = fibers[i];
        f.block = first + unsigned(i / threads), f.thread = unsigned(i % threads), f.done = false, f.stack = malloc(STACK);
        getcontext(&f.context);
        f.context.uc_stack.ss_sp = f.stack, f.context.uc_stack.ss_size = STACK, f.context.uc_link = nullptr;
        makecontext(&f.context, fiber_main, 0);
    }
    for (bool more = true; more;) {
        more = false;
        for (fiber &f : fibers) {
            if (f.done) continue;
            more = true;
            turn = &f;
            begin(f.block, f.thread);
            swapcontext(&scheduler, &f.context);
        }
    }
    for (fiber &f : fibers) free(f.stack);
}
