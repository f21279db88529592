// How blocks of clusters sum the rows of who fired: step 1 for rows of places (places.cuh).
#pragma once
#include "clusters.cuh"

#ifdef BURST_CLUSTERS
// So many units a thread loads before it adds the first one.
const u32 UNITS = 2;

// add_unit adds a unit's synapses to the block's sums, and what has no place to words that nobody reads, from place spare on: one a
// lane, for to ask whether it has one costs more.
DEVICE void add_unit(const clustered *s, u32 sums, u32 spare, const unit *u, i32 weight) {
#pragma unroll
    for (u32 j = 0; j < UNIT; j++) {
        u32 place = j % 2 == 0 ? u->word[j / 2] & 0xffff : u->word[j / 2] >> 16;
        add_shared(s, sums, place < spare ? place : spare, weight);
    }
}

// add_more adds what begins in a unit of more.
DEVICE void add_more(const clustered *s, u32 sums, u32 spare, const places *m, u32 number, i32 weight) {
#pragma unroll 1
    while (number != NO_UNIT) {
        unit u = load_unit(m->more, number);
        number = further(&u, true);
        add_unit(s, sums, spare, &u, weight);
    }
}

// cursor is how far a thread has come in the fire queue, in which the device's own neurons come before the others'.
struct cursor {
    const u32 *ids; // row i is ids[i], of the k-th device's, which end before row end
    u32 end, k;
};

// load_rows loads the neurons of the next units that a thread loads, whose rows begin at i, a step apart.
DEVICE void load_rows(const run *p, u64 t, const clustered *s, cursor *c, u32 i, u32 end, u32 step, u32 *rows) {
    u32 more_log = p->packed.more_log;
    bool same = i + ((UNITS - 1) >> more_log) * step < c->end; // all are of one device
#pragma unroll
    for (u32 j = 0; j < UNITS; j++) {
        u32 row = i + (j >> more_log) * step;
        if (!same && row < end)
            while (row >= c->end && c->k + 1 < s->x.devices) {
                c->ids = ids_of(&s->x, s->x.self, device_at(s, ++c->k), t) - c->end;
                c->end += s->told[c->k];
            }
        rows[j] = j & ((1u << more_log) - 1) ? rows[j - 1] : row < end ? c->ids[row] : 0;
    }
}

// label_in is the label of the row whose slot begins with *u in the first of the 2^share_log lanes that share it, in which part is
// 0. All lanes of the warp must call it; first is the number of that unit.
DEVICE u32 label_in(const places *m, const unit *u, u32 part, u32 first) {
#ifdef BURST_ON_HOST
    unit begin = part == 0 ? *u : load_unit(m->slot, first);
    return label_of(&begin);
#else
    (void)m, (void)first;
    return shuffle(label_of(u), lane() - part);
#endif
}

// share is a thread's part of its warp's rows: of each that it looks at, the units of the slot of one team from the part-th on,
// 2^share_log apart.
struct share {
    u32 team, part, group, step; // it begins at the group-th row, and has every step-th
    u32 end;                     // of all rows
};

// units are what a thread has loaded at a time: of as many rows or, where a row has more units than threads share a slot, of one.
struct units {
    unit u[UNITS];
    u32 slot[UNITS]; // the number of the slot's first unit
};

// load_units loads a thread's units of rows from i on.
DEVICE void load_units(const places *m, const share *mine, const u32 *rows, u32 i, units *to) {
#pragma unroll
    for (u32 j = 0; j < UNITS; j++) {
        u32 own = mine->part + ((j & ((1u << m->more_log) - 1)) << m->share_log);
        bool some = i + (j >> m->more_log) * mine->step < mine->end && own < m->units;
        to->slot[j] = (rows[j] * m->count + mine->team) * m->units;
        to->u[j] = unit{{~0u, ~0u, ~0u, ~0u}};
        if (some) to->u[j] = load_unit(m->slot, to->slot[j] + own);
    }
}

// pending is where synapses that a slot does not hold go on, and their weight.
struct pending {
    u32 number;
    i32 weight;
};

