package run

import "time"

// Times say where the time of this process's run went.
type Times struct {
	Plan   time.Duration // sizes, weights and bounds, before any synapse is made
	Build  time.Duration // the synapses
	Upload time.Duration // what a GPU is given
	Open   time.Duration // the rest of opening the backend, and the initial state
	Run    time.Duration // all bursts so far, with the work between them
	Wait   time.Duration // of Run: waiting for recordings that are slower than the run
	Write  time.Duration // after the last burst: recordings become files of their last form, a last checkpoint
}

// Times are complete after Close.
func (r *Run) Times() Times {
	t := r.times
	if r.recording != nil {
		t.Wait += r.recording.Waited()
	}
	return t
}

// made is what of opening a run has a name of its own.
func (t *Times) made() time.Duration { return t.Plan + t.Build + t.Upload }
