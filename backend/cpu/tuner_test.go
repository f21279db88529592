package cpu

import (
	"testing"
	"time"

	"burst/backend/cpu/internal/vector"
	"burst/engine"

	"github.com/stretchr/testify/require"
)

// TestTunerFindsTheBest plays machines on which a burst takes so many microseconds by the number of threads.
func TestTunerFindsTheBest(t *testing.T) {
	for _, k := range []struct {
		name   string
		most   int
		enough int
		took   func(threads int) int
		want   int
	}{
		{"all cores help", 16, 16, func(h int) int { return 1600 / h }, 16},
		{"four cores", 16, 16, func(h int) int { return 1600/min(h, 4) + 40*h }, 4},
		{"one core", 8, 8, func(h int) int { return 100 + 50*h }, 1},
		{"little is gained", 8, 8, func(h int) int { return 1000 + h/8 }, 8},
		{"work for six", 16, 6, func(h int) int { return 600/min(h, 3) + 40*h }, 3},
		{"work for one", 16, 1, func(h int) int { return 10 * h }, 1},
	} {
		u := tuner{most: k.most}
		for i := range 3000 {
			h := u.threads(k.enough)
			require.LessOrEqual(t, h, k.enough, k.name)
			busy := time.Duration(0)
			if i/trialBursts%3 == 1 { // whole trials in which other programs have the machine
				busy = 700 * time.Microsecond
			}
			u.ran(1, time.Duration(k.took(h))*time.Microsecond+busy)
		}
		require.Equal(t, k.want, u.threads(k.enough), k.name)
		require.False(t, u.compares(), k.name)
	}
}

// TestTunedBurstsAreTheSame: while numbers of threads are compared the bursts are those of one thread, in courses and one by one.
func TestTunedBurstsAreTheSame(t *testing.T) {
	c := excitedNet(3)
	one := engine.NewDigest(open(c, engine.Want{}, 1, vector.Best()))
	defer one.Close()
	b := eager(open(c, engine.Want{}, 5, vector.Best()))
	b.pool.tuner.ended = false
	tuned := engine.NewDigest(b)
	defer tuned.Close()
	nothing := func(*engine.Burst) error { return nil }
	used := map[int]bool{}
	for range 100 {
		require.NoError(t, one.StepN(13, nothing))
		require.NoError(t, tuned.StepN(13, nothing))
		used[b.ThreadsUsed()] = true
		require.Equal(t, one.Sum(), tuned.Sum())
	}
	require.Greater(t, one.Spikes(), uint64(10_000))
	require.Greater(t, len(used), 1, "numbers of threads were compared")
}
