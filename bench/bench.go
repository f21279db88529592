// Package bench measures bursts: named workloads, fixed work from a fresh state, and what was computed reported beside
// how long it took. NOTES.md sums up what was learnt, notes/ keeps predictions and measurements, results/ raw output.
package bench

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"burst/backend"
	"burst/connectome"
	"burst/engine"
	"burst/genome"
	"burst/genomes"

	"github.com/HdrHistogram/hdrhistogram-go"
)

// Workload is a shipped example, or one of forced's, ported's, learning's or grid's networks, run for a fixed number of bursts.
type Workload struct {
	Name   string // of the example
	Suites []string
	Warm   int // bursts before measuring begins
	Bursts int // bursts measured
}

// Workloads lists the workloads, small to large.
func Workloads() []Workload {
	list := []Workload{
		{Name: "quickstart", Suites: []string{"quick"}, Warm: 200, Bursts: 5000},
		{Name: "brunel-c", Suites: []string{"quick"}, Warm: 500, Bursts: 1000},
		{Name: "burst-100k", Suites: []string{"quick", "latency", "custom", "learning"}, Warm: 200, Bursts: 1000},
		{Name: "burst-100k-feagi", Suites: []string{"quick", "latency"}, Warm: 200, Bursts: 1000},
		{Name: "burst-100k-custom", Suites: []string{"custom"}, Warm: 200, Bursts: 1000},
		{Name: "izhikevich-2003", Suites: []string{"custom"}, Warm: 200, Bursts: 1000},
		{Name: "izhikevich-2003-custom", Suites: []string{"custom"}, Warm: 200, Bursts: 1000},
		{Name: "burst-500k", Suites: []string{"latency"}, Warm: 200, Bursts: 1000},
		{Name: "burst-500k-feagi", Suites: []string{"latency"}, Warm: 200, Bursts: 1000},
		{Name: "burst-1m", Suites: []string{"latency", "learning-large"}, Warm: 200, Bursts: 1000},
		{Name: "burst-1m-feagi", Suites: []string{"latency"}, Warm: 200, Bursts: 1000},
		{Name: "sparse-140k", Suites: []string{"sparse"}, Warm: 1500, Bursts: 3000},
		{Name: "forced-100k", Suites: []string{"forced"}, Warm: 200, Bursts: 1000},
		{Name: "forced-500k", Suites: []string{"forced"}, Warm: 200, Bursts: 1000},
		{Name: "forced-1m", Suites: []string{"forced"}, Warm: 200, Bursts: 1000},
		{Name: "forced-1m-1000", Suites: []string{"forced", "latency"}, Warm: 100, Bursts: 1000},
		{Name: "forced-1m-1000-10", Suites: []string{"forced", "latency"}, Warm: 20, Bursts: 1000},
		{Name: "forced-100k-1000", Suites: []string{"forced", "paths"}, Warm: 100, Bursts: 1000},
		{Name: "forced-100k-1000-weights", Suites: []string{"forced", "paths"}, Warm: 100, Bursts: 1000},
		{Name: "forced-1m-delays", Suites: []string{"forced", "paths"}, Warm: 100, Bursts: 1000},
		{Name: "forced-1m-400-delays", Suites: []string{"forced", "paths"}, Warm: 100, Bursts: 1000},
		{Name: "forced-1m-mixed", Suites: []string{"forced", "paths"}, Warm: 100, Bursts: 1000},
		{Name: "forced-4m", Suites: []string{"forced", "paths"}, Warm: 100, Bursts: 1000},
		{Name: "ports-1m-1000-1", Suites: []string{"ports"}, Warm: 100, Bursts: 1000},
		{Name: "ports-1m-1000-4", Suites: []string{"ports"}, Warm: 100, Bursts: 1000},
		{Name: "learning-100k", Suites: []string{"learning"}, Warm: 200, Bursts: 1000},
		{Name: "learning-100k-silent", Suites: []string{"learning"}, Warm: 200, Bursts: 1000},
		{Name: "learning-1m", Suites: []string{"learning-large"}, Warm: 200, Bursts: 1000},
		{Name: "burst-1m-1000", Suites: []string{"learning-large"}, Warm: 200, Bursts: 1000},
		{Name: "learning-1m-1000", Suites: []string{"learning-large"}, Warm: 200, Bursts: 1000},
		{Name: "daspnet", Suites: []string{"learning-published"}, Warm: 1000, Bursts: 10_000},
		{Name: "hpc-benchmark-small", Suites: []string{"learning-published"}, Warm: 500, Bursts: 2500},
		{Name: "hpc-benchmark-1", Suites: []string{"learning-published"}, Warm: 1000, Bursts: 2500},
		{Name: "hpc-benchmark-20", Suites: []string{"learning-published"}, Warm: 1000, Bursts: 2500},
		{Name: "morrison-2007", Suites: []string{"learning-published"}, Warm: 1000, Bursts: 2500},
		{Name: "potjans-diesmann-10", Suites: []string{"microcircuit"}, Warm: 1000, Bursts: 2000},
		{Name: "potjans-diesmann", Suites: []string{"microcircuit", "latency"}, Warm: 1000, Bursts: 1000},
	}
	for _, n := range grid() {
		list = append(list, n.workload())
	}
	return list
}

