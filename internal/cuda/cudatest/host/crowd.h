// Launches whose threads run side by side, as fibers: a block alone, a grid whose blocks wait for each other, or the grids of several
// devices. Who runs next is the first that can, or is drawn, so that another seed (hostControl's schedule) takes another order.
#pragma once
#include <cstdarg>
#include <memory>
#include <sys/mman.h>

#include "fibers.h"
#include "switch.h"

fiber *running;
bool hurried;

const size_t OBJECTS = 32 << 10; // bytes of a block's memory for its variables; what the launch has asked for comes behind
const size_t EDGE = 256;         // and behind that bytes that nobody may write
const unsigned GATES = 3;

struct launch;

struct gate {
    unsigned came = 0;
    std::vector<fiber *> who;
};

struct warp {
    unsigned live = 0, came = 0, side = 0;
    const char *purpose = nullptr;
    unsigned word[2][32], voted[2]; // by turns: some lanes hand in again before others have looked
    fiber *who[32];
};

struct crowd_block {
    launch *of;
    unsigned index, live;
    gate gates[GATES];
    std::vector<warp> warps;
    std::unique_ptr<unsigned char[]> memory; // as it comes: variables are filled when they are made
    std::vector<std::pair<const void *, size_t>> objects; // and where they lie
    size_t used;
};

struct launch {
    const kernel *k;
    void **args;
    std::vector<std::vector<char>> kept; // copies of its arguments, where it outlives the call
    std::vector<void *> arguments;
    bool waits; // for words of the host
    int device;
    unsigned first, count, blocks, threads, cluster; // blocks first to first + count − 1 of so many; cluster: blocks of one
    size_t bytes;                                    // of a block's memory, as asked for
    bool lost;                                       // with its device
    std::vector<crowd_block> homes;
    std::vector<gate> clusters;
    std::vector<fiber> fibers;
};

enum outcome { ENDED, WAITING, FAILED };

