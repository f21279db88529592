package cuda

import (
	"context"
	"fmt"
	"math"
	"reflect"
	"slices"
	"sort"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"burst/connectome"
	"burst/engine"
	"burst/genome"
	"burst/internal/cuda/cudatest"
	"burst/internal/cuda/driver"
	"burst/internal/slow"
	"burst/kernels"
)

// stayed are rows as the host sees them, wherever they are.
type stayed struct {
	row           []uint64
	port          []uint32
	weight        []int32
	delay, soon   []uint32 // soon: synapses of each row with delay 1
	soonest, hash uint64   // all of these; hash of the network
}

// onHost are those of c.
func onHost(c *connectome.Connectome) stayed {
	s := stayed{row: c.Row, port: c.Target, weight: c.Weight, hash: c.Hash()}
	for k := range c.Synapses() {
		s.delay = append(s.delay, c.DelayOf(k))
	}
	d := delayedOf(c, 1)
	s.soon, s.soonest = d.each, uint64(d.soon)
	return s
}

// fetch copies n entries of a list from a device.
func fetch[T any](t *testing.T, w *work, p driver.Ptr, n uint64) []T {
	list := make([]T, n)
	if n > 0 {
		require.NoError(t, w.stage(size(list), func(s *staging) error { return s.download(data(list), p, size(list)) }))
	}
	return list
}

// wordsAt are a list of n synapses' words, behind which there are zeros for those who read many at a time.
func wordsAt(t *testing.T, w *work, p driver.Ptr, n uint64) []uint32 {
	list := fetch[uint32](t, w, p, readBytes(n)/4)
	require.GreaterOrEqual(t, uint64(len(list))-n, uint64(load/4))
	require.Equal(t, make([]uint32, uint64(len(list))-n), list[n:])
	return list[:n]
}

// read reads n synapses that have stayed.
func (m *made) read(t *testing.T, n uint64) stayed {
	w := &work{site: m.site, tune: makingDefaults}
	require.NoError(t, w.ctx.Enter())
	defer w.ctx.Leave()
	var joined []uint32
	s := stayed{row: fetch[uint64](t, w, m.b.row, m.b.neurons+1), port: wordsAt(t, w, m.b.target, n)}
	if m.table == nil {
		for _, word := range wordsAt(t, w, m.b.weight, n) {
			s.weight = append(s.weight, int32(word)>>m.delayBits)
			joined = append(joined, word&(1<<m.delayBits-1))
		}
	} else {
		values := fetch[int32](t, w, m.values, uint64(len(m.table.List)))
		for k, word := range s.port {
			weight := int32(math.MinInt32) // no weight
			if label := word >> m.portBits; int(label) < len(values) {
				weight = values[label]
			}
			s.port[k], s.weight = word&(1<<m.portBits-1), append(s.weight, weight)
		}
	}
	if m.delayBits > 0 { // no path asks for the synapses with delay 1
		require.Zero(t, m.b.longDelay)
		s.delay = joined
		for n, first := range s.row[:m.b.neurons] {
			of := s.delay[first:s.row[n+1]]
			s.soon = append(s.soon, uint32(sort.Search(len(of), func(k int) bool { return of[k] > 1 })))
			s.soonest += uint64(s.soon[n])
		}
		require.NoError(t, w.free())
		return s
	}
	short, long := fetch[uint8](t, w, m.b.shortDelay, n*min(1, m.delays%2)), fetch[uint16](t, w, m.b.longDelay, n*(m.delays/2))
	s.delay = slices.Repeat([]uint32{1}, int(n))
	for k := range s.delay {
		switch m.delays {
		case 1:
			s.delay[k] = uint32(short[k])
		case 2:
			s.delay[k] = uint32(long[k])
		}
	}
	var soon driver.Ptr
	require.NoError(t, w.take(room{&soon, 4 * m.b.neurons, false}))
	var err error
	s.soonest, err = w.soonOf(m.b, soon)
	require.NoError(t, err)
	s.soon = fetch[uint32](t, w, soon, m.b.neurons)
	require.NoError(t, w.free())
	return s
}

