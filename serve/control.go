package serve

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"burst/engine"
	"burst/live"
	"burst/live/wire"
)

// action is something that a client with the control token can ask for.
type action struct {
	of uint8 // the subjects that it is for
	do func(s *Server, ctx context.Context, x *wire.Control) error
}

// doStop is the action after whose answer the server stops.
const doStop = "stop"

// Subjects of actions.
const (
	ofSession  = 1 << iota // that goes on by itself
	ofLockStep             // a session
	ofPlayer               // of a recorded run
)

// actions are all of them.
var actions = map[string]action{
	"pause":      {ofSession | ofPlayer, func(s *Server, _ context.Context, _ *wire.Control) error { return s.hold(true) }},
	"resume":     {ofSession | ofPlayer, func(s *Server, _ context.Context, _ *wire.Control) error { return s.hold(false) }},
	"rate":       {ofSession | ofPlayer, func(s *Server, _ context.Context, x *wire.Control) error { return s.setRate(x.Rate) }},
	"step":       {ofSession | ofLockStep | ofPlayer, func(s *Server, ctx context.Context, x *wire.Control) error { return s.stepBy(ctx, x.Bursts) }},
	"seek":       {ofPlayer, func(s *Server, _ context.Context, x *wire.Control) error { return s.subject.(*player).seek(x.Burst) }},
	"stimulus":   {ofSession | ofLockStep, func(s *Server, _ context.Context, x *wire.Control) error { return s.switches(x) }},
	"set":        {ofSession | ofLockStep, func(s *Server, _ context.Context, x *wire.Control) error { return s.session.Set(x.Settings...) }},
	"checkpoint": {ofSession | ofLockStep, func(s *Server, _ context.Context, _ *wire.Control) error { return s.checkpoint() }},
	"reset": {ofSession | ofLockStep, func(s *Server, _ context.Context, _ *wire.Control) error {
		defer s.states.forget()
		return s.session.Reset()
	}},
	"flush":   {ofSession | ofLockStep, func(s *Server, _ context.Context, _ *wire.Control) error { return s.session.Flush() }},
	"keep":    {ofSession | ofLockStep, func(s *Server, _ context.Context, x *wire.Control) error { return s.keep(x.State) }},
	"restore": {ofSession | ofLockStep, func(s *Server, _ context.Context, x *wire.Control) error { return s.restore(x.State) }},
	doStop:    {ofSession | ofLockStep | ofPlayer, func(*Server, context.Context, *wire.Control) error { return nil }},
}

// Reasons why an action is not for the subject.
var (
	errLockStep = errors.New("the run is in lock-step: its driver alone decides when it goes on")
	errShown    = errors.New("the run is shown, and no client acts on it: `burst serve` runs one on which they can")
	errNoSeek   = errors.New("a run that goes on has no other bursts to go to; `burst view` shows one that was recorded")
)

// may refuses an action that is not for what the server shows.
func (a *action) may(s *Server) error {
	_, recorded := s.subject.(*player)
	switch {
	case recorded && a.of&ofPlayer != 0:
		return nil
	case s.session == nil:
		return errShown
	case a.of&(ofSession|ofLockStep) == 0:
		return errNoSeek
	case s.o.LockStep && a.of&ofLockStep == 0:
		return errLockStep
	}
	return nil
}

// control does what a client asks for.
func (s *Server) control(ctx context.Context, x *wire.Control) error {
	a, known := actions[x.Do]
	if !known {
		return fmt.Errorf("do %q, want one of %v", x.Do, slices.Sorted(maps.Keys(actions)))
	}
	if err := a.may(s); err != nil {
		return err
	}
	return a.do(s, ctx, x)
}

// switches turns a stimulus of the genome off or on.
func (s *Server) switches(x *wire.Control) error {
	if x.Stimulus == nil || x.On == nil {
		return errors.New(`a stimulus to switch, want {"do": "stimulus", "stimulus": its place in the genome, "on": true or false}`)
	}
	return s.session.Switch(*x.Stimulus, *x.On)
}

// keep keeps the present state under a name, for restore.
func (s *Server) keep(name string) error {
	s.states.mu.Lock()
	defer s.states.mu.Unlock()
	kept := s.states.kept
	switch _, found := kept[name]; {
	case name == "" || len(name) > 100:
		return fmt.Errorf("a state called %q, want a name of 1 to 100 bytes", name)
	case !found && len(kept) == mostKept:
		return fmt.Errorf("%d states are kept, which is the most: %v", mostKept, slices.Sorted(maps.Keys(kept)))
	}
	x, err := s.session.State()
	if err != nil {
		return err
	}
	if kept == nil {
		s.states.kept = map[string]*engine.State{}
	}
	s.states.kept[name] = x
	return nil
}

// restore puts the network into a state that is kept.
func (s *Server) restore(name string) error {
	s.states.mu.Lock()
	defer s.states.mu.Unlock()
	x, found := s.states.kept[name]
	if !found {
		return fmt.Errorf("no state %q is kept, only %v", name, slices.Sorted(maps.Keys(s.states.kept)))
	}
	s.states.last = nil
	return s.session.Restore(x)
}

// hold pauses the run, or lets it go on.
func (s *Server) hold(paused bool) error {
	if paused {
		s.subject.Pause()
	} else {
		s.subject.Unpause()
	}
	s.setMode(paused)
	return nil
}

// stepBy runs bursts of a run that is paused, or of one in lock-step that has no driver.
func (s *Server) stepBy(ctx context.Context, n uint64) error {
	if p, recorded := s.subject.(*player); recorded {
		return p.step(n)
	}
	if err := s.checkStep(n); err != nil {
		return err
	}
	if s.connectedDriver() != nil || s.modeIs("free") || s.modeIs("real-time") {
		return errors.New("the run goes on by itself, or has a driver; pause it first")
	}
	s.steps.Lock()
	defer s.steps.Unlock()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(s.ctx, cancel)()
	switch err := s.session.Step(ctx, n); {
	case err == nil || errors.Is(err, live.ErrBusy) || ctx.Err() != nil:
		return err
	default:
		return s.fatal(err)
	}
}

// setRate changes the rate that the run holds.
func (s *Server) setRate(rate string) error {
	if err := s.subject.SetRate(rate); err != nil {
		return err
	}
	s.mu.Lock()
	s.o.Rate = rate
	paused := s.mode == "paused"
	s.mu.Unlock()
	s.setMode(paused)
	return nil
}

// checkpoint saves the state in the run's folder.
func (s *Server) checkpoint() error {
	if s.facts.Folder == "" {
		return errors.New("the run has no folder to save a checkpoint in; start the server without --no-out")
	}
	return s.session.Checkpoint()
}

// control answers a frame that asks for something.
func (c *client) control(_ wire.Header, body []byte) error {
	var x wire.Control
	if err := wire.ParseJSON(body, &x); err != nil {
		return err
	}
	if !c.parent && !c.s.buckets[scopeControl].take() { // the server is the parent's own
		return fmt.Errorf("more than %d of these a second, want fewer", controlsEach)
	}
	if err := c.s.control(c.s.ctx, &x); err != nil {
		return err
	}
	c.tell(wire.Notice{Code: wire.Done, Text: x.Do})
	if x.Do == doStop {
		c.s.stop(errStopped)
	}
	return nil
}
