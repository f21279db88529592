package record

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"encoding/csv"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"burst/connectome"
	"burst/engine"
	"burst/record/manifest"
	"burst/record/runfolder"

	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	parquet "github.com/apache/arrow-go/v18/parquet/file"
	"github.com/stretchr/testify/require"
)

// TestVoxelColumns: where an area has a grid, recordings and exports say in which voxel each neuron lies, and where areas have ids of
// another genome, these too.
func TestVoxelColumns(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run")
	m := manifest.Manifest{Burst: "test", Genome: "grid", Connectome: "00c0ffee00c0ffee", Timestep: 0.1, Scale: 1, Areas: []manifest.Area{
		{Name: "row", Neurons: 3, Model: "feagi", Size: [3]uint32{3, 1, 1}, PerVoxel: 1},
		{Name: "eye", Aliases: []string{"iic400", "other"}, First: 3, Neurons: 48, Model: "feagi", Size: [3]uint32{2, 3, 4}, PerVoxel: 2},
	}}
	r, err := Create(dir, Options{Manifest: m, Genome: []byte("burst: v1\n"), Plan: Plan{Spikes: []connectome.Span{{First: 0, Count: 51}}}})
	require.NoError(t, err)
	a := NewActivity(&connectome.Connectome{Areas: []connectome.Area{{Neurons: connectome.Span{First: 0, Count: 3}}, {Neurons: connectome.Span{First: 3, Count: 48}}}})
	b := &engine.Burst{Number: 2, Fired: []uint32{2, 3, 4, 5, 17, 50}}
	require.NoError(t, r.Record(b))
	require.NoError(t, a.Record(b))
	require.NoError(t, r.Close(End{Bursts: 1, Spikes: 6, Digest: "0000000000000000", Status: manifest.Complete, Activity: a}))
	f, err := runfolder.Open(dir)
	require.NoError(t, err)
	rows, err := f.Recording("spikes")
	require.NoError(t, err)
	out := t.TempDir()
	export := func(name string, of runfolder.Recording) string {
		path := filepath.Join(out, name)
		require.NoError(t, runfolder.Export(path, of))
		return path
	}
	const want = `burst,neuron,area,area_id,x,y,z,index,time_ms
2,2,row,row,2,0,0,2,0.3
2,3,eye,iic400,0,0,0,0,0.3
2,4,eye,iic400,0,0,0,1,0.3
2,5,eye,iic400,0,0,1,2,0.3
2,17,eye,iic400,0,1,3,14,0.3
2,50,eye,iic400,1,2,3,47,0.3
`
	read := func(path string) string {
		text, err := os.ReadFile(path)
		require.NoError(t, err)
		return string(text)
	}
	require.Equal(t, want, read(export("a.csv", rows)))
	again, err := runfolder.OpenRecording(export("a.parquet", rows))
	require.NoError(t, err)
	require.Equal(t, want, read(export("b.csv", again)), "a file by itself knows its areas")
	stored, err := parquet.OpenParquetFile(filepath.Join(out, "a.parquet"), false)
	require.NoError(t, err)
	defer stored.Close()
	for i, want := range [][]int32{{2, 0, 0, 0, 0, 1}, {0, 0, 0, 0, 1, 2}, {0, 0, 0, 1, 3, 3}} {
		column, err := stored.RowGroup(0).Column(4 + i)
		require.NoError(t, err)
		got := make([]int32, len(want))
		_, _, err = column.(*parquet.Int32ColumnChunkReader).ReadBatch(int64(len(want)), got, nil, nil)
		require.NoError(t, err)
		require.Equal(t, want, got)
	}

	file, err := os.Open(export("a.arrow", rows))
	require.NoError(t, err)
	defer file.Close()
	batches, err := ipc.NewFileReader(file)
	require.NoError(t, err)
	defer batches.Close()
	batch, err := batches.RecordBatchAt(0)
	require.NoError(t, err)
	defer batch.Release()
	var names []string
	for _, field := range batches.Schema().Fields() {
		names = append(names, field.Name)
	}
	require.Equal(t, []string{"burst", "neuron", "area", "area_id", "x", "y", "z", "index", "time_ms"}, names)
	require.Equal(t, "iic400", batch.Column(3).(*array.Dictionary).Dictionary().ValueStr(batch.Column(3).(*array.Dictionary).GetValueIndex(5)))
	for i, want := range [][]uint32{{2, 0, 0, 0, 0, 1}, {0, 0, 0, 0, 1, 2}, {0, 0, 0, 1, 3, 3}} {
		require.Equal(t, want, batch.Column(4+i).(*array.Uint32).Uint32Values(), names[4+i])
	}

	z, err := zip.OpenReader(export("a.npz", rows))
	require.NoError(t, err)
	defer z.Close()
	for name, want := range map[string]string{"x.npy": "\x02\x00\x00\x00\x00\x01", "y.npy": "\x00\x00\x00\x00\x01\x02", "z.npy": "\x00\x00\x00\x01\x03\x03"} {
		in, err := z.Open(name)
		require.NoError(t, err)
		all, err := io.ReadAll(in)
		require.NoError(t, err)
		for i := range want {
			require.Equal(t, want[i], all[len(all)-4*len(want)+4*i], name)
		}
	}
	ids, err := z.Open("area_ids.npy")
	require.NoError(t, err)
	require.NoError(t, ids.Close())
}