// Suites without workloads of their own: Scaling and Prove run the first two, `burst bench` starts processes for the third.
const (
	ScalingSuite = "scaling"
	DigestSuite  = "digests"
	StartSuite   = "start"
)

// Suites lists the names that Select takes for a suite.
func Suites() []string {
	var names []string
	for _, w := range Workloads() {
		names = append(names, w.Suites...)
	}
	names = append(names, ScalingSuite, DigestSuite, StartSuite)
	slices.Sort(names)
	return slices.Compact(names)
}

// Select picks workloads by name, or all of a suite when no name is given.
func Select(suite string, names []string) ([]Workload, error) {
	var picked []Workload
	for _, n := range names {
		i := slices.IndexFunc(Workloads(), func(w Workload) bool { return w.Name == n })
		if i < 0 {
			return nil, fmt.Errorf("workload %q, want one of %s", n, strings.Join(workloadNames(), ", "))
		}
		picked = append(picked, Workloads()[i])
	}
	if len(names) > 0 {
		return picked, nil
	}
	for _, w := range Workloads() {
		if slices.Contains(w.Suites, suite) {
			picked = append(picked, w)
		}
	}
	if len(picked) == 0 {
		return nil, fmt.Errorf("suite %q, want one of %s", suite, strings.Join(Suites(), ", "))
	}
	return picked, nil
}

func workloadNames() []string {
	var names []string
	for _, w := range Workloads() {
		names = append(names, w.Name)
	}
	return names
}

// Result is one workload on one backend. Results of two backends compare only when Spikes and State are the same.
type Result struct {
	Name           string  `json:"name"`
	Backend        string  `json:"backend"`
	Device         string  `json:"device"`
	Path           string  `json:"path,omitempty"`         // how a GPU ran bursts: cuda.Path
	Threads        int     `json:"threads"`                // 0: all processors
	Used           int     `json:"threads_used,omitempty"` // at the end, by the cpu backend
	FCL            bool    `json:"fcl"`                    // whether the fire candidate list was delivered
	Neurons        uint32  `json:"neurons"`
	Synapses       uint64  `json:"synapses"`
	Bursts         int     `json:"bursts"`
	Burst          Micros  `json:"burst_us"`
	Total          float64 `json:"total_s"` // of the measured bursts
	Spikes         uint64  `json:"spikes"`
	SpikesPerBurst float64 `json:"spikes_per_burst"`
	EventsPerBurst float64 `json:"events_per_burst"`                   // synapses of the neurons that fired
	PlasticEvents  float64 `json:"plastic_events_per_burst,omitempty"` // those of them that learn
	RealTime       float64 `json:"real_time_factor"`                   // a burst's mean time by what it stands for: below 1 is faster than life
	EventNanos     float64 `json:"event_ns"`                           // a burst's mean time by its events
	Build          float64 `json:"build_s"`
	Open           float64 `json:"open_s"`
	State          string  `json:"state"`                     // hash of the final state, warm-up included
	Weights        string  `json:"weight_digest,omitempty"`   // digest of the final weights of plastic synapses
	Limit          *Limit  `json:"limit_us,omitempty"`        // of this machine for the same work, by as many threads; cpu only
	ShareOfLimit   float64 `json:"share_of_limit,omitempty"`  // Limit's total by the median burst: 1 is as fast as memory allows
	Joules         float64 `json:"energy_j,omitempty"`        // of the GPUs during the measured bursts, by NVML, idle parts included; if they took two seconds
	EventNJ        float64 `json:"event_energy_nj,omitempty"` // that energy by all events, in nanojoules
}

