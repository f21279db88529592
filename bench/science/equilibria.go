package main

import (
	"errors"
	"fmt"
	"math"
	"strings"

	"burst/engine"

	"gonum.org/v1/gonum/stat"
)

// equilibria holds rules to the closed forms of their fixed points, where source and target fire independently of each other. All
// rules stand side by side in one network of 100 pairs. Steps are small, as means lie off the fixed points by some steps.
func equilibria(o options) ([]Check, error) {
	type equilibrium struct {
		name, rule    string
		start, wanted float64 // mV
		computed      string
		digits        int
	}
	list := []equilibrium{
		{"stdp, exponents 1", "{rule: stdp, w_max: 1 mV, alpha: 1.05, lambda: 1e-4}", 0.4, 0.487805, "0.487805 (closed form)", 4},
		{"stdp, exponents 0.5", "{rule: stdp, w_max: 1 mV, alpha: 1.05, lambda: 1e-4, mu_plus: 0.5, mu_minus: 0.5}", 0.4, 0.475624, "0.475624 (closed form)", 4},
		{"stdp, exponents 0.1", "{rule: stdp, w_max: 1 mV, alpha: 1.05, lambda: 1e-4, mu_plus: 0.1, mu_minus: 0.1}", 0.5, 0.380388, "0.380388 (closed form)", 4},
		{"stdp, exponents 0.02", "{rule: stdp, w_max: 1 mV, alpha: 1.05, lambda: 1e-4, mu_plus: 0.02, mu_minus: 0.02}", 0.1, 0.080209, "0.080209 (closed form)", 4},
		{"stdp_power_law, hpc_benchmark's", "{rule: stdp_power_law, w_max: 100 mV, lambda: 1e-3}", 40, powerLaw(15, 30, 0.0513), "44.47, in steps 43.24", 2},
		{"stdp_power_law, Morrison's", "{rule: stdp_power_law, w_max: 100 mV, lambda: 1e-3, tau_plus: 20 ms, tau_minus: 20 ms, alpha: 0.1057}", 40, powerLaw(20, 20, 0.1057), "42.32 (closed form)", 2},
	}
	var text strings.Builder
	text.WriteString(`burst: v1
name: equilibria
seed: 5
timestep: 1 ms
scale: 1000
areas:
  - {name: pre, neurons: 100, model: poisson, params: {rate: 300 Hz}}
  - {name: post, neurons: 100, model: lif, params: {refractory: 0 ms, threshold: 9000 mV}}
  - {name: teacher, neurons: 100, model: poisson, params: {rate: 300 Hz}}
projections:
  - {from: teacher, to: post, rule: one_to_one, weight: 18000 mV}
`)
	for _, e := range list {
		fmt.Fprintf(&text, "  - {from: pre, to: post, rule: one_to_one, weight: %g mV, plasticity: %s}\n", e.start, e.rule)
	}
	s, err := learned(o, text.String(), 150_000)
	if err != nil {
		return nil, err
	}
	var checks []Check
	for i, e := range list {
		mean, off := threeErrors(s.Plastic[i].Weight)
		checks = append(checks, Check{
			Case: e.name, Quantity: "mean of 100 weights (mV)", Computed: e.computed,
			Ours: mean, Low: e.wanted - off, High: e.wanted + off, Digits: e.digits,
		})
	}
	return checks, nil
}

// powerLaw is where potentiation lambda·w^0.4·x and depression alpha·lambda·w·y balance, times in ms.
func powerLaw(plus, minus, alpha float64) float64 {
	return math.Pow(area(plus, 1)/(alpha*area(minus, 1)), 1/(1-0.4))
}

// area is that under a trace of which events of the same burst see nothing: tau, less half a step.
func area(tau, step float64) float64 { return step / math.Expm1(step/tau) }

// learned is the state of a network after n bursts.
func learned(o options, text string, n uint64, recorders ...engine.Recorder) (*engine.State, error) {
	return course(o, text, n, n, func(*engine.State) bool { return false }, recorders...)
}

// threeErrors is the mean of a sample and three times its standard error.
func threeErrors[T float32 | float64](sample []T) (mean, off float64) {
	list := make([]float64, len(sample))
	for i, x := range sample {
		list[i] = float64(x)
	}
	mean, sd := stat.MeanStdDev(list, nil)
	return mean, 3 * sd / math.Sqrt(float64(len(list)))
}

