// Package tabular reads columns of CSV, Parquet and Arrow files: checked row by row, by several threads, in memory that is
// bounded before it is taken.
package tabular

import (
	"fmt"
	"io"
	"runtime"
	"slices"
	"strings"
)

// Formats lists the endings of the files that Read reads.
func Formats() []string { return []string{".csv", ".parquet", ".arrow", ".arrows"} }

// Format is the ending of a name.
func Format(name string) string {
	if at := strings.LastIndexByte(name, '.'); at >= 0 {
		return name[at:]
	}
	return ""
}

// File is what Read needs of a file; os.File, embed's files and bytes.Reader have it.
type File interface {
	io.ReaderAt
	io.Seeker
}

// FileOf is what has been opened, as a File.
func FileOf(r io.Reader) (File, error) {
	f, ok := r.(File)
	if !ok {
		return nil, fmt.Errorf("expects a file that can be read at any place, found a %T", r)
	}
	return f, nil
}

// Column is a column to be read. One of Whole, Real and Text is set, or the last two; it takes the value of a row, counted from 0,
// or says what is wrong with it. With Real and Text, numbers of Parquet and Arrow go to Real and all of CSV to Text. Calls for
// different rows may be made at the same time.
type Column struct {
	Name     string
	At       int // place among the file's columns
	Whole    func(row uint64, x int64) string
	Real     func(row uint64, x float64) string // whole numbers too
	Text     func(row uint64, s string) string  // true and false too
	Optional bool                               // rows may have no value; none is given for them
}

// Options says what is read, and how much.
type Options struct {
	Header   func(names []string) ([]Column, error) // finds the columns by the names of all
	Room     func(rows uint64) error                // makes memory for that many rows, before any value is given; it may refuse
	Allowed  func(rows uint64) error                // refuses too many rows; Room calls follow
	MaxBytes uint64                                 // of a record batch of an Arrow file, where that is more than 64 MiB
	Threads  int                                    // 0: all processors; the result is the same for any number
}

// Read reads columns of f; name tells the format by its ending, one of Formats. Wrong rows are Faults, the first ones of the file;
// other errors concern the file as a whole.
func Read(f File, name string, o Options) error {
	size, err := f.Seek(0, io.SeekEnd)
	if err != nil {
		return err
	}
	if o.Threads <= 0 {
		o.Threads = runtime.GOMAXPROCS(0)
	}
	r := &reader{Options: o}
	switch Format(name) {
	case ".csv":
		err = r.readCSV(f, size)
	case ".parquet":
		err = r.readParquet(f, size)
	case ".arrow", ".arrows":
		err = r.readArrow(f, size)
	default:
		return fmt.Errorf("expects a file that ends in %s, found %q", strings.Join(Formats(), ", "), name)
	}
	if err != nil {
		return err
	}
	if faults := r.faults.list(); faults != nil {
		return faults
	}
	return nil
}

// reader is a file that is being read.
type reader struct {
	Options
	columns []Column
	faults  collector
}

// header finds the columns.
func (r *reader) header(names []string) (err error) {
	r.columns, err = r.Header(names)
	return err
}

// limit refuses more rows than are wanted.
func (r *reader) limit(rows uint64) error {
	if r.Allowed == nil {
		return nil
	}
	return r.Allowed(rows)
}

func (r *reader) room(rows uint64) error {
	if err := r.limit(rows); err != nil {
		return err
	}
	return r.Room(rows)
}

// whole gives a whole number to its column.
func (c *Column) whole(row uint64, x int64) string {
	if c.Real != nil {
		return c.Real(row, float64(x))
	}
	return c.Whole(row, x)
}

// real gives a number to its column.
func (c *Column) real(row uint64, x float64) string { return c.Real(row, x) }

// missing is what is wrong with a row that has no value.
func (c *Column) missing() string {
	switch {
	case c.Optional:
		return ""
	case c.Text != nil:
		return "nothing (null), want a text"
	}
	return "nothing (null), want a number"
}

// Clip cuts a text from a file down to what a message may hold.
func Clip(s string) string {
	const most = 60
	if r := []rune(s); len(r) > most {
		return string(r[:most]) + "…"
	}
	return s
}

// Find is the place of the column of a name; −1 if there is none. A second one is an error.
func Find(names []string, name string) (int, error) {
	at := slices.Index(names, name)
	if at >= 0 && slices.Contains(names[at+1:], name) {
		return at, fmt.Errorf("column %q found twice", name)
	}
	return at, nil
}
