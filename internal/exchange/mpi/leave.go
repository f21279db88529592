package mpi

import (
	"cmp"
	"errors"
	"strings"

	"burst/internal/clib"
	"burst/internal/exchange"
)

// The message of a part that leaves has a fixed length: the part, whether it has a cause, and the cause as
// exchange.TextWords. It is short enough that every library sends it without waiting for the receiver.
const (
	leaveWords  = 128
	leaveTag    = 1
	longestText = 4*(leaveWords-3) - 4 // bytes
)

// lastWords are the messages of parts that leave.
type lastWords struct {
	said     bool
	mine, in [leaveWords]uint32
	status   [16]uint64 // an MPI_Status, which no known library makes longer than a fifth of this
	flag     int32
	request  uint64
	gone     []int
	causes   []string // of gone
}

// Leave tells every other part, once, that this one leaves. cause is this part's own error, nil without one.
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

// Left lists the other parts that have left, in the order in which that became known here, and their causes.
func (w *World) Left() (parts []int, causes []string, err error) {
	l := &w.last
	for {
		if rc := call(w.fn[iprobe], clib.Int(w.any), clib.Int(leaveTag), clib.Int(w.comm), clib.Ptr(&l.flag), clib.Ptr(&l.status)); rc != 0 || l.flag == 0 {
			return l.gone, l.causes, refused("MPI_Iprobe", rc)
		}
		if rc := call(w.fn[recv], clib.Ptr(&l.in), clib.Int(leaveWords), clib.Int(w.words), clib.Int(w.any), clib.Int(leaveTag), clib.Int(w.comm), clib.Ptr(&l.status)); rc != 0 {
			return l.gone, l.causes, refused("MPI_Recv", rc)
		}
		cause := ""
		if l.in[1] != 0 {
			cause = cmp.Or(exchange.WordsText(l.in[2:]), "failed")
		}
		l.gone, l.causes = append(l.gone, int(l.in[0])), append(l.causes, cause)
	}
}
