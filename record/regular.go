package record

import (
	"bytes"
	"fmt"
	"io"
	"io/fs"
	"os"
)

// mostText is the largest manifest that is read: some million areas, of which a genome has room for fewer.
const mostText = 256 << 20

// openFile opens a regular file for reading, or with a flag: a run folder may have come from anywhere, and a pipe there
// would be waited for, a device read for ever.
func openFile(path string, flag int) (*os.File, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, fmt.Errorf("record: %w", err)
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("record: %w", &fs.PathError{Op: "open", Path: path, Err: fmt.Errorf("expects a regular file, found one of type %s", info.Mode().Type())})
	}
	f, err := os.OpenFile(path, flag, 0)
	if err != nil {
		return nil, fmt.Errorf("record: %w", err)
	}
	return f, nil
}

// readText reads a whole file of at most mostText.
func readText(path string) ([]byte, error) {
	f, err := openFile(path, os.O_RDONLY)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if info, err := f.Stat(); err == nil && info.Size() > mostText {
		return nil, damaged(path, "%d bytes found, want at most %d", info.Size(), mostText)
	}
	text, err := io.ReadAll(io.LimitReader(f, mostText))
	if err != nil {
		return nil, fmt.Errorf("record: %w", err)
	}
	return text, nil
}

// lines is a reader that refuses a line of more than 64 KiB, so that a file of one endless line is not gathered in memory.
type lines struct {
	r    io.Reader
	path string
	line int // bytes since its beginning
}

func (l *lines) Read(b []byte) (int, error) {
	n, err := l.r.Read(b)
	if end := bytes.LastIndexByte(b[:n], '\n'); end >= 0 {
		l.line = n - 1 - end
	} else {
		l.line += n
	}
	if l.line > 1<<16 {
		return 0, damaged(l.path, "a line of more than %d bytes", 1<<16)
	}
	return n, err
}
