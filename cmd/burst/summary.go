package main

import (
	"fmt"
	"math"
	"runtime"
	"strings"

	"burst/engine"

	"github.com/spf13/cobra"
)

// result is what `burst run --json` prints.
type result struct {
	Genome     string         `json:"genome"`
	Digest     string         `json:"digest"`
	Connectome string         `json:"connectome"`
	First      uint64         `json:"first_burst,omitempty"` // of a run that began from a checkpoint
	Bursts     uint64         `json:"bursts"`
	Timestep   float64        `json:"timestep_ms"`
	Neurons    uint32         `json:"neurons"`
	Synapses   uint64         `json:"synapses"`
	Scale      int32          `json:"scale"` // quanta per unit, as chosen where the genome says auto
	Spikes     uint64         `json:"spikes"`
	Areas      []areaResult   `json:"areas"`
	Latency    engine.Latency `json:"latency_us"`
	Late       uint64         `json:"late"`
	Backend    string         `json:"backend"`
	Device     string         `json:"device"`
	Exchange   string         `json:"exchange,omitempty"` // between processes
	Threads    int            `json:"threads"`
	Seed       uint64         `json:"seed"`
	RunSeed    uint64         `json:"run_seed"`
	Build      float64        `json:"build_s"`
	Run        float64        `json:"run_s"`
	Version    string         `json:"version"`
	Folder     string         `json:"folder,omitempty"` // where the results are
}

// areaResult is one area's part.
type areaResult struct {
	Name    string  `json:"name"`
	Neurons uint32  `json:"neurons"`
	Spikes  uint64  `json:"spikes"`
	Rate    float64 `json:"rate_hz"` // mean over neurons and the run's simulated time
	Active  uint64  `json:"active"`  // neurons that fired at least once
}

// threadCount is the number of threads that the cpu backend may use.
func (o *runOptions) threadCount() int {
	if o.threads == 0 {
		return runtime.GOMAXPROCS(0)
	}
	return o.threads
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
	res := result{
		Genome: r.g.Name, Digest: fmt.Sprintf("%016x", r.engine.Digest()), Connectome: fmt.Sprintf("%016x", r.id),
		First: r.first, Bursts: r.engine.Number() - r.first, Timestep: r.c.Timestep, Neurons: r.c.Neurons, Synapses: r.c.Total(), Scale: r.c.Scale, Spikes: r.activity.Total(),
		Areas: []areaResult{}, Latency: r.engine.Latency(), Late: r.engine.Late(), Backend: r.used, Device: r.device, Exchange: r.o.via, Threads: r.o.threadCount(),
		Seed: r.c.Seed, RunSeed: r.c.RunSeed, Build: r.buildTime.Seconds(), Run: r.runTime.Seconds(), Version: version, Folder: r.folder,
	}
	seconds := float64(res.Bursts) * r.c.Timestep / 1000
	for i := range r.c.Areas {
		a := &r.c.Areas[i]
		area := areaResult{Name: a.Name, Neurons: a.Neurons.Count, Spikes: r.activity.Spikes(i), Active: r.activity.Active(i)}
		if seconds > 0 && a.Neurons.Count > 0 {
			area.Rate = float64(area.Spikes) / float64(a.Neurons.Count) / seconds
		}
		res.Areas = append(res.Areas, area)
	}
	return res
}

// courseWidth is the number of characters that show an area's activity over the run.
const courseWidth = 48

// summary prints the result for people.
func (r *runner) summary(cmd *cobra.Command, res result) error {
	ran := r.engine.Number() - r.began // by this process
	fmt.Fprintf(r.out, "%s: %s neurons, %s synapses, %s bursts of %g ms, scale %d\n\n", res.Genome, count(uint64(res.Neurons)), count(res.Synapses), count(res.Bursts), res.Timestep, res.Scale)
	rows := [][]string{{"area", "neurons", "spikes", "rate (Hz)", "active", "spikes over time"}}
	for i, a := range res.Areas {
		share := "-"
		if a.Neurons > 0 {
			share = fmt.Sprintf("%.1f %%", 100*float64(a.Active)/float64(a.Neurons))
		}
		rows = append(rows, []string{a.Name, count(uint64(a.Neurons)), count(a.Spikes), fmt.Sprintf("%.2f", a.Rate), share, spark(r.activity.Course(i, courseWidth))})
	}
	if err := table(r.out, rows); err != nil {
		return err
	}
	fmt.Fprintln(r.out)
	speed := func(x float64) string {
		if res.Run <= 0 {
			return "-"
		}
		return count(uint64(x / res.Run))
	}
	device := fmt.Sprintf("%s, %s", res.Backend, res.Device)
	if res.Backend == "cpu" {
		device += fmt.Sprintf(", up to %d threads", res.Threads)
	}
	if r.fcl {
		device += ", fire candidate list and fire queue of every burst"
	} else {
		device += ", fire queue of every burst"
	}
	lines := []string{
		"spikes", fmt.Sprintf("%s (%s a second)", count(res.Spikes), speed(float64(r.engine.Spikes()))),
		"time", fmt.Sprintf("built in %s, ran in %s (%s bursts a second, %.3g × real time)", duration(r.buildTime), duration(r.runTime), speed(float64(ran)), float64(ran)*res.Timestep/1000/max(res.Run, 1e-9)),
		"burst", fmt.Sprintf("p50 %.1f µs, p90 %.1f µs, p99 %.1f µs", res.Latency.P50, res.Latency.P90, res.Latency.P99),
		"backend", device,
		"digest", res.Digest,
	}
	if r.o.realtime != "" {
		lines = append(lines, "deadlines", fmt.Sprintf("%s of %s bursts began a period late or more", count(res.Late), count(res.Bursts)))
	}
	if r.folder != "" {
		lines = append(lines, "results", r.folder)
	}
	if err := pairs(r.out, lines...); err != nil {
		return err
	}
	again := r.again(cmd, res)
	if again == "" || res.Bursts == 0 {
		return nil
	}
	_, err := fmt.Fprintf(r.out, "\nThe same again, or status 8:\n  %s\n", again)
	return err
}

// again is the command that runs the same again; none where a run from a checkpoint has left no folder.
func (r *runner) again(cmd *cobra.Command, res result) string {
	switch {
	case cmd.Name() == "replay":
		return "burst replay " + quoted(cmd.Flags().Arg(0))
	case r.start != nil && r.folder == "":
		return ""
	case r.start != nil:
		return "burst replay " + quoted(r.folder)
	}
	words := []string{"burst", "run", quoted(r.arg), "--bursts", fmt.Sprint(res.Bursts)}
	for _, flag := range []string{"seed", "run-seed"} {
		if f := cmd.Flags().Lookup(flag); f.Changed {
			words = append(words, "--"+flag, f.Value.String())
		}
	}
	for _, s := range r.o.set {
		words = append(words, "--set", quoted(s))
	}
	return strings.Join(append(words, "--expect-digest", res.Digest), " ")
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
