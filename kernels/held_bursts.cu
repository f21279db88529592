#pragma once
#include "event_bursts.cu"

// Many bursts in one launch for neurons of lif_event that all have one delay. A block holds the state and the sums of its neurons, so that
// additions do not leave its multiprocessor. Of each row a block has a stretch, whose place is known. Only who fires passes between blocks,
// which are two bursts apart at most.

// held_lists is what held_bursts needs beside event_lists.
struct held_lists {
    u32 *cut;      // cut[n·(blocks + 1) + b]: where block b's synapses begin in the row of neuron n, among those of all rows
    u32 width_log; // so many lanes have a row's stretch on its way, two synapses each
    u32 areas;     // of neurons with inputs
};

// HELD is how many stretches a thread has on their way, HELD_ROWS how many rows a block knows of ahead, NEAR_HELD the entries of tables of decay at hand, HELD_AREAS how many areas of neurons with inputs there are at most.
const u32 HELD = 4, HELD_ROWS = 320, NEAR_HELD = 128, HELD_AREAS = 8;

// AT_A_TIME is how many neurons of 32 a lane lists at a time, HELD_FOUND how many a warp may have listed and not updated.
const u32 AT_A_TIME = 3, HELD_FOUND = 32 + 32 * AT_A_TIME;

// AWAY is how many bursts before they are due stretches are at hand, and how many bursts blocks are apart.
const u32 AWAY = 2;

// stretch_due is a block's stretch of a row.
struct stretch_due {
    u32 first, count; // synapses; of looked_up count is the end
};

// held_span is what the block's ports of an area of lif_event have in common. SPAN_UNTIL and the following are its fields, in bytes.
struct held_span {
    u32 until;      // of the block's ports, those before which they lie
    u32 shift;      // from the place of a port to that of its neuron in the block
    u32 first;      // the area's first neuron
    u32 near;       // where the table of decay begins among those at hand
    u32 oldest;     // the last entry of all
    u32 program;    // where it begins among all constants
    u32 constants;  // of a neuron, where they have constants of their own, else 0
    u32 silence;
    float threshold, reset;
    u64 each;       // where constants of their own begin
};
const u32 SPAN_UNTIL = 0, SPAN_SHIFT = 4, SPAN_FIRST = 8, SPAN_NEAR = 12, SPAN_OLDEST = 16, SPAN_PROGRAM = 20, SPAN_CONSTANTS = 24, SPAN_SILENCE = 28, SPAN_THRESHOLD = 32,
          SPAN_RESET = 36;

// held_block is what a block needs beside struct block.
struct held_block : event_block {
    u32 due_rows[2];     // how many rows are due in burst t, at t mod 2
    u32 longest[2];      // and the longest stretch of those that are known
    u32 port, places;    // the block's first port, and how many it has
    u32 areas, sources;  // how many of these, and whether some of the block's neurons have no ports
    u32 at_sums, at_touched; // touched: a bit for each port that got an input
    u32 at_list, at_due, at_counts;
    float scale, inverse;
    held_span spans[HELD_AREAS];
};

// port_from is the first port of the block of a number, or of those after it.
DEVICE u32 port_from(const run *p, const area *areas, u32 number) {
    u64 n = (u64)number * p->block_neurons;
    if (n >= p->neurons) n = p->neurons;
    const area *a = area_of(areas, p->w.area_count, (u32)n);
    if (a == areas + p->w.area_count) a--, n = a->end;
    return a->first_port + (a->ports == 0 ? 0 : (u32)n - a->first);
}

// cut_held finds where each block's stretch of each row begins, one thread a row and block, and where the row ends.
KERNEL cut_held(run p, held_lists h, u32 blocks) {
    u64 all = (u64)p.neurons * (blocks + 1);
    for (u64 i = thread_index(); i < all; i += thread_count()) {
        u64 n = i / (blocks + 1), low = p.row[n], high = p.row[n + 1];
        u32 b = (u32)(i % (blocks + 1)), port = port_from(&p, p.w.areas, b);
        if (b == blocks) low = high;
        while (low < high) {
            u64 middle = low + (high - low) / 2;
            if (port_of(&p.all, p.all.target[middle]) < port) low = middle + 1;
            else high = middle;
        }
        h.cut[i] = (u32)low;
    }
}

// The last three warps compute nothing: one tells who fires, one looks stretches up, and that of the last block tells the host.
DEVICE u32 held_players() { return block_size() - 96; }

