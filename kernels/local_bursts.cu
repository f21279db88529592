#pragma once
#include "calls.cuh"
#include "learn_bursts.cu"

// Many bursts in one launch for small networks that learn. All blocks are one cluster. A block has in its memory all that its neurons need:
// their state, the synapses onto them, what learning keeps of its targets, and a copy of what it keeps of all sources. So nothing passes
// from block to block but who fires: a word for 32 neurons, which goes into the memory of all blocks. A launch brings everything into the
// blocks' memory, and takes it back. In one that goes on (calls.cuh) the last warp of each block asks the host and answers it.

// carry is what a warp brings into the block's memory, and takes back where it is told to: words of 4 bytes.
struct carry {
    u32 *outside;     // in global memory
    const u32 *index; // which of them; null: one after the other
    u64 inside;       // as an address in an image
    u32 words, back;
};

// held is where a block has of a projection where the synapses of each source begin, and the same by targets: where those of each begin, 4
// bytes, and which they are, with their sources in the upper 16 bits. What follows is for rules of pairs: their synapses, with a further
// variable or none, the records and events of targets, the first entries of the traces' tables, so many, and whether step 6 reads no more than
// a modulator.
struct held {
    u32 rows, onto, order;
    u32 target, weight, more, heard, events;
    u32 near_pre, close_pre, near_post, close_post;
    u32 every;
};

// still_synapse is one that does not learn: its port, above it the delay.
struct still_synapse {
    u32 word;
    i32 weight;
};

// local is what local_bursts has beside run and learners. Places are bytes of a block's memory.
struct local {
    const u8 *images;    // of each block, what its memory begins with, so many bytes
    u64 bytes;
    const u8 *base;      // the first fixed ones are a copy of what lies there
    u64 fixed;           // in these addresses of the block's memory are INSIDE and a place, or those of what is copied
    u32 carries;         // how many there are, and where they begin
    u32 held;            // of each projection where it has its rows
    const u32 *ports;    // of each port its block, and in the lower 16 bits its number there
    u32 still_rows;      // where each neuron's other synapses begin
    u32 still;           // these
    u32 sums, own_ports; // sums of bursts to come: a slot of the ring has so many
    u32 drawn;           // what drives add to each of them, of two bursts by turns
    u32 mail, slots;     // who fired in burst t: words at t mod slots, with t + 1 in their upper halves
};

const u64 INSIDE = 0xb10cull << 48;

template <class T> DEVICE T *inside(u64 place) { return (T *)(dynamic_memory() + place); }

// local_block is what a block's threads share beside block.
struct local_block {
    findings found;
    u32 told;   // of how many bursts of the launch the host has been told
    u64 heard;  // in a launch that goes on: how many stimuli the block has, or STOP
    u64 bursts; // how many the launch has had
};

// The last warp computes nothing. That of the first block tells the host, or where a launch goes on (asked) each one does.
DEVICE u32 computing() { return block_size() - 32; }
DEVICE void computing_barrier() { named_barrier<1>(computing()); }
DEVICE stint of_computing() { return stint{thread_in_block(), computing()}; }
DEVICE bool last_computing() { return thread_in_block() / 32 == computing() / 32 - 1; }

DEVICE u32 all_words(const run *p) { return (p->neurons + 31) / 32; }

// mail_of is who fired in burst t; it has words for all blocks, also where they have no neurons.
DEVICE u64 *mail_of(const run *p, const local *y, u64 t) { return inside<u64>(y->mail) + (t & (y->slots - 1)) * (block_count() * p->block_neurons / 32); }
DEVICE u32 bits_in(const u64 *mail, u32 w) { return (u32)read(mail + w); }

// span_in is which neurons of a word lie in a span.
DEVICE u32 span_in(u32 word, u32 first, u32 count) {
    u32 from = word * 32, end = first + count, bits = ~0u;
    if (first > from) bits = first - from < 32 ? bits << (first - from) : 0;
    if (end < from + 32) bits &= end > from ? ~0u >> (from + 32 - end) : 0;
    return bits;
}

// fired_in_span is which of them fired.
DEVICE u32 fired_in_span(const u64 *mail, u32 word, u32 first, u32 count) { return bits_in(mail, word) & span_in(word, first, count); }

DEVICE u32 lowest(u32 bits) { return ones((bits & -bits) - 1); }

// located is what an address in an image means.
DEVICE u64 located(const local *y, u64 at) {
    if (at - INSIDE < y->bytes) return (u64)inside<u8>(at - INSIDE);
    if (at - (u64)y->base < y->fixed) return (u64)inside<u8>(at - (u64)y->base);
    return at;
}

// relocate makes addresses of the block's memory what they are.
DEVICE void relocate(const local *y) {
    u64 *words = inside<u64>(0);
#pragma unroll 1
    for (u64 i = thread_in_block(); i < y->fixed / 8; i += block_size()) words[i] = located(y, words[i]);
}

// bring_image fills the block's memory with its image: launches may be of one burst, so a thread has several loads under way.
DEVICE void bring_image(const local *y) {
    const u32 together = 8;
    const four *image = (const four *)(y->images + block_index() * y->bytes);
    four *own = inside<four>(0);
    u32 count = (u32)(y->bytes / sizeof(four));
#pragma unroll 1
    for (u32 first = thread_in_block(); first < count; first += together * block_size()) {
        four some[together];
#pragma unroll
        for (u32 j = 0; j < together; j++)
            if (first + j * block_size() < count) some[j] = load_four(image[first + j * block_size()].word);
#pragma unroll
        for (u32 j = 0; j < together; j++)
            if (first + j * block_size() < count) own[first + j * block_size()] = some[j];
    }
}

