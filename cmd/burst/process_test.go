package main

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"burst/checkpoint"
	"burst/run"

	"github.com/stretchr/testify/require"
)

// process is burst in a process of its own, so that it can be signalled and killed.
type process struct {
	cmd    *exec.Cmd
	stderr bytes.Buffer  // to be read after ended
	ended  chan struct{} // closed when the process has ended, with err
	err    error
}

// spawn starts a process.
func spawn(t *testing.T, env []string, args ...string) *process {
	t.Helper()
	self, err := os.Executable()
	require.NoError(t, err)
	p := &process{cmd: exec.Command(self, args...), ended: make(chan struct{})}
	p.cmd.Env = append(append(os.Environ(), asBurst+"=1"), env...)
	p.cmd.Stderr = &p.stderr
	require.NoError(t, p.cmd.Start())
	go func() {
		p.err = p.cmd.Wait()
		close(p.ended)
	}()
	return p
}

// until returns when something has been seen, or the process has ended, however long that takes.
func (p *process) until(seen func() bool) {
	for !seen() {
		select {
		case <-p.ended:
			return
		case <-time.After(100 * time.Microsecond):
		}
	}
}

// signal sends a signal; a process that has ended already does not mind.
func (p *process) signal(t *testing.T, s os.Signal) {
	t.Helper()
	if err := p.cmd.Process.Signal(s); !errors.Is(err, os.ErrProcessDone) {
		require.NoError(t, err)
	}
}

// wait gives how the process ended.
func (p *process) wait() error {
	<-p.ended
	return p.err
}

// there says whether a file is there.
func there(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// moment is a random point of a run's progress in out: it has saved a checkpoint of some burst or a later one, or has
// recorded some bytes; half of the moments are in the middle of saving a checkpoint.
func moment(out string, random *rand.Rand) func() bool {
	folder := filepath.Join(out, run.CheckpointFolder)
	burst, bytes := uint64(5*random.IntN(110)), int64(0)
	if random.IntN(3) == 0 {
		burst, bytes = 0, random.Int64N(1<<20)
	}
	saving := random.IntN(2) == 0
	return func() bool {
		info, err := os.Stat(filepath.Join(out, "spikes.arrows"))
		saved, _ := checkpoint.List(checkpoint.OS{}, folder)
		return err == nil && info.Size() >= bytes && (burst == 0 || len(saved) > 0 && saved[len(saved)-1] >= burst) &&
			(!saving || there(filepath.Join(folder, "unfinished.tmp")))
	}
}
