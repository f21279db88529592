package main

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"burst/engine"
	"burst/run"

	"github.com/stretchr/testify/require"
)

// tellInto writes what a run of 4,000 bursts tells on a terminal of so many columns, or none.
func tellInto(w *bytes.Buffer, columns func() int) {
	p := newProgress(w, false)
	p.columns = columns
	p.told = time.Time{}
	p.building(5, 10)
	p.line("a note")
	p.told = time.Time{}
	p.building(6, 10)
	p.phase("opening")
	p.watch(0, 4000, 0.1)
	for n := range uint64(3) {
		p.told = p.told.Add(-lineEvery)
		p.start = p.start.Add(-lineEvery)
		if n == 2 {
			p.line("another")
		}
		p.Record(&engine.Burst{Number: n, Fired: []uint32{1, 2}})
	}
	p.finish()
}

// TestProgressOnTerminals: what changes is one line that is written over, never one that goes on in a second; before a line that stays,
// and at the end, it is taken away.
func TestProgressOnTerminals(t *testing.T) {
	for _, columns := range []int{1, 20, 40, 80, 300} {
		var out bytes.Buffer
		tellInto(&out, func() int { return columns })
		text := out.String()
		require.True(t, strings.HasSuffix(text, "\x1b[K\r\x1b[K"))
		var shown []string
		for _, part := range strings.Split(text, "\x1b[K") {
			lines := strings.Split(part, "\n")
			last := lines[len(lines)-1]
			require.Less(t, len([]rune(strings.TrimPrefix(last, "\r"))), columns)
			shown = append(shown, last)
		}
		require.Equal(t, within("building:  50 %", columns-1), within(shown[0][1:], min(15, columns-1)))
		require.Contains(t, text, "\r\x1b[Ka note\n")
		require.Contains(t, text, "\x1b[K\r\x1b[K\rbur"[:8+min(3, columns-1)], "a phase that is over is not seen")
		if columns >= 80 {
			require.Contains(t, text, "\rburst 3 of 4000 (0 %), 5h33m")
			require.Contains(t, text, "\r\x1b[Kanother\n")
		}
	}
}

// TestProgressElsewhere: a file or a terminal that cannot write over a line gets lines.
func TestProgressElsewhere(t *testing.T) {
	var out bytes.Buffer
	tellInto(&out, nil)
	require.NotContains(t, out.String(), "\x1b")
	require.NotContains(t, out.String(), "\r")
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	require.Len(t, lines, 7)
	require.True(t, strings.HasPrefix(lines[3], "burst 1 of 4000 (0 %), "), lines[3])

	f, err := os.Create(filepath.Join(t.TempDir(), "out"))
	require.NoError(t, err)
	defer f.Close()
	require.Nil(t, terminal(f))
	require.Nil(t, terminal(&out))
}

// TestCoursesFitTerminals: the course of activity is as wide as the terminal leaves room for, or left out.
func TestCoursesFitTerminals(t *testing.T) {
	rows := func() [][]string { return [][]string{{"area", "neurons"}, {"E", "80,000"}, {"a long name", "5"}} }
	require.Equal(t, 20, tableWidth(rows()))
	for columns, want := range map[int]int{200: courseWidth, 70: 48, 69: 47, 38: 16, 37: 0, 10: 0} {
		require.Equal(t, want, courseOf(columns, rows()), "%d columns", columns)
	}
}

// TestElsewhere: who may not write where runs go by themselves is told how to write elsewhere.
func TestElsewhere(t *testing.T) {
	denied := func(path string, why error) error { return &fs.PathError{Op: "mkdir", Path: path, Err: why} }
	for _, err := range []error{denied(runsFolder, syscall.EACCES), denied(filepath.Join(runsFolder, "quickstart-1"), syscall.EROFS)} {
		require.ErrorIs(t, elsewhere(err), err)
		require.ErrorContains(t, elsewhere(err), "; --out FOLDER writes elsewhere, --no-out writes nothing")
	}
	for _, err := range []error{nil, denied(runsFolder, syscall.ENOSPC), denied("other", syscall.EACCES), denied(filepath.Join(runsFolder, "a", "spikes.arrows"), syscall.EACCES)} {
		require.Equal(t, err, elsewhere(err))
	}
}

// TestProgressOfTwo: a run that was stopped while its network is built ends its phases, while the builder still tells.
func TestProgressOfTwo(t *testing.T) {
	p := newProgress(&bytes.Buffer{}, false)
	var both sync.WaitGroup
	for range 2 {
		both.Go(func() {
			for range 150_000 {
				p.event(run.Began{Phase: "writing"})
			}
		})
	}
	both.Wait()
	p.finish()
}
