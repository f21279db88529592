// Package edgelist reads and writes lists of synapses, and reads lists of spikes: CSV, Parquet and Arrow files with a row for
// each. It turns a file into columns, checked row by row, of which connectome makes synapses and sources.
package edgelist

import (
	"errors"
	"fmt"
	"io"
	"runtime"
	"strings"

	"burst/genome"
)

// File is what Read needs of a file; os.File, embed's files and bytes.Reader have it.
type File interface {
	io.ReaderAt
	io.Seeker
}

// Table holds the columns of a list, in the order of its rows. Columns that the file does not have are nil.
type Table struct {
	Source, Target []uint32
	Weight         []float64 // in the target's input unit
	Delay          []uint8   // bursts, 1…255; nil also when all are 1 and the file has the column
	Delays         bool      // the file has a column of delays
	Port           []uint8   // which of the target's ports, from 0
	Burst          []uint64  // of a list of spikes, whose neurons are in Source
}

// bytesARow is the memory of a row with all columns.
const bytesARow = 4 + 4 + 8 + 1 + 1

// Bytes is the memory that n rows take at most.
func Bytes(n uint64) uint64 { return n * bytesARow }

// Side is what the numbers of a column of neurons may be.
type Side struct {
	Count uint64 // 0…Count−1 are allowed; at most 2^32
	Of    string // whose neurons these are, for messages
}

// Options says what a list must be like.
type Options struct {
	Spikes         bool // the list is one of spikes, whose neurons are those of Source
	Source, Target Side
	Timestep       float64 // ms a burst
	MaxRows        uint64  // more are a TooManyError, before anything is allocated for them
	Threads        int     // 0: all processors; the result is the same for any number
}

// TooManyError is a list that is longer than Options.MaxRows.
type TooManyError struct{ Rows, Max uint64 }

// Error says how many rows there are and may be.
func (e *TooManyError) Error() string {
	return fmt.Sprintf("%d rows, want at most %d", e.Rows, e.Max)
}

// Read reads the list in f; name tells the format by its ending, one of genome.EdgeFormats. Wrong rows are Faults, the
// first ones of the file; other errors concern the file as a whole.
func Read(f File, name string, o Options) (t *Table, err error) {
	size, err := f.Seek(0, io.SeekEnd)
	if err != nil {
		return nil, err
	}
	if o.Threads <= 0 {
		o.Threads = runtime.GOMAXPROCS(0)
	}
	l := &list{Options: o, t: &Table{}}
	switch format(name) {
	case ".csv":
		err = l.readCSV(f, size)
	case ".parquet":
		err = l.readParquet(f, size)
	case ".arrow", ".arrows":
		err = l.readArrow(f, size)
	default:
		return nil, fmt.Errorf("expects a file that ends in %s, found %q", strings.Join(genome.EdgeFormats(), ", "), name)
	}
	if err != nil {
		return nil, err
	}
	if faults := l.faults.list(); faults != nil {
		return nil, faults
	}
	l.plainDelays()
	return l.t, nil
}

func format(name string) string {
	if at := strings.LastIndexByte(name, '.'); at >= 0 {
		return name[at:]
	}
	return ""
}

// list is a list that is being read.
type list struct {
	Options
	t      *Table
	faults collector
}

// limit refuses more rows than are wanted.
func (l *list) limit(rows uint64) error {
	if rows > l.MaxRows {
		return &TooManyError{rows, l.MaxRows}
	}
	return nil
}

// room makes the columns for rows rows.
func (l *list) room(has [columns]bool, rows uint64) error {
	if err := l.limit(rows); err != nil {
		return err
	}
	t := l.t
	t.Source = make([]uint32, rows)
	if has[target] {
		t.Target = make([]uint32, rows)
	}
	if has[burst] {
		t.Burst = make([]uint64, rows)
	}
	if has[weight] {
		t.Weight = make([]float64, rows)
	}
	if has[port] {
		t.Port = make([]uint8, rows)
	}
	if t.Delays = has[delay] || has[delayMS]; t.Delays {
		t.Delay = make([]uint8, rows)
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
	neuron
	burst
	columns
)

func columnNames() []string {
	return []string{"source", "target", "weight", "delay", "delay_ms", "port", "neuron", "burst"}
}

// known are the columns that a list of the kind may have.
func (o *Options) known() (from column, names []string) {
	if o.Spikes {
		return neuron, columnNames()[neuron:]
	}
	return 0, columnNames()[:neuron]
}

func (c column) String() string { return columnNames()[c] }

// header finds the columns by their names: at[c] is the place of column c, −1 when the file does not have it. Names that
// begin with an underscore are left to the user.
func (o *Options) header(names []string) (at [columns]int, has [columns]bool, err error) {
	for c := range at {
		at[c] = -1
	}
	from, wanted := o.known()
next:
	for i, name := range names {
		for k, known := range wanted {
			if name != known {
				continue
			}
			c := from + column(k)
			if has[c] {
				return at, has, fmt.Errorf("column %q found twice", name)
			}
			at[c], has[c] = i, true
			continue next
		}
		if !strings.HasPrefix(name, "_") {
			return at, has, unknownColumn(name, names, wanted)
		}
	}
	switch {
	case o.Spikes && (!has[neuron] || !has[burst]):
		return at, has, fmt.Errorf("columns %q, want neuron and burst", clip(strings.Join(names, ", ")))
	case !o.Spikes && (!has[source] || !has[target]):
		return at, has, fmt.Errorf("columns %q, want source and target", clip(strings.Join(names, ", ")))
	case has[delay] && has[delayMS]:
		return at, has, errors.New("both columns delay and delay_ms, want one of them")
	}
	return at, has, nil
}

func unknownColumn(name string, names, wanted []string) error {
	text := fmt.Sprintf("unknown column %q, want one of %s", clip(name), strings.Join(wanted, ", "))
	switch near := genome.Nearest(name, wanted); {
	case near != "":
		text += fmt.Sprintf("; did you mean %q?", near)
	case len(names) == 1 && strings.ContainsAny(name, ";\t "):
		text += "; columns are separated by commas"
	default:
		text += "; begin its name with _ to have it left out"
	}
	return errors.New(text)
}

// clip cuts a text from a file down to what a message may hold.
func clip(s string) string {
	const most = 60
	if r := []rune(s); len(r) > most {
		return string(r[:most]) + "…"
	}
	return s
}
