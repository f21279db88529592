package enginetest

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"burst/connectome"
	"burst/engine"
	"burst/genome"
	"burst/internal/formula"
)

// Plastic is a projection of a Net whose synapses change.
type Plastic struct {
	From, To int // areas
	Rule     Handlers
	Every    uint64
	Values   map[string]float32 // parameters of the rule, tau of decay() in bursts
	Pre      []connectome.Trace // for the names of the rule
	Post     []connectome.Trace
	Source   []float32 // what the variables start from
	Synapse  []float32
	Drawn    []*genome.Value // per variable; nil: it starts from that of Synapse
	Listed   bool            // the first variable starts from numbers of each synapse instead
	Of       []PlasticModulator
	Target   []int // per Rule.Target: the state variable, 0 for V
	Window   connectome.Window
	Lag      uint32 // 0: 1
	Lo, Hi   float32
	Port     int       // of the targets, from 1; 0: the first, or the second for weights < 0
	Fails    bool      // a weight that passes a bound becomes NaN
	Divide   []int32   // per source; nil: nothing
	Synapses []Synapse // neurons counted from 0 in their areas
}

// uniform is what a variable of synapses starts from that is drawn between two numbers.
func uniform(low, high float64) *genome.Value {
	return &genome.Value{Kind: genome.Uniform, A: low, B: high, Lo: math.Inf(-1), Hi: math.Inf(1)}
}

// Handlers are the texts of a rule of plasticity.
type Handlers = formula.RuleSource

// PlasticModulator is raised by the spikes of an area.
type PlasticModulator struct {
	connectome.Trace
	Area  int
	Delay uint32
}

// Trace makes a trace of a time constant in bursts.
func Trace(tau float64, amount float32, set bool) connectome.Trace {
	return connectome.Trace{Table: connectome.NewTable(tau), Amount: amount, Set: set}
}

// learn adds the projections that change to a network whose areas are there.
func (n Net) learn(c *connectome.Connectome) {
	for i := range n.Plastic {
		p := n.Plastic[i].build(c, i)
		if c.Plastic = append(c.Plastic, p); p.PSPMax > 0 {
			c.MaxDelay = max(c.MaxDelay, int(p.Longest))
		}
	}
}

func (p *Plastic) build(c *connectome.Connectome, number int) connectome.Plastic {
	rule, faults := formula.DefineRule(&p.Rule)
	if len(faults) > 0 {
		panic(fmt.Sprintf("BUG: %+v in %+v", faults[0].Mistake, p.Rule))
	}
	from, to := &c.Areas[p.From], &c.Areas[p.To]
	m := connectome.Plastic{
		Projection: number, Rule: &genome.Plasticity{Name: "test", Every: p.Every, When: p.Rule.When != "", Window: p.Window.Kind},
		From: from.Neurons, To: to.Neurons, Ports: to.Ports, Port: uint32(max(1, p.Port) - 1), Row: make([]uint64, from.Neurons.Count+1),
		Lag: max(1, p.Lag), Steps: 1, Lo: p.Lo, Hi: p.Hi, Below: p.Lo, Above: p.Hi, Divide: p.Divide, Lift: lifts(to), PSPMax: from.PSPMax, Pre: p.Pre, Post: p.Post, Source: p.Source, Synapse: p.Synapse, Drawn: p.Drawn, TargetVariables: p.Target, Window: p.Window,
	}
	for _, of := range p.Of {
		m.Modulators = append(m.Modulators, connectome.Modulator{Trace: of.Trace, From: c.Areas[of.Area].Neurons, Delay: of.Delay})
	}
	if p.Fails {
		m.Below, m.Above = float32(math.NaN()), float32(math.NaN())
	}
	if p.Port == 0 && p.Hi <= 0 && p.Lo < 0 && to.PortsEach() == 2 {
		m.Port = 1
	}
	first := to.Ports.First + m.Port*to.Neurons.Count
	rows, delays := slices.Clone(p.Synapses), []uint16(nil)
	slices.SortFunc(rows, func(a, b Synapse) int {
		return cmp.Or(cmp.Compare(a.From, b.From), cmp.Compare(max(1, a.Delay), max(1, b.Delay)), cmp.Compare(a.To, b.To), cmp.Compare(a.Weight, b.Weight))
	})
	for _, s := range rows {
		m.Row[s.From+1]++
		m.Target, m.Weight = append(m.Target, first+s.To), append(m.Weight, s.Weight)
		delays = append(delays, max(1, s.Delay))
		m.Longest = max(m.Longest, uint32(max(1, s.Delay)))
	}
	for s := range from.Neurons.Count {
		m.Row[s+1] += m.Row[s]
	}
	if p.Listed {
		m.Listed = make([][]float32, len(p.Synapse))
		for k := range rows {
			m.Listed[0] = append(m.Listed[0], float32(k%7)/4)
		}
	}
	if len(rows) > 0 && slices.Min(delays) == slices.Max(delays) {
		m.Steps = delays[0]
	} else {
		m.Delay = connectome.NewDelays(delays)
	}
	handler := func(h *formula.Handler) *connectome.Handler {
		if h == nil {
			return nil
		}
		made := &connectome.Handler{Handler: h}
		for _, name := range h.Program.Params {
			made.Params = append(made.Params, p.Values[name])
		}
		for _, name := range h.Decays {
			made.Decays = append(made.Decays, connectome.NewTable(float64(p.Values[name])))
		}
		return made
	}
	m.OnPost, m.OnPre, m.Every = handler(rule.OnPost), handler(rule.OnPre), handler(rule.Every)
	m.OnSource, m.When = handler(rule.OnSource), handler(rule.When)
	return m
}