// carry_all brings everything into the block's memory, or back. A warp does one after the other; its loads are under way together.
DEVICE void carry_all(const local *y, bool back) {
    const u32 together = 16;
    const u32 *all = inside<u32>(y->carries);
    u32 count = all[0];
#pragma unroll 1
    for (u32 i = thread_in_block() / 32; i < count; i += block_size() / 32) {
        carry c = inside<carry>(all[1])[i];
        if (back && !c.back) continue;
        u32 *own = (u32 *)located(y, c.inside);
#pragma unroll 1
        for (u32 first = lane(); first < c.words; first += together * 32) {
            u32 at[together], words[together];
#pragma unroll
            for (u32 j = 0; j < together; j++) at[j] = c.index != nullptr && first + 32 * j < c.words ? c.index[first + 32 * j] : first + 32 * j;
#pragma unroll
            for (u32 j = 0; j < together; j++)
                if (first + 32 * j < c.words) words[j] = back ? own[first + 32 * j] : c.outside[at[j]];
#pragma unroll
            for (u32 j = 0; j < together; j++)
                if (first + 32 * j < c.words) (back ? c.outside[at[j]] : own[first + 32 * j]) = words[j];
        }
    }
}

// recall finds in the fire queues who fired in the bursts before the launch. All words have a number that no burst of the launch has.
DEVICE void recall(const run *p, const learners *x, const local *y) {
    u32 words = y->slots * (block_count() * p->block_neurons / 32);
#pragma unroll 1
    for (u32 i = thread_in_block(); i < words; i += block_size()) inside<u64>(y->mail)[i] = p->first << 32;
    block_barrier();
#pragma unroll 1
    for (u64 d = 1; d <= x->queues && d <= p->first; d++) {
        spikes q = spikes_of(&x->h, p->first - d);
        for (u64 k = thread_in_block(); k < q.length; k += block_size()) add(mail_of(p, y, q.s) + q.ids[k] / 32, 1ull << q.ids[k] % 32);
    }
}

// record leaves in the fire queues who fired in the launch's last bursts, a warp a burst; the first block does.
DEVICE void record(const run *p, const learners *x, const local *y, u64 had) {
    u64 bursts = had < x->h.depth ? had : x->h.depth;
#pragma unroll 1
    for (u64 d = thread_in_block() / 32; d < bursts; d += block_size() / 32) {
        u64 s = p->first + had - 1 - d, place = s % x->h.depth;
        u32 *ids = x->h.queues + place * x->h.neurons, length = 0;
#pragma unroll 1
        for (u32 first = 0; first < all_words(p); first += 32) {
            u32 w = first + lane(), bits = w < all_words(p) ? bits_in(mail_of(p, y, s), w) : 0, until, total = sum_until(ones(bits), &until);
            for (u32 at = length + until - ones(bits); bits != 0; bits &= bits - 1) ids[at++] = w * 32 + lowest(bits);
            length += total;
        }
        if (lane() == 0) x->h.lengths[place] = length;
    }
}

// begin_local fills the block's memory.
DEVICE void begin_local(const run *p, const learners *x, const local *y, block *s, local_block *m) {
    bring_image(y);
    if (thread_in_block() == 0) *m = local_block{};
    block_barrier();
    relocate(y);
    carry_all(y, false);
    recall(p, x, y);
    lay_out(p, inside<u8>(p->sum.room), s, false);
    block_barrier();
    u32 begin = block_index() * p->block_neurons;
#pragma unroll 1
    for (u64 i = thread_in_block() / 32; i < x->count; i += block_size() / 32) {
        learning *l = &inside<learner>(0)[i].l;
        if (lane() == 0) l->v = s->w.v - begin, l->further = s->w.more - begin, l->pitch = s->w.pitch;
        for (u32 j = lane(); !x->list[i].shares && j < l->targets; j += 32) heard_of(l, j)->next = 0; // no event is pending
    }
    block_barrier();
}

// The occasions of tasks. What is about spikes of the burst before holds all up, so post events are noted by the threads that have updated the
// neurons, while words are on their way; and where all delays of a projection are one, what a source was before a spike is what it is until
// its rows have been delivered, but for variables.
enum occasion { BEFORE_ROWS, AFTER_ROWS, AT_UPDATE };

DEVICE bool launches_late(const learning *l) { return l->slots == 1 && l->source_variables == 0; }

DEVICE occasion occasion_of(const learning *l, u32 kind) {
    if (kind == NOTE && !l->when.there && l->lag == 1) return AT_UPDATE;
    return kind == LAUNCH && launches_late(l) ? AFTER_ROWS : BEFORE_ROWS;
}

// noted_ahead reports whether those of burst t have been noted at the update before: not where the launch may have ended after it.
template <bool asked> DEVICE bool noted_ahead(const run *p, const learners *x, u64 t) { return !asked && t > p->first && !any_due(x, t - 1); }