// lay_out_held divides what of the block's memory others have left. One thread does.
DEVICE void lay_out_held(const run *p, const event_lists *e, const held_lists *h, held_block *m) {
    u8 *room = dynamic_memory() + e->room;
    m->at_bits[0] = 0; // where others have bits
    m->at_bits[1] = (u32)((u8 *)take<u32>(&room, p->block_neurons / 32) - dynamic_memory());
    m->at_near = (u32)((u8 *)take<float>(&room, NEAR_HELD * h->areas) - dynamic_memory());
    m->at_values = (u32)((u8 *)take<i32>(&room, p->value_count) - dynamic_memory());
    m->at_cells = (u32)((u8 *)take<cell>(&room, p->block_neurons) - dynamic_memory());
    m->at_sums = (u32)((u8 *)take<i32>(&room, p->block_neurons) - dynamic_memory());
    m->at_touched = (u32)((u8 *)take<u32>(&room, p->block_neurons / 32) - dynamic_memory());
    m->at_due = (u32)((u8 *)take<u32>(&room, 2 * HELD_ROWS) - dynamic_memory());
    m->at_counts = (u32)((u8 *)take<u16>(&room, 2 * HELD_ROWS) - dynamic_memory());
    m->at_list = (u32)((u8 *)take<u16>(&room, HELD_FOUND * (held_players() / 32)) - dynamic_memory());
    m->port = port_from(p, p->w.areas, block_index());
    m->places = port_from(p, p->w.areas, block_index() + 1) - m->port;
    m->fired[0] = m->fired[1] = 0;
    m->turns = turns_here{};
    m->scale = (float)p->w.scale, m->inverse = 1.0f / m->scale;
    held_span *x = m->spans;
    for (u32 place = 0; place < p->w.area_count; place++) {
        const area *a = p->w.areas + place;
        u32 size = a->end - a->first, ahead = m->port - a->first_port; // may be below 0
        i32 until = (i32)(size - ahead);
        if (a->ports == 0 || until <= 0 || (i32)ahead + (i32)m->places <= 0) continue;
        u32 oldest = a->refractory - 1;
        *x = held_span{(u32)until, a->first + ahead - block_index() * p->block_neurons, a->first, (u32)(x - m->spans) * NEAR_HELD, oldest < 65535 ? oldest : 65535,
                       a->program, a->each == NO_TABLE ? 0 : a->own, (u32)a->k[2], a->k[0], a->k[1], a->each};
        x++;
    }
    m->areas = (u32)(x - m->spans);
    m->sources = m->places < own(p);
}

// near_held fills the tables of decay and of weights.
DEVICE void near_held(const run *p, const held_block *m) {
    copy(in_room<i32>(m->at_values), p->all.values, p->value_count);
    for (u32 i = 0; i < m->areas; i++) {
        u32 entries = m->spans[i].oldest + 1;
        copy(in_room<float>(m->at_near) + m->spans[i].near, p->w.constants + m->spans[i].program, entries < NEAR_HELD ? entries : NEAR_HELD);
    }
}

// stretch_at is the block's stretch of the i-th row of a queue at a place.
DEVICE stretch_due stretch_at(const event_lists *e, const held_lists *h, u32 place, u32 i) {
    const u32 *cut = h->cut + (u64)e->queues[(u64)place * e->all + i] * (block_count() + 1) + block_index();
    return stretch_due{cut[0], cut[1] - cut[0]};
}

// looked_up are the block's stretches of the first HELD_ROWS rows that are due in a burst, which a warp has on their way.
struct looked_up {
    stretch_due due[HELD_ROWS / 32];
    u32 rows; // of all
};

// look_up loads those of a burst, whose queue has a place and so many rows.
DEVICE void look_up(const event_lists *e, const held_lists *h, u32 place, u32 rows, looked_up *l) {
    u32 n[HELD_ROWS / 32];
    const u32 *queue = e->queues + (u64)place * e->all;
    l->rows = rows;
#pragma unroll
    for (u32 j = 0; j < HELD_ROWS / 32; j++) n[j] = 32 * j + lane() < rows ? queue[32 * j + lane()] : 0;
#pragma unroll
    for (u32 j = 0; j < HELD_ROWS / 32; j++) {
        l->due[j] = stretch_due{};
        if (32 * j + lane() >= rows) continue;
        const u32 *cut = h->cut + (u64)n[j] * (block_count() + 1) + block_index();
        l->due[j] = stretch_due{cut[0], cut[1]};
    }
}

