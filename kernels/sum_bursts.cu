#pragma once
#include "cluster_sums.cuh"
#include "late_rows.cuh"

// Many bursts in one launch for networks of lif whose rows are long and of one weight each, and whose one delay is several bursts: blocks sum
// rows of places in their shared memory, as those of cluster_bursts do, and do not meet, as those of late_bursts do. In the turn of burst t a
// block updates its neurons, sums the rows that are due in burst t + 1, draws for that burst, lists who fired in the burst before, and brings
// the ids of who is due in burst t + 2.

// DUE is how many ids of a burst a block's memory has at most.
const u32 DUE = 256;

// Of the first GUIDED drives a block has guides: how many thresholds draws with the same upper 8 bits have passed at least.
const u32 GUIDED = 8, GUIDE = 256;

// sum_turns is what such a launch needs beside run.
struct sum_turns {
    u32 apart;          // turns that blocks are apart at most: delays are 3 bursts more at least
    u32 updates, draws; // so many warps of a block update and draw
    u32 *told;          // counters of turns
    u32 *told_next;     // those of the next launch
};

// summing is what such a block has beside clustered and late_room.
struct summing {
    u32 at_due;   // ids, of two bursts by turns
    u32 count[2]; // and how many there are
    u32 at_guides;
};

// Each of the block's warps has one thing to do: a turn takes as long as the longest of these, not as all in a row. The first ones update,
// those behind them draw, and others sum rows; then one lists who fires, one brings ids, and three talk. active is how many of them update,
// draw or sum.
DEVICE u32 active() { return late_workers() / 32 - 2; }

// guided is how many drives have guides.
DEVICE u32 guided(const run *p) { return p->drive_count < GUIDED ? p->drive_count : GUIDED; }

// divide_sums gives everything its place.
DEVICE void divide_sums(const run *p, clustered *s, summing *y) {
    u32 used = 0, each = p->block_neurons;
    s->at_sums = reserve_room<i32>(&used, 2 * (p->packed.ports + SPARE));
    s->at_bits = reserve_room<u32>(&used, each / 32);
    s->at_list = reserve_room<u32>(&used, each / 32); // bits of odd bursts
    s->at_later = reserve_room<u32>(&used, late_workers());
    y->at_due = reserve_room<u32>(&used, 2 * DUE);
    y->at_guides = reserve_room<u16>(&used, guided(p) * GUIDE);
    s->at_spans = reserve_room<u16>(&used, each / 32);
    s->at_v = reserve_room<float>(&used, each);
    s->at_more = reserve_room<float>(&used, p->w.variables * each);
    s->at_refractory = reserve_room<u16>(&used, each);
    s->at_input = reserve_room<i32>(&used, p->drive_count > 0 ? 2 * each : 0);
    reserve_tables(p, s, &used);
    s->own = own(p);
    s->several = 0;
    s->x = *p->x;
}

// sums_in is where the block's sums of burst t are.
DEVICE u32 sums_in(const run *p, const clustered *s, u64 t) { return s->at_sums + (u32)(t & 1) * 4 * (p->packed.ports + SPARE); }

// length_in counts who fired in burst t.
DEVICE u32 *length_in(const clustered *s, u64 t) { return (u32 *)own_of(&s->x, t); }

// due_in is where ids of who is due in burst t are.
DEVICE u32 *due_in(const clustered *s, const summing *y, u64 t) { return room_at<u32>(s, y->at_due) + (u32)(t & 1) * DUE; }

// bring_due brings who is due in burst t, by a warp; count is how many they are.
DEVICE void bring_due(const run *p, u64 t, const clustered *s, summing *y, u32 count) {
    const u32 *ids = ids_of(&s->x, 0, 0, t - p->packed.delay);
    u32 *to = due_in(s, y, t);
    for (u32 i = lane(); i < count && count <= DUE; i += 32) to[i] = ids[i];
    if (lane() == 0) y->count[t & 1] = count;
}

// add_held is add_unit for what a warp's lanes have loaded, some of them: it leaves out words where no lane has a place.
DEVICE void add_held(const sums_at *to, const unit *u, i32 weight, bool some) {
#pragma unroll
    for (u32 j = 0; j < UNIT / 2; j++) {
        u32 two = some ? u->word[j] : ~0u, low = two & 0xffff, high = two >> 16;
        if (vote(two != ~0u) == 0) continue;
        add_shared(to->sums + 4 * (low < to->spare ? low : to->spare), weight);
        add_shared(to->sums + 4 * (high < to->spare ? high : to->spare), weight);
    }
}

