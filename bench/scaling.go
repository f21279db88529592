package bench

import (
	"fmt"
	"runtime"
	"slices"
	"time"

	"burst/backend"
	"burst/engine"
	"burst/genome"
)

// Scaling measures a network like burst-1m on one device and on more.
type Scaling struct {
	Neurons int // a device in the weak case; the strong case has four times as many, or as there are devices
	Degree  int // synapses a neuron
	Warm    int // bursts before measuring begins
	Bursts  int // bursts of a round
	Rounds  int // at least 1, whose median counts: of an even number the slower of two
}

// DefaultScaling is what `burst bench --suite scaling` runs: 1 % of the neurons fire in every burst.
func DefaultScaling() Scaling {
	return Scaling{Neurons: 1_000_000, Degree: 1000, Warm: 100, Bursts: 400, Rounds: 5}
}

// ScalingResult is one network on some devices.
type ScalingResult struct {
	Network        string  `json:"network"`
	Devices        []int   `json:"devices"`
	Neurons        uint32  `json:"neurons"`
	Synapses       uint64  `json:"synapses"`
	Bursts         int     `json:"bursts"`           // of a round
	Rounds         int     `json:"rounds"`           // whose bursts the exchange and spikes are of
	Burst          float64 `json:"burst_us"`         // mean of the median round
	BurstLeast     float64 `json:"burst_least_us"`   // of the fastest
	BurstMost      float64 `json:"burst_most_us"`    // of the slowest
	Exchange       float64 `json:"exchange_us"`      // a burst, of the device that waited least; 0 on one
	ExchangeMost   float64 `json:"exchange_most_us"` // of the one that waited longest
	Weak           float64 `json:"weak_efficiency"`  // time on one device with its share of neurons by this; 0: not measured
	Strong         float64 `json:"strong_speedup"`   // time of the same network on one device by this; 0: not measured
	SpikesPerBurst float64 `json:"spikes_per_burst"` //
	Build          float64 `json:"build_s"`          // of the network or its parts
	Open           float64 `json:"open_s"`           // and upload
	State          string  `json:"state"`            // hash of the final state
	Same           bool    `json:"same"`             // as on fewer devices
}

// exchanger is a backend whose devices exchange who fired.
type exchanger interface {
	Exchanging() ([]time.Duration, error)
}

// counts are the numbers of devices that are measured.
func counts(devices []int) []int {
	var list []int
	for k := 1; k <= len(devices); k *= 2 {
		list = append(list, k)
	}
	return list
}

// text is the genome for so many devices' worth of neurons. Weights fall with the number of synapses, so that the rates of
// burst-1m stay.
func (s *Scaling) text(times int) string {
	area := func(name string, neurons int) string {
		return fmt.Sprintf("  - {name: %s, neurons: %d, model: lif, params: {tau: 100 ms, rest: 0 mV, reset: 19.9167 mV, threshold: 20 mV, refractory: 2 ms}, "+
			"drive: {constant: 21 mV}, init: {V: \"uniform(19.8948 mV, 20 mV)\"}}\n", name, neurons)
	}
	wires := func(from, to string, degree int, total float64) string {
		return fmt.Sprintf("  - {from: %s, to: %s, rule: fixed_outdegree, outdegree: %d, weight: %g mV}\n", from, to, degree, total/float64(degree))
	}
	n, d := s.Neurons*times, s.Degree
	return fmt.Sprintf("burst: v1\nname: scaling-%d\nseed: 1\ntimestep: 0.1 ms\nscale: 1000000\nareas:\n", times) +
		area("E", n*4/5) + area("I", n/5) + "projections:\n" +
		wires("E", "E", d*4/5, 0.04) + wires("E", "I", d/5, 0.01) + wires("I", "E", d*4/5, -0.16) + wires("I", "I", d/5, -0.04)
}

// Run measures weak scaling, a device's worth of neurons on each, and strong scaling, one network on ever more devices. Each
// result is handed on at once.
func (s *Scaling) Run(name string, devices []int, each func(ScalingResult)) error {
	const least = 4
	held, err := hold(name, devices)
	if err != nil {
		return err
	}
	defer held.Close()
	alone := map[int]float64{} // time on one device, by size of the network
	all := counts(devices)
	strong := slices.Max(append(all, least))
	for times := 1; times <= strong; times *= 2 {
		on := all
		if times != strong {
			if times > len(devices) {
				continue
			}
			on = []int{times}
		}
		if err := s.network(name, times, on, devices, alone, each); err != nil {
			return err
		}
	}
	return nil
}

// network measures a network on so many devices.
func (s *Scaling) network(name string, times int, on, devices []int, alone map[int]float64, each func(ScalingResult)) error {
	g, err := genome.Parse("scaling.yaml", []byte(s.text(times)), nil)
	if err != nil {
		return err
	}
	state := ""
	for _, k := range on {
		r := ScalingResult{Devices: devices[:k], Bursts: s.Bursts, Rounds: s.Rounds}
		if err := s.measure(name, g, &r); err != nil {
			return err
		}
		runtime.GC() // one network's memory at a time
		if k == 1 {
			alone[times] = r.Burst
		}
		if t := alone[times]; t > 0 {
			r.Strong = t / r.Burst
		}
		if t := alone[1]; t > 0 && times == k {
			r.Weak = t / r.Burst
		}
		r.Same = state == "" || state == r.State
		state = r.State
		each(r)
		if !r.Same {
			return fmt.Errorf("%s: devices %v end with state %s, fewer with another", g.Name, r.Devices, r.State)
		}
	}
	return nil
}

// measure builds and opens g, and steps through warm-up and measured rounds.
func (s *Scaling) measure(name string, g *genome.Genome, r *ScalingResult) error {
	n, err := openNetwork(name, g, backend.Options{Devices: r.Devices})
	if err != nil {
		return err
	}
	b := n.b
	defer b.Close()
	r.Network, r.Neurons, r.Synapses = g.Name, n.c.Neurons, n.c.Total()
	r.Build, r.Open = n.build.Seconds(), n.open.Seconds()
	step := stepper(n.c, b)
	if err := step(s.Warm, func(*engine.Burst, time.Duration) error { return nil }); err != nil {
		return err
	}
	before, err := exchanging(b)
	if err != nil {
		return err
	}
	spikes, all, rounds := 0, float64(s.Bursts*s.Rounds), make([]float64, s.Rounds)
	for i := range rounds {
		start := time.Now()
		if err := step(s.Bursts, func(out *engine.Burst, _ time.Duration) error { spikes += len(out.Fired); return nil }); err != nil {
			return err
		}
		rounds[i] = time.Since(start).Seconds() * 1e6 / float64(s.Bursts)
	}
	slices.Sort(rounds)
	r.BurstLeast, r.Burst, r.BurstMost = rounds[0], rounds[s.Rounds/2], rounds[s.Rounds-1]
	r.SpikesPerBurst = float64(spikes) / all
	after, err := exchanging(b)
	if err != nil {
		return err
	}
	for q := range after {
		us := (after[q] - before[q]).Seconds() * 1e6 / all
		r.ExchangeMost = max(r.ExchangeMost, us)
		if q == 0 || us < r.Exchange {
			r.Exchange = us
		}
	}
	var state engine.State
	if err := b.ReadState(&state); err != nil {
		return err
	}
	r.State = fmt.Sprintf("%016x", state.Hash())
	return nil
}

// exchanging is what the backend's devices have spent so; nil where there is one.
func exchanging(b engine.Backend) ([]time.Duration, error) {
	if x, ok := b.(exchanger); ok {
		return x.Exchanging()
	}
	return nil, nil
}
