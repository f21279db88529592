package driver

import (
	"time"
	"unsafe"

	"burst/internal/clib"
)

// Stream is a queue of work for the device, done in order. One goroutine at a time uses it.
type Stream struct {
	c      *Context
	handle uintptr
	frame  clib.Frame     // of the call in hand; here, so that calls do not allocate
	host   unsafe.Pointer // what the last copy reads or writes, kept alive
}

// do calls a function.
func (s *Stream) do(f symbol, args ...clib.Arg) error {
	s.frame.Set(args...)
	return s.c.d.callFrame(f, &s.frame)
}

// Stream makes a stream that does not wait for others, the default stream included.
func (c *Context) Stream() (*Stream, error) {
	const nonBlocking = 1
	s := &Stream{c: c}
	return s, c.d.call(cuStreamCreate, clib.Ptr(&s.handle), clib.Int(nonBlocking))
}

// Handle is the CUstream, for other libraries that queue work.
func (s *Stream) Handle() uintptr { return s.handle }

// Synchronize waits until the stream has done its work, and returns the first fault of any of it.
func (s *Stream) Synchronize() error {
	err := s.do(cuStreamSynchronize, clib.Int(s.handle))
	s.host = nil // a copy may have been of memory that is large
	return err
}

// Done reports whether the stream has done its work; the error is the first fault of any of it.
func (s *Stream) Done() (bool, error) {
	if s.c.d.fn[cuStreamQuery] == 0 {
		return false, s.c.d.missing(cuStreamQuery)
	}
	s.frame.Set(clib.Int(s.handle))
	r := s.frame.Call(s.c.d.fn[cuStreamQuery])
	if Result(int32(r)) == NotReady { // said often by who waits, so without the texts of an Error
		return false, nil
	}
	err := s.c.d.result(exported[cuStreamQuery], r)
	return err == nil, err
}

// Wait makes what is queued from now on wait for the event.
func (s *Stream) Wait(e *Event) error {
	return s.do(cuStreamWaitEvent, clib.Int(s.handle), clib.Int(e.handle), clib.Int(0))
}

// Destroy ends the stream once its work is done.
func (s *Stream) Destroy() error { return s.c.d.call(cuStreamDestroy, clib.Int(s.handle)) }

// Event marks a place in a stream.
type Event struct {
	c      *Context
	handle uintptr
	frame  clib.Frame // of Synchronize
}

// Event makes an event that keeps the time.
func (c *Context) Event() (*Event, error) {
	e := &Event{c: c}
	return e, c.d.call(cuEventCreate, clib.Ptr(&e.handle), clib.Int(0))
}

// Record puts the event behind the work queued so far.
func (s *Stream) Record(e *Event) error {
	return s.do(cuEventRecord, clib.Int(e.handle), clib.Int(s.handle))
}

// Synchronize waits until the device has passed the event.
func (e *Event) Synchronize() error {
	e.frame.Set(clib.Int(e.handle))
	return e.c.d.callFrame(cuEventSynchronize, &e.frame)
}

// Since is the device's time from start to e, both recorded and passed, to about half a microsecond.
func (e *Event) Since(start *Event) (time.Duration, error) {
	var ms float32
	err := e.c.d.call(cuEventElapsedTime, clib.Ptr(&ms), clib.Int(start.handle), clib.Int(e.handle))
	return time.Duration(float64(ms) * float64(time.Millisecond)), err
}

// Destroy ends the event.
func (e *Event) Destroy() error { return e.c.d.call(cuEventDestroy, clib.Int(e.handle)) }

// Graph is work that was captured from a stream, ready to be launched as a whole.
type Graph struct {
	c      *Context
	handle uintptr
}

// Capture records what do queues on the stream, without running it, and makes a graph of it. Kernel arguments are taken
// as they are now.
func (s *Stream) Capture(do func() error) (*Graph, error) {
	const threadLocal = 1
	if err := s.c.d.call(cuStreamBeginCapture, clib.Int(s.handle), clib.Int(threadLocal)); err != nil {
		return nil, err
	}
	doErr := do()
	var recorded uintptr
	endErr := s.c.d.call(cuStreamEndCapture, clib.Int(s.handle), clib.Ptr(&recorded))
	if doErr != nil || endErr != nil {
		if recorded != 0 {
			_ = s.c.d.call(cuGraphDestroy, clib.Int(recorded))
		}
		if doErr != nil {
			return nil, doErr
		}
		return nil, endErr
	}
	g := &Graph{c: s.c}
	err := s.c.d.call(cuGraphInstantiate, clib.Ptr(&g.handle), clib.Int(recorded), clib.Int(0))
	_ = s.c.d.call(cuGraphDestroy, clib.Int(recorded))
	return g, err
}

// Launch queues the whole graph.
func (g *Graph) Launch(s *Stream) error {
	return s.do(cuGraphLaunch, clib.Int(g.handle), clib.Int(s.handle))
}

// Destroy frees the graph.
func (g *Graph) Destroy() error { return g.c.d.call(cuGraphExecDestroy, clib.Int(g.handle)) }
