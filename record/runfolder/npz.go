package runfolder

import (
	"archive/zip"
	"cmp"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"io"
	"math"

	"burst/record/internal/tables"
	"burst/record/manifest"

	"github.com/apache/arrow-go/v18/arrow"
)

// exportNPZ writes NumPy's archive: a .npy file for each column; area holds indices into area_names, and into area_ids where
// areas have ids of another genome, variable into variable_names. How many rows there are says
// where each column lies; then all columns are written side by side, so that none is held in memory.
func exportNPZ(w io.WriterAt, r Recording, s *arrow.Schema) error { return writeNPZ(w, r, s, nil) }

// writeNPZ writes an archive, with these runs in the place of burst unless they are nil.
func writeNPZ(w io.WriterAt, r Recording, s *arrow.Schema, of *runs) error {
	rows, err := r.count()
	if err != nil {
		return err
	}
	n := npz{recording: r, schema: s, columns: npzColumns(s, &r.Manifest), rows: rows, runs: of}
	if err := n.frame(nil); err != nil {
		return err
	}
	if err := n.fill(w); err != nil {
		return err
	}
	return n.frame(w)
}

// ExportRuns writes NumPy's archive in the form in which a program reads it fastest. `bursts` (uint64) are those that have rows,
// `counts` (int64) are how many rows each has, and the other arrays are the columns that follow from no others, but burst.
func ExportRuns(w io.WriterAt, r Recording) error {
	var stored []string
	for _, name := range r.Columns() {
		if name != "burst" && !tables.Told(name) {
			stored = append(stored, name)
		}
	}
	s, err := r.schema(stored)
	if err != nil {
		return err
	}
	return writeNPZ(w, r, s, &runs{})
}

// npz is an archive that is being written.
type npz struct {
	recording Recording
	schema    *arrow.Schema
	columns   []npzColumn
	rows      uint64
	runs      *runs // nil: burst is a column
}

// runs are bursts that have rows, in order, and how many each has.
type runs struct{ bursts, counts []uint64 }

// add appends the bursts of rows.
func (r *runs) add(rows []uint64) {
	for from := 0; from < len(rows); {
		until := from + 1
		for until < len(rows) && rows[until] == rows[from] {
			until++
		}
		if n := len(r.bursts); n > 0 && r.bursts[n-1] == rows[from] {
			r.counts[n-1] += uint64(until - from)
		} else {
			r.bursts, r.counts = append(r.bursts, rows[from]), append(r.counts, uint64(until-from))
		}
		from = until
	}
}

// fill writes the rows of the columns.
func (n *npz) fill(w io.WriterAt) error {
	left := n.rows // a run that still goes on records more meanwhile
	for c, err := range n.recording.Chunks {
		if left == 0 {
			break
		}
		if err != nil {
			return err
		}
		c.Fill(n.schema, &n.recording.Manifest)
		for i := range n.columns {
			if err := n.columns[i].write(w, n.columns[i].bytes(&c)); err != nil {
				return err
			}
		}
		if n.runs != nil {
			n.runs.add(c.Burst)
		}
		left -= min(left, uint64(len(c.Burst)))
	}
	if left > 0 {
		return fmt.Errorf("record: %s has %d rows fewer than a moment ago", n.recording.Table, left)
	}
	return nil
}