// local_tasks does those of an occasion in burst t: a warp does a task, a lane what is about a word of neurons.
template <bool asked> DEVICE void local_tasks(const run *p, const learners *x, const local *y, u64 t, occasion now) {
    u32 warps = computing() / 32, warp = thread_in_block() / 32;
#pragma unroll 1
    for (u64 i = warp < warps - warps / 2 ? warp + warps / 2 : warp + warps / 2 - warps; i < x->all; i += warps) { // the first ones update, the last ones draw
        const task *one = x->tasks + i;
        const learning *l = &x->list[one->learner].l;
        occasion own = occasion_of(l, one->kind);
        if (own == AT_UPDATE && !noted_ahead<asked>(p, x, t)) own = BEFORE_ROWS;
        if (own != now) continue;
        bool of_targets = one->kind == NOTE || one->kind == SETTLE_TARGETS, all = one->kind == NOTE && l->when.there;
        u64 after = one->kind == NOTE ? l->lag : one->kind == LAUNCH ? l->least : x->queues;
        u32 first = of_targets ? l->to : l->from, count = of_targets ? l->targets : l->sources;
        if (all) after = 0;
        if (t < after || count == 0) continue;
        const u64 *mail = mail_of(p, y, t - after);
#pragma unroll 1
        for (u32 w = first / 32 + lane(); w * 32 < first + count; w += 32) {
            u32 bits = all ? span_in(w, first, count) : fired_in_span(mail, w, first, count);
#pragma unroll 1
            for (; bits != 0; bits &= bits - 1) do_task(x, one, w * 32 + lowest(bits), t - after, t);
        }
    }
}

// has_early reports whether some tasks come before rows in every burst.
DEVICE bool has_early(const learners *x) {
    bool some = false;
    for (u64 i = lane(); i < x->all; i += 32) some = some || occasion_of(&x->list[x->tasks[i].learner].l, x->tasks[i].kind) == BEFORE_ROWS;
    return vote(some) != 0;
}

// note_ahead notes the post events of burst t + 1 of neuron n, which fires in burst t.
DEVICE void note_ahead(const learners *x, u32 n, u64 t) {
#pragma unroll 1
    for (u64 i = 0; i < x->all; i++) {
        const learning *l = &x->list[x->tasks[i].learner].l;
        if (occasion_of(l, x->tasks[i].kind) == AT_UPDATE) note_one(l, n, t + 1);
    }
}

// decayed_near is decayed for a table whose first entries lie at a place.
DEVICE float decayed_near(const decay *d, u32 near, u32 close, u32 age) { return age < close ? float_of(read_shared(near + 4 * age)) : decayed_long(d, age); }

// local_pair is live_through for a synapse of a rule of pairs. Addresses are those of the block's memory, and bursts take 32 bits.
DEVICE void local_pair(const learning *l, const held *h, u32 t, float seen, u32 arrived, u32 applied, u32 k, bool delivers, u32 acc) {
    u32 base = address(inside<u8>(0)), own = read_shared(base + h->target + 4 * k), target = own - l->port, weight_at = base + h->weight + 4 * k;
    float weight = float_of(read_shared(weight_at)), *more = inside<float>(h->more) + k;
    u32 record = base + h->heard + sizeof(heard) * target, newest = read_shared(record + 16), older = read_shared(record + 20), third = 0;
    u32 n = (newest > applied) + (older > applied), events = base + h->events + 8 * l->ring.places * target, next = 0;
    if (n == 2) third = read_shared(record + 12);
    if (third > applied) {
        next = read_shared(record), n = 3;
#pragma unroll 1
        while (n < l->ring.places && read_shared(events + 8 * place_before(l, next, n + 1)) > applied) n++;
    }
    limits bounds = l->bounds;
#pragma unroll 1
    for (; n > 0 && weight == weight; n--) {
        u32 event = n == 1 ? newest : n == 2 ? older : n == 3 ? third : read_shared(events + 8 * place_before(l, next, n));
        run_post(l->on_post.pair, l->on_post.params, seen * decayed_near(&l->pre->table, base + h->near_pre, h->close_pre, event - arrived), &weight, more);
        weight = clamped(&bounds, weight);
    }
    if (delivers) {
        bool before = newest == t + 1; // the trace is that before the events of this burst
        u32 last = before ? older : newest, age = last == 0 ? NEVER : t + 1 - last;
        float y = float_of(read_shared(record + (before ? 28 : 24))) * decayed_near(&l->post->table, base + h->near_post, h->close_post, age);
        if (weight == weight) {
            run_pre(l->on_pre.pair, l->on_pre.params, y, &weight, more);
            weight = clamped(&bounds, weight);
        }
        add_shared(acc + 4 * own, quanta(weight, (float)l->scale));
    }
    store_shared(weight_at, bits_of(weight));
}

// local_synapse is steps 1a and 1b of a synapse of source i and delay d in burst t.
DEVICE void local_synapse(const learning *l, const held *own, u64 t, u64 d, u32 i, u32 k, i32 *acc) {
    senders seen = launches_late(l) ? senders{l->live.traces + i, l->live.variables + i, l->live.last + i} : before_of(l, t - d, i);
    u64 swept = l->swept->before, arrived = arrival(seen, d), applied = arrived > swept ? arrived : swept;
    if (l->pairs && t < NEVER) {
        float x = arrived == 0 ? *seen.traces * 0.0f : *seen.traces;
        return local_pair(l, own, (u32)t, x, (u32)arrived, (u32)applied, k, true, address(acc));
    }
    u32 j = target_at(l, k);
    deliver_out(l, acc, live_through(l, k, j, seen, arrived, t, applied, true), i, l->port + j);
}

