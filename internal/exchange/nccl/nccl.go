// Package nccl joins parts that each have a GPU of their own through NCCL, NVIDIA's library of collectives, found at run time.
// The parts are already connected by a Control. Through it they agree on NCCL, exchange the id of the communicator, and tell
// each other when they leave. Their Allgathers then go from GPU to GPU.
package nccl

import (
	"errors"
	"fmt"
	"os"
	"time"
	"unsafe"

	"burst/connectome"
	"burst/internal/cuda/driver"
	"burst/internal/exchange"
)

// Control connects the parts before NCCL does, and beside it. Package mpi has one.
type Control interface {
	exchange.Exchange
	// Leave tells every other part, once, that this one leaves. cause is this part's own error, nil without one.
	Leave(cause error) error
	// Left lists the other parts that have left, in the order in which that became known here, and the text of each one's
	// cause: empty if it ended without an error, or because another part failed. It does not wait.
	Left() (parts []int, causes []string, err error)
}

// ErrUnavailable says that these parts cannot use NCCL. The error that wraps it has the cause and what to do, the same in all
// parts. The Control still works.
var ErrUnavailable = errors.New("NCCL is not available")

// How long a part waits for what should come at once; and for NCCL to explore networks, or other parts to end.
const (
	grace    = 500 * time.Millisecond
	patience = 2 * time.Minute
)

// Exchange is one part's end of the connection.
type Exchange struct {
	control Control
	api     *api
	ctx     *driver.Context
	stream  *driver.Stream
	comm    unsafe.Pointer // an ncclComm_t
	part    connectome.Part

	length exchange.Length // of the first message
	host   *driver.HostMemory
	device driver.Ptr
	words  []uint32 // of host; the device has as many
	all    [][]uint32
	long   [][]uint32 // of the parts that gave more than fits
	counts []int

	asynchronous int32         // an ncclResult_t, as asked for last
	patience     time.Duration // of tests less
	watch        func() error  // an error if waiting is in vain
	alone        time.Time     // when a part was first seen to have left without a cause
	missing      int           // and which
	fault        error         // the error of all calls from now on
	stuck        bool          // NCCL still uses the device
}

// Connect joins the parts of a Control; all call it, each with the number of its GPU. If it fails, it fails in all parts.
func Connect(control Control, device int) (*Exchange, error) {
	n := control.Part().Of
	x := &Exchange{control: control, part: control.Part(), patience: patience, all: make([][]uint32, n), long: make([][]uint32, n), counts: make([]int, n)}
	where, err := x.open(device)
	if err = x.agree(where, err); err == nil {
		err = x.join()
	}
	if err != nil {
		return nil, errors.Join(err, x.release())
	}
	x.watch = x.absent
	return x, nil
}

// Part is which part this is.
func (x *Exchange) Part() connectome.Part { return x.part }

// Version is the library's.
func (x *Exchange) Version() string { return versionText(x.api.version) }

// open finds the library and the device, and says where the device is.
func (x *Exchange) open(device int) (where string, err error) {
	if err := quiet(); err != nil {
		return "", err
	}
	if x.api, err = load(os.Getenv); err != nil {
		return "", err
	}
	d, err := driver.Open("")
	if err != nil {
		return "", err
	}
	v, err := d.Device(device)
	if err != nil {
		return "", err
	}
	bus, err := v.PCIBusID()
	if err != nil {
		return "", err
	}
	if x.ctx, err = v.Retain(); err != nil {
		x.ctx = nil
		return "", err
	}
	if err := x.ctx.Enter(); err != nil {
		return "", err
	}
	defer x.ctx.Leave()
	x.stream, err = x.ctx.Stream()
	return host() + " " + bus, err
}

// host identifies this machine while it is up.
func host() string {
	if id, err := os.ReadFile("/proc/sys/kernel/random/boot_id"); err == nil {
		return string(id[:len(id)-1])
	}
	name, err := os.Hostname()
	if err != nil {
		return "?"
	}
	return name
}

// Abort makes the Allgathers of all parts fail, or ends all parts, as the Control does.
func (x *Exchange) Abort(cause error) { x.control.Abort(cause) }

// unavailable wraps ErrUnavailable with a cause.
func unavailable(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrUnavailable, fmt.Sprintf(format, args...))
}
