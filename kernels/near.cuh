// Rules by kernel and mask (connectome/doc.go, Distance): owners look for partners in stretches of their tree.
#pragma once
#include "build.cuh"

// tree_stretch is places low ≤ i < high of a tree where no pair is likelier than top, and none less likely than least.
struct tree_stretch {
    f64 top, least;
    f64 end; // the sum of the likelihoods up to its end if all were their stretch's top
    u32 low, high;
};

// cuts are the stretches for some groups of owners, in the order of places.
struct cuts {
    const u64 *start; // by group, where its stretches begin; the first one's are at the begin of list
    tree_stretch *list;
    u32 *count; // where there is no list yet, how many stretches each group has goes here
    u32 first, groups;
    u32 low, high; // places of their owners
};

DEVICE u32 first_half(u32 n) { return n - n / 2; }
DEVICE u32 group_level(const tree *t) { return t->levels > 2 ? t->levels - 2 : 0; }

// group_of is the group of a place, from 0.
DEVICE u32 group_of(const tree *t, u32 place) {
    u32 low = 0, high = t->neurons, group = 0;
    for (u32 level = group_level(t); level > 0; level--) {
        u32 middle = low + first_half(high - low);
        group *= 2;
        if (place < middle) high = middle;
        else {
            low = middle;
            group++;
        }
    }
    return group;
}

// cut cuts the partners' tree into the stretches of a group, and counts them; list is null where nobody wants them.
DEVICE u32 cut(const field *q, u32 group, tree_stretch *list) {
    const tree *t = &q->partners;
    u32 node = 0, low = 0, high = t->neurons, level = 0, count = 0, ends[32]; // of the nodes that hold this one, by level
    f64 sum = 0;
    group += (1u << group_level(&q->home)) - 1;
    for (;;) {
        interval all = bounds(q, group, node);
        f64 n = (f64)(high - low);
        if (all.high > 0 && level < t->levels && (all.high - all.low) * n > q->slack) {
            ends[level++] = high;
            node = 2 * node + 1;
            high = low + first_half(high - low);
            continue;
        }
        if (all.high > 0) {
            sum += all.high * n;
            if (list != nullptr) list[count] = tree_stretch{all.high, all.low, sum, low, high};
            count++;
        }
        for (; node > 0 && node % 2 == 0; level--) node = (node - 1) / 2; // nodes whose second half is done
        if (node == 0) return count;
        node++;
        low = high;
        high = ends[level - 1];
    }
}

// partner_of is the neuron that a synapse's end is, at a place of the partners' tree.
DEVICE u64 partner_at(const field *q, u32 place) { return q->partners.order[place]; }

// join makes the synapse of a source with a target, and the one that symmetric adds.
template <bool PLACES> DEVICE u64 join(const building *b, const projection *p, u64 source, u64 target, tallies *f) {
    u64 made = 0;
#pragma unroll 1
    for (u32 left = p->both && target != source ? 2 : 1; left > 0; left--) {
        made += make<PLACES, true>(b, p, source, target, source * p->targets + target, f);
        u64 other = source;
        source = target;
        target = other;
    }
    return made;
}

// jump_near makes the synapses of a source by jumps along all stretches.
template <bool PLACES> DEVICE u64 jump_near(const building *b, const projection *p, u64 source, const tree_stretch *list, const tree_stretch *end, tallies *f) {
    const field *q = p->formulas;
    u64 index = source << 32, made = 0;
    for (; list < end; list++) {
        tree_stretch s = *list;
        f64 none = s.top < 1 ? exact_log1p(-s.top) : -1; // log of the probability of no synapse, for a pair as likely as top
        for (u32 at = s.low; at < s.high; at++) {
            two_words x = words_of(b, WIRING, index++, p->number);
            if (s.top < 1) {
                f64 gap = log_of(x.x) / none;
                if (gap >= (f64)(s.high - at)) break;
                at += (u32)gap;
            }
            u64 target = partner_at(q, at);
            if ((p->no_self && target == source) || (p->both && target < source)) continue;
            if (!owns(b->own, p->to + (u32)target) && !(p->both && owns(b->own, p->to + (u32)source))) continue;
            f64 above = exact_uniform(x.y) * s.top;
            if (above < s.least || above < likelihood(q, source, target)) made += join<PLACES>(b, p, source, target, f);
        }
    }
    return made;
}

// is_chosen reports whether a table has a neuron; choose puts it there, and reports whether it was not.
DEVICE bool is_chosen(const u32 *table, u64 slots, u64 n, u64 *slot) {
    *slot = n * 0x9e3779b97f4a7c15ull >> 32 & (slots - 1);
    while (table[*slot] != 0 && table[*slot] != (u32)(n + 1)) *slot = (*slot + 1) & (slots - 1);
    return table[*slot] != 0;
}
DEVICE bool choose(u32 *table, u64 slots, u64 n) {
    u64 slot;
    if (is_chosen(table, slots, n, &slot)) return false;
    table[slot] = (u32)(n + 1);
    return true;
}

