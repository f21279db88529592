package run

import (
	"context"
	"errors"
	"fmt"

	"burst/engine"
	"burst/record/manifest"
	"burst/record/runfolder"
)

// Action is what to do when the device of a run fails.
type Action string

// The actions. A run continues once; the next fault stops it.
const (
	Stop  Action = "stop"  // the run ends
	Retry Action = "retry" // it continues from its last checkpoint on the same backend; some faults need a new process for that
	CPU   Action = "cpu"   // it continues from its last checkpoint on the cpu backend
)

// stops reports whether the run ends with the fault.
func (a Action) stops() bool { return a == "" || a == Stop }

// Actions lists the actions.
func Actions() []string { return []string{string(Stop), string(Retry), string(CPU)} }

// checkFault returns an error for an unknown action, and for one that needs a folder if there is none.
func (r *Run) checkFault() error {
	switch a := r.o.OnFault; {
	case a.stops():
		return nil
	case a != Retry && a != CPU:
		return fmt.Errorf("run: the action on a fault is %q, want one of %v", a, Actions())
	case !r.keeps():
		return fmt.Errorf("run: going on after a fault (%s) needs a run with a folder", a)
	case r.o.Peers != nil:
		return fmt.Errorf("run: going on after a fault (%s) needs a run of one process", a)
	case r.o.Inputs != nil:
		return fmt.Errorf("run: going on after a fault (%s) needs a run without input from outside; `burst resume` goes on with the log", a)
	}
	return nil
}

// faultOf returns the manifest's entry for a device error; nil for other errors, and before the run has begun.
func (r *Run) faultOf(err error) *manifest.Fault {
	var d *engine.DeviceError
	if r.engine == nil || !errors.As(err, &d) {
		return nil
	}
	return &manifest.Fault{Burst: r.engine.Number(), Backend: r.Backend, Device: r.Device, Cause: d.Error(), Action: string(r.o.OnFault)}
}

// LeavesFault reports whether err is a device fault after which another process should continue the run (Options.Elsewhere).
func (r *Run) LeavesFault(err error) bool {
	return r.o.Elsewhere && !r.o.OnFault.stops() && r.faultOf(err) != nil
}

// retries reports whether this process continues after an error, and sends the event.
func (r *Run) retries(err error) bool {
	if r.o.Elsewhere || r.o.OnFault.stops() || r.faultOf(err) == nil {
		return false
	}
	if d := new(engine.DeviceError); errors.As(err, &d) && d.Lost && r.o.OnFault == Retry {
		return false
	}
	r.emit(Fault{err, r.o.OnFault})
	return true
}

// again reopens the run at its last checkpoint after a fault. Sources are called again for the bursts since then, and Recorders receive
// these bursts again.
func (r *Run) again(ctx context.Context) error {
	r.backend.Close() // its error is of no interest: the device has failed
	r.backend = nil
	if r.o.OnFault == CPU {
		r.o.Backend = "cpu"
	}
	if r.parts != nil { // the devices had the synapses
		r.parts, r.Connectome = nil, nil
	}
	r.o.OnFault, r.failed, r.begun, r.asked = Stop, nil, false, 0
	var err error
	if r.resumed, err = runfolder.Open(r.Folder); err == nil {
		err = r.findStart()
	}
	if err == nil {
		err = r.open(ctx)
	}
	if err != nil {
		r.failed = err
	}
	return err
}
