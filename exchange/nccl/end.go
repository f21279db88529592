package nccl

import (
	"errors"
	"fmt"
	"math/bits"
	"slices"
	"time"
	"unsafe"

	"burst/connectome"
	"burst/exchange"
	"burst/internal/clib"
)

// How long NCCL may take to end a communicator, in trouble and in peace, before it is left alone.
const (
	abortTime   = time.Second
	destroyTime = 10 * time.Second
)

// state asks NCCL what has gone wrong since the last call.
func (x *Exchange) state() error {
	r := clib.Call(x.api.fn[commGetAsyncError], clib.Int(uintptr(x.comm)), clib.Ptr(&x.asynchronous))
	if err := x.api.check(commGetAsyncError, r, x.comm); err != nil {
		return err
	}
	return x.api.check(allGather, uintptr(x.asynchronous), x.comm)
}

// settled is what became of a call, which is known later where NCCL_COMM_BLOCKING=0.
func (x *Exchange) settled(function int, r uintptr) error {
	err := x.api.check(function, r, x.comm)
	for busy(err) {
		if err = x.watch(); err == nil {
			err = x.state()
		}
	}
	return err
}

// busy says that NCCL has not ended a call.
func busy(err error) bool {
	var e *Error
	return errors.As(err, &e) && e.Code == inProgress
}

// others is the failure of another part that has left with a cause, nil without one.
func (x *Exchange) others() error {
	gone, err := x.control.Left()
	for _, g := range gone {
		if g.Cause != "" {
			return x.partError(g.Part, g.Cause)
		}
	}
	return err
}

// absent is why to wait no longer for parts that have left, nil where all are there. One without a cause may have left in peace,
// and then this gather, in which it took part, is done in a moment; or because of one that says why in a moment.
func (x *Exchange) absent() error {
	gone, err := x.control.Left()
	if len(gone) == 0 || err != nil {
		return err
	}
	if err := x.others(); err != nil {
		return err
	}
	if x.alone.IsZero() {
		x.alone, x.missing = time.Now(), gone[0].Part
	}
	if time.Since(x.alone) < grace {
		return nil
	}
	return x.closed()
}

// closed says that the part has ended which was missing first.
func (x *Exchange) closed() error { return x.partError(x.missing, exchange.ErrClosed.Error()) }

// cause waits a moment for another part to say what it failed of.
func (x *Exchange) cause() error {
	for end := time.Now().Add(grace); time.Now().Before(end); time.Sleep(time.Millisecond) {
		if err := x.others(); err != nil {
			return err
		}
	}
	return nil
}

// blame finds out whether err, of NCCL, comes from another part.
func (x *Exchange) blame(err error) error {
	var e *Error
	if !errors.As(err, &e) || e.Code != RemoteError && e.Code != SystemError {
		return err
	}
	if told := x.cause(); told != nil {
		return told
	}
	if !x.alone.IsZero() {
		return x.closed()
	}
	if e.Code == RemoteError {
		return x.partError(-1, err.Error())
	}
	return err
}

func (x *Exchange) partError(index int, text string) error {
	return &exchange.PartError{Part: connectome.Part{Index: index, Of: x.part.Of}, Text: text}
}

// ownCause is err where it is this part's own, nil where it is another's.
func ownCause(err error) error {
	var p *exchange.PartError
	if errors.As(err, &p) && p.Part.Index >= 0 {
		return nil
	}
	return err
}

// end is what a failure leaves: the others know it, and nothing runs on the device for NCCL.
func (x *Exchange) end(cause error) {
	x.fault = cause
	_ = x.control.Leave(ownCause(cause)) // a Control that fails too cannot tell more
	_ = x.letGo(commAbort, abortTime)    // the cause is known
}

// letGo ends the communicator beside this goroutine, for NCCL may wait for what never comes.
func (x *Exchange) letGo(function int, limit time.Duration) error {
	if x.comm == nil || x.stuck {
		return nil
	}
	comm := x.comm
	x.comm = nil
	done := make(chan error, 1)
	go func() {
		done <- x.inContext(func() error {
			return x.api.check(function, clib.Call(x.api.fn[function], clib.Int(uintptr(comm))), nil)
		})
	}()
	select {
	case err := <-done:
		return err
	case <-time.After(limit):
		x.stuck = true
		return nil
	}
}

// farewell waits until all have left, in trouble not for long. Where none is known, it is an error that some have not in time.
func (x *Exchange) farewell() error {
	for began := time.Now(); ; time.Sleep(time.Millisecond) {
		gone, err := x.control.Left()
		if err != nil || len(gone) == x.part.Of-1 {
			return nil // what is wrong with the Control is told when it is closed
		}
		lost, since := x.fault != nil || x.inContext(x.state) != nil, time.Since(began)
		if lost && since > grace {
			return nil
		}
		if !lost && since > x.patience {
			return x.partError(x.staying(gone), fmt.Sprintf("it has not closed within %v of this one", x.patience))
		}
	}
}

// staying is the first other part that is not among those gone.
func (x *Exchange) staying(gone []exchange.Gone) int {
	for i := range x.part.Of {
		if i != x.part.Index && !slices.ContainsFunc(gone, func(g exchange.Gone) bool { return g.Part == i }) {
			return i
		}
	}
	return -1
}

// Close leaves, once all others do so or have failed, and closes the Control. Where one does neither the Control stays open: it
// would wait for that part without end.
func (x *Exchange) Close() error {
	wrong := x.control.Leave(nil)
	late := x.farewell()
	wrong = errors.Join(wrong, late, x.letGo(commDestroy, destroyTime))
	if err := x.release(); x.fault == nil {
		wrong = errors.Join(wrong, err)
	}
	if late != nil {
		return wrong
	}
	return errors.Join(wrong, x.control.Close())
}

// release gives back what open and room took, unless NCCL still uses it.
func (x *Exchange) release() error {
	if x.ctx == nil || x.stuck {
		return nil
	}
	err := x.inContext(func() error {
		var err error
		if x.stream != nil {
			err = x.stream.Destroy()
		}
		return errors.Join(err, x.freeRoom())
	})
	return errors.Join(err, x.ctx.Release())
}

// room makes sure of memory for messages of n words of all parts together.
func (x *Exchange) room(n int) error {
	if n <= len(x.words) {
		return nil
	}
	if err := x.freeRoom(); err != nil {
		return err
	}
	n = 1 << bits.Len(uint(max(n, least)-1))
	device, err := x.ctx.Alloc(uint64(4 * n))
	if err != nil {
		return err
	}
	x.device = device
	host, err := x.ctx.AllocHost(4*n, false)
	if err != nil {
		return err
	}
	x.host = host
	x.words = unsafe.Slice((*uint32)(unsafe.Pointer(unsafe.SliceData(host.Bytes()))), n)
	return nil
}

// freeRoom gives back the memory for messages.
func (x *Exchange) freeRoom() error {
	var err error
	if x.device != 0 {
		err = x.ctx.Free(x.device)
	}
	if x.host != nil {
		err = errors.Join(err, x.host.Free())
	}
	x.device, x.host, x.words = 0, nil, nil
	return err
}
