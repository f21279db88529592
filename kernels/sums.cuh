// A tree of sums over values ("leaves") that threads hold, with 32 children a node: level 1 has the sums of 32 leaves
// each, level l+1 the sums of 32 nodes of level l, and the top level is the first of at most 32 nodes. The levels lie one
// after the other, level 1 first. All but level 1 must be zero before leaves are added. Two questions need a few dozen
// loads each, which a warp shares: how much lies before a leaf, and which leaf holds the k-th unit.
#pragma once
#include "burst.cuh"

// sums_nodes is the number of nodes of the level whose nodes hold 2^shift leaves.
DEVICE u64 sums_nodes(u64 leaves, u32 shift) { return (leaves + (1ull << shift) - 1) >> shift; }

// sums_add gives a leaf its value. All lanes of the warp must call it with leaves 32·i + lane; those past the end give 0.
DEVICE void sums_add(u64 *tree, u64 leaves, u64 leaf, u64 value) {
    u64 node = leaf / 32, nodes = sums_nodes(leaves, 5);
    if (node >= nodes) return; // the whole warp lies past the end
    store_sum(tree + node, value);
    if (lane() != 31) return;
    u64 sum = tree[node];
    while (nodes > 32) {
        tree += nodes;
        nodes = sums_nodes(nodes, 5);
        node /= 32;
        add(tree + node, sum);
    }
}

// sums_total is the sum of all leaves.
DEVICE u64 sums_total(const u64 *tree, u64 leaves) {
    u64 nodes = sums_nodes(leaves, 5), total = 0;
    while (nodes > 32) {
        tree += nodes;
        nodes = sums_nodes(nodes, 5);
    }
    for (u64 i = 0; i < nodes; i++) total += tree[i];
    return total;
}

// sums_before is the sum of all leaves below 32·(leaf div 32).
DEVICE u64 sums_before(const u64 *tree, u64 leaves, u64 leaf) {
    u64 node = leaf / 32, nodes = sums_nodes(leaves, 5), before = 0;
    for (;;) {
        for (u64 i = node & ~31ull; i < node; i++) before += tree[i];
        if (nodes <= 32) return before;
        tree += nodes;
        nodes = sums_nodes(nodes, 5);
        node /= 32;
    }
}

// sums_find is the first leaf of the group of 32 that holds unit *k, which must be below the total; *k becomes the unit's
// place in the group.
DEVICE u64 sums_find(const u64 *tree, u64 leaves, u64 *k) {
    u32 shift = 5;
    while (sums_nodes(leaves, shift) > 32) {
        tree += sums_nodes(leaves, shift);
        shift += 5;
    }
    u64 node = 0;
    for (;;) {
        for (u64 sum; (sum = tree[node]) <= *k; node++) *k -= sum;
        if (shift == 5) return node * 32;
        shift -= 5;
        tree -= sums_nodes(leaves, shift);
        node *= 32;
    }
}
