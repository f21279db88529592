package tables

import (
	"bytes"
	"encoding/csv"
	"io"
	"math"
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
	head  []string
	words map[string][]string // of columns of words, in quotes where they need them
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
	cells := make([]func(text []byte, row int) []byte, len(l.head))
	for k, name := range l.head {
		if words := l.words[name]; words != nil {
			places := *c.places(name)
			cells[k] = func(text []byte, row int) []byte { return append(text, words[places[row]]...) }
		} else {
			cells[k] = Of(c, name).cells()
		}
	}
	for row := from; row < until; row++ {
		for k, cell := range cells {
			if k > 0 {
				text = append(text, ',')
			}
			text = cell(text, row)
		}
		text = append(text, '\n')
	}
	return text
}

// cells appends the number of a row. Bursts and times come many times in a row, so the text of the last one is kept.
func (l list[T]) cells() func(text []byte, row int) []byte {
	switch s := any(*l.s).(type) {
	case []uint64:
		return kept(func(row int) uint64 { return s[row] }, func(text []byte, n uint64) []byte { return strconv.AppendUint(text, n, 10) })
	case []float64:
		return kept(func(row int) uint64 { return math.Float64bits(s[row]) }, func(text []byte, bits uint64) []byte {
			return strconv.AppendFloat(text, math.Float64frombits(bits), 'g', -1, 64)
		})
	case []uint32:
		return func(text []byte, row int) []byte { return strconv.AppendUint(text, uint64(s[row]), 10) }
	case []int32:
		return func(text []byte, row int) []byte { return strconv.AppendInt(text, int64(s[row]), 10) }
	case []float32:
		return func(text []byte, row int) []byte { return strconv.AppendFloat(text, float64(s[row]), 'g', -1, 32) }
	}
	panic("BUG: a column of no number")
}

// kept appends what of says of a row, as text.
func kept(of func(row int) uint64, as func(text []byte, x uint64) []byte) func(text []byte, row int) []byte {
	var last uint64
	var held []byte // its text
	return func(text []byte, row int) []byte {
		if x := of(row); x != last || len(held) == 0 {
			last, held = x, as(held[:0], x)
		}
		return append(text, held...)
	}
}
