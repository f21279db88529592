// What kernels of many bursts share whose blocks keep their neurons' state in shared memory for a whole launch: the block's memory,
// the update of its neurons, and the warp that tells the host.
#pragma once
#include "run.cuh"

// SIMPLE marks the place of an area whose neurons share all constants and terms; MIXED stands for 32 neurons that do not have
// the same area.
const u32 SIMPLE = 0x8000, MIXED = 0xffff;

// NO_MORE is for complete where the launch is to end early.
const u32 NO_MORE = ~0u;

// resident is what a block's threads share. Numbers named at_ are places in the block's memory, in bytes.
struct resident {
    // Flags of one word that a thread sets by store_block while others look by load_block. Here, at the beginning of the block's memory,
    // racecheck.awk of backend/cuda knows them.
    u32 complete;      // bursts, for the warp that tells the host
    u32 stored;        // clusters: bursts whose ids the block has stored, for talk
    u32 stopped;       // whether another device has failed
    u32 heard, lost;   // bursts of which talk has heard from all others; whether one has failed
    u32 group[GROUPS]; // how many fire in each group of words
    u32 total;         // how many fire
    u32 base;          // where the block's part of the queue begins
    u32 left;          // whether the block leaves rows in the queue
    u32 listed;        // rows that its warps have left to each other
    u32 more;          // whether any block has
    u32 met;           // how often all blocks have met
    u32 seen[2];       // how often blocks had left rows at even and odd meetings
    float common[COMMON]; // the areas' terms in this burst, where neurons do not differ
    u64 first_row;        // where the block's rows begin
    u32 own;              // neurons
    u32 special;          // feagi: whether an area is
    u32 several;          // whether four neurons that share draws may be of several areas
    u32 at_bits, at_list, at_rows, at_soon, at_spans, at_v, at_more, at_refractory, at_count, at_input;
    u32 at_areas, at_terms, at_drives, at_counts, at_table, at_values;
    u32 joined;        // how often blocks of the cluster have come, in all
    u32 leaving[2];    // gathered: how often blocks have come that left rows, at even and odd meetings
};

// room_at is the block's memory from a place on.
template <class T> DEVICE T *room_at(const resident *s, u32 at) {
    (void)s;
    return (T *)(dynamic_memory() + at);
}

// workers is how many of the block's threads compute.
DEVICE u32 workers() { return block_size() - 32; }

// reserve_room is the place of the next count entries, aligned to 16 bytes.
template <class T> DEVICE u32 reserve_room(u32 *used, u64 count) {
    u32 at = *used;
    *used += (u32)((count * sizeof(T) + 15) / 16 * 16);
    return at;
}

// reserve_tables gives the tables that begin_tables copies their places.
template <class T> DEVICE void reserve_tables(const run *p, T *s, u32 *used) {
    s->at_areas = reserve_room<area>(used, p->w.area_count);
    s->at_terms = reserve_room<term>(used, p->term_count);
    s->at_drives = reserve_room<drive>(used, p->drive_count);
    s->at_counts = reserve_room<u32>(used, p->count_entries);
    s->at_table = reserve_room<i32>(used, p->table_entries);
    s->at_values = reserve_room<i32>(used, p->value_count);
}

// divide gives everything its place. Every thread of a block does so alike, one after the other.
template <u32 models> DEVICE void divide(const run *p, resident *s) {
    u32 used = 0, own = p->block_neurons;
    s->at_bits = reserve_room<u32>(&used, own / 32);
    s->at_spans = reserve_room<u16>(&used, own / 32);
    s->at_list = reserve_room<u16>(&used, own);
    s->at_rows = reserve_room<u32>(&used, own + 1);
    s->at_soon = reserve_room<u32>(&used, p->soon != nullptr ? own : 0);
    s->at_v = reserve_room<float>(&used, own);
    s->at_more = reserve_room<float>(&used, p->w.variables * own);
    s->at_refractory = reserve_room<u16>(&used, own);
    s->at_count = reserve_room<u16>(&used, models & 1 << FEAGI ? own : 0);
    s->at_input = reserve_room<i32>(&used, p->drive_count > 0 ? 2 * own : 0);
    reserve_tables(p, s, &used);
    s->special = s->several = s->joined = s->leaving[0] = s->leaving[1] = 0;
}

