// Package connectome expands a genome into flat, immutable arrays that backends load: neurons numbered area by area,
// and for every neuron the row of its synapses. The same genome gives the same bytes for any number of threads.
//
// # Building
//
// Build makes a network, or the part of it whose synapses lead onto the neurons of one Part, in these steps:
//
//	          Genome
//	            |
//	plan        |  number the neurons, make each projection's rule ready, choose the scale; check the memory
//	            v
//	count       how long is each row? Rules that know say so; the others draw, and what they make is counted, by
//	            row or, if the rule does not go by source, by bin: a few consecutive rows
//	            |
//	scan        |  Row, and the starts of bins: the sums of the lengths; check the memory again, now that sizes are exact
//	            |
//	            +------------------------------------+
//	            v rules by source                    v rules by target or by synapse
//	place       one goroutine draws all synapses     all goroutines draw; an atomic cursor of the bin
//	            of a source, one after the other     says where each synapse goes
//	            |                                    |
//	merge       |  those of projections that merge   |
//	            |  become one for each port          |
//	sort        |  the row, while it is in cache     |  all rows that have such synapses, at the end
//	            |                                    |
//	            +------------------------------------+
//	            v
//	prove       the sums of |weight|, which place has added up by port, cannot leave int32
//	            |
//	            v
//	       Connectome
//
// Count and place repeat the same draws, so nothing is stored between them. Each step is a loop over independent units
// (sources, targets or synapses). Rows are sorted at the end, so the order in which goroutines work does not matter.
//
// Where all that leads from an area is of fixed_indegree and fixed_total_number, with one weight, one delay and a known number of
// synapses, these are drawn once: pieces of them are sorted by bin in the memory of their weights, and each bin then takes its own
// from all pieces, in order. Synapses made target by target come into rows that are sorted.
//
// A part of a network discards most of its draws, so drawing twice would double its work. If all its rules go by source,
// there is no count: blocks of rows are drawn into scratch memory, and each is placed when the lengths of all blocks before
// it are known (a chained scan). A whole network whose rows are random does the same if there is memory for the most synapses that it
// may have; what is not written to is never taken.
//
// # Draws
//
// A draw is exact.Draw(seed, purpose, index, stream + attempt·2^32): Philox4x32-10 with the genome's seed as key, with
// the number of the projection (of the area, for initial values) as stream, both counted from 0 in the genome's order,
// and attempt 0 unless said otherwise. Its words make two 64-bit numbers, x = word1·2^32 + word0 and
// y = word3·2^32 + word2. A number 0…n−1 from x is ⌊x·n/2^64⌋, written below(x, n). Neurons s of the source area and t
// of the target area count from 0 in their areas; S and T are the numbers of them. docs/bits.md has the steps of exact.Log,
// exact.Log1p, exact.Exp, the normal quantile, and of the hash of a connectome.
//
// A synapse has an ordinal in its projection, which indexes the draws of its weight and delay:
//
//	fixed_indegree      t·K + j, j = 0…K−1
//	fixed_outdegree     s·K + j
//	fixed_total_number  k, 0 ≤ k < count
//	edges               the row of the list, from 0
//	pairwise_poisson    s·2^32 + k, k = 0, 1, … along the row of s
//	all others          s·T + t
//
// # Rules
//
// Draws of this section have purpose wiring. Where a projection connects an area to itself and autapses are forbidden,
// rules of a fixed number draw the partner of neuron n from one neuron less, and numbers ≥ n stand for the next higher
// neuron: M below is then S−1 or T−1, and past(n, p) is p + 1 where p ≥ n, else p. All other rules,
// with draws or without, leave the pairs s = t out of what they would make.
//
//   - one_to_one: s = t. all_to_all: every pair.
//   - fixed_indegree: for target t and j = 0…K−1, s = past(t, below(x, M)) with x of index t·K + j. Without multapses
//     the j-th choice is p = below(x, M−K+j+1), or M−K+j where p was chosen before (Floyd's sampling).
//   - fixed_outdegree: the same with sources and targets exchanged; index s·K + j.
//   - fixed_total_number: for k = 0…count−1, s = below(x, S) and t = past(s, below(y, M)), both of index k.
//     Without multapses the pair is number π(k) of all S·M pairs, s = ⌊π/M⌋ and t = past(s, π mod M). π is a
//     Feistel network on a×b numbers, a the least integer with a² ≥ S·M, b = ⌈S·M/a⌉: n = l·b + r; then for i = 0, 2, … 10
//     l = (l + below(mix(r ⊕ key(i)), a)) mod a and r = (r + below(mix(l ⊕ key(i+1)), b)) mod b; repeated on the result
//     while that is ≥ S·M. key(2i) is x and key(2i+1) is y of index i = 0…5; mix is the finaliser of SplitMix64.
//   - pairwise_bernoulli: along the row of source s, c = 0 at first. x of index s·T + c gives the gap
//     g = ⌊log(1 − u)/log1p(−p)⌋ with u = ⌊x/2^11⌋/2^53 and exact.Log, exact.Log1p; the next synapse goes to c + g
//     unless that is ≥ T, and then c = that + 1. For p = 1 all gaps are 0. With symmetric, c = s at first, and the synapse from t to s
//     is made beside each from s to t.
//   - pairwise_poisson: along the row of source s, a = 0 at first. For k = 0, 1, … x of index s·2^32 + k gives
//     a = a − log(1 − u)/average; there is a synapse to ⌊a⌋ unless that is ≥ T, which ends the row.
//   - projector: per axis with S source and T target coordinates, source l reaches ⌊l·T/S⌋ where S ≥ T, and else every
//     d with ⌊d·S/T⌋ = l; the three axes form a product.
//   - vectors: the voxel s + v for each different v, where it lies in the target area.
//   - patterns: every source voxel whose coordinates equal the integers of a pattern's source (all axes) reaches the
//     product of what its destination says: an integer, every coordinate (*), the source's (?), all but the source's (!).
//   - projector with axes: the target's x, y, z follow the source axes in that order; with from_end, the source's last
//     layer on that axis alone, and the target axis that follows it has the coordinate 0. With division float32, l
//     reaches ⌊l/(S/T)⌋ where S > T and every d with ⌊d/(T/S)⌋ = l where S < T, each quotient rounded to float32.
//   - block_to_block: the voxel with the source's coordinates, each divided by that of divide and rounded down.
//     lateral_pairs: x + 1 from an even x, x − 1 from an odd one, the same y and z. last_to_first: from the source's last
//     voxel to the target's first.
//   - expander: x reaches every (d, 0, 0) whose binary numeral, filled with zeros in front to the width S of the source's
//     x, has a 1 at place x, counted from 0 at its left end. reducer: x reaches (i, 0, 0) for every place i of a 1 in the
//     numeral of x, filled likewise to the width T of the target's x.
//   - composite: the source is cut into blocks of src_seed voxels from the origin on; block b of an axis is taken where
//     b mod (choose + skip) < choose. The mapper is applied with the block as source; blocks that the area's end cuts
//     go as far as they reach.
//
// Voxels outside the target area drop. All rules from projector on connect all neurons of the source voxel to all neurons
// of each voxel reached, with last_of_voxel to the last one alone, with first_of_voxel to the first one, each pair once.
//
//   - randomizer: source s reaches all neurons of voxel below(x, voxels of the target), x of index s.
//   - edges: the pairs that a list in a file names, with its weights and delays where it has them; neither psp nor its
//     division applies to weights of a list.
//
// # Distance
//
// d, dx, dy and dz of a pair are what genome.Area.At says of the target less the source, on a periodic axis of extent e the x of each
// such difference replaced by x − e·⌊x/e + ½⌋, and d = √(dx² + dy² + dz²), added from left to right. A formula may also read columns of
// a pair's two neurons, in base units. Formulas are worked out in float64, as burst/internal/formula has it.
//
// The neurons of an area make a tree, whose axes are x, y and z. Where kernel or mask of a rule read columns, the axes are x, y, z (if they
// read d, dx, dy or dz, too) and then the columns that they read of the area, in its order. All are the root, and a node's neurons are
// halved along the longest side of their bounding box (the first of equal ones), ⌈n/2⌉ to the first half, in the order of coordinate and
// neuron; without axes, of neuron. With columns a side that is not 0 counts as its share: of x, y and z divided by the longest of these
// three of the root, of a column by the root's own. There are D halvings, the least number with
// ⌈n/2^D⌉ ≤ 4; places count the neurons of the last nodes from first to last, those of one node in their own order. The neurons of one
// node after max(0, D−2) halvings are a group.
//
// An owner, which has partners at the other end, cuts the tree of its partners into stretches. The likelihood of a pair is its kernel
// where the mask holds, and else 0; below 0 it is 0, and so is a NaN. Of a node with n neurons L and H are bounds of the
// likelihoods between the owner's group and the node, by intervals of differences between the two bounding boxes, and of the columns in
// either (see formula.Kernel.Over).
// From the root on, a node with H = 0 drops; one with (H − L)·n ≤ 4·top, or after D halvings, is a stretch; any other gives its halves.
// Differences of a periodic axis whose two ends have the same ⌊x/e + ½⌋ lie between these ends as replaced; with the next one,
// dx between −e/2 and e/2, and |dx| between the least of both ends (if they lie on two sides of 0; else 0) and e/2.
//
//   - distance: owners are the sources, the kernel is p, at most 1, and top = 1. Draws of source s have the indices s·2^32 + j,
//     j = 0, 1, … along all its stretches. In a stretch c is its first place; x gives the gap g = ⌊log(1 − u)/log1p(−H)⌋ (0 where H = 1), and the
//     candidate is at c + g unless the stretch ends before, which ends it; then c = that + 1, while the stretch goes on. With v from
//     y as u from x the candidate is taken where v·H < p. With symmetric only targets t ≥ s are taken, and t to s is made beside s to t.
//   - fixed_indegree and fixed_outdegree with kernel or mask: top is the upper bound of the kernel between both areas' bounding boxes, or
//     1. With W the sum of H·n over the stretches, attempt i = 0, 1, … has index owner·2^32 + i: w = u·W; the first stretch whose sum up to
//     its end is > w, less the sum before it, divided by H, gives the place in it; taken where v·H < likelihood, unless it may not be.
//     After 64·K + 1024 attempts each further synapse j is picked by x of index owner·2^32 + 64·K + 1024 + j: the first place
//     whose likelihoods up to it, of all partners that still may be, exceed u times their sum.
//
// # Attractivity
//
// A synapse that a rule makes is kept where below(x, 100) < attractivity, x of purpose attractivity and its ordinal as
// index. The others take part in nothing that follows.
//
// # Values
//
// A weight draws with purpose weight, a delay with purpose delay, an initial potential with purpose initial V and the
// neuron's number in the network as index. With k = ⌊x/2^11⌋:
//
//	uniform(a, b)    a + (b − a)·k/2^53
//	normal(m, s)     m + s·z, z = exact.Normal(x): the quantile of (k + ½)/2^53, mirrored at the centre
//	a formula        of d, dx, dy, dz and columns of the pair; times are divided by the time step
//	lognormal(m, s)  ±exp(μ + σ·z) with the sign of m, σ² = log1p((s/m)²), μ = log|m| − σ²/2
//
// A value outside its bounds is drawn again with the next attempt, 2^16 in all, or moved to the bound where the genome
// says clip. A distribution whose bounds keep fewer than 10 of the draws of index 0…9,999 at attempt 0 is refused.
// All arithmetic is float64, each product and sum rounded on its own. A weight times scale is rounded to the nearest
// whole number of quanta, ties away from zero; a delay likewise to bursts.
//
// A weight w from an area with psp p counts as w·p. Where the area divides its psp, with K the number of synapses that
// leave the source neuron before merging, over all projections but lists that have weights, it is ±⌈⌈|w·p|·scale⌉/K⌉ quanta:
// rounded away from zero, so that n inputs of 1/n are no less than 1.
//
// # Merging
//
// Of the projections that merge, all synapses of one source, port and delay become one, whose weight is the sum of their
// quanta. It stays a synapse where that is 0. Only rules that go by source and make every pair once merge, so that the
// number of synapses is known without storing them.
//
// # Bounds
//
// The proof adds up per port the |weight| of every synapse before merging, |amount| of constant drives of feagi and custom areas,
// the largest number of events times |amount| of Poisson drives, the end farther from 0 of what normal drives draw, and |amount| of
// every scheduled stimulus, as if all acted in one burst. Where no port of two is named, the first one takes what is ≥ 0 and the
// second one what is < 0, so that a normal drive adds its upper end to one and its lower end to the other.
// A genome where that exceeds 2^31−1 is refused; Bound keeps the sum without the stimuli. scale: auto is the largest
// power of two ≤ 2^20 for which the whole sum stays ≤ 2^30 everywhere; bounds that the sum of draws leaves with a probability below
// e^−50 count as certain (see forecast). Where an area divides its psp, it is the largest up
// to the least 2^k ≥ 1000·K for the largest K, or 2^24: rounding up then adds at most a thousandth of a psp of 1. Where weights learn,
// it is halved until every initial one is as many quanta again after it was a float32 and lies within its bounds, if that can be.
// A synapse whose weight changes counts with the larger of its bounds. Those of a projection with overflow: fail are cut to what the
// others leave; engine/doc.go has the rule.
package connectome