// stay makes rows that stay for a GPU of usual size and reads them. It says how they lie.
func stay(t *testing.T, m *Maker, g *genome.Genome, tune tuning) (s stayed, form string, err error) {
	parts, err := connectome.NewParts(g, 1, connectome.Options{Maker: m})
	require.NoError(t, err)
	b := onUsual(parts.Head(), engine.Want{})
	b.tune = tune
	m.takers[0] = b
	var c *connectome.Connectome
	err = parts.Each(func(part *connectome.Connectome) error {
		c = part
		return nil
	})
	if err != nil {
		return s, "", err
	}
	require.Nil(t, c.Target)
	rows := m.take(b)
	require.NotNil(t, rows)
	require.Nil(t, m.take(b), "rows are taken once")
	defer func() { require.NoError(t, rows.free()) }()
	whole, err := parts.Whole()
	require.NoError(t, err)
	s = rows.read(t, c.Synapses())
	s.hash = whole.Hash()
	drawn := slices.ContainsFunc(g.Projections, func(p genome.Projection) bool { return p.Weight.Kind != genome.Const })
	switch {
	case rows.delayBits > 0:
		return s, "joined", nil
	case rows.table == nil:
		return s, "plain", nil
	case drawn:
		return s, "packed at last", nil
	}
	return s, "packed", nil
}

// scaled is a network of a rule and values, beside another one from the same area.
func scaled(scale string, i, k int) string {
	other := builtValues[(k+1)%len(builtValues)]
	if k < 2 {
		other = builtValues[1-k]
	}
	return fmt.Sprintf(builtAreas, "scale: "+scale) + projectionText(builtRules[i], builtValues[k]) + projectionText(builtRules[(i+5)%len(builtRules)], other)
}

// narrowing has delays for which there are two bytes, none of which needs them.
func narrowing() string {
	return fmt.Sprintf(builtAreas, "") + projectionText(builtRules[6], `weight: 1 UNIT, delay: "lognormal(2 ms, 1 ms) >= 0.1 ms"`)
}

// joining has delays of two bytes, which lie beside the weights if these leave room in their words: at a scale of 100000, not of 1000000. At
// 150000 weights could take more room than they do. By 400 its rows are long for a small Maker.
func joining(scale string, indegree int) string {
	rule := fmt.Sprintf("from: a, to: b, rule: fixed_indegree, indegree: %d", indegree)
	return fmt.Sprintf(builtAreas, "scale: "+scale) + projectionText(rule, `weight: "normal(-1 UNIT, 2 UNIT)", delay: "uniform(1, 600)"`)
}

// longRows has rows that are longer than a small Maker's block has room for, all of one weight or all drawn.
func longRows(weight string) string {
	text := fmt.Sprintf(builtAreas, "")
	for i, to := range []string{"a", "b", "c", "a", "b", "d"} {
		text += projectionText("from: a, to: "+to+", rule: all_to_all", fmt.Sprintf(`weight: %s, delay: "uniform(1, %d)"`, weight, 30+i))
	}
	return text
}

// TestRowsStay wants of rows that stay on the device, of all rules with all kinds of weights and delays, what the host makes.
func TestRowsStay(t *testing.T) {
	slow.Short(t)
	cudatest.Anywhere(t)
	m := newTestMaker(t, 0)
	forms := map[string]int{}
	holds := func(text string, tune tuning) {
		g := parsed(t, text)
		c, err := connectome.Build(g, connectome.Options{})
		require.NoError(t, err)
		got, form, err := stay(t, m, g, tune)
		require.NoError(t, err)
		require.Equal(t, onHost(c), got, "%s %s", form, text)
		forms[form]++
	}
	unpacked := defaults
	unpacked.unpacked = true
	for i := range builtRules {
		for k := range builtValues {
			if !slow.Full() && (i+k)%4 != 0 {
				continue
			}
			holds(scaled([]string{"10", "100000"}[i%2], i, k), defaults)
		}
		holds(scaled("1000", i, i%len(builtValues)), unpacked)
	}
	for scale, form := range map[string]string{"1000000": "plain", "150000": "joined", "100000": "joined"} {
		before := forms[form]
		holds(joining(scale, 9), unpacked)
		require.Equal(t, before+1, forms[form], scale)
	}
	before := forms["packed at last"]
	holds(joining("10", 9), defaults)
	require.Equal(t, before+1, forms["packed at last"])
	holds(joining("100000", 400), unpacked)
	for _, form := range []string{"plain", "joined", "packed", "packed at last"} {
		require.Positive(t, forms[form], "%s: %v", form, forms)
	}
	holds(allRules("scale: 30000"), defaults)
	holds(narrowing(), defaults)
	holds(longRows("1 UNIT"), defaults)
	holds(longRows(`"normal(1 UNIT, 2 UNIT)"`), unpacked)
	holds(fmt.Sprintf(builtAreas, "")+projectionText("from: a, to: b, rule: all_to_all", `weight: 1 UNIT, delay: "clip(normal(-2 ms, 0.1 ms), 0.1 ms, 40 ms)"`), defaults) // all are 1
}

