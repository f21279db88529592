// Networks whose rules, weights or delays read where neurons lie, or columns, are built; the rest of a network is made by build.cu.
#include "near.cuh"

// cut_trees makes the stretches of groups that are to have some, or counts those of all groups where there is no list.
KERNEL AT_LEAST(2) cut_trees(const field *q, cuts c) {
    for (u64 i = thread_index(); i < c.groups; i += thread_count()) {
        u32 group = c.first + (u32)i;
        if (c.list != nullptr && c.start[group] == c.start[group + 1]) continue;
        u32 count = cut(q, group, c.list != nullptr ? c.list + (c.start[group] - c.start[c.first]) : nullptr);
        if (c.list == nullptr) c.count[group] = count;
    }
}

// count_near and place_near are count_synapses and place_synapses of rules by kernel and mask, for the owners of some groups.
KERNEL AT_LEAST(2) count_near(building b, projection p, cuts c) { all_near<false>(&b, &p, &c); }
KERNEL AT_LEAST(2) place_near(building b, projection p, cuts c) { all_near<true>(&b, &p, &c); }

// place_by_formula is place_synapses where weights or delays are formulas.
KERNEL AT_LEAST(2) place_by_formula(building b, projection p) { place_all<true>(&b, &p); }

// formula_values are the numbers of a formula, of pairs of neurons from list.
KERNEL formula_values(const field *q, u64 n, const u32 *list, f64 *y) {
    for (u64 i = thread_index(); i < n; i += thread_count()) y[i] = number_of(q, &q->kernel, list[2 * i], list[2 * i + 1]);
}
