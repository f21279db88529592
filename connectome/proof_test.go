package connectome

import (
	"bytes"
	"fmt"
	"io"
	"maps"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"burst/genome"
	"burst/internal/slow"
)

// mixed is a random genome of few neurons in which all that the proof has to add up may meet: models with one port, two and five, drives of
// every kind, rules, lists, drawn, divided and merged weights, and stimuli.
type mixed struct {
	r       *rand.Rand
	scale   float64
	areas   []mixedArea
	lines   []string // projections
	stimuli []string
	files   map[string]string
	auto    bool
}

type mixedArea struct {
	name, model, unit, head string
	ports                   []string
	divides                 bool
	drives                  []string
}

// mixedNeurons is how many each area has.
const mixedNeurons = 6

const mixedModels = `models:
  - {name: own1, state: {v: 0}, ports: [in], update: [v = v/2 + in], threshold: v > 1}
  - {name: own2, state: {v: 0}, ports: [up, down], update: [v = v/2 + up + down], threshold: v > 1}
  - {name: own5, state: {v: 0}, ports: [a, b, c, d, e], update: [v = v/2 + a + b + c + d + e], threshold: v > 1}
`

// mixedKinds are the models that take input, with their unit, what else they must be given, and their ports.
var mixedKinds = [][4]string{
	{"feagi", "", "", "input"},
	{"lif", " mV", "", "input"},
	{"lif_psc_exp", " pA", ", params: {C: 250 pF, tau: 10 ms, tau_syn: 2 ms, rest: -65 mV, reset: -65 mV, threshold: -50 mV}", "ex in"},
	{"izhikevich", "", ", params: {a: 0.02, b: 0.2, c: -65 mV, d: 8, threshold: 30 mV}", "input"},
	{"own1", "", "", "in"},
	{"own2", "", "", "up down"},
	{"own5", "", "", "a b c d e"},
}

func newMixed(r *rand.Rand) *mixed {
	m := &mixed{r: r, scale: []float64{1, 8, 1000, 1 << 14}[r.IntN(4)], files: map[string]string{}, auto: r.IntN(5) == 0}
	if m.auto {
		m.scale = 1 // no amount becomes nothing
	}
	for i := range 2 + r.IntN(3) {
		kind := mixedKinds[r.IntN(len(mixedKinds))]
		a := mixedArea{name: fmt.Sprintf("a%d", i), model: kind[0], unit: kind[1], head: kind[2], ports: strings.Fields(kind[3])}
		if r.IntN(4) == 0 {
			a.divides = r.IntN(2) == 0
			a.head += fmt.Sprintf(", psp: %s, divide_psp: %v", []string{"2.5", "-3", "0.5"}[r.IntN(3)], a.divides)
		}
		for range r.IntN(4) {
			a.drives = append(a.drives, m.drive(&a))
		}
		m.areas = append(m.areas, a)
	}
	for range 1 + r.IntN(6) {
		m.lines = append(m.lines, m.projection())
	}
	for range r.IntN(4) {
		a := &m.areas[r.IntN(len(m.areas))]
		when := []string{"at: 7", "every: 3", "every: 5, from: 2, until: 20"}[r.IntN(3)]
		m.stimuli = append(m.stimuli, fmt.Sprintf("  - {to: %s, %s, neurons: [0, 3], amount: %s}\n", m.to(a), when, m.amount(a.unit)))
	}
	return m
}

// quanta is an amount of that many quanta as the genome has it.
func (m *mixed) quanta(q float64, unit string) string {
	return strconv.FormatFloat(q/m.scale, 'f', -1, 64) + unit
}

// some is a number of quanta of either sign, up to many.
func (m *mixed) some() float64 {
	q := float64(1 + m.r.Uint64N(1<<(1+m.r.IntN(22))))
	if m.r.IntN(2) == 0 {
		return -q
	}
	return q
}

func (m *mixed) amount(unit string) string { return m.quanta(m.some(), unit) }

