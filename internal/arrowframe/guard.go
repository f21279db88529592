package arrowframe

import (
	"errors"
	"fmt"
	"runtime"
	"strings"
)

// errDamaged is the error of a file whose lengths or offsets made its reader fail.
var errDamaged = errors.New("is damaged: lengths or places that it names do not fit together; write it again, or take it from a copy")

// Guard, deferred by a function that calls a library's reader, turns a panic over a damaged file into an error, and takes the
// words of Go's runtime out of one.
func Guard(err *error) {
	r := recover()
	if r == nil {
		*err = Plain(*err)
		return
	}
	if text, is := r.(string); is && strings.HasPrefix(text, "BUG:") {
		panic(r)
	}
	if cause, is := r.(error); is {
		*err = Plain(cause)
		return
	}
	*err = Plain(fmt.Errorf("%w (%v)", errDamaged, r))
}

// Plain is err, or errDamaged in place of one that comes of a panic of Go's runtime: libraries recover from some themselves.
func Plain(err error) error {
	if err == nil {
		return nil
	}
	if errors.As(err, new(runtime.Error)) || strings.Contains(err.Error(), "runtime error") {
		return errDamaged
	}
	return err
}
