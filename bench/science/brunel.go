package main

import (
	"fmt"
	"math"
	"math/cmplx"
	"strings"

	"burst/engine"
	"burst/genomes"

	"gonum.org/v1/gonum/dsp/fourier"
	"gonum.org/v1/gonum/dsp/window"
	"gonum.org/v1/gonum/stat"
)

const (
	brunelNeurons = 12_500
	brunelStep    = 1e-4 // s
	settle        = 2000 // bursts left out of the statistics
)

// state is one of the four states of Brunel (2000), table 1, with what is accepted of it.
type state struct {
	genome    string
	delay     string // replaces the genome's 1.5 ms when set
	bursts    uint64
	published string     // rate
	computed  string     // rate
	rate      [2]float64 // Hz
	cv        [2]float64 // zero: not checked
	peak      [2]float64 // Hz; zero: not checked
}

// brunelStates are the four states, A with both of the delays that simulators' orders amount to.
func brunelStates() []state {
	around := func(x, d float64) [2]float64 { return [2]float64{x - d, x + d} }
	return []state{
		{genome: "brunel-a", bursts: 4000, computed: "333.3 (C)", rate: around(333.3, 0.02*333.3)},
		{genome: "brunel-a", delay: "1.6 ms", bursts: 4000, computed: "309.9 (Brian2), 311.5 (C)", rate: around(312, 0.03*312)},
		{genome: "brunel-b", bursts: 22_000, published: "60.7, theory 55.8", computed: "59.7 (Brian2)", rate: around(59.7, 0.05*59.7), cv: around(0.84, 0.05), peak: around(180, 8)},
		{genome: "brunel-c", bursts: 22_000, published: "37.7, theory 38.0", computed: "38.1-38.9 (Brian2)", rate: around(38.5, 0.05*38.5), cv: around(0.42, 0.05)},
		{genome: "brunel-d", bursts: 22_000, published: "5.5, theory 6.5", computed: "5.6-5.9 (Brian2)", rate: around(5.75, 0.05*5.75), cv: around(0.63, 0.05), peak: around(22, 3)},
	}
}

// checks runs the state and compares.
func (s state) checks(o options) ([]Check, error) {
	text, err := genomes.Text(s.genome)
	if err != nil {
		return nil, err
	}
	name := "Brunel 2000, " + strings.ToUpper(strings.TrimPrefix(s.genome, "brunel-"))
	if s.delay != "" {
		text = []byte(strings.ReplaceAll(string(text), "delay: 1.5 ms", "delay: "+s.delay))
		name += ", delay " + s.delay
	}
	counts := make([]float64, s.bursts-settle)
	trains := make([]train, brunelNeurons)
	err = simulate(o, s.genome, text, s.bursts, func(b *engine.Burst) error {
		if b.Number < settle {
			return nil
		}
		counts[b.Number-settle] = float64(len(b.Fired))
		for _, n := range b.Fired {
			trains[n].add(b.Number)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	rate := stat.Mean(counts, nil) / brunelNeurons / brunelStep
	checks := []Check{{Case: name, Quantity: "rate (Hz)", Published: s.published, Computed: s.computed, Ours: rate, Low: s.rate[0], High: s.rate[1], Digits: 1}}
	if s.cv[1] > 0 {
		checks = append(checks, Check{Case: name, Quantity: "CV of intervals", Computed: fmt.Sprintf("%.2f (C)", (s.cv[0]+s.cv[1])/2), Ours: meanCV(trains), Low: s.cv[0], High: s.cv[1], Digits: 2})
	}
	if s.peak[1] > 0 {
		checks = append(checks, Check{Case: name, Quantity: "oscillation (Hz)", Published: fmt.Sprintf("%.0f", (s.peak[0]+s.peak[1])/2), Ours: peak(counts), Low: s.peak[0], High: s.peak[1], Digits: 1})
	}
	return checks, nil
}

// train sums a neuron's inter-spike intervals.
type train struct {
	last       uint64
	seen       bool
	n          int
	sum, sumSq float64
}

func (t *train) add(burst uint64) {
	if d := float64(burst - t.last); t.seen {
		t.n++
		t.sum += d
		t.sumSq += d * d
	}
	t.last, t.seen = burst, true
}

// meanCV is the coefficient of variation of intervals, averaged over neurons with at least two.
func meanCV(trains []train) float64 {
	var cvs []float64
	for _, t := range trains {
		if n := float64(t.n); t.n >= 2 {
			mean := t.sum / n
			cvs = append(cvs, math.Sqrt(max(0, t.sumSq/n-mean*mean))/mean)
		}
	}
	return stat.Mean(cvs, nil)
}

// peak is the rhythm above 5 Hz of spike counts of steps of brunelStep, in segments of 0.82 s.
func peak(counts []float64) float64 { return rhythm(counts, 8192, brunelStep, 5) }

// rhythm is the frequency above low at which the spectrum of a population's spike counts is largest (Welch's method, segments of n
// steps, Hann windows, half overlapping, power smoothed over three bins).
func rhythm(counts []float64, n int, step, low float64) float64 {
	fft := fourier.NewFFT(n)
	power := make([]float64, n/2+1)
	for from := 0; from+n <= len(counts); from += n / 2 {
		segment := append([]float64(nil), counts[from:from+n]...)
		mean := stat.Mean(segment, nil)
		for i := range segment {
			segment[i] -= mean
		}
		for i, c := range fft.Coefficients(nil, window.Hann(segment)) {
			power[i] += cmplx.Abs(c) * cmplx.Abs(c)
		}
	}
	best, at := 0.0, 0.0
	for i := 1; i < len(power)-1; i++ {
		f := fft.Freq(i) / step
		if p := power[i-1] + power[i] + power[i+1]; f > low && p > best {
			best, at = p, f
		}
	}
	return at
}
