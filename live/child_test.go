package live_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"sync"
	"testing"
	"time"

	"burst/genome"
	"burst/genomes"
	"burst/internal/cuda/cudatest"
	"burst/internal/slow"
	"burst/live"
	"burst/record/manifest"
	"burst/run"

	"github.com/stretchr/testify/require"
)

var long = flag.Bool("long", false, "replay sessions as often and for as long as the promise says")

// asChild is the variable by which the test's program becomes a session that can be killed: its folder.
const asChild = "BURST_LIVE_CHILD"

// TestMain fails when a test has left a goroutine behind.
func TestMain(m *testing.M) {
	if dir := os.Getenv(asChild); dir != "" {
		if err := child(dir); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	cudatest.Verify(m)
}

// child runs quickstart at 20 kHz with three feeders that jitter, until it has run its bursts. It goes on where an earlier one was
// killed.
func child(dir string) error {
	bursts, err := strconv.ParseUint(os.Getenv(asChild+"_BURSTS"), 10, 64)
	if err != nil {
		return err
	}
	ctx := context.Background()
	o := live.Options{Options: run.Options{Backend: "cpu", Threads: 1, Folder: dir, Rate: "20kHz", Bursts: bursts, Checkpoints: "500"}}
	var s *live.Session
	if _, there := os.Stat(filepath.Join(dir, "manifest.json")); there == nil {
		o.Folder = ""
		s, err = live.Resume(ctx, dir, o)
	} else {
		if err := os.RemoveAll(dir); err != nil { // killed before there was anything
			return err
		}
		var text []byte
		if text, err = genomes.Text("quickstart"); err != nil {
			return err
		}
		var g *genome.Genome
		if g, err = genome.Parse("quickstart.yaml", text, genomes.Open); err != nil {
			return err
		}
		g.Name = "quickstart"
		s, err = live.New(ctx, g, o)
	}
	if err != nil {
		return err
	}
	feeding, stop := context.WithCancel(ctx)
	var feeders sync.WaitGroup
	failed := make(chan error, 3)
	for i, b := range []live.Binding{
		{Name: "retina", Place: live.Place{Area: "retina"}, Largest: 3, HoldFor: 40},
		{Name: "again", Place: live.Place{Area: "retina"}, Largest: 2, Once: true},
		{Name: "cortex", Place: live.Place{Area: "cortex"}, Largest: 1},
	} {
		feeders.Go(func() { failed <- feed(feeding, s, i, b) })
	}
	err = s.Run(ctx)
	stop()
	feeders.Wait()
	return errors.Join(err, <-failed, <-failed, <-failed, s.Close())
}

// feed sets an input now and then, now and then all of it, and comes and goes.
func feed(ctx context.Context, s *live.Session, i int, b live.Binding) error {
	random := rand.New(rand.NewPCG(uint64(time.Now().UnixNano()), uint64(i)))
	for ctx.Err() == nil {
		f := s.Feeder(b.Name)
		in, err := f.Bind(b)
		if err != nil {
			return err
		}
		amounts := make([]float32, in.Entries())
		for range 1 + random.IntN(200) {
			for range 1 + random.IntN(9) {
				amounts[random.IntN(len(amounts))] = b.Largest * (2*random.Float32() - 1)
			}
			if err := f.Set(live.Value{To: in, Amounts: amounts}); err != nil {
				return err
			}
			if i == 0 && random.IntN(500) == 0 {
				if err := errors.Join(s.Switch(0, random.IntN(2) == 0), s.Reset()); err != nil {
					return err
				}
			}
			select {
			case <-ctx.Done():
			case <-time.After(time.Duration(random.IntN(1500)) * time.Microsecond):
			}
		}
		f.Close()
	}
	return nil
}

// TestR8Replay: a session at 20 kHz with three feeders that jitter, killed and resumed now and then, replays to its digest on every
// backend and number of threads.
func TestR8Replay(t *testing.T) {
	slow.Short(t)
	sessions, bursts, kills := slow.Times(1, 3), 6000, slow.Times(2, 4)
	if *long {
		sessions, bursts, kills = 20, 100_000, 6
	}
	self, err := os.Executable()
	require.NoError(t, err)
	random := rand.New(rand.NewPCG(8, 8))
	same, killed, events := 0, 0, 0
	for i := range sessions {
		dir := filepath.Join(t.TempDir(), strconv.Itoa(i))
		for left := kills; ; left-- {
			cmd := exec.Command(self)
			cmd.Env = append(os.Environ(), asChild+"="+dir, fmt.Sprint(asChild, "_BURSTS=", bursts))
			out, err := os.Create(filepath.Join(t.TempDir(), "out"))
			require.NoError(t, err)
			cmd.Stdout, cmd.Stderr = out, out
			require.NoError(t, cmd.Start())
			if left > 0 {
				until := time.Now().Add(time.Duration(random.IntN(bursts/20/kills)) * time.Millisecond)
				for time.Now().Before(until) || left%2 == 0 && !there(filepath.Join(dir, manifest.InputsLog)) && time.Since(until) < time.Minute {
					time.Sleep(time.Millisecond / 10) // half of the kills may come before there is a log
				}
				require.NoError(t, cmd.Process.Kill())
				killed++
			}
			err = cmd.Wait()
			text, _ := os.ReadFile(out.Name())
			require.NoError(t, out.Close())
			if left <= 0 || err == nil {
				require.NoError(t, err, "%s", text)
				break
			}
			require.Empty(t, string(text))
		}
		m := ended(t, dir, manifest.Complete)
		require.EqualValues(t, bursts, m.Bursts)
		events += len(logged(t, dir))
		for _, on := range []struct {
			backend string
			threads int
		}{{"reference", 0}, {"cpu", 1}, {"cpu", 3}} {
			require.Equal(t, m.Digest, replayed(t, dir, on.backend, on.threads), "%s with %d threads", on.backend, on.threads)
		}
		same++
		require.NoError(t, os.RemoveAll(dir))
	}
	t.Logf("R8: %d of %d sessions of %d bursts, with %d kills and %d entries in their logs, replayed to the same digest", same, sessions, bursts, killed, events)
}

func there(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}
