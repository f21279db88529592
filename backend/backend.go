// Package backend opens the engine's backends by name; it is the only list of them.
package backend

import (
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"

	"burst/backend/cpu"
	"burst/backend/cuda"
	"burst/backend/cuda/driver"
	"burst/backend/reference"
	"burst/backend/split"
	"burst/connectome"
	"burst/engine"
	"burst/exchange"
	"burst/genome"
)

// Options of Open; the zero value uses every processor, the first GPU, and delivers no FCL.
type Options struct {
	Threads int   // of the cpu backend; 0: all processors
	Device  int   // of the cuda backend
	Devices []int // that share the network instead (OpenParts); with one, that one
	Want    engine.Want
	Parts   int               // split the network among so many backends in this process, each with its copy; 0: do not
	Others  exchange.Exchange // with the processes that hold the network's other parts; nil: there are none

	MaxBytes uint64 // refuse a backend that needs more on the host, network included; 0: what the machine has free,
	Sharers  int    // by so many processes that open theirs at the same time; 0: by one
}

// Names lists the backends that Open knows.
func Names() []string { return []string{"cpu", "cuda", "reference"} }

// Open makes the named backend for c, in the state before burst 0. The error wraps engine.ErrUnavailable when this
// machine lacks what the backend needs, and is a *MemoryError when the host has no room; none falls back to another.
func Open(name string, c *connectome.Connectome, o Options) (engine.Backend, error) {
	switch {
	case o.Others != nil:
		return split.Open(c, o.Others, o.Want, PartOf(name, o))
	case o.Parts > 1:
		list, err := cut(name, c, o)
		if err != nil {
			return nil, err
		}
		return split.Local(list, o.Want, PartOf(name, o))
	}
	return open(name, c, o)
}

// PartOf is how the named backend is opened for a part of a network.
func PartOf(name string, o Options) split.OpenPart {
	return func(c *connectome.Connectome, w engine.Want) (split.Part, error) {
		own := o // parts are opened at the same time
		own.Want = w
		b, err := open(name, c, own)
		if err != nil {
			return nil, err
		}
		p, ok := b.(split.Part)
		if !ok {
			return nil, errors.Join(fmt.Errorf("the backend %s holds whole networks only, want cpu for a part", name), b.Close())
		}
		return p, nil
	}
}

// open opens a backend in this process.
func open(name string, c *connectome.Connectome, o Options) (engine.Backend, error) {
	if slices.Contains(Names(), name) {
		if err := fits(name, c, o); err != nil {
			return nil, err
		}
	}
	switch name {
	case "cpu":
		return cpu.Open(c, cpu.Options{Threads: o.Threads, Want: o.Want})
	case "cuda":
		switch len(o.Devices) {
		case 0:
		case 1:
			o.Device = o.Devices[0]
		default:
			return nil, fmt.Errorf("a whole network for the devices %v, want its parts for OpenParts", o.Devices)
		}
		return cuda.Open(c, cuda.Options{Device: o.Device, Want: o.Want})
	case "reference":
		return reference.Open(c, o.Want)
	}
	return nil, fmt.Errorf("backend %q, want one of %s", name, strings.Join(Names(), ", "))
}

// OpenParts opens the cuda backend on o.Devices, which build and hold a part of the network each; it is returned without its
// synapses. The errors are those of Open and of connectome.Build.
func OpenParts(parts cuda.Parts, o Options) (engine.Backend, *connectome.Connectome, error) {
	if err := fits("cuda", parts.Head(), o); err != nil {
		return nil, nil, err
	}
	b, err := cuda.OpenParts(parts, o.Devices, o.Want)
	if err != nil {
		return nil, nil, err
	}
	c, err := parts.Whole()
	if err != nil {
		return nil, nil, errors.Join(err, b.Close())
	}
	return b, c, nil
}

// AutoParts is Auto for devices that share a network. Where they cannot take it, whole builds all of it for the cpu backend; a
// network that cannot be built is refused at once.
func AutoParts(parts cuda.Parts, o Options, whole func() (*connectome.Connectome, error)) (b engine.Backend, c *connectome.Connectome, name, why string, err error) {
	b, c, err = OpenParts(parts, o)
	if err == nil {
		if err = selfTest(c, b, o.Want); err == nil {
			return b, c, "cuda", passed(b), nil
		}
		err = errors.Join(err, b.Close())
	}
	var faults genome.Faults
	if errors.As(err, &faults) {
		return nil, nil, "cuda", "the network cannot be built", err
	}
	why = noGPU(err)
	if c, err = whole(); err != nil {
		return nil, nil, "cpu", why, err
	}
	b, err = Open("cpu", c, o)
	return b, c, "cpu", why, err
}

// Auto opens the cuda backend where a GPU is there, has room for c and passes a self-test, else the cpu backend. why says
// in a few words what decided.
func Auto(c *connectome.Connectome, o Options) (b engine.Backend, name, why string, err error) {
	if o.Others != nil {
		b, err = Open("cpu", c, o)
		return b, "cpu", fmt.Sprintf("in %d processes", o.Others.Part().Of), err
	}
	b, err = Open("cuda", c, o)
	if err == nil {
		if err = selfTest(c, b, o.Want); err == nil {
			return b, "cuda", passed(b), nil
		}
		err = errors.Join(err, b.Close())
	}
	why = noGPU(err)
	b, err = Open("cpu", c, o)
	return b, "cpu", why, err
}

// passed says why a GPU was taken, noGPU why none was.
func passed(b engine.Backend) string { return Device(b) + ", passed a burst beside the reference" }

func noGPU(err error) string {
	if errors.Is(err, driver.ErrNone) {
		return driver.ErrNone.Error() + "; `burst doctor` says more"
	}
	return "no GPU taken: " + strings.TrimPrefix(strings.ReplaceAll(err.Error(), "\n", "; "), engine.ErrUnavailable.Error()+": ")
}

// selfTest runs one burst, in which no synapse delivers yet, beside the reference and puts b back before burst 0.
func selfTest(c *connectome.Connectome, b engine.Backend, w engine.Want) error {
	oracle, err := reference.Open(c, w)
	if err != nil {
		return err
	}
	defer oracle.Close()
	d, err := engine.Compare(oracle, b, 1, engine.NewFeed(c, nil).Next, 0)
	if err != nil {
		return err
	}
	if d != nil {
		return fmt.Errorf("the GPU failed its self-test against the reference: %v", d)
	}
	return b.WriteState(engine.NewState(c))
}

// Device names what a backend runs on.
func Device(b engine.Backend) string {
	if d, ok := b.(interface{ Device() string }); ok {
		return d.Device()
	}
	return runtime.GOARCH
}
