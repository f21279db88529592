// Package plain puts errors of libraries and of the operating system, and sizes in bytes, into plain English.
package plain

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strconv"
	"strings"
	"syscall"
)

// Text is an error's text in which errors of files and of numbers that it wraps stand in plain words, and the
// names of libraries do not.
func Text(err error) string {
	return replaced(err.Error(), err)
}

// Sprintf is fmt.Sprintf, with the Text of errors, and float64 rounded to 15 digits: what was computed is then written as users write it,
// such as 0.3 for the sum of 0.1 and 0.2, and what has no more digits than that stays as it is.
func Sprintf(format string, args ...any) string {
	args = slices.Clone(args)
	for i, a := range args {
		switch x := a.(type) {
		case error:
			args[i] = Text(x)
		case float64:
			args[i] = rounded(x)
		}
	}
	return fmt.Sprintf(format, args...)
}

// rounded is x, rounded to 15 digits, unless that is infinite.
func rounded(x float64) float64 {
	if near, err := strconv.ParseFloat(strconv.FormatFloat(x, 'g', 15, 64), 64); err == nil {
		return near
	}
	return x
}

// replaced puts plain words into text for err and all that it wraps.
func replaced(text string, err error) string {
	for _, name := range []string{"parquet: ", "png: invalid format: ", "png: ", "arrow/ipc: "} {
		if said, found := strings.CutPrefix(err.Error(), name); found {
			text = strings.ReplaceAll(text, err.Error(), said)
		}
	}
	switch e := err.(type) {
	case *fs.PathError:
		return strings.ReplaceAll(text, e.Error(), file(e.Path, e.Err))
	case *os.LinkError:
		return strings.ReplaceAll(text, e.Error(), file(e.New, e.Err))
	case *strconv.NumError:
		return strings.ReplaceAll(text, e.Error(), number(e))
	case syscall.Errno:
		if said := state(e); said != "" {
			return strings.ReplaceAll(text, ": "+e.Error(), ", which "+said)
		}
		return text
	}
	switch e := err.(type) {
	case interface{ Unwrap() error }:
		if inner := e.Unwrap(); inner != nil {
			return replaced(text, inner)
		}
	case interface{ Unwrap() []error }:
		for _, inner := range e.Unwrap() {
			text = replaced(text, inner)
		}
	default: // what is wrapped only to tell the kind of an error that says all itself
		for _, kind := range []error{fs.ErrNotExist, fs.ErrExist, fs.ErrPermission} {
			if errors.Is(err, kind) {
				text = strings.ReplaceAll(text, ": "+kind.Error(), "")
			}
		}
		if errors.Is(err, io.ErrUnexpectedEOF) {
			text = strings.ReplaceAll(text, err.Error(), "it ends too soon")
		}
	}
	return text
}

// file is what is wrong with a path.
func file(path string, err error) string {
	if path == "" {
		path = "a file without a name"
	}
	if said := state(err); said != "" {
		return path + " " + said
	}
	return path + ": " + Text(err)
}

// state says what a path is, where that is what is wrong with it, or "".
func state(err error) string {
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "does not exist"
	case errors.Is(err, fs.ErrExist):
		return "exists already"
	case errors.Is(err, fs.ErrPermission):
		return "may not be opened or changed by this user"
	case errors.Is(err, syscall.EISDIR):
		return "is a folder"
	case errors.Is(err, syscall.ENOTDIR):
		return "is below a file, not a folder"
	case errors.Is(err, syscall.ENAMETOOLONG):
		return "has too long a name"
	}
	return ""
}

// number is what is wrong with a number.
func number(e *strconv.NumError) string {
	if errors.Is(e, strconv.ErrRange) {
		return fmt.Sprintf("%q is out of range", e.Num)
	}
	return fmt.Sprintf("%q is not a number", e.Num)
}

// Bytes is a size with the unit that suits it.
func Bytes(n uint64) string {
	switch {
	case n >= 1<<30:
		return fmt.Sprintf("%.2f GiB", float64(n)/(1<<30))
	case n >= 1<<20:
		return fmt.Sprintf("%.1f MiB", float64(n)/(1<<20))
	case n >= 1<<10:
		return fmt.Sprintf("%.1f KiB", float64(n)/(1<<10))
	case n == 1:
		return "1 byte"
	}
	return fmt.Sprintf("%d bytes", n)
}
