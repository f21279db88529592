package main

import (
	"burst/internal/slow"
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"burst/genome"
	"burst/live"
	"burst/record/manifest"
	"burst/record/runfolder"
	"burst/run"

	"github.com/stretchr/testify/require"
)

// played is a live run of lively with input, held and once, a reset and a checkpoint, as it is after close, which may be nothing: then it was killed.
func played(t *testing.T, bursts uint64, ends func(*live.Session) error) (dir string) {
	t.Helper()
	g, err := genome.Parse("net.yaml", []byte(busy), nil)
	require.NoError(t, err)
	dir = filepath.Join(t.TempDir(), "live")
	s, err := live.New(t.Context(), g, live.Options{Options: run.Options{Backend: "cpu", Threads: 1, Folder: dir, Bursts: bursts, Rate: "9kHz", Record: []string{"spikes=few"}}})
	require.NoError(t, err)
	defer s.Close()
	in, err := s.Feeder("x").Bind(live.Binding{Place: live.Place{Area: "few"}, Largest: 1})
	require.NoError(t, err)
	for i := range uint32(6) {
		require.NoError(t, s.Step(t.Context(), 5, live.Value{To: in, At: []uint32{i, i + 7}, Amounts: []float32{1, 0.5}}))
		switch i {
		case 2:
			require.NoError(t, s.Checkpoint())
		case 4:
			require.NoError(t, s.Reset())
		}
	}
	if ends != nil {
		require.NoError(t, ends(s))
		return dir
	}
	killed := filepath.Join(t.TempDir(), "killed")
	require.Eventually(t, func() bool {
		saved, err := os.ReadDir(filepath.Join(dir, run.CheckpointFolder))
		return err == nil && len(saved) == 1 && filepath.Ext(saved[0].Name()) == ".checkpoint"
	}, time.Minute, time.Millisecond)
	require.NoError(t, os.CopyFS(killed, os.DirFS(dir)))
	return killed
}

// command runs burst and gives what it prints.
func command(t *testing.T, code int, args ...string) (stdout, stderr string) {
	t.Helper()
	var out, text bytes.Buffer
	require.Equal(t, code, execute(t.Context(), args, &out, &text), text.String())
	return out.String(), text.String()
}

// TestLiveRuns: replay gives a live run its input again, on any backend, and into a new folder with it; resume runs what the log of
// a killed one has, to the same digest.
func TestLiveRuns(t *testing.T) {
	slow.Short(t)
	dir := played(t, 0, (*live.Session).Close)
	m, err := manifest.Read(dir)
	require.NoError(t, err)
	for _, flags := range [][]string{{"--backend", "reference"}, {"--backend", "cpu", "--threads", "3"}, nil} {
		out, _ := command(t, exitOK, append([]string{"replay", dir, "--quiet"}, flags...)...)
		require.Equal(t, m.Digest+"\n", out)
	}
	again := filepath.Join(t.TempDir(), "again")
	command(t, exitOK, "replay", dir, "--quiet", "--out", again)
	f, err := runfolder.Open(again)
	require.NoError(t, err)
	require.NoError(t, f.CheckAll())
	require.True(t, f.Manifest.Options.Inputs)
	a, err := os.ReadFile(filepath.Join(dir, manifest.InputsFile))
	require.NoError(t, err)
	b, err := os.ReadFile(filepath.Join(again, manifest.InputsFile))
	require.NoError(t, err)
	require.Equal(t, a, b, "the log is the same")
	command(t, exitOK, "replay", again, "--quiet")
	out, _ := command(t, exitOK, "resume", dir, "--quiet")
	require.Equal(t, m.Digest+"\n", out, "it is complete")

	killed := played(t, 0, nil)
	out, _ = command(t, exitOK, "resume", killed, "--quiet", "--backend", "reference")
	require.Equal(t, m.Digest+"\n", out)
	command(t, exitOK, "replay", killed, "--quiet")

	early := played(t, 40, (*live.Session).Close)
	out, text := command(t, exitOK, "resume", early)
	require.Contains(t, out, m.Digest)
	require.Contains(t, text, "the log ends at burst 30 of 40; a program goes on from there with live.Resume")
	s, err := live.Resume(t.Context(), early, live.Options{})
	require.NoError(t, err)
	require.NoError(t, errors.Join(s.Step(t.Context(), 10), s.Close()))
	command(t, exitOK, "replay", early, "--quiet")

	require.NoError(t, os.WriteFile(filepath.Join(again, manifest.InputsFile), a[:len(a)-8], 0o600))
	_, text = command(t, exitDamaged, "replay", again, "--quiet")
	require.Contains(t, text, "inputs.arrows: has changed since the run wrote it")
	require.NoError(t, os.Remove(filepath.Join(again, manifest.InputsFile)))
	_, text = command(t, exitDamaged, "replay", again, "--quiet")
	require.Contains(t, text, "the manifest names this file, which is gone")
}
