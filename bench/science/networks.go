package main

import (
	"errors"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"

	"burst/backend"
	"burst/connectome"
	"burst/engine"
	"burst/genome"
	"burst/genomes"

	"gonum.org/v1/gonum/stat"
)

// learningNetworks are the examples of networks that learn, run until they show what was published of them.
func learningNetworks() []named {
	return []named{
		{name: "learning-spnet", run: polychronous},
		{name: "learning-vogels-network", run: balanced},
		{name: "learning-daspnet", run: rewarded},
	}
}

// example is the text of an example.
func example(name string) (string, error) {
	text, err := genomes.Text(name)
	return string(text), err
}

// ends are the shares in per cent of weights below a fifth and above four fifths of the largest.
func ends(weights []float32, largest float32) (low, high float64) {
	share := 100 / float64(len(weights))
	for _, w := range weights {
		if w < 0.2*largest {
			low += share
		} else if w > 0.8*largest {
			high += share
		}
	}
	return low, high
}

// polychronous is the network of Izhikevich (2006): the rhythm it begins with, and how its weights part.
func polychronous(o options) ([]Check, error) {
	const seconds, beginning, largest = 200, 10, 10
	text, err := example("spnet")
	if err != nil {
		return nil, err
	}
	var counts []float64
	spikes := [2]float64{}
	s, err := learned(o, text, seconds*1000, recorder(func(b *engine.Burst) error {
		counts = append(counts, float64(len(b.Fired)))
		at, _ := slices.BinarySearch(b.Fired, 800)
		if b.Number < beginning*1000 {
			spikes[0] += float64(at)
			spikes[1] += float64(len(b.Fired) - at)
		}
		return nil
	}))
	if err != nil {
		return nil, err
	}
	low, high := ends(slices.Concat(s.Plastic[0].Weight, s.Plastic[1].Weight), largest)
	const name = "Izhikevich 2006, spnet"
	return []Check{
		{Case: name, Quantity: "rhythm of the first 10 s (Hz)", Computed: "2.9 (C)", Ours: rhythm(counts[:beginning*1000], 1024, 1e-3, 1), Low: 2, High: 7, Digits: 1},
		{Case: name, Quantity: "rate of E, first 10 s (Hz)", Computed: "2.97 ± 0.21 (C)", Ours: spikes[0] / 800 / beginning, Low: 2.54, High: 3.38, Digits: 2},
		{Case: name, Quantity: "rate of I, first 10 s (Hz)", Computed: "11.2 ± 1.3 (C)", Ours: spikes[1] / 200 / beginning, Low: 8.7, High: 13.7, Digits: 2},
		{Case: name, Quantity: "weights below a fifth of the largest (%)", Computed: "29.3 ± 0.6 (C)", Ours: low, Low: 26.3, High: 32.3, Digits: 1},
		{Case: name, Quantity: "weights above four fifths of it (%)", Computed: "55.7 ± 0.5 (C)", Ours: high, Low: 52.7, High: 58.7, Digits: 1},
	}, nil
}

