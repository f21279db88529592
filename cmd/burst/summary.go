package main

import (
	"bufio"
	"fmt"
	"math"
	"strings"

	"burst/backend/cuda"
	"burst/engine"
	"burst/run"

	"github.com/spf13/cobra"
)

// result is what `burst run --json` prints.
type result struct {
	Genome     string          `json:"genome"`
	Digest     string          `json:"digest"`
	Weights    string          `json:"weight_digest,omitempty"` // of a network whose weights change
	Connectome string          `json:"connectome"`
	First      uint64          `json:"first_burst,omitempty"` // of a run that began from a checkpoint
	Bursts     uint64          `json:"bursts"`
	Timestep   float64         `json:"timestep_ms"`
	Neurons    uint32          `json:"neurons"`
	Synapses   uint64          `json:"synapses"`
	Scale      int32           `json:"scale"` // quanta per unit, as chosen where the genome says auto
	Spikes     uint64          `json:"spikes"`
	Areas      []areaResult    `json:"areas"`
	Latency    engine.Latency  `json:"latency_us"`
	Late       uint64          `json:"late"`
	Lateness   *engine.Latency `json:"lateness_us,omitempty"` // of the starts of bursts, where a rate is held
	Backend    string          `json:"backend"`
	Device     string          `json:"device"`
	Path       *cuda.Path      `json:"gpu,omitempty"`      // how a GPU ran bursts, and why so
	Builder    *run.Builder    `json:"built,omitempty"`    // who built the network for a GPU, and why
	Exchange   string          `json:"exchange,omitempty"` // between processes
	Threads    int             `json:"threads"`
	Used       int             `json:"threads_used,omitempty"` // of them, by the newest burst of a cpu backend
	Seed       uint64          `json:"seed"`
	RunSeed    uint64          `json:"run_seed"`
	phases
	Version string `json:"version"`
	Folder  string `json:"folder,omitempty"` // where the results are
}

// areaResult is one area's part.
type areaResult struct {
	Name    string  `json:"name"`
	Neurons uint32  `json:"neurons"`
	Spikes  uint64  `json:"spikes"`
	Rate    float64 `json:"rate_hz"` // mean over neurons and the run's simulated time
	Active  uint64  `json:"active"`  // neurons that fired at least once
}

// phases say where the time went, in seconds.
type phases struct {
	Read   float64 `json:"read_s"`   // the genome
	Plan   float64 `json:"plan_s"`   // sizes, weights and bounds of the network
	Build  float64 `json:"build_s"`  // the synapses
	Upload float64 `json:"upload_s"` // what a GPU is given
	Open   float64 `json:"open_s"`   // the rest of opening the backend
	Run    float64 `json:"run_s"`    // all bursts
	Wait   float64 `json:"wait_s"`   // of run_s, for the disk
	Write  float64 `json:"write_s"`  // recordings become Parquet, a last checkpoint
	Draw   float64 `json:"draw_s"`   // pictures
}

func (r *runner) phases() phases {
	t := r.Times()
	return phases{
		Read: r.read.Seconds(), Plan: t.Plan.Seconds(), Build: t.Build.Seconds(), Upload: t.Upload.Seconds(), Open: t.Open.Seconds(), Run: t.Run.Seconds(), Wait: t.Wait.Seconds(), Write: t.Write.Seconds(),
		Draw: r.draw.Seconds(),
	}
}

// rest names the phases but for building and running that took a hundredth of the whole.
func (p *phases) rest() string {
	all := p.Read + p.Plan + p.Build + p.Upload + p.Open + p.Run + p.Write + p.Draw
	var list []string
	for _, x := range []struct {
		did  string
		time float64
	}{{"read", p.Read}, {"planned", p.Plan}, {"uploaded", p.Upload}, {"opened", p.Open}, {"waited for the disk", p.Wait}, {"wrote", p.Write}, {"drew", p.Draw}} {
		if x.time > all/100 {
			list = append(list, fmt.Sprintf("%s in %s", x.did, seconds(x.time)))
		}
	}
	return strings.Join(list, ", ")
}