// TestPositionColumns: where areas have positions, recordings and exports say where each neuron lies, and NaN of the other areas; what a
// run has recorded is read back from any of them.
func TestPositionColumns(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run")
	m := manifest.Manifest{Burst: "test", Genome: "sheet", Connectome: "00c0ffee00c0ffee", Timestep: 1, Scale: 1, Areas: []manifest.Area{
		{Name: "row", Neurons: 3, Model: "lif", Size: [3]uint32{3, 1, 1}, PerVoxel: 1},
		{Name: "sheet", First: 3, Neurons: 16, Model: "lif", Size: [3]uint32{4, 2, 1}, PerVoxel: 2, Space: &manifest.Space{Extent: [3]float64{100, 30, 5}, Center: [3]float64{0, 0.5, -7}}},
	}}
	r, err := Create(dir, Options{Manifest: m, Genome: []byte("burst: v1\n"), Plan: Plan{Spikes: []connectome.Span{{First: 0, Count: 19}}}})
	require.NoError(t, err)
	require.NoError(t, r.Record(&engine.Burst{Number: 2, Fired: []uint32{2, 3, 4, 5, 18}}))
	a := NewActivity(&connectome.Connectome{Areas: []connectome.Area{{Neurons: connectome.Span{First: 0, Count: 3}}, {Neurons: connectome.Span{First: 3, Count: 16}}}})
	require.NoError(t, r.Close(End{Bursts: 3, Spikes: 5, Digest: "0000000000000000", Status: manifest.Complete, Activity: a}))
	f, err := runfolder.Open(dir)
	require.NoError(t, err)
	rows, err := f.Recording("spikes")
	require.NoError(t, err)
	const want = `burst,neuron,area,x,y,z,x_um,y_um,z_um,index,time_ms
2,2,row,2,0,0,NaN,NaN,NaN,2,3
2,3,sheet,0,0,0,-37.5,-7,-7,0,3
2,4,sheet,0,0,0,-37.5,-7,-7,1,3
2,5,sheet,0,1,0,-37.5,8,-7,2,3
2,18,sheet,3,1,0,37.5,8,-7,15,3
`
	out := t.TempDir()
	for _, end := range []string{"csv", "parquet"} {
		path := filepath.Join(out, "a."+end)
		require.NoError(t, runfolder.Export(path, rows))
		if end != "csv" {
			again, err := runfolder.OpenRecording(path)
			require.NoError(t, err)
			path = filepath.Join(out, end+".csv")
			require.NoError(t, runfolder.Export(path, again))
		}
		text, err := os.ReadFile(path)
		require.NoError(t, err)
		require.Equal(t, want, string(text), end)
	}
	path := filepath.Join(out, "a.npz")
	require.NoError(t, runfolder.Export(path, rows))
	z, err := zip.OpenReader(path)
	require.NoError(t, err)
	defer z.Close()
	file, err := z.Open("y_um.npy")
	require.NoError(t, err)
	data, err := io.ReadAll(file)
	require.NoError(t, err)
	got := make([]float64, 5)
	_, err = binary.Decode(data[len(data)-40:], binary.LittleEndian, got)
	require.NoError(t, err)
	require.True(t, math.IsNaN(got[0]))
	require.Equal(t, []float64{-7, -7, 8, 8}, got[1:])
}