// frame writes all but the rows of the columns, which have their places between. Without w it only finds these places.
func (n *npz) frame(w io.WriterAt) error {
	to := &apart{w: w}
	z := zip.NewWriter(to)
	for i := range n.columns {
		if err := n.columns[i].frame(z, to, n.rows); err != nil {
			return err
		}
	}
	if n.runs != nil {
		return cmp.Or(npzNumbers(z, "bursts", "<u8", n.runs.bursts), npzNumbers(z, "counts", "<i8", n.runs.counts), z.Close())
	}
	words := tables.Words(&n.recording.Manifest)
	for _, f := range n.schema.Fields() {
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
	timestep := math.Float64bits(n.recording.Manifest.Timestep)
	if _, err := f.Write(binary.LittleEndian.AppendUint64(nil, timestep)); err != nil {
		return err
	}
	return z.Close()
}

// apart writes one piece after the other, but skips those that are written apart.
type apart struct {
	w    io.WriterAt // nil: all are
	at   int64
	skip bool
}

func (a *apart) Write(b []byte) (n int, err error) {
	n = len(b)
	if a.w != nil && !a.skip {
		n, err = a.w.WriteAt(b, a.at)
	}
	a.at += int64(n)
	return n, err
}

// npzColumn is an array of the archive.
type npzColumn struct {
	name  string
	kind  string // NumPy's dtype
	bytes func(*Chunk) []byte
	sum   uint32 // CRC-32 of what is written, the header first
	at    int64  // where the next rows go
}

// write writes rows of the column behind those that are there.
func (c *npzColumn) write(w io.WriterAt, b []byte) error {
	n, err := w.WriteAt(b, c.at)
	c.at += int64(n)
	c.sum = crc32.Update(c.sum, crc32.IEEETable, b)
	return err
}

// frame writes what lies around the column's rows to z, which writes to `to`. When the column has no rows yet, it finds their place.
func (c *npzColumn) frame(z *zip.Writer, to *apart, rows uint64) error {
	header := npyHeader(c.kind, fmt.Sprintf("(%d,)", rows))
	size := rows * uint64(c.kind[2]-'0')
	if to.w == nil {
		c.sum = crc32.ChecksumIEEE(header)
	}
	whole, version := uint64(len(header))+size, uint16(20)
	if whole >= math.MaxUint32 {
		version = 45 // the least that knows such sizes
	}
	f, err := z.CreateRaw(&zip.FileHeader{
		Name: c.name + ".npy", Method: zip.Store, Flags: 8, CreatorVersion: version, ReaderVersion: version,
		CRC32: c.sum, CompressedSize64: whole, UncompressedSize64: whole,
	})
	if err == nil {
		_, err = f.Write(header)
	}
	if err == nil {
		err = z.Flush()
	}
	if err != nil {
		return err
	}
	if to.w == nil {
		c.at = to.at
	}
	to.skip = true
	blank := make([]byte, 1<<20)
	for size > 0 && err == nil {
		b := blank[:min(size, uint64(len(blank)))]
		_, err = f.Write(b)
		size -= uint64(len(b))
	}
	if err == nil {
		err = z.Flush()
	}
	to.skip = false
	return err
}

// npzColumns are those of a table, areas as numbers. Arrow and NumPy hold numbers alike on the little-endian machines that burst
// runs on.
func npzColumns(s *arrow.Schema, m *manifest.Manifest) []npzColumn {
	kinds := map[arrow.Type]string{arrow.UINT64: "<u8", arrow.UINT32: "<u4", arrow.INT32: "<i4", arrow.FLOAT32: "<f4", arrow.FLOAT64: "<f8"}
	var columns []npzColumn
	for _, f := range s.Fields() {
		column := npzColumn{name: f.Name, kind: kinds[f.Type.ID()], bytes: func(c *Chunk) []byte {
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
		}
		columns = append(columns, column)
	}
	return columns
}

// npy begins an array.
func npy(z *zip.Writer, name, kind, shape string) (io.Writer, error) {
	f, err := z.CreateHeader(&zip.FileHeader{Name: name + ".npy", Method: zip.Store})
	if err == nil {
		_, err = f.Write(npyHeader(kind, shape))
	}
	return f, err
}

// npyHeader is the beginning of an array: magic, version 1.0, and a header padded with spaces to a multiple of 64 bytes
// (numpy.lib.format).
func npyHeader(kind, shape string) []byte {
	header := fmt.Sprintf("{'descr': '%s', 'fortran_order': False, 'shape': %s, }", kind, shape)
	const before = len("\x93NUMPY\x01\x00") + 2
	header = fmt.Sprintf("%-*s\n", (before+len(header)+1+63)/64*64-before-1, header)
	start := binary.LittleEndian.AppendUint16([]byte("\x93NUMPY\x01\x00"), uint16(len(header)))
	return append(start, header...)
}

// npzNumbers writes numbers, whatever kind of 8 bytes they are.
func npzNumbers(z *zip.Writer, array, kind string, numbers []uint64) error {
	f, err := npy(z, array, kind, fmt.Sprintf("(%d,)", len(numbers)))
	if err == nil {
		_, err = f.Write(arrow.Uint64Traits.CastToBytes(numbers))
	}
	return err
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