// local_spikes is what some spikes that a warp has found deliver in burst t: each of the first lanes has one, of source i with delay d. Then each
// lane takes a synapse.
DEVICE void local_spikes(const learning *l, const held *own, u64 t, u32 spikes, u32 d, u32 i, i32 *acc) {
    u32 begin = 0, count = 0;
    if (lane() < spikes) {
        const u32 *rows = inside<u32>(own->rows);
        u64 low = rows[i], high = rows[i + 1];
        if (l->delay != nullptr) low = first_delay(l->delay, low, high, d), high = first_delay(l->delay, low, high, d + 1);
        else if (l->late != nullptr) low = first_delay(l->late, low, high, d), high = first_delay(l->late, low, high, d + 1);
        begin = (u32)low, count = (u32)(high - low);
    }
    u32 until = count, total = spikes == 1 ? shuffle_from(count, 0) : 0;
    if (spikes > 1) {
        for (u32 by = 1; by < 32; by *= 2) {
            u32 other = shuffle_up(until, by);
            if (lane() >= by) until += other;
        }
        total = shuffle_from(until, 31);
    }
#pragma unroll 1
    for (u32 first = 0; first < total; first += 32) {
        u32 item = first + lane(), whose = 0; // as many lanes end before the item
        for (u32 by = spikes == 1 ? 0 : 16; by > 0; by /= 2) whose += shuffle_from(until, whose + by - 1) <= item ? by : 0;
        whose = whose < 31 ? whose : 31;
        u32 end = shuffle_from(until, whose), all = shuffle_from(count, whose), from = shuffle_from(begin, whose);
        u32 delay = shuffle_from(d, whose), source = shuffle_from(i, whose);
        if (item < total) local_synapse(l, own, t, delay, source, from + item - (end - all), acc);
    }
}

// still_row delivers the block's other synapses of neuron n, which fired in burst s.
DEVICE void still_row(const run *p, const local *y, u64 s, u32 n) {
    const u32 *rows = inside<u32>(y->still_rows);
#pragma unroll 1
    for (u32 k = rows[n] + lane(); k < rows[n + 1]; k += 32) {
        still_synapse one = inside<still_synapse>(y->still)[k];
        accumulate(inside<i32>(y->sums) + (((u32)s + (one.word >> 16)) & p->slot_mask) * y->own_ports + (one.word & 0xffff), one.weight);
    }
}

// row_share is which rows a warp has: every width-th kind from a first one on, which several warps share, numbered from 0. Divisions are
// long, so it is found once a launch, with what replaces a division of small numbers by several.
struct row_share {
    u32 kinds, first, width, number, several, inverse;
};

// share_of finds it. Warps share the kinds of rows, those of each projection and those that do not learn; warps with the same kind share the
// delays, or the spikes where delays are few.
DEVICE row_share share_of(const learners *x) {
    u32 kinds = (u32)x->count + !all_learn(x), warps = computing() / 32, warp = thread_in_block() / 32, width = kinds < warps ? kinds : warps;
    u32 several = (warps - 1 - warp % width) / width + 1;
    return row_share{kinds, warp % width, width, warp / width, several, 65536 / several + 1};
}

// rank_of is how many bits the lanes before have; total becomes how many all have.
DEVICE u32 rank_of(u32 bits, u32 *total) {
    u32 count = ones(bits), some = vote(count != 0), until = count;
    if ((some & (some - 1)) == 0) { // one lane has all
        *total = some == 0 ? 0 : shuffle_from(count, lowest(some));
        return 0;
    }
    for (u32 by = 1; by < 32; by *= 2) {
        u32 other = shuffle_up(until, by);
        if (lane() >= by) until += other;
    }
    *total = shuffle_from(until, 31);
    return until - count;
}

// spike_list is each warp's room for the spikes that it finds: delays above 16 bits, and sources.
struct spike_list {
    u32 word[16][32];
};

// part_in is the number of a spike among every several-th one; it is none of them where the answer times several is another number.
DEVICE u32 part_in(u32 number, u32 inverse) { return number * inverse >> 16; }