// keep_stretches brings them to where players find those of burst t.
DEVICE void keep_stretches(held_block *m, u64 t, const looked_up *l) {
    u32 longest = 0, *due = in_room<u32>(m->at_due) + t % 2 * HELD_ROWS;
    u16 *counts = in_room<u16>(m->at_counts) + t % 2 * HELD_ROWS;
#pragma unroll
    for (u32 j = 0; j < HELD_ROWS / 32; j++) {
        u32 count = l->due[j].count - l->due[j].first;
        due[32 * j + lane()] = l->due[j].first;
        counts[32 * j + lane()] = (u16)(count < 65535 ? count : 65535);
        if (count > longest) longest = count;
    }
#pragma unroll
    for (u32 by = 16; by > 0; by /= 2) {
        u32 other = shuffle_xor(longest, by);
        if (other > longest) longest = other;
    }
    if (lane() == 0) m->due_rows[t % 2] = l->rows, m->longest[t % 2] = longest;
}

// on_its_way are synapses that a thread has loaded: two of each of HELD stretches. No synapse has the word NO_SYNAPSE.
const u32 NO_SYNAPSE = ~0u;
struct on_its_way {
    u32 word[2][HELD];
};

// share_of_rows is how a block's players share stretches: a thread has every step-th from the first on, and of these the synapses k, k + width
// and so on.
struct share_of_rows {
    u32 first, step, k, width;
};
DEVICE share_of_rows rows_of_thread(const held_lists *h) {
    u32 width = 1u << h->width_log, groups = 32 >> h->width_log;
    return share_of_rows{anew(thread_in_block()) / 32 * groups + (lane() >> h->width_log), held_players() / 32 * groups, lane() & (width - 1), width};
}

// load_synapses loads what is due in burst t of rows from ≤ i < until, of HELD for each group of lanes.
DEVICE void load_synapses(const run *p, const share_of_rows *o, const held_block *m, u64 t, u32 from, u32 until, on_its_way *w) {
    const u32 *due = in_room<u32>(m->at_due) + t % 2 * HELD_ROWS;
    const u16 *counts = in_room<u16>(m->at_counts) + t % 2 * HELD_ROWS;
#pragma unroll
    for (u32 j = 0; j < HELD; j++) {
        u32 i = from + o->first + j * o->step;
        w->word[0][j] = w->word[1][j] = NO_SYNAPSE;
        if (i >= until) continue;
        u32 first = due[i], count = counts[i];
        if (o->k < count) w->word[0][j] = p->all.target[first + o->k];
        if (o->k + o->width < count) w->word[1][j] = p->all.target[first + o->k + o->width];
    }
}

// input_places is where inputs of the block's ports go, and the table of weights lies.
struct input_places {
    u32 sums, touched, values; // addresses
    u32 port, port_bits, port_mask;
};
DEVICE input_places inputs_of(const run *p, const held_block *m) {
    return input_places{address(in_room<i32>(m->at_sums)), address(in_room<u32>(m->at_touched)), address(in_room<i32>(m->at_values)), m->port, p->all.port_bits,
                        p->all.port_mask};
}

// add_input adds an amount to the block's k-th port.
DEVICE void add_input(const input_places *o, u32 k, i32 amount) {
    add_shared(o->sums + 4 * k, amount);
    or_shared(o->touched + k / 32 * 4, 1u << k % 32);
}

// add_synapse adds that of a word.
DEVICE void add_synapse(const input_places *o, u32 word) { add_input(o, (word & o->port_mask) - o->port, load_shared(o->values + 4 * (word >> o->port_bits))); }

// known_rows is how many of the rows that are due in burst t the block knows.
DEVICE u32 known_rows(const held_block *m, u64 t) { return m->due_rows[t % 2] < HELD_ROWS ? m->due_rows[t % 2] : HELD_ROWS; }

// add_on_way adds what is there.
DEVICE void add_on_way(const input_places *o, const on_its_way *w) {
#pragma unroll
    for (u32 i = 0; i < 2; i++)
#pragma unroll
        for (u32 j = 0; j < HELD; j++)
            if (w->word[i][j] != NO_SYNAPSE) add_synapse(o, w->word[i][j]);
}

