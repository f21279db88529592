package engine

import (
	"cmp"
	"errors"
	"time"

	"burst/connectome"
)

// ErrUnavailable says that a backend cannot work on this machine (no driver, no device); its message gives the cause and what to do.
var ErrUnavailable = errors.New("backend not available on this machine")

// DeviceError is a failure of the device that a backend runs on. If it is Lost, nothing in this process can use the device
// any more.
type DeviceError struct {
	Err  error
	Lost bool
}

func (e *DeviceError) Error() string { return e.Err.Error() }

// Unwrap is the error of the device's driver.
func (e *DeviceError) Unwrap() error { return e.Err }

// Backend holds the state of one network and advances it by the law. One goroutine at a time uses it.
// The engine has checked all arguments; a backend trusts them.
type Backend interface {
	// Step advances one burst. in has one entry a port, ascending. out's slices may be the backend's own memory: they are
	// valid until its next Step or Close.
	Step(in []Stimulus, out *Burst) error
	// ReadState copies the whole state into s, growing its slices as needed. State.Digest belongs to the engine and is left alone.
	ReadState(s *State) error
	// WriteState replaces the whole state by s, which fits the connectome.
	WriteState(s *State) error
	// Close frees what the backend holds; it must be called once.
	Close() error
}

// Watcher is a Backend that can look for NaN and Inf in its own memory, in less than a hundredth of the time of watchEvery
// bursts.
type Watcher interface {
	// NotFinite is the first number of the state that is NaN or infinite, nil if all are finite.
	NotFinite() *NotFinite
}

// Batcher is a Backend that can advance many bursts at a time, with the genome's own stimuli only.
type Batcher interface {
	Backend
	// CanStepN reports whether StepN may be used for this network.
	CanStepN() bool
	// StepN is the same as n Steps. It calls each with every burst, in order and complete; each must copy what it keeps. Later
	// bursts may already run meanwhile. If each fails, StepN returns its error once the bursts in progress have ended, so the
	// state may be some bursts further.
	StepN(n int, each func(*Burst) error) error
}

// Windowed is a Batcher whose bursts arrive several at a time.
type Windowed interface {
	// Window is how many bursts of StepN arrive together, at most.
	Window() int
	// BurstTime is what the newest burst that StepN has delivered took: an equal share of what came with it.
	BurstTime() time.Duration
}

// Stimulus adds Amount quanta to Port in step 2.
type Stimulus struct {
	Port   uint32
	Amount int32
}

// Want says what Step must deliver beside the fire queue.
type Want struct {
	FCL    bool    // fill Burst.Candidates
	Values []Probe // state variables that fill Burst.Values

	Stimuli bool // Step will be called burst after burst, with stimuli of a caller: a device may wait for the next ones for a while
}

// Probe is a state variable of a neuron. Lists of them ascend by variable, then neuron.
type Probe struct {
	Neuron   uint32
	Variable uint32 // 0 is V, k the k-th further one
}

// In is the variable's value in s, a state of c.
func (p Probe) In(c *connectome.Connectome, s *State) float32 {
	n := p.Neuron
	a := &c.Areas[c.AreaOf(n)]
	switch {
	case a.Decay != nil && int(p.Variable) <= a.Variables():
		x := connectome.Kept{V: s.V[n], Refractory: s.Refractory[n], Count: s.Count[n]}
		if a.Variables() > 0 {
			x.Ex, x.In = s.More[0][n], s.More[1][n]
		}
		return a.Reads(p.Variable, x)
	case p.Variable == 0:
		return s.V[n]
	}
	return s.More[p.Variable-1][n]
}

// Compare orders probes.
func (p Probe) Compare(q Probe) int {
	return cmp.Or(cmp.Compare(p.Variable, q.Variable), cmp.Compare(p.Neuron, q.Neuron))
}

// Burst is what one Step delivers.
type Burst struct {
	Number     uint64
	Fired      []uint32    // neurons, ascending
	Amplitudes []Amplitude // of those that have one, ascending
	Candidates []Candidate // the FCL, ascending by port; filled when Want.FCL is set
	Values     []float32   // of each of Want.Values, after the burst
}

// Candidate is an entry of the fire candidate list: a port whose inputs did not sum to zero.
type Candidate struct {
	Port   uint32
	Neuron uint32
	Sum    int32 // quanta
}

// Source feeds stimuli to the engine.
type Source interface {
	// Stimuli appends the source's stimuli for burst t to in; any order, ports may repeat.
	Stimuli(t uint64, in []Stimulus) ([]Stimulus, error)
}

// QuietSource is a Source that knows for how long it has nothing to give, so that a Batcher need not stop at each burst.
type QuietSource interface {
	Source
	// QuietUntil is the first burst, at or after t, for which the source may have stimuli. For t and those up to there it has
	// none, and nothing that happens meanwhile changes that; it may not be asked for them.
	QuietUntil(t uint64) uint64
}

// Recorder receives every burst of a run in order.
type Recorder interface {
	// Record must copy what it keeps: b is reused.
	Record(b *Burst) error
}
