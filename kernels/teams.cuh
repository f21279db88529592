// How blocks sum rows in their own shared memory, where rows are so long that additions in global memory are what a burst
// waits for. All ports are dealt to teams of blocks, a range each. A block sums, of the rows that are its share, the synapses
// of its team's ports, and brings the sums to where they are found by who updates the neurons. All delays are 1.
#pragma once
#include "network.cuh"

struct teams {
    u32 count; // 0: blocks do not sum
    u32 size;  // blocks of a team: block b is number b div count of team b mod count; what is left has no team
    u32 ports; // of a team, a multiple of 4: team q has those from q·ports on
    u32 room;  // bytes of a block's memory that its sums and the table of weights take
    u16 *cut;  // where row n's synapses of each team begin, at n·(count + 1), and then its length
    i32 *sums; // those of all teams' i-th blocks lie from i·count·ports on, by port
};

// So many threads share a row; each loads four synapses at a time, and so many times before it adds the first one.
const u32 ROW_THREADS = 4, FOUR = 4, AHEAD = 2;

// four are the words of four synapses.
struct alignas(16) four {
    u32 word[FOUR];
};

#ifdef BURST_ON_HOST
DEVICE four load_four(const u32 *p) { return *(const four *)p; }
DEVICE void add_at(i32 *sums, u32 at, i32 v) { sums[at / 4] += v; }
DEVICE u32 address(const void *) { return 0; }
DEVICE u32 kept(u32 v) { return v; }
#else
DEVICE four load_four(const u32 *p) {
    four f;
    asm("ld.global.nc.v4.u32 {%0, %1, %2, %3}, [%4];" : "=r"(f.word[0]), "=r"(f.word[1]), "=r"(f.word[2]), "=r"(f.word[3]) : "l"(p));
    return f;
}
// add_at is += for the word of shared memory at an address.
DEVICE void add_at(i32 *, u32 at, i32 v) { asm volatile("red.relaxed.cta.shared.add.s32 [%0], %1;" ::"r"(at), "r"(v) : "memory"); }
DEVICE u32 address(const void *room) {
    u64 at;
    asm("cvta.to.shared.u64 %0, %1;" : "=l"(at) : "l"(room));
    return (u32)at;
}
// kept is v in a register, for a loop in which compilers would work it out again and again.
DEVICE u32 kept(u32 v) {
    asm volatile("" : "+r"(v));
    return v;
}
#endif

// A block's memory begins with its sums; then come words that nobody reads, one a lane, and the table of weights.
const u32 SPARE = 32;
DEVICE i32 *weights_in(const teams *m, u8 *room) { return (i32 *)room + m->ports + SPARE; }

// begin_sums sets a block's sums to zero and copies the table of weights, all threads of the block together.
DEVICE void begin_sums(const teams *m, const synapses *all, u32 value_count, u8 *room) {
    i32 *sums = (i32 *)room, *weights = weights_in(m, room);
    for (u32 k = thread_in_block(); k < m->ports; k += block_size()) sums[k] = 0;
    for (u32 k = thread_in_block(); k < value_count; k += block_size()) weights[k] = all->values[k];
}

// stretch is a team's part of a row, as loaded: nothing waits for it before it is used.
struct stretch {
    u64 row;
    u32 from, until; // synapses of the row
};

DEVICE stretch stretch_of(const teams *m, const u64 *row, u32 team, u32 n) {
    const u16 *cut = m->cut + (u64)n * (m->count + 1) + team;
    return stretch{row[n], cut[0], cut[1]};
}

// adder is what a thread needs to sum stretches.
struct adder {
    i32 *sums;
    u32 zero, spare; // addresses: of the sum of port 0, were it there, and of the lane's word that nobody reads
    const i32 *weights;
    u32 port_bits, port_mask;
};

DEVICE adder adder_of(const teams *m, const synapses *all, u32 team, u8 *room) {
    u32 sums = address(room);
    return adder{(i32 *)room, kept(sums - 4 * team * m->ports), kept(sums + 4 * (m->ports + lane())), weights_in(m, room), kept(all->port_bits), kept(all->port_mask)};
}

// sum_stretch sums a stretch, by ROW_THREADS threads; table says whether weights are few. Words around it are of other
// teams: theirs go where nobody reads them.
template <bool table> DEVICE void sum_stretch(const synapses *all, stretch r, const adder *a) {
    u32 skip = (u32)r.row % FOUR, from = skip + r.from, until = skip + r.until; // counted from an address that is a multiple of 16
    const u32 *words = all->target + (r.row - skip), *weights = (const u32 *)all->weight + (r.row - skip);
    for (u32 k = from / FOUR * FOUR + thread_in_block() % ROW_THREADS * FOUR; k < until; k += AHEAD * ROW_THREADS * FOUR) {
        four word[AHEAD], weight[AHEAD];
#pragma unroll
        for (u32 i = 0; i < AHEAD; i++) {
            u32 at = k + i * ROW_THREADS * FOUR;
            at = at < until ? at : k; // no load is left out, so that none waits for another
            word[i] = load_four(words + at);
            if (!table) weight[i] = load_four(weights + at);
        }
        u32 to[AHEAD * FOUR];
        i32 v[AHEAD * FOUR];
#pragma unroll
        for (u32 i = 0; i < AHEAD * FOUR; i++) { // all weights before the first addition
            u32 at = k + i / FOUR * ROW_THREADS * FOUR + i % FOUR, w = word[i / FOUR].word[i % FOUR];
            to[i] = at - from < until - from ? a->zero + 4 * (w & a->port_mask) : a->spare;
            v[i] = table ? a->weights[w >> a->port_bits] : (i32)weight[i / FOUR].word[i % FOUR];
        }
#pragma unroll
        for (u32 i = 0; i < AHEAD * FOUR; i++) add_at(a->sums, to[i], v[i]);
    }
}

// bring_sums brings a block's sums to global memory and sets them to zero, all threads of the block together.
DEVICE void bring_sums(const teams *m, u8 *room) {
    u32 team = block_index() % m->count, number = block_index() / m->count;
    if (number >= m->size) return;
    four *from = (four *)room, *to = (four *)(m->sums + ((u64)number * m->count + team) * m->ports);
    for (u32 k = thread_in_block(); k < m->ports / FOUR; k += block_size()) {
        to[k] = from[k];
        from[k] = four{};
    }
}

// sum_at is what all blocks of the team have summed for a port.
DEVICE i32 sum_at(const teams *m, u32 port) {
    i32 sum = 0;
    for (u32 i = 0; i < m->size; i++) sum += m->sums[(u64)i * m->count * m->ports + port];
    return sum;
}
