package plain

import (
	"errors"
	"fmt"
	"image/png"
	"io"
	"io/fs"
	"math"
	"os"
	"strconv"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestText(t *testing.T) {
	_, missing := os.Stat("no/such")
	_, below := os.Stat("plain.go/x")
	_, syntax := strconv.ParseInt("x", 10, 64)
	_, large := strconv.ParseUint("99999999999999999999", 10, 64)
	for want, err := range map[string]error{
		"record: no/such does not exist (want a folder)":                fmt.Errorf("record: %w (want a folder)", missing),
		"plain.go/x is below a file, not a folder":                      below,
		`found "x.csv", which does not exist`:                           fmt.Errorf("found %q: %w", "x.csv", syscall.ENOENT),
		"r has no recording of fcl":                                     fmt.Errorf("r has no recording of fcl: %w", fs.ErrNotExist),
		`line 3: "x" is not a number`:                                   fmt.Errorf("line 3: %w", syntax),
		`"99999999999999999999" is out of range`:                        large,
		"x: no space left on device":                                    &fs.PathError{Op: "write", Path: "x", Err: syscall.ENOSPC},
		"b exists already":                                              &os.LinkError{Op: "link", Old: "a", New: "b", Err: syscall.EEXIST},
		"a does not exist\nb may not be opened or changed by this user": errors.Join(&fs.PathError{Op: "open", Path: "a", Err: syscall.ENOENT}, &fs.PathError{Op: "open", Path: "b", Err: syscall.EACCES}),
		"a file without a name does not exist":                          &fs.PathError{Op: "stat", Path: "", Err: syscall.ENOENT},
		"x: expects a regular file, found a pipe":                       &fs.PathError{Op: "open", Path: "x", Err: errors.New("expects a regular file, found a pipe")},
		"found x.png: it ends too soon":                                 fmt.Errorf("found x.png: %w", io.ErrUnexpectedEOF),
		"bad.png: not a PNG file":                                       fmt.Errorf("bad.png: %w", png.FormatError("not a PNG file")),
		"anything else":                                                 errors.New("anything else"),
	} {
		assert.Equal(t, want, Text(err))
	}
}

func TestSprintf(t *testing.T) {
	args := []any{3, &fs.PathError{Op: "open", Path: "x", Err: syscall.ENOENT}, "y"}
	assert.Equal(t, "3: x does not exist, y", Sprintf("%d: %v, %s", args...))
	assert.IsType(t, &fs.PathError{}, args[1])
	tenth, fifth := 0.1, 0.2
	assert.Equal(t, "0.3 mV, 0.8, 3, +Inf, 1.2345678901234e+20", Sprintf("%v mV, %g, %v, %g, %v", tenth+fifth, 0.7+tenth, (tenth+fifth)/tenth, math.Inf(1), 1.2345678901234e20))
	assert.Equal(t, "NaN, 1.79769313486232e+308", Sprintf("%v, %.15g", math.NaN(), math.MaxFloat64))
}

func TestBytes(t *testing.T) {
	for n, want := range map[uint64]string{0: "0 bytes", 1: "1 byte", 20: "20 bytes", 1023: "1023 bytes", 1024: "1.0 KiB", 5140: "5.0 KiB", 3 << 20: "3.0 MiB", 5 << 29: "2.50 GiB"} {
		assert.Equal(t, want, Bytes(n))
	}
}
