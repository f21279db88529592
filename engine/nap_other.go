//go:build !linux

package engine

import (
	"context"
	"time"
)

// nap sleeps for d, or until ctx ends or somebody wakes it.
func nap(ctx context.Context, wake <-chan struct{}, d time.Duration) bool {
	return byTimer(ctx, wake, d)
}
