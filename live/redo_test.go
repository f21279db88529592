package live_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"burst/live"
	"burst/record/manifest"
	"burst/run"

	"github.com/stretchr/testify/require"
)

// TestRedo: Resume can leave the log's last Step to its driver, who has not had the answer. He does it again, or something else first;
// the bits are those of a session that was not killed.
func TestRedo(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run")
	s := session(t, run.Options{Folder: dir})
	bind := func(s *live.Session) func(n uint64, amount float32) error {
		in := bound(t, s.Feeder("driver"), live.Binding{Place: live.Place{Area: "eye"}, Largest: 1, Once: true})
		return func(n uint64, amount float32) error {
			return s.Step(t.Context(), n, live.Value{To: in, At: []uint32{3}, Amounts: []float32{amount}})
		}
	}
	step := bind(s)
	require.NoError(t, errors.Join(step(30, 1), s.Checkpoint(), s.Switch(0, false)))
	left := func() string { // as a kill leaves it
		to := filepath.Join(t.TempDir(), "left")
		require.NoError(t, os.CopyFS(to, os.DirFS(dir)))
		return to
	}
	killed := left()
	require.NoError(t, step(1, 0.5))
	before := map[bool]string{false: left(), true: left()}
	want := digest(t, s)
	require.NoError(t, step(9, 0.25))
	last := digest(t, s)
	resume := func(dir string) *live.Session {
		s, err := live.Resume(t.Context(), dir, live.Options{LastStep: true})
		require.NoError(t, err)
		t.Cleanup(func() { s.Close() })
		return s
	}

	x := resume(killed)
	from, to := x.Undone()
	require.Equal(t, []uint64{0, 0}, []uint64{from, to}, "the last thing was no Step")
	require.EqualValues(t, 30, numberOf(t, x))

	for _, redone := range []bool{true, false} {
		x = resume(before[redone])
		step = bind(x)
		from, to = x.Undone()
		require.Equal(t, []uint64{30, 31}, []uint64{from, to})
		if redone {
			require.NoError(t, x.Redo())
			require.EqualValues(t, 30, numberOf(t, x))
			require.NoError(t, step(1, 0.5))
		} else {
			require.NoError(t, x.Switch(0, false), "again, which changes nothing")
		}
		from, to = x.Undone()
		require.Equal(t, []uint64{0, 0}, []uint64{from, to})
		require.NoError(t, x.Redo(), "which does nothing")
		require.Equal(t, want, digest(t, x))
		again := bind(x)
		require.NoError(t, again(9, 0.25))
		require.Equal(t, last, digest(t, x))
		require.NoError(t, x.Close())
		require.Equal(t, ended(t, before[redone], manifest.Complete).Digest, replayed(t, before[redone], "reference", 0))
	}
}
