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
	"burst/exchange"
)

// lookout is an exchange that notices when it waits in vain: for a part whose process, on this host, is gone. MPI would wait
// until the launcher ends everything, which takes mpirun two seconds and others longer.
type lookout struct {
	exchange.Exchange
	processes []*os.Process // of the other parts; nil on other hosts
	turns     atomic.Uint64 // gathers begun and ended: odd while one is in progress
	vain      uint64        // of turns, when look last saw a gather in progress and a part gone
}

// newLookout lets all parts tell each other their processes.
func newLookout(x exchange.Exchange) (*lookout, error) {
	here := place()
	all, err := x.Gather(exchange.TextWords(fmt.Sprintf("%d %s", os.Getpid(), here)))
	if err != nil {
		return nil, err
	}
	l := &lookout{Exchange: x, processes: make([]*os.Process, len(all))}
	for i, words := range all {
		text, where, _ := strings.Cut(exchange.WordsText(words), " ")
		if where != here || here == "" || i == x.Part().Index {
			continue
		}
		number, err := strconv.Atoi(text)
		if err != nil {
			return nil, fmt.Errorf("part %d tells %q, want a process: %w", i, text, err)
		}
		if l.processes[i], err = os.FindProcess(number); err != nil {
			return nil, fmt.Errorf("part %d: %w", i, err)
		}
	}
	return l, nil
}

// place names where the numbers of processes mean the same: this host while it is up, and of it this namespace; empty where the
// system does not tell.
func place() string {
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

func (l *lookout) Gather(own []uint32) ([][]uint32, error) {
	l.turns.Add(1)
	defer l.turns.Add(1)
	return l.Exchange.Gather(own)
}

// gone says that a part's process was on this host and is no more.
func (l *lookout) gone(part int) bool {
	p := l.processes[part]
	return p != nil && errors.Is(p.Signal(syscall.Signal(0)), os.ErrProcessDone)
}

// look says for which part this one waits in vain, −1 for none: it is gone, and the gather that the last look saw is still in
// progress, so that it is not for a message on its way.
func (l *lookout) look() int {
	before := l.vain
	l.vain = 0
	turn := l.turns.Load()
	if turn%2 == 0 {
		return -1
	}
	for part := range l.processes {
		if l.gone(part) {
			if l.vain = turn; turn == before {
				return part
			}
			return -1
		}
	}
	return -1
}

// watch looks, ten times a second, and calls end with what it finds; stop ends that.
func (l *lookout) watch(end func(part int)) (stop func()) {
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
				if part := l.look(); part >= 0 {
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

// giveUp ends this process, which waits for a part in vain. The first one left says so.
func (l *lookout) giveUp(part int) {
	own := l.Part()
	err := &exchange.PartError{
		Part: connectome.Part{Index: part, Of: own.Of},
		Text: fmt.Sprintf("its process, %d, is gone; resume the run from its last checkpoint", l.processes[part].Pid),
	}
	first := true
	for i := range own.Index {
		first = first && l.gone(i)
	}
	if first {
		fmt.Fprintln(os.Stderr, "burst:", err)
	}
	os.Exit(exitCode(err))
}
