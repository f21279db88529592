package main

import (
	"context"

	"burst/checkpoint"
)

// diskKey is the key of a context's checkpoint.Disk, which tests make fail; without one it is the machine's.
type diskKey struct{}

func diskOf(ctx context.Context) checkpoint.Disk {
	if d, ok := ctx.Value(diskKey{}).(checkpoint.Disk); ok {
		return d
	}
	return checkpoint.OS{}
}