// add_rest adds what is due in burst t beside, whose queue has a place: further rows, and what is left of longer stretches.
DEVICE void add_rest(const run *p, const event_lists *e, const held_lists *h, const share_of_rows *o, const input_places *to, const held_block *m, u64 t, u32 place) {
#pragma unroll 1
    for (u32 i = o->first; i < m->due_rows[t % 2]; i += o->step) {
        stretch_due one = stretch_at(e, h, place, i);
#pragma unroll 1
        for (u32 k = o->k + (i < HELD_ROWS ? 2 * o->width : 0); k < one.count; k += o->width) add_synapse(to, p->all.target[one.first + k]);
    }
}

// add_amounts adds stimuli.
DEVICE void add_amounts(const input_places *o, const held_block *m, const candidate *amounts, u64 count) {
#pragma unroll 1
    for (u64 i = thread_in_block(); i < count; i += held_players()) {
        candidate one = amounts[i];
        if (one.port - o->port < m->places) add_input(o, one.port - o->port, one.sum);
    }
}

// deliver_held is steps 1 and 2 of burst t, of which the first synapses are on their way; the queue that is due has a place.
DEVICE void deliver_held(const run *p, const event_lists *e, const held_lists *h, held_block *m, u64 t, u32 place, on_its_way *w) {
    share_of_rows o = rows_of_thread(h);
    input_places to = inputs_of(p, m);
    u32 known = known_rows(m, t);
#pragma unroll 1
    for (u32 next = HELD * o.step; next < known; next += HELD * o.step) {
        on_its_way more;
        load_synapses(p, &o, m, t, next, known, &more);
        add_on_way(&to, w);
        *w = more;
    }
    add_on_way(&to, w);
    if (m->longest[t % 2] > 2 * o.width || m->due_rows[t % 2] > HELD_ROWS) add_rest(p, e, h, &o, &to, m, t, place);
    if (t == p->first && p->given_count > 0) add_amounts(&to, m, p->given, p->given_count);
#pragma unroll 1
    for (u64 i = 0; i < p->stimulus_count; i++)
        if (acts(p->stimuli + i, t)) add_amounts(&to, m, p->amounts + p->stimuli[i].first, p->stimuli[i].count);
}

DEVICE float float_at(u32 address) { return __builtin_bit_cast(float, load_shared(address)); }

// held_update is what a lane has in registers for updates: where things lie, and of the span of the neuron before.
struct held_update {
    u32 spans, near; // addresses
    i32 *sums;
    cell *cells;
    float scale, inverse;
    u32 span; // an address
    u32 from, until, shift, table, oldest, constants, silence;
    float threshold, reset;
};

// find_span makes the span of the block's k-th port the lane's.
DEVICE void find_span(held_update *h, u32 k) {
    h->span = h->spans;
    h->until = 0;
    for (;; h->span += (u32)sizeof(held_span)) {
        h->from = h->until;
        h->until = (u32)load_shared(h->span + SPAN_UNTIL);
        if (k < h->until) break;
    }
    h->shift = (u32)load_shared(h->span + SPAN_SHIFT), h->table = h->near + 4 * (u32)load_shared(h->span + SPAN_NEAR);
    h->oldest = (u32)load_shared(h->span + SPAN_OLDEST), h->constants = (u32)load_shared(h->span + SPAN_CONSTANTS);
    h->silence = (u32)load_shared(h->span + SPAN_SILENCE), h->threshold = float_at(h->span + SPAN_THRESHOLD), h->reset = float_at(h->span + SPAN_RESET);
}

// update_place is steps 3 and 4 for the block's k-th port, whose neuron is of lif_event.
DEVICE void update_place(const run *p, held_block *m, held_update *h, u32 *bits, u32 t, u32 k) {
    i32 sum = h->sums[k];
    if (sum == 0) return; // inputs have added up to that
    h->sums[k] = 0;       // 7
    if (k < h->from || k >= h->until) find_span(h, k);
    u32 own = k + h->shift;
    cell c = h->cells[own];
    i32 age = (i32)(t - c.last);
    if (age <= 0) return; // 4a
    u32 since = (u32)age < h->oldest ? (u32)age : h->oldest; // 4b
    float factor = since < NEAR_HELD ? float_at(h->table + 4 * since) : p->w.constants[(u32)load_shared(h->span + SPAN_PROGRAM) + since];
    float threshold = h->threshold, reset = h->reset;
    u32 silence = h->silence;
    if (h->constants > 0) {
        u64 each = m->spans[(h->span - h->spans) / (u32)sizeof(held_span)].each;
        const float *of = p->w.constants + each + (u64)h->constants * (own + block_index() * p->block_neurons - (u32)load_shared(h->span + SPAN_FIRST));
        threshold = of[0], reset = of[1], silence = (u32)of[2];
    }
    float v = c.v * factor + quotient((float)sum, h->scale, h->inverse); // 4c
    bool fires = v >= threshold;                                         // 4d
    h->cells[own] = cell{fires ? reset : v, t + (fires ? silence : 0)};
    if (fires) note_fired(m, bits, t, own);
}

