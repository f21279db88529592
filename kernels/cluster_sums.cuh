// How blocks of clusters sum the rows of who fired: step 1 for rows of places (places.cuh).
#pragma once
#include "clusters.cuh"

// So many rows a thread takes at a time: it loads a unit of each before it adds the first one.
const u32 ROWS = 2;

// sums_at says where a thread adds: addresses in the block's memory of the sums and of the weights by label, and the place of a sum
// that nobody reads, one a lane: what has no place is added there, for to ask whether it has one costs more.
struct sums_at {
    u32 sums, values, spare;
};

// add_unit adds a unit's synapses to the block's sums.
DEVICE void add_unit(const clustered *s, const sums_at *to, const unit *u, i32 weight) {
#pragma unroll
    for (u32 j = 0; j < UNIT; j++) {
        u32 place = j % 2 == 0 ? u->word[j / 2] & 0xffff : u->word[j / 2] >> 16;
        add_shared(to->sums + 4 * (place < to->spare ? place : to->spare), weight);
    }
}

// later is what a warp has put off, so that all lanes load units of more at a time and go on while these are on their way: numbers, and
// the unit that a lane has asked for.
struct later {
    u32 *list, count;
    unit coming;
    bool asked;
};

// A warp puts off so many units at most: one a lane.
const u32 LATER = 32;

// note puts a number on the warp's list, unless it is none. All lanes of the warp must call it.
DEVICE void note(later *put, u32 number, u32 who) {
    if (number != NO_UNIT) put->list[put->count + ones(who & ((1u << lane()) - 1))] = number;
    put->count += ones(who);
}

// add_later adds the units that were on their way and asks for those on the list. All lanes of the warp must call it.
DEVICE void add_later(const clustered *s, const sums_at *to, const places *m, later *put) {
    u32 number = NO_UNIT;
    if (vote(put->asked) != 0) {
        unit u = put->coming;
        if (put->asked) {
            i32 weight = load_shared(to->values + 4 * label_of(&u));
            number = further(&u);
            add_unit(s, to, &u, weight);
        }
    }
    warp_barrier();
    put->asked = lane() < put->count;
    put->coming = load_unit(put->asked ? m->more : m->slot, put->asked ? put->list[lane()] : 0); // any: nobody waits for a choice
    warp_barrier();
    put->count = 0;
    note(put, number, vote(number != NO_UNIT));
}

// put_off notes where the synapses of a slot go on, whose first unit is *u, if they do. All lanes of the warp must call it.
DEVICE void put_off(const clustered *s, const sums_at *to, const places *m, later *put, unit *u, bool full) {
    u32 who = vote(full);
    if (who == 0) return;
#pragma unroll 1
    while (put->count + ones(who) > LATER) add_later(s, to, m, put);
    note(put, full ? further(u) : NO_UNIT, who);
}

// share is a thread's part of its warp's rows: of each that it looks at the part-th unit of one team's slot. It begins at the group-th
// row, and has every step-th.
struct share {
    const u16 *slot; // of row 0; that of row n lies n·stride units on
    u32 stride, part, group, step;
    u32 begins; // what word 0 of the unit is masked with: NOBODY for a slot's first one
};

// rows is how far a thread has come in the fire queue, in which the device's own neurons come before the others'. It counts pieces.
struct rows {
    const u32 *ids; // piece i is of neuron ids[i >> log], of the k-th device's, which end before piece end
    u32 end, k;
    u32 all;            // so many are known
    u32 at, next[ROWS]; // those that come next: of the thread's warp from the at-th on, and their numbers
    u32 log;            // a row has 2^log pieces
};

// piece_in is the number of piece i.
DEVICE u32 piece_in(const rows *r, u32 i) { return r->ids[i >> r->log] << r->log | (i & ((1u << r->log) - 1)); }

// load_rows loads the numbers of the thread's next rows; where there are none left, row 0 stands for them.
DEVICE void load_rows(u64 t, const clustered *s, const share *mine, rows *r) {
    u32 first = r->at + mine->group;
    if (r->at + ROWS * mine->step <= r->end) { // all are of one device
#pragma unroll
        for (u32 j = 0; j < ROWS; j++) r->next[j] = piece_in(r, first + j * mine->step);
        return;
    }
#pragma unroll
    for (u32 j = 0; j < ROWS; j++) {
        u32 row = first + j * mine->step;
        const clustered *all = (const clustered *)anew((u64)s); // looked at here alone
        while (row >= r->end && row < r->all && r->k + 1 < all->x.devices) {
            r->ids = ids_of(&all->x, all->x.self, device_at(all, ++r->k), t) - (r->end >> r->log);
            r->end += all->told[r->k] << r->log;
        }
        r->next[j] = row < r->all ? piece_in(r, row) : 0;
    }
}

