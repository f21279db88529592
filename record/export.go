package record

import (
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strconv"
	"strings"

	"burst/internal/durable"

	"github.com/apache/arrow-go/v18/arrow/ipc"
)

// Formats are the endings that Export knows.
func Formats() []string { return []string{".arrow", ".csv", ".npz", ".parquet"} }

// Export writes a recording to a file in the format of its ending: the same columns as in the run folder. The file
// appears when it is whole; one that is there is replaced.
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
			return writeParquet(w, tableNamed(r.Table).schema(&r.Manifest), r.Manifest.Areas, r.Chunks)
		}
	default:
		return fmt.Errorf("record: %s: want a name that ends with one of %s", path, strings.Join(Formats(), ", "))
	}
	return durable.ReplaceBy(path, func(w io.Writer) error { return write(w, r) })
}

// exportArrow writes an Arrow IPC file, which readers can map into memory.
func exportArrow(w io.Writer, r Recording) error {
	s, areas := tableNamed(r.Table).schema(&r.Manifest), names(r.Manifest.Areas)
	f, err := ipc.NewFileWriter(w, ipc.WithSchema(s))
	if err != nil {
		return err
	}
	for c, err := range r.Chunks {
		if err == nil {
			b := c.batch(s, areas)
			err = f.Write(b)
			b.Release()
		}
		if err != nil {
			return errors.Join(err, f.Close())
		}
	}
	return f.Close()
}

// exportCSV writes areas by name and potentials with as many digits as tell every float32 apart.
func exportCSV(w io.Writer, r Recording) error {
	rows := csvWriter(w, append([]string{"burst", "neuron", "area"}, tableNamed(r.Table).extraNames()...))
	row := make([]string, 3, 5)
	for c, err := range r.Chunks {
		if err != nil {
			return err
		}
		for i := range c.Burst {
			row = append(row[:0], whole(c.Burst[i]), whole(uint64(c.Neuron[i])), r.Manifest.Areas[c.Area[i]].Name)
			if c.Potential != nil {
				row = append(row, strconv.FormatFloat(float64(c.Potential[i]), 'g', -1, 32))
			}
			if c.Port != nil {
				row = append(row, whole(uint64(c.Port[i])), strconv.Itoa(int(c.Sum[i])))
			}
			if err := rows.Write(row); err != nil {
				return err
			}
		}
	}
	rows.Flush()
	return rows.Error()
}