// port is one of an area, from 1, or 0 where the sign may choose.
func (m *mixed) port(a *mixedArea) int {
	if len(a.ports) > 2 || m.r.IntN(3) == 0 {
		return 1 + m.r.IntN(len(a.ports))
	}
	return 0
}

// onto is an area with a port.
func (a *mixedArea) onto(port int) string {
	if port == 0 {
		return a.name
	}
	return fmt.Sprintf("{area: %s, port: %s}", a.name, a.ports[port-1])
}

func (m *mixed) to(a *mixedArea) string { return a.onto(m.port(a)) }

// driven is what a drive says of a port.
func (a *mixedArea) driven(port int) string {
	if port == 0 {
		return ""
	}
	return fmt.Sprintf("to: {port: %s}, ", a.ports[port-1])
}

func (m *mixed) drive(a *mixedArea) string {
	var text string
	port := m.port(a)
	switch m.r.IntN(3) {
	case 0:
		text = "constant: " + m.amount(a.unit)
		if a.model == "lif" || a.model == "lif_psc_exp" || a.model == "izhikevich" {
			port = 0
		}
	case 1:
		text = fmt.Sprintf("poisson: {rate: %d Hz, weight: %s}", 1+m.r.IntN(20_000), m.amount(a.unit))
	default:
		text = fmt.Sprintf("normal: {mean: %s, sd: %s}", m.amount(a.unit), m.quanta(math.Abs(m.some()), a.unit))
	}
	if m.r.IntN(3) == 0 {
		text += ", from: 4, until: 9"
	}
	return "{" + a.driven(port) + text + "}"
}

func (m *mixed) projection() string {
	r, from, to := m.r, &m.areas[m.r.IntN(len(m.areas))], &m.areas[m.r.IntN(len(m.areas))]
	q, kinds := math.Abs(m.some()), 4
	if from.divides {
		kinds = 2 // what is divided is not drawn
	}
	weight := []string{
		m.quanta(q, to.unit), m.quanta(-q, to.unit),
		fmt.Sprintf(`"uniform(%s, %s)"`, m.quanta(-q, to.unit), m.quanta(5*q, to.unit)),
		fmt.Sprintf(`"normal(%s, %s)"`, m.quanta(-q, to.unit), m.quanta(q, to.unit)),
	}[r.IntN(kinds)]
	if r.IntN(5) == 0 {
		return m.list(from, to, weight)
	}
	port := m.port(to)
	rule := []string{
		"one_to_one", "all_to_all", "fixed_indegree, indegree: 9", "fixed_outdegree, outdegree: 5", "fixed_total_number, count: 23",
		"pairwise_bernoulli, p: 0.6", "projector", "block_to_block", `vectors, vectors: [[0, 0, 0], [1, 0, 0], [-2, 0, 0]]`, "randomizer",
		"all_to_all, autapses: false", "all_to_all, attractivity: 60",
	}[r.IntN(12)]
	merge := ""
	if (port > 0 || len(to.ports) == 1) && r.IntN(2) == 0 && !strings.HasPrefix(rule, "fixed") {
		merge = ", merge: true"
	}
	delay := []string{"1", "3", `"uniform(1, 4)"`}[r.IntN(3)]
	line := fmt.Sprintf("  - {from: %s, to: %s, rule: %s, weight: %s, delay: %s%s}\n", from.name, to.onto(port), rule, weight, delay, merge)
	if merge != "" { // with another one
		line += fmt.Sprintf("  - {from: %s, to: %s, rule: all_to_all, weight: %s, delay: %s%s}\n", from.name, to.onto(port), m.amount(to.unit), delay, merge)
	}
	return line
}