// report prints the result.
func (r *runner) report(cmd *cobra.Command) error {
	res := r.result()
	switch {
	case r.o.json:
		return printJSON(cmd, res)
	case r.o.quiet:
		_, err := fmt.Fprintln(r.out, res.Digest)
		return err
	}
	return r.summary(cmd, res)
}

// result gathers the figures.
func (r *runner) result() result {
	e, a, c := r.Engine(), r.Activity(), r.Connectome
	res := result{
		Genome: r.Genome.Name, Digest: fmt.Sprintf("%016x", e.Digest()), Weights: r.WeightDigest(), Connectome: fmt.Sprintf("%016x", r.ID),
		First: r.First, Bursts: r.Number() - r.First, Timestep: c.Timestep, Neurons: c.Neurons, Synapses: c.Total(), Scale: c.Scale, Spikes: a.Total(),
		Areas: []areaResult{}, Latency: e.Latency(), Late: e.Late(), Backend: r.Backend, Device: r.Device, Path: r.Path, Builder: r.Builder, Exchange: r.Exchange, Threads: r.Threads, Used: r.ThreadsUsed(),
		Seed: c.Seed, RunSeed: c.RunSeed, phases: r.phases(), Version: version, Folder: r.Folder,
	}
	if r.o.rate != "" {
		late := e.Lateness()
		res.Lateness = &late
	}
	simulated := float64(res.Bursts) * c.Timestep / 1000
	for i := range c.Areas {
		area := areaResult{Name: c.Areas[i].Name, Neurons: c.Areas[i].Neurons.Count, Spikes: a.Spikes(i), Active: a.Active(i)}
		if simulated > 0 && area.Neurons > 0 {
			area.Rate = float64(area.Spikes) / float64(area.Neurons) / simulated
		}
		res.Areas = append(res.Areas, area)
	}
	return res
}

// by is who has built the network.
func (r *result) by() string {
	if r.Builder != nil && r.Builder.Where == "device" {
		return "GPU"
	}
	return "host"
}

// courseWidth is the number of characters that show an area's activity over the run, and leastCourse the fewest that do: those of the
// column's head. A narrower terminal shows none.
const (
	courseHead  = "spikes over time"
	courseWidth = 48
	leastCourse = len(courseHead)
)

// courseOf is how wide the course of each area is beside a table, on a terminal of so many columns; 0: there is no room.
func courseOf(columns int, rows [][]string) int {
	if width := min(courseWidth, columns-tableWidth(rows)-len("  ")); width >= leastCourse {
		return width
	}
	return 0
}