// lifts is the constant that an area which rectifies lifts amounts by.
func lifts(a *connectome.Area) int64 {
	if !a.Lifted() {
		return 0
	}
	return int64(a.Constant("rectify").Const)
}

// most is the largest |amount| that a synapse delivers.
func (p *Plastic) most(c *connectome.Connectome) int64 {
	most := int64(0)
	for _, w := range []float32{p.Lo, p.Hi, 0} {
		q := int64(connectome.Quanta(w, c.Scale))
		if psp := c.Areas[p.From].PSPMax; psp > 0 {
			q = connectome.Delivers(int32(q), psp, c.Scale, 1)
		}
		q = connectome.Lift(q, lifts(&c.Areas[p.To]))
		most = max(most, q, -q)
	}
	return most
}

// RandomPlastic is a random network with some projections that change, of rules with ugly numbers.
func RandomPlastic(r *rand.Rand, pick int) Net {
	n := randomNet(r, pick)
	n.Scale = among[int32](r, 1000, 1<<10, 3, 1<<16)
	lively := set(LIF(1+r.Uint32N(90)), map[string]float32{"em1": -0.1, "threshold": 0.5, "reset": 0, "refractory": float32(r.IntN(3))})
	n.Areas = append(n.Areas, Poisson(1+r.Uint32N(40), 0.3*r.Float64()), lively)
	for i := range n.Synapses { // room for what learns
		n.Synapses[i].Weight /= 2
	}
	for range 1 + r.IntN(3) {
		n.Plastic = append(n.Plastic, randomPlastic(r, n))
	}
	return n
}

func randomPlastic(r *rand.Rand, n Net) Plastic {
	last := len(n.Areas) - 1
	p := Plastic{From: among(r, r.IntN(len(n.Areas)), last-1, last), To: among(r, r.IntN(len(n.Areas)), last, last), Lag: among[uint32](r, 1, 1, 2, 7, 30, 60), Lo: 0, Hi: 1}
	for len(n.Areas[p.To].Model.Ports) == 0 || n.Areas[p.To].Neurons.Count == 0 {
		p.To = r.IntN(len(n.Areas))
	}
	for n.Areas[p.From].Neurons.Count == 0 {
		p.From = r.IntN(len(n.Areas))
	}
	ports := len(n.Areas[p.To].Model.Ports)
	if ports > 2 {
		p.Port = 1 + r.IntN(ports)
	}
	switch {
	case r.IntN(3) == 0:
		p.Lo, p.Hi = -1.5, 0
	case ports != 2 && r.IntN(2) == 0:
		p.Lo = -0.7
	}
	tau := func() float64 { return among(r, 0.3, 1, 20, 33.7, 5000, 20*r.Float64()) }
	amount := func() float32 { return among(r, 1, 0.1, 1e-39, -0.3, float32(r.NormFloat64())) }
	switch r.IntN(6) {
	case 0:
		p.randomWindow(r, n)
	default:
		p.Rule.Params, p.Values = []string{"a", "b", "tau"}, map[string]float32{"a": amount(), "b": float32(r.NormFloat64()) * 0.1, "tau": float32(tau())}
		p.Rule.Pre, p.Rule.Post = []string{"x", "x2"}, []string{"y"}
		p.Pre = []connectome.Trace{Trace(tau(), amount(), r.IntN(3) == 0), Trace(tau(), amount(), r.IntN(2) == 0)}
		p.Post = []connectome.Trace{Trace(tau(), amount(), r.IntN(3) == 0)}
		p.Rule.OnPost = []string{among(r, "w = w + b*x", "w = w + b*(1 - w)*x*(x2 + y)", "w = select(pre, w, w + b*x)", "w = w - age_pre*b*0.001 + b*x", "w = -w*a")}
		p.Rule.OnPre = []string{among(r, "w = w - b*y", "w = w - b*w*y*x", "w = w + select(post, b, -b)*y", "w = w*0.9 + b/(1 + age_post)")}
		if r.IntN(2) == 0 {
			p.Rule.Synapse, p.Synapse = []string{"c"}, []float32{amount()}
			if c := p.Synapse[0]; c < 0.1 {
				p.Drawn = []*genome.Value{uniform(-1, 1+math.Abs(float64(c)))}
			} else {
				p.Listed = true
			}
			p.Rule.OnPost = append(p.Rule.OnPost, "c = 0.5*c + x")
			p.Rule.OnPre = append(p.Rule.OnPre, "c = 0.9*c - y", "w = w + b*c")
		}
		if r.IntN(3) == 0 {
			p.Rule.Source, p.Source = []string{"r", "u"}, []float32{1, 0.5}
			p.Rule.OnSource = []string{"r = select(first, 1, 1 + (r - r*u - 1)*decay(tau))", "u = u + a*(1 - u)*decay(tau)*0.1"}
			p.Rule.OnPre = append(p.Rule.OnPre, "out = w*(u*r)")
		}
		if r.IntN(3) == 0 {
			p.Rule.Modulators = []string{"da"}
			p.Of = []PlasticModulator{{Trace(tau(), 0.1, false), r.IntN(len(n.Areas)), 1 + r.Uint32N(9)}}
			p.Rule.OnPre = append(p.Rule.OnPre, "w = w + b*da")
		}
		if r.IntN(3) == 0 {
			p.Every = among[uint64](r, 1, 5, 13)
			p.Rule.Every = []string{among(r, "w = w*0.99", "w = w + b*x*y", "w = select(total == 0, w, w*(2/total))")}
			if len(p.Of) > 0 {
				p.Rule.Every = append(p.Rule.Every, "w = w + 0.01*da")
			}
		}
		if target := &n.Areas[p.To]; r.IntN(4) == 0 {
			p.Lag, p.Rule.Target, p.Target = 1, []string{"v"}, []int{r.IntN(len(target.Model.State))}
			p.Rule.OnPost = append(p.Rule.OnPost, "w = w + 0.001*min(max(v, -1), 1)")
			if r.IntN(2) == 0 {
				p.Rule.When = "v > a"
			}
		}
	}
	p.randomSynapses(r, n)
	return p
}

