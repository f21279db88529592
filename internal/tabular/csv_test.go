package tabular

import (
	"bytes"
	"cmp"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// pair takes the columns source, below 70, target and, where there is one, weight.
type pair struct {
	reader
	source, target []int64
	weight         []float64
}

func pairs(t *testing.T) *pair {
	l := &pair{}
	l.Threads = 4
	l.Header = func(names []string) ([]Column, error) {
		below := func(row uint64, x int64) string {
			if uint64(x) >= 70 {
				return "99, want less"
			}
			l.source[row] = x
			return ""
		}
		source, err := Find(names, "source")
		target, err2 := Find(names, "target")
		if err = errors.Join(err, err2); err != nil || source < 0 || target < 0 {
			return nil, cmp.Or(err, io.ErrNoProgress)
		}
		columns := []Column{
			{Name: "source", At: source, Whole: below},
			{Name: "target", At: target, Whole: func(row uint64, x int64) string { l.target[row] = x; return "" }},
		}
		at, err := Find(names, "weight")
		if err != nil {
			return nil, err
		}
		if at >= 0 {
			columns = append(columns, Column{Name: "weight", At: at, Real: func(row uint64, x float64) string { l.weight[row] = x; return "" }})
		}
		return columns, nil
	}
	l.Room = func(rows uint64) error {
		l.source, l.target, l.weight = make([]int64, rows), make([]int64, rows), make([]float64, rows)
		return nil
	}
	return l
}

// Rows and lines must be the same however the file is cut.
func TestPieces(t *testing.T) {
	text := "source,target,weight\r\n1,2,3\n\n\r\n4,5,6e0\n7,8,-9.75\r\n99,0,0\n10,11,12"
	for piece := int64(1); piece < 80; piece++ {
		l := pairs(t)
		l.Threads = 3
		c, err := openCSV(bytes.NewReader([]byte(text)), int64(len(text)), piece)
		require.NoError(t, err)
		require.NoError(t, l.readPieces(c), "pieces of %d", piece)
		assert.Equal(t, []int64{1, 4, 7, 0, 10}, l.source, "pieces of %d", piece)
		for i, want := range []uint64{2, 5, 6, 7, 8} {
			line, err := c.line(uint64(i) + 1)
			require.NoError(t, err)
			assert.Equal(t, want, line, "row %d in pieces of %d", i+1, piece)
		}
		assert.Equal(t, []float64{3, 6, -9.75, 0, 12}, l.weight)
		assert.Equal(t, Faults{{Row: 4, Line: 7, Column: "source", Message: "99, want less"}}, l.faults.list())
	}
}

// A line of 64 KiB is read and one of a byte more is told by its line, wherever it stands and however the file is cut.
func TestLineTooLong(t *testing.T) {
	const head, row = "source,target,_n\n", "1,2,3\n"
	most := "1,2," + strings.Repeat("x", maxLine-4)
	for _, c := range []struct {
		name, before, after string
		row, line           uint64
	}{
		{"behind the header", head, "\n" + row, 1, 2},
		{"last, without an end", head + row, "", 2, 3},
		{"last", head + row, "\r\n", 2, 3},
		{"behind empty lines", head + "\n\r\n" + row, "\r\n" + row, 2, 5},
		{"behind many short rows", head + strings.Repeat(row, 3000), "\n" + strings.Repeat(row, 300), 3001, 3002},
		{"behind a whole piece", head + strings.Repeat(row+row+row+"\n", pieceSize/len(row)/3), "\n" + row, pieceSize/6/3*3 + 1, 4*(pieceSize/6/3) + 2},
		{"before another one", head, "\n" + most + "y\n", 1, 2},
	} {
		for _, piece := range []int64{100, maxLine, maxLine + 1, pieceSize} {
			if piece < pieceSize && c.row > 10_000 {
				continue // thousands of pieces
			}
			read := func(text string) error {
				file, err := openCSV(bytes.NewReader([]byte(text)), int64(len(text)), piece)
				require.NoError(t, err)
				l := pairs(t)
				l.Threads = 2
				if err := l.readPieces(file); err != nil {
					return err
				}
				require.Empty(t, l.faults.list())
				return nil
			}
			if c.name != "before another one" {
				require.NoError(t, read(c.before+most+c.after), "%s in pieces of %d", c.name, piece)
			}
			want := Faults{{Row: c.row, Line: c.line, Message: "a line of more than 65536 bytes, want at most so many"}}
			require.Equal(t, want, read(c.before+most+"x"+c.after), "%s in pieces of %d", c.name, piece)
			require.Equal(t, want, read(c.before+most+strings.Repeat("x", 3*maxLine)+c.after), "%s in pieces of %d", c.name, piece)
		}
	}
	header := head[:len(head)-1] + ",_" + strings.Repeat("x", maxLine-len(head)-1)
	for _, end := range []string{"", "\n", "\r\n", "\n1,2,3,4\n"} {
		require.NoError(t, Read(strings.NewReader(header+end), "w.csv", pairs(t).Options))
		err := Read(strings.NewReader(header+"x"+end), "w.csv", pairs(t).Options)
		require.ErrorContains(t, err, "line 1: a line of more than 65536 bytes, want a header")
	}
}

func TestLine(t *testing.T) {
	text := "source,target\n1,2\n\n3,4\r\n\r\n5,6"
	for i, want := range []uint64{2, 4, 6} {
		line, err := Line(bytes.NewReader([]byte(text)), "w.csv", uint64(i)+1)
		require.NoError(t, err)
		require.Equal(t, want, line)
	}
	line, err := Line(nil, "w.parquet", 3)
	require.NoError(t, err)
	require.Zero(t, line)
	_, err = Line(bytes.NewReader(nil), "w.csv", 1)
	require.Error(t, err)
	_, err = Line(unreadable{}, "w.csv", 1)
	require.ErrorIs(t, err, io.ErrClosedPipe)
	require.ErrorIs(t, Read(unreadable{}, "w.csv", pairs(t).Options), io.ErrClosedPipe)
	require.Equal(t, "csv", strings.TrimPrefix(Format("a.b.csv"), "."))
	require.Empty(t, Format("csv"))
	require.Equal(t, ".csv", Format(".csv"))
}

// unreadable is a file that cannot be read.
type unreadable struct{}

func (unreadable) ReadAt([]byte, int64) (int, error) { return 0, io.ErrClosedPipe }
func (unreadable) Seek(int64, int) (int64, error)    { return 0, io.ErrClosedPipe }

// shrunk says that it is longer than it is.
type shrunk struct{ *bytes.Reader }

func (s shrunk) Seek(offset int64, whence int) (int64, error) {
	n, err := s.Reader.Seek(offset, whence)
	return n + 100, err
}

// A file that has become shorter while it is read is told.
func TestShrunk(t *testing.T) {
	err := Read(shrunk{bytes.NewReader([]byte("source,target\n1,2\n"))}, "w.csv", pairs(t).Options)
	require.ErrorIs(t, err, io.ErrUnexpectedEOF)
}
