package main

import (
	"runtime"
	"runtime/metrics"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestCollectLater: after the first collection garbage is collected as ever; and who sets GOGC is obeyed.
func TestCollectLater(t *testing.T) {
	percent := func() uint64 {
		s := []metrics.Sample{{Name: "/gc/gogc:percent"}}
		metrics.Read(s)
		return s[0].Value.Uint64()
	}
	usual := percent()
	t.Setenv("GOGC", "100")
	collectLater()
	require.Equal(t, usual, percent())
	t.Setenv("GOGC", "")
	collectLater()
	require.Equal(t, uint64(1600), percent())
	require.Eventually(t, func() bool {
		runtime.GC()
		return percent() == usual
	}, 10*time.Second, time.Millisecond)
}