// local_rows is what synapses do in burst t. A lane looks at a word of neurons. Of the spikes that all lanes find a warp takes every several-th,
// from its next one on; they are delivered once they are 32, or no more are to come.
DEVICE void local_rows(const run *p, const learners *x, const local *y, const row_share *share, u64 t) {
    SHARED(spike_list, room);
    u32 *list = room.word[thread_in_block() / 32];
    i32 *acc = inside<i32>(y->sums) + (t & p->slot_mask) * y->own_ports;
#pragma unroll 1
    for (u32 kind = share->first; kind < share->kinds; kind += share->width) {
        bool learns = kind < x->count;
        const learning *l = &x->list[learns ? kind : 0].l;
        u32 first = learns ? l->from : 0, count = learns ? l->sources : p->neurons;
        u32 least = learns ? l->least : 1, longest = learns ? l->longest : 1;
        if (longest > t) longest = (u32)t;
        bool apart = longest - least >= share->several; // the warp has delays of its own
        u32 several = apart ? 1 : share->several, inverse = apart ? 65537 : share->inverse, next = apart ? 0 : share->number;
        u32 d = least + (apart ? share->number : 0), base = first / 32, filled = 0, bits = 0, mine = 0, taken = 0;
        i32 number = 0; // of the lane's first spike, counted from the warp's next one
        bool more = d <= longest && count > 0;
        if (!more) continue;
#pragma unroll 1
        for (bool begun = false;; begun = true) { // one place that delivers
            if (taken < mine) {
                u32 end = taken + 32 - filled;
                i32 at = number;
#pragma unroll 1
                for (u32 rest = bits; rest != 0; rest &= rest - 1, at++) {
                    u32 place = part_in((u32)at, inverse);
                    if (at >= 0 && place * several == (u32)at && place >= taken && place < end)
                        list[filled + place - taken] = d << 16 | ((base + lane()) * 32 + lowest(rest) - first);
                }
                end = mine < end ? mine : end;
                filled += end - taken, taken = end;
            } else {
                if (begun) {
                    base += 32;
                    if (base * 32 >= first + count) base = first / 32, d += apart ? share->several : 1;
                }
                if (more = d <= longest; more) {
                    const u64 *mail = mail_of(p, y, t - d);
                    u32 total;
                    bits = base + lane() < all_words(p) ? fired_in_span(mail, base + lane(), first, count) : 0;
                    number = (i32)rank_of(bits, &total) - (i32)next;
                    mine = total > next ? part_in(total - next - 1, inverse) + 1 : 0, taken = 0;
                    next += mine * several - total;
#pragma unroll 1
                    for (u32 some = learns ? 0 : vote(bits != 0); some != 0; some &= some - 1) {
                        u32 w = lowest(some);
                        i32 at = (i32)shuffle_from((u32)number, w);
#pragma unroll 1
                        for (u32 rest = shuffle_from(bits, w); rest != 0; rest &= rest - 1, at++)
                            if (at >= 0 && part_in((u32)at, inverse) * several == (u32)at) still_row(p, y, t - 1, (base + w) * 32 + lowest(rest));
                    }
                    if (!learns) mine = 0;
                }
            }
            if (filled == 32 || (!more && filled > 0)) {
                warp_barrier();
                u32 one = list[lane()];
                local_spikes(l, inside<held>(y->held) + kind, t, filled, one >> 16, one & 0xffff, acc);
                warp_barrier();
                filled = 0;
            }
            if (!more) break;
        }
    }
}

// give_local adds those of some amounts that are for the block's ports to the sums of burst t.
DEVICE void give_local(const run *p, const local *y, u64 t, const candidate *amounts, u64 count) {
#pragma unroll 1
    for (u64 k = thread_in_block(); k < count; k += computing()) {
        u32 port = y->ports[amounts[k].port];
        if (port >> 16 == block_index()) accumulate(inside<i32>(y->sums) + (t & p->slot_mask) * y->own_ports + (port & 0xffff), amounts[k].sum);
    }
}

// local_stimuli is step 2 but for drives.
DEVICE void local_stimuli(const run *p, const local *y, u64 t) {
    if (t == p->first) give_local(p, y, t, p->given, p->given_count);
#pragma unroll 1
    for (u64 i = 0; i < p->stimulus_count; i++) {
        const scheduled *one = p->stimuli + i;
        if (acts(one, t)) give_local(p, y, t, p->amounts + one->first, one->count);
    }
}

// local_raise is raise_level, by a warp.
DEVICE void local_raise(const run *p, const local *y, const learning *l, levels to, u32 k, u64 delay, u64 t) {
    if (t < delay) return;
    const modulator *m = l->modulator_list + k;
    const u64 *mail = mail_of(p, y, t - delay);
    u32 sum = 0;
    for (u32 w = m->from / 32 + lane(); w * 32 < m->from + m->count; w += 32) sum += ones(fired_in_span(mail, w, m->from, m->count));
    sum = sum_lanes(sum);
    if (lane() == 0) raise_level_by(l, to, k, t - delay, sum);
}

// local_modulators is step 1c of modulators in burst t, and what is read of them after it and in the next burst before its events. A warp has
// those of a projection. Where only changes of all weights read them, as with rules of pairs, that is done while neurons are updated.
DEVICE void local_modulators(const run *p, const learners *x, const local *y, u64 t, bool late) {
    u32 warps = computing() / 32, front = p->block_neurons / 32 < warps ? p->block_neurons / 32 : 0, warp = thread_in_block() / 32;
#pragma unroll 1
    for (u64 i = warp < front ? warp + warps - front : warp - front; i < x->count; i += warps) { // the first ones update, or deliver
        const learning *l = &x->list[i].l;
        if (late != (l->pairs != 0)) continue;
#pragma unroll 1
        for (u32 k = 0; k < l->modulators; k++) {
            u64 delay = l->modulator_list[k].delay;
            local_raise(p, y, l, x->list[i].settled_levels, k, x->queues, t);
            local_raise(p, y, l, levels_of(l), k, delay, t);
            if (lane() == 0) l->after[k] = level_in(l, levels_of(l), k, delay, t), *modulated(l, k, t + 1) = level_in(l, levels_of(l), k, delay, t + 1);
        }
    }
}

