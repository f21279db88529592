// Package exchange lets the parts of a network, which step together, hand each other what all of them need: the fire
// queue of every burst, and rarely the rest. It says what travels, not how: Local joins the parts of one process,
// exchange/mpi those of many, and exchange/nccl those of which each has a GPU.
package exchange

import (
	"cmp"
	"errors"
	"fmt"

	"burst/connectome"
)

// Exchange is one part's end. One goroutine at a time uses it, but for Abort.
type Exchange interface {
	// Part is which part this is.
	Part() connectome.Part
	// Gather hands every part what each gives, in the order of the parts. All parts call it equally often; it returns once
	// all have. What it gives is valid until the part's next call; own may be changed as soon as it returns.
	Gather(own []uint32) (all [][]uint32, err error)
	// Abort lets the Gathers of all parts fail, those in progress too; where the parts are processes it may end them all,
	// this one included.
	Abort(cause error)
	// Close ends the part's membership; all parts call it.
	Close() error
}

// Gone is a part that has left: it gathers no more. Cause is empty where it ended well, or because another part failed.
type Gone struct {
	Part  int
	Cause string
}

// PartError is what went wrong in another part; its index is −1 where nobody knows which.
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

// Settle tells all parts of each other's errors. It gives nil where no part has one; else the first part that has one that
// error, and all others the same as a *PartError.
func Settle(x Exchange, own error) error {
	var words []uint32
	if own != nil {
		words = TextWords(own.Error())
	}
	all, err := x.Gather(words)
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

// Sum adds up a number over all parts, modulo 2^64.
func Sum(x Exchange, own uint64) (uint64, error) {
	all, err := x.Gather([]uint32{uint32(own), uint32(own >> 32)})
	sum := uint64(0)
	for _, words := range all {
		sum += uint64(words[1])<<32 | uint64(words[0])
	}
	return sum, err
}

// TextWords is a text as words, at least one.
func TextWords(s string) []uint32 {
	words := make([]uint32, 1+(len(s)+3)/4)
	words[0] = uint32(len(s))
	for i := range len(s) {
		words[1+i/4] |= uint32(s[i]) << (8 * (i % 4))
	}
	return words
}

// WordsText is the text of TextWords.
func WordsText(words []uint32) string {
	text := make([]byte, words[0])
	for i := range text {
		text[i] = byte(words[1+i/4] >> (8 * (i % 4)))
	}
	return string(text)
}

// ErrClosed is the cause where a part has left while others still gather.
var ErrClosed = errors.New("a part of the network has ended")
