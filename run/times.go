package run

import "time"

// Times say where the time of this process's run went.
type Times struct {
	Build time.Duration // planning and building the network
	Open  time.Duration // opening the backend, with what a GPU is given, and the initial state
	Run   time.Duration // all bursts so far, with the work between them
	Wait  time.Duration // of Run: waiting for a disk that is slower than the run
	Close time.Duration // after the last burst: recordings become files of their last form, a last checkpoint
}

// Times are complete after Close.
func (r *Run) Times() Times {
	t := r.times
	if r.recording != nil {
		t.Wait += r.recording.Waited()
	}
	return t
}
