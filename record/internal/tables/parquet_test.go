package tables

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"testing"

	"burst/record/manifest"

	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/file"
	"github.com/stretchr/testify/require"
)

// groupedManifest has areas of which two are called the same by their aliases, and three variables.
func groupedManifest() *manifest.Manifest {
	return &manifest.Manifest{Timestep: 1, Scale: 1, Variables: []string{"V", "u", "w"}, Areas: []manifest.Area{
		{Name: "b", Aliases: []string{"x"}, Neurons: 1000}, {Name: "a", Aliases: []string{"x"}, First: 1000, Neurons: 1000}, {Name: "c", First: 2000, Neurons: 1000}}}
}

// grouped makes rows for some row groups; only the last ones are of the last area and the last variable.
func grouped(m *manifest.Manifest, rows int) Chunk {
	var c Chunk
	for i := range rows {
		late := uint32(0)
		if i >= 2*GroupRows {
			late = 1
		}
		c.Burst, c.Neuron = append(c.Burst, uint64(i/2000)), append(c.Neuron, uint32(i%2000)+1000*late)
		c.Variable, c.Value = append(c.Variable, uint32(i%2)+late), append(c.Value, float32(i)/3)
	}
	if err := c.locate(Named(Variables), m); err != nil {
		panic(err)
	}
	return c
}

// eachHundredThousand cuts a chunk.
func eachHundredThousand(c Chunk) func(func(Chunk, error) bool) {
	return func(yield func(Chunk, error) bool) {
		for from := 0; from < len(c.Burst); from += 100_000 {
			if !yield(c.slice(from, min(len(c.Burst), from+100_000)), nil) {
				return
			}
		}
	}
}

// TestRowGroups: several row groups hold the rows in order, whatever encodes them, each with the words of its own rows.
func TestRowGroups(t *testing.T) {
	m, rows := groupedManifest(), 3*GroupRows+1234
	c := grouped(m, rows)
	s := Named(Variables).Schema(m)
	var out [2]bytes.Buffer
	for i, n := range []int{1, 5} {
		before := runtime.GOMAXPROCS(n)
		err := WriteParquet(&out[i], s, m, eachHundredThousand(c))
		runtime.GOMAXPROCS(before)
		require.NoError(t, err)
	}
	require.True(t, bytes.Equal(out[0].Bytes(), out[1].Bytes()))

	path := filepath.Join(t.TempDir(), "variables.parquet")
	require.NoError(t, os.WriteFile(path, out[0].Bytes(), 0o600))
	for _, n := range []int{1, 5} {
		before := runtime.GOMAXPROCS(n)
		var got Chunk
		for rows, err := range ReadParquet(path, Named(Variables), m) {
			require.NoError(t, err)
			got.add(rows)
		}
		runtime.GOMAXPROCS(before)
		require.True(t, slices.Equal(c.Burst, got.Burst) && slices.Equal(c.Neuron, got.Neuron) && slices.Equal(c.Variable, got.Variable) && slices.Equal(c.Value, got.Value))
	}

	f, err := file.OpenParquetFile(path, false)
	require.NoError(t, err)
	defer f.Close()
	require.Equal(t, 4, f.NumRowGroups())
	require.EqualValues(t, rows, f.NumRows())
	words := make([]parquet.ByteArray, GroupRows)
	for g, want := range [][3][2]string{{{"a", "b"}, {"x", "x"}, {"V", "u"}}, {{"a", "b"}, {"x", "x"}, {"V", "u"}}, {{"a", "c"}, {"c", "x"}, {"u", "w"}}, {{"a", "c"}, {"c", "x"}, {"u", "w"}}} {
		group := f.RowGroup(g)
		require.Equal(t, int16(g), group.MetaData().Ordinal())
		for i, name := range []string{"area", areaID, variable} {
			at := f.MetaData().Schema.ColumnIndexByName(name)
			column, err := group.Column(at)
			require.NoError(t, err)
			_, n, err := column.(*file.ByteArrayColumnChunkReader).ReadBatch(group.NumRows(), words, nil, nil)
			require.NoError(t, err)
			require.EqualValues(t, min(GroupRows, rows-g*GroupRows), n)
			of, places := Words(m)[name], (*c.places(name))[g*GroupRows:]
			for k := range n {
				if want := of[places[k]]; want != string(words[k]) { // asked before require is, which is slow
					require.Equal(t, want, string(words[k]), "row %d of group %d", k, g)
				}
			}
			meta, err := group.MetaData().ColumnChunk(at)
			require.NoError(t, err)
			seen, err := meta.Statistics()
			require.NoError(t, err)
			require.Equal(t, want[i], [2]string{string(seen.EncodeMin()), string(seen.EncodeMax())})
			require.EqualValues(t, n, seen.NumValues())
			require.Equal(t, []parquet.Encoding{parquet.Encodings.RLEDict, parquet.Encodings.Plain, parquet.Encodings.RLE}, meta.Encodings())
		}
	}
}

