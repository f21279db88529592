package sweep

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"burst/backend"
	"burst/checkpoint"
	"burst/connectome"
	"burst/genome"
	"burst/genomes"
	"burst/internal/cuda/cudatest"
	"burst/record/runfolder"
	"burst/record/stats"
	"burst/run"

	"github.com/stretchr/testify/require"
)

// grid22 is a plan of two by two values and three trials.
func grid22() Plan {
	return Plan{Axes: []Axis{{[]string{"areas.a.threshold"}, []string{"1", "2"}}, {[]string{"areas.a.leak", "areas.b.leak"}, []string{"0.1", "0.2"}}}, Trials: 3}
}

// single runs a point by itself and gives its digest.
func single(t *testing.T, x *Point, name string) string {
	r, err := run.New(context.Background(), x.Genome, run.Options{Backend: name, Bursts: 60, Threads: 1})
	require.NoError(t, err)
	defer r.Close()
	require.NoError(t, r.Advance(context.Background(), r.End()))
	return fmt.Sprintf("%016x", r.Engine().Digest())
}

// TestTrials: on every backend each point's digest is that of its run alone, whatever runs beside it. The GPU is the one that stands in.
func TestTrials(t *testing.T) {
	g, p := parse(t, noisy), grid22()
	points, err := p.Points(g)
	require.NoError(t, err)
	var want []string
	for i := range points {
		want = append(want, single(t, &points[i], "reference"))
	}
	require.NotEqual(t, want[0], want[1], "run seeds matter")
	for _, name := range backend.Names() {
		t.Run(name, func(t *testing.T) {
			if name == "cuda" {
				cudatest.Host(t)
			}
			for _, jobs := range []int{1, 5} {
				res, err := Run(context.Background(), g, p, Options{Run: run.Options{Backend: name, Bursts: 60, Threads: jobs}, Jobs: jobs})
				require.NoError(t, err)
				require.Len(t, res.Rows, len(points))
				for i, r := range res.Rows {
					require.Equal(t, want[i], r.Digest, "point %d", i+1)
					require.Equal(t, points[i].Genome.RunSeed, r.RunSeed)
					require.EqualValues(t, 60, r.Bursts)
				}
			}
		})
	}
}

// TestFigures: a point's figures are those that record/stats finds in what it has recorded.
func TestFigures(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "s")
	res, err := Run(context.Background(), parse(t, noisy), grid22(), Options{Run: run.Options{Backend: "cpu", Bursts: 60}, Folder: dir, Settle: 11})
	require.NoError(t, err)
	for _, r := range res.Rows {
		f, err := runfolder.Open(filepath.Join(dir, r.Folder))
		require.NoError(t, err)
		want, err := stats.Compute(f, stats.Options{From: 11})
		require.NoError(t, err)
		for i, a := range want.Areas {
			got := r.Areas[i]
			require.Equal(t, a.Spikes, got.Spikes)
			for _, x := range [][2]stats.Value{{a.Rate, got.Rate}, {a.Active, got.Active}, {a.CV, got.CV}, {a.Synchrony, got.Synchrony}} {
				if x[0].Defined() {
					require.Equal(t, x[0], x[1])
				}
				require.Equal(t, x[0].Defined(), x[1].Defined())
			}
		}
	}
	files, err := res.WriteMaps(dir, "svg")
	require.NoError(t, err)
	require.Len(t, files, 6, "three figures of two areas")
	text, err := os.ReadFile(filepath.Join(dir, "rate-a.svg"))
	require.NoError(t, err)
	require.Contains(t, string(text), "areas.a.leak,areas.b.leak")
	require.Contains(t, string(text), "rate (Hz) of a")
}