// shortTermExample is the example short-term: what each spike brings, by the formulas in float64, and the rate at which the facilitating
// synapse brings most.
func shortTermExample(o options) ([]Check, error) {
	text, err := example("short-term")
	if err != nil {
		return nil, err
	}
	list := regexp.MustCompile(`at: \[.*\]}`)
	ours, err := transmitted(o, text)
	if err != nil {
		return nil, err
	}
	var checks []Check
	for k, x := range []struct {
		name            string
		weight, u       float64
		recovery, facil float64 // ms
	}{{"depressing, U 0.5, rec 800", 250, 0.5, 800, 0}, {"facilitating, U 0.03, rec 130, fac 530", 1540, 0.03, 130, 530}} {
		var wanted []float64
		r, u := 1.0, x.u
		for n := range 11 {
			after := 50.0
			if n == 10 {
				after = 500
			}
			if n > 0 {
				r = 1 + (r-r*u-1)*math.Exp(-after/x.recovery)
				u = x.u + u*(1-x.u)*math.Exp(-after/x.facil)
			}
			wanted = append(wanted, u*r)
			ours[k][n] /= x.weight
		}
		most, err := worst(ours[k], wanted, coarse)
		if err != nil {
			return nil, err
		}
		checks = append(checks, Check{Case: "Tsodyks 1998, short-term", Quantity: x.name + " (1e-5)", Computed: "0 (float64)", Ours: most, High: 1, Digits: 2})
	}
	best, at := 0.0, 0.0
	for interval := 36; interval <= 60; interval += 4 {
		var times []string
		for n := range 40 {
			times = append(times, fmt.Sprintf("%d ms", 50+n*interval))
		}
		steady, err := transmitted(o, list.ReplaceAllLiteralString(text, "at: ["+strings.Join(times, ", ")+"]}"))
		if err != nil {
			return nil, err
		}
		if x := steady[1][39]; x > best {
			best, at = x, 1000/float64(interval)
		}
	}
	return append(checks, Check{
		Case: "Tsodyks 1998, short-term", Quantity: "best rate, facilitating (Hz)", Computed: "22.0 (closed form)",
		Ours: at, Low: 19.8, High: 22.8, Digits: 1,
	}), nil
}

// transmitted is what the spikes of short-term's train bring to its two neurons, in pA.
func transmitted(o options, text string) (amounts [2][]float64, err error) {
	g, err := genome.Parse("short-term.yaml", []byte(text), nil)
	if err != nil {
		return amounts, err
	}
	c, err := connectome.Build(g, connectome.Options{})
	if err != nil {
		return amounts, err
	}
	b, err := backend.Open(o.backend, c, backend.Options{Want: engine.Want{FCL: true}})
	if err != nil {
		return amounts, err
	}
	defer b.Close()
	var out engine.Burst
	spikes := g.Areas[0].Spikes
	for range spikes[len(spikes)-1].Burst + 2 {
		if err := b.Step(nil, &out); err != nil {
			return amounts, err
		}
		for _, candidate := range out.Candidates {
			k := 0
			if candidate.Port >= c.Areas[2].Ports.First {
				k = 1
			}
			amounts[k] = append(amounts[k], float64(candidate.Sum)/float64(c.Scale))
		}
	}
	return amounts, nil
}

// rewarded is the network of Izhikevich (2007): a synapse that is rewarded seconds after it acted, among 80,000.
func rewarded(o options) ([]Check, error) {
	const most, top = 3600, 4
	text, err := example("daspnet")
	if err != nil {
		return nil, err
	}
	highest, seconds := float32(0), 0
	s, err := course(o, text, 1000, most*1000, func(s *engine.State) bool {
		if len(s.Plastic[0].Weight) != 1 {
			return true
		}
		highest = max(highest, s.Plastic[0].Weight[0])
		seconds++
		return highest >= 0.999*top
	})
	if err != nil {
		return nil, err
	}
	if len(s.Plastic[0].Weight) != 1 {
		return nil, errors.New("daspnet's first projection is not the rewarded synapse")
	}
	var others []float64
	for _, w := range slices.Concat(s.Plastic[1].Weight, s.Plastic[2].Weight) {
		others = append(others, float64(w))
	}
	name := fmt.Sprintf("Izhikevich 2007, daspnet, %d s", seconds)
	_, high := ends(slices.Concat(s.Plastic[1].Weight, s.Plastic[2].Weight), top)
	return []Check{
		{Case: name, Quantity: "weight of the rewarded synapse, from 0", Published: "4", Ours: float64(highest), Low: 0.999 * top, High: top, Digits: 3},
		{Case: name, Quantity: "mean of the other 80,000, from 1", Computed: "0.62-0.71 (C)", Ours: stat.Mean(others, nil), Low: 0, High: 1, Digits: 2},
		{Case: name, Quantity: "of these, above 3.2 (%)", Computed: "0.3-3.7 (C)", Ours: high, Low: 0, High: 5, Digits: 1},
	}, nil
}
