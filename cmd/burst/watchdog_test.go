package main

import (
	"errors"
	"os"
	"os/exec"
	"runtime"
	"testing"

	"burst/internal/exchange"

	"github.com/stretchr/testify/require"
)

// endedProcess is a process that has ended, opened while it ran.
func endedProcess(t *testing.T) *os.Process {
	t.Helper()
	cmd := exec.Command(os.Args[0], "-test.run", "^$")
	require.NoError(t, cmd.Start())
	p := found(t, cmd.Process.Pid)
	require.NoError(t, cmd.Wait())
	return p
}

func found(t *testing.T, number int) *os.Process {
	t.Helper()
	p, err := os.FindProcess(number)
	require.NoError(t, err)
	return p
}

// The watchdog reports a part only if its process has died and one Allgather stays in progress: not between two calls, not
// while a message that was sent before the death may arrive, and never a part on another host.
func TestWatchdog(t *testing.T) {
	ends := exchange.Local(2)
	w := &watchdog{Exchange: ends[0], processes: []*os.Process{nil, endedProcess(t)}}
	gather := func() chan error {
		turn, done := w.turns.Load(), make(chan error, 1)
		go func() {
			_, err := w.Allgather(nil)
			done <- err
		}()
		for w.turns.Load() == turn {
			runtime.Gosched()
		}
		return done
	}
	for range 3 {
		require.Equal(t, -1, w.look(), "it does not wait")
	}
	done := gather()
	require.Equal(t, -1, w.look(), "a message may be on its way")
	_, err := ends[1].Allgather(nil)
	require.NoError(t, errors.Join(err, <-done))
	require.Equal(t, -1, w.look())
	done = gather()
	require.Equal(t, -1, w.look(), "this is another gather")
	require.Equal(t, 1, w.look())
	for _, p := range []*os.Process{found(t, os.Getpid()), found(t, os.Getppid()), nil} { // alive, alive, elsewhere
		w.processes[1] = p
		for range 3 {
			require.Equal(t, -1, w.look())
		}
	}
	w.processes[1] = endedProcess(t)
	vain := make(chan int)
	stop := w.watch(func(part int) {
		select {
		case vain <- part:
		default: // it was found before
		}
	})
	require.Equal(t, 1, <-vain)
	stop()
	ends[1].Abort(errors.New("enough"))
	require.Error(t, <-done)
}

// Parts of one host know each other's processes.
func TestWatchdogKnowsProcesses(t *testing.T) {
	if pidNamespace() == "" {
		t.Skip("the system has no boot id or no pid namespaces")
	}
	ends := exchange.Local(3)
	made := make(chan *watchdog)
	for _, x := range ends[:2] {
		go func() {
			w, err := newWatchdog(x)
			if err != nil {
				w = nil
			}
			made <- w
		}()
	}
	_, err := ends[2].Allgather(exchange.TextWords("17 another host"))
	require.NoError(t, err)
	for range 2 {
		w := <-made
		require.NotNil(t, w)
		want := []int{os.Getpid(), os.Getpid(), 0}
		want[w.Part().Index] = 0
		for i, p := range w.processes {
			number := 0
			if p != nil {
				number = p.Pid
			}
			require.Equal(t, want[i], number, "part %d", i)
		}
	}
}