// bring_own fills to, which has a place for each of the block's neurons, from a variable of all neurons, and return_own brings it back.
template <class T> DEVICE void bring_own(const run *p, T *to, const T *from) {
    u32 begin = block_index() * p->block_neurons, count = own(p);
    for (u32 k = thread_in_block(); k < count; k += block_size()) to[k] = from[neuron_of(p->w.own, begin + k)];
}
template <class T> DEVICE void return_own(const run *p, T *to, const T *from) {
    u32 begin = block_index() * p->block_neurons, count = own(p);
    for (u32 k = thread_in_block(); k < count; k += block_size()) to[neuron_of(p->w.own, begin + k)] = from[k];
}

// bring_state fills the block's memory, which is divided, with its neurons' state.
template <u32 models> DEVICE void bring_state(const run *p, const resident *s) {
    bring_own<float>(p, room_at<float>(s, s->at_v), p->w.v);
    for (u32 k = 0; k < p->w.variables; k++)
        bring_own<float>(p, room_at<float>(s, s->at_more) + k * p->block_neurons, p->w.more + k * p->w.pitch);
    bring_own<u16>(p, room_at<u16>(s, s->at_refractory), p->w.refractory);
    if (models & 1 << FEAGI) bring_own<u16>(p, room_at<u16>(s, s->at_count), p->w.count);
}

// begin_tables fills it with tables.
DEVICE void begin_tables(const run *p, resident *s) {
    u32 begin = block_index() * p->block_neurons, count = own(p);
    copy(room_at<area>(s, s->at_areas), p->w.areas, p->w.area_count);
    copy(room_at<term>(s, s->at_terms), p->w.terms, p->term_count);
    copy(room_at<drive>(s, s->at_drives), p->drives, p->drive_count);
    copy(room_at<u32>(s, s->at_counts), p->counts, p->count_entries);
    copy(room_at<i32>(s, s->at_table), p->table, p->table_entries);
    copy(room_at<i32>(s, s->at_values), p->all.values, p->value_count);
    u16 *spans = room_at<u16>(s, s->at_spans);
    for (u32 w = thread_in_block(); w * 32 < count; w += block_size()) {
        u32 low = neuron_of(p->w.own, begin + w * 32), high = neuron_of(p->w.own, begin + (w * 32 + 31 < count ? w * 32 + 31 : count - 1));
        const area *a = area_of(p->w.areas, p->w.area_count, low);
        u32 place = (u32)(a - p->w.areas);
        if (high >= a->end) s->several = 1;
        bool simple = a->each == NO_TABLE && !a->differ && place < COMMON;
        spans[w] = (u16)(high >= a->end ? MIXED : simple ? place | SIMPLE : place);
    }
    if (thread_in_block() == 0) s->left = s->listed = s->more = s->met = s->seen[0] = s->seen[1] = s->complete = 0;
}

// begin_resident fills all of it, with where rows begin too.
template <u32 models> DEVICE void begin_resident(const run *p, resident *s) {
    bring_state<models>(p, s);
    begin_tables(p, s);
    u64 begin = (u64)block_index() * p->block_neurons, count = own(p);
    u64 first_row = count > 0 ? p->row[begin] : 0;
    u32 *rows = room_at<u32>(s, s->at_rows);
    for (u64 k = thread_in_block(); count > 0 && k <= count; k += block_size()) rows[k] = (u32)(p->row[begin + k] - first_row);
    if (p->soon != nullptr) copy(room_at<u32>(s, s->at_soon), p->soon + begin, count);
    if (thread_in_block() == 0) s->first_row = first_row, s->own = (u32)count;
    if (models != 1 << FEAGI) return;
    for (u32 k = thread_in_block(); k < p->w.area_count; k += block_size())
        if (special(p->w.areas + k)) s->special = 1;
}