// TestChosenColumns exports one column after the other: it says what it says beside all others, in every format.
func TestChosenColumns(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run")
	m := manifest.Manifest{Burst: "test", Genome: "grid", Connectome: "00c0ffee00c0ffee", Timestep: 0.1, Scale: 1, Areas: []manifest.Area{
		{Name: "row, long", Neurons: 3, Model: "lif", Size: [3]uint32{3, 1, 1}, PerVoxel: 1},
		{Name: "eye", Aliases: []string{"iic400"}, First: 3, Neurons: 48, Model: "lif", Size: [3]uint32{2, 3, 4}, PerVoxel: 2, Space: &manifest.Space{Extent: [3]float64{100, 30, 5}}},
	}}
	r, err := Create(dir, Options{Manifest: m, Genome: []byte("burst: v1\n"), Plan: Plan{Spikes: []connectome.Span{{First: 0, Count: 51}}}})
	require.NoError(t, err)
	for b := range uint64(3) {
		require.NoError(t, r.Record(&engine.Burst{Number: b, Fired: []uint32{uint32(b), 4, 17, 50}}))
	}
	a := NewActivity(&connectome.Connectome{Areas: []connectome.Area{{Neurons: connectome.Span{First: 0, Count: 3}}, {Neurons: connectome.Span{First: 3, Count: 48}}}})
	require.NoError(t, r.Close(End{Bursts: 3, Spikes: 12, Digest: "0000000000000000", Status: manifest.Complete, Activity: a}))
	f, err := runfolder.Open(dir)
	require.NoError(t, err)
	rows, err := f.Recording("spikes")
	require.NoError(t, err)
	all := rows.Columns()
	require.Equal(t, []string{"burst", "neuron", "area", "area_id", "x", "y", "z", "x_um", "y_um", "z_um", "index", "time_ms"}, all)
	for _, end := range runfolder.Formats() {
		path := filepath.Join(t.TempDir(), "all"+end)
		require.NoError(t, runfolder.Export(path, rows))
		want := columnsOf[end](t, path)
		for i := range all {
			chosen := []string{all[(i+5)%len(all)], all[i]}
			path := filepath.Join(t.TempDir(), "some"+end)
			require.NoError(t, runfolder.Export(path, rows, chosen...))
			got := columnsOf[end](t, path)
			for _, name := range chosen {
				if end == ".npz" && name == "area_id" { // there area tells, and area_ids
					require.Contains(t, got, "area_ids")
					name = "area"
				}
				require.NotEmpty(t, want[name])
				require.Equal(t, want[name], got[name], "%s in %s", name, end)
			}
			if end != ".npz" {
				require.Len(t, got, 2, "nothing else is there")
			}
		}
		path = filepath.Join(t.TempDir(), "none"+end)
		require.ErrorContains(t, runfolder.Export(path, rows, "burst", "neurons"), `no column "neurons" of spikes, want one of burst, neuron, area`)
		require.ErrorContains(t, runfolder.Export(path, rows, "burst", "burst"), `"burst" is chosen twice`)
		require.NoFileExists(t, path)
	}
}

// columnsOf are the columns of exported files by their formats, as text or as bytes.
var columnsOf = map[string]func(t *testing.T, path string) map[string]string{
	".csv": func(t *testing.T, path string) map[string]string {
		text, err := os.ReadFile(path)
		require.NoError(t, err)
		lines, err := csv.NewReader(bytes.NewReader(text)).ReadAll()
		require.NoError(t, err)
		found := map[string]string{}
		for k, name := range lines[0] {
			for _, line := range lines[1:] {
				found[name] += line[k] + "\n"
			}
		}
		return found
	},
	".npz": func(t *testing.T, path string) map[string]string {
		z, err := zip.OpenReader(path)
		require.NoError(t, err)
		defer z.Close()
		found := map[string]string{}
		for _, file := range z.File {
			in, err := file.Open()
			require.NoError(t, err)
			all, err := io.ReadAll(in) // and its checksum
			require.NoError(t, err)
			found[strings.TrimSuffix(file.Name, ".npy")] = string(all)
		}
		return found
	},
	".arrow": func(t *testing.T, path string) map[string]string {
		file, err := os.Open(path)
		require.NoError(t, err)
		defer file.Close()
		r, err := ipc.NewFileReader(file)
		require.NoError(t, err)
		defer r.Close()
		found := map[string]string{}
		for i := range r.NumRecords() {
			b, err := r.RecordBatchAt(i)
			require.NoError(t, err)
			for k, f := range b.Schema().Fields() {
				found[f.Name] += fmt.Sprint(f.Type, b.Column(k))
			}
			b.Release()
		}
		return found
	},
	".parquet": func(t *testing.T, path string) map[string]string {
		f, err := parquet.OpenParquetFile(path, false)
		require.NoError(t, err)
		defer f.Close()
		require.Equal(t, "spikes", *f.MetaData().KeyValueMetadata().FindValue("burst.table"))
		found := map[string]string{}
		for k := range f.MetaData().Schema.NumColumns() {
			column, err := f.RowGroup(0).Column(k)
			require.NoError(t, err)
			var values any
			n := f.NumRows()
			switch c := column.(type) {
			case *parquet.Int32ColumnChunkReader:
				values, err = batch(n, c.ReadBatch)
			case *parquet.Int64ColumnChunkReader:
				values, err = batch(n, c.ReadBatch)
			case *parquet.Float64ColumnChunkReader:
				values, err = batch(n, c.ReadBatch)
			case *parquet.ByteArrayColumnChunkReader:
				values, err = batch(n, c.ReadBatch)
			}
			require.NoError(t, err)
			found[f.MetaData().Schema.Column(k).Name()] = fmt.Sprint(values)
		}
		return found
	},
}

// batch reads n values.
func batch[T any](n int64, read func(int64, []T, []int16, []int16) (int64, int, error)) ([]T, error) {
	values := make([]T, n)
	_, got, err := read(n, values, nil, nil)
	return values[:got], err
}
