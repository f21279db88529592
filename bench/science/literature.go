package main

import (
	"bytes"
	"fmt"
	"math"
	"slices"

	"burst/engine"
	"burst/genome"
	"burst/genomes"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"
)

// activity is what the statistics of a run need of each area.
type activity struct {
	names  []string
	first  []uint32 // neuron of each area, and the number of all
	spikes []float64
	trains []train
}

// newActivity reads the areas of a genome.
func newActivity(text []byte) (*activity, error) {
	g, err := genome.Parse("genome", text, nil)
	if err != nil {
		return nil, err
	}
	a := &activity{first: []uint32{0}, spikes: make([]float64, len(g.Areas))}
	for i := range g.Areas {
		a.names = append(a.names, g.Areas[i].Name)
		a.first = append(a.first, a.first[i]+uint32(g.Areas[i].Neurons()))
	}
	a.trains = make([]train, a.first[len(g.Areas)])
	return a, nil
}

// add counts a burst.
func (a *activity) add(b *engine.Burst) {
	k := 0
	for _, n := range b.Fired {
		for n >= a.first[k+1] {
			k++
		}
		a.spikes[k]++
		a.trains[n].add(b.Number)
	}
}

// rate is the mean rate in Hz of an area over so many seconds.
func (a *activity) rate(name string, seconds float64) float64 {
	k := slices.Index(a.names, name)
	return a.spikes[k] / float64(a.first[k+1]-a.first[k]) / seconds
}

// run simulates a shipped genome with another seed and counts bursts from ≤ t < until.
func run(o options, name string, seed int, from, until uint64) (*activity, error) {
	text, err := genomes.Text(name)
	if err != nil {
		return nil, err
	}
	g, err := genome.Parse(name, text, nil)
	if err != nil {
		return nil, err
	}
	text = bytes.Replace(text, fmt.Appendf(nil, "\nseed: %d\n", g.Seed), fmt.Appendf(nil, "\nseed: %d\n", seed), 1)
	a, err := newActivity(text)
	if err != nil {
		return nil, err
	}
	return a, simulate(o, name, text, until, func(b *engine.Burst) error {
		if b.Number >= from {
			a.add(b)
		}
		return nil
	})
}

// poissonInput is a lif neuron under Poisson input against Siegert's formula (1951).
func poissonInput(o options) ([]Check, error) {
	const settle, bursts = 2000, 52_000
	a, err := run(o, "poisson-lif", 8, settle, bursts)
	if err != nil {
		return nil, err
	}
	var checks []Check
	for _, p := range []struct {
		area  string
		rate  int // events a second
		theor float64
	}{{"at8k", 8000, 38.22}, {"at10k", 10_000, 63.69}, {"at12k", 12_000, 85.87}} {
		checks = append(checks, Check{
			Case: "Poisson-driven lif", Quantity: fmt.Sprintf("rate at %d events/s (Hz)", p.rate), Computed: fmt.Sprintf("%.2f (Siegert)", p.theor),
			Ours: a.rate(p.area, (bursts-settle)*1e-4), Low: 0.97 * p.theor, High: 1.03 * p.theor, Digits: 2,
		})
	}
	return checks, nil
}

// izhikevich2003 is the mean over seeds of the network of the paper.
func izhikevich2003(o options) ([]Check, error) {
	const seeds, bursts = 20, 1000
	var e, i, all []float64
	for seed := range seeds {
		a, err := run(o, "izhikevich-2003", 1+seed, 0, bursts)
		if err != nil {
			return nil, err
		}
		e, i = append(e, a.rate("E", 1)), append(i, a.rate("I", 1))
		all = append(all, a.spikes[0]+a.spikes[1])
	}
	// Means of as many runs scatter by sd/√seeds; accepted are 2 sd of a single run.
	return []Check{
		{Case: "Izhikevich 2003, 20 seeds", Quantity: "rate of E (Hz)", Computed: "7.59 ± 0.16 (NumPy)", Ours: stat.Mean(e, nil), Low: 7.27, High: 7.91, Digits: 2},
		{Case: "Izhikevich 2003, 20 seeds", Quantity: "rate of I (Hz)", Computed: "7.29 ± 0.24 (NumPy)", Ours: stat.Mean(i, nil), Low: 6.81, High: 7.77, Digits: 2},
		{Case: "Izhikevich 2003, 20 seeds", Quantity: "spikes in 1 s", Computed: "7529 ± 151 (NumPy)", Ours: stat.Mean(all, nil), Low: 7227, High: 7831, Digits: 0},
	}, nil
}

