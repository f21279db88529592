package cuda

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"burst/connectome"
	"burst/engine"
	"burst/genome"
	"burst/internal/cuda/cudatest"
	"burst/internal/slow"
	"burst/kernels"
)

// codedAreas are areas whose neurons have a port each.
const codedAreas = `areas:
  - {name: a, size: [20, 15, 1], extent: [200 um, 150 um, 0 um], model: lif}
  - {name: b, neurons: 60, model: lif}
  - {name: hubs, neurons: 3, model: lif}
projections:
`

// codedNetworks have rows of places: of all rules, with short rows and long ones, of which a few do not fit slots, and some that are empty.
var codedNetworks = []string{
	"  - {from: a, to: a, rule: fixed_indegree, indegree: 20, weight: 0.3 mV, delay: 0.2 ms}",
	"  - {from: a, to: a, rule: fixed_outdegree, outdegree: 40, weight: 0.3 mV}\n  - {from: b, to: a, rule: fixed_total_number, count: 900, weight: -0.5 mV}",
	"  - {from: a, to: a, rule: all_to_all, weight: 0.3 mV, delay: 25 ms}\n  - {from: a, to: b, rule: pairwise_bernoulli, p: 0.2, weight: 0.3 mV, delay: 25 ms}",
	"  - {from: a, to: b, rule: pairwise_bernoulli, p: 0.02, weight: 0.3 mV}\n  - {from: hubs, to: a, rule: fixed_outdegree, outdegree: 5000, weight: -1 mV}\n  - {from: b, to: b, rule: one_to_one, weight: 0.1 mV}",
	"  - {from: a, to: a, rule: distance, p: \"exp(-d/(30 um))\", weight: 0.2 mV, delay: 0.3 ms}\n  - {from: b, to: hubs, rule: pairwise_poisson, average: 3, weight: 1 mV, delay: 0.3 ms}",
	"  - {from: hubs, to: hubs, rule: fixed_outdegree, outdegree: 2100, weight: 0.1 mV, delay: 0.1 ms}\n  - {from: b, to: a, rule: fixed_outdegree, outdegree: 30, multapses: false, weight: 0.1 mV, delay: 0.1 ms}",
	"areas:\n  - {name: a, neurons: 40, model: lif}\nprojections:\n  - {from: a, to: a, rule: fixed_outdegree, outdegree: 900, weight: 0.3 mV}",
}

// codedNetwork is the genome of one.
func codedNetwork(t *testing.T, text string) *genome.Genome {
	if !strings.HasPrefix(text, "areas") {
		text = codedAreas + text
	}
	return parsed(t, "burst: v1\nseed: 3\ntimestep: 0.1 ms\n"+text+"\n")
}

// codedWords are rows of places as words.
type codedWords struct{ slots, more []uint16 }

// places are those of a row's slots, each after the slot's weight, wherever they lie.
func (u *codedWords) places(r *rows, row uint64) (list [][]int32) {
	s := &r.shape
	each := s.units * unit
	for k := range s.count << s.piecesLog {
		words := u.slots[(row*s.count<<s.piecesLog+k)*each:][:each]
		own := []int32{r.table.List[words[0]&^full]}
		add := func(words []uint16) {
			for _, w := range words {
				if w != nobody {
					own = append(own, int32(w))
				}
			}
		}
		for words[0]&full != 0 {
			add(words[3:])
			next := (uint64(words[1]) | uint64(words[2])<<16) * unit
			if next >= uint64(len(u.more)) || len(own) > 1<<20 {
				return nil // a mistake
			}
			words = u.more[next:][:unit]
			own = append(own, r.table.List[words[0]&^full])
		}
		if add(words[1:]); len(own) > 1 {
			list = append(list, own)
		} else {
			list = append(list, nil) // an empty row has any weight
		}
	}
	return list
}