// stacks are kept for the next launch. Their size is no power of two, else all their upper ends would share few places of a cache.
const size_t STACK = (64 << 10) + 17 * 64, SPARE_STACK = 8 << 10; // what nobody is to reach; a context may lie there
const unsigned long long CANARY = 0x5ca1ab1e5ca1ab1e;
static std::vector<void *> stacks;
static void *take_stack() {
    if (stacks.empty()) {
        const size_t many = 64;
        auto p = (char *)mmap(nullptr, many * STACK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (p == MAP_FAILED) abort();
        for (size_t i = 0; i < many; i++) {
            stacks.push_back(p + i * STACK);
            *(unsigned long long *)(p + i * STACK + SPARE_STACK) = CANARY;
        }
    }
    void *stack = stacks.back();
    stacks.pop_back();
    return stack;
}
static void keep_stack(void *stack) {
    if (*(unsigned long long *)((char *)stack + SPARE_STACK) != CANARY) abort();
    stacks.push_back(stack);
}

// order says who runs next.
struct order {
    unsigned long long seed = 0, state = 0;
    std::vector<fiber *> ready, polled; // polled: who has looked for a word, and lets others run first
    std::vector<fiber *> lanes;         // of the warp that has just met, who run before ready where nothing is drawn: their stacks are in the cache
    size_t next = 0;                    // of ready, where nothing is drawn
    std::map<const void *, unsigned> ranks;

    unsigned draw() { // splitmix64
        unsigned long long x = state += 0x9e3779b97f4a7c15;
        x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9;
        x = (x ^ x >> 27) * 0x94d049bb133111eb;
        return (unsigned)((x ^ x >> 31) >> 32);
    }
    static bool later(const fiber *a, const fiber *b) { return a->priority < b->priority; }

    // rank is drawn for each wait, or kept for a while for a thread, a warp, a block or a device, so that one runs far ahead of others.
    unsigned rank(const fiber *f) {
        const void *whose[] = {nullptr, f, f->lanes, f->home, f->home->of};
        const void *who = whose[seed % 5];
        if (!who) return draw();
        auto r = ranks.find(who);
        if (r == ranks.end() || draw() % 256 == 0) r = ranks.insert_or_assign(who, draw()).first;
        return r->second;
    }
    void wake(fiber *f) {
        if (seed) f->priority = rank(f);
        ready.push_back(f);
        if (seed) std::push_heap(ready.begin(), ready.end(), later);
    }
    void wake_lane(fiber *f) {
        if (seed) wake(f);
        else lanes.push_back(f);
    }
    size_t runnable() const { return ready.size() - next + polled.size() + lanes.size(); }
    fiber *pick() {
        fiber *f;
        do f = pick_any();
        while (f && f->home->of->lost);
        return f;
    }
    // bring_closer starts to bring the stack of one that runs soon into the cache.
    static void bring_closer(const fiber *f) {
        if (!f->stack) return;
        for (int line = 0; line < 4; line++) __builtin_prefetch((const char *)f->top + 64 * line);
    }
    fiber *pick_any() {
        if (!lanes.empty()) {
            fiber *f = lanes.back();
            lanes.pop_back();
            return f;
        }
        if (seed ? ready.empty() || draw() % 512 == 0 : next == ready.size()) {
            if (!seed) ready.clear(), next = 0;
            for (fiber *f : polled) wake(f);
            polled.clear();
        }
        if (ready.size() == next) return nullptr;
        if (!seed) {
            if (next + 2 < ready.size()) bring_closer(ready[next + 2]);
            return ready[next++];
        }
        bool any = draw() % 16 == 0; // for nobody is to wait for ever
        if (any) std::swap(ready[draw() % ready.size()], ready.back());
        else std::pop_heap(ready.begin(), ready.end(), later);
        fiber *f = ready.back();
        ready.pop_back();
        if (any) std::make_heap(ready.begin(), ready.end(), later);
        return f;
    }
};

// crowd are the launches that run side by side.
struct crowd {
    std::vector<std::unique_ptr<launch>> parts;
    order next;
    unsigned long long idle = 0; // looks since a word has changed
    std::string failure;

    ~crowd() {
        for (auto &l : parts)
            for (auto &f : l->fibers)
                if (f.stack) keep_stack(f.stack);
    }
    void begin(bool backwards, unsigned long long seed);
    outcome run();
};

static crowd *together; // those that run
static void *caller;    // where who runs them goes on

// fail ends all launches that run.
[[noreturn]] static void fail(const char *format, ...) {
    char text[300];
    va_list list;
    va_start(list, format);
    vsnprintf(text, sizeof text, format, list);
    va_end(list);
    fprintf(stderr, "stand-in for libcuda: %s, block %u, thread %u: %s\n", running->home->of->k->name, running->block, running->thread, text);
    together->failure = text;
    void *nowhere;
    switch_fiber(&nowhere, caller);
    abort();
}

#include "races.h"

static void finish();

// live_on is the life of a stack: a thread, and those after it that have none yet.
static void live_on() {
    for (;;) {
        launch *l = running->home->of;
        l->k->run(l->args);
        checked.settle();
        finish();
        fiber *f = together->next.pick();
        if (f && !f->stack) {
            std::swap(f->stack, running->stack);
            running = f;
            continue;
        }
        keep_stack(running->stack);
        running->stack = nullptr;
        void *nowhere;
        running = f;
        switch_fiber(&nowhere, f ? f->top : caller);
    }
}

// sleep_here lets another fiber run until this one is woken.
static void sleep_here() {
    fiber *self = running, *f = together->next.pick();
    if (f == self) return;
    running = f;
    if (f && !f->stack) {
        f->stack = take_stack();
        f->top = begin_on(f->stack, STACK, live_on);
    }
    switch_fiber(&self->top, f ? f->top : caller);
}

void progress() { together->idle = 0; }

void yield() {
    checked.settle();
    const unsigned long long PATIENCE = 3000; // looks of everybody; a device that is told to stop has 1,024 until it looks
    crowd *c = together;
    c->next.polled.push_back(running);
    if (++c->idle <= PATIENCE * c->next.runnable()) return sleep_here();
    fiber *self = running;
    running = nullptr;
    switch_fiber(&self->top, caller);
}

static void open(gate *g) {
    checked.meet(g->who);
    for (fiber *f : g->who)
        if (f != running) together->next.wake(f);
    g->came = 0, g->who.clear();
    progress();
}
static void come(gate *g, unsigned wanted) {
    checked.settle();
    g->who.push_back(running);
    if (++g->came >= wanted) return open(g);
    sleep_here();
}
void block_gate(unsigned number, unsigned threads) {
    if (number >= GATES) fail("barrier %u", number);
    come(running->home->gates + number, number == 0 ? running->home->live : threads);
}
static unsigned cluster_live(const crowd_block *b) {
    launch *l = b->of;
    unsigned live = 0, from = b->index / l->cluster * l->cluster;
    for (unsigned i = from; i < from + l->cluster; i++) live += l->homes[i].live;
    return live;
}
void cluster_gate() {
    launch *l = running->home->of;
    come(&l->clusters[running->home->index / l->cluster], cluster_live(running->home));
}

static void open(warp *w) {
    if (checked.on && !strcmp(w->purpose, "warp_barrier")) checked.meet({w->who, w->who + w->came}); // others order nothing
    for (unsigned i = w->came; i-- > 0;)
        if (w->who[i] != running) together->next.wake_lane(w->who[i]);
    w->came = 0, w->side ^= 1, w->voted[w->side] = 0;
}
handed hand_in(const char *purpose, unsigned word) {
    checked.settle();
    warp *w = running->lanes;
    unsigned side = w->side;
    if (w->came > 0 && w->purpose != purpose && strcmp(w->purpose, purpose) != 0) fail("%s, where other lanes of the warp are at %s", purpose, w->purpose);
    w->purpose = purpose;
    unsigned lane = running->thread % 32;
    w->word[side][lane] = word;
    w->voted[side] |= (unsigned)(word != 0) << lane;
    w->who[w->came++] = running;
    if (w->came == w->live) open(w);
    else sleep_here();
    return handed{w->word[side], w->voted[side]};
}

// finish ends a thread: who waits for all does not wait for it.
static void finish() {
    crowd_block *b = running->home;
    warp *w = running->lanes;
    gate *g = &b->of->clusters[b->index / b->of->cluster];
    progress();
    if (--w->live > 0 && w->came == w->live) open(w);
    if (--b->live > 0 && b->gates[0].came >= b->live) open(b->gates);
    if (g->came > 0 && g->came >= cluster_live(b)) open(g);
}

void *shared_object(const void *place, size_t bytes) {
    crowd_block *b = running->home;
    for (auto &o : b->objects)
        if (o.first == place) return b->memory.get() + o.second;
    size_t at = (b->used + 15) / 16 * 16;
    if (at + bytes > OBJECTS) fail("variables of %zu bytes in shared memory", at + bytes);
    b->used = at + bytes;
    b->objects.push_back({place, at});
    memset(b->memory.get() + at, FRESH_BYTE, bytes);
    return b->memory.get() + at;
}

unsigned shared_address(const void *place) {
    auto at = (const unsigned char *)place - running->home->memory.get();
    if (at < 0 || at > (ptrdiff_t)(OBJECTS + running->home->of->bytes)) fail("an address that is none of the block's memory");
    return (unsigned)at;
}
unsigned shared_address_of(unsigned own, unsigned number) {
    if (number >= running->home->of->cluster) fail("block %u of a cluster of %u", number, running->home->of->cluster);
    return (number + 1) << 24 | own;
}
void *shared_place(unsigned address, size_t bytes) {
    unsigned number = address >> 24, at = address & 0xffffff;
    launch *l = running->home->of;
    crowd_block *b = number == 0 ? running->home : &l->homes[running->home->index / l->cluster * l->cluster + number - 1];
    if (at + bytes > OBJECTS + l->bytes) fail("an access beside the block's memory");
    return b->memory.get() + at;
}

void announces(unsigned long long word) {
    launch *l = running->home->of;
    if (control["lose_at"] == 0 || (long long)word != control["lose_at"] || l->device != control["lose_device"] || (together->parts.size() == 1 && !l->waits)) return;
    faults[l->device] = ILLEGAL_ADDRESS;
    l->lost = true;
    sleep_here(); // for ever
}

// begin gets the fibers ready.
void crowd::begin(bool backwards, unsigned long long seed) {
    next.seed = next.state = seed;
    std::vector<fiber *> all;
    for (auto &l : parts) {
        l->homes.resize(l->count);
        l->clusters.resize(l->count / l->cluster);
        l->fibers.resize((size_t)l->count * l->threads);
        for (unsigned i = 0; i < l->count; i++) {
            crowd_block &b = l->homes[i];
            b.of = l.get(), b.index = i, b.live = l->threads, b.used = 0;
            b.warps.resize((l->threads + 31) / 32);
            b.memory.reset(new unsigned char[OBJECTS + l->bytes + EDGE]);
            memset(b.memory.get() + OBJECTS, FRESH_BYTE, l->bytes + EDGE);
        }
        for (unsigned i = 0; i < l->count; i++) {
            crowd_block &b = l->homes[backwards ? l->count - 1 - i : i];
            for (unsigned t = 0; t < l->threads; t++) {
                fiber &f = l->fibers[(size_t)b.index * l->threads + t];
                f = {l->first + b.index, l->blocks, t, l->threads, b.memory.get() + OBJECTS, &b, &b.warps[t / 32], nullptr, nullptr, 0, 0};
                b.warps[t / 32].live++;
                next.wake(&f);
                if (kernel_list::all->checked) all.push_back(&f);
            }
        }
    }
    if (kernel_list::all->checked) checked.begin(all);
}

// run runs them until all have ended, or those that are left wait for a device that is lost.
outcome crowd::run() {
    checked.last.at = nullptr;
    together = this;
    idle = 0;
    running = next.pick();
    if (running) {
        if (!running->stack) {
            running->stack = take_stack();
            running->top = begin_on(running->stack, STACK, live_on);
        }
        switch_fiber(&caller, running->top);
    }
    bool lost = false, left = false;
    for (auto &l : parts) {
        lost = lost || l->lost;
        for (auto &b : l->homes) {
            left = left || (b.live > 0 && !l->lost);
            for (size_t i = 0; i < EDGE; i++)
                if (b.memory[OBJECTS + l->bytes + i] != FRESH_BYTE) failure = "a block wrote beside its shared memory";
        }
    }
    if (failure.empty() && !left) return ENDED;
    if (failure.empty() && (lost || (parts[0]->waits && next.runnable()))) return WAITING;
    if (failure.empty()) failure = next.runnable() ? "threads look for a word that nobody changes" : "threads wait for others that never come";
    fprintf(stderr, "stand-in for libcuda: %s: %s\n", parts[0]->k->name, failure.c_str());
    return FAILED;
}
