package cpu

import (
	"runtime"
	"strings"
	"testing"
	"time"

	"burst/backend/cpu/vector"
	"burst/engine"

	"github.com/stretchr/testify/require"
)

// TestPoolParks steps with pauses shorter and longer than a waiting goroutine stays awake, so that both ways of waking run.
func TestPoolParks(t *testing.T) {
	c := regular(1000)
	one, three := open(c, engine.Want{}, 1, vector.Best()), eager(open(c, engine.Want{}, 3, vector.Best()))
	defer one.Close()
	defer three.Close()
	var want, got engine.Burst
	for i := range 60 {
		if i%3 == 2 {
			time.Sleep(spin + time.Duration(i)*7*time.Microsecond)
		}
		_, _ = one.Step(nil, &want), three.Step(nil, &got)
		if len(want.Fired) != len(got.Fired) {
			t.Fatalf("burst %d: %d neurons fired with three parts, want %d", i, len(got.Fired), len(want.Fired))
		}
	}
}

// TestCloseEndsGoroutines closes twice too, which must do nothing more.
func TestCloseEndsGoroutines(t *testing.T) {
	workers := func() int {
		stacks := make([]byte, 1<<20)
		return strings.Count(string(stacks[:runtime.Stack(stacks, true)]), "cpu.(*pool).work(")
	}
	await := func(n int, when string) {
		for deadline := time.Now().Add(5 * time.Second); workers() != n; time.Sleep(time.Millisecond) {
			if time.Now().After(deadline) {
				t.Fatalf("%d goroutines %s, want %d", workers(), when, n)
			}
		}
	}
	await(0, "of tests before")
	b := eager(open(regular(700), engine.Want{}, 5, vector.Best()))
	var out engine.Burst
	_ = b.Step(nil, &out)
	await(4, "with five parts")
	for range 2 {
		if err := b.Close(); err != nil {
			t.Error(err)
		}
	}
	await(0, "after close")
}

// TestNobodyStepsNobodyWorks: left alone, the goroutines park, and so use no processor.
func TestNobodyStepsNobodyWorks(t *testing.T) {
	b := eager(open(regular(700), engine.Want{}, 4, vector.Best()))
	defer b.Close()
	var out engine.Burst
	_ = b.Step(nil, &out)
	for i := range b.pool.starts {
		for deadline := time.Now().Add(5 * time.Second); !b.pool.starts[i].parked.Load(); time.Sleep(time.Millisecond) {
			if time.Now().After(deadline) {
				t.Fatalf("goroutine %d is still awake long after the last burst", i)
			}
		}
	}
}

// TestLateWakeIsNoTurn plays a mover that is held up between moving a gate and looking whether anybody is parked there: it
// clears the next wait's mark, which must not end that wait.
func TestLateWakeIsNoTurn(t *testing.T) {
	g := gate{wake: make(chan struct{}, 1)}
	g.turn.Add(1)
	g.wait(1, false, 0) // the turn is there: nobody parks
	over := make(chan struct{})
	go func() {
		g.wait(2, false, 0)
		close(over)
	}()
	for !g.parked.CompareAndSwap(true, false) { // the rest of the first move, late
		runtime.Gosched()
	}
	g.wake <- struct{}{}
	for !g.parked.Load() { // it parks again
		runtime.Gosched()
		select {
		case <-over:
			t.Fatal("a late wake ended a wait whose turn had not come")
		default:
		}
	}
	g.move()
	<-over
}

// TestHandsFollowWork: each hand must be worth its hand-over, and parts are dealt to any number of hands.
func TestHandsFollowWork(t *testing.T) {
	c := regular(2000)
	b := open(c, engine.Want{}, 7, vector.Best())
	defer b.Close()
	one := open(c, engine.Want{}, 1, vector.Best())
	defer one.Close()
	var want, got engine.Burst
	for i, hands := range []int{1, 2, 3, 5, 6, 7, 4, 1, 7} {
		work := uint64(0)
		for _, p := range b.parts {
			work += p.work()
		}
		b.pool.worth = max(1, work/uint64(hands))
		_, _ = one.Step(nil, &want), b.Step(nil, &got)
		require.Equal(t, hands, b.pool.hands, "work %d", work)
		require.Equal(t, want.Fired, got.Fired, "burst %d with %d hands", i, hands)
	}
}
