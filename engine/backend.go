package engine

import "errors"

// ErrUnavailable says that a backend cannot work on this machine (no driver, no device); its message gives cause and cure.
var ErrUnavailable = errors.New("backend not available on this machine")

// DeviceError is a failure of the device that a backend runs on. After one that is Lost nothing in this process can use
// the device any more.
type DeviceError struct {
	Err  error
	Lost bool
}

func (e *DeviceError) Error() string { return e.Err.Error() }

// Unwrap is what the device's driver said.
func (e *DeviceError) Unwrap() error { return e.Err }

// Backend holds the state of one network and advances it by the law. One goroutine at a time uses it.
// The engine has checked all arguments; a backend trusts them.
type Backend interface {
	// Step advances one burst. in is merged and ascending by port. out's slices may be the backend's own memory: they hold
	// until its next Step or Close.
	Step(in []Stimulus, out *Burst) error
	// ReadState copies the whole state into s, growing its slices as needed. State.Digest belongs to the engine and is left alone.
	ReadState(s *State) error
	// WriteState replaces the whole state by s, which fits the connectome.
	WriteState(s *State) error
	// Close frees what the backend holds; it must be called once.
	Close() error
}

// Watcher is a Backend that can look for numbers that are none in its own memory, in less than a hundredth of the time of
// WatchEvery bursts.
type Watcher interface {
	// NotFinite is the first number of the state that is NaN or infinite, nil when all are sound.
	NotFinite() *NotFinite
}

// Batcher is a Backend that advances many bursts at a time, with the genome's own stimuli and nobody else's.
type Batcher interface {
	Backend
	// CanStepN reports whether StepN may be used for this network.
	CanStepN() bool
	// StepN equals n Steps; each gets every burst in order, with all that is wanted, and must copy what it keeps. Later bursts may
	// run while an earlier one is still on its way. Where each fails, StepN returns its error after the bursts that had begun, so
	// that the state may be some bursts further.
	StepN(n int, each func(*Burst) error) error
}

// Stimulus adds Amount quanta to Port in step 2.
type Stimulus struct {
	Port   uint32
	Amount int32
}

// Want says what Step must deliver beside the fire queue.
type Want struct {
	FCL        bool     // fill Burst.Candidates
	Potentials []uint32 // neurons, ascending, whose potentials fill Burst.Potentials
}

// Burst is what one Step delivers.
type Burst struct {
	Number     uint64
	Fired      []uint32    // neurons, ascending
	Candidates []Candidate // the FCL, ascending by port; filled when Want.FCL is set
	Potentials []float32   // State.V after the burst of each neuron of Want.Potentials
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

// Recorder receives every burst of a run in order.
type Recorder interface {
	// Record must copy what it keeps: b is reused.
	Record(b *Burst) error
}
