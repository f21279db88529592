package nccl

import (
	"errors"
	"fmt"
	"math/bits"
	"slices"
	"time"
	"unsafe"

	"burst/connectome"
	"burst/internal/clib"
	"burst/internal/exchange"
)

// How long NCCL may take to end a communicator, after an error and without one, before it is given up.
const (
	abortTime   = time.Second
	destroyTime = 10 * time.Second
)

// state asks NCCL for an error since the last call.
func (x *Exchange) state() error {
	r := clib.Call(x.api.fn[commGetAsyncError], clib.Int(uintptr(x.comm)), clib.Ptr(&x.asynchronous))
	if err := x.api.check(commGetAsyncError, r, x.comm); err != nil {
		return err
	}
	return x.api.check(allGather, uintptr(x.asynchronous), x.comm)
}

// settled is the error of a call. With NCCL_COMM_BLOCKING=0 it is known only later.
func (x *Exchange) settled(function int, r uintptr) error {
	err := x.api.check(function, r, x.comm)
	for busy(err) {
		if err = x.watch(); err == nil {
			err = x.state()
		}
	}
	return err
}

// busy reports whether NCCL is still working on a call.
func busy(err error) bool {
	var e *Error
	return errors.As(err, &e) && e.Code == inProgress
}

// others is the error of another part that has left with a cause, nil without one.
func (x *Exchange) others() error {
	gone, causes, err := x.control.Left()
	for i, cause := range causes {
		if cause != "" {
			return x.partError(gone[i], cause)
		}
	}
	return err
}

// absent is an error if it is in vain to wait for parts that have left, nil if all are there. A part without a cause may have
// ended well: then this Allgather, in which it took part, ends in a moment. Or it left because of another part, whose cause
// arrives in a moment.
func (x *Exchange) absent() error {
	gone, _, err := x.control.Left()
	if len(gone) == 0 || err != nil {
		return err
	}
	if err := x.others(); err != nil {
		return err
	}
	if x.alone.IsZero() {
		x.alone, x.missing = time.Now(), gone[0]
	}
	if time.Since(x.alone) < grace {
		return nil
	}
	return x.closed()
}

// closed is the error for the part that was missed first.
func (x *Exchange) closed() error { return x.partError(x.missing, exchange.ErrClosed.Error()) }

// cause waits a moment for the error of another part.
func (x *Exchange) cause() error {
	for end := time.Now().Add(grace); time.Now().Before(end); time.Sleep(time.Millisecond) {
		if err := x.others(); err != nil {
			return err
		}
	}
	return nil
}

// blame finds out whether NCCL's error err comes from another part.
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

// end cleans up after an error: it tells the other parts and ends NCCL's work on the device.
func (x *Exchange) end(cause error) {
	x.fault = cause
	_ = x.control.Leave(ownCause(cause)) // a Control that fails too cannot tell more
	_ = x.letGo(commAbort, abortTime)    // the cause is known
}

// letGo ends the communicator in another goroutine, because NCCL may wait for ever.
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

// farewell waits until all parts have left; after an error not for long. Without one, it is an error if some do not leave in
// time.
func (x *Exchange) farewell() error {
	for began := time.Now(); ; time.Sleep(time.Millisecond) {
		gone, _, err := x.control.Left()
		if err != nil || len(gone) == x.part.Of-1 {
			return nil // closing the Control reports its error
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
func (x *Exchange) staying(gone []int) int {
	for i := range x.part.Of {
		if i != x.part.Index && !slices.Contains(gone, i) {
			return i
		}
	}
	return -1
}

// Close leaves once all others do so or have failed, and closes the Control. If a part does neither, the Control stays open,
// because closing it would wait for that part for ever.
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

// release frees what open and room took, unless NCCL still uses it.
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

// room makes sure that there is memory for messages of n words in total.
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

// freeRoom frees the memory for messages.
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
