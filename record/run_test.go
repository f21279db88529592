package record

import (
	"archive/zip"
	"crypto/sha256"
	"encoding/binary"
	"encoding/csv"
	"encoding/hex"
	"errors"
	"flag"
	"io"
	"io/fs"
	"iter"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"testing"

	"burst/connectome"
	"burst/engine"
	"burst/record/internal/tables"
	"burst/record/manifest"
	"burst/record/runfolder"

	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/stretchr/testify/require"
)

var (
	long   = flag.Bool("long", false, "round trips of 10^7 spikes instead of 10^6, a recording of 4.1 million chunks")
	golden = flag.Bool("golden", false, "write testdata/format-N-*")
)

// ragged is a network whose areas have odd sizes, one of them none, and names that formats must quote or encode.
func ragged() []manifest.Area {
	return []manifest.Area{
		{Name: "retina, left", Neurons: 1009, Recorded: 1009, Model: "feagi", Size: [3]uint32{1009, 1, 1}, PerVoxel: 1},
		{Name: "none", First: 1009},
		{Name: "γ-motor", First: 1009, Neurons: 33, Recorded: 33, Model: "lif", Size: [3]uint32{33, 1, 1}, PerVoxel: 1},
	}
}

func raggedManifest() manifest.Manifest {
	return manifest.Manifest{Burst: "test", Genome: "ragged", Connectome: "00c0ffee00c0ffee", Seed: 7, RunSeed: 9, Timestep: 0.1, Scale: 250, Areas: ragged()}
}

// spiking makes bursts of uneven activity: empty ones, full ones, and all between.
func spiking(seed uint64, spikes int) iter.Seq[*engine.Burst] {
	return func(yield func(*engine.Burst) bool) {
		r := rand.New(rand.NewPCG(seed, 0x73706b))
		b := &engine.Burst{}
		for made := 0; made < spikes; b.Number++ {
			share := []float64{0, 0, 0.003, 0.07, 0.4, 1}[r.IntN(6)]
			b.Fired = b.Fired[:0]
			for n := range uint32(1042) {
				if r.Float64() < share && made+len(b.Fired) < spikes {
					b.Fired = append(b.Fired, n)
				}
			}
			made += len(b.Fired)
			if !yield(b) {
				return
			}
		}
	}
}

// flat gathers the rows that a recording should hold, or does.
type flat struct {
	burst     []uint64
	neuron    []uint32
	area      []uint32
	potential []float32
	port      []uint32
	sum       []int32
}

func (f *flat) add(c tables.Chunk) {
	f.burst, f.neuron, f.area = append(f.burst, c.Burst...), append(f.neuron, c.Neuron...), append(f.area, c.Area...)
	f.potential, f.port, f.sum = append(f.potential, c.Potential...), append(f.port, c.Port...), append(f.sum, c.Sum...)
}

func gather(t *testing.T, chunks iter.Seq2[tables.Chunk, error]) flat {
	t.Helper()
	var f flat
	for c, err := range chunks {
		require.NoError(t, err)
		f.add(c)
	}
	return f
}

// wantSpikes is the recording of bursts as it is law: every spike, in order, with its area.
func wantSpikes(bursts iter.Seq[*engine.Burst]) flat {
	var f flat
	for b := range bursts {
		for _, n := range b.Fired {
			area := uint32(0)
			if n >= 1009 {
				area = 2
			}
			f.burst, f.neuron, f.area = append(f.burst, b.Number), append(f.neuron, n), append(f.area, area)
		}
	}
	return f
}

// everySpike plans all neurons.
var everySpike = Plan{Spikes: []connectome.Span{{First: 0, Count: 1042}}}

// same compares without printing millions of rows.
func same[T comparable](t *testing.T, want, got []T, what string) {
	t.Helper()
	require.Equal(t, len(want), len(got), what)
	for i := range want {
		if want[i] != got[i] {
			t.Fatalf("%s: row %d is %v, want %v", what, i, got[i], want[i])
		}
	}
}