// list is a projection by a list, of two areas or the whole network, with weights of its own or not.
func (m *mixed) list(from, to *mixedArea, weight string) string {
	name, whole, own := fmt.Sprintf("list%d.csv", len(m.files)), m.r.IntN(2) == 0, m.r.IntN(2) == 0
	n, ends := mixedNeurons, fmt.Sprintf("from: %s, to: %s, ", from.name, m.to(to))
	if whole {
		n, ends = n*len(m.areas), ""
		own = true // one weight for models of different units cannot be said
	}
	chosen := whole && slices.ContainsFunc(m.areas, func(a mixedArea) bool { return len(a.ports) > 2 })
	var text strings.Builder
	text.WriteString("source,target")
	if chosen {
		text.WriteString(",port")
	}
	if own {
		text.WriteString(",weight")
		weight = ""
	} else {
		weight = ", weight: " + weight
	}
	for range m.r.IntN(30) {
		target := m.r.IntN(n)
		fmt.Fprintf(&text, "\n%d,%d", m.r.IntN(n), target)
		if chosen {
			fmt.Fprintf(&text, ",%d", m.r.IntN(len(m.areas[target/mixedNeurons].ports)))
		}
		if own {
			text.WriteString("," + m.amount(""))
		}
	}
	m.files[name] = text.String() + "\n"
	return fmt.Sprintf("  - {%srule: edges, file: %s%s}\n", ends, name, weight)
}

// text is the genome; merge says whether projections that merge do.
func (m *mixed) text(merge bool) string {
	var b strings.Builder
	b.WriteString("burst: v1\nseed: 5\ntimestep: 0.1 ms\n" + mixedModels)
	if m.auto {
		b.WriteString("scale: auto\n")
	} else {
		fmt.Fprintf(&b, "scale: %.0f\n", m.scale)
	}
	b.WriteString("areas:\n")
	for _, a := range m.areas {
		fmt.Fprintf(&b, "  - {name: %s, size: [%d, 1, 1], model: %s%s, drive: [%s]}\n", a.name, mixedNeurons, a.model, a.head, strings.Join(a.drives, ", "))
	}
	b.WriteString("projections:\n" + strings.Join(m.lines, ""))
	if len(m.stimuli) > 0 {
		b.WriteString("stimuli:\n" + strings.Join(m.stimuli, ""))
	}
	if !merge {
		return strings.ReplaceAll(b.String(), ", merge: true", "")
	}
	return b.String()
}

func (m *mixed) genome(merge bool) (*genome.Genome, error) {
	return genome.Parse("mixed.yaml", []byte(m.text(merge)), func(name string) (io.ReadCloser, error) {
		return memFile{bytes.NewReader([]byte(m.files[name]))}, nil
	})
}

func (m *mixed) build(merge bool) (*Connectome, error) {
	g, err := m.genome(merge)
	if err != nil {
		return nil, err
	}
	return Build(g, Options{Threads: 1 + m.r.IntN(3), MaxBytes: 1 << 30})
}

// most adds up in big integers what a network that merges nothing can bring to each port in one burst: every synapse, of every drive
// the draw that brings most, and, apart, every stimulus.
func most(c *Connectome) (bounds, stimuli []*big.Int) {
	bounds, stimuli = make([]*big.Int, c.Ports), make([]*big.Int, c.Ports)
	for p := range bounds {
		bounds[p], stimuli[p] = new(big.Int), new(big.Int)
	}
	for k, w := range c.Weight {
		x := big.NewInt(int64(w))
		bounds[c.Target[k]].Add(bounds[c.Target[k]], x.Abs(x))
	}
	for i := range c.Areas {
		a := &c.Areas[i]
		for k := range a.Drives {
			lo, hi := ofDraws(&a.Drives[k])
			for n := range a.Neurons.Count {
				if port := a.Drives[k].Port; port > 0 {
					one := bounds[a.PortOf(n, port, 0)]
					one.Add(one, big.NewInt(max(hi, -lo)))
					continue
				}
				first, last := bounds[a.Ports.First+n], bounds[a.Ports.End()-a.Neurons.Count+n]
				if first == last {
					first.Add(first, big.NewInt(max(hi, -lo)))
					continue
				}
				first.Add(first, big.NewInt(hi))
				last.Add(last, big.NewInt(-lo))
			}
		}
	}
	for i := range c.Stimuli {
		for k, p := range c.Stimuli[i].Ports {
			x := big.NewInt(int64(c.Stimuli[i].Amounts[k]))
			stimuli[p].Add(stimuli[p], x.Abs(x))
		}
	}
	return bounds, stimuli
}

