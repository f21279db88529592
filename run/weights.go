package run

import (
	"fmt"

	"burst/engine"
)

// sample records the weights of projections that learn where that is due as the next burst begins: in the run's first burst, and
// in those that Options.Record or the genome wants.
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

// present is the state of a network that learns as the next burst begins. It is read once, however many of a sample, a checkpoint and
// the digest of the weights want it: each reading applies what is pending to all synapses.
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

// lastWeights makes the weights' digest when the run has ended, and records them where it is complete: one that goes on has the
// sample that is due next.
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