// TestGrid: the last axis goes to the right, the first upwards; figures are means over the runs of a cell.
func TestGrid(t *testing.T) {
	r := Result{Plan: Plan{Axes: []Axis{{[]string{"x"}, []string{"1", "2"}}, {[]string{"y"}, []string{"a", "b", "c"}}}}}
	for i, v := range [][]string{{"1", "a"}, {"1", "a"}, {"1", "b"}, {"1", "c"}, {"2", "a"}, {"2", "c"}} {
		r.Rows = append(r.Rows, Row{Point: i + 1, Values: v, Areas: []Area{{Name: "E", Rate: stats.Value(i)}}})
	}
	r.Rows[3] = Row{Point: 4, Values: []string{"1", "c"}, Error: "none"}
	cells := r.Cells()
	require.Len(t, cells, 5)
	require.Equal(t, []int{2, 1, 0, 1, 1}, []int{cells[0].Runs, cells[1].Runs, cells[2].Runs, cells[3].Runs, cells[4].Runs})
	g := r.grid(cells, "E", func(a *CellArea) stats.Spread { return a.Rate })
	require.Equal(t, []string{"1", "2"}, g.rows)
	require.Equal(t, "x", g.label)
	require.Equal(t, "[[0.5 2 NaN] [4 NaN 5]]", fmt.Sprint(g.values))
}

// stopper stops a sweep when the nth checkpoint is begun.
type stopper struct {
	checkpoint.OS
	left int
	stop func()
}

func (s *stopper) Create(path string) (checkpoint.File, error) {
	if s.left--; s.left == 0 {
		s.stop()
	}
	return s.OS.Create(path)
}

// TestResume: a sweep that was stopped goes on with the points that are not complete, and has the table of one that was never stopped.
func TestResume(t *testing.T) {
	g, p, dir := parse(t, noisy), grid22(), t.TempDir()
	whole, err := Run(context.Background(), g, p, Options{Run: run.Options{Backend: "cpu", Bursts: 60}, Folder: filepath.Join(dir, "whole")})
	require.NoError(t, err)

	cut := filepath.Join(dir, "cut")
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	ended := 0
	o := Options{Run: run.Options{Backend: "cpu", Bursts: 60, Threads: 1, Checkpoints: "20", Disk: &stopper{left: 7, stop: stop}}, Folder: cut, Tell: func(e Event) {
		if _, is := e.(Ended); is {
			ended++
		}
	}}
	part, err := Run(ctx, g, p, o)
	require.ErrorIs(t, err, context.Canceled)
	require.Len(t, part.Rows, 2, "three checkpoints a point; the next waits for the one that stops")
	require.Equal(t, 2, ended)
	entries, err := filepath.Glob(filepath.Join(cut, "point-*"))
	require.NoError(t, err)
	require.Len(t, entries, len(part.Rows), "nothing half-written")

	// A kill leaves a folder without a row, and another process may be at work.
	require.NoError(t, os.Mkdir(filepath.Join(cut, "point-12"), 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(cut, "point-12", "manifest.json"), []byte("{}"), 0o600))
	again, err := Resume(context.Background(), cut, Options{Run: run.Options{Backend: "reference"}})
	require.NoError(t, err)
	require.Len(t, again.Rows, len(whole.Rows))
	for i := range whole.Rows {
		want, got := whole.Rows[i], again.Rows[i]
		want.Seconds, got.Seconds = 0, 0
		if i < len(part.Rows) {
			require.Equal(t, part.Rows[i].Seconds, again.Rows[i].Seconds, "what was complete is not run again")
		}
		require.Equal(t, fmt.Sprint(want), fmt.Sprint(got)) // with NaN
	}
	third, err := Resume(context.Background(), cut, Options{})
	require.NoError(t, err)
	require.Equal(t, fmt.Sprint(again.Rows), fmt.Sprint(third.Rows))

	require.NoError(t, os.WriteFile(filepath.Join(cut, "point-2", rowFile), []byte(`{"point": 3}`), 0o600))
	_, err = Resume(context.Background(), cut, Options{})
	require.ErrorContains(t, err, "is of another point than point 2 (")
	_, err = Run(context.Background(), g, p, o)
	require.ErrorContains(t, err, "holds genome.yaml already; want a folder that is empty")
}