// load_due loads a thread's units of its next rows, and steps by so many.
DEVICE void load_due(const share *mine, rows *r, units *to, u32 step) {
#pragma unroll
    for (u32 j = 0; j < ROWS; j++) {
        u32 row = r->at + mine->group + j * mine->step;
        r->next[j] = row < r->all ? piece_in(r, row) : 0;
    }
    load_units(mine, r, to);
    r->at += step;
}

// sum_due is step 1 for who is due in burst t, by so many warps. While some rows are added, the next ones' units are on their way.
DEVICE void sum_due(const run *p, u64 t, const clustered *s, const summing *y, u32 warp, u32 warps) {
    const places *m = &p->packed;
    share mine = share_of(m, 0);
    sums_at to = {address(room_at<u8>(s, sums_in(p, s, t))), address(room_at<u8>(s, s->at_values)), kept(m->ports + lane())};
    later put = {room_at<u32>(s, s->at_later) + warp * 32, 0, {}, false};
    u32 each = ROWS * mine.step, log = m->pieces_log, count = y->count[t & 1], all = count << log;
    const u32 *ids = count <= DUE ? due_in(s, y, t) : ids_of(&s->x, 0, 0, t - m->delay);
    rows r = {ids, all, 0, all, warp * each, {}, log};
    units next;
    if (r.at < all) load_due(&mine, &r, &next, warps * each);
#pragma unroll 1
    for (u32 at = warp * each; at < all; at += warps * each) {
        units some = next;
        if (r.at < all) load_due(&mine, &r, &next, warps * each);
#pragma unroll
        for (u32 j = 0; j < ROWS; j++) {
            bool is = some.at + j * mine.step < all;
            i32 weight = load_shared(to.values + 4 * label_in(&mine, &some, j));
            put_off(s, &to, m, &put, some.u + j, is && (some.u[j].word[0] & mine.begins & FULL) != 0);
            some.u[j].word[0] |= mine.begins;
            add_held(&to, some.u + j, weight, is);
        }
    }
#pragma unroll 1
    while (vote(put.count > 0 || put.asked) != 0) add_later(s, &to, m, &put);
}

// give_own adds those of some amounts that are for the block's neurons to their sums in burst t.
DEVICE void give_own(const run *p, u64 t, const clustered *s, const candidate *amounts, u64 count) {
    u32 begin = block_index() * p->block_neurons, sums = address(room_at<u8>(s, sums_in(p, s, t)));
#pragma unroll 1
    for (u64 k = anew(thread_in_block()); k < count; k += 32 * active()) {
        candidate one = amounts[k];
        if (one.port >= begin && one.port - begin < s->own) add_shared(sums + 4 * (one.port - begin), one.sum);
    }
}

// stimulate_own is the stimuli's part of step 2 of burst t for the block's neurons.
DEVICE void stimulate_own(const run *p, u64 t, const clustered *s) {
    if (t == p->first) give_own(p, t, s, p->given, p->given_count);
#pragma unroll 1
    for (u64 i = 0; i < p->stimulus_count; i++) {
        const scheduled *one = p->stimuli + i;
        if (acts(one, t)) give_own(p, t, s, p->amounts + one->first, one->count);
    }
}

// update_sums is steps 2 to 4 of burst t for the block's neurons, four a thread, by so many threads. Their sums become zero.
DEVICE void update_sums(const run *p, u64 t, const clustered *s, const late_room *m, u32 thread, u32 threads) {
    u32 quads = p->block_neurons / 4, count = s->own, *bits = bits_at(p, s, t), first = block_index() * p->block_neurons;
    network w = view<1 << LIF>(p, s, t);
    float scale = (float)w.scale, inverse = 1.0f / scale;
    four *sums = room_at<four>(s, sums_in(p, s, t));
    const four *drawn = (const four *)drawn_at(p, s, t);
    floats *vs = room_at<floats>(s, s->at_v);
    halves *refractories = room_at<halves>(s, s->at_refractory);
    const u16 *spans = room_at<u16>(s, s->at_spans);
#pragma unroll 1
    for (u32 q = thread; q / 32 * 32 < quads; q += threads) {
        u32 k = 4 * q, answers = 0;
        if (k < count) {
            four sum = sums[q];
            sums[q] = four{};
            if (p->drive_count > 0) {
                four one = drawn[q];
#pragma unroll
                for (u32 j = 0; j < FOUR; j++) sum.word[j] += one.word[j];
            }
            floats v = vs[q];
            halves refractory = refractories[q];
            u32 span = spans[k / 32];
            if (span != MIXED && span & SIMPLE && k + FOUR <= count) { // what the four have in common is loaded once
                const float *of = w.areas[span & ~SIMPLE].k;
                float leak = of[0], threshold = of[1], reset = of[2], term = m->common[t & 1][span & ~SIMPLE];
                u32 rest = (u16)of[3];
#pragma unroll
                for (u32 j = 0; j < FOUR; j++) { // lif, without a branch
                    u32 left = refractory.at[j];
                    float x = v.at[j] + (leak * v.at[j] + term) + quotient((float)(i32)sum.word[j], scale, inverse);
                    bool rests = left > 0, fires = !rests && x >= threshold;
                    v.at[j] = rests ? v.at[j] : fires ? reset : x;
                    refractory.at[j] = (u16)(rests ? left - 1 : fires ? rest : 0);
                    answers |= (u32)fires << j;
                }
            } else {
#pragma unroll
                for (u32 j = 0; j < FOUR; j++) {
                    if (k + j >= count) break;
                    u32 place = area_at(p, s, first + k + j, k) & ~SIMPLE;
                    const area *a = w.areas + place;
                    u32 i = first + k + j - a->first;
                    float term = a->differ || place >= COMMON ? term_of(&w, a, i) : m->common[t & 1][place];
                    answers |= (u32)lif(constants_of(&w, a, i), quotient((float)(i32)sum.word[j], scale, inverse), term, v.at + j, refractory.at + j) << j;
                }
            }
            vs[q] = v;
            refractories[q] = refractory;
        }
        store_nibbles(bits + q / 8, answers, q < quads);
    }
}

