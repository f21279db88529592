package main

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"burst/connectome"
	"burst/internal/exchange"
)

// watchdog is an exchange that notices when another part's process on this host has died while this part waits for it. MPI
// itself would wait until the launcher ends all processes: two seconds with mpirun, longer with others.
type watchdog struct {
	exchange.Exchange
	processes []*os.Process // of the other parts; nil where they run on other hosts
	turns     atomic.Uint64 // calls of Allgather begun and ended: odd while one is in progress
	suspect   uint64        // turns when look last found a dead process during a call
}

// newWatchdog lets all parts tell each other their process ids. All parts call it.
func newWatchdog(x exchange.Exchange) (*watchdog, error) {
	here := pidNamespace()
	all, err := x.Allgather(exchange.TextWords(fmt.Sprintf("%d %s", os.Getpid(), here)))
	if err != nil {
		return nil, err
	}
	w := &watchdog{Exchange: x, processes: make([]*os.Process, len(all))}
	for i, words := range all {
		text, where, _ := strings.Cut(exchange.WordsText(words), " ")
		if where != here || here == "" || i == x.Part().Index {
			continue
		}
		number, err := strconv.Atoi(text)
		if err != nil {
			return nil, fmt.Errorf("part %d sent %q, want a process id: %w", i, text, err)
		}
		if w.processes[i], err = os.FindProcess(number); err != nil {
			return nil, fmt.Errorf("part %d: %w", i, err)
		}
	}
	return w, nil
}

// pidNamespace names the set of processes in which a process id is unique: this host since its last boot, and this namespace
// of it. It is empty where the system does not tell.
func pidNamespace() string {
	boot, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return ""
	}
	namespace, err := os.Readlink("/proc/self/ns/pid")
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(boot)) + " " + namespace
}

func (w *watchdog) Allgather(own []uint32) ([][]uint32, error) {
	w.turns.Add(1)
	defer w.turns.Add(1)
	return w.Exchange.Allgather(own)
}

// gone reports whether a part's process ran on this host and has ended.
func (w *watchdog) gone(part int) bool {
	p := w.processes[part]
	return p != nil && errors.Is(p.Signal(syscall.Signal(0)), os.ErrProcessDone)
}

// look returns a part whose process has died while this part waits for it, −1 for none. The same call of Allgather must be in
// progress at two looks: at the first one a message that was sent before the death may still be on its way.
func (w *watchdog) look() int {
	before := w.suspect
	w.suspect = 0
	turn := w.turns.Load()
	if turn%2 == 0 {
		return -1
	}
	for part := range w.processes {
		if w.gone(part) {
			if w.suspect = turn; turn == before {
				return part
			}
			return -1
		}
	}
	return -1
}

// watch looks ten times a second and calls end with each dead part it finds, until stop is called.
func (w *watchdog) watch(end func(part int)) (stop func()) {
	done := make(chan struct{})
	var watching sync.WaitGroup
	watching.Go(func() {
		tick := time.NewTicker(100 * time.Millisecond)
		defer tick.Stop()
		for {
			select {
			case <-done:
				return
			case <-tick.C:
				if part := w.look(); part >= 0 {
					end(part)
				}
			}
		}
	})
	return func() {
		close(done)
		watching.Wait()
	}
}

// giveUp ends this process after another part's process has died. The first process that is left prints the error.
func (w *watchdog) giveUp(part int) {
	own := w.Part()
	err := &exchange.PartError{
		Part: connectome.Part{Index: part, Of: own.Of},
		Text: fmt.Sprintf("its process, %d, is gone; resume the run from its last checkpoint", w.processes[part].Pid),
	}
	first := true
	for i := range own.Index {
		first = first && w.gone(i)
	}
	if first {
		fmt.Fprintln(os.Stderr, "burst:", err)
	}
	os.Exit(exitCode(err))
}
