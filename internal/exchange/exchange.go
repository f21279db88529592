// Package exchange is how the parts of a network exchange data: the fire queue of every burst, and rarely other things. Its
// interface is an allgather of words. Local joins parts of one process, package mpi joins processes, and package nccl joins
// processes that have a GPU each.
package exchange

import (
	"cmp"
	"errors"
	"fmt"

	"burst/connectome"
)

// Exchange is one part's end of the connection. One goroutine at a time uses it, except for Abort.
type Exchange interface {
	// Part is which part this is.
	Part() connectome.Part
	// Allgather returns the words that each part gives, in the order of the parts. All parts must call it; it returns once all
	// have. The result is valid until this part's next call; own may be changed as soon as it returns.
	Allgather(own []uint32) (all [][]uint32, err error)
	// Abort makes the Allgathers of all parts fail, also those in progress. If the parts are processes, it may end them all, this
	// one included.
	Abort(cause error)
	// Close ends the part's membership; all parts call it.
	Close() error
}

// PartError is an error of another part. Its index is −1 if it is not known which part.
type PartError struct {
	Part connectome.Part
	Text string
}

func (e *PartError) Error() string {
	if e.Part.Index < 0 {
		return fmt.Sprintf("another of %d parts: %s", e.Part.Of, e.Text)
	}
	return fmt.Sprintf("part %d of %d: %s", e.Part.Index, e.Part.Of, e.Text)
}

// Settle shares the errors of all parts; all call it. It returns nil if no part has an error. Otherwise the first part with one
// gets its own error, and all others get that error as a *PartError.
func Settle(x Exchange, own error) error {
	var words []uint32
	if own != nil {
		words = TextWords(own.Error())
	}
	all, err := x.Allgather(words)
	if err != nil {
		return cmp.Or(own, err)
	}
	for i, words := range all {
		switch {
		case len(words) == 0:
		case i == x.Part().Index:
			return own
		default:
			return &PartError{connectome.Part{Index: i, Of: len(all)}, WordsText(words)}
		}
	}
	return nil
}

// Sum is the sum of own over all parts, modulo 2^64; all call it.
func Sum(x Exchange, own uint64) (uint64, error) {
	all, err := x.Allgather([]uint32{uint32(own), uint32(own >> 32)})
	sum := uint64(0)
	for _, words := range all {
		sum += uint64(words[1])<<32 | uint64(words[0])
	}
	return sum, err
}

// TextWords encodes a text as words: its length in bytes, then its bytes.
func TextWords(s string) []uint32 {
	words := make([]uint32, 1+(len(s)+3)/4)
	words[0] = uint32(len(s))
	for i := range len(s) {
		words[1+i/4] |= uint32(s[i]) << (8 * (i % 4))
	}
	return words
}

// WordsText decodes the words of TextWords.
func WordsText(words []uint32) string {
	text := make([]byte, words[0])
	for i := range text {
		text[i] = byte(words[1+i/4] >> (8 * (i % 4)))
	}
	return string(text)
}

// ErrClosed is the cause if a part has left while others still call Allgather.
var ErrClosed = errors.New("a part of the network has ended")
