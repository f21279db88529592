package main

import (
	"flag"
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

var long = flag.Bool("long", false, "run the full microcircuit too, 299 M synapses: about 6 GiB and two minutes")

// TestPublished runs every case against its accepted range.
func TestPublished(t *testing.T) {
	for _, c := range cases() {
		t.Run(c.name, func(t *testing.T) {
			if testing.Short() && !strings.HasPrefix(c.name, "f-i") {
				t.Skip("simulates up to 12,500 neurons for up to 2.2 s; left out by -short")
			}
			if c.name == "microcircuit" && !*long {
				t.Skip("builds 299 M synapses; runs with -long")
			}
			checks, err := c.run(options{backend: "cpu", seconds: 2})
			require.NoError(t, err)
			require.NotEmpty(t, checks)
			report(t, checks)
		})
	}
}

func report(t *testing.T, checks []Check) {
	for _, c := range checks {
		t.Logf("%s, %s: %.*f, accepted %g … %g", c.Case, c.Quantity, max(c.Digits, 2), c.Ours, c.Low, c.High)
		if !c.Pass() {
			t.Errorf("%s, %s: %g, want %g … %g", c.Case, c.Quantity, c.Ours, c.Low, c.High)
		}
	}
}

// TestStatistics checks the estimators on signals whose answers are known.
func TestStatistics(t *testing.T) {
	counts := make([]float64, 30_000)
	for i := range counts {
		counts[i] = 3 + math.Cos(2*math.Pi*73*float64(i)*brunelStep)
	}
	require.InDelta(t, 73, peak(counts), 1.3)
	trains := make([]train, 2)
	for _, b := range []uint64{5, 15, 45} { // intervals 10 and 30: mean 20, sd 10
		trains[0].add(b)
	}
	trains[1].add(7)
	trains[1].add(9) // one interval is too few
	require.InDelta(t, 0.5, meanCV(trains), 1e-12)
}

// TestFailingCheckFails makes sure that the command cannot print a wrong value and succeed.
func TestFailingCheckFails(t *testing.T) {
	var out strings.Builder
	err := write(&out, []Check{{Case: "x", Quantity: "y", Ours: 3, Low: 1, High: 2}}, "")
	require.ErrorContains(t, err, "1 of 1 values")
	require.Contains(t, out.String(), "**no**")
}