// end_resident brings the state to where it came from.
template <u32 models> DEVICE void end_resident(const run *p, const resident *s) {
    return_own<float>(p, p->w.v, room_at<float>(s, s->at_v));
    for (u32 k = 0; k < p->w.variables; k++)
        return_own<float>(p, p->w.more + k * p->w.pitch, room_at<float>(s, s->at_more) + k * p->block_neurons);
    return_own<u16>(p, p->w.refractory, room_at<u16>(s, s->at_refractory));
    if (models & 1 << FEAGI) return_own<u16>(p, p->w.count, room_at<u16>(s, s->at_count));
}

// bring_resident brings the host the wanted state variables of the block's neurons after burst t.
DEVICE void bring_resident(const run *p, u64 t, const resident *s) {
    bring_values(p, t, room_at<float>(s, s->at_v), room_at<float>(s, s->at_more), p->block_neurons, true, workers());
}

// view is the network with the block's memory in place of what it holds copies of; its state's places count from the
// block's first neuron.
template <u32 models> DEVICE network view(const run *p, const resident *s, u64 t) {
    network w = p->w;
    w.t = t;
    w.areas = room_at<area>(s, s->at_areas);
    w.terms = room_at<term>(s, s->at_terms);
    w.v = room_at<float>(s, s->at_v);
    w.more = room_at<float>(s, s->at_more);
    w.pitch = p->block_neurons;
    w.refractory = room_at<u16>(s, s->at_refractory);
    w.count = room_at<u16>(s, s->at_count);
    return w;
}

// area_at is the place of the area of the block's k-th neuron, which is neuron n, marked if all its word is of one simple area.
DEVICE u32 area_at(const run *p, const resident *s, u32 n, u32 k) {
    u32 span = room_at<u16>(s, s->at_spans)[k / 32];
    if (span != MIXED) return span;
    const area *areas = room_at<area>(s, s->at_areas);
    return (u32)(area_of(areas, p->w.area_count, n) - areas);
}

// turn_of is the thread's turn at work that is done while blocks wait for each other: the last warps begin, as the first ones have other
// things to do, and the very last one looks whether all have come.
DEVICE u32 turn_of() {
    u32 thread = anew(thread_in_block());
    return thread < workers() - 32 ? workers() - 64 - thread / 32 * 32 + thread % 32 : thread;
}

// drive_block is the drives' part of step 2 for burst t: what they add for each of the block's neurons, four a thread, of which they reach
// so many ports at most. Where the four are of several areas another thread has those that are not of the first one: one area's draws
// after the other's would keep the warp, and with it all blocks, for twice as long.
template <bool two> DEVICE void drive_block(const run *p, u64 t, const resident *s, u32 ports) {
    u32 begin = block_index() * p->block_neurons, count = own(p), fours = (count + 3) / 4, turns = s->several ? 2 * fours : fours;
#pragma unroll 1
    for (u32 turn = turn_of(); ports > 0 && turn < turns; turn += workers()) {
        u32 k = 4 * (turn < fours ? turn : turn - fours), from = k, end = k + 4 < count ? k + 4 : count, n = neuron_of(p->w.own, begin + k);
        const area *a = room_at<area>(s, s->at_areas) + (area_at(p, s, n, k) & ~SIMPLE);
        u32 next = a->end - n < end - k ? k + (a->end - n) : end;
        if (turn < fours) end = next;
        else from = next;
        i32 *first = room_at<i32>(s, s->at_input) + k, *second = first + p->block_neurons;
#pragma unroll
        for (u32 j = 0; j < 4; j++) {
            if (k + j < from || k + j >= end) continue;
            first[j] = 0;
            if (two && ports > 1) second[j] = 0;
        }
#pragma unroll 1
        while (from < end) { // one area's after the other's
            a = room_at<area>(s, s->at_areas) + (area_at(p, s, n + from - k, from) & ~SIMPLE);
            next = a->end - n < end - k ? k + (a->end - n) : end;
#pragma unroll 1
            for (u32 d = a->first_drive; d < a->first_drive + a->drives; d++) {
                i32 amounts[4];
                amounts_of(room_at<drive>(s, s->at_drives) + d, room_at<u32>(s, s->at_counts), room_at<i32>(s, s->at_table),
                           p->w.seed, n, t, amounts);
                u32 seconds = two ? room_at<drive>(s, s->at_drives)[anew(d)].seconds : 0;
#pragma unroll
                for (u32 j = 0; j < 4; j++)
                    if (k + j >= from && k + j < next) *(two && for_second(seconds, amounts[j]) ? second + j : first + j) += amounts[j];
            }
            from = next;
        }
    }
}

