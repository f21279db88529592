package main

import (
	"flag"
	"math"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"burst/internal/slow"

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
			if !strings.HasPrefix(c.name, "f-i") {
				slow.Test(t)
			}
			if c.long && !*long {
				t.Skip("takes minutes or gigabytes; runs with -long")
			}
			if !*long {
				t.Parallel() // the longest, learning-equilibria, has too little to do in a burst for a second thread
			}
			checks, err := c.run(options{backend: "cpu", seconds: 2, many: *long})
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
	err := write(&out, []Check{{Case: "x", Quantity: "y", Ours: 3, Low: 1, High: 2}}, "", time.Time{})
	require.ErrorContains(t, err, "1 of 1 values")
	require.Contains(t, out.String(), "**no**")
}

// TestPage: docs/validation.md is what write makes of its own rows, so that text and columns are those of the command.
func TestPage(t *testing.T) {
	page, err := os.ReadFile("../../docs/validation.md")
	require.NoError(t, err)
	made := regexp.MustCompile("Written by `go run ./bench/science ?(.*)` on ([0-9-]+)").FindStringSubmatch(string(page))
	require.Len(t, made, 3)
	date, err := time.Parse(time.DateOnly, made[2])
	require.NoError(t, err)
	var checks []Check
	for _, cells := range regexp.MustCompile(`(?m)^\| (.*) \| (.*) \| (.*) \| (.*) \| ([0-9.]+) \| ([0-9.]+) … ([0-9.]+) \| yes \|$`).FindAllStringSubmatch(string(page), -1) {
		c := Check{Case: cells[1], Quantity: cells[2], Published: cells[3], Computed: cells[4]}
		for i, number := range []*float64{&c.Ours, &c.Low, &c.High} {
			*number, err = strconv.ParseFloat(cells[5+i], 64)
			require.NoError(t, err)
		}
		_, decimals, _ := strings.Cut(cells[5], ".")
		c.Digits = len(decimals)
		checks = append(checks, c)
	}
	require.Greater(t, len(checks), 50)
	for _, c := range checks {
		require.NotRegexp(t, `[A-Za-z]`, strings.ReplaceAll(c.Published, "theory", ""), "%s, %s: a published number", c.Case, c.Quantity)
	}
	var want strings.Builder
	require.NoError(t, write(&want, checks, made[1], date))
	require.Equal(t, want.String(), string(page))
}