// source_of is the source of synapse k.
DEVICE u32 source_of(const learning *l, const held *own, u32 k) {
    const u32 *rows = inside<u32>(own->rows);
    u32 low = 0, high = l->sources;
    while (high - low > 1) {
        u32 middle = low + (high - low) / 2;
        if (rows[middle] <= k) low = middle;
        else high = middle;
    }
    return low;
}

// local_sweep has all pending events applied to the block's synapses after burst t, a warp those of a target.
DEVICE void local_sweep(const learning *l, const held *own, u64 t) {
    const u32 *order = inside<u32>(own->order);
    const u32 *onto = inside<u32>(own->onto);
    u64 swept = l->swept->before;
#pragma unroll 1
    for (u32 j = thread_in_block() / 32; j < l->targets; j += computing() / 32) {
        if (heard_at(heard_of(l, j), 0) <= swept) continue;
#pragma unroll 1
        for (u32 at = onto[j] + lane(); at < onto[j + 1]; at += 32) {
            u64 k = order[at] & 0xffff, d = delay_at(l, k);
            senders seen = seen_by(l, order[at] >> 16, d, t);
            u64 arrived = arrival(seen, d), applied = arrived > swept ? arrived : swept;
            if (l->pairs && t < NEVER) {
                float x = arrived == 0 ? *seen.traces * 0.0f : *seen.traces;
                local_pair(l, own, (u32)t, x, (u32)arrived, (u32)applied, (u32)k, false, 0);
            } else live_through(l, k, j, seen, arrived, t, applied, false);
        }
    }
}

// due_in is is_due for the i-th projection, which the last warp has found (look_for_sweeps): the answer needs a division of 64 bits.
DEVICE bool due_in(const learners *x, u64 i, u64 t) { return x->count <= 32 ? x->found->due[t % 2] >> i & 1 : is_due(x->list + i, t); }

// local_sweeps is the sweeps that burst t ends with; at the end of a launch all do.
DEVICE void local_sweeps(const learners *x, const local *y, u64 t, bool end) {
#pragma unroll 1
    for (u64 i = 0; i < x->count; i++) {
        const learning *l = &x->list[i].l;
        bool all = due_in(x, i, t) || end;
        if (sweep_until(l->swept, t, all) > 0) local_sweep(l, inside<held>(y->held) + i, t);
        for (u32 j = thread_in_block(); all && l->total != nullptr && j < l->targets; j += computing()) l->total[j] = 0;
    }
    computing_barrier();
    for (u64 i = thread_in_block(); i < x->count; i += computing()) {
        sweeps *swept = x->list[i].l.swept;
        if (!x->list[i].shares && sweep_until(swept, t, due_in(x, i, t) || end) > 0) *swept = sweeps{t + 1, 0, 0};
    }
    computing_barrier();
}

// change_pairs is step 6 of the block's synapses of a rule of pairs in burst t, if it reads no more than a modulator.
DEVICE void change_pairs(const learning *l, const held *own, u64 t) {
    const u32 together = 4;
    float in = l->every.reads == 0 ? 0 : read_target(l, l->every.list, 0, t, true), *weights = inside<float>(own->weight), *more = inside<float>(own->more);
    limits bounds = l->bounds;
    u32 count = (u32)l->synapses;
#pragma unroll 1
    for (u32 first = thread_in_block(); first < count; first += together * computing()) {
        float some[together];
#pragma unroll
        for (u32 j = 0; j < together; j++) some[j] = first + j * computing() < count ? weights[first + j * computing()] : 0;
#pragma unroll
        for (u32 j = 0; j < together; j++)
            if (first + j * computing() < count && some[j] == some[j]) {
                run_pre(l->every.pair, l->every.params, in, some + j, more + first + j * computing());
                weights[first + j * computing()] = clamped(&bounds, some[j]);
            }
    }
}

// change_local is step 6 of the block's synapses in burst t, of which none has pending events. What all read alike is found once.
DEVICE void change_local(const learning *l, const held *own, u64 t) {
    if (own->every) return change_pairs(l, own, t);
    float in[MOST_READS];
    bool alike = true;
#pragma unroll 1
    for (u32 r = 0; r < l->every.reads; r++) {
        alike = alike && l->every.list[r].kind == READ_MODULATOR;
        if (alike) in[r] = read_target(l, l->every.list + r, 0, t, true);
    }
#pragma unroll 1
    for (u64 k = thread_in_block(); k < l->synapses; k += computing()) {
        float values[MOST_VALUES];
        values[0] = l->weight[k];
        load_more(l, k, values);
        if (values[0] != values[0]) continue;
        if (!alike) {
            u64 d = delay_at(l, k);
            moment m = {t, target_at(l, k), d, seen_by(l, source_of(l, own, (u32)k), d, t)};
#pragma unroll 1
            for (u32 r = 0; r < l->every.reads; r++) in[r] = read_moment(l, l->every.list + r, &m);
        }
        run_rule(&l->every, values, in);
        l->weight[k] = clamped(&l->bounds, values[0]);
        store_more(l, k, values);
    }
}

// local_every is step 6 of burst t, after the update.
DEVICE void local_every(const learners *x, const local *y, u64 t) {
    if (!any_due(x, t)) return;
    computing_barrier();
    bool adds = false;
#pragma unroll 1
    for (u64 i = 0; i < x->count; i++) {
        const learning *l = &x->list[i].l;
        if (l->total == nullptr || !due_in(x, i, t)) continue;
        add_totals(l, of_computing());
        adds = true;
    }
    if (adds) computing_barrier();
#pragma unroll 1
    for (u64 i = 0; i < x->count; i++) {
        const learning *l = &x->list[i].l;
        if (!due_in(x, i, t)) continue;
        change_local(l, inside<held>(y->held) + i, t);
    }
}