// stimulate_blocks is the stimuli of burst t.
DEVICE void stimulate_blocks(const run *p, u64 t) {
    give_scheduled(p, t, (u64)block_index() * workers() + anew(thread_in_block()), (u64)anew(block_count()) * workers());
}

// find_terms finds the areas' terms in burst t, which the second warp and those after it do.
DEVICE void find_terms(const run *p, u64 t, resident *s) {
    u32 thread = anew(thread_in_block()), k = thread >= 32 ? thread - 32 : thread + workers() - 32;
    const area *areas = room_at<area>(s, s->at_areas);
    if (k < p->w.area_count && k < COMMON && !areas[k].differ) {
        network w = p->w;
        w.terms = room_at<term>(s, s->at_terms);
        s->common[k] = term_at(&w, areas + k, 0, t);
    }
}

// reached is what a thread has loaded for a neuron before its turn comes.
struct reached {
    u32 place, port; // of its area, marked as area_at does, and its first port
    i32 first, second;
};

// updater is what a thread keeps while it goes from word to word of the block's neurons, which mostly are of the same area.
struct updater {
    network w;
    i32 *slot; // of the ring for this burst
    const area *areas;
    u32 begin; // the block's first neuron
    u32 at_spans;
    u32 ahead, shift; // the area whose neuron's sums have been loaded last, and from a neuron's place in the block to its port
    u32 place;        // feagi: the simple area that has been updated last
    const area *a;
    often o;
};

// load_sums loads what has reached the block's k-th neuron.
template <u32 models> DEVICE reached load_sums(const run *p, const resident *s, updater *u, u32 k) {
    u32 place = room_at<u16>(s, u->at_spans)[k / 32];
    if (place != u->ahead) {
        place = area_at(p, s, u->begin + k, k);
        u->ahead = place;
        const area *a = u->areas + (place & ~SIMPLE);
        u->shift = u->begin + a->first_port - a->first;
    }
    reached r = {place, k + u->shift, 0, 0};
    const area *a = u->areas + (place & ~SIMPLE);
    if (models == 1 << PSC_EXP || models == 1 << FEAGI || models == 1 << LIF || a->ports > 0) r.first = u->slot[r.port];
    if (models == 1 << PSC_EXP || (models & 1 << PSC_EXP && a->ports > 1)) r.second = u->slot[r.port + (a->end - a->first)];
    return r;
}

// update_simple is update for a neuron of a simple area.
template <u32 models> DEVICE bool update_simple(const network *w, const area *a, u32 i, u32 k, reached r, float term) {
    if (models == 1 << LIF) return lif(a->k, input(w, r.first), term, w->v + k, w->refractory + k);
    if (models == 1 << PSC_EXP)
        return psc_exp(a->k, input(w, r.first), input(w, r.second), term, w->v + k, w->more + k, w->more + w->pitch + k, w->refractory + k);
    return update<models>(w, a, i, k, r.first, r.second, term);
}

// fires_resident is the drives' part of step 2, and steps 3, 4 and 7, for the block's k-th neuron, whose sums it leaves in in.
template <u32 models, bool any_special> DEVICE bool fires_resident(const run *p, const resident *s, updater *u, u32 k, reached *in) {
    reached r = *in;
    u32 place = r.place & ~SIMPLE;
    const area *a = u->areas + place;
    const network *w = &u->w;
    if (r.first != 0) u->slot[r.port] = 0;
    if (models & 1 << PSC_EXP && r.second != 0) u->slot[r.port + (a->end - a->first)] = 0;
    if (p->drive_count > 0) {
        const i32 *input = room_at<i32>(s, s->at_input);
        r.first += input[k];
        r.second += input[p->block_neurons + k];
    }
    *in = r;
    if (models == 1 << FEAGI) {
        if (r.first == 0 && (!any_special || stays(a, w->refractory + k))) return false;
        if (r.place != u->place) {
            u->place = r.place & SIMPLE ? r.place : ~0u;
            u->a = a;
            u->o = often_of(a, constants_of(w, a, u->begin + k - a->first)[THRESHOLD]);
        }
        return feagi(u->a, u->o, input(w, any_special ? quanta_of(u->o, r.first) : r.first), w->seed, u->begin + k, w->t, w->v + k, w->refractory + k, w->count + k);
    }
    u32 i = u->begin + k - a->first;
    if (r.place & SIMPLE) return update_simple<models>(w, a, i, k, r, s->common[place]);
    return update<models>(w, a, i, k, r.first, r.second, a->differ || place >= COMMON ? term_of(w, a, i) : s->common[place]);
}