// TestResumeKeepsMemory: what a sweep refuses for its memory it also refuses when it goes on, unless it is given another limit.
func TestResumeKeepsMemory(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "sweep")
	small := Options{Run: run.Options{Backend: "cpu", Bursts: 60, MaxBytes: 2000}, Folder: dir}
	_, err := Run(context.Background(), parse(t, noisy), Plan{Trials: 2}, small)
	var limit *connectome.LimitError
	require.ErrorAs(t, err, &limit)
	for range 2 {
		_, err = Resume(context.Background(), dir, Options{})
		require.ErrorAs(t, err, &limit)
	}
	whole, err := Resume(context.Background(), dir, Options{Run: run.Options{MaxBytes: 1 << 30}})
	require.NoError(t, err)
	require.Len(t, whole.Rows, 2)
}

// TestFailingPoint: a point that cannot be built is named, and the others are kept.
func TestFailingPoint(t *testing.T) {
	g := parse(t, noisy+"scale: 16777216\n")
	p := Plan{Axes: []Axis{{[]string{"projections.a->b.weight"}, []string{"0.1", "100", "0.2"}}}}
	var told []Event
	res, err := Run(context.Background(), g, p, Options{Run: run.Options{Backend: "cpu", Bursts: 60}, Tell: func(e Event) { told = append(told, e) }})
	var point *PointError
	require.True(t, errors.As(err, &point))
	require.Equal(t, "point 2 (projections.a->b.weight=100)", point.Place)
	require.Len(t, res.Rows, 3)
	require.NotEmpty(t, res.Rows[0].Digest)
	require.Empty(t, res.Rows[1].Digest)
	require.Equal(t, err.Error(), res.Rows[1].Error)
	require.NotEmpty(t, res.Rows[2].Digest)
	require.Contains(t, slices.DeleteFunc(told, func(e Event) bool { _, is := e.(Failed); return !is }), Failed{err})
}

// TestBrunelSmall is the small version of docs/sweeps.md of the plane of Brunel (2000): silence below threshold, regular firing as one at the
// limit of the refractory time where excitation prevails, irregular firing where inhibition does. bench/science has the numbers.
func TestBrunelSmall(t *testing.T) {
	text, err := os.ReadFile("../../docs/sweeps.md")
	require.NoError(t, err)
	_, command, found := strings.Cut(string(text), "burst run brunel-c --duration 150ms --settle 50ms")
	require.True(t, found)
	command, _, _ = strings.Cut(command, "\n\n")
	genomeText, err := genomes.Text("brunel-c")
	require.NoError(t, err)
	g, err := genome.Parse("brunel-c.yaml", genomeText, nil)
	require.NoError(t, err)
	var settings []string
	var p Plan
	for _, f := range regexp.MustCompile(`--(set|sweep)[ \\\n]+'?([^' \n]+)`).FindAllStringSubmatch(command, -1) {
		if f[1] == "set" {
			settings = append(settings, f[2])
			continue
		}
		a, err := ParseAxis(f[2])
		require.NoError(t, err)
		p.Axes = append(p.Axes, a)
	}
	require.Len(t, settings, 8)
	g, err = g.With(settings)
	require.NoError(t, err)
	res, err := Run(context.Background(), g, p, Options{Run: run.Options{Backend: "cpu", Bursts: 1500}, Settle: 500})
	require.NoError(t, err)
	require.Len(t, res.Rows, 4)
	regular, irregular := res.Rows[2].Areas[0], res.Rows[3].Areas[0]
	require.Zero(t, res.Rows[0].Spikes+res.Rows[1].Spikes, "below threshold")
	require.Greater(t, float64(regular.Rate), 300.0)
	require.Less(t, float64(regular.CV), 0.15)
	require.Less(t, float64(irregular.Rate), 60.0)
	require.Greater(t, float64(irregular.CV), 0.5)
	require.Greater(t, float64(regular.Synchrony), 2*float64(irregular.Synchrony))
}
