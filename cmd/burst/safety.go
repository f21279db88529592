package main

import (
	"errors"
	"fmt"
	"math"
	"os"
	"runtime/debug"
	"strconv"
	"strings"
	"syscall"

	"burst/connectome"
	"burst/run"

	"github.com/spf13/cobra"
)

// What --on-device-fault allows.
const (
	faultStop  = string(run.Stop)
	faultRetry = string(run.Retry)
	faultCPU   = string(run.CPU)
)

// safety adds the flags that say what happens when something goes wrong.
func (o *runOptions) safety(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&o.every, "checkpoint-every", "", "save a checkpoint every N bursts, or after a time such as 5m; the last 3 are kept")
	f.StringVar(&o.onFault, "on-device-fault", faultStop, "stop; retry: resume once from the last checkpoint in a new process; cpu: the same on the cpu backend")
	f.Var(&o.memory, "max-memory", "refuse what would need more memory, such as 4GiB or 800MB (default: what the machine has free)")
	if err := cmd.RegisterFlagCompletionFunc("on-device-fault", cobra.FixedCompletions(run.Actions(), cobra.ShellCompDirectiveNoFileComp)); err != nil {
		panic("BUG: " + err.Error())
	}
}

// checkFault refuses a word that --on-device-fault does not know, and going on without a folder to go on in.
func (o *runOptions) checkFault() error {
	switch o.onFault {
	case faultStop:
		return nil
	case faultRetry, faultCPU:
		if o.keep.noOut {
			return usageError{fmt.Errorf("--on-device-fault %s needs the run's folder, and --no-out writes none", o.onFault)}
		}
		return nil
	}
	return checkChoice("--on-device-fault", o.onFault, run.Actions())
}

// afterFault goes on with a run whose device failed, where --on-device-fault says so. A failed device may be lost for its
// process, so this process becomes a new one; that one stops at the next fault.
func (r *runner) afterFault(err error) error {
	if r.Run == nil || !r.LeavesFault(err) {
		return err
	}
	args := []string{"burst", "resume", r.Folder, "--on-device-fault", faultStop, "--threads", strconv.Itoa(r.o.threads)}
	if r.o.onFault == faultCPU {
		args = append(args, "--backend", "cpu")
	} else {
		args = append(args, r.o.gpus.arguments()...)
	}
	for flag, given := range map[string]bool{"--json": r.o.json, "--quiet": r.o.quiet} {
		if given {
			args = append(args, flag)
		}
	}
	args = append(args, r.o.expected.arguments()...)
	if r.o.memory > 0 {
		args = append(args, "--max-memory", r.o.memory.String())
	}
	self, missing := os.Executable()
	if missing != nil {
		return errors.Join(err, missing)
	}
	r.progress.line("%v\ngoing on: %s", err, strings.Join(args, " "))
	return errors.Join(err, syscall.Exec(self, args, os.Environ()))
}

// memoryLimit is a number of bytes; 0 is what the machine has free. It is the flag's pflag.Value.
type memoryLimit uint64

// units of --max-memory, longest first where one ends with another.
var memoryUnits = []struct {
	name  string
	bytes uint64
}{{"KiB", 1 << 10}, {"MiB", 1 << 20}, {"GiB", 1 << 30}, {"TiB", 1 << 40}, {"kB", 1e3}, {"MB", 1e6}, {"GB", 1e9}, {"TB", 1e12}, {"B", 1}, {"", 1}}

// Set reads a size.
func (m *memoryLimit) Set(s string) error {
	for _, u := range memoryUnits {
		number, found := strings.CutSuffix(strings.TrimSpace(s), u.name)
		if !found {
			continue
		}
		x, err := strconv.ParseFloat(strings.TrimSpace(number), 64)
		if bytes := x * float64(u.bytes); err == nil && bytes >= 1 && bytes < 1<<62 {
			*m = memoryLimit(bytes)
			return nil
		}
		break
	}
	return errors.New("want a size such as 4GiB, 800MB or 123456")
}

// String is the size as Set reads it.
func (m *memoryLimit) String() string { return strconv.FormatUint(uint64(*m), 10) }

// Type names the flag's value in the help.
func (m *memoryLimit) Type() string { return "SIZE" }

// apply makes the garbage collector work harder before the limit, or nine tenths of what the machine has free, is passed,
// and gives the limit for the builder; so many processes share what is free. A GOMEMLIMIT of the user's stays.
func (m memoryLimit) apply(sharers int) uint64 {
	soft := uint64(m)
	if m == 0 {
		soft = connectome.AvailableMemory() / uint64(sharers) / 10 * 9
	}
	if debug.SetMemoryLimit(-1) == math.MaxInt64 {
		debug.SetMemoryLimit(int64(min(soft, math.MaxInt64)))
	}
	return uint64(m)
}
