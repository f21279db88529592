package tables

import (
	"bytes"
	"encoding/binary"
	"encoding/csv"
	"io"
	"math"
	"slices"
	"strconv"

	"burst/record/manifest"

	"github.com/apache/arrow-go/v18/arrow"
)

// CSV begins a CSV text; its first error is told by Error after Flush.
func CSV(w io.Writer, head []string) *csv.Writer {
	c := csv.NewWriter(w)
	c.Write(head)
	return c
}

// Whole is a number as text.
func Whole(n uint64) string { return strconv.FormatUint(n, 10) }

// RatesHead is the first line of rates.csv; a line follows for each area in each bin.
var RatesHead = []string{"burst", "bursts", "area", "spikes", "rate_hz"}

// Lines makes the lines of CSV of the rows of a recording. Goroutines may share it.
type Lines struct {
	head   []string
	words  map[string][]string // of columns of words, in quotes where they need them
	digits [10_000]uint32      // four of each number, the first in the lowest byte
}

// NewLines prepares the lines of chunks that Fill has filled for s.
func NewLines(s *arrow.Schema, m *manifest.Manifest) *Lines {
	l := &Lines{words: map[string][]string{}}
	for _, f := range s.Fields() {
		l.head = append(l.head, f.Name)
	}
	for column, words := range Words(m) {
		for _, word := range words {
			l.words[column] = append(l.words[column], quoted(word))
		}
	}
	for n := range l.digits {
		l.digits[n] = uint32(n/1000) + uint32(n/100%10)<<8 + uint32(n/10%10)<<16 + uint32(n%10)<<24 + '0'*0x01010101
	}
	return l
}

// quoted is a word as a field that is not alone in its line.
func quoted(word string) string {
	var b bytes.Buffer
	c := CSV(&b, []string{word, ""})
	c.Flush()
	return string(bytes.TrimSuffix(b.Bytes(), []byte(",\n")))
}

// Head is the first line.
func (l *Lines) Head() []byte {
	var b bytes.Buffer
	CSV(&b, l.head).Flush()
	return b.Bytes()
}

// Append appends the lines of rows from ≤ i < until: areas by name, numbers with as many digits as tell every one apart.
func (l *Lines) Append(text []byte, c *Chunk, from, until int) []byte {
	const rowsAhead = 64 // for which there is room
	if from >= until {
		return text
	}
	cells, width := make([]cell, len(l.head)), 0
	for k, name := range l.head {
		x, longest := &cells[k], mostHeld
		if words := l.words[name]; words != nil {
			*x = cell{kind: wordCell, short: *c.places(name), words: words}
			for _, word := range words {
				longest = max(longest, len(word))
			}
		} else {
			*x = Of(c, name).cell()
		}
		x.last = ^x.first(from) // of none yet
		width += longest + 1
	}
	for row := from; row < until; {
		text = slices.Grow(text, rowsAhead*width)
		room, at := text[:cap(text)], len(text)
		for end := min(until, row+rowsAhead); row < end; row++ {
			for k := range cells {
				at += cells[k].put(room[at:], row, &l.digits) + 1
				room[at-1] = ','
			}
			room[at-1] = '\n'
		}
		text = room[:at]
	}
	return text
}

// mostHeld is the length of the longest number as text.
const mostHeld = 24

// cell writes a column's rows as text. Bursts, times and words come many times in a row, so the text of the last one is kept.
type cell struct {
	kind   cellKind
	short  []uint32 // of a wordCell where in words
	signed []int32
	single []float32
	long   []uint64 // of a doubleCell the bits
	words  []string
	last   uint64
	length int
	held   [mostHeld]byte
}

type cellKind uint8

const (
	shortCell cellKind = iota
	signedCell
	singleCell
	longCell
	doubleCell
	wordCell
)

// cell is that of the column.
func (l list[T]) cell() cell {
	switch s := any(*l.s).(type) {
	case []uint64:
		return cell{kind: longCell, long: s}
	case []float64:
		return cell{kind: doubleCell, long: words[uint64](s)}
	case []uint32:
		return cell{kind: shortCell, short: s}
	case []int32:
		return cell{kind: signedCell, signed: s}
	case []float32:
		return cell{kind: singleCell, single: s}
	}
	panic("BUG: a column of no number")
}

// first is what a kept text is of in a row.
func (c *cell) first(row int) uint64 {
	switch c.kind {
	case longCell, doubleCell:
		return c.long[row]
	case wordCell:
		return uint64(c.short[row])
	}
	return 0
}

// put writes a row into room, which holds the longest text, and says how long it is.
func (c *cell) put(room []byte, row int, digits *[10_000]uint32) int {
	var x uint64
	switch c.kind {
	case shortCell:
		return putDigits(room, c.short[row], digits)
	case signedCell:
		n := c.signed[row]
		if n >= 0 {
			return putDigits(room, uint32(n), digits)
		}
		room[0] = '-'
		return 1 + putDigits(room[1:], -uint32(n), digits)
	case singleCell:
		return len(strconv.AppendFloat(room[:0], float64(c.single[row]), 'g', -1, 32))
	case wordCell:
		x = uint64(c.short[row])
	default:
		x = c.long[row]
	}
	if x != c.last {
		c.keep(x)
	}
	if c.length > mostHeld {
		return copy(room, c.words[x])
	}
	*(*[mostHeld]byte)(room) = c.held
	return c.length
}

// keep makes the text of x the one that is kept, if it is not too long.
func (c *cell) keep(x uint64) {
	c.last = x
	switch c.kind {
	case wordCell:
		c.length = len(c.words[x])
		copy(c.held[:], c.words[x])
	case doubleCell:
		c.length = len(strconv.AppendFloat(c.held[:0], math.Float64frombits(x), 'g', -1, 64))
	default:
		c.length = len(strconv.AppendUint(c.held[:0], x, 10))
	}
}

// putDigits writes a number into room for mostHeld bytes, four digits at a time.
func putDigits(room []byte, n uint32, digits *[10_000]uint32) int {
	at := 0
	if n >= 1e8 {
		at = putFirst(room, n/1e8, digits)
		n %= 1e8
		binary.LittleEndian.PutUint32(room[at:], digits[n/10_000])
	} else if n >= 10_000 {
		at = putFirst(room, n/10_000, digits) - 4
	} else {
		return putFirst(room, n, digits)
	}
	binary.LittleEndian.PutUint32(room[at+4:], digits[n%10_000])
	return at + 8
}

// putFirst writes up to four digits, the first of which is not 0 unless it is alone.
func putFirst(room []byte, n uint32, digits *[10_000]uint32) int {
	length := 1
	if n >= 10 {
		length++
	}
	if n >= 100 {
		length++
	}
	if n >= 1000 {
		length++
	}
	binary.LittleEndian.PutUint32(room, digits[n]>>(8*(4-length)))
	return length
}
