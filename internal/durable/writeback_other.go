//go:build !linux

package durable

import "os"

func writeBack(*os.File, int64, int64) {}