// brought is what all synapses together bring to each port, with their signs.
func brought(c *Connectome) []int64 {
	sums := make([]int64, c.Ports)
	for k, w := range c.Weight {
		sums[c.Target[k]] += int64(w)
	}
	return sums
}

// ofDraws is the least and the greatest input of a drive in a burst, 0 among them.
func ofDraws(d *Drive) (lo, hi int64) {
	take := func(x int64) { lo, hi = min(lo, x), max(hi, x) }
	switch d.Kind {
	case Inject:
		take(int64(d.Amount))
	case Poisson:
		for events := range len(d.Counts) + 1 {
			take(int64(events) * int64(d.Amount))
		}
	case Noise:
		for _, x := range d.Table {
			take(int64(x))
		}
	}
	return lo, hi
}

// filler brings a number of quanta to a port beside all that is there.
type filler struct {
	name string
	step int64 // quanta that it goes by
	add  func(m *mixed, q int64)
}

// fillers are those that can reach a port of an area's neuron, and the ports that they reach, too.
func (m *mixed) fillers(c *Connectome, i int, n uint32, port int, sign float64) (one, all []filler) {
	a := &m.areas[i]
	amount := func(q int64) string { return m.quanta(sign*float64(q), a.unit) }
	drive := func(text string) func(m *mixed, q int64) {
		return func(m *mixed, q int64) {
			m.areas = slices.Clone(m.areas)
			m.areas[i].drives = append(slices.Clone(a.drives), "{"+a.driven(port)+fmt.Sprintf(text, amount(q))+"}")
		}
	}
	one = []filler{
		{"a stimulus", 1, func(m *mixed, q int64) {
			m.stimuli = append(slices.Clone(m.stimuli), fmt.Sprintf("  - {to: %s, at: 99, neurons: [%d], amount: %s}\n", a.onto(port), n, amount(q)))
		}},
		{"a list's weight", 1, func(m *mixed, q int64) {
			m.files = maps.Clone(m.files)
			m.files["filler.csv"] = fmt.Sprintf("source,target,weight,port\n0,%d,%s,%d\n", c.Areas[i].Neurons.First+n, m.quanta(sign*float64(q), ""), port-1)
			if port == 0 {
				m.files["filler.csv"] = fmt.Sprintf("source,target,weight\n0,%d,%s\n", c.Areas[i].Neurons.First+n, m.quanta(sign*float64(q), ""))
			}
			m.lines = append(slices.Clone(m.lines), "  - {rule: edges, file: filler.csv}\n")
		}},
	}
	all = []filler{
		{"a Poisson drive", int64(len(poissonCounts(0.3))), func(m *mixed, q int64) {
			drive("poisson: {rate: 3000 Hz, weight: %s}")(m, q/int64(len(poissonCounts(0.3))))
		}},
		{"a normal drive", 1, func(m *mixed, q int64) {
			sd := m.quanta(float64(q/2)*64/noiseReach, a.unit)
			drive("normal: {mean: %s, sd: "+sd+"}")(m, q-q/2)
		}},
	}
	if a.model == "feagi" || strings.HasPrefix(a.model, "own") {
		all = append(all, filler{"a constant drive", 1, drive("constant: %s")})
	}
	return one, all
}

