// Package backend opens the engine's backends by name; it is the only list of them.
package backend

import (
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"time"

	"burst/backend/cpu"
	"burst/backend/cuda"
	"burst/backend/reference"
	"burst/connectome"
	"burst/engine"
	"burst/genome"
	"burst/internal/cuda/driver"
	"burst/internal/split"
)

// Options of Open. The zero value uses all processors or the first GPU, and delivers no FCL.
type Options struct {
	Threads int   // of the cpu backend, not negative; 0: all processors
	Device  int   // of the cuda backend
	Devices []int // instead of Device: devices that share the network (OpenParts); one works like Device
	Beside  int   // backends that use the device at once, this one included, each a part of it; 0: one
	Want    engine.Want
	Maker   *cuda.Maker // of the parts of OpenParts; nil: the host makes them
	Parts   int         // split the network among so many backends in this process; 0: do not split
	Others  Exchange    // with the processes that have the other parts of the network; nil: there are none

	MaxBytes uint64 // limit of host memory for backend and network; 0: the free memory of the machine divided by Sharers
	Sharers  int    // number of processes on the machine that open a backend at the same time; 0: one
}

// Exchange connects the parts of a network that is split among processes. One goroutine at a time uses it, except for Abort.
type Exchange interface {
	// Part is which part this process has.
	Part() connectome.Part
	// Allgather returns the words that each part gives, in the order of the parts. All parts must call it; it returns once all
	// have. The result is valid until this part's next call; own may be changed as soon as it returns.
	Allgather(own []uint32) (all [][]uint32, err error)
	// Abort makes the Allgathers of all parts fail, also those in progress. It may end all processes, this one included.
	Abort(cause error)
	// Close ends the part's membership; all parts call it.
	Close() error
}

// Names lists the backends that Open knows.
func Names() []string { return []string{"cpu", "cuda", "reference"} }

// Open makes the named backend for c, in the state before burst 0. The error wraps engine.ErrUnavailable if this machine
// lacks what the backend needs, and is a *MemoryError if the host has too little memory. Open never takes another backend.
func Open(name string, c *connectome.Connectome, o Options) (engine.Backend, error) {
	switch {
	case o.Others != nil:
		return split.Open(c, o.Others, o.Want, partOf(name, o))
	case o.Parts > 1:
		list, err := cut(name, c, o)
		if err != nil {
			return nil, err
		}
		return split.Local(list, o.Want, partOf(name, o))
	}
	return open(name, c, o)
}

// Serve opens the named backend for c, one part of a network, and does what part 0 says, whose process has called Open, until
// that closes its backend. What goes wrong here part 0 reports. The error of Serve says that part 0 cannot be reached.
func Serve(name string, c *connectome.Connectome, o Options) error {
	return split.Serve(c, o.Others, partOf(name, o))
}

// partOf returns a function that opens the named backend for a part of a network.
func partOf(name string, o Options) split.OpenPart {
	return func(c *connectome.Connectome, w engine.Want) (split.Part, error) {
		own := o // parts are opened concurrently
		own.Want = w
		b, err := open(name, c, own)
		if err != nil {
			return nil, err
		}
		p, ok := b.(split.Part)
		if !ok {
			return nil, errors.Join(fmt.Errorf("the %s backend cannot run a part of a network, want cpu", name), b.Close())
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
		return cpu.Open(c, cpu.Options{Threads: o.Threads, Want: o.Want, QueueBytes: queueRoom(c, o)})
	case "cuda":
		switch len(o.Devices) {
		case 0:
		case 1:
			o.Device = o.Devices[0]
		default:
			return nil, fmt.Errorf("a whole network cannot run on several devices %v, want one device, or OpenParts with its parts", o.Devices)
		}
		return cuda.Open(c, cuda.Options{Device: o.Device, Want: o.Want, Beside: o.Beside})
	case "reference":
		return reference.Open(c, o.Want)
	}
	return nil, fmt.Errorf("backend %q, want one of %s", name, strings.Join(Names(), ", "))
}

// OpenParts opens the cuda backend on o.Devices. Each device builds and stores a part of the network. The connectome is
// returned without synapses. The errors are those of Open and of connectome.Build.
func OpenParts(parts cuda.Parts, o Options) (engine.Backend, *connectome.Connectome, error) {
	if err := fits("cuda", parts.Head(), o); err != nil {
		return nil, nil, err
	}
	b, err := cuda.OpenParts(parts, o.Devices, o.Maker, o.Want)
	if err != nil {
		return nil, nil, err
	}
	c, err := parts.Whole()
	if err != nil {
		return nil, nil, errors.Join(err, b.Close())
	}
	return b, c, nil
}

// AutoParts is Auto for devices that share a network. If they cannot be used, it calls whole to build the network for the
// cpu backend. If the genome has faults it returns them without trying another backend, and so it does a *cuda.RoomError: the GPU may
// take what the host builds.
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
	if room := new(cuda.RoomError); errors.As(err, &room) {
		return nil, nil, "cuda", "", err
	}
	why = noGPU(err)
	if c, err = whole(); err != nil {
		return nil, nil, "cpu", why, err
	}
	b, err = Open("cpu", c, o)
	return b, c, "cpu", why, err
}

// Auto opens the cuda backend if there is a GPU that has memory for c and passes a self-test, else the cpu backend. why
// gives the reason in a few words.
func Auto(c *connectome.Connectome, o Options) (b engine.Backend, name, why string, err error) {
	if o.Others != nil {
		b, err = Open("cpu", c, o)
		return b, "cpu", fmt.Sprintf("in %d processes", o.Others.Part().Of), err
	}
	if _, err = cuda.Visible(); err == nil { // else Open would size a GPU's tables, which takes their memory, for nothing
		b, err = Open("cuda", c, o)
	}
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

// passed says why a GPU is used, noGPU why none is.
func passed(b engine.Backend) string { return Device(b) + ", passed a self-test burst" }

func noGPU(err error) string {
	if errors.Is(err, driver.ErrNone) {
		return driver.ErrNone.Error() + "; `burst doctor` says more"
	}
	return "no GPU taken: " + strings.TrimPrefix(strings.ReplaceAll(err.Error(), "\n", "; "), engine.ErrUnavailable.Error()+": ")
}

// selfTest compares one burst of b with the reference and then resets b. No synapse delivers in burst 0, so it is cheap.
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

// Path says how a backend's GPU runs bursts, and why so, in several processes that of the first one; nil where a network is on no GPU.
func Path(b engine.Backend) *cuda.Path {
	if parts, ok := b.(interface{ Leading() split.Part }); ok {
		b = parts.Leading()
	}
	if on, ok := b.(interface{ Path() cuda.Path }); ok {
		p := on.Path()
		return &p
	}
	return nil
}

// Uploading is how long a backend has taken to copy the network to its GPU, of several the longest; 0 without one.
func Uploading(b engine.Backend) time.Duration {
	if on, ok := b.(interface{ Uploading() time.Duration }); ok {
		return on.Uploading()
	}
	return 0
}

// ThreadsUsed is the number of threads that a cpu backend used for its newest burst; 0 of any other.
func ThreadsUsed(b engine.Backend) int {
	if on, ok := b.(interface{ ThreadsUsed() int }); ok {
		return on.ThreadsUsed()
	}
	return 0
}

// Device names the device that a backend runs on.
func Device(b engine.Backend) string {
	if d, ok := b.(interface{ Device() string }); ok {
		return d.Device()
	}
	return runtime.GOARCH
}
