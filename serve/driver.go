package serve

import (
	"errors"
	"fmt"
	"reflect"
	"time"

	"burst/live/wire"
)

// driver is who steps the run, also while its connection is gone. The server's steps guards it.
type driver struct {
	bindings
	client  *client     // nil: none has connected, or it has gone
	resumed int         // so many Binds of a client that came back were those of the one before
	undone  bool        // the run was resumed, and the last step of its log left to the driver
	begun   uint64      // the burst at which the last step began
	bursts  uint32      // of it
	answer  []byte      // to it; nil: there was none
	timer   *time.Timer // to the pause, or to another look at when the last step ended
	last    time.Time   // that a step ended
	request wire.Step
	burst   []wire.Amounts // memory of inputsOf
	result  wire.Stepped
}

// bind binds what a driver asks for. One that comes back and binds the same as before finds it as it was: values that are held go on,
// and outputs count on.
func (d *driver) bind(c *client, x *wire.Bind) (wire.Bound, error) {
	s := c.s
	s.steps.Lock()
	defer s.steps.Unlock()
	if d.client != c {
		d.client, d.resumed = c, 0
	}
	if d.resumed < len(d.asked) {
		if reflect.DeepEqual(d.asked[d.resumed], *x) {
			d.resumed++
			all := d.handles()
			inputs, outputs := 0, 0
			for _, before := range d.asked[:d.resumed-1] {
				inputs, outputs = inputs+len(before.Inputs), outputs+len(before.Outputs)
			}
			return wire.Bound{Inputs: all.Inputs[inputs : inputs+len(x.Inputs)], Outputs: all.Outputs[outputs : outputs+len(x.Outputs)]}, nil
		}
		if d.resumed > 0 {
			return wire.Bound{}, errors.New("what was bound before the connection was lost is bound anew in part only; want all of it, or something else from the beginning")
		}
		d.close()
	}
	answer, err := d.bindings.bind(s.session, c.name, x)
	d.resumed = len(d.asked)
	return answer, err
}

// step runs the bursts that a driver asks for, or answers those once more that it has asked for last.
func (c *client) step(h wire.Header, body []byte) error {
	s, d := c.s, &c.s.driver
	s.steps.Lock()
	defer s.steps.Unlock()
	if err := d.request.Parse(body); err != nil {
		return err
	}
	if d.undone {
		if err := s.resumed(h.Burst); err != nil {
			return s.fatal(err)
		}
	}
	next, n := s.nextBurst(), d.request.Bursts
	switch {
	case h.Burst == next:
	case d.answer != nil && h.Burst == d.begun && n == d.bursts:
		return c.answered()
	default:
		return &wire.Notice{Code: wire.Refused, Text: fmt.Sprintf("a step that begins at burst %d, want the next burst, %d", h.Burst, next), Next: next}
	}
	if err := s.checkStep(uint64(n)); err != nil {
		return err
	}
	if d.client != c { // it binds nothing
		d.close()
		d.client = c
	}
	pieces, err := d.pieces()
	if err != nil {
		return err
	}
	spikes := s.spikes()
	for i := range pieces {
		if err := d.set(0, d.inputsOf(i)); err != nil {
			return err
		}
		if err := s.session.Step(s.ctx, uint64(n/pieces)); err != nil {
			return s.fatal(err)
		}
		d.readEach(i)
	}
	d.begun, d.bursts = next, n
	d.readAll()
	r := &d.result
	r.Next, r.Digest, r.Spikes = next+uint64(n), s.session.Digest(), s.spikes()-spikes
	d.answer = wire.AppendStepped(d.answer[:0], r)
	d.last = time.Now()
	if s.modeIs("paused") {
		s.setMode(false)
		d.timer.Reset(s.o.StepTimeout)
	}
	return c.answered()
}

// resumed makes room for the driver's first step after a resume. If this is the last step of the log, whose answer was lost, it is
// done again. If it is the one after that, the last step is done first, and outputs begin behind it.
func (s *Server) resumed(burst uint64) error {
	d := &s.driver
	from, to := s.session.Undone()
	d.undone = from < to && burst != from && burst != to
	switch {
	case from == to:
		return nil // another client has acted, which has done it
	case burst == from:
		s.tap.jump(from)
		return s.session.Redo()
	case burst == to:
		err := s.session.Finish(s.ctx)
		for i := range d.outputs {
			d.read(i, new(wire.Result))
		}
		return err
	}
	return nil
}

// answered sends the answer to the last step.
func (c *client) answered() error {
	if err := c.send(c.s.driver.answer, c.s.o.StepTimeout); err != nil {
		return &brokenError{err}
	}
	return nil
}

// left notes that a driver's connection is gone. What it has bound stays.
func (d *driver) left(s *Server, c *client) {
	s.steps.Lock()
	defer s.steps.Unlock()
	if d.client == c {
		d.client = nil
	}
}

// idle pauses a lock-step run that nobody has stepped for long: its state is saved, and its driver's place free.
func (s *Server) idle() {
	s.steps.Lock()
	defer s.steps.Unlock()
	if s.ctx.Err() != nil {
		return
	}
	if left := s.o.StepTimeout - time.Since(s.driver.last); left > 0 {
		s.driver.timer.Reset(left)
		return
	}
	c := s.connectedDriver()
	s.setMode(true)
	if s.facts.Folder != "" {
		if err := s.session.Checkpoint(); err != nil {
			s.o.Tell(fmt.Sprintf("no checkpoint: %v", err))
		}
	}
	if c != nil {
		c.leave(wire.Refused, fmt.Sprintf("no step came for %v; the run waits at burst %d", s.o.StepTimeout, s.nextBurst()))
	}
}

// checkStep refuses a number of bursts that cannot be run.
func (s *Server) checkStep(n uint64) error {
	most := uint64(mostSteps)
	if s.facts.Planned > 0 {
		most = min(most, s.facts.First+s.facts.Planned-s.nextBurst())
	}
	if n == 0 || n > most {
		return fmt.Errorf("a step of %d bursts, want 1 to %d", n, most)
	}
	return nil
}

// connectedDriver is the client that drives; nil if there is none.
func (s *Server) connectedDriver() *client {
	s.mu.Lock()
	defer s.mu.Unlock()
	for c := range s.clients {
		if c.role == wire.RoleDrive {
			return c
		}
	}
	return nil
}

// nextBurst is the next burst.
func (s *Server) nextBurst() uint64 {
	s.tap.mu.Lock()
	defer s.tap.mu.Unlock()
	return s.tap.next
}

// spikes is how many there were.
func (s *Server) spikes() (n uint64) {
	s.tap.mu.Lock()
	defer s.tap.mu.Unlock()
	for _, x := range s.tap.total {
		n += x
	}
	return n
}

func (s *Server) modeIs(mode string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.mode == mode
}