const u64 PATIENCE = 64, BESIDES = 1024; // attempts for each synapse and besides, until the partners that are left are listed

// chooser is an owner that chooses partners.
struct chooser {
    u64 owner, chosen, made; // synapses that it has, and those of them that are wanted
    u32 *table;              // of its partners, of p->slots; none: it may choose one twice
};

// take gives an owner a partner, unless it may not have this one.
template <bool PLACES> DEVICE void take(const building *b, const projection *p, chooser *c, u64 partner, tallies *f) {
    if ((p->no_self && partner == c->owner) || (p->slots > 0 && !choose(c->table, p->slots, partner))) return;
    bool incoming = p->formulas->backward != 0;
    c->made += make<PLACES, true>(b, p, incoming ? partner : c->owner, incoming ? c->owner : partner, c->owner * p->count + c->chosen, f);
    c->chosen++;
}

// likely is how likely an owner's pair with a partner is that it still may have.
DEVICE f64 likely(const projection *p, const chooser *c, u64 partner) {
    const field *q = p->formulas;
    u64 slot;
    if ((p->no_self && partner == c->owner) || (p->slots > 0 && is_chosen(c->table, p->slots, partner, &slot))) return 0;
    return q->backward ? likelihood(q, partner, c->owner) : likelihood(q, c->owner, partner);
}

// choose_near makes the synapses of an owner that has a number of them.
template <bool PLACES> DEVICE u64 choose_near(const building *b, const projection *p, u64 owner, const tree_stretch *list, u32 count, u32 *table, tallies *f) {
    const field *q = p->formulas;
    if (q->backward && !owns(b->own, p->to + (u32)owner)) return 0;
    for (u64 i = 0; i < p->slots; i++) table[i] = 0;
    chooser c = {owner, 0, 0, table};
    f64 total = list[count - 1].end;
    u64 attempts = PATIENCE * p->count + BESIDES;
    for (u64 tried = 0; c.chosen < p->count && tried < attempts; tried++) {
        two_words x = words_of(b, WIRING, (owner << 32) + tried, p->number);
        f64 at = exact_uniform(x.x) * total;
        u32 low = 0;
        for (u32 high = count - 1; low < high;) { // the first stretch that ends behind
            u32 middle = (low + high) / 2;
            if (list[middle].end <= at) low = middle + 1;
            else high = middle;
        }
        tree_stretch s = list[low];
        if (low > 0) at -= list[low - 1].end;
        f64 behind = larger(0, at / s.top), most = (f64)(s.high - s.low - 1);
        u64 partner = partner_at(q, s.low + (u32)(behind < most ? behind : most));
        f64 above = exact_uniform(x.y) * s.top;
        if (above < s.least || above < (q->backward ? likelihood(q, partner, owner) : likelihood(q, owner, partner))) take<PLACES>(b, p, &c, partner, f);
    }
    while (c.chosen < p->count) { // rarely: all partners are looked at
        f64 sum = 0, at = 0;
        u64 last = 0;
        for (u32 i = 0; i < count; i++) {
            for (u32 k = list[i].low; k < list[i].high; k++) sum += likely(p, &c, partner_at(q, k));
        }
        sum *= exact_uniform(words_of(b, WIRING, (owner << 32) + attempts + c.chosen, p->number).x);
        for (u32 i = 0; i < count && !(at > sum); i++) {
            for (u32 k = list[i].low; k < list[i].high && !(at > sum); k++) {
                f64 x = likely(p, &c, partner_at(q, k));
                if (x > 0) last = partner_at(q, k);
                at += x;
            }
        }
        take<PLACES>(b, p, &c, last, f);
    }
    return c.made;
}

// all_near counts the synapses of a projection's owners whose cuts these are, or places them; a thread has some of the owners.
template <bool PLACES> DEVICE void all_near(const building *b, const projection *p, const cuts *c) {
    const tree *t = &p->formulas->home;
    tallies f = {1, false};
    u64 made = 0;
    u32 *table = b->tables + thread_index() * p->slots;
    for (u64 place = c->low + thread_index(); place < c->high; place += thread_count()) {
        u64 owner = t->order[place];
        if (PLACES && p->rule == BY_DISTANCE && !p->both && !is_made(b, p->from + owner)) continue;
        u32 group = group_of(t, (u32)place);
        const tree_stretch *list = c->list + (c->start[group] - c->start[c->first]);
        u32 count = (u32)(c->start[group + 1] - c->start[group]);
        if (p->rule == BY_DISTANCE) made += jump_near<PLACES>(b, p, owner, list, list + count, &f);
        else made += choose_near<PLACES>(b, p, owner, list, count, table, &f);
    }
    if (PLACES) report(b, f);
    else add_warp(b->made + p->index, made);
}
