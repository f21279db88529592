package runfolder

import (
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"

	"burst/internal/durable"
	"burst/record/internal/tables"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/ipc"
)

// Formats are the endings that Export knows.
func Formats() []string { return []string{".arrow", ".csv", ".npz", ".parquet"} }

// Columns are the names of those that Export writes of a recording: the columns of the run folder, then, where rows are of
// neurons, index, the neuron in its area, and time_ms.
func (r Recording) Columns() (names []string) {
	for _, f := range tables.Named(r.Table).ExportSchema(&r.Manifest).Fields() {
		names = append(names, f.Name)
	}
	return names
}

// Export writes a recording to a file in the format of its ending: the columns that are named, in their order, or all Columns
// where none is. The file appears when it is whole; one that is there is replaced.
func Export(path string, r Recording, columns ...string) error {
	s, err := r.schema(columns)
	if err != nil {
		return err
	}
	var write func(io.Writer, Recording, *arrow.Schema) error
	switch filepath.Ext(path) {
	case ".arrow":
		write = exportArrow
	case ".csv":
		write = exportCSV
	case ".npz":
		return durable.ReplaceAt(path, func(w io.WriterAt) error { return exportNPZ(w, r, s) })
	case ".parquet":
		write = func(w io.Writer, r Recording, s *arrow.Schema) error {
			return tables.WriteParquet(w, s, &r.Manifest, r.Chunks)
		}
	default:
		return fmt.Errorf("record: %s: want a name that ends with one of %s", path, strings.Join(Formats(), ", "))
	}
	return durable.ReplaceBy(path, func(w io.Writer) error { return write(w, r, s) })
}

// schema is that of an export of the columns.
func (r Recording) schema(columns []string) (*arrow.Schema, error) {
	s := tables.Named(r.Table).ExportSchema(&r.Manifest)
	if len(columns) == 0 {
		return s, nil
	}
	var fields []arrow.Field
	for i, name := range columns {
		found, ok := s.FieldsByName(name)
		if !ok {
			return nil, fmt.Errorf("record: no column %q of %s, want one of %s", name, r.Table, strings.Join(r.Columns(), ", "))
		}
		if slices.Contains(columns[:i], name) {
			return nil, fmt.Errorf("record: column %q is chosen twice", name)
		}
		fields = append(fields, found...)
	}
	meta := s.Metadata()
	return arrow.NewSchema(fields, &meta), nil
}

// exportArrow writes an Arrow IPC file, which readers can map into memory.
func exportArrow(w io.Writer, r Recording, s *arrow.Schema) error {
	words := tables.Dictionaries(&r.Manifest)
	f, err := ipc.NewFileWriter(w, ipc.WithSchema(s))
	if err != nil {
		return err
	}
	for c, err := range r.Chunks {
		if err == nil {
			c.Fill(s, &r.Manifest)
			b := c.Batch(s, words)
			err = f.Write(b)
			b.Release()
		}
		if err != nil {
			return errors.Join(err, f.Close())
		}
	}
	return f.Close()
}

// rowsAtOnce is how many rows a goroutine turns into text before they are written.
const rowsAtOnce = 1 << 14

// exportCSV writes a chunk at a time, whose lines all processors make, while those before are written.
func exportCSV(w io.Writer, r Recording, s *arrow.Schema) error {
	workers := runtime.GOMAXPROCS(0)
	lines, turn, done := tables.NewLines(s, &r.Manifest), 0, make(chan error, 1)
	texts := [2][][]byte{make([][]byte, workers), make([][]byte, workers)}
	_, err := w.Write(lines.Head())
	done <- err
	for c, err := range r.Chunks {
		if err != nil {
			return errors.Join(err, <-done)
		}
		c.Fill(s, &r.Manifest)
		for first := 0; first < len(c.Burst); first += workers * rowsAtOnce {
			list := texts[turn]
			turn = 1 - turn
			var all sync.WaitGroup
			for k := range list {
				from := min(len(c.Burst), first+k*rowsAtOnce)
				all.Go(func() { list[k] = lines.Append(list[k][:0], &c, from, min(len(c.Burst), from+rowsAtOnce)) })
			}
			all.Wait()
			if err := <-done; err != nil {
				return err
			}
			go func() { done <- writeAll(w, list) }()
		}
	}
	return <-done
}

func writeAll(w io.Writer, texts [][]byte) error {
	for _, text := range texts {
		if _, err := w.Write(text); err != nil {
			return err
		}
	}
	return nil
}
