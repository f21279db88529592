package serve

import (
	"context"
	"strconv"

	"burst/engine"
	"burst/live"
	"burst/run"
)

// subject is what a server shows: a session, a run that goes its own way, or a recorded one. Clients act on a session alone.
type subject interface {
	Facts() *run.Facts
	Status() (live.Status, error)
	State() (*engine.State, error)
	Run(ctx context.Context) error // until its end
	Pause()
	Unpause()
	SetRate(rate string) error
	Suspend() error
	Close() error
}

// Watch is a Recorder through which a server shows a run of package run, on which no client acts.
type Watch struct{ tap tap }

// Record is for the run.
func (w *Watch) Record(b *engine.Burst) error { return w.tap.Record(b) }

// Open opens the sockets for the run, whose bursts are shown from then on. Of the options those of sockets and Tell count.
func (w *Watch) Open(r *run.Run, o Options) (*Server, error) {
	s, err := prepare(Options{Listen: o.Listen, Socket: o.Socket, Tell: o.Tell})
	if err != nil {
		return nil, err
	}
	s.tap = &w.tap
	if r.Period() > 0 {
		s.o.Rate = strconv.FormatFloat(1/r.Period().Seconds(), 'g', 6, 64)
	}
	return s, s.begin(&watched{&r.Facts, &w.tap, r.Number()})
}

// watched is a run that goes its own way.
type watched struct {
	facts *run.Facts
	tap   *tap
	next  uint64 // burst, when it was opened
}

// Facts describe the run.
func (x *watched) Facts() *run.Facts { return x.facts }

// Status says what the Recorder has seen.
func (x *watched) Status() (live.Status, error) {
	spikes, bursts, _ := x.tap.rates(nil)
	s := live.Status{Burst: x.next + bursts}
	for _, n := range spikes {
		s.Spikes += n
	}
	return s, nil
}

// State is not to be had without stopping the run.
func (x *watched) State() (*engine.State, error) {
	return nil, refusal(501, "`burst run --view` shows what fires alone; `burst serve` shows the state, too")
}

// Run waits: others run it.
func (x *watched) Run(ctx context.Context) error {
	<-ctx.Done()
	return ctx.Err()
}

// What follows is never asked of it.
func (x *watched) Pause()               {}
func (x *watched) Unpause()             {}
func (x *watched) SetRate(string) error { return errShown }
func (x *watched) Suspend() error       { return nil }
func (x *watched) Close() error         { return nil }
