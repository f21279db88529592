package engine_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"burst/engine"

	"github.com/stretchr/testify/require"
)

// The tests of this file run on a clock that moves only while everybody sleeps.

// paced is an echo whose bursts take as long as is said, and that notes when they begin.
type paced struct {
	echo
	start time.Time
	takes func(burst uint64) time.Duration
	began []time.Duration
}

func (p *paced) Step(in []engine.Stimulus, out *engine.Burst) error {
	p.began = append(p.began, time.Since(p.start))
	time.Sleep(p.takes(p.number))
	return p.echo.Step(in, out)
}

// TestDeadlines: the next burst is due a period after the one before was; more than a tenth of a period behind that, it is late, and
// more than a whole one, the clock restarts where the burst begins.
func TestDeadlines(t *testing.T) {
	const ms = time.Millisecond
	for _, tc := range []struct {
		name  string
		took  time.Duration // by burst 2; the others take 1 ms
		began []time.Duration
		late  uint64
		worst float64 // of the lateness, in µs
	}{
		{"in time", 3 * ms, []time.Duration{0, 3 * ms, 6 * ms, 9 * ms, 12 * ms, 15 * ms}, 0, 0},
		{"a tenth of a period behind", 3*ms + 300_000, []time.Duration{0, 3 * ms, 6 * ms, 9*ms + 300_000, 12 * ms, 15 * ms}, 0, 300},
		{"a little more", 3*ms + 301_000, []time.Duration{0, 3 * ms, 6 * ms, 9*ms + 301_000, 12 * ms, 15 * ms}, 1, 301},
		{"less than a period behind", 5 * ms, []time.Duration{0, 3 * ms, 6 * ms, 11 * ms, 12 * ms, 15 * ms}, 1, 2000},
		{"a period behind", 6 * ms, []time.Duration{0, 3 * ms, 6 * ms, 12 * ms, 13 * ms, 15 * ms}, 2, 3000},
		{"just more", 6*ms + 1, []time.Duration{0, 3 * ms, 6 * ms, 12*ms + 1, 15*ms + 1, 18*ms + 1}, 1, 3000},
		{"many periods behind", 31 * ms, []time.Duration{0, 3 * ms, 6 * ms, 37 * ms, 40 * ms, 43 * ms}, 1, 28000},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := &paced{start: time.Now(), takes: func(burst uint64) time.Duration {
					if burst == 2 {
						return tc.took
					}
					return ms
				}}
				e := engine.OnTimers(engine.New(net(), b, engine.Options{Period: 3 * ms}))
				require.NoError(t, e.Run(context.Background(), 6))
				require.Equal(t, tc.began, b.began)
				require.Equal(t, tc.late, e.Late())
				time.Sleep(100 * ms)
				require.NoError(t, e.Run(context.Background(), 1))
				require.InDelta(t, tc.worst, e.Lateness().Max, tc.worst/500, "three figures")
				require.Equal(t, tc.late, e.Late(), "a pause between two runs is no delay")
				time.Sleep(5 * ms)
				require.NoError(t, e.Continue(context.Background(), 1))
				require.Equal(t, tc.late+1, e.Late(), "within one it is")
			})
		})
	}
}

// TestClockJumps: a clock that jumps, in a burst or between two, makes at most one burst late, which is counted. None is left out, and
// those that follow are a period apart.
func TestClockJumps(t *testing.T) {
	const ms = time.Millisecond
	for _, jump := range []time.Duration{time.Hour, 10 * ms, 2 * ms, -2 * ms, -10 * ms, -time.Hour, -30 * 365 * 24 * time.Hour} {
		for _, within := range []bool{true, false} {
			c := &engine.Clock{Time: time.Unix(2e9, 0), Tick: time.Microsecond}
			var began []time.Time
			b := &jumping{c: c, began: &began}
			if within {
				b.jump = jump
			}
			e := engine.OnClock(engine.New(net(), b, engine.Options{Period: 5 * ms}), c)
			require.NoError(t, e.Run(t.Context(), 10))
			if !within {
				c.Time = c.Time.Add(jump)
			}
			require.NoError(t, e.Continue(t.Context(), 10))
			require.EqualValues(t, 20, e.Number(), "none is left out")
			require.LessOrEqual(t, c.Waited, 20*5*ms, "%v within %v: nothing waits for the clock to come back", jump, within)
			require.Len(t, began, 20)
			late := uint64(0)
			if jump > 5*ms {
				late = 1
			}
			require.Equal(t, late, e.Late(), "%v within %v", jump, within)
			for i := 12; i < 20; i++ {
				require.InDelta(t, 5*ms, began[i].Sub(began[i-1]), float64(ms)/20, "%v within %v: burst %d", jump, within, i)
			}
			require.LessOrEqual(t, e.Lateness().Max, 1.001*max(jump, 10*time.Microsecond).Seconds()*1e6, "%v", jump)
			require.LessOrEqual(t, e.Latency().P50, 10.0)
		}
	}
}

// jumping is an echo during whose burst 9 the clock jumps.
type jumping struct {
	echo
	c     *engine.Clock
	jump  time.Duration
	began *[]time.Time
}

func (b *jumping) Step(in []engine.Stimulus, out *engine.Burst) error {
	*b.began = append(*b.began, b.c.Time)
	if b.number == 9 {
		b.c.Time = b.c.Time.Add(b.jump)
	}
	return b.echo.Step(in, out)
}

