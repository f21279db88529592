package runfolder

import (
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"burst/internal/durable"
	"burst/record/internal/tables"

	"github.com/apache/arrow-go/v18/arrow/ipc"
)

// Formats are the endings that Export knows.
func Formats() []string { return []string{".arrow", ".csv", ".npz", ".parquet"} }

// Export writes a recording to a file in the format of its ending: the columns of the run folder, then, where rows are of neurons,
// index, the neuron in its area, and time_ms. The file appears when it is whole; one that is there is replaced.
func Export(path string, r Recording) error {
	var write func(io.Writer, Recording) error
	switch filepath.Ext(path) {
	case ".arrow":
		write = exportArrow
	case ".csv":
		write = exportCSV
	case ".npz":
		write = exportNPZ
	case ".parquet":
		write = func(w io.Writer, r Recording) error {
			return tables.WriteParquet(w, tables.Named(r.Table).ExportSchema(&r.Manifest), &r.Manifest, r.Chunks)
		}
	default:
		return fmt.Errorf("record: %s: want a name that ends with one of %s", path, strings.Join(Formats(), ", "))
	}
	return durable.ReplaceBy(path, func(w io.Writer) error { return write(w, r) })
}

// exportArrow writes an Arrow IPC file, which readers can map into memory.
func exportArrow(w io.Writer, r Recording) error {
	s, words := tables.Named(r.Table).ExportSchema(&r.Manifest), tables.Dictionaries(&r.Manifest)
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

// exportCSV writes areas by name and numbers with as many digits as tell every one apart.
func exportCSV(w io.Writer, r Recording) error {
	m := &r.Manifest
	var head []string
	s := tables.Named(r.Table).ExportSchema(m)
	for _, f := range s.Fields() {
		head = append(head, f.Name)
	}
	rows := tables.CSV(w, head)
	row, cells := make([]string, len(head)), make([]func(int) string, len(head))
	for c, err := range r.Chunks {
		if err != nil {
			return err
		}
		c.Fill(s, m)
		for k, name := range head {
			cells[k] = func(i int) string {
				if word, ok := c.Word(m, name, i); ok {
					return word
				}
				return tables.Of(&c, name).Text(i)
			}
		}
		for i := range c.Burst {
			for k := range cells {
				row[k] = cells[k](i)
			}
			if err := rows.Write(row); err != nil {
				return err
			}
		}
	}
	rows.Flush()
	return rows.Error()
}