// update_sources is step 4 for the block's neurons without ports.
DEVICE void update_sources(const run *p, const block *s, held_block *m, u32 *bits, u64 t) {
    u32 begin = block_index() * p->block_neurons, end = begin + own(p);
#pragma unroll 1
    for (u32 place = s->from; begin < end && place < p->w.area_count && s->w.areas[place].first < end; place++) {
        const area *a = s->w.areas + place;
        if (a->ports > 0 || asleep(a, t)) continue;
        u32 low = a->first > begin ? a->first - begin : 0, high = (a->end < end ? a->end : end) - begin;
#pragma unroll 1
        for (u32 k = low + held_players() - 1 - thread_in_block(); k < high; k += held_players()) {
            inputs in = {};
            if (fires<1 << POISSON_SOURCE | 1 << SPIKE_LIST, false>(p, s, &s->w, nullptr, place, begin + k, begin + k, &in)) note_fired(m, bits, t, k);
        }
    }
}

// update_held is steps 3 and 4 of burst t. A lane has 32 ports at a time; a warp lists those that got an input, and updates 32 of them together.
DEVICE void update_held(const run *p, const block *s, held_block *m, u64 t) {
    u32 *bits = bits_of(m, t), *touched = in_room<u32>(m->at_touched), listed = 0, warp = anew(thread_in_block()) / 32, warps = held_players() / 32;
    u32 words = (m->places + 31) / 32, each = (words + warps - 1) / warps, below = (1u << lane()) - 1;
    if (each > 32) each = 32;
    u16 *list = in_room<u16>(m->at_list) + warp * HELD_FOUND;
    held_update o = {address(m->spans), address(in_room<float>(m->at_near)), in_room<i32>(m->at_sums), in_room<cell>(m->at_cells), m->scale, m->inverse};
#pragma unroll 1
    for (u32 first = warp * each; first < words; first += warps * each) {
        u32 w = first + lane(), rest = 0;
        if (lane() < each && w < words) rest = touched[w];
        if (rest != 0) touched[w] = 0;
#pragma unroll 1
        for (;;) {
            u32 some = ones(rest) < AT_A_TIME ? ones(rest) : AT_A_TIME, one = vote(some & 1), two = vote(some & 2), all = ones(one) + 2 * ones(two);
            u32 at = listed + ones(one & below) + 2 * ones(two & below);
            if (all == 0) break;
#pragma unroll
            for (u32 j = 0; j < AT_A_TIME; j++) {
                if (rest == 0) continue;
                list[at++] = (u16)(32 * w + ones((rest & -rest) - 1));
                rest &= rest - 1;
            }
            listed += all;
            warp_barrier();
#pragma unroll 1
            for (; listed >= 32; listed -= 32) update_place(p, m, &o, bits, (u32)t, list[listed - 32 + lane()]);
            warp_barrier();
        }
    }
    if (lane() < listed) update_place(p, m, &o, bits, (u32)t, list[lane()]);
    warp_barrier();
    if (m->sources) update_sources(p, s, m, bits, t);
}

// tell_held brings who fired in burst t to where others look for it, by a warp.
DEVICE void tell_held(const run *p, const event_lists *e, block *s, held_block *m, u64 t, u32 place) {
    bring_fired(p, e, t, place, s, m);
    warp_barrier();
    if (lane() == 0) tell_turn(p->arrived, (u32)(t - p->first));
}

// await_held waits until all blocks have told of the n-th burst of the launch, by a warp.
DEVICE void await_held(const run *p, held_block *m, u32 n) {
    if (lane() == 0) {
        while (!finished(p->arrived, n)) {}
        store_block(&m->turns.complete, n + 1);
    }
    warp_barrier();
}

