package runfolder

import (
	"archive/zip"
	"cmp"
	"encoding/binary"
	"fmt"
	"io"
	"math"

	"burst/record/internal/tables"
	"burst/record/manifest"

	"github.com/apache/arrow-go/v18/arrow"
)

// exportNPZ writes NumPy's archive: a .npy file for each column, read from the recording once each so that no column is
// held in memory; area holds indices into area_names, and into area_ids where areas have ids of another genome, variable into
// variable_names.
func exportNPZ(w io.Writer, r Recording, s *arrow.Schema) error {
	rows := uint64(0)
	for c, err := range r.Chunks {
		if err != nil {
			return err
		}
		rows += uint64(len(c.Burst))
	}
	z := zip.NewWriter(w)
	for _, column := range npzColumns(s, &r.Manifest) {
		f, err := npy(z, column.name, column.kind, fmt.Sprintf("(%d,)", rows))
		if err != nil {
			return err
		}
		left := rows // a run that still goes on records more meanwhile
		for c, err := range r.Chunks {
			if left == 0 {
				break
			}
			if err == nil {
				_, err = f.Write(column.bytes(&c))
			}
			if err != nil {
				return err
			}
			left -= uint64(len(c.Burst))
		}
	}
	words := tables.Words(&r.Manifest)
	for _, f := range s.Fields() {
		if list := words[f.Name]; list != nil {
			name := map[string]string{"area_id": "area_ids"}[f.Name]
			if err := npzNames(z, cmp.Or(name, f.Name+"_names"), list); err != nil {
				return err
			}
		}
	}
	f, err := npy(z, "timestep_ms", "<f8", "()")
	if err != nil {
		return err
	}
	if _, err := f.Write(binary.LittleEndian.AppendUint64(nil, math.Float64bits(r.Manifest.Timestep))); err != nil {
		return err
	}
	return z.Close()
}

// npzColumn is an array of the archive.
type npzColumn struct {
	name  string
	kind  string // NumPy's dtype
	bytes func(*Chunk) []byte
}

// npzColumns are those of a table, areas as numbers. Arrow and NumPy hold numbers alike on the little-endian machines that burst
// runs on.
func npzColumns(s *arrow.Schema, m *manifest.Manifest) []npzColumn {
	kinds := map[arrow.Type]string{arrow.UINT64: "<u8", arrow.UINT32: "<u4", arrow.INT32: "<i4", arrow.FLOAT32: "<f4", arrow.FLOAT64: "<f8"}
	var columns []npzColumn
	for _, f := range s.Fields() {
		column := npzColumn{f.Name, kinds[f.Type.ID()], func(c *Chunk) []byte {
			return tables.Of(c, f.Name).Bytes()
		}}
		switch {
		case f.Name == "area_id" && s.HasField("area"): // which tells
			continue
		case f.Name == "area", f.Name == "area_id":
			column.name, column.kind = "area", "<u4"
			column.bytes = func(c *Chunk) []byte { return arrow.Uint32Traits.CastToBytes(c.Area) }
		case f.Name == "variable":
			column.kind = "<u4"
		case tables.Told(f.Name):
			column.bytes = func(c *Chunk) []byte {
				c.Fill(s, m)
				return tables.Of(c, f.Name).Bytes()
			}
		}
		columns = append(columns, column)
	}
	return columns
}

// npy begins an array: magic, version 1.0, and a header padded with spaces to a multiple of 64 bytes (numpy.lib.format).
func npy(z *zip.Writer, name, kind, shape string) (io.Writer, error) {
	f, err := z.CreateHeader(&zip.FileHeader{Name: name + ".npy", Method: zip.Store})
	if err != nil {
		return nil, err
	}
	header := fmt.Sprintf("{'descr': '%s', 'fortran_order': False, 'shape': %s, }", kind, shape)
	const before = len("\x93NUMPY\x01\x00") + 2
	header = fmt.Sprintf("%-*s\n", (before+len(header)+1+63)/64*64-before-1, header)
	start := binary.LittleEndian.AppendUint16([]byte("\x93NUMPY\x01\x00"), uint16(len(header)))
	_, err = f.Write(append(start, header...))
	return f, err
}

// npzNames writes words as UTF-32, all padded to the longest.
func npzNames(z *zip.Writer, array string, words []string) error {
	width := 1
	for _, word := range words {
		width = max(width, len([]rune(word)))
	}
	f, err := npy(z, array, fmt.Sprintf("<U%d", width), fmt.Sprintf("(%d,)", len(words)))
	if err != nil {
		return err
	}
	for _, word := range words {
		text := make([]byte, 4*width)
		for k, r := range []rune(word) {
			binary.LittleEndian.PutUint32(text[4*k:], uint32(r))
		}
		if _, err := f.Write(text); err != nil {
			return err
		}
	}
	return nil
}
