package main

import (
	"errors"
	"os"
	"os/exec"
	"runtime"
	"testing"

	"burst/exchange"

	"github.com/stretchr/testify/require"
)

// endedProcess is a process that is no more, known since it was there.
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

// A part waits in vain only where another one's process is gone and one gather goes on: not while it gathers nothing, not
// for a message that a part has sent before it went, not for a part on another host.
func TestLookout(t *testing.T) {
	ends := exchange.Local(2)
	l := &lookout{Exchange: ends[0], processes: []*os.Process{nil, endedProcess(t)}}
	gather := func() chan error {
		turn, done := l.turns.Load(), make(chan error, 1)
		go func() {
			_, err := l.Gather(nil)
			done <- err
		}()
		for l.turns.Load() == turn {
			runtime.Gosched()
		}
		return done
	}
	for range 3 {
		require.Equal(t, -1, l.look(), "it does not wait")
	}
	done := gather()
	require.Equal(t, -1, l.look(), "a message may be on its way")
	_, err := ends[1].Gather(nil)
	require.NoError(t, errors.Join(err, <-done))
	require.Equal(t, -1, l.look())
	done = gather()
	require.Equal(t, -1, l.look(), "this is another gather")
	require.Equal(t, 1, l.look())
	for _, p := range []*os.Process{found(t, os.Getpid()), found(t, os.Getppid()), nil} { // alive, alive, elsewhere
		l.processes[1] = p
		for range 3 {
			require.Equal(t, -1, l.look())
		}
	}
	l.processes[1] = endedProcess(t)
	vain := make(chan int)
	stop := l.watch(func(part int) {
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

// Parts know each other's processes where they are on one host.
func TestLookoutKnowsProcesses(t *testing.T) {
	if place() == "" {
		t.Skip("the system does not tell where its processes are")
	}
	ends := exchange.Local(3)
	made := make(chan *lookout)
	for _, x := range ends[:2] {
		go func() {
			l, err := newLookout(x)
			if err != nil {
				l = nil
			}
			made <- l
		}()
	}
	_, err := ends[2].Gather(exchange.TextWords("17 another host"))
	require.NoError(t, err)
	for range 2 {
		l := <-made
		require.NotNil(t, l)
		want := []int{os.Getpid(), os.Getpid(), 0}
		want[l.Part().Index] = 0
		for i, p := range l.processes {
			number := 0
			if p != nil {
				number = p.Pid
			}
			require.Equal(t, want[i], number, "part %d", i)
		}
	}
}