// update_words is update_resident where areas of feagi are special, or none is: to ask for each neuron took a thirtieth of a burst.
template <u32 models, bool any_special> DEVICE void update_words(const run *p, u64 t, resident *s) {
    u32 count = s->own, end = p->block_neurons, step = workers(), k = thread_in_block();
    u32 *bits = room_at<u32>(s, s->at_bits);
    updater u = {};
    u.w = view<models>(p, s, t);
    u.slot = p->ring + (t & p->slot_mask) * p->ports;
    u.areas = u.a = u.w.areas;
    u.begin = anew(block_index()) * end;
    u.at_spans = anew(s->at_spans);
    u.ahead = u.place = ~0u;
    reached one = {};
    if (k < count) one = load_sums<models>(p, s, &u, k);
#pragma unroll 1
    for (; k < end; k += step) {
        reached next = {};
        if (k + step < count) next = load_sums<models>(p, s, &u, k + step);
        store_bits(bits + k / 32, k < count && fires_resident<models, any_special>(p, s, &u, k, &one));
        if (lists(&p->list)) note(&p->list, t - p->first, end, k, one.first, one.second, further_ports{});
        one = next;
    }
}

// update_resident is steps 3 and 4 for the block's neurons, whose bits it leaves. The next neuron's sums are on their way
// while one is updated.
template <u32 models> DEVICE void update_resident(const run *p, u64 t, resident *s) {
    if (models == 1 << FEAGI && s->special) update_words<models, true>(p, t, s);
    else update_words<models, false>(p, t, s);
}

// count_groups finds how many fire before each group of words, and in all.
DEVICE void count_groups(const run *p, resident *s) {
    u32 words = p->block_neurons / 32, each = (words + GROUPS - 1) / GROUPS, g = anew(thread_in_block());
    if (g >= GROUPS) return;
    const u32 *bits = room_at<u32>(s, s->at_bits);
    u32 sum = 0;
#pragma unroll 1
    for (u32 w = g * each; w < (g + 1) * each && w < words; w++) sum += ones(bits[w]);
    s->group[g] = sum_before(&s->total, sum);
}

// list_block lists who fires, ascending, one thread a word.
DEVICE void list_block(const run *p, resident *s) {
    u32 words = p->block_neurons / 32, each = (words + GROUPS - 1) / GROUPS;
#pragma unroll 1
    for (u32 w = anew(thread_in_block()); w < words; w += workers()) {
        const u32 *bits = room_at<u32>(s, s->at_bits);
        u32 rest = bits[w];
        if (rest == 0) continue;
        u32 before = s->group[w / each];
#pragma unroll 1
        for (u32 v = w / each * each; v < w; v++) before += ones(bits[v]);
        u16 *list = room_at<u16>(s, s->at_list);
#pragma unroll 1
        for (; rest != 0; rest &= rest - 1) list[before++] = (u16)(32 * w + ones((rest & -rest) - 1));
    }
}

// tell tells the host that the launch's first bursts are complete, up to which one.
DEVICE void tell(const run *p, u32 complete) {
    u32 place = complete - 1;
    p->stamps[place] = nanoseconds();
    publish(p->done + place, p->first + complete);
}

// worker_barrier is block_barrier for the workers alone.
DEVICE void worker_barrier() { named_barrier<1>(workers()); }

// serve tells the host of one burst after the other, until all are complete or none will be any more, having told of some.
DEVICE void serve(const run *p, resident *s, u32 told) {
    while (told < p->bursts) {
        u32 complete = load_block(&s->complete);
        if (complete == NO_MORE) return;
        while (told < complete) tell(p, ++told);
    }
}