func sameRows(t *testing.T, want, got flat) {
	t.Helper()
	same(t, want.burst, got.burst, "burst")
	same(t, want.neuron, got.neuron, "neuron")
	same(t, want.area, got.area, "area")
	same(t, want.potential, got.potential, "potential")
	same(t, want.port, got.port, "port")
	same(t, want.sum, got.sum, "sum")
}

// recorded makes a run folder of the bursts, ended.
func recorded(t *testing.T, plan Plan, bursts iter.Seq[*engine.Burst]) *runfolder.Folder {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "run")
	r, err := Create(dir, Options{Manifest: raggedManifest(), Genome: []byte("burst: v1\n"), Plan: plan})
	require.NoError(t, err)
	a := NewActivity(&connectome.Connectome{Areas: []connectome.Area{
		{Neurons: connectome.Span{Count: 1009}}, {Neurons: connectome.Span{First: 1009}}, {Neurons: connectome.Span{First: 1009, Count: 33}},
	}})
	for b := range bursts {
		require.NoError(t, r.Record(b))
		require.NoError(t, a.Record(b))
	}
	require.NoError(t, r.Close(End{Bursts: a.Bursts(), Digest: "0123456789abcdef", Status: manifest.Complete, Activity: a}))
	f, err := runfolder.Open(dir)
	require.NoError(t, err)
	return f
}

// TestRoundTrip takes spikes through every format: a row lost, doubled, moved or renamed would show.
func TestRoundTrip(t *testing.T) {
	n := 300_000
	if *long {
		n = 10_000_000
	}
	want := wantSpikes(spiking(1, n))
	require.Len(t, want.burst, n)
	f := recorded(t, everySpike, spiking(1, n))
	sameRows(t, want, gather(t, f.Spikes()))
	left, err := filepath.Glob(f.Dir + "/*")
	require.NoError(t, err)
	require.Equal(t, []string{"genome.yaml", "manifest.json", "rates.csv", "spikes.parquet"}, baseNames(left), "no stream is left beside the Parquet file")

	r, err := runfolder.OpenRecording(filepath.Join(f.Dir, "spikes.parquet"))
	require.NoError(t, err)
	require.Equal(t, "spikes", r.Table)
	require.Equal(t, f.Manifest.Areas, r.Manifest.Areas)
	require.Equal(t, 0.1, r.Manifest.Timestep)
	for _, end := range runfolder.Formats() {
		t.Run(end, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "x"+end)
			require.NoError(t, runfolder.Export(path, r))
			sameRows(t, want, readers[end](t, path))
		})
	}
}

func baseNames(paths []string) []string {
	for i := range paths {
		paths[i] = filepath.Base(paths[i])
	}
	return paths
}