// openMade opens the network of a genome on devices that build it.
func openMade(t *testing.T, g *genome.Genome, devices []int, tune tuning) (engine.Backend, *connectome.Connectome, error) {
	m := newTestMaker(t, devices...)
	parts, err := connectome.NewParts(g, len(devices), connectome.Options{Maker: m})
	require.NoError(t, err)
	b, err := openParts(parts, devices, m, engine.Want{}, tune)
	if err != nil {
		return nil, nil, err
	}
	c, err := parts.Whole()
	require.NoError(t, err)
	return b, c, nil
}

// TestOpenMade runs networks that devices have built beside those that the host has: the same spikes, path and bytes of the device, on one
// device and on several, where rows stay and where they come back to be made rows of places.
func TestOpenMade(t *testing.T) {
	h := devices(t, 3)
	h.Control("multiprocessors", 4)
	unpacked := fewThreads()
	unpacked.unpacked = true
	drive := "areas:\n  - {name: a, size: [20, 15, 1], extent: [200 um, 150 um, 0 um], model: lif, drive: {poisson: {rate: 9000 Hz, weight: 0.5 mV}}}\nprojections:\n"
	for name, one := range map[string]struct {
		projections string
		devices     []int
		tune        tuning
		stays       bool
	}{
		"constants":      {"  - {from: a, to: a, rule: fixed_indegree, indegree: 20, weight: 0.3 mV, delay: 2}", []int{0}, fewThreads(), true},
		"several":        {"  - {from: a, to: a, rule: fixed_indegree, indegree: 20, weight: 0.3 mV, delay: 2}", []int{1, 0, 2}, fewThreads(), true},
		"no delays":      {"  - {from: a, to: a, rule: fixed_total_number, count: 4000, weight: 0.3 mV}", []int{2}, fewThreads(), true},
		"drawn":          {`  - {from: a, to: a, rule: pairwise_bernoulli, p: 0.1, weight: "normal(0.1 mV, 0.02 mV)", delay: "uniform(1, 9)"}`, []int{0}, fewThreads(), true},
		"plain":          {`  - {from: a, to: a, rule: pairwise_bernoulli, p: 0.1, weight: "normal(0.1 mV, 0.02 mV)", delay: "uniform(1, 9)"}`, []int{0}, unpacked, true},
		"narrowed":       {`  - {from: a, to: a, rule: pairwise_bernoulli, p: 0.1, weight: "normal(0.1 mV, 0.02 mV)", delay: "lognormal(3, 2) >= 1"}`, []int{0}, fewThreads(), true},
		"plain, spread":  {`  - {from: a, to: a, rule: pairwise_bernoulli, p: 0.1, weight: "normal(0.1 mV, 0.02 mV)", delay: "uniform(1, 900)"}`, []int{0, 1}, unpacked, true},
		"near":           {`  - {from: a, to: a, rule: distance, p: "exp(-d/(30 um))", weight: 0.2 mV, delay: "1 + d/(90 um)"}`, []int{0, 1}, fewThreads(), true},
		"near, drawn":    {`  - {from: a, to: a, rule: fixed_indegree, indegree: 20, mask: "d < 70 um", weight: "0.2 mV*exp(-d/(90 um))", delay: 2}`, []int{0}, unpacked, true},
		"none":           {"  - {from: a, to: a, rule: pairwise_bernoulli, p: 0, weight: 1 mV}", []int{0}, fewThreads(), false},
		"places":         {"  - {from: a, to: a, rule: fixed_indegree, indegree: 20, weight: 0.3 mV, delay: 2}", []int{0}, clustered(1), false},
		"places, spread": {"  - {from: a, to: a, rule: fixed_indegree, indegree: 20, weight: 0.3 mV, delay: 2}", []int{0, 1}, clustered(1), false},
	} {
		t.Run(name, func(t *testing.T) {
			g := parsed(t, "burst: v1\nseed: 5\n"+drive+one.projections+"\n")
			parts, err := connectome.NewParts(g, len(one.devices), connectome.Options{})
			require.NoError(t, err)
			b, err := openParts(parts, one.devices, nil, engine.Want{}, one.tune)
			require.NoError(t, err)
			defer b.Close()
			want, err := parts.Whole()
			require.NoError(t, err)
			made, got, err := openMade(t, g, one.devices, one.tune)
			require.NoError(t, err)
			defer made.Close()
			require.Equal(t, want, got)
			require.Equal(t, b.(interface{ Path() Path }).Path(), made.(interface{ Path() Path }).Path())
			if on, ok := b.(*backend); ok {
				require.Equal(t, on.plan.bytes, made.(*backend).plan.bytes)
				require.Equal(t, one.stays, made.(*backend).rows.table != on.rows.table && made.(*backend).rows.synapses > 0 && !on.rows.placed() || one.tune.unpacked)
			}
			digest := func(b engine.Backend) uint64 {
				e := engine.New(want, b, engine.Options{})
				require.NoError(t, e.Run(context.Background(), 40))
				require.Positive(t, e.Spikes())
				return e.Digest()
			}
			require.Equal(t, digest(b), digest(made))
		})
	}
	require.Zero(t, h.Count("held"))
}

