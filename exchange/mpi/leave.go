package mpi

import (
	"cmp"
	"errors"
	"strings"

	"burst/exchange"
	"burst/internal/clib"
)

// A message of a part that leaves has one length: the part, whether it has a cause, and the cause as exchange.TextWords.
// It is short enough for every library to hand it over without waiting for the receiver.
const (
	leaveWords  = 128
	leaveTag    = 1
	longestText = 4*(leaveWords-3) - 4 // bytes
)

// lastWords are what the parts say when they leave.
type lastWords struct {
	said     bool
	mine, in [leaveWords]uint32
	status   [16]uint64 // an MPI_Status, which no known library makes longer than a fifth of this
	flag     int32
	request  uint64
	gone     []exchange.Gone
}

// Leave tells every other part, once, that this one gathers no more; cause is its own failure, nil where there is none.
func (w *World) Leave(cause error) error {
	l := &w.last
	if l.said {
		return nil
	}
	l.said = true
	l.mine[0] = uint32(w.part.Index)
	if cause != nil {
		text := cause.Error()
		l.mine[1] = 1
		copy(l.mine[2:], exchange.TextWords(strings.ToValidUTF8(text[:min(len(text), longestText)], "")))
	}
	var wrong error
	for to := range w.part.Of {
		if to == w.part.Index {
			continue
		}
		rc := call(w.fn[isend], clib.Ptr(&l.mine), clib.Int(leaveWords), clib.Int(w.words), clib.Int(to), clib.Int(leaveTag), clib.Int(w.comm), clib.Ptr(&l.request))
		if rc == 0 {
			rc = call(w.fn[requestFree], clib.Ptr(&l.request))
		}
		wrong = errors.Join(wrong, refused("MPI_Isend", rc))
	}
	return wrong
}

// Left lists the other parts that have left, in the order in which that became known here.
func (w *World) Left() ([]exchange.Gone, error) {
	l := &w.last
	for {
		if rc := call(w.fn[iprobe], clib.Int(w.any), clib.Int(leaveTag), clib.Int(w.comm), clib.Ptr(&l.flag), clib.Ptr(&l.status)); rc != 0 || l.flag == 0 {
			return l.gone, refused("MPI_Iprobe", rc)
		}
		if rc := call(w.fn[recv], clib.Ptr(&l.in), clib.Int(leaveWords), clib.Int(w.words), clib.Int(w.any), clib.Int(leaveTag), clib.Int(w.comm), clib.Ptr(&l.status)); rc != 0 {
			return l.gone, refused("MPI_Recv", rc)
		}
		gone := exchange.Gone{Part: int(l.in[0])}
		if l.in[1] != 0 {
			gone.Cause = cmp.Or(exchange.WordsText(l.in[2:]), "failed")
		}
		l.gone = append(l.gone, gone)
	}
}