// Micros are the mean and quantiles of a burst's time in microseconds. The mean is the host's. Where many bursts run in one
// launch the quantiles are by the device's clock if it has one and no lists are delivered, else of the time between deliveries, of
// which the host, once it was late, finds several at a time.
type Micros struct {
	Mean float64 `json:"mean"`
	P10  float64 `json:"p10"` // on a busy machine: of the bursts that nobody disturbed
	P50  float64 `json:"p50"`
	P90  float64 `json:"p90"`
	P99  float64 `json:"p99"`
}

// Build makes a workload's connectome.
func Build(w Workload, threads int) (*connectome.Connectome, error) {
	g, err := parse(w)
	if err != nil {
		return nil, err
	}
	return connectome.Build(g, connectome.Options{Threads: threads})
}

// parse reads a workload's genome.
func parse(w Workload) (*genome.Genome, error) {
	text, err := text(w.Name)
	if err != nil {
		return nil, err
	}
	return genome.Parse(w.Name+".yaml", text, genomes.Open)
}

// Run builds a workload and measures it on a backend.
func Run(w Workload, name string, o backend.Options) (Result, error) {
	g, err := parse(w)
	if err != nil {
		return Result{}, err
	}
	n, err := openNetwork(name, g, o)
	if err != nil {
		return Result{}, err
	}
	defer n.b.Close()
	r := Result{
		Name: w.Name, Backend: name, Device: backend.Device(n.b), Threads: o.Threads, FCL: o.Want.FCL, Neurons: n.c.Neurons, Synapses: n.c.Total(), Bursts: w.Bursts,
		Build: n.build.Seconds(), Open: n.open.Seconds(),
	}
	if p := backend.Path(n.b); p != nil {
		r.Path = p.Name
	}
	if err := measure(n, w, &r); err != nil {
		return r, err
	}
	r.Used = backend.ThreadsUsed(n.b)
	if sizer, ok := n.b.(sizer); ok && len(n.c.Plastic) == 0 { // what learning moves has no limit yet
		l := MeasureLimit(work(n.c, sizer, &r), limitBursts)
		r.Limit, r.ShareOfLimit = &l, l.Total()/r.Burst.P50
	}
	return r, nil
}

// limitBursts is how often the limit's work is done.
const limitBursts = 200

// sizer is a backend that computes where bench does, and says with how many threads and how much memory all its rows take.
type sizer interface {
	Threads() int
	RowBytes() uint64
}

// work is what a measured burst had to move. Of areas that update candidates alone, at most one neuron an event changes.
func work(c *connectome.Connectome, b sizer, r *Result) Work {
	w := Work{Threads: b.Threads(), Rows: int(r.SpikesPerBurst + 0.5), Ports: c.Ports, Events: int(r.EventsPerBurst + 0.5)}
	w.Store = b.RowBytes()
	perSynapse := float64(w.Store) / max(1, float64(c.Synapses()))
	w.RowBytes = int(r.EventsPerBurst/max(1e-9, r.SpikesPerBurst)*perSynapse + 0.5)
	for i := range c.Areas {
		a := &c.Areas[i]
		perNeuron := uint64(4 + 2 + 4*a.Variables()) // V, refractory and the model's own
		if a.Model.Lazy {
			w.State += min(uint64(a.Neurons.Count), uint64(w.Events)) * (perNeuron + 2) // and count
		} else if a.PortsEach() > 0 {
			w.State += uint64(a.Neurons.Count) * perNeuron
		}
	}
	return w
}

// clock is a backend that can time bursts where they are computed, from one's end to the next one's; 0: it cannot.
type clock interface{ BurstTime() time.Duration }

