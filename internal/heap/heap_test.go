package heap

import (
	"runtime"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestLive: what is held counts, and garbage and what lies in a pool do not.
func TestLive(t *testing.T) {
	const size, others = 8 << 20, 1 << 20 // bytes; others are what the test's own process may change meanwhile
	pool := sync.Pool{New: func() any { return make([]byte, size) }}
	before := Live()
	b := pool.Get()
	require.InDelta(t, size, float64(Live())-float64(before), others)
	pool.Put(b)
	b = nil
	require.InDelta(t, 0, float64(Live())-float64(before), others, "what a pool holds")
	runtime.KeepAlive(&pool)
}
