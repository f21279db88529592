package main

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"syscall"

	"burst/backend"
	"burst/backend/cuda"
	"burst/checkpoint"
	"burst/connectome"
	"burst/engine"
	"burst/genome"
	"burst/internal/cuda/driver"
	"burst/internal/exchange"
	"burst/internal/exchange/nccl"
	"burst/record/runfolder"

	"github.com/spf13/cobra"
)

// The exit statuses; they are stable.
const (
	exitOK          = 0
	exitOther       = 1
	exitUsage       = 2
	exitGenome      = 3
	exitLimit       = 4
	exitDevice      = 5
	exitFile        = 6
	exitDamaged     = 7
	exitAssertion   = 8
	exitPart        = 9
	exitInterrupted = 130
	exitTerminated  = 143
)

const exitCodes = `Exit statuses of burst:

    0  success
    1  another error
    2  wrong command line
    3  the genome is invalid
    4  refused: too large, or too little memory
    5  device fault; or the backend, or NCCL if it was asked for, is not available on this machine
    6  a file could not be read or written, or another process runs in the folder
    7  a checkpoint or recording is damaged, or belongs to another network
    8  an assertion failed: --expect-digest or --expect-weights, replay, or verify or diff found a difference
    9  another process of the run failed; the error names it
  130  interrupted (Ctrl-C): stopped after a burst, with a checkpoint unless --no-out; at once while the network is built
  143  terminated (SIGTERM): the same
`

// newExitCodesTopic is a help topic, not a command that runs.
func newExitCodesTopic() *cobra.Command {
	return &cobra.Command{Use: "exit-codes", Short: "The exit statuses and their meaning", Long: exitCodes}
}

// stopped is a run that a signal ended.
type stopped struct{ code int }

func (s stopped) Error() string { return "" }

// deviceFault is the error of a GPU that exists but must not be used.
type deviceFault struct{ error }

// assertionError is the error of something that the user asked to check and that does not hold.
type assertionError struct{ error }

// exitCode is the exit status that belongs to an error. A LimitError wraps the fault that gives its place, so it comes
// before faults; a device without memory wraps what the driver said, so it comes before the driver's errors.
func exitCode(err error) int {
	var (
		u usageError
		s stopped
		a assertionError
		x deviceFault
		l *connectome.LimitError
		f genome.Faults
		h *backend.MemoryError
		b *cuda.LearningError
		m *cuda.MemoryError
		g *driver.Error
		n *nccl.Error
		d *runfolder.DamagedError // and that of checkpoint
		v *checkpoint.VersionError
		e *engine.DeviceError
		p *exchange.PartError
	)
	switch {
	case err == nil:
		return exitOK
	case errors.As(err, &s):
		return s.code
	case errors.As(err, &u), errors.As(err, &b):
		return exitUsage
	case errors.As(err, &a):
		return exitAssertion
	case errors.As(err, &l), errors.As(err, &h), errors.As(err, &m):
		return exitLimit
	case errors.As(err, &f):
		return exitGenome
	case errors.As(err, &x), errors.Is(err, engine.ErrUnavailable), errors.Is(err, nccl.ErrUnavailable), errors.As(err, &e), errors.As(err, &g), errors.As(err, &n):
		return exitDevice
	case errors.As(err, &d), errors.As(err, &v):
		return exitDamaged
	case errors.As(err, &p):
		return exitPart
	case isFileError(err):
		return exitFile
	case errors.Is(err, context.Canceled):
		return exitInterrupted
	}
	return exitOther
}

// isFileError reports whether the system refused something about a file: package os wraps that in several ways.
func isFileError(err error) bool {
	var (
		p *fs.PathError
		l *os.LinkError
		s *os.SyscallError
		n syscall.Errno
	)
	return errors.As(err, &p) || errors.As(err, &l) || errors.As(err, &s) || errors.As(err, &n) ||
		errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrExist) || errors.Is(err, fs.ErrPermission) || errors.Is(err, fs.ErrClosed)
}