// readers read exported files by their formats' own rules.
var readers = map[string]func(t *testing.T, path string) flat{
	".parquet": func(t *testing.T, path string) flat {
		r, err := runfolder.OpenRecording(path)
		require.NoError(t, err)
		return gather(t, r.Chunks)
	},
	".arrow": func(t *testing.T, path string) (f flat) {
		file, err := os.Open(path)
		require.NoError(t, err)
		defer file.Close()
		r, err := ipc.NewFileReader(file)
		require.NoError(t, err)
		defer r.Close()
		require.Equal(t, "0.1 ms", r.Schema().Metadata().ToMap()["burst.unit.burst"])
		for i := range r.NumRecords() {
			b, err := r.RecordBatchAt(i)
			require.NoError(t, err)
			areas := b.Column(2).(*array.Dictionary)
			c := tables.Chunk{Burst: b.Column(0).(*array.Uint64).Uint64Values(), Neuron: b.Column(1).(*array.Uint32).Uint32Values()}
			for i := range c.Burst {
				c.Area = append(c.Area, uint32(areas.GetValueIndex(i)))
			}
			f.add(c)
			b.Release()
		}
		return f
	},
	".csv": func(t *testing.T, path string) (f flat) {
		file, err := os.Open(path)
		require.NoError(t, err)
		defer file.Close()
		r := csv.NewReader(file)
		r.ReuseRecord = true
		head, err := r.Read()
		require.NoError(t, err)
		require.Equal(t, []string{"burst", "neuron", "area", "index", "time_ms"}, head)
		for {
			row, err := r.Read()
			if err == io.EOF {
				return f
			}
			require.NoError(t, err)
			burst, err := strconv.ParseUint(row[0], 10, 64)
			require.NoError(t, err)
			neuron, err := strconv.ParseUint(row[1], 10, 32)
			require.NoError(t, err)
			area := slices.IndexFunc(ragged(), func(a manifest.Area) bool { return a.Name == row[2] })
			f.burst, f.neuron, f.area = append(f.burst, burst), append(f.neuron, uint32(neuron)), append(f.area, uint32(area))
		}
	},
	".npz": func(t *testing.T, path string) (f flat) {
		z, err := zip.OpenReader(path)
		require.NoError(t, err)
		defer z.Close()
		for _, file := range z.File {
			r, err := file.Open()
			require.NoError(t, err)
			all, err := io.ReadAll(r)
			require.NoError(t, err)
			require.Equal(t, "\x93NUMPY\x01\x00", string(all[:8]))
			body := 10 + int(binary.LittleEndian.Uint16(all[8:]))
			require.Zero(t, body%64, "numpy maps arrays that begin at a multiple of 64")
			data := all[body:]
			switch file.Name {
			case "burst.npy":
				f.burst = make([]uint64, len(data)/8)
				_, err = binary.Decode(data, binary.LittleEndian, f.burst)
			case "neuron.npy":
				f.neuron = make([]uint32, len(data)/4)
				_, err = binary.Decode(data, binary.LittleEndian, f.neuron)
			case "area.npy":
				f.area = make([]uint32, len(data)/4)
				_, err = binary.Decode(data, binary.LittleEndian, f.area)
			}
			require.NoError(t, err)
		}
		return f
	},
}

// TestPotentialsAndFCL records both beside spikes of a part of the neurons, through the stream and through Parquet.
func TestPotentialsAndFCL(t *testing.T) {
	ids, rest := []uint32{3, 4, 1008, 1011}, []float32{0, 0, 0, -65}
	var values []engine.Probe
	for _, n := range ids {
		values = append(values, engine.Probe{Neuron: n})
	}
	plan := Plan{Spikes: []connectome.Span{{First: 10, Count: 5}, {First: 1009, Count: 33}}, Values: values, Rest: rest, Potentials: []int{0, 1, 2, 3}, FCL: []connectome.Span{{First: 1009, Count: 33}}}
	var spikes, potentials, fcl flat
	bursts := func(yield func(*engine.Burst) bool) {
		for b := range spiking(2, 40_000) {
			b.Values, b.Candidates = b.Values[:0], b.Candidates[:0]
			for i := range ids {
				b.Values = append(b.Values, float32(b.Number)/3+float32(i)*1e-3)
			}
			for _, n := range b.Fired { // two ports a neuron, kept apart as the ports of areas are
				b.Candidates = append(b.Candidates, engine.Candidate{Port: n, Neuron: n, Sum: -int32(n) - 1})
			}
			for _, n := range b.Fired {
				b.Candidates = append(b.Candidates, engine.Candidate{Port: 1042 + n, Neuron: n, Sum: int32(b.Number) + 1})
			}
			if !yield(b) {
				return
			}
		}
	}
	for b := range bursts {
		for _, n := range b.Fired {
			if n >= 10 && n < 15 || n >= 1009 {
				spikes.add(tables.Chunk{Burst: []uint64{b.Number}, Neuron: []uint32{n}, Area: []uint32{n / 1009 * 2}})
			}
		}
		for i, n := range ids {
			potentials.add(tables.Chunk{Burst: []uint64{b.Number}, Neuron: []uint32{n}, Area: []uint32{n / 1009 * 2}, Potential: []float32{b.Values[i] + rest[i]}})
		}
		for _, c := range b.Candidates {
			if c.Neuron >= 1009 {
				fcl.add(tables.Chunk{Burst: []uint64{b.Number}, Neuron: []uint32{c.Neuron}, Area: []uint32{2}, Port: []uint32{c.Port}, Sum: []int32{c.Sum}})
			}
		}
	}
	f := recorded(t, plan, bursts)
	require.Equal(t, []string{"spikes", "potentials", "fcl"}, f.Tables())
	sameRows(t, spikes, gather(t, f.Spikes()))
	sameRows(t, potentials, gather(t, f.Potentials()))
	sameRows(t, fcl, gather(t, f.FCL()))
	for _, name := range f.Tables() {
		r, err := f.Recording(name)
		require.NoError(t, err)
		for _, end := range runfolder.Formats() {
			require.NoError(t, runfolder.Export(filepath.Join(t.TempDir(), "x"+end), r))
		}
	}
}