// stepper advances a backend by n bursts as fast as it can and hands each on with its time.
func stepper(c *connectome.Connectome, b engine.Backend) func(n int, each func(*engine.Burst, time.Duration) error) error {
	if many, ok := b.(engine.Batcher); ok && many.CanStepN() {
		own, timed := b.(clock)
		return func(n int, each func(*engine.Burst, time.Duration) error) error {
			last := time.Now()
			return many.StepN(n, func(out *engine.Burst) error {
				now := time.Now()
				d := now.Sub(last)
				last = now
				if timed {
					d = cmp.Or(own.BurstTime(), d)
				}
				return each(out, d)
			})
		}
	}
	var out engine.Burst
	feed, t := engine.NewFeed(c, nil), uint64(0)
	return func(n int, each func(*engine.Burst, time.Duration) error) error {
		for range n {
			in, err := feed.Next(t)
			if err != nil {
				return err
			}
			t++
			start := time.Now()
			if err := b.Step(in, &out); err != nil {
				return err
			}
			if err := each(&out, time.Since(start)); err != nil {
				return err
			}
		}
		return nil
	}
}

// tuned is a backend that finds in its first bursts how many threads are best, and says whether it has.
type tuned interface{ Settled() bool }

// mostSettling is after how many bursts a backend that has not settled is measured anyway.
const mostSettling = 20_000

// settle runs bursts until the backend has found its number of threads, and goes back to burst 0: so all numbers of threads are measured
// in the same bursts.
func settle(n *network) error {
	b, ok := n.b.(tuned)
	if !ok || b.Settled() {
		return nil
	}
	step := stepper(n.c, n.b)
	for ran := 0; ran < mostSettling && !b.Settled(); ran += 64 {
		if err := step(64, func(*engine.Burst, time.Duration) error { return nil }); err != nil {
			return err
		}
	}
	return n.b.WriteState(engine.NewState(n.c))
}

// measure steps through warm-up and measured bursts. Where the backend advances many bursts at a time, a burst's time is
// that since the one before was on the host.
func measure(n *network, w Workload, r *Result) error {
	if err := settle(n); err != nil {
		return err
	}
	h := hdrhistogram.New(1, int64(10*time.Minute), 3)
	step, warm := stepper(n.c, n.b), 0
	if err := step(w.Warm, func(out *engine.Burst, _ time.Duration) error { warm += len(out.Fired); return nil }); err != nil {
		return err
	}
	fired := newTally(n.out, w.Bursts, warm/max(1, w.Warm)+1, spikesABlock, mostBlocks)
	defer fired.finish()
	count := func(out *engine.Burst, d time.Duration) error {
		fired.add(out.Fired)
		return h.RecordValue(int64(d))
	}
	var err error
	if r.Joules, err = energy(n.b, leastMetered, func() error {
		start := time.Now()
		err := step(w.Bursts, count)
		r.Total = time.Since(start).Seconds()
		return err
	}); err != nil {
		return err
	}
	r.Spikes = fired.spikes
	var s engine.State
	if err := n.b.ReadState(&s); err != nil {
		return err
	}
	us := func(q float64) float64 { return float64(h.ValueAtQuantile(q)) / 1e3 }
	r.Burst = Micros{Mean: r.Total / float64(w.Bursts) * 1e6, P10: us(10), P50: us(50), P90: us(90), P99: us(99)}
	r.SpikesPerBurst = float64(r.Spikes) / float64(w.Bursts)
	events, plastic := fired.finish()
	r.EventsPerBurst, r.PlasticEvents = float64(events)/float64(w.Bursts), float64(plastic)/float64(w.Bursts)
	r.RealTime = r.Burst.Mean / (n.c.Timestep * 1e3)
	if events > 0 {
		r.EventNanos = r.Burst.Mean * 1e3 / r.EventsPerBurst
		r.EventNJ = r.Joules * 1e9 / float64(events)
	}
	r.State = fmt.Sprintf("%016x", s.Hash())
	if len(s.Plastic) > 0 {
		r.Weights = fmt.Sprintf("%016x", s.WeightDigest())
	}
	return nil
}