// list_fired lists who of the block's neurons fired in burst t, for all blocks and, ascending, for the host, by a warp.
DEVICE void list_fired(const run *p, u64 t, const clustered *s, late_room *m) {
    const u32 *bits = bits_at(p, s, t);
    u32 words = p->block_neurons / 32, each = (words + 31) / 32, from = lane() * each, until = from + each < words ? from + each : words, sum = 0;
#pragma unroll 1
    for (u32 w = from; w < until; w++) sum += ones(bits[w]);
    u32 before = sum_before(&m->total, sum);
    warp_barrier();
    u32 total = m->total, base = 0, *ids = for_host(p, t);
    if (lane() == 0 && total > 0) base = fetch_add(length_in(s, t), total);
    if (lane() == 0) report(p, t, total);
    u32 *queue = ids_of(&s->x, 0, 0, t) + shuffle_from(base, 0);
    bool listed = total <= host_room(p);
#pragma unroll 1
    for (u32 w = from; w < until; w++) {
        u32 rest = bits[w];
        if (!listed) ids[w] = rest;
#pragma unroll 1
        for (; rest != 0; rest &= rest - 1, before++) {
            u32 n = block_index() * p->block_neurons + 32 * w + ones((rest & -rest) - 1);
            queue[before] = n;
            if (listed) ids[before] = n;
        }
    }
}

// draw_sums is draw_late, with fewer instructions where neurons have one drive, which has a guide.
DEVICE void draw_sums(const run *p, u64 t, const clustered *s, const summing *y, u32 warp) {
    u32 k = 4 * (32 * warp + lane());
    if (k >= s->own) return;
    u32 span = room_at<u16>(s, s->at_spans)[k / 32];
    const area *a = room_at<area>(s, s->at_areas) + (span & ~SIMPLE);
    if (span == MIXED || a->drives != 1 || a->first_drive >= GUIDED) return draw_late(p, t, s, warp);
    const drive *d = room_at<drive>(s, s->at_drives) + a->first_drive;
    if (d->kind == INJECT || t < d->from || t >= d->until) return draw_late(p, t, s, warp);
    const u16 *guide = room_at<u16>(s, y->at_guides) + GUIDE * a->first_drive;
    const u32 *passed = room_at<u32>(s, s->at_counts) + (u32)d->counts;
    u32 entries = d->entries;
    words x = draw_for(d, p->w.seed, block_index() * p->block_neurons + k, t);
    u32 c[4];
    bool more;
#pragma unroll
    for (u32 j = 0; j < 4; j++) c[j] = guide[x.w[j] >> 24];
#pragma unroll 1
    do {
        more = false;
#pragma unroll
        for (u32 j = 0; j < 4; j++)
            if (c[j] < entries && passed[c[j]] <= x.w[j]) c[j]++, more = true;
    } while (more);
    four sum;
    const i32 *table = room_at<i32>(s, s->at_table) + (u32)d->table;
    i32 amount = d->amount;
    bool poisson = d->kind == POISSON;
#pragma unroll
    for (u32 j = 0; j < 4; j++) sum.word[j] = (u32)(poisson ? (i32)c[j] * amount : table[c[j]]);
    *(four *)(drawn_at(p, s, t) + k) = sum;
}