// drawn_in is what drives add in burst t.
DEVICE i32 *drawn_in(const local *y, u64 t) { return inside<i32>(y->drawn) + t % 2 * y->own_ports; }

// draw_local is what drives add in burst t. The last threads work it out, as the first ones update.
DEVICE void draw_local(const run *p, const local *y, const block *s, u64 t) {
    if (p->drive_count == 0) return;
    u32 place = s->from, count = own(p);
    i32 *drawn = drawn_in(y, t);
#pragma unroll 1
    for (u32 k = computing() - 1 - thread_in_block(); k < count; k += computing()) {
        u32 n = block_index() * p->block_neurons + k;
        while (!s->alone && s->w.areas[place].end <= n) place++;
        const area *a = s->w.areas + place;
        i32 first = 0, second = 0;
#pragma unroll 1
        for (u32 i = a->first_drive; i < a->first_drive + a->drives; i++) {
            const drive *d = s->drives + i;
            i32 amount = amount_of(d, s->counts, s->table, s->w.seed, n - a->first, t);
            if (a->ports > 1 && for_second(d->seconds, amount)) second += amount;
            else first += amount;
        }
        drawn[k] = first;
        if (a->ports > 1) drawn[p->block_neurons + k] = second;
    }
}

// local_update is steps 3 to 5 for the block's neurons: all blocks are told who of them fires in burst t.
template <bool asked> DEVICE void local_update(const run *p, const learners *x, const local *y, const block *s, u64 t) {
    bool ahead = t + 1 < p->first + p->bursts && noted_ahead<asked>(p, x, t + 1);
    u32 place = s->from, count = own(p);
    i32 *sums = inside<i32>(y->sums) + (t & p->slot_mask) * y->own_ports;
    const i32 *drawn = drawn_in(y, t);
#pragma unroll 1
    for (u32 k = thread_in_block(); k < p->block_neurons; k += computing()) {
        u32 n = block_index() * p->block_neurons + k;
        while (!s->alone && k < count && s->w.areas[place].end <= n) place++;
        const area *a = s->w.areas + place;
        bool yes = false;
        if (k < count) {
            i32 first = a->ports > 0 ? sum_of(sums + k) : 0, second = a->ports > 1 ? sum_of(sums + p->block_neurons + k) : 0;
            if (a->drives > 0) first += drawn[k], second += a->ports > 1 ? drawn[p->block_neurons + k] : 0;
            float term = a->differ || place >= COMMON ? term_of(&s->w, a, n - a->first) : s->common[place];
            yes = update<ALL_MODELS>(&s->w, a, n - a->first, k, first, second, term);
        }
        u32 bits = vote(yes), at = address(mail_of(p, y, t) + n / 32);
        for (u32 q = lane(); q < block_count() && n - lane() < p->neurons; q += 32) send(remote_address(at, q), (t + 1) << 32 | bits);
        if (asked && lane() == 0) s->bits[k / 32] = bits;
        if (yes && ahead) note_ahead(x, n, t);
    }
}

// find_burst is what is the same for all neurons in burst t; the last warps do it while others deliver.
DEVICE void find_burst(const run *p, const learners *x, const local *y, block *s, u64 t) {
    local_modulators(p, x, y, t, false);
    if (!last_computing()) return;
    look_for_sweeps(x, t);
    if (lane() == 0) s->w.t = t;
    for (u32 k = lane(); k < p->w.area_count && k < COMMON; k += 32)
        if (!s->w.areas[k].differ) s->common[k] = term_at(&s->w, s->w.areas + k, 0, t);
}

// arrived reports whether all words of burst t are there; all lanes of a warp ask.
DEVICE bool arrived(const run *p, const local *y, u64 t) {
    const u64 *mail = mail_of(p, y, t);
    bool lacks = false;
    for (u32 w = lane(); w < all_words(p); w += 32) lacks = lacks || (u32)(received(address(mail + w)) >> 32) != (u32)(t + 1);
    return vote(lacks) == 0;
}

// hear waits for who fired in burst t, and for the host to have been told of bursts whose words are to be written anew: blocks may be a burst
// ahead of the first one.
template <bool asked> DEVICE void hear(const run *p, const local *y, const local_block *m, u64 t) {
    if (last_computing()) {
        while (!arrived(p, y, t)) {}
        u32 known = (u32)(t - p->first) + 3;
        while (!asked && block_index() == 0 && known > y->slots && load_block(&m->told) < known - y->slots) {}
    }
    computing_barrier();
}

// give_one adds a stimulus of the block's own to the sums of burst t.
DEVICE void give_one(const run *p, const local *y, u64 t, u64 word) {
    accumulate(inside<i32>(y->sums) + (t & p->slot_mask) * y->own_ports + (y->ports[low(word)] & 0xffff), (i32)(word >> 32));
}