// summary prints the result for people.
func (r *runner) summary(cmd *cobra.Command, res result) error {
	ran := r.Number() - r.Began // by this process
	out := bufio.NewWriter(r.out)
	fmt.Fprintf(out, "%s: %s neurons, %s synapses, %s bursts of %g ms, scale %d\n\n", res.Genome, count(uint64(res.Neurons)), count(res.Synapses), count(res.Bursts), res.Timestep, res.Scale)
	rows := [][]string{{"area", "neurons", "spikes", "rate (Hz)", "active"}}
	for _, a := range res.Areas {
		share := "-"
		if a.Neurons > 0 {
			share = fmt.Sprintf("%.1f %%", 100*float64(a.Active)/float64(a.Neurons))
		}
		rows = append(rows, []string{a.Name, count(uint64(a.Neurons)), count(a.Spikes), fmt.Sprintf("%.2f", a.Rate), share})
	}
	width := courseWidth
	if columns := terminal(r.out); columns != nil {
		width = courseOf(columns(), rows)
	}
	if width > 0 {
		rows[0] = append(rows[0], courseHead)
		for i := range res.Areas {
			rows[1+i] = append(rows[1+i], spark(r.Activity().Course(i, width)))
		}
	}
	if err := table(out, rows); err != nil {
		return err
	}
	fmt.Fprintln(out)
	speed := func(x float64) string {
		if res.Run <= 0 {
			return "-"
		}
		return count(uint64(x / res.Run))
	}
	device := fmt.Sprintf("%s, %s", res.Backend, res.Device)
	if res.Backend == "cpu" {
		device += fmt.Sprintf(", up to %d threads", res.Threads)
		if res.Used > 0 {
			device += fmt.Sprintf(" (%d used)", res.Used)
		}
	}
	if r.FCL {
		device += ", fire candidate list and fire queue of every burst"
	} else {
		device += ", fire queue of every burst"
	}
	lines := []string{
		"spikes", fmt.Sprintf("%s (%s a second)", count(res.Spikes), speed(float64(r.Engine().Spikes()))),
		"time", fmt.Sprintf("built by the %s in %s, ran in %s (%s bursts a second, %s × real time)", res.by(), seconds(res.Build), seconds(res.Run), speed(float64(ran)), times(float64(ran)*res.Timestep/1000/max(res.Run, 1e-9))),
	}
	if rest := res.phases.rest(); rest != "" {
		lines = append(lines, "besides", rest)
	}
	lines = append(lines,
		"burst", fmt.Sprintf("p50 %.1f µs, p90 %.1f µs, p99 %.1f µs", res.Latency.P50, res.Latency.P90, res.Latency.P99),
		"backend", device,
	)
	if res.Path != nil {
		lines = append(lines, "path", res.Path.String())
		if res.Builder != nil {
			lines = append(lines, "built", res.Builder.String())
		}
	}
	lines = append(lines, "digest", res.Digest)
	if res.Weights != "" {
		lines = append(lines, "weights", res.Weights)
	}
	if res.Lateness != nil {
		late := res.Lateness
		lines = append(lines, "lateness", fmt.Sprintf("p50 %.1f µs, p90 %.1f µs, p99 %.1f µs; %s of %s bursts began more than a tenth of a period late", late.P50, late.P90, late.P99, count(res.Late), count(res.Bursts)))
	}
	if r.Folder != "" {
		lines = append(lines, "results", r.Folder)
	}
	if err := pairs(out, lines...); err != nil {
		return err
	}
	if again := r.again(cmd, res); again != "" && res.Bursts > 0 {
		fmt.Fprintf(out, "\nThe same again, or status 8:\n  %s\n", again)
	}
	return out.Flush()
}

// again is the command that runs the same again; none where a run from a checkpoint has left no folder.
func (r *runner) again(cmd *cobra.Command, res result) string {
	switch {
	case cmd.Name() == "replay":
		return "burst replay " + quoted(cmd.Flags().Arg(0))
	case r.branched && r.Folder == "":
		return ""
	case r.branched:
		return "burst replay " + quoted(r.Folder)
	}
	words := []string{"burst", "run", quoted(r.arg), "--bursts", fmt.Sprint(res.Bursts)}
	for _, flag := range []string{"seed", "run-seed"} {
		if f := cmd.Flags().Lookup(flag); f.Changed {
			words = append(words, "--"+flag, f.Value.String())
		}
	}
	words = append(words, r.o.changes.words()...)
	words = append(words, "--expect-digest", res.Digest)
	if res.Weights != "" {
		words = append(words, "--expect-weights", res.Weights)
	}
	return strings.Join(words, " ")
}

// quoted is a word as a shell reads it again.
func quoted(word string) string {
	const plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_@%+=:,./-"
	if word != "" && strings.Trim(word, plain) == "" {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}

// spark draws a course as bars of eighths, relative to its largest value; an empty bar is no spike at all.
func spark(course []float64) string {
	bars := []rune("▁▂▃▄▅▆▇█")
	top := 0.0
	for _, x := range course {
		top = max(top, x)
	}
	var b strings.Builder
	for _, x := range course {
		if x == 0 {
			b.WriteRune(' ')
			continue
		}
		b.WriteRune(bars[int(math.Ceil(x/top*float64(len(bars))))-1])
	}
	return b.String()
}