// units are what a thread has loaded at a time: of as many rows, from the at-th on.
struct units {
    unit u[ROWS];
    u32 row[ROWS], at;
};

// load_units loads the thread's units of its next rows.
DEVICE void load_units(const share *mine, const rows *r, units *to) {
    to->at = r->at + mine->group;
#pragma unroll
    for (u32 j = 0; j < ROWS; j++) {
        to->row[j] = r->next[j];
        to->u[j] = load_unit(mine->slot, (u64)to->row[j] * mine->stride);
    }
}

// label_in is the label of the j-th row that load_units has loaded. All lanes of the warp must call it.
DEVICE u32 label_in(const share *mine, const units *from, u32 j) {
    return shuffle_first(label_of(from->u + j), 32 / mine->step);
}

// add_units adds what load_units has loaded, and puts off what slots do not hold.
DEVICE void add_units(const clustered *s, const places *m, const share *mine, const sums_at *to, const rows *r, units *from, later *put) {
#pragma unroll
    for (u32 j = 0; j < ROWS; j++) {
        bool some = from->at + j * mine->step < r->all;
        i32 weight = load_shared(to->values + 4 * label_in(mine, from, j));
        put_off(s, to, m, put, from->u + j, some && (from->u[j].word[0] & mine->begins & FULL) != 0);
        from->u[j].word[0] |= mine->begins;
        if (some) add_unit(s, to, from->u + j, weight);
    }
}

// hear_others waits for what the other devices tell of who is due in burst t, and says how many fired there. All lanes of the warp must call it.
DEVICE u32 hear_others(const run *p, u64 t, clustered *s) {
    u32 sum = 0;
    u64 begin = nanoseconds();
    u32 wanted = (u32)(anew(t) + 1 - p->first); // bursts
    bool lost = false;
    while (load_block(&s->heard) < wanted && !lost) lost = load_block(&s->lost) != 0;
    if (lost) store_block(&s->stopped, 1);
    if (thread_in_block() == 0) s->waited += nanoseconds() - begin;
    if (vote(lost)) return 0; // what is told may not be whole
    for (u32 k = 1; k < s->x.devices; k++) sum += s->told[k];
    return sum;
}

// share_of is the thread's share in a round.
DEVICE share share_of(const places *m, u32 round) {
    u32 thread = anew(thread_in_block()), units = 1u << m->units_log, part = thread & (units - 1), team = anew(block_index()) / m->size;
    if (round > 0) team += round * block_count();
    return share{m->slot + (team * units + part) * UNIT, kept(m->count * units), part, thread % 32 >> m->units_log, 32u >> m->units_log, part == 0 ? NOBODY : 0};
}

// sum_places is step 1 for the fire queue that is due in burst t, of which the warps of a cluster take a few neighbouring rows in turn, those of
// the device's own neurons first, in a round. While some are added, the next ones' units are not loaded: more loads at once take longer.
DEVICE void sum_places(const run *p, u64 t, clustered *s, u32 round) {
    const places *m = &p->packed;
    share mine = share_of(m, round);
    sums_at to = {address(room_at<u8>(s, s->at_sums)), address(room_at<u8>(s, s->at_values)), kept(m->ports + lane())};
    later put = {room_at<u32>(s, s->at_later) + anew(thread_in_block()) / 32 * 32, 0, {}, false};
    u32 warps = workers() / 32, warp = anew(block_index()) % m->size * warps + anew(thread_in_block()) / 32;
    u32 each = ROWS * mine.step, turns = warps * m->size * each; // rows of the warp, and of all warps, at a time
    u32 log = m->pieces_log;
    rows r = {ids_of(&s->x, s->x.self, s->x.self, t - m->delay), s->told[0] << log, 0, s->told[0] << log, warp * each, {}, log};
    bool heard_all = s->x.devices == 1, begun = false;
#pragma unroll 1
    do {
        units some;
        if (begun) {
            load_units(&mine, &r, &some);
            r.at += turns;
        }
        bool hears = !heard_all && r.at + each > r.all;
        if (hears) r.all += hear_others(p, t, s) << log;
        heard_all |= hears;
        load_rows(t - m->delay, s, &mine, &r);
        if (begun) add_units(s, m, &mine, &to, &r, &some, &put);
        begun = true;
    } while (r.at < r.all);
#pragma unroll 1
    while (vote(put.count > 0 || put.asked) != 0) add_later(s, &to, m, &put);
}
