package cpu

import (
	"math"
	"math/rand/v2"
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
		u := newTuner(k.most)
		u.ended = false
		for i, last, cold := 0, 0, 0; i < 6000; i++ {
			h := u.threads(k.enough)
			if cold++; h != last { // bursts are slow for a while where the number has changed
				last, cold = h, 0
			}
			require.LessOrEqual(t, h, k.enough, k.name)
			busy := time.Duration(0)
			if i >= coldBursts && (i-coldBursts)/(trialCold+trialBursts)%3 == 1 { // whole trials in which other programs have the machine
				busy = 700 * time.Microsecond
			}
			if cold < trialCold && h > 3 {
				busy += 10 * time.Millisecond
			}
			u.ran(1, time.Duration(k.took(h))*time.Microsecond+busy)
			if i < coldBursts+trialBursts {
				require.Equal(t, i+1 >= coldBursts && k.enough == 1, u.settled(), k.name)
			}
		}
		require.Equal(t, k.want, u.threads(k.enough), k.name)
		require.False(t, u.compares(), k.name)
		require.True(t, u.settled(), k.name)
	}
}

// TestEvenThreads: with fewer threads some have more workers, with more none has fewer.
func TestEvenThreads(t *testing.T) {
	var got []int
	for threads := range 16 {
		u := newTuner(16)
		got = append(got, u.even(threads+1))
	}
	require.Equal(t, []int{1, 2, 3, 4, 4, 6, 6, 8, 8, 8, 8, 8, 8, 8, 8, 16}, got)
}

// TestTunerOfRestlessNetworks: with times that follow a network's activity, which rises and falls over some 30 bursts, fewer threads that
// are slower by a fifth win once in 25 runs at most, and those that are faster by a fifth lose once in 4.
func TestTunerOfRestlessNetworks(t *testing.T) {
	const runs = 200
	keepsMore := func(more, fewer float64) (count int) {
		for seed := range uint64(runs) {
			r := rand.New(rand.NewPCG(seed, 0x74756e65))
			u := newTuner(16)
			u.ended = false
			activity := 0.0
			for u.tried[0] != 8 && !u.ended {
				each := map[int]float64{16: more, 8: fewer}[u.threads(16)]
				activity = activity*0.967 + r.NormFloat64()*0.255
				u.ran(1, time.Duration(1000*each*(0.3+0.7*math.Exp(activity/2-0.125))))
			}
			if u.most == 16 {
				count++
			}
		}
		return count
	}
	require.Greater(t, keepsMore(75, 90), runs*24/25)
	require.Less(t, keepsMore(75, 60), runs/4)
}

// TestTunerOfPeriodicNetworks: where a network is active for a fifth or a tenth of each period, the number of threads that is always faster
// loses once in 500 runs at most, and never where a period lasts about as long as a trial of each.
func TestTunerOfPeriodicNetworks(t *testing.T) {
	const pair = 2 * (trialCold + trialBursts)
	for _, k := range []struct{ more, fewer, want int }{{55, 100, 16}, {100, 55, 8}} {
		runs, lost, aligned := 0, 0, 0
		for period := 20; period <= 400; period++ {
			for phase := range period * 2 / 7 {
				u := newTuner(16)
				u.ended = false
				for i := phase / 2 * 7; u.tried[0] != 8 && !u.ended; i++ {
					each := map[int]int{16: k.more, 8: k.fewer}[u.threads(16)]
					if i%period < period/(5+5*(phase%2)) {
						each *= 5
					}
					u.ran(1, time.Duration(each)*time.Microsecond)
				}
				if runs++; u.most != k.want {
					lost++
					if pair-8 <= period && period <= pair+8 {
						aligned++
					}
				}
			}
		}
		require.LessOrEqual(t, lost, runs/500, "of %d: %v", runs, k)
		require.Zero(t, aligned, k)
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
