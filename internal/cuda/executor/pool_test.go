package executor_test

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"burst/internal/cuda/cudatest"
	"burst/internal/cuda/executor"
)

// TestPoolDoesNotLeak allocates and frees 10^5 times in three streams: the driver is asked only for what is in use at once.
func TestPoolDoesNotLeak(t *testing.T) {
	h := cudatest.Host(t)
	e := open(t)
	streams := []*executor.Stream{stream(t, e), stream(t, e), stream(t, e)}
	r := rand.New(rand.NewPCG(5, 11))
	var live []*executor.Buffer
	start := h.Count("bytes")
	for i := range 100_000 {
		s := streams[i%3]
		b, err := e.Alloc(s, 1+r.Uint64N(60_000))
		require.NoError(t, err)
		live = append(live, b)
		if len(live) > 20 {
			k := r.IntN(len(live))
			require.NoError(t, live[k].Free(streams[r.IntN(3)]))
			live[k] = live[len(live)-1]
			live = live[:len(live)-1]
		}
	}
	stats := e.PoolStats()
	require.EqualValues(t, 100_000, stats.Hits+stats.Misses)
	require.Less(t, stats.Misses, uint64(160), "8 sizes, at most 21 of each at once")
	require.Greater(t, stats.HitRate(), 0.998)
	require.EqualValues(t, stats.Used+stats.Kept, h.Count("bytes")-start, "the pool knows what it holds")
	t.Logf("hit rate %.5f, %d bytes", stats.HitRate(), stats.Used+stats.Kept)
	for _, b := range live {
		require.NoError(t, b.Free(streams[0]))
	}
	require.NoError(t, e.Trim())
	require.Zero(t, h.Count("bytes")-start)
	require.Zero(t, e.PoolStats().Kept+e.PoolStats().Used)
}

// TestPoolBuckets rounds up to powers of two from 512 bytes on, and prefers memory of the same stream.
func TestPoolBuckets(t *testing.T) {
	h := cudatest.Host(t)
	e := open(t)
	a, b := stream(t, e), stream(t, e)
	for _, c := range []struct{ ask, used uint64 }{{1, 512}, {512, 512}, {513, 1024}, {65536, 65536}, {65537, 131072}} {
		x, err := e.Alloc(a, c.ask)
		require.NoError(t, err)
		require.Equal(t, c.used, e.PoolStats().Used, "%d bytes", c.ask)
		require.Equal(t, c.ask, x.Bytes())
		require.NoError(t, x.Free(a))
	}
	require.NoError(t, e.Trim())
	mine, err := e.Alloc(a, 2000)
	require.NoError(t, err)
	other, err := e.Alloc(b, 2000)
	require.NoError(t, err)
	minePtr, otherPtr := mine.Ptr(), other.Ptr()
	require.NoError(t, mine.Free(a))
	require.NoError(t, other.Free(b))
	got, err := e.Alloc(a, 1500)
	require.NoError(t, err)
	require.Equal(t, minePtr, got.Ptr(), "order alone makes it safe")
	require.NoError(t, b.Close())
	left, err := e.Alloc(a, 1500)
	require.NoError(t, err)
	require.Equal(t, otherPtr, left.Ptr(), "another stream's, when there is no other")
	require.NoError(t, left.Free(b), "in a stream that has ended, all work is done")
	require.Positive(t, h.Count("held"))
}

// TestPoolShortOfMemory gives back what it keeps before it says that memory is out.
func TestPoolShortOfMemory(t *testing.T) {
	h := cudatest.Host(t)
	e := open(t)
	s := stream(t, e)
	kept, err := e.Alloc(s, 4096)
	require.NoError(t, err)
	require.NoError(t, kept.Free(s))
	h.Control("fail_alloc", 1)
	b, err := e.Alloc(s, 1<<20)
	require.NoError(t, err)
	require.Zero(t, e.PoolStats().Kept, "what was kept went back")
	h.Control("fail_alloc", 1)
	held := h.Count("held")
	_, err = e.Alloc(s, 1<<21)
	require.ErrorContains(t, err, "2097152 bytes of device memory")
	require.ErrorContains(t, err, "CUDA_ERROR_OUT_OF_MEMORY")
	require.Equal(t, held, h.Count("held"))
	require.NoError(t, b.Free(s))
}
