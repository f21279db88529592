// Package edgelist reads and writes lists of synapses, and reads lists of spikes: CSV, Parquet and Arrow files with a row for
// each. It turns a file into columns, checked row by row, of which connectome makes synapses and sources.
package edgelist

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"burst/genome"
	"burst/internal/tabular"
)

// Table holds the columns of a list, in the order of its rows. Columns that the file does not have are nil.
type Table struct {
	Source, Target []uint32
	Weight         []float64   // in the target's input unit
	Delay          []uint16    // bursts, from 1; nil also when all are 1 and the file has the column
	Delays         bool        // the file has a column of delays
	Port           []uint8     // which of the target's ports, from 0
	More           [][]float32 // of each of Options.More
}

// bytesARow is the memory of a row with all columns.
const bytesARow = 4 + 4 + 8 + 2 + 1

// Bytes is the memory that n rows take at most, with so many columns of Options.More.
func Bytes(n uint64, more int) uint64 { return n * uint64(bytesARow+4*more) }

// Side is what the numbers of a column of neurons may be.
type Side struct {
	Count uint64 // 0…Count−1 are allowed; at most 2^32
	Of    string // whose neurons these are, for messages
}

// Options says what a list must be like.
type Options struct {
	Source, Target Side
	Timestep       float64 // ms a burst
	MostDelay      int     // bursts
	MaxRows        uint64  // more are a TooManyError, before anything is allocated for them
	Threads        int     // 0: all processors; the result is the same for any number
	More           []More  // columns of other names
	Others         bool    // columns that nobody asks for are left out, but for those whose names look like mistakes
}

// More is a column of another name.
type More struct {
	Name string
	Take func(x float64) (kept float64, wrong string) // what is kept of a number of it, or what is wrong with it
}

// TooManyError is a list that is longer than Options.MaxRows.
type TooManyError struct{ Rows, Max uint64 }

// Error says how many rows there are and may be.
func (e *TooManyError) Error() string {
	return fmt.Sprintf("%d rows, want at most %d", e.Rows, e.Max)
}

// Read reads the list in f; name tells the format by its ending, one of tabular.Formats. Wrong rows are tabular.Faults, the
// first ones of the file; other errors concern the file as a whole.
func Read(f tabular.File, name string, o Options) (*Table, error) {
	l := &list{Options: o, t: &Table{}}
	err := tabular.Read(f, name, tabular.Options{
		Header: l.header, Allowed: l.limit, Room: l.room, Threads: o.Threads, MaxBytes: Bytes(min(o.MaxRows, 1<<40), len(o.More)),
	})
	if err != nil {
		return nil, err
	}
	l.plainDelays()
	return l.t, nil
}

// list is a list that is being read.
type list struct {
	Options
	t   *Table
	has [columns]bool
}

// limit refuses more rows than are wanted.
func (l *list) limit(rows uint64) error {
	if rows > l.MaxRows {
		return &TooManyError{rows, l.MaxRows}
	}
	return nil
}

// room makes the columns for rows rows.
func (l *list) room(rows uint64) error {
	t := l.t
	t.Source = make([]uint32, rows)
	t.Target = make([]uint32, rows)
	if l.has[weight] {
		t.Weight = make([]float64, rows)
	}
	if l.has[port] {
		t.Port = make([]uint8, rows)
	}
	for range l.More {
		t.More = append(t.More, make([]float32, rows))
	}
	if t.Delays = l.has[delay] || l.has[delayMS]; t.Delays {
		t.Delay = make([]uint16, rows)
	}
	return nil
}

// plainDelays drops delays that are all 1.
func (l *list) plainDelays() {
	for _, d := range l.t.Delay {
		if d != 1 {
			return
		}
	}
	l.t.Delay = nil
}

// column is a column that a list may have, in the order in which the columns of a row are read.
type column int

const (
	source column = iota
	target
	weight
	delay
	delayMS
	port
	columns
)

func columnNames() []string {
	return []string{"source", "target", "weight", "delay", "delay_ms", "port"}
}

func (c column) String() string { return columnNames()[c] }

// header finds the columns by their names. Names that begin with an underscore are left to the user.
func (l *list) header(names []string) (found []tabular.Column, err error) {
	wanted := columnNames()
	for k, name := range wanted {
		c := column(k)
		at, err := tabular.Find(names, name)
		switch {
		case err != nil:
			return nil, err
		case at < 0:
			continue
		}
		l.has[c] = true
		found = append(found, l.column(c, at))
	}
	more := make([]string, len(l.More))
	for k, m := range l.More {
		at, err := tabular.Find(names, m.Name)
		switch {
		case err != nil:
			return nil, err
		case at < 0:
			return nil, fmt.Errorf("no column %q in the header, which has %s%s", tabular.Clip(m.Name), tabular.Clip(strings.Join(names, ", ")), meant(m.Name, names))
		}
		more[k] = m.Name
		found = append(found, tabular.Column{Name: m.Name, At: at, Real: func(row uint64, x float64) string { return l.more(k, row, x) }})
	}
	for _, name := range names {
		switch {
		case slices.Contains(wanted, name), slices.Contains(more, name), strings.HasPrefix(name, "_"):
		case !l.Others || genome.Nearest(name, wanted) != "":
			return nil, unknownColumn(name, names, wanted)
		}
	}
	switch has := &l.has; {
	case !has[source] || !has[target]:
		return nil, fmt.Errorf("columns %q, want source and target", tabular.Clip(strings.Join(names, ", ")))
	case has[delay] && has[delayMS]:
		return nil, errors.New("both columns delay and delay_ms, want one of them")
	}
	return found, nil
}

// column says how the values of a column are taken.
func (l *list) column(c column, at int) tabular.Column {
	column := tabular.Column{Name: c.String(), At: at}
	if c.isReal() {
		column.Real = func(row uint64, x float64) string { return l.real(c, row, x) }
	} else {
		column.Whole = func(row uint64, x int64) string { return l.whole(c, row, x) }
	}
	return column
}

// meant suggests one of the candidates for a mistyped name, if one is near.
func meant(name string, candidates []string) string {
	if near := genome.Nearest(name, candidates); near != "" {
		return fmt.Sprintf("; did you mean %q?", near)
	}
	return ""
}

func unknownColumn(name string, names, wanted []string) error {
	text := fmt.Sprintf("unknown column %q, want one of %s", tabular.Clip(name), strings.Join(wanted, ", "))
	switch near := meant(name, wanted); {
	case near != "":
		text += near
	case len(names) == 1 && strings.ContainsAny(name, ";\t "):
		text += "; columns are separated by commas"
	default:
		text += "; begin its name with _ to have it left out"
	}
	return errors.New(text)
}