// add_units adds what load_units has loaded. Synapses that go on elsewhere wait until the next ones come, or for the end, where all
// threads wait for theirs together.
DEVICE void add_units(const run *p, const clustered *s, const share *mine, u32 sums, u32 spare, u32 i, units *from, pending *last) {
    const places *m = &p->packed;
    pending on[UNITS] = {};
#pragma unroll
    for (u32 j = 0; j < UNITS; j++) {
        on[j].number = NO_UNIT;
        if (j > 0) on[j].weight = on[j - 1].weight;
        if ((j & ((1u << m->more_log) - 1)) == 0) {
            u32 label = label_in(m, from->u + j, mine->part, from->slot[j]);
            on[j].weight = i + (j >> m->more_log) * mine->step < mine->end ? room_at<i32>(s, s->at_values)[label] : 0;
            on[j].number = further(from->u + j, mine->part == 0);
        }
        add_unit(s, sums, spare, from->u + j, on[j].weight);
    }
#pragma unroll 1
    while ((on[0].number & on[1].number) != NO_UNIT) {
        add_more(s, sums, spare, m, last->number, last->weight);
        if (on[0].number != NO_UNIT) {
            *last = on[0];
            on[0].number = NO_UNIT;
        } else {
            *last = on[1];
            on[1].number = NO_UNIT;
        }
    }
}
static_assert(UNITS == 2, "");

// hear_others waits for what the other devices tell of burst t, and says how many fired there. All lanes of the warp must call it.
DEVICE u32 hear_others(u64 t, clustered *s) {
    u32 sum = 0;
#ifdef BURST_ON_HOST
    for (u32 k = 1; k < s->x.devices; k++) {
        if (!heard(&s->x, device_at(s, k), t, block_count(), s->told + k)) s->stopped = 1;
        if (block_index() == 0) forget(&s->x, device_at(s, k), t);
    }
#else
    u64 begin = nanoseconds();
    u32 own = lane() + 1, count;
    if (own < s->x.devices && hear(&s->x, device_at(s, own), t, block_count(), &count)) s->told[own] = count;
    else if (own < s->x.devices) s->stopped = 1;
    warp_barrier();
    if (thread_in_block() == 0) s->waited += nanoseconds() - begin;
    if (vote(s->stopped != 0)) return 0; // what is told may not be whole
#endif
    for (u32 k = 1; k < s->x.devices; k++) sum += s->told[k];
    return sum;
}

// sum_places is step 1 for the fire queue of burst t − 1, of which the warps of a cluster take a few neighbouring rows in turn, those of
// the device's own neurons first. While some are added, the next ones' units are not loaded: more loads at once take longer.
DEVICE void sum_places(const run *p, u64 t, clustered *s) {
    const places *m = &p->packed;
    u32 number = anew(block_index()), thread = anew(thread_in_block()), sums = shared_address(s, s->at_sums), spare = kept(m->ports + lane());
    share mine = {number / m->size, thread & ((1u << m->share_log) - 1), thread % 32 >> m->share_log, 32u >> m->share_log, s->told[0]};
    u32 each = (UNITS >> m->more_log) * mine.step, all = workers() / 32 * m->size * each, next[UNITS];
    cursor at = {ids_of(&s->x, s->x.self, s->x.self, t - 1), mine.end, 0};
    pending last = {NO_UNIT, 0};
    bool heard_all = s->x.devices == 1, begun = false;
    u32 ahead = (number % m->size * (workers() / 32) + thread / 32) * each, i = ahead;
#pragma unroll 1
    for (; i < mine.end || !heard_all; i = ahead, ahead += all, begun = true) {
        units some;
        if (begun) load_units(m, &mine, next, i + mine.group, &some);
        if (!heard_all && ahead + each > mine.end) {
            mine.end += hear_others(t - 1, s);
            heard_all = true;
        }
        load_rows(p, t - 1, s, &at, ahead + mine.group, mine.end, mine.step, next);
        if (begun) add_units(p, s, &mine, sums, spare, i + mine.group, &some, &last);
    }
    add_more(s, sums, spare, m, last.number, last.weight);
}
#endif