// randomWindow makes it learn by one of FEAGI's rules.
func (p *Plastic) randomWindow(r *rand.Rand, n Net) {
	p.Window = connectome.Window{
		Kind: among(r, genome.WindowRelease, genome.WindowFebruary, genome.WindowPython), Bursts: 1 + r.Uint32N(5), Up: among[float32](r, 1, 0.25), Down: among[float32](r, 1, 0.125, 0),
	}
	if r.IntN(2) == 0 {
		for range n.Areas[p.From].Neurons.Count {
			p.Divide = append(p.Divide, 1+r.Int32N(9))
		}
	}
}

// randomSynapses gives it synapses of weights within its bounds.
func (p *Plastic) randomSynapses(r *rand.Rand, n Net) {
	longest, count := among(r, 1, 1, 3, 20, 20, 300), int(min(3000, 1+n.Areas[p.From].Neurons.Count*r.Uint32N(12)))
	if p.Window.Kind != genome.WindowNone {
		longest = min(longest, 255)
	}
	one := r.IntN(3) > 0 // delay
	d := uint16(1 + r.IntN(longest))
	for range count {
		if !one {
			d = uint16(1 + r.IntN(longest))
		}
		w := int32(math.Round(float64(p.Lo)*float64(n.Scale))) + r.Int32N(1+int32(float64(p.Hi-p.Lo)*float64(n.Scale)))
		w = min(max(w, int32(math.Ceil(float64(p.Lo)*float64(n.Scale)))), int32(math.Floor(float64(p.Hi)*float64(n.Scale))))
		p.Synapses = append(p.Synapses, Synapse{r.Uint32N(n.Areas[p.From].Neurons.Count), r.Uint32N(n.Areas[p.To].Neurons.Count), w, d})
	}
	if r.IntN(2) == 0 { // twins
		p.Synapses = append(p.Synapses, p.Synapses[0], p.Synapses[0])
	}
}

// runPlastic compares random networks that learn with the reference, whole states after every burst, and checks that they may be
// stopped, read and written anywhere.
func runPlastic(t *testing.T, open, oracle Open) {
	for seed := range seeds(30, 5) {
		t.Run(fmt.Sprintf("seed %d", seed), func(t *testing.T) {
			r := rand.New(rand.NewPCG(seed, 0x706c6173))
			pick := int(seed)
			if seed%5 == 4 {
				pick = wide
			}
			n := RandomPlastic(r, pick)
			c := n.Build()
			if seed%3 == 1 && c.Neurons > 0 && c.Ports > 0 && c.Areas[c.AreaOf(0)].PSPMax == 0 { // queues go back further than what learns looks
				n.Synapses = append(n.Synapses, Synapse{From: 0, To: 0, Weight: 5, Delay: 300})
				c = n.Build()
			}
			same(t, open, oracle, c, 60, randomInput(r.Uint64(), c), "as the reference")
			split(t, open, n, seed)
			batch(t, open, oracle, engine.Want{}, n, seed)
		})
	}
}