// sums_loop is the law of many bursts for these networks.
//
//	for t := first; t < first + bursts; t++ {
//		for n := range neurons { if b.fires(n) { queues[t] = append(queues[t], n) } }
//		deliver the rows of queues[t+1-delay] to the sums of burst t + 1, and its stimuli
//	}
//
// In turn 0 no neuron is updated, and blocks wait for each other. The last turn lists who fired in the last burst.
DEVICE void sums_loop(const run *p, const sum_turns *e, clustered *s, late_room *m, summing *y) {
    if (anew(thread_in_block()) / 32 == active() + 1) {
        for (u32 j = lane(); block_index() == 0 && j < e->apart; j += 32) *length_in(s, p->first + j) = 0;
        bring_due(p, p->first, s, y, *length_in(s, p->first - p->packed.delay));
        terms_late(p, p->first, s, m);
    }
    late_barrier();
    if (thread_in_block() == 0) store_block(&m->turns.done, 1);
#pragma unroll 1
    for (u32 number = 0; number <= (u32)p->bursts + 1; number++) {
        u64 t = p->first + anew(number) - 1;
        bool goes_on = number < (u32)p->bursts;
        if (p->wanted.count > 0 && number > 1) {
            bring_values(p, t - 1, room_at<float>(s, s->at_v), room_at<float>(s, s->at_more), p->block_neurons, true, late_workers());
            late_barrier();
        }
        u32 warp = anew(thread_in_block()) / 32, updates = e->updates, others = updates + anew(e->draws);
        if (warp < active() && goes_on) stimulate_own(p, t + 1, s);
        if (warp < updates) {
            if (number - 1 < (u32)p->bursts) update_sums(p, t, s, m, anew(thread_in_block()), 32 * updates);
        } else if (warp < others) {
#pragma unroll 1
            for (u32 w = warp - updates; goes_on && w < drawers(p); w += others - updates) draw_sums(p, t + 1, s, y, w);
        } else if (warp < active()) {
            if (goes_on) sum_due(p, t + 1, s, y, warp - others, active() - others);
        } else if (warp == active()) {
            if (number > 1) list_fired(p, t - 1, s, m);
        } else {
            u32 due = number + 1 < (u32)p->bursts ? read(length_in(s, t + 2 - p->packed.delay)) : 0;
            if (block_index() == 0 && lane() == 0) *length_in(s, t + e->apart) = 0;
            if (goes_on) terms_late(p, t + 1, s, m);
            if (number + 1 < (u32)p->bursts) bring_due(p, t + 2, s, y, due);
            if (lane() == 0) await_turns(&m->turns, number + 2 > e->apart + 1 ? number + 2 - e->apart : 1);
        }
        late_barrier();
        if (thread_in_block() == 0) store_block(&m->turns.done, number + 1);
    }
}

KERNEL_OF_1024 sum_bursts_lif(run args, sum_turns turns) {
    const run *p = &args;
    const sum_turns *e = &turns;
    SHARED(late_room, m);
    SHARED(clustered, s);
    SHARED(summing, y);
    if (thread_in_block() == 0) divide_sums(p, &s, &y);
    block_barrier();
    bring_state<1 << LIF>(p, &s);
    begin_tables(p, &s);
    for (u32 k = thread_in_block(); k < 2 * (p->packed.ports + SPARE); k += block_size()) room_at<i32>(&s, s.at_sums)[k] = 0;
    if (anew(block_index()) == 0 && thread_in_block() < TURNS) e->told_next[thread_in_block() * TURN_APART] = 0;
    if (thread_in_block() == 0) m.turns = turns_here{};
    block_barrier();
    for (u32 k = thread_in_block(); k < guided(p) * GUIDE; k += block_size()) {
        const drive *d = room_at<drive>(&s, s.at_drives) + k / GUIDE;
        room_at<u16>(&s, y.at_guides)[k] = d->kind == INJECT ? 0 : (u16)events(room_at<u32>(&s, s.at_counts) + d->counts, d->entries, k % GUIDE << 24);
    }
    block_barrier();
    u32 talker = anew(thread_in_block()) - late_workers();
    if (thread_in_block() < late_workers()) sums_loop(p, e, &s, &m, &y);
    else if (talker == 0) tell_turns(e->told, &m.turns, (u32)p->bursts + 2);
    else if (talker == 32) hear_turns(e->told, &m.turns, (u32)p->bursts);
    else if (talker == 64 && block_index() == block_count() - 1) tell_late(p, &m);
    block_barrier();
    end_resident<1 << LIF>(p, &s);
}
