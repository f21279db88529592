package serve

import (
	"bufio"
	"encoding/binary"
	"math"
	"net/http"
	"strconv"
	"sync"
	"time"

	"burst/connectome"
	"burst/engine"
	"burst/record/manifest"
)

// Projection is a projection of the genome.
type Projection struct {
	From    string  `json:"from"` // an area's name; "" for the whole network
	To      string  `json:"to"`
	Rule    string  `json:"rule"`
	Weight  float64 `json:"mean_weight"`
	Delay   float64 `json:"mean_delay_bursts"`
	Plastic bool    `json:"plastic"`
}

func projections(s *Server, _ http.ResponseWriter, _ *http.Request) (any, error) {
	g := s.facts.Genome
	name := func(i int) string {
		if i < 0 {
			return ""
		}
		return g.Areas[i].Name
	}
	list := make([]Projection, 0, len(g.Projections))
	for i := range g.Projections {
		p := &g.Projections[i]
		list = append(list, Projection{name(p.From), name(p.To), p.Rule.String(), p.Weight.Mean(), p.Delay.Mean(), p.Learning != nil})
	}
	return list, nil
}

// stateShare is how much of the time may go into copying states for routes: a viewer slows no run by more.
const stateShare = 100

// states are the last copy of the run's state, and those that clients keep.
type states struct {
	mu    sync.Mutex
	last  *engine.State // nil: none, or one that no longer holds
	again time.Time     // when there may be another copy
	kept  map[string]*engine.State
}

// state is that of the next burst, or of a burst a moment ago, because copying it takes time from the run. It is always the present one
// while the run is paused, and in lock-step with the control token: those clients wait for the copy.
func (s *Server) state(q *http.Request) (*engine.State, error) {
	waits := s.modeIs("paused") || s.o.LockStep && s.tokenScope(q) == scopeControl
	x := &s.states
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.last != nil && (x.last.Number == s.nextBurst() || !waits && time.Now().Before(x.again)) {
		return x.last, nil
	}
	began := time.Now()
	last, err := s.subject.State()
	if err != nil {
		return nil, err
	}
	x.last, x.again = last, time.Now().Add(stateShare*time.Since(began))
	return last, nil
}

// forget says that the state is another one though no burst was run.
func (x *states) forget() {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.last = nil
}

// Neuron is a neuron as it is before a burst.
type Neuron struct {
	Burst      uint64             `json:"burst"`
	ID         uint32             `json:"id"`
	Area       string             `json:"area"`
	Index      uint32             `json:"index"` // in its area
	Voxel      [3]uint32          `json:"voxel"`
	Model      string             `json:"model"`
	State      map[string]float32 `json:"state"`     // the model's variables by name, in the genome's units; the potential is V but where the genome defines the model
	Units      map[string]string  `json:"units"`     // of these; "": plain numbers
	Potential  string             `json:"potential"` // which of them is the potential; "" where the model has none
	Refractory uint16             `json:"refractory_bursts"`
	Count      uint16             `json:"consecutive_spikes"` // of the model feagi
}

func neuron(s *Server, _ http.ResponseWriter, q *http.Request) (any, error) {
	id, a, err := s.neuron(q)
	if err != nil {
		return nil, err
	}
	state, err := s.state(q)
	if err != nil {
		return nil, err
	}
	n := id - a.Neurons.First
	x := Neuron{
		Burst: state.Number, ID: id, Area: a.Name, Index: n, Model: a.Model.Name, State: map[string]float32{}, Units: map[string]string{}, Refractory: state.Refractory[id], Count: state.Count[id],
	}
	x.Voxel[0], x.Voxel[1], x.Voxel[2] = manifest.Voxel(a.Size, a.PerVoxel, n)
	for k := range a.Model.State {
		x.Units[a.Variable(k)] = a.Model.State[k].Dim.BaseUnit()
		reads := engine.Probe{Neuron: id, Variable: uint32(k)}.In(s.facts.Connectome, state)
		if k == 0 {
			x.Potential = a.Variable(0)
			x.State[x.Potential] = reads + float32(a.V0.Rest)
			continue
		}
		x.State[a.Variable(k)] = reads + rest(a.More0[k-1])
	}
	return x, nil
}

// rest is what to add to a variable to have it as the genome gives it.
func rest(x *connectome.Initial) float32 {
	if x == nil {
		return 0
	}
	return float32(x.Rest)
}

// neuron finds the neuron that a path names.
func (s *Server) neuron(q *http.Request) (uint32, *connectome.Area, error) {
	c := s.facts.Connectome
	id, err := strconv.ParseUint(q.PathValue("id"), 10, 32)
	if err != nil || id >= uint64(c.Neurons) {
		return 0, nil, refusal(http.StatusNotFound, "neuron %q, want a number below %d", q.PathValue("id"), c.Neurons)
	}
	return uint32(id), &c.Areas[c.AreaOf(uint32(id))], nil
}

// mostSynapses is how many rows one answer has at most.
const mostSynapses = 10_000

var errNoSynapses = refusal(http.StatusNotImplemented, "the synapses are not in this process: GPUs have them, or the run is a recorded one; `burst export connectome` lists them")

// Synapses are those that a neuron sends through.
type Synapses struct {
	Burst uint64    `json:"burst"` // of the weights that learn
	Total uint64    `json:"total"`
	Rows  []Synapse `json:"synapses"` // the first 10,000 of them
}