// TestRowsStayOffTheHost: rows that stay take no memory of the host, whose limit holds for those that come back.
func TestRowsStayOffTheHost(t *testing.T) {
	h := cudatest.Host(t)
	const head = "burst: v1\nareas:\n  - {name: a, neurons: 300, model: lif}\nprojections:\n"
	g := parsed(t, head+"  - {from: a, to: a, rule: all_to_all, weight: 0.01 mV, delay: 2}\n")
	const limit = 600_000 // 90,000 synapses take 810,000
	comesBack := parsed(t, head+"  - {from: a, to: a, rule: all_to_all, weight: 0.01 mV, delay: 2}\n  - {from: a, to: a, rule: one_to_one, weight: 0.02 mV, delay: 2}\n")
	_, refused := connectome.Build(comesBack, connectome.Options{MaxBytes: limit, Threads: 1})
	require.ErrorAs(t, refused, new(*connectome.LimitError))
	for _, one := range []struct {
		g    *genome.Genome
		tune tuning
	}{{g, fewThreads()}, {g, clustered(1)}, {comesBack, clustered(1)}} {
		m := newTestMaker(t, 0)
		parts, err := connectome.NewParts(one.g, 1, connectome.Options{MaxBytes: limit, Threads: 1, Maker: m})
		require.NoError(t, err)
		b, err := openParts(parts, []int{0}, m, engine.Want{}, one.tune)
		if one.g == comesBack {
			require.EqualError(t, err, refused.Error())
			continue
		}
		require.NoError(t, err)
		require.NoError(t, b.Close())
	}
	require.Zero(t, h.Count("bytes"), "also of what could not be opened")
}

// TestFailedAllocationsOfRowsThatStay lets every allocation fail in turn: nothing stays behind.
func TestFailedAllocationsOfRowsThatStay(t *testing.T) {
	h := cudatest.Host(t)
	for _, one := range []struct {
		g    *genome.Genome
		tune tuning
	}{{parsed(t, fmt.Sprintf(builtAreas, "")+projectionText(builtRules[4], builtValues[2])), fewThreads()}, {codedNetwork(t, codedNetworks[1]), clustered(1)}} {
		open := func() error {
			m := smallMaker([]int{0})
			defer func() { require.NoError(t, m.Close()) }()
			parts, err := connectome.NewParts(one.g, 1, connectome.Options{Maker: m})
			require.NoError(t, err)
			b, err := openParts(parts, []int{0}, m, engine.Want{}, one.tune)
			if err != nil {
				return err
			}
			return b.Close()
		}
		h.Control("fail_alloc", 0)
		before := h.Count("allocations")
		require.NoError(t, open())
		total := h.Count("allocations") - before
		require.Greater(t, total, int64(25))
		for k := int64(1); k <= total; k++ {
			h.Control("fail_alloc", k)
			require.ErrorContains(t, open(), "CUDA_ERROR_OUT_OF_MEMORY", "allocation %d of %d", k, total)
			require.Zero(t, h.Count("held"), "allocation %d of %d", k, total)
		}
	}
}