// TestWaitingEndsWithTheContext, not when the next burst is due.
func TestWaitingEndsWithTheContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		ctx, cancel := context.WithTimeout(context.Background(), 25*time.Millisecond)
		defer cancel()
		e := engine.OnTimers(engine.New(net(), &echo{}, engine.Options{Period: 10 * time.Millisecond}))
		require.ErrorIs(t, e.Run(ctx, 10), context.DeadlineExceeded)
		require.Equal(t, 25*time.Millisecond, time.Since(start))
		require.EqualValues(t, 3, e.Number())
		require.ErrorIs(t, e.Run(ctx, 10), context.DeadlineExceeded)
		require.EqualValues(t, 3, e.Number())
	})
}

// TestWaitingAnswers: what is asked for while a burst is far from due is done at once, another rate included, and the burst is no later.
func TestWaitingAnswers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		var e *engine.Engine
		var asked []time.Duration
		note := func() error { asked = append(asked, time.Since(start)); return nil }
		b := &paced{start: start, takes: func(uint64) time.Duration { return 0 }}
		e = engine.OnTimers(engine.New(net(), b, engine.Options{Period: time.Hour}))
		go func() {
			time.Sleep(time.Minute)
			e.Between(note)
			e.Between(note)
			time.Sleep(time.Minute)
			e.Between(note)
			time.Sleep(2 * time.Hour)
			e.Between(func() error { e.Pace(2 * time.Hour); return note() })
		}()
		require.NoError(t, e.Run(t.Context(), 5))
		require.Equal(t, []time.Duration{time.Minute, time.Minute, 2 * time.Minute, 122 * time.Minute}, asked)
		require.Equal(t, []time.Duration{0, time.Hour, 2 * time.Hour, 122 * time.Minute, 242 * time.Minute}, b.began)
		require.Zero(t, e.Late())
		planted := errors.New("planted")
		time.AfterFunc(time.Minute, func() { e.Between(func() error { return planted }) })
		require.ErrorIs(t, e.Continue(t.Context(), 1), planted)
		require.EqualValues(t, 5, e.Number())
	})
}

// sized is a Batcher that notes how many bursts it is asked for at a time, each of which takes the same time.
type sized struct {
	batches
	each  time.Duration
	sizes []int
}

func (b *sized) StepN(n int, each func(*engine.Burst) error) error {
	b.sizes = append(b.sizes, n)
	var out engine.Burst
	for range n {
		time.Sleep(b.each)
		if err := b.echo.Step(nil, &out); err != nil {
			return err
		}
		if err := each(&out); err != nil {
			return err
		}
	}
	return nil
}

// TestManyAtATime: they become twice as many where they take less than 10 ms and half as many where they take more than 40.
func TestManyAtATime(t *testing.T) {
	const us = time.Microsecond
	for _, tc := range []struct {
		each  time.Duration
		n     uint64
		sizes []int
	}{
		{0, 64 + 128 + 256 + 7, []int{64, 128, 256, 7}},
		{0, 63, []int{63}},
		{10_000 * us / 64, 64 + 64 + 5, []int{64, 64, 5}},
		{10_000*us/64 - 1, 64 + 128 + 5, []int{64, 128, 5}},
		{40_000 * us / 64, 64 + 64 + 5, []int{64, 64, 5}},
		{40_000*us/64 + 1, 64 + 32 + 5, []int{64, 32, 5}},
		{time.Second, 64 + 32 + 16 + 8 + 4 + 2 + 1 + 1 + 1, []int{64, 32, 16, 8, 4, 2, 1, 1, 1}},
	} {
		synctest.Test(t, func(t *testing.T) {
			b := &sized{each: tc.each}
			e := engine.New(net(), b, engine.Options{})
			require.NoError(t, e.Run(context.Background(), tc.n))
			require.Equal(t, tc.sizes, b.sizes, "%v a burst", tc.each)
			require.Equal(t, tc.n, e.Number())
		})
	}
}

// TestManyAtATimeStop when ctx ends, between two calls.
func TestManyAtATimeStop(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	b := &sized{}
	e := engine.New(net(), b, engine.Options{Recorders: []engine.Recorder{stopAt{70, cancel}}})
	require.ErrorIs(t, e.Run(ctx, 10_000), context.Canceled)
	require.Equal(t, []int{64, 128}, b.sizes)
	require.EqualValues(t, 192, e.Number())
}

// TestSourcesAndPeriodCountEveryBurst, whatever the backend can do at a time.
func TestSourcesAndPeriodCountEveryBurst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, o := range []engine.Options{{Sources: []engine.Source{list{}}}, {Period: time.Millisecond}} {
			b := &sized{}
			require.NoError(t, engine.OnTimers(engine.New(net(), b, o)).Run(context.Background(), 5))
			require.Empty(t, b.sizes)
			require.EqualValues(t, 5, b.number)
		}
	})
}

// TestLatencyOfKnownTimes: a hundred bursts of 1 to 100 ms, in no order, and one beyond the range.
func TestLatencyOfKnownTimes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := &paced{takes: func(burst uint64) time.Duration { return time.Duration(1+burst*37%100) * time.Millisecond }}
		e := engine.New(net(), b, engine.Options{})
		require.NoError(t, e.Run(context.Background(), 100))
		l := e.Latency()
		for _, q := range []struct{ want, got float64 }{{50_000, l.P50}, {90_000, l.P90}, {99_000, l.P99}, {100_000, l.Max}} {
			require.InEpsilon(t, q.want, q.got, 0.001, "%+v: three figures", l)
		}
		b.takes = func(uint64) time.Duration { return 20 * time.Minute }
		require.NoError(t, e.Run(context.Background(), 1))
		require.InEpsilon(t, float64((10 * time.Minute).Microseconds()), e.Latency().Max, 0.001, "the end of the range")
		require.InEpsilon(t, 50_000, e.Latency().P50, 0.021)
	})
}
