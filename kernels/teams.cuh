// How blocks sum rows in their own shared memory, where rows are so long that additions in global memory are what a burst
// waits for. All ports are dealt to teams of blocks, a range each. A block sums, of the rows that are its share, the synapses
// of its team's ports, and brings the sums to where they are found by who updates the neurons. All delays are 1.
#pragma once
#include "network.cuh"

const u32 MOST_BLOCKS = 4; // of a team

struct teams {
    u32 count; // 0: blocks do not sum
    u32 size;  // blocks of a team: block b is number b div count of team b mod count; what is left has no team
    u32 ports; // of a team, a multiple of 4: team q has those from place q·ports on
    u32 room;  // bytes of a block's memory that its sums and the table of weights take
    u32 split; // 2^split devices share the ports: a team's are counted without those of the others
    u32 *cut;  // where row n's synapses of each team begin, at n·(count + 1), and then where the row ends
    i32 *sums; // those of all teams' i-th blocks lie from i·count·ports on, by place
};

// place_of counts a port among those of 2^split devices that are dealt out as neurons are.
DEVICE u32 place_of(u32 split, u32 port) { return port / SLICE >> split << 6 | port % SLICE; }
static_assert(SLICE == 1 << 6, "");

// So many threads share a row. Each loads four synapses at a time, the first of them from where a sector of 32 bytes begins:
// how many sectors leave the second cache is what summing waits for.
const u32 ROW_THREADS = 4, SECTOR = 8;

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
    u32 from, until; // synapses
};

DEVICE stretch stretch_of(const teams *m, u32 team, u32 n) {
    const u32 *cut = m->cut + (u64)n * (m->count + 1) + team;
    return stretch{cut[0], cut[1]};
}

// turn is what a thread has loaded of a stretch: four words, and where the stretch has the first of them. Those that it has not
// are of other teams.
struct turn {
    four word, weight;
    u32 at, length;
};

// next_turn loads a turn of a stretch, whose threads begin at word *next; a thread that has none loads another's.
template <bool table> DEVICE turn next_turn(const synapses *all, stretch r, u32 *next) {
    u32 k = *next + thread_in_block() % ROW_THREADS * FOUR, at = k < r.until ? k : *next;
    turn t = {load_four(all->target + at), {}, k - r.from, r.until - r.from};
    if (!table) t.weight = load_four((const u32 *)all->weight + at);
    *next += ROW_THREADS * FOUR;
    return t;
}

// adder is what a thread needs to sum stretches.
struct adder {
    u32 zero, spare; // addresses: of the sum of place 0, were it there, and of the lane's word that nobody reads
    const i32 *weights;
    u32 port_bits, port_mask, split;
};

DEVICE adder adder_of(const teams *m, const synapses *all, u32 team, u8 *room) {
    u32 sums = address(room);
    return adder{kept(sums - 4 * team * m->ports), kept(sums + 4 * (m->ports + lane())), weights_in(m, room), kept(all->port_bits), kept(all->port_mask), m->split};
}

// add_turn adds what a turn has loaded; table says whether weights are few, alone whether ports are not split. Words of other
// teams go where nobody reads them.
template <bool table, bool alone> DEVICE void add_turn(const adder *a, const turn *t) {
    u32 to[FOUR];
    i32 v[FOUR];
#pragma unroll
    for (u32 j = 0; j < FOUR; j++) { // all weights before the first addition
        u32 w = t->word.word[j], port = w & a->port_mask;
        to[j] = t->at + j < t->length ? a->zero + 4 * (alone ? port : place_of(a->split, port)) : a->spare;
        v[j] = table ? a->weights[w >> a->port_bits] : (i32)t->weight.word[j];
    }
#pragma unroll
    for (u32 j = 0; j < FOUR; j++) add_shared(to[j], v[j]);
}

// bring_sums brings a block's sums to global memory and sets them to zero, all threads of the block together.
DEVICE void bring_sums(const teams *m, u8 *room) {
    u32 team = block_index() % m->count, number = block_index() / m->count;
    if (number >= m->size) return;
    four *from = (four *)room, *to = (four *)(m->sums + ((u64)number * m->count + team) * m->ports);
    for (u32 k = anew(thread_in_block()); k < m->ports / FOUR; k += block_size()) {
        to[k] = from[k];
        from[k] = four{};
    }
}

// sum_at is what all blocks of the team have summed for a port.
DEVICE i32 sum_at(const teams *m, u32 port) {
    i32 part[MOST_BLOCKS], sum = 0;
    port = place_of(m->split, port);
#pragma unroll
    for (u32 i = 0; i < MOST_BLOCKS; i++) part[i] = i < m->size ? m->sums[(u64)i * m->count * m->ports + port] : 0;
#pragma unroll
    for (u32 i = 0; i < MOST_BLOCKS; i++) sum += part[i];
    return sum;
}