// TestProofAgainstBigIntegers: of networks in which everything meets the bounds are what most adds up, at any scale; with just as much more
// as fits into int32 a network is built, with one step more it is refused with the port and the sum.
func TestProofAgainstBigIntegers(t *testing.T) {
	slow.Short(t)
	cases := slow.Times(60, 200)
	filled, merges := map[string]int{}, 0
	for seed := range uint64(cases) {
		r := rand.New(rand.NewPCG(seed, 0x70726f6f66))
		m := newMixed(r)
		c, err := m.build(false)
		if err != nil {
			require.ErrorContains(t, err, "more than 2147483647", "%s", m.text(false))
			continue
		}
		bounds, stimuli := most(c)
		agree := func(c *Connectome, m *mixed, merge bool, bounds, stimuli []*big.Int) {
			g, err := m.genome(merge)
			require.NoError(t, err)
			p, err := newPlan(g, Options{})
			require.NoError(t, err)
			sums, worst := p.sums(float64(c.Scale)), uint64(0)
			for port := range bounds {
				require.Equal(t, bounds[port].String(), strconv.FormatUint(uint64(c.Bound[port]), 10), "seed %d, port %d of\n%s", seed, port, m.text(true))
				sum := new(big.Int).Add(bounds[port], stimuli[port])
				require.Equal(t, sum.String(), strconv.FormatUint(sums[port], 10), "seed %d, port %d of\n%s", seed, port, m.text(true))
				require.LessOrEqual(t, sums[port], uint64(math.MaxInt32))
				worst = max(worst, sums[port])
			}
			if m.auto && p.out == nil {
				require.True(t, c.Scale == 1 || worst <= autoBound)
				require.True(t, c.Scale == 1<<autoScale || slices.Max(p.sums(float64(2*c.Scale))) > autoBound)
			}
		}
		agree(c, m, false, bounds, stimuli)
		merged, err := m.build(true)
		require.NoError(t, err)
		agree(merged, m, true, bounds, stimuli)
		if merged.Synapses() < merged.ByRule {
			merges++
		}
		require.Equal(t, brought(c), brought(merged), "seed %d: merging brings the same to each port", seed)

		m.scale, m.auto = float64(c.Scale), false
		i, n, sign := r.IntN(len(c.Areas)), r.Uint32N(mixedNeurons), 1.0
		a := &c.Areas[i]
		port := m.port(&m.areas[i])
		if r.IntN(2) == 0 {
			sign = -1
		}
		ports := []uint32{a.PortOf(n, port, int64(sign))}
		one, every := m.fillers(c, i, n, port, sign)
		list := append(one, every...)
		k := r.IntN(len(list))
		f := list[k]
		filled[f.name]++
		if k >= len(one) {
			for other := range uint32(mixedNeurons) {
				ports = append(ports, ports[0]-n+other)
			}
		}
		slices.Sort(ports) // the first that has too much is named
		sum := func(p uint32) int64 { return new(big.Int).Add(bounds[p], stimuli[p]).Int64() }
		here, tooMuch := int64(0), int64(0)
		for _, p := range ports {
			here = max(here, sum(p))
		}
		room := (math.MaxInt32 - here) / f.step * f.step
		for _, p := range ports {
			if tooMuch == 0 && sum(p)+room+f.step > math.MaxInt32 {
				tooMuch = sum(p) + room + f.step
			}
		}
		full, over := *m, *m
		f.add(&full, room)
		if room > 0 {
			c, err = full.build(true)
			require.NoError(t, err, "seed %d: %s of %d quanta beside %d in\n%s", seed, f.name, room, here, full.text(true))
			unmerged, err := full.build(false)
			require.NoError(t, err)
			bounds, stimuli = most(unmerged)
			agree(c, &full, true, bounds, stimuli)
			for _, p := range ports {
				here = max(here, sum(p))
			}
			require.Greater(t, here, math.MaxInt32-f.step, "seed %d: %s fills the port", seed, f.name)
		}
		f.add(&over, room+f.step)
		_, err = over.build(true)
		require.Error(t, err, "seed %d: %s of %d quanta in\n%s", seed, f.name, room+f.step, over.text(true))
		if tooMuch > room+f.step { // else the amount alone is too large, and refused where it stands
			require.ErrorContains(t, err, fmt.Sprintf("of area %q could receive %d quanta", a.Name, tooMuch), "seed %d: %s", seed, f.name)
		}
	}
	require.Greater(t, merges, cases/4)
	for _, name := range []string{"a stimulus", "a list's weight", "a Poisson drive", "a normal drive", "a constant drive"} {
		require.Greater(t, filled[name], cases/40, "%v", filled)
	}
}
