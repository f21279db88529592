package durable

import (
	"os"
	"syscall"
)

// writeBack has the system begin to write a part of a file to the disk, and does not wait for it. Not every file system can.
func writeBack(f *os.File, from, bytes int64) {
	const begin = 2                                            // SYNC_FILE_RANGE_WRITE
	_ = syscall.SyncFileRange(int(f.Fd()), from, bytes, begin) // Sync tells what went wrong
}