// codedTwice are the rows of a part of a network as the host codes them, and as a Maker does, with the hashes of the whole; made is nil where
// it leaves none of places.
func codedTwice(t *testing.T, m *Maker, g *genome.Genome, tune tuning, part connectome.Part) (host, made *rows, on, by codedWords, hashes [2]uint64, err error) {
	parts, err := connectome.NewParts(g, max(1, part.Of), connectome.Options{Maker: m})
	require.NoError(t, err)
	planned := func(c *connectome.Connectome) *backend {
		b := onUsual(c, engine.Want{})
		b.tune, b.share = tune, share{devices: max(1, part.Of), self: part.Index}
		b.isPartOf(c)
		return b
	}
	b, at := planned(parts.Head()), part.Index%len(m.devices)
	clear(m.takers)
	m.takers[at] = b
	if err = parts.Each(func(*connectome.Connectome) error { return nil }); err != nil {
		return
	}
	left := m.take(b)
	if left != nil && left.coded.placed() {
		made = &left.coded
		w := &work{site: m.sites[at], tune: makingDefaults}
		require.NoError(t, w.ctx.Enter())
		by = codedWords{fetch[uint16](t, w, left.b.target, unit*made.slots), fetch[uint16](t, w, left.more, unit*made.more)}
		w.ctx.Leave()
	}
	require.NoError(t, left.free())
	whole, err := parts.Whole()
	require.NoError(t, err)
	all, err := connectome.Build(g, connectome.Options{})
	require.NoError(t, err)
	c, err := connectome.Build(g, connectome.Options{Part: part})
	require.NoError(t, err)
	b = planned(c)
	r, err := b.rowsOf(b.c, makeTables(b.c))
	require.NoError(t, err)
	if r.placed() {
		to := coded{slots: make([]uint16, unit*r.slots), parts: make([]further, 64)}
		r.shape.code(c, r.table, 0, c.Neurons, &to)
		on.slots = to.slots
		for i := range to.parts {
			to.parts[i].shift(on.slots, uint32(len(on.more)/unit))
			on.more = append(on.more, to.parts[i].words...)
		}
	}
	return &r, made, on, by, [2]uint64{all.Hash(), whole.Hash()}, nil
}

// sameCoded reports whether a Maker codes the rows of a part of a network as the host does, or leaves this to it.
func sameCoded(t *testing.T, m *Maker, g *genome.Genome, tune tuning, part connectome.Part) (made *rows, same bool, wrong any) {
	host, made, on, by, hashes, err := codedTwice(t, m, g, tune, part)
	switch {
	case err != nil:
		return nil, false, err
	case made == nil:
		return nil, hashes[0] == hashes[1], "nothing is made"
	case hashes[0] != hashes[1] || len(on.more) != len(by.more):
		return made, false, fmt.Sprint("hashes ", hashes, ", further units ", len(on.more)/unit, len(by.more)/unit)
	}
	own := *made
	if own.table = host.table; !reflect.DeepEqual(*host, own) && (host.least != 0 || own.least == 0) {
		return made, false, fmt.Sprint(*host, own)
	}
	for n := range host.slots / (host.shape.units * host.shape.count << host.shape.piecesLog) {
		if !reflect.DeepEqual(on.places(host, n), by.places(made, n)) {
			return made, false, fmt.Sprint("row ", n)
		}
	}
	return made, true, nil
}

// TestRowsOfPlacesAreMade compares rows of places that a device makes with those of the host: for clusters of all sizes, state in shared
// memory or not, slots of one unit or several, rows of one piece or several.
func TestRowsOfPlacesAreMade(t *testing.T) {
	slow.Short(t)
	cudatest.Anywhere(t)
	m := newTestMaker(t, 0)
	units, pieces, more := map[uint64]bool{}, map[uint64]bool{}, uint64(0)
	for i, text := range codedNetworks {
		for size := uint64(1); size <= 4; size *= 2 {
			tune := clustered(size)
			if tune.outside = uint64(i) % 3; size > 1 {
				tune.outside = min(1, tune.outside)
			}
			m.tune.wide = i%2 == 1
			made, same, wrong := sameCoded(t, m, codedNetwork(t, text), tune, connectome.Part{})
			require.True(t, same, "%v, size %d: %s", wrong, size, text)
			require.NotNil(t, made, text)
			units[made.shape.units], pieces[made.shape.piecesLog], more = true, true, more+made.more
		}
	}
	require.Greater(t, len(units), 2, "%v", units)
	require.Greater(t, len(pieces), 1, "%v", pieces)
	require.Positive(t, more)
	for text, tune := range map[string]tuning{ // rows that stay as they are, or come back
		"  - {from: a, to: a, rule: all_to_all, weight: 0.3 mV}\n  - {from: a, to: b, rule: all_to_all, weight: 0.2 mV}": clustered(1),
		"  - {from: a, to: a, rule: all_to_all, weight: \"normal(0.3 mV, 0.1 mV)\"}":                                     clustered(1),
		"  - {from: a, to: a, rule: fixed_indegree, indegree: 20, kernel: \"exp(-d/(30 um))\", weight: 0.3 mV}":          clustered(1),
		"  - {from: a, to: a, rule: fixed_indegree, indegree: 20, weight: 0.3 mV}":                                       func() tuning { t := clustered(1); t.slotBytes = 1; return t }(),
	} {
		made, same, _ := sameCoded(t, m, codedNetwork(t, text), tune, connectome.Part{})
		require.True(t, same, text)
		require.Nil(t, made, text)
	}
}