// TestPartOfRowGroups: who reads no more leaves no goroutine behind, and what is wrong with a row group is told behind the rows before it.
func TestPartOfRowGroups(t *testing.T) {
	m := groupedManifest()
	c := grouped(m, 3*GroupRows)
	c.Neuron[2*GroupRows+7] = c.Neuron[2*GroupRows+6]
	c.Variable[2*GroupRows+7] = c.Variable[2*GroupRows+6]
	var out bytes.Buffer
	require.NoError(t, WriteParquet(&out, Named(Variables).Schema(m), m, eachHundredThousand(c)))
	path := filepath.Join(t.TempDir(), "variables.parquet")
	require.NoError(t, os.WriteFile(path, out.Bytes(), 0o600))
	for range ReadParquet(path, Named(Variables), m) {
		break
	}
	var got Chunk
	var failed error
	for rows, err := range ReadParquet(path, Named(Variables), m) {
		got.add(rows)
		failed = err
	}
	require.True(t, slices.Equal(c.Neuron[:2*GroupRows], got.Neuron))
	require.ErrorContains(t, failed, "row 7 (burst 262, neuron")
}

// TestWideRowGroups: a row group of another writer may have more rows than a chunk.
func TestWideRowGroups(t *testing.T) {
	m := groupedManifest()
	c := grouped(m, 2*ChunkRows+99)
	e := newEncoder(Named(Variables).Schema(m), m)
	whole, err := e.footer()
	require.NoError(t, err)
	var out bytes.Buffer
	p := Parquet{w: &out, e: e, whole: whole, next: &group{block: *new(Block).of(&c)}}
	require.NoError(t, p.put([]byte(magic)))
	require.NoError(t, p.Finish())
	path := filepath.Join(t.TempDir(), "variables.parquet")
	require.NoError(t, os.WriteFile(path, out.Bytes(), 0o600))
	var got Chunk
	chunks := 0
	for rows, err := range ReadParquet(path, Named(Variables), m) {
		require.NoError(t, err)
		got.add(rows)
		chunks++
	}
	require.Equal(t, 3, chunks)
	require.True(t, slices.Equal(c.Burst, got.Burst) && slices.Equal(c.Neuron, got.Neuron) && slices.Equal(c.Variable, got.Variable))
}

// failing is a disk that is full after some bytes.
type failing int

var errFull = errors.New("no space")

func (f *failing) Write(b []byte) (int, error) {
	if *f -= failing(len(b)); *f < 0 {
		return 0, errFull
	}
	return len(b), nil
}

// TestRowGroupsOnAFullDisk: the error of the disk is told wherever it comes, and nobody goes on encoding.
func TestRowGroupsOnAFullDisk(t *testing.T) {
	m := groupedManifest()
	c := grouped(m, 2*GroupRows+10)
	s := Named(Variables).Schema(m)
	var whole bytes.Buffer
	require.NoError(t, WriteParquet(&whole, s, m, eachHundredThousand(c)))
	for _, room := range []int{0, 100, whole.Len() / 2, whole.Len() - 1} {
		left := failing(room)
		require.ErrorIs(t, WriteParquet(&left, s, m, eachHundredThousand(c)), errFull)
	}
	broken := errors.New("damaged")
	require.ErrorIs(t, WriteParquet(&whole, s, m, func(yield func(Chunk, error) bool) {
		_ = yield(c, nil) && yield(Chunk{}, broken)
	}), broken)
}
