package main

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"

	"burst/backend"
	"burst/connectome"
	"burst/engine"
	"burst/genome"
)

// pairing is one synapse between a source and a target that fire when they are told to.
type pairing struct {
	weight    float64 // mV, at first; at most 8 in size
	rule      string  // of the projection, in YAML
	model     string  // of the target, lif unless given
	teacher   float64 // mV that its spikes bring to that model
	more      string  // of the genome: rules and models of its own
	step      float64 // ms, of a burst
	delay     float64 // ms
	back      float64 // ms
	pre, post []float64
}

// pairingScale is in quanta of a mV.
const pairingScale = 1 << 19

// genome is the text of the network.
func (p *pairing) genome() string {
	bursts := func(times []float64, early int) string {
		var list []string
		for _, t := range times {
			list = append(list, fmt.Sprint(p.burst(t)-early))
		}
		return strings.Join(list, ", ")
	}
	model, teacher := "lif, params: {refractory: 0 ms, threshold: 500 mV}", 900.0
	if p.model != "" {
		model, teacher = p.model, p.teacher
	}
	return fmt.Sprintf(`burst: v1
name: pairing
timestep: %g ms
scale: %d
areas:
  - {name: pre, neurons: 1, model: spike_list, spikes: [{neurons: [0], at: [%s]}]}
  - {name: post, neurons: 1, model: %s}
  - {name: teacher, neurons: 1, model: spike_list, spikes: [{neurons: [0], at: [%s]}]}
projections:
  - {from: pre, to: post, rule: one_to_one, weight: %.17g mV, delay: %g ms, back: %g ms, plasticity: %s}
  - {from: teacher, to: post, rule: one_to_one, weight: %g mV}
%s`, p.step, pairingScale, bursts(p.pre, 0), model, bursts(p.post, 1), p.weight, p.delay, p.back, p.rule, teacher, p.more)
}

// burst is that of a time in ms.
func (p *pairing) burst(t float64) int { return int(math.Round(t / p.step)) }

// run gives the weights after each delivery and after the last spike of all, and what each delivery brought, in mV, where
// the teacher is silent.
func (p *pairing) run(o options) (weights, delivered []float64, err error) {
	g, err := genome.Parse("pairing.yaml", []byte(p.genome()), nil)
	if err != nil {
		return nil, nil, err
	}
	c, err := connectome.Build(g, connectome.Options{})
	if err != nil {
		return nil, nil, err
	}
	b, err := backend.Open(o.backend, c, backend.Options{Want: engine.Want{FCL: true}})
	if err != nil {
		return nil, nil, err
	}
	defer b.Close()
	arrivals := map[int]bool{}
	for _, t := range p.pre {
		arrivals[p.burst(t+p.delay)] = true
	}
	var out engine.Burst
	s := &engine.State{}
	last := p.burst(slices.Max(slices.Concat(p.pre, p.post))+p.delay) + int(c.Plastic[0].Lag) + 1
	for t := range last + 1 {
		if err := b.Step(nil, &out); err != nil {
			return nil, nil, err
		}
		if !arrivals[t] && t < last {
			continue
		}
		if err := b.ReadState(s); err != nil {
			return nil, nil, err
		}
		weights = append(weights, float64(s.Plastic[0].Weight[0]))
		sum := 0.0
		for _, candidate := range out.Candidates {
			sum += float64(candidate.Sum) / pairingScale
		}
		delivered = append(delivered, sum)
	}
	return weights, delivered[:len(p.pre)], nil
}

// worst is the largest deviation from a table, in units of what is accepted.
func worst(ours, table []float64, accepted func(float64) float64) (float64, error) {
	if len(ours) != len(table) {
		return 0, fmt.Errorf("%d values, want %d", len(ours), len(table))
	}
	most := 0.0
	for i, want := range table {
		most = max(most, math.Abs(ours[i]-want)/accepted(want))
	}
	return most, nil
}

// nestTrains are the spikes of NEST's test test_stdp_synapse.py, in ms.
var (
	nestPre  = []float64{1, 5, 6, 7, 9, 11, 12, 13, 14.5, 16.1, 21, 25, 26, 27, 29, 31, 32, 33, 34.5, 36.1}
	nestPost = []float64{2, 3, 4, 8, 9, 10, 12, 12.2, 14.1, 15.4, 22, 23, 24, 28, 29, 30, 32, 33.2, 35.1, 36.4}
)

