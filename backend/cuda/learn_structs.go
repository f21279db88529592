package cuda

import (
	"unsafe"

	"burst/internal/cuda/driver"
)

// The types from decay to history are the structs of kernels/plastic.cuh, field for field; learned is its learning.

type decay struct {
	low, high driver.Ptr
	until     uint64
	near      driver.Ptr
	close     uint64
}

type trace struct {
	table  decay
	amount float32
	set    uint32
}

type modulator struct {
	trace
	from, count uint32
	delay       uint64
}

type reading struct{ kind, k uint32 }

type handler struct {
	program, states, outs, reads, there, pair uint32
	list, params, decays                      driver.Ptr
}

type senders struct{ traces, variables, last driver.Ptr }

type receivers struct{ traces, last driver.Ptr }

type levels struct{ level, last driver.Ptr }

type eventRing struct {
	at, note      driver.Ptr
	places, notes uint32
	ahead, _      uint32
}

type limits struct{ low, high, below, above float32 }

type sweeps struct {
	before        uint64
	full, crowded uint32
}

type learned struct {
	from, sources, to, targets, port uint32
	least, longest, steps            uint32
	row, target, delay, late         driver.Ptr
	weight, more                     driver.Ptr
	synapses, lag, lagRead           uint64
	bounds                           limits
	scale                            int32
	lift                             int64
	divide, acc                      driver.Ptr

	onPost, onPre, every, onSource, when handler
	pre, post                            driver.Ptr
	preCount, postCount, modulators      uint32
	values, sourceVariables, pairs       uint32
	modulatorList                        driver.Ptr

	live, before                 senders
	slots                        uint32
	heard                        driver.Ptr
	heardBytes                   uint32
	told                         receivers
	ring                         eventRing
	swept, applied               driver.Ptr
	now, after, level, levelLast driver.Ptr
	total, v, further            driver.Ptr
	pitch                        uint64
	states                       driver.Ptr
}

type history struct {
	queues         driver.Ptr
	neurons, depth uint64
	lengths        driver.Ptr
}

// oneLearner and learners are learner and learners of kernels/learn_bursts.cu.
type oneLearner struct {
	l             learned
	settled       senders
	settledHeard  receivers
	settledLevels levels
	every         uint64
	rule          window
	shares, _     uint32
}

// parted, sending and cutting likewise.
type parted struct{ learner, part, parts uint32 }

type task struct{ learner, kind uint32 }

type sending struct{ first, count, begin, parts uint32 }

type cutting struct {
	spans, list driver.Ptr
	count, most uint32
}

type learners struct {
	list           driver.Ptr
	count, queues  uint64
	history        history
	fixedBytes     uint64
	copied         uint64
	lists          driver.Ptr // null or not; the kernel's
	fired          spans
	tasks          driver.Ptr
	own, all       uint64 // tasks
	watching       uint32
	changing       uint32
	alone          uint32
	found          driver.Ptr // the kernel's
	small, large   cutting
	least, longest uint64
}

// spans and window are the structs of those names in kernels/learn_windows.cu.
type spans struct {
	since, run     driver.Ptr
	neurons, slots uint64
}

type window struct {
	kind, bursts uint32
	up, down     float32
}

// Of kernels/plastic.cuh: MOST_READS, MAX_AGE, and the size of a trace.
const (
	mostReads  = 96
	maxAge     = 1 << 24
	traceBytes = int(unsafe.Sizeof(trace{}))
)