// onDisk is how many spikes lie on disk.
func onDisk(r *Run) uint64 {
	if at := r.tracks[tables.Spikes].last.Load(); at != nil {
		return at.Rows
	}
	return 0
}

// TestReadableWhileRunning reads a run that is not over: whole chunks, in order, a beginning of all.
func TestReadableWhileRunning(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run")
	r, err := Create(dir, Options{Manifest: raggedManifest(), Plan: everySpike})
	require.NoError(t, err)
	f, err := runfolder.Open(dir)
	require.NoError(t, err)
	require.Equal(t, manifest.Running, f.Manifest.Status)
	require.Empty(t, gather(t, f.Spikes()).burst)
	var before int
	for b := range spiking(3, 700_000) {
		require.NoError(t, r.Record(b))
	}
	for onDisk(r) == 0 { // the writer is behind
		runtime.Gosched()
	}
	least := int(onDisk(r))
	got := gather(t, f.Spikes())
	before = len(got.burst)
	require.GreaterOrEqual(t, before, least)
	want := wantSpikes(spiking(3, 700_000))
	same(t, want.neuron[:before], got.neuron, "neuron")
	require.NoError(t, r.Fail(errors.New("test"), nil))
	sameRows(t, want, gather(t, f.Spikes()))
}

// TestCreateOverwritesNothing: nothing is written over.
func TestCreateOverwritesNothing(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(dir+"/thesis.tex", nil, 0o600))
	_, err := Create(dir, Options{})
	require.ErrorContains(t, err, "holds thesis.tex already")
	var p *fs.PathError
	require.ErrorAs(t, err, &p)
	_, err = Create(dir+"/thesis.tex", Options{})
	require.ErrorAs(t, err, &p)
	r, err := Create(dir+"/a/b", Options{})
	require.NoError(t, err)
	require.NoError(t, r.Fail(errors.New("test"), nil))
}

// TestRates compares rates.csv with rates counted by hand.
func TestRates(t *testing.T) {
	f := recorded(t, Plan{}, func(yield func(*engine.Burst) bool) {
		for i := range uint64(300) {
			b := &engine.Burst{Number: i, Fired: []uint32{5}}
			if i%2 == 1 {
				b.Fired = append(b.Fired, 1009, 1010, 1041)
			}
			if !yield(b) {
				return
			}
		}
	})
	r, err := f.Rates()
	require.NoError(t, err)
	require.EqualValues(t, 2, r.Width)
	require.EqualValues(t, 300, r.Bursts)
	for k := range r.Spikes[0] {
		require.EqualValues(t, 2, r.Spikes[0][k])
		require.EqualValues(t, 0, r.Spikes[1][k])
		require.EqualValues(t, 3, r.Spikes[2][k])
		require.InDelta(t, 3.0/33/0.0002, r.Hz[2][k], 1e-9)
	}
	require.Empty(t, f.Tables())
	for _, err := range f.Spikes() {
		require.ErrorIs(t, err, fs.ErrNotExist)
	}
}