// pairRule is the rule stdp on NEST's trains: the weight sent with each spike, and the last one, by the formulas in float64.
func pairRule(o options) ([]Check, error) {
	var checks []Check
	for _, x := range []struct {
		mu     [2]float64
		w0, d  float64
		wanted []float64
	}{
		{[2]float64{0, 0}, 0.5, 0.1, []float64{0.500000000, 0.535955263, 0.184891199, 0, 0.050589238, 0.583369300, 0, 0.725743372, 0.612636307, 0.496969636, 0, 1.304820540, 0.175585642, 0, 0, 0.798666005, 0, 0, 0, 0, 1.331540380}},
		{[2]float64{0, 0}, 0.5, 1, []float64{0.500000000, 0.632928029, 0.272362051, 0, 0.140170055, 0.720028761, 0.057702356, 0.177896755, 0.220650972, 0.227736158, 0.327830264, 1.599927680, 0.440128866, 0, 0, 0.778723866, 0, 0, 0, 0, 1.262084884}},
		{[2]float64{1, 1}, 5, 0.1, []float64{5.000000000, 5.135849527, 5.015648713, 4.901693250, 5.080111251, 5.596647172, 5.356039002, 5.986886611, 6.080462031, 6.170849939, 5.799516501, 6.671092791, 6.168877404, 5.718048144, 5.852428066, 6.474837625, 5.915355800, 6.034725320, 6.140627622, 6.206099053, 6.986728000}},
		{[2]float64{0.4, 1}, 5, 0.1, []float64{5, 5.207878279, 5.085991685, 4.970438030, 5.232495856, 5.954330303, 5.698344804, 6.592964966, 6.800687920, 7.005677192, 6.584107679, 7.822530003, 7.233631745, 6.704988908, 6.921548334, 7.790766225, 7.117576817, 7.309871372, 7.485886316, 7.609958523, 8.613133263}},
	} {
		p := &pairing{
			weight: x.w0, step: 0.1, delay: x.d, back: x.d, pre: nestPre, post: nestPost,
			rule: fmt.Sprintf("{rule: stdp, tau_plus: 16.8 ms, tau_minus: 33.7 ms, lambda: 0.01, alpha: 0.85, mu_plus: %g, mu_minus: %g, w_max: 15 mV}", x.mu[0], x.mu[1]),
		}
		ours, _, err := p.run(o)
		if err != nil {
			return nil, err
		}
		most, err := worst(ours, x.wanted, func(w float64) float64 { return 1e-6 + 1e-6*w })
		if err != nil {
			return nil, err
		}
		checks = append(checks, Check{
			Case: "stdp, NEST's trains", Quantity: fmt.Sprintf("exponents %g and %g, delay %g ms (1e-6 + 1e-6·w)", x.mu[0], x.mu[1], x.d),
			Computed: "0 (float64)", Ours: most, High: 1, Digits: 2,
		})
	}
	return checks, nil
}

// coarse is what is accepted of a number of which the table has nine decimals.
func coarse(x float64) float64 { return 1e-6 + 1e-5*math.Abs(x) }

// nearestTriplet is the triplet rule of nearest spikes, with the numbers of Pfister and Gerstner.
const nearestTriplet = `
plasticity:
  - name: nearest
    pre: {x1: {tau: 16.8 ms, set: 1}, x2: {tau: 714 ms, set: 1}}
    post: {y1: {tau: 33.7 ms, set: 1}, y2: {tau: 40 ms, set: 1}}
    bounds: [-1 mV, 1 mV]
    on_post: ["w = w + x1*(8.8e-11 + 5.3e-2*y2)"]
    on_pre: ["w = w - y1*(6.6e-3 + 3.1e-3*x2)"]
`

// tripletRule is the rule stdp_triplet in the protocol of Sjöström and others: 60 pairs at five rates, by the formulas in float64.
func tripletRule(o options) ([]Check, error) {
	const (
		full    = "{rule: stdp_triplet, bounds: [-1 mV, 1 mV]}"
		minimal = "{rule: stdp_triplet, A2_plus: 0 mV, A3_plus: 6.5e-3 mV, A2_minus: 7.1e-3 mV, A3_minus: 0 mV, tau_y: 114 ms, bounds: [-1 mV, 1 mV]}"
	)
	var checks []Check
	for _, x := range []struct {
		name, rule, more string
		after            float64 // ms from the spike of the source to that of the target
		wanted           []float64
	}{
		{"full", full, "", 10, []float64{1.7e-8, 0.132053412, 0.246961969, 0.533722669, 0.740905520}},
		{"minimal", minimal, "", 10, []float64{0, 0.118641296, 0.227795172, 0.532111928, 0.762730566}},
		{"full, nearest spikes", "nearest", nearestTriplet, 10, []float64{3e-9, 0.103587228, 0.323163485, 0.560291753, 0.624254872}},
		{"full", full, "", -10, []float64{-0.312160914, -0.333622996, -0.351622100, 0.154794956, 0.727247175}},
		{"minimal", minimal, "", -10, []float64{-0.316620356, -0.332213173, -0.341734578, 0.173714793, 0.749176585}},
		{"full, nearest spikes", "nearest", nearestTriplet, -10, []float64{-0.294323260, -0.411285829, -0.338230772, 0.259794768, 0.619349486}},
	} {
		var ours []float64
		for _, interval := range []float64{10_000, 100, 50, 25, 20} {
			p := &pairing{rule: x.rule, more: x.more, step: 5, delay: 5}
			for k := range 60 {
				t := 100 + float64(k)*interval
				p.pre, p.post = append(p.pre, t), append(p.post, t+x.after)
			}
			weights, _, err := p.run(o)
			if err != nil {
				return nil, err
			}
			ours = append(ours, weights[60])
		}
		most, err := worst(ours, x.wanted, coarse)
		if err != nil {
			return nil, err
		}
		checks = append(checks, Check{
			Case: "stdp_triplet, 60 pairs", Quantity: fmt.Sprintf("%g ms, %s (1e-6 + 1e-5·Δw)", x.after, x.name),
			Computed: "0 (float64)", Ours: most, High: 1, Digits: 2,
		})
	}
	return checks, nil
}