// inhibitoryRate is the rate to which the rule vogels brings neurons that others excite: rho, whatever the excitation. The closed form
// is for spikes that know nothing of each other; so what a spike does to its target is kept out of the rule's window by a long delay.
func inhibitoryRate(o options) ([]Check, error) {
	const step, second, from, until, block = 0.5, 2000, 200, 800, 20 // ms, bursts, s, s, s
	const sources, targets, rho = 400, 10, 5
	text := fmt.Sprintf(`burst: v1
name: inhibition
seed: 6
timestep: %g ms
areas:
  - {name: I, neurons: %d, model: poisson, params: {rate: 50 Hz}}
  - {name: E, neurons: %d, model: lif, drive: {poisson: {rate: 12 kHz, weight: 0.15 mV}}}
projections:
  - from: I
    to: E
    rule: all_to_all
    weight: 0 mV
    delay: 100 ms
    back: 100 ms
    plasticity: {rule: vogels, eta: 2e-5 mV, rho: %d Hz, w_max: 1 mV}
`, step, sources, targets, rho)
	var rates []float64
	spikes := 0
	_, err := learned(o, text, until*second, recorder(func(b *engine.Burst) error {
		for _, n := range b.Fired {
			if n >= sources {
				spikes++
			}
		}
		if (b.Number+1)%(block*second) == 0 {
			if b.Number >= from*second {
				rates = append(rates, float64(spikes)/targets/block)
			}
			spikes = 0
		}
		return nil
	}))
	if err != nil {
		return nil, err
	}
	mean, off := threeErrors(rates)
	wanted := rho * 20 / area(20, step)
	return []Check{{
		Case: "vogels", Quantity: "rate of ten neurons (Hz)", Computed: fmt.Sprintf("%d (rho), %.2f (steps of %g ms)", rho, wanted, step),
		Ours: mean, Low: wanted - off, High: wanted + off, Digits: 2,
	}}, nil
}

// song is the example stdp-song, as it is and with Brian2's order of events: shares of weights near 0 and near the largest, and the
// neuron's rate. A pair in the same step raises the weight in Brian2, and does nothing in the rule stdp. That is half a per cent of all
// potentiation, which is 5 % less than depression, and so shows in the rate.
func song(o options) ([]Check, error) {
	text, err := example("stdp-song")
	if err != nil {
		return nil, err
	}
	const own = `plasticity:
  - name: pairs
    params: {up: 1e-4, down: 1.05e-4, w_max: 0.01}
    pre: {x: {tau: 20 ms, add: 1}}
    post: {y: {tau: 20 ms, add: 1}}
    bounds: [0, w_max]
    on_post: ["w = select(pre, w, w + up*x)"]
    on_pre: ["w = w - down*y", "w = select(post, min(max(w, 0), w_max) + up*(x + 1), w)"]
`
	before, _, found := strings.Cut(text, "    plasticity: ")
	if !found {
		return nil, errors.New("stdp-song has no line of plasticity")
	}
	low, high, _, err := songRun(o, text)
	if err != nil {
		return nil, err
	}
	name := "Song 2000, stdp-song"
	checks := []Check{
		{Case: name, Quantity: "weights below a fifth of the largest (%)", Computed: "38.0 (Brian2)", Ours: low, Low: 35, High: 41, Digits: 1},
		{Case: name, Quantity: "weights above four fifths of it (%)", Computed: "31.8 (Brian2)", Ours: high, Low: 29, High: 35, Digits: 1},
	}
	low, high, rate, err := songRun(o, before+"    plasticity: pairs\n"+own)
	name = "Song 2000, Brian2's order"
	return append(checks,
		Check{Case: name, Quantity: "weights below a fifth of the largest (%)", Computed: "38.0 (Brian2)", Ours: low, Low: 35, High: 41, Digits: 1},
		Check{Case: name, Quantity: "weights above four fifths of it (%)", Computed: "31.8 (Brian2)", Ours: high, Low: 29, High: 35, Digits: 1},
		Check{Case: name, Quantity: "rate (Hz)", Computed: "23.9 ± 1.7 (Brian2)", Ours: rate, Low: 20.5, High: 27.3, Digits: 1}), err
}

// songRun gives the shares in per cent and the rate in Hz over 200 s.
func songRun(o options, text string) (low, high, rate float64, err error) {
	const seconds, neuron, largest = 200, 1000, 0.01
	spikes := 0.0
	s, err := learned(o, text, 10_000*seconds, recorder(func(b *engine.Burst) error {
		if n := len(b.Fired); n > 0 && b.Fired[n-1] == neuron {
			spikes++
		}
		return nil
	}))
	if err != nil {
		return 0, 0, 0, err
	}
	low, high = ends(s.Plastic[0].Weight, largest)
	return low, high, spikes / seconds, nil
}
