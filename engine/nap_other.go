//go:build !linux

package engine

import (
	"context"
	"time"
)

// nap sleeps for d, or until ctx ends.
func nap(ctx context.Context, d time.Duration) { byTimer(ctx, d) }
