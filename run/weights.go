package run

import (
	"fmt"

	"burst/engine"
)

// sample records the weights of projections that learn if a sample is due before the next burst: before the run's first burst, and at the
// interval of Options.Record or the genome.
func (r *Run) sample() error {
	at := r.engine.Number()
	if r.recording == nil || !r.plan.Weights.Keeps() || r.recording.Sampled() > at || at != r.First && !r.plan.Weights.Due(at) {
		return nil
	}
	s, err := r.present()
	if err != nil {
		return err
	}
	return r.recording.Sample(s)
}

// present is the state of a network that learns before the next burst. A sample, a checkpoint and the digest of the weights may all need
// it, but it is read only once: each reading applies pending events to all synapses.
func (r *Run) present() (*engine.State, error) {
	if r.readAt == r.engine.Number()+1 {
		return &r.read, nil
	}
	r.readAt = 0
	if err := r.engine.State(&r.read); err != nil {
		return nil, err
	}
	r.readAt = r.read.Number + 1
	return &r.read, nil
}

// lastWeights computes the digest of the weights when the run has ended. If the run is complete, it also records them; a run that is to be
// resumed records its next sample when that is due.
func (r *Run) lastWeights(complete bool) error {
	if len(r.Connectome.Plastic) == 0 {
		return nil
	}
	s, err := r.present()
	if err != nil {
		return err
	}
	r.weights = fmt.Sprintf("%016x", s.WeightDigest())
	if r.recording == nil || !complete || !r.plan.Weights.Keeps() {
		return nil
	}
	return r.recording.Sample(s)
}