// Synapse is one, or several of the same target and delay whose weights were added.
type Synapse struct {
	Target     uint32  `json:"target"`
	Weight     float64 `json:"weight"` // in the genome's unit; as delivered, after what its area divides by; of an area with psp_max the factor of the potential
	Delay      uint32  `json:"delay_bursts"`
	Projection int     `json:"projection"` // where it learns; else -1: projections that stay share their synapses
}

// synapses lists those of a neuron.
func synapses(s *Server, _ http.ResponseWriter, q *http.Request) (any, error) {
	id, _, err := s.neuron(q)
	if err != nil {
		return nil, err
	}
	c := s.facts.Connectome
	if c.Row == nil {
		return nil, errNoSynapses
	}
	x := Synapses{Burst: s.nextBurst(), Rows: []Synapse{}}
	add := func(target uint32, weight float64, delay uint32, projection int) {
		if x.Total++; len(x.Rows) < mostSynapses {
			x.Rows = append(x.Rows, Synapse{target, weight, delay, projection})
		}
	}
	for k := c.Row[id]; k < c.Row[id+1]; k++ {
		add(c.NeuronOf(c.Target[k]), float64(c.Weight[k])/float64(c.Scale), uint32(c.DelayOf(k)), -1)
	}
	if d := c.Driven; d != nil {
		for k := d.Row[id]; k < d.Row[id+1]; k++ {
			add(c.NeuronOf(d.Target[k]), float64(d.Weight[k])/float64(c.Scale), uint32(d.DelayOf(k)), -1)
		}
	}
	for i := range c.Plastic {
		p := &c.Plastic[i]
		if !p.From.Has(id) {
			continue
		}
		state, err := s.state(q)
		if err != nil {
			return nil, err
		}
		x.Burst = state.Number
		from, to := p.Row[id-p.From.First], p.Row[id-p.From.First+1]
		p.EachPlace(func(k, place uint64) {
			if from <= k && k < to {
				add(c.NeuronOf(p.Target[k]), float64(state.Plastic[i].Weight[place]), p.DelayOf(k), p.Projection)
			}
		})
	}
	return x, nil
}

// mostWeights is how many weights one answer has at most.
const mostWeights = 10_000_000

// weights writes those of a projection that learns.
func weights(s *Server, w http.ResponseWriter, q *http.Request) (any, error) {
	n := len(s.facts.Genome.Projections)
	at, err := strconv.Atoi(q.PathValue("i"))
	if err != nil || at < 0 || at >= n {
		return nil, refusal(http.StatusNotFound, "projection %q, want a number below %d", q.PathValue("i"), n)
	}
	c := s.facts.Connectome
	for i := range c.Plastic {
		if p := &c.Plastic[i]; p.Projection == at {
			if p.Whole() > mostWeights {
				return nil, refusal(http.StatusRequestEntityTooLarge, "projection %d has %d weights, want at most %d; record them instead: weights=1%%", at, p.Whole(), mostWeights)
			}
			state, err := s.state(q)
			if err != nil {
				return nil, err
			}
			return nil, sendWeights(w, c, p, state.Plastic[i].Weight, state.Number)
		}
	}
	return nil, refusal(http.StatusNotImplemented, "the weights of projection %d do not change, and its synapses are stored with those of others; `burst export connectome` writes them", at)
}

// sendWeights writes source, target and delay of each synapse as u32 and its weight as float32, in the order of their sources.
func sendWeights(w http.ResponseWriter, c *connectome.Connectome, p *connectome.Plastic, weights []float32, burst uint64) error {
	out := octets(w, burst, 16*p.Whole())
	source := uint32(0)
	var b [16]byte
	p.EachPlace(func(k, place uint64) {
		for p.Row[source+1] <= k {
			source++
		}
		binary.LittleEndian.PutUint32(b[0:], p.From.First+source)
		binary.LittleEndian.PutUint32(b[4:], c.NeuronOf(p.Target[k]))
		binary.LittleEndian.PutUint32(b[8:], p.DelayOf(k))
		binary.LittleEndian.PutUint32(b[12:], math.Float32bits(weights[place]))
		_, _ = out.Write(b[:]) // to a client that may have gone
	})
	_ = out.Flush()
	return nil
}

// octets begins an answer of so many bytes, of a state before a burst.
func octets(w http.ResponseWriter, burst, bytes uint64) *bufio.Writer {
	w.Header().Set("Content-Type", "application/octet-stream")
	w.Header().Set("Content-Length", strconv.FormatUint(bytes, 10))
	w.Header().Set("Burst", strconv.FormatUint(burst, 10))
	return bufio.NewWriterSize(w, 1<<16)
}

// potentials writes those of an area's neurons.
func potentials(s *Server, w http.ResponseWriter, q *http.Request) (any, error) {
	i, err := s.area(q.FormValue("area"))
	if err != nil {
		return nil, err
	}
	state, err := s.state(q)
	if err != nil {
		return nil, err
	}
	c := s.facts.Connectome
	a := &c.Areas[i]
	out := octets(w, state.Number, 4*uint64(a.Neurons.Count))
	var b [4]byte
	for n := a.Neurons.First; n < a.Neurons.End(); n++ {
		binary.LittleEndian.PutUint32(b[:], math.Float32bits(engine.Probe{Neuron: n}.In(c, state)+float32(a.V0.Rest)))
		_, _ = out.Write(b[:])
	}
	_ = out.Flush()
	return nil, nil
}