// vogelsAbbott is the mean over seeds of the current-based benchmark of Brette et al. (2007).
func vogelsAbbott(o options) ([]Check, error) {
	const seeds, settle, bursts = 6, 2000, 22_000
	var e, i, cv []float64
	for seed := range seeds {
		a, err := run(o, "vogels-abbott-cuba", 1+seed, settle, bursts)
		if err != nil {
			return nil, err
		}
		const seconds = (bursts - settle) * 1e-4
		e, i, cv = append(e, a.rate("E", seconds)), append(i, a.rate("I", seconds)), append(cv, meanCV(a.trains))
	}
	return []Check{
		{Case: "Vogels-Abbott CUBA, 6 seeds", Quantity: "rate of E (Hz)", Computed: "5.53 ± 0.21 (Brian2)", Ours: stat.Mean(e, nil), Low: 5.0, High: 5.8, Digits: 2},
		{Case: "Vogels-Abbott CUBA, 6 seeds", Quantity: "rate of I (Hz)", Computed: "5.56 ± 0.06 (Brian2)", Ours: stat.Mean(i, nil), Low: 5.38, High: 5.68, Digits: 2},
		{Case: "Vogels-Abbott CUBA, 6 seeds", Quantity: "CV of intervals", Computed: "0.59 (Brian2)", Ours: stat.Mean(cv, nil), Low: 0.49, High: 0.69, Digits: 2},
	}, nil
}

// elsewhere are values of another program: means and standard deviations over runs.
type elsewhere struct {
	runs  int
	by    string       // the program
	value [][2]float64 // mean and standard deviation
}

// check compares the mean of so many runs of ours with the k-th value. By the other's scatter (Student's t) all values together lie where
// they are accepted with 95 % (Bonferroni).
func (e *elsewhere) check(c Check, k int, ours []float64) Check {
	mean, sd := e.value[k][0], e.value[k][1]
	t := distuv.StudentsT{Sigma: 1, Nu: float64(e.runs - 1)}.Quantile(1 - 0.025/float64(len(e.value)))
	accepted := t * math.Sqrt(1/float64(e.runs)+1/float64(len(ours))) * sd
	c.Computed, c.Ours = fmt.Sprintf("%.2f ± %.2f (%s)", mean, sd, e.by), stat.Mean(ours, nil)
	c.Low, c.High, c.Digits = mean-accepted, mean+accepted, 2
	return c
}

// conductances is the mean over seeds of a conductance-based benchmark of Brette et al. (2007).
func conductances(o options, genome, title string, few int, nest elsewhere) ([]Check, error) {
	const settle, bursts, seconds = 2000, 22_000, 2.0
	var found [4][]float64
	seeds := o.runs(few)
	for seed := range seeds {
		a, err := run(o, genome, 1+seed, settle, bursts)
		if err != nil {
			return nil, err
		}
		for k, x := range []float64{a.rate("E", seconds), meanCV(a.trains[:3200]), a.rate("I", seconds), meanCV(a.trains[3200:])} {
			found[k] = append(found[k], x)
		}
	}
	var checks []Check
	for k, quantity := range []string{"rate of E (Hz)", "CV of intervals of E", "rate of I (Hz)", "CV of intervals of I"} {
		checks = append(checks, nest.check(Check{Case: seedsOf(title, seeds), Quantity: quantity}, k, found[k]))
	}
	return checks, nil
}

func seedsOf(title string, seeds int) string {
	if seeds == 1 {
		return title
	}
	return fmt.Sprintf("%s, %d seeds", title, seeds)
}

// microcircuit is the full network of Potjans and Diesmann (2014).
func microcircuit(o options) ([]Check, error) {
	const settle = 5000
	bursts := settle + uint64(o.seconds*1e4)
	a, err := run(o, "potjans-diesmann", 55, settle, bursts)
	if err != nil {
		return nil, err
	}
	var checks []Check
	for _, p := range []struct {
		area string
		rate float64
	}{{"L23E", 0.903}, {"L23I", 2.965}, {"L4E", 4.414}, {"L4I", 5.876}, {"L5E", 7.569}, {"L5I", 8.633}, {"L6E", 1.105}, {"L6I", 7.829}} {
		k := slices.Index(a.names, p.area)
		name := fmt.Sprintf("Microcircuit, %g s", o.seconds)
		checks = append(checks,
			Check{Case: name, Quantity: "rate of " + p.area + " (Hz)", Published: fmt.Sprintf("%.3f", p.rate), Ours: a.rate(p.area, o.seconds), Low: 0.95 * p.rate, High: 1.05 * p.rate, Digits: 3},
			Check{Case: name, Quantity: "CV of intervals of " + p.area, Ours: meanCV(a.trains[a.first[k]:a.first[k+1]]), Low: 0.6, High: 1.0, Digits: 2})
	}
	return checks, nil
}