// TestMistakesInRowsThatStay plants mistakes in their kernels, each of which the comparison must see, or who looks for races.
func TestMistakesInRowsThatStay(t *testing.T) {
	slow.Test(t)
	const rows, draws = "kept_rows.cuh", "build.cuh"
	none := cudatest.Change{File: draws, From: "struct synapse {", To: "struct synapse {"}
	changes := []cudatest.Change{
		none,
		{File: draws, From: "s.port | label << b->port_bits", To: "s.port | (label ^ 1) << b->port_bits"},
		{File: rows, From: "if (values[middle] < weight)", To: "if (values[middle] <= weight)"},
		{File: "build_rows.cuh", From: "b << (32 - r.port_bits) | b >> r.port_bits", To: "b"},
		{File: "build_rows.cuh", From: "if (j < n) order_placed<K>", To: "if (j + 1 < n) order_placed<K>"},
		{File: "build_rows.cuh", From: "else merge_keys(room, log, log);", To: "else merge_keys(room, log, log - 1);"},
		{File: "build_rows.cuh", From: "room[spaced<K>(k)]);\n            block_barrier();", To: "room[spaced<K>(k)]);"},
		{File: "build_rows.cuh", From: "0, delay_at(b, k)}, word >> b->port_bits)", To: "0, delay_at(b, k)}, 0)"},
		{File: "build_rows.cuh", From: "narrow ? placed_key<u32>(b, k) :", To: "!narrow ? placed_key<u32>(b, k) :"},
		{File: "build_rows.cuh", From: "s.weight = r->values[label];", To: "s.weight = r->values[0];"},
		{File: rows, From: "there = replace(found + i, 0, entry);", To: "found[i] = entry;"},
		{File: "build.cu", From: "to[k] = (u8)b.long_delay[k]", To: "to[k] = (u8)b.long_delay[k - k % 2]"},
		{File: "build.cu", From: "above != 0 && above != -1", To: "above > 100"},
		{File: "build.cu", From: "<< delay_bits | b.long_delay[k]", To: "<< delay_bits | (u8)b.long_delay[k]"},
		{File: draws, From: "(b->join_bits > 0 ? s.delay : 0)", To: "0"},
		{File: rows, From: "(u32)b->weight[k] & ((1u << b->join_bits) - 1)", To: "(u8)b->weight[k]"},
		{File: rows, From: "synapse{word, b->weight[k] >> b->join_bits", To: "synapse{word, b->weight[k]"},
		{File: rows, From: "(u64)(s.delay >> 8) << 40", To: "(u64)(s.delay >> 8) << 41"},
		{File: rows, From: "values[word >> b->port_bits]", To: "values[0]"},
		{File: rows, From: "if (delay_at(b, middle) > 1)", To: "if (delay_at(b, middle) > 2)"},
	}
	seesMistakes(t, none, changes, func(t *testing.T, m *Maker) (same bool, wrong any) {
		for i, text := range []string{scaled("1000", 3, 1), scaled("1000", 3, 1), scaled("1000", 3, 1), scaled("10", 7, 2), narrowing(), longRows("1 UNIT"), allRules("scale: 30000"), joining("100000", 9), joining("1000000", 9), joining("100000", 400)} {
			g, tune := parsed(t, text), defaults
			tune.unpacked = strings.Contains(text, "uniform(1, 600)")
			m.tune.keyBits, m.tune.wide = []uint32{64, 0, 64}[i%3], i == 2 // packed rows by keys of 4 bytes, in place, by keys of 8
			want, err := connectome.Build(g, connectome.Options{})
			require.NoError(t, err)
			got, _, err := stay(t, m, g, tune)
			if err != nil || !reflect.DeepEqual(onHost(want), got) {
				return false, err
			}
		}
		return true, nil
	})
}

// TestArgumentsOfRowsThatStay holds the structs to those of the kernels.
func TestArgumentsOfRowsThatStay(t *testing.T) {
	for _, image := range kernels.Build() {
		for name, args := range map[string]reflect.Type{
			"collect_weights": reflect.TypeFor[collectArgs](), "pack_rows": reflect.TypeFor[packArgs](),
			"narrow_delays": reflect.TypeFor[narrowArgs](), "find_wide": reflect.TypeFor[wideArgs](), "join_delays": reflect.TypeFor[joinArgs](), "count_soon": reflect.TypeFor[soonArgs](),
		} {
			require.Equal(t, declared(t, image.PTX(), name), sizes(args), name)
		}
	}
}