// held_bursts is the law of many bursts in one launch, whose blocks all run at once. In the turn of burst t the players update it, one warp tells
// who fired in burst t − 1, and another one looks up what is due in burst t + AWAY + 1.
//
//	for t := first; t < first + bursts; t++ {
//		deliver the rows of queues[t-lag], and the stimuli
//		for n := range neurons { if b.fires(n) { queues[t] = append(queues[t], n) } }
//	}
KERNEL_OF_768 held_bursts(run p, event_lists e, held_lists h) {
    SHARED(held_block, m);
    SHARED(block, s);
    lay_out(&p, dynamic_memory(), &s, false);
    if (thread_in_block() == 0) lay_out_held(&p, &e, &h, &m);
    block_barrier();
    cells_copy(&p, &e, &s, &m, p.first - 1, false);
    near_held(&p, &m);
    clear_bits(&p, &m);
    for (u32 k = thread_in_block(); k < p.block_neurons; k += block_size()) in_room<i32>(m.at_sums)[k] = 0;
    for (u32 k = thread_in_block(); k < p.block_neurons / 32; k += block_size()) in_room<u32>(m.at_touched)[k] = 0;
    u32 players = held_players(), at = e.at, due = at >= e.lag ? at - e.lag : at + e.depth - e.lag;
    u64 end = p.first + p.bursts;
    looked_up l = {};
    if (anew(thread_in_block()) / 32 == players / 32 + 1) {
        look_up(&e, &h, due, rows_due(&e, p.first), &l);
        keep_stretches(&m, p.first, &l);
        due = next_place(&e, due);
        look_up(&e, &h, due, rows_due(&e, p.first + 1), &l);
        keep_stretches(&m, p.first + 1, &l);
        due = next_place(&e, due);
        look_up(&e, &h, due, rows_due(&e, p.first + AWAY), &l);
    }
    if (anew(block_index()) == 0 && thread_in_block() < TURNS) ((u32 *)p.arrived_next)[thread_in_block() * TURN_APART] = 0;
    block_barrier();
    share_of_rows o = rows_of_thread(&h);
    on_its_way w = {};
    if (anew(thread_in_block()) < players) load_synapses(&p, &o, &m, p.first, 0, known_rows(&m, p.first), &w);
    block_barrier();
    if (anew(thread_in_block()) < players) {
#pragma unroll 1
        for (u64 t = p.first; t < end; t++, due = next_place(&e, due)) {
            deliver_held(&p, &e, &h, &m, t, due, &w);
            if (thread_in_block() == 0) s.w.t = t;
            named_barrier<1>(players + 32);
            load_synapses(&p, &o, &m, t + 1, 0, known_rows(&m, t + 1), &w);
            update_held(&p, &s, &m, t);
            if (p.wanted.count > 0) {
                named_barrier<3>(players);
                bring_read(&p, &e, &s, &m, t, players);
            }
            named_barrier<2>(players + 64);
        }
    } else if (thread_in_block() < players + 32) {
#pragma unroll 1
        for (u64 t = p.first; t < end; t++, at = next_place(&e, at)) {
            if (block_index() == 0 && lane() == 0) e.lengths[(u32)(t + AWAY + 1) & e.length_mask] = 0;
            if (t > p.first) tell_held(&p, &e, &s, &m, t - 1, at == 0 ? e.depth - 1 : at - 1);
            named_barrier<2>(players + 64);
        }
        tell_held(&p, &e, &s, &m, end - 1, at == 0 ? e.depth - 1 : at - 1);
    } else if (thread_in_block() < players + 64) {
        u32 rows = rows_due(&e, p.first + AWAY + 1);
#pragma unroll 1
        for (u64 t = p.first; t < end; t++) {
            due = next_place(&e, due);
            named_barrier<1>(players + 32);
            keep_stretches(&m, t + AWAY, &l);
            if (t >= p.first + AWAY) await_held(&p, &m, (u32)(t - AWAY - p.first));
            look_up(&e, &h, due, t + AWAY + 1 < end ? rows : 0, &l);
            rows = rows_due(&e, t + AWAY + 2);
            named_barrier<2>(players + 64);
        }
        if (block_index() + 1 == block_count())
            for (u32 n = (u32)p.bursts < AWAY ? 0 : (u32)p.bursts - AWAY; n < (u32)p.bursts; n++) await_held(&p, &m, n);
    } else if (thread_in_block() == players + 64 && block_index() + 1 == block_count()) {
        for (u32 told = 0; told < p.bursts;)
            for (u32 complete = load_block(&m.turns.complete); told < complete; told++) publish(p.done + told, p.first + told + 1);
    }
    block_barrier();
    cells_copy(&p, &e, &s, &m, end - 1, true);
}
