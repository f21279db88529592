// Package heap measures memory, for tests.
package heap

import (
	"math"
	"runtime"
)

// Live collects garbage until no more of it goes, and returns the bytes that are left. One collection is not enough: what a sync.Pool
// holds, perhaps of another test, goes with the second.
func Live() uint64 {
	var m runtime.MemStats
	for last := uint64(math.MaxUint64); ; last = m.HeapAlloc {
		runtime.GC()
		runtime.ReadMemStats(&m)
		if m.HeapAlloc >= last {
			return last
		}
	}
}
