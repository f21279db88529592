// What burst.cuh and device.cuh have for a device, for a host whose fibers are the threads. Atomics need be none where one processor runs
// all. Who looks at a word for which it may wait yields first.
#pragma once
#include "fibers.h"

#define BURST_ONE_UNIT // that has the models of genomes, candidates and clusters
#define BURST_CLUSTERS
#define KERNEL static void
#define KERNEL_OF_1024 static void
#define KERNEL_OF_768 static void
#define KERNEL_OF_544 static void
#define DEVICE static inline
#define CALLED static inline
#define PRIMITIVE UNSEEN static inline
#define SHARED(type, name)   \
    static char name##_here; \
    type &name = *(type *)shared_object(&name##_here, sizeof(type))

PRIMITIVE u32 block_index() { return running->block; }
PRIMITIVE u32 block_count() { return running->blocks; }
PRIMITIVE u32 block_size() { return running->threads; }
PRIMITIVE u32 thread_in_block() { return running->thread; }
PRIMITIVE u8 *dynamic_memory() { return running->room; }

PRIMITIVE u32 ones(u32 w) { return __builtin_popcount(w); }
PRIMITIVE u32 high_product(u32 a, u32 b) { return (u32)((u64)a * b >> 32); }
PRIMITIVE float product_sum(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
PRIMITIVE u32 anew(u32 v) { return v; }
PRIMITIVE u64 anew(u64 v) { return v; }
PRIMITIVE u32 kept(u32 v) { return v; }
PRIMITIVE void bring_closer(const void *) {}
PRIMITIVE void pause() { yield(); }
PRIMITIVE u64 nanoseconds() {
    static u64 now = 1000000;
    return now += hurried ? 1ull << 50 : 1000;
}

PRIMITIVE void block_barrier() { block_gate(0, 0); }
template <u32 number> PRIMITIVE void named_barrier(u32 threads) { block_gate(number, threads); }
PRIMITIVE void cluster_barrier() { cluster_gate(); }
PRIMITIVE void warp_barrier() { hand_in("warp_barrier", 0); }
PRIMITIVE u32 vote(bool b) { return hand_in("vote", b).voted; }
PRIMITIVE u32 shuffle_xor(u32 v, u32 by) { return hand_in("shuffle_xor", v).word[running->thread % 32 ^ by]; }
PRIMITIVE u32 shuffle_up(u32 v, u32 by) {
    u32 lane = running->thread % 32;
    return hand_in("shuffle_up", v).word[lane < by ? lane : lane - by];
}
PRIMITIVE u32 shuffle_from(u32 v, u32 lane) { return hand_in("shuffle_from", v).word[lane % 32]; }
PRIMITIVE u32 shuffle_first(u32 v, u32 count) { return hand_in("shuffle_first", v).word[running->thread % 32 & ~(count - 1)]; }

// look waits for a word that another thread changes; change and grow change one.
template <class T> PRIMITIVE T look(const T *p, scope reach, bool acquires) {
    yield();
    strong_access(p, sizeof *p, false);
    loaded(p, reach, acquires);
    return *(const volatile T *)p;
}
template <class T> PRIMITIVE void change(T *p, T v, scope reach, bool releases) {
    strong_access(p, sizeof *p, true);
    stored(p, reach, releases, false);
    *(volatile T *)p = v;
    progress();
}
template <class T> PRIMITIVE T grow(T *p, T v, scope reach, bool releases) {
    T old = *p;
    strong_access(p, sizeof *p, true);
    stored(p, reach, releases, true);
    *(volatile T *)p = old + v;
    progress();
    return old;
}
PRIMITIVE void arrive(u32 *p) { grow(p, 1u, DEVICE_WIDE, true); }
PRIMITIVE void arrive(u64 *p, u64 v) { grow(p, v, DEVICE_WIDE, true); }
PRIMITIVE u32 arrivals(const u32 *p) { return look(p, DEVICE_WIDE, false); }
PRIMITIVE u64 arrivals(const u64 *p) { return look(p, DEVICE_WIDE, false); }
PRIMITIVE void acquire() { fenced(DEVICE_WIDE); }
PRIMITIVE void fence_system() { fenced(SYSTEM); }
PRIMITIVE void fence_both() { fenced(SYSTEM); }
PRIMITIVE void fence_cluster() { fenced(CLUSTER); }
PRIMITIVE void store_block(u32 *p, u32 v) { change(p, v, BLOCK_WIDE, true); }
PRIMITIVE u32 load_block(const u32 *p) { return look(p, BLOCK_WIDE, true); }
PRIMITIVE u64 load_system(const u64 *p) { return look(p, SYSTEM, false); }
PRIMITIVE void store_system(u64 *p, u64 v) {
    change(p, v, SYSTEM, false);
    announces(v >> 56); // where launches that go on have a burst's place
}
PRIMITIVE u32 acquire_word(const u32 *p) { return look(p, DEVICE_WIDE, true); }
PRIMITIVE u64 acquire_word(const u64 *p) { return look(p, DEVICE_WIDE, true); }
PRIMITIVE void publish(u64 *p, u64 v) {
    change(p, v, SYSTEM, true);
    announces(v);
}

// tally adds to a word for which nobody waits.
template <class T> PRIMITIVE T tally(T *p, T v) {
    T old = *p;
    strong_access(p, sizeof *p, true);
    *p = old + v;
    return old;
}
PRIMITIVE void add(i32 *p, i32 v) { tally(p, v); }
PRIMITIVE void add(u64 *p, u64 v) { tally(p, v); }
PRIMITIVE void accumulate(i32 *p, i32 v) { tally(p, v); }
PRIMITIVE u32 fetch_add(u32 *p, u32 v) { return tally(p, v); }
PRIMITIVE void greatest(u32 *p, u32 v) {
    strong_access(p, sizeof *p, true);
    if (v > *p) *p = v;
}
PRIMITIVE u64 replace(u64 *p, u64 old, u64 v) {
    u64 was = *p;
    strong_access(p, sizeof *p, true);
    if (was == old) *p = v;
    return was;
}

const u32 FOUR = 4;
struct alignas(16) four {
    u32 word[FOUR];
};
DEVICE four load_four(const u32 *p) { return *(const four *)p; }
DEVICE four load_streamed(const four *p) { return *p; }
DEVICE four load_together(const i32 *p) { return *(const four *)p; }

DEVICE u32 address(const void *place) { return shared_address(place); }
DEVICE void add_shared(u32 at, i32 v) { tally((i32 *)shared_place(at, 4), v); }
DEVICE i32 load_shared(u32 at) { return *(const i32 *)shared_place(at, 4); }
DEVICE u32 read_shared(u32 at) { return *(const u32 *)shared_place(at, 4); }
DEVICE void store_shared(u32 at, u32 v) { *(u32 *)shared_place(at, 4) = v; }
DEVICE u32 remote_address(u32 own, u32 number) { return shared_address_of(own, number); }
DEVICE four load_cluster(u32 at) { return *(const four *)shared_place(at, sizeof(four)); }
PRIMITIVE void join_cluster(u32 at) { grow((u32 *)shared_place(at, 4), 1u, CLUSTER, false); }
PRIMITIVE void send(u32 at, u64 v) { change((u64 *)shared_place(at, 8), v, CLUSTER, false); }
PRIMITIVE u64 received(u32 own) { return look((const u64 *)shared_place(own, 8), CLUSTER, false); }
PRIMITIVE u32 joined(u32 own) { return look((const u32 *)shared_place(own, 4), CLUSTER, true); }

// custom_update and the like run what stands in the place of the remark of that name.
u32 custom_update(u32 program, u32 r, float first, float second, const i32 *sums, float scale, float *v, float *more, u64 pitch,
                  const float *k, const float *each, u32 i, u32 count, u32 number, u64 seed, u64 t);
u32 rule_program(u32 program, float *state, float *in, const float *params);
void post_program(u32 pair, float *weight, float seen, const float *params, float *more);
void pre_program(u32 pair, float *weight, float heard, const float *params, float *more);
void handler_program(u32 program, float *weight, float *state, float *list, const float *params, u32 age_pre, u32 age_post, u32 pre, u32 post,
                     const float *seen, const float *variables, u32 sources, const float *heard, const float *notes, const void *pre_tables,
                     const void *post_tables);