// TestRowsOfPlacesOfParts compares those of parts.
func TestRowsOfPlacesOfParts(t *testing.T) {
	slow.Short(t)
	devices(t, 3)
	m, coded := newTestMaker(t, 0, 1, 2), 0
	for i, text := range codedNetworks {
		for k := range 3 {
			tune := clustered(1)
			tune.outside = uint64(i) % 3
			made, same, wrong := sameCoded(t, m, codedNetwork(t, text), tune, connectome.Part{Index: k, Of: 3})
			require.True(t, same, "%v, part %d: %s", wrong, k, text)
			if made != nil {
				coded++
			}
		}
	}
	require.Greater(t, coded, 10)
}

// TestMistakesInRowsOfPlaces plants mistakes in their kernels, each of which the comparison must see, or who looks for races.
func TestMistakesInRowsOfPlaces(t *testing.T) {
	slow.Test(t)
	const coded = "coded_rows.cuh"
	none := cudatest.Change{File: coded, From: "struct coding {", To: "struct coding {"}
	changes := []cudatest.Change{
		none,
		{File: coded, From: "fetch_add(few.of + length, 1)", To: "fetch_add(few.of + length, 2)"},
		{File: coded, From: "add(c->lengths + length, (u64)1)", To: "add(c->lengths + length, (u64)2)"},
		{File: coded, From: "team % c->rounds * (c->teams / c->rounds) + team / c->rounds", To: "team"},
		{File: coded, From: "at[2] = (u16)(number >> 16);", To: ""},
		{File: coded, From: "i % c->units == 0 ? label : NOBODY", To: "label"},
		{File: coded, From: "begin_unit(at, label);", To: "begin_unit(at, 0);"},
		{File: coded, From: "if (i + 1 < more) link", To: "if (i + 2 < more) link"},
		{File: coded, From: "count > 0 ? b->target[first] >> b->port_bits : 0", To: "0"},
		{File: coded, From: "i < room - 3) at += 2;", To: "i < room - 3) at += 1;"},
		{File: coded, From: "(u < full ? 3 : 1)", To: "1"},
		{File: coded, From: "(u16)(own_neuron - team * c->neurons)", To: "(u16)own_neuron"},
		{File: coded, From: "label : NOBODY);\n    block_barrier();", To: "label : NOBODY);"},
		{File: coded, From: "other == bank && j < i", To: "other == bank && j <= i"},
		{File: coded, From: "if (rank == 0) rank = count;", To: "if (rank == 0) rank = 1;"},
	}
	seesMistakes(t, none, changes, func(t *testing.T, m *Maker) (bool, any) {
		for i, text := range codedNetworks {
			tune := clustered(1)
			tune.outside = 2
			m.tune.wide = i%2 == 1
			made, same, wrong := sameCoded(t, m, codedNetwork(t, text), tune, connectome.Part{})
			if !same || made == nil {
				return false, wrong
			}
		}
		return true, nil
	})
}

// TestArgumentsOfRowsOfPlaces holds the structs to those of the kernels.
func TestArgumentsOfRowsOfPlaces(t *testing.T) {
	for _, image := range kernels.Build() {
		for _, name := range []string{"count_stretches", "code_rows"} {
			require.Equal(t, declared(t, image.PTX(), name), sizes(reflect.TypeFor[codeArgs]()), name)
		}
	}
}