// local_asked waits for the block's request for burst t, whose first stimuli are then in the sums. It says whether there is one.
DEVICE bool local_asked(const run *p, const local *y, const local_block *m, const calls *c, u64 t) {
    block_barrier();
    if (m->heard == STOP) return false;
#pragma unroll 1
    for (u64 k = thread_in_block(); k + REQUEST < m->heard + 1; k += computing()) give_one(p, y, t, further_for(c, place_in(p, t), (u32)k));
    return true;
}

// local_answers asks and answers the host, by a block's last warp.
DEVICE void local_answers(const run *p, const local *y, const block *s, local_block *m, const calls *c) {
    u64 t = p->first, end = p->first + p->bursts;
#pragma unroll 1
    for (;;) {
        block_barrier(); // all neurons are updated
        answer_by(c, p, t, s->bits, nullptr, nullptr);
        if (++t == end) break;
        u64 word, count = request_for(c, place_in(p, t), &word);
        if (count != STOP && lane() > 0 && lane() < REQUEST && lane() <= count) give_one(p, y, t, word);
        if (lane() == 0) m->heard = count;
        block_barrier();
        if (count == STOP) break;
    }
}

template <bool asked> DEVICE void local_loop(const run *p, const learners *x, const local *y, block *s, local_block *m, const calls *c) {
    if (last_computing() && lane() == 0)
        for (u64 i = 0; i < x->count; i++)
            for (u32 k = 0; k < x->list[i].l.modulators; k++) {
                const learning *l = &x->list[i].l;
                *modulated(l, k, p->first) = level_in(l, levels_of(l), k, l->modulator_list[k].delay, p->first);
            }
    draw_local(p, y, s, p->first);
    computing_barrier();
    bool early = has_early(x);
    row_share share = share_of(x);
    u64 t = p->first, end = p->first + p->bursts;
#pragma unroll 1
    for (; t < end; t++) {
        if (asked && t > p->first && !local_asked(p, y, m, c, t)) break;
        if (early || !noted_ahead<asked>(p, x, t)) {
            local_tasks<asked>(p, x, y, t, BEFORE_ROWS);
            computing_barrier();
        }
        local_stimuli(p, y, t);
        find_burst(p, x, y, s, t);
        local_rows(p, x, y, &share, t);
        computing_barrier();
        local_tasks<asked>(p, x, y, t, AFTER_ROWS);
        local_modulators(p, x, y, t, true);
        if (t + 1 < end) draw_local(p, y, s, t + 1);
        if (m->found.sweeping) {
            computing_barrier();
            local_sweeps(x, y, t, false);
        }
        local_update<asked>(p, x, y, s, t);
        if (asked) block_barrier();
        local_every(x, y, t);
        hear<asked>(p, y, m, t);
    }
    local_sweeps(x, y, t - 1, true);
    if (thread_in_block() == 0) m->bursts = t - p->first;
}

// local_tell tells the host of all bursts, by a warp. A word's lane finds how many of its block fire before it and in all.
DEVICE void local_tell(const run *p, const local *y, local_block *m) {
    u32 each = p->block_neurons / 32, words = block_count() * each;
#pragma unroll 1
    for (u64 t = p->first, end = p->first + p->bursts; t < end;) {
        u64 from = t;
        while (!arrived(p, y, t)) {}
        do { // one fence for all that are there
            const u64 *mail = mail_of(p, y, t);
#pragma unroll 1
            for (u32 w = lane(); w < words; w += 32) {
                u32 bits = bits_in(mail, w), begin = w / each * each, before = 0, total = 0;
                for (u32 v = begin; v < begin + each; v++) {
                    u32 n = ones(bits_in(mail, v));
                    before += v < w ? n : 0, total += n;
                }
                u64 place = (t - p->first) * block_count() + w / each;
                u32 *to = p->ids + place * host_room(p);
                if (w == begin) p->fired[place] = total;
                if (total > host_room(p)) to[w - begin] = bits;
                else for (; bits != 0; bits &= bits - 1) to[before++] = w * 32 + lowest(bits);
            }
            t++;
        } while (t < end && t - from < y->slots / 4 && arrived(p, y, t));
        warp_barrier();
        if (lane() != 0) continue;
        fence_system();
        for (u64 u = from; u < t; u++) store_system(p->done + (u - p->first), u + 1);
        store_block(&m->told, (u32)(t - p->first));
    }
}

// run_local is a launch; where asked it goes on.
template <bool asked> DEVICE void run_local(const run *p, const learners *x, const local *y, const calls *c) {
    SHARED(block, s);
    SHARED(local_block, m);
    learners own = *x;
    own.list = inside<learner>((u64)x->list - (u64)y->base);
    own.tasks = inside<task>((u64)x->tasks - (u64)y->base);
    own.found = &m.found;
    begin_local(p, &own, y, &s, &m);
    cluster_barrier(); // all have their memory ready for words
    if (thread_in_block() < computing()) local_loop<asked>(p, &own, y, &s, &m, c);
    else if (asked) local_answers(p, y, &s, &m, c);
    else if (block_index() == 0) local_tell(p, y, &m);
    block_barrier();
    carry_all(y, true);
    if (block_index() == 0) record(p, &own, y, m.bursts);
    lay_out(p, inside<u8>(p->sum.room), &s, true);
}

KERNEL_OF_544 local_bursts(run p, learners x, local y) { run_local<false>(&p, &x, &y, nullptr); }
KERNEL_OF_544 lasting_local(run p, learners x, local y, calls c) { run_local<true>(&p, &x, &y, &c); }
