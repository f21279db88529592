package engine

import (
	"context"
	"syscall"
	"time"
)

// nap sleeps for d, a long time only as long as ctx does not end and nobody wakes it. Go's timers are a millisecond late, since they wait in whole
// milliseconds; the system's sleep is some 50 µs late.
func nap(ctx context.Context, wake <-chan struct{}, d time.Duration) (woken bool) {
	if d > longNap {
		return byTimer(ctx, wake, d)
	}
	t := syscall.NsecToTimespec(int64(d))
	_ = syscall.Nanosleep(&t, nil) // one that a signal ends is slept again
	return false
}