// shortTerm is the rule tsodyks_markram: what the first ten spikes of a regular train deliver, and one after very many.
func shortTerm(o options) ([]Check, error) {
	var checks []Check
	for _, x := range []struct {
		params   string
		interval float64
		wanted   []float64
	}{
		{"U 0.5, tau_rec 800 ms, tau_fac 0 ms", 50, []float64{0.5, 0.265146734, 0.154834621, 0.103020302, 0.078682777, 0.067251283, 0.061881835, 0.059359771, 0.058175141, 0.057618712, 0.057125857}},
		{"U 0.5, tau_rec 800 ms, tau_fac 0 ms", 10, []float64{0.5, 0.253105550, 0.131191811, 0.070992160, 0.041266240, 0.026587911, 0.019339915, 0.015760935, 0.013993675, 0.013121021, 0.012269782}},
		{"U 0.04, tau_rec 100 ms, tau_fac 1000 ms", 50, []float64{0.04, 0.074670566, 0.103289581, 0.126443069, 0.145160455, 0.160461234, 0.173178247, 0.183930475, 0.193157734, 0.201169270, 0.269397430}},
	} {
		const weight, many = 8, 400 // steady to 1e-8 by then
		params := regexp.MustCompile(`(\w+) ([\d.]+)`).ReplaceAllString(x.params, "$1: $2")
		p := &pairing{weight: weight, rule: "{rule: tsodyks_markram, " + params + "}", step: 1, delay: 2}
		for k := range many {
			p.pre = append(p.pre, 10+float64(k)*x.interval)
		}
		p.post = []float64{p.pre[many-1] + 10} // the teacher speaks last
		_, delivered, err := p.run(o)
		if err != nil {
			return nil, err
		}
		ours := append(delivered[:10:10], delivered[many-1])
		for k := range ours {
			ours[k] /= weight
		}
		most, err := worst(ours, x.wanted, coarse)
		if err != nil {
			return nil, err
		}
		checks = append(checks, Check{
			Case: "tsodyks_markram", Quantity: fmt.Sprintf("every %g ms, %s (1e-5)", x.interval, strings.NewReplacer("tau_", "", " ms", "").Replace(x.params)),
			Computed: "0 (float64)", Ours: most, High: 1, Digits: 2,
		})
	}
	return checks, nil
}

// inhibitoryPair is the rule vogels for one spike of either side, in both orders.
func inhibitoryPair(o options) ([]Check, error) {
	var ours, wanted []float64
	for _, x := range []struct{ after, wanted float64 }{
		{0, -1e-4}, {5, 6.788007831e-4}, {10, 5.065306597e-4}, {20, 2.678794412e-4}, {40, 3.533523e-5},
		{-5, 6.788007831e-4}, {-10, 5.065306597e-4}, {-20, 2.678794412e-4}, {-40, 3.533523e-5},
	} {
		const before = -0.125
		p := &pairing{weight: before, rule: "{rule: vogels, eta: 0.001 mV, rho: 2.5 Hz}", step: 0.1, delay: 0.1, pre: []float64{100}, post: []float64{100 + x.after}}
		weights, _, err := p.run(o)
		if err != nil {
			return nil, err
		}
		ours, wanted = append(ours, before-weights[1]), append(wanted, x.wanted)
	}
	most, err := worst(ours, wanted, coarse)
	return []Check{{
		Case: "vogels, one pair", Quantity: "0, ±5, ±10, ±20 and ±40 ms (1e-6 + 1e-5·Δw)", Computed: "0 (float64)", Ours: most, High: 1, Digits: 2,
	}}, err
}

// quickLearning are cases of plasticity that take less than a second, slowLearning those that take minutes.
func quickLearning() []named {
	return []named{
		{name: "learning-stdp", run: pairRule},
		{name: "learning-triplet", run: tripletRule},
		{name: "learning-short-term", run: shortTerm},
		{name: "learning-vogels", run: inhibitoryPair},
		{name: "learning-nest", run: nestRules},
		{name: "learning-clopath", run: clopathRule},
		{name: "learning-short-term-example", run: shortTermExample},
	}
}

func slowLearning() []named {
	return []named{
		{name: "learning-equilibria", run: equilibria},
		{name: "learning-rate", run: inhibitoryRate},
		{name: "learning-song", run: song},
	}
}
