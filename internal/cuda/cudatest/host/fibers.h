// A kernel's threads as fibers of one processor: what a thread knows of itself, and how it waits for others. crowd.h has the rest.
#pragma once
#include <cstddef>
#include <cstdint>

struct crowd_block;
struct warp;

struct fiber {
    unsigned block, blocks, thread, threads; // as CUDA numbers them
    unsigned char *room;                     // the memory that the launch has asked for
    crowd_block *home;
    warp *lanes;
    void *stack, *top; // top: where it goes on; stack is null before it has begun
    unsigned priority; // of some schedules
    unsigned number;   // among all that run
};

// running is who runs.
extern fiber *running;

// hurried says that the clock runs fast: somebody waits for the end of a launch that waits for the host.
extern bool hurried;

// yield lets others run: who waits for a word of memory calls it before each look at it. progress says that a word may have changed.
void yield();
void progress();

// block_gate holds the fiber until so many of its block's threads have come to the gate of that number, 0 standing for all that have not
// ended; cluster_gate until all of its cluster's blocks have.
void block_gate(unsigned number, unsigned threads);
void cluster_gate();

// hand_in holds the fiber until all lanes of its warp have handed a word in for the same purpose, and gives all words. voted is a bit
// for each that is not 0.
struct handed {
    const unsigned *word;
    unsigned voted;
};
handed hand_in(const char *purpose, unsigned word);

// shared_object is the block's own variable of a place in the text.
void *shared_object(const void *place, size_t bytes);

// Addresses of shared memory, as a cluster counts them.
unsigned shared_address(const void *place);
unsigned shared_address_of(unsigned own, unsigned number); // in the cluster's block of that number
void *shared_place(unsigned address, size_t bytes);

// announces says that the device publishes a word for the host.
void announces(unsigned long long word);

// Where races are looked for, primitives tell what they do with memory: whom it reaches, whether the thread releases what it has seen or
// acquires what others have, and whether what was there is added to. Strong accesses do not race with each other.
enum scope { BLOCK_WIDE, CLUSTER, DEVICE_WIDE, SYSTEM, SCOPES };
#ifdef RACES
void strong_access(const void *p, size_t bytes, bool writes);
void stored(const void *p, scope reach, bool releases, bool adds);
void loaded(const void *p, scope reach, bool acquires);
void fenced(scope reach);
#define UNSEEN __attribute__((no_sanitize("thread")))
#else
static inline void strong_access(const void *, size_t, bool) {}
static inline void stored(const void *, scope, bool, bool) {}
static inline void loaded(const void *, scope, bool) {}
static inline void fenced(scope) {}
#define UNSEEN
#endif