// TestGenomeOfRun: the genome has the name that the run had, and what is wrong with it stands in the folder's file.
func TestGenomeOfRun(t *testing.T) {
	write := func(text string) *runfolder.Folder {
		dir := filepath.Join(t.TempDir(), "run")
		m := raggedManifest()
		m.GenomeFolder = t.TempDir()
		_, err := Create(dir, Options{Manifest: m, Genome: []byte(text)})
		require.NoError(t, err)
		f, err := runfolder.Open(dir)
		require.NoError(t, err)
		return f
	}
	g, err := write("burst: v1\nareas:\n  - {name: a, neurons: 3, model: lif}\n").Genome()
	require.NoError(t, err)
	require.Equal(t, "ragged", g.Name)
	f := write("burst: v1\nareas:\n  - {name: a, neurons: 3, model: fil}\n")
	_, err = f.Genome()
	require.ErrorContains(t, err, filepath.Join(f.Dir, "genome.yaml")+":3:")
	f = write("burst: v1\nareas:\n  - {name: a, neurons: 3, model: lif}\nprojections:\n  - {from: a, to: a, rule: edges, file: none.csv, weight: 1 mV}\n")
	_, err = f.Genome()
	require.ErrorContains(t, err, filepath.Join(f.Dir, "genome.yaml")+":5:")
}

// TestSameRowsSameBytes: Parquet files of two equal runs are equal, wherever time has cut the chunks of their streams.
func TestSameRowsSameBytes(t *testing.T) {
	m := raggedManifest()
	var whole tables.Chunk
	r := rand.New(rand.NewPCG(2, 71))
	for b := range spiking(4, tables.GroupRows+tables.GroupRows/5) {
		for _, n := range b.Fired {
			whole.Burst, whole.Neuron, whole.Area = append(whole.Burst, b.Number), append(whole.Neuron, n), append(whole.Area, n/1009*2)
			whole.Port, whole.Sum = append(whole.Port, n), append(whole.Sum, int32(r.Uint32()))
		}
	}
	want := parquetSum(t, &m, &whole, func() int { return tables.ChunkRows })
	for range 3 {
		require.Equal(t, want, parquetSum(t, &m, &whole, func() int { return 1 + r.IntN(100_000) }))
	}
}

// parquetSum writes rows in chunks as long as next says, and hashes the file.
func parquetSum(t *testing.T, m *manifest.Manifest, rows *tables.Chunk, next func() int) string {
	t.Helper()
	h := sha256.New()
	require.NoError(t, tables.WriteParquet(h, tables.Named(tables.FCL).Schema(m), m, func(yield func(tables.Chunk, error) bool) {
		for from := 0; from < len(rows.Burst); {
			until := min(from+next(), len(rows.Burst))
			if !yield(tables.Chunk{Burst: rows.Burst[from:until], Neuron: rows.Neuron[from:until], Area: rows.Area[from:until], Port: rows.Port[from:until], Sum: rows.Sum[from:until]}, nil) {
				return
			}
			from = until
		}
	}))
	return hex.EncodeToString(h.Sum(nil))
}

// TestBeginFails: a recording of which one file cannot be made leaves the other one closed.
func TestBeginFails(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run")
	_, err := Create(dir, Options{Manifest: raggedManifest(), Plan: everySpike, Prepare: func(dir string, _ *manifest.Manifest) error {
		return os.WriteFile(filepath.Join(dir, "spikes.sums"), nil, 0o600)
	}})
	require.ErrorIs(t, err, fs.ErrExist)
	open, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Skip("only Linux says which files are open: ", err)
	}
	for _, f := range open {
		to, _ := os.Readlink("/proc/self/fd/" + f.Name()) // the one of the folder itself is gone
		require.NotEqual(t, filepath.Join(dir, "spikes.arrows"), to)
	}
}

// TestOtherVersionsAreRefused: a folder from the future says so.
func TestOtherVersionsAreRefused(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(dir+"/manifest.json", []byte(`{"format": 3}`), 0o600))
	_, err := runfolder.Open(dir)
	require.ErrorContains(t, err, "format 3 found, this version of burst reads formats 1 to 2")
	_, err = runfolder.Open(dir + "/nothing")
	require.ErrorIs(t, err, fs.ErrNotExist)
}
