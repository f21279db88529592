package record

import (
	"archive/zip"
	"encoding/binary"
	"fmt"
	"io"
	"math"

	"github.com/apache/arrow-go/v18/arrow"
)

// exportNPZ writes NumPy's archive: a .npy file for each column, read from the recording once each so that no column is
// held in memory; area holds indices into area_names.
func exportNPZ(w io.Writer, r Recording) error {
	rows := uint64(0)
	for c, err := range r.Chunks {
		if err != nil {
			return err
		}
		rows += uint64(len(c.Burst))
	}
	z := zip.NewWriter(w)
	for _, column := range npzColumns(tableNamed(r.Table)) {
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
	if err := npzNames(z, r.Manifest.Areas); err != nil {
		return err
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

// npzColumns are those of a table. Arrow and NumPy hold numbers alike on the little-endian machines that burst runs on.
func npzColumns(t table) []npzColumn {
	columns := []npzColumn{
		{"burst", "<u8", func(c *Chunk) []byte { return arrow.Uint64Traits.CastToBytes(c.Burst) }},
		{"neuron", "<u4", func(c *Chunk) []byte { return arrow.Uint32Traits.CastToBytes(c.Neuron) }},
		{"area", "<u4", func(c *Chunk) []byte { return arrow.Uint32Traits.CastToBytes(c.Area) }},
	}
	for _, name := range t.extraNames() {
		switch name {
		case "potential":
			columns = append(columns, npzColumn{name, "<f4", func(c *Chunk) []byte { return arrow.Float32Traits.CastToBytes(c.Potential) }})
		case "port":
			columns = append(columns, npzColumn{name, "<u4", func(c *Chunk) []byte { return arrow.Uint32Traits.CastToBytes(c.Port) }})
		case "sum":
			columns = append(columns, npzColumn{name, "<i4", func(c *Chunk) []byte { return arrow.Int32Traits.CastToBytes(c.Sum) }})
		}
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

// npzNames writes the areas' names as UTF-32, all as long as the longest.
func npzNames(z *zip.Writer, areas []Area) error {
	width := 1
	for _, a := range areas {
		width = max(width, len([]rune(a.Name)))
	}
	f, err := npy(z, "area_names", fmt.Sprintf("<U%d", width), fmt.Sprintf("(%d,)", len(areas)))
	if err != nil {
		return err
	}
	for _, a := range areas {
		text := make([]byte, 4*width)
		for i, r := range []rune(a.Name) {
			binary.LittleEndian.PutUint32(text[4*i:], uint32(r))
		}
		if _, err := f.Write(text); err != nil {
			return err
		}
	}
	return nil
}
