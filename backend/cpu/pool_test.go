package cpu

import (
	"bytes"
	"runtime"
	"sync/atomic"
	"testing"
	"time"

	"burst/backend/cpu/internal/vector"
	"burst/engine"

	"github.com/stretchr/testify/require"
)

// TestPoolParks steps at once, and after all waiting goroutines have parked, so that both ways of waking run.
func TestPoolParks(t *testing.T) {
	c := regular(1000)
	one, three := open(c, engine.Want{}, 1, vector.Best()), eager(open(c, engine.Want{}, 3, vector.Best()))
	defer one.Close()
	defer three.Close()
	var want, got engine.Burst
	for i := range 60 {
		if i%3 == 2 {
			allParked(three.pool)
		}
		_, _ = one.Step(nil, &want), three.Step(nil, &got)
		if len(want.Fired) != len(got.Fired) {
			t.Fatalf("burst %d: %d neurons fired with three workers, want %d", i, len(got.Fired), len(want.Fired))
		}
	}
}

// allParked returns when all goroutines of a pool have parked, however long that takes.
func allParked(p *pool) {
	for i := range p.start.beds {
		for !p.start.beds[i].parked.Load() {
			time.Sleep(100 * time.Microsecond)
		}
	}
}

// workers is how many goroutines work for pools now.
func workers() int {
	stacks := make([]byte, 1<<20)
	return bytes.Count(stacks[:runtime.Stack(stacks, true)], []byte("cpu.(*pool).work("))
}

// TestCloseEndsGoroutines closes twice too, which must do nothing more.
func TestCloseEndsGoroutines(t *testing.T) {
	b := eager(open(regular(700), engine.Want{}, 5, vector.Best()))
	var out engine.Burst
	_ = b.Step(nil, &out)
	allParked(b.pool)
	if n := workers(); n != 4 {
		t.Fatalf("%d goroutines with five workers, want 4 beside the caller's", n)
	}
	for range 2 {
		if err := b.Close(); err != nil {
			t.Error(err)
		}
		if n := workers(); n != 0 {
			t.Fatalf("%d goroutines after close", n)
		}
	}
}

// TestIdlePoolUsesNoProcessor: left alone, the goroutines park, and so use no processor; otherwise this test never ends.
func TestIdlePoolUsesNoProcessor(t *testing.T) {
	b := eager(open(regular(700), engine.Want{}, 4, vector.Best()))
	defer b.Close()
	var out engine.Burst
	_ = b.Step(nil, &out)
	allParked(b.pool)
}

// TestUnusedGoroutinesPark: goroutines that jobs do not need park while others work; otherwise this test never ends.
func TestUnusedGoroutinesPark(t *testing.T) {
	b := eager(open(regular(700), engine.Want{}, 4, vector.Best()))
	defer b.Close()
	var out engine.Burst
	require.NoError(t, b.Step(nil, &out))
	for beds := b.pool.start.beds; !beds[1].parked.Load() || !beds[2].parked.Load(); {
		b.begin(nil)
		b.pool.do(aStep, 2)
		require.NoError(t, b.finish(&out))
	}
}

// TestYieldsWakeNobody: who spins yields where all of Go's processors spin, not where one is idle.
func TestYieldsWakeNobody(t *testing.T) {
	p := &pool{awake: true, procs: 4}
	require.Equal(t, spinning{mostSpin, false}, p.spinning(3, mostSpin))
	require.Equal(t, spinning{mostSpin, true}, p.spinning(4, mostSpin))
	p.awake = false
	require.Equal(t, spinning{0, true}, p.spinning(5, mostSpin))
}

// TestLateWakeEndsNoWait plays a goroutine that is held up between setting a word and looking whether anybody is parked there: it
// clears the next wait's mark, which must not end that wait.
func TestLateWakeEndsNoWait(t *testing.T) {
	var g signal
	g.make(1)
	g.word.Store(1)
	g.wait(0, 0, spinning{}) // the word is there: nobody parks
	over := make(chan struct{})
	go func() {
		g.wait(0, 1, spinning{})
		close(over)
	}()
	b := &g.beds[0]
	for !b.parked.CompareAndSwap(true, false) { // the rest of the first set, late
		runtime.Gosched()
	}
	b.wake <- struct{}{}
	for !b.parked.Load() { // it parks again
		runtime.Gosched()
		select {
		case <-over:
			t.Fatal("a late wake ended a wait whose word had not come")
		default:
		}
	}
	g.set(2, 1)
	<-over
}

// TestNoWakeIsLost lets one goroutine set a word while the other parks, many times, at moments that drift past each other. A
// wake that is lost hangs it. It runs as arm64 too, where a load may pass a store.
func TestNoWakeIsLost(t *testing.T) {
	const turns = 200_000
	var g signal
	g.make(1)
	var seen atomic.Uint64
	delay := func(n uint64) {
		for range n {
			seen.Load()
		}
	}
	go func() {
		for word := uint64(0); word < turns; {
			delay(word % 53)
			word = g.wait(0, word, spinning{})
			seen.Store(word)
		}
	}()
	for word := range uint64(turns) {
		for seen.Load() != word {
			runtime.Gosched()
		}
		delay(word % 61)
		g.set(word+1, 1)
	}
	for seen.Load() != turns {
		runtime.Gosched()
	}
}

// TestThreadsFollowWork: each thread must have enough work, and workers are divided among as few goroutines as give the busiest no more.
func TestThreadsFollowWork(t *testing.T) {
	c := regular(2000)
	b := open(c, engine.Want{}, 7, vector.Best())
	defer b.Close()
	one := open(c, engine.Want{}, 1, vector.Best())
	defer one.Close()
	var want, got engine.Burst
	for i, threads := range []int{1, 2, 3, 7, 4, 1, 7, 5, 6} {
		work := uint64(0)
		for _, w := range b.workers {
			work += w.work()
		}
		b.pool.leastWork = max(1, work/uint64(threads))
		_, _ = one.Step(nil, &want), b.Step(nil, &got)
		require.Equal(t, []int{0, 1, 2, 3, 4, 4, 4, 7}[threads], b.pool.threads, "work %d", work)
		require.Equal(t, want.Fired, got.Fired, "burst %d with %d threads", i, threads)
	}
}
