package checkpoint

import (
	"bytes"
	"encoding/binary"
	"flag"
	"fmt"
	"iter"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"

	"burst/engine"
	"burst/internal/slow"

	"github.com/cespare/xxhash/v2"
	"github.com/stretchr/testify/require"
)

var (
	long   = flag.Bool("long", false, "flip every bit of a checkpoint of 64 KiB, not every seventh, and 200 bits of one of 100 MB, not 10")
	golden = flag.Bool("golden", false, "write testdata/format-N.checkpoint")
)

// example is a checkpoint of burst with n neurons and uneven everything.
func example(burst uint64, n int) *Checkpoint {
	r := rand.New(rand.NewPCG(burst, uint64(n)))
	c := &Checkpoint{
		Version: "0.0.0-test", Connectome: 0x0123456789abcdef, Seed: 3, RunSeed: 1 << 63,
		State: engine.State{
			Number: burst, Digest: r.Uint64(), V: make([]float32, n), Refractory: make([]uint16, n), Count: make([]uint16, n),
			More: [][]float32{make([]float32, n), make([]float32, n)}, Queues: [][]uint32{{1, 4}, {}, {0, 2, 3}},
		},
		Recordings: []Recording{{"spikes", 4711, 12, burst - 1, 99, 0xfeedface}, {Table: "fcl"}},
		Activity:   []byte{1, 2, 3, 4, 5},
	}
	for i := range c.Genome {
		c.Genome[i] = byte(i * 7)
	}
	for i := range n {
		c.State.V[i], c.State.More[0][i], c.State.More[1][i] = float32(r.NormFloat64()), r.Float32(), -r.Float32()
		c.State.Refractory[i], c.State.Count[i] = uint16(r.Uint32()), uint16(i)
	}
	return c
}

// learning is example with what projections have learnt: one with everything, one with no synapses, one of FEAGI's.
func learning(burst uint64, n int) *Checkpoint {
	c := example(burst, n)
	r := rand.New(rand.NewPCG(burst, 7))
	floats := func(n int) []float32 {
		list := make([]float32, n)
		for i := range list {
			list[i] = float32(r.NormFloat64())
		}
		return list
	}
	several := func(count, n int) [][]float32 {
		list := make([][]float32, count)
		for k := range list {
			list[k] = floats(n)
		}
		return list
	}
	bursts := func(n int) []uint64 {
		list := make([]uint64, n)
		for i := range list {
			list[i] = r.Uint64N(burst + 1)
		}
		return list
	}
	for _, x := range [][sizeWords]int{{9 * n, 2, n, 1, 2, 5, 3, 2}, {0, 1, 3, 2, 0, 0, 1, 0}, {n, 0, 4, 0, 0, n, 0, 1}} {
		c.State.Plastic = append(c.State.Plastic, engine.Plastic{
			Weight: floats(x[synapses]), Synapse: several(x[synapseValues], x[synapses]),
			Pre: several(x[sourceTraces], x[sources]), PreLast: bursts(x[sources]), Source: several(x[sourceValues], x[sources]),
			Post: several(x[targetTraces], x[targets]), PostLast: bursts(x[targets]),
			Modulator: floats(x[modulatorCount]), ModulatorLast: bursts(x[modulatorCount]),
		})
	}
	return c
}

// driven is example with amplitudes of its spikes, beside what projections have learnt or without.
func driven(c *Checkpoint) *Checkpoint {
	c.State.Amplitudes = [][]engine.Amplitude{{{Neuron: 1, Quanta: -7}, {Neuron: 4, Quanta: 1 << 30}}, {}, {{Neuron: 2, Quanta: 9}}}
	return c
}

// remembering adds memory areas to a checkpoint: a large one, one without a neuron, a small one.
func remembering(c *Checkpoint) *Checkpoint {
	r := rand.New(rand.NewPCG(c.State.Number, 9))
	for _, n := range []int{len(c.State.V) + 3, 0, 2} {
		m := engine.Memory{Pattern: make([]uint64, n), Lifespan: make([]uint32, n), LongTerm: make([]uint8, n), Lost: r.Uint64()}
		for i := range n {
			m.Pattern[i], m.Lifespan[i], m.LongTerm[i] = r.Uint64(), r.Uint32(), uint8(i%2)
		}
		c.State.Memory = append(c.State.Memory, m)
	}
	return c
}

func mapKeys[K comparable, V any](m map[K]V) iter.Seq[K] { return maps.Keys(m) }

// encoded is the bytes of a checkpoint.
func encoded(t testing.TB, c *Checkpoint) []byte {
	var b bytes.Buffer
	require.NoError(t, c.write(&b))
	return b.Bytes()
}

// decode reads a checkpoint from memory.
func decode(b []byte) (*Checkpoint, error) {
	m := newMemory()
	m.names["x"] = &inode{live: b}
	return Read(m, "x")
}

// TestRoundTrip: what is read is what was saved, for sizes around the padding and the blocks.
func TestRoundTrip(t *testing.T) {
	dir := t.TempDir()
	for _, n := range []int{0, 1, 3, 7, 64, blockItems - 1, blockItems + 5} {
		c := example(uint64(n)+1, n)
		path, err := Save(OS{}, dir, c)
		require.NoError(t, err)
		got, err := Read(OS{}, path)
		require.NoError(t, err)
		require.Equal(t, c, got)
		for _, c := range []*Checkpoint{
			learning(uint64(n)+1, n), driven(learning(uint64(n)+1, n)), driven(example(uint64(n)+1, n)), remembering(example(uint64(n)+1, n)),
			remembering(learning(uint64(n)+1, n)), remembering(driven(example(uint64(n)+1, n))), remembering(driven(learning(uint64(n)+1, n))),
		} {
			got, err = decode(encoded(t, c))
			require.NoError(t, err)
			require.Equal(t, c, got)
			require.Equal(t, c.State.Hash(), got.State.Hash())
		}
	}
	bursts, err := List(OS{}, dir)
	require.NoError(t, err)
	require.Equal(t, []uint64{65, blockItems, blockItems + 6}, bursts, "the newest three stay")
	none, path, skipped, err := Newest(OS{}, filepath.Join(dir, "nowhere"))
	require.NoError(t, err)
	require.Nil(t, none)
	require.Empty(t, path)
	require.Empty(t, skipped)
}

// TestNewestSkipsDamage: where the newest is not whole, the one before it is taken, and the damage told.
func TestNewestSkipsDamage(t *testing.T) {
	dir := t.TempDir()
	for i := uint64(8); i < 11; i++ {
		_, err := Save(OS{}, dir, example(i, 40))
		require.NoError(t, err)
	}
	require.NoError(t, os.Truncate(filepath.Join(dir, Name(10)), 600))
	c, path, skipped, err := Newest(OS{}, dir)
	require.NoError(t, err)
	require.Equal(t, example(9, 40), c)
	require.Equal(t, filepath.Join(dir, Name(9)), path)
	require.Len(t, skipped, 1)
	var d *DamagedError
	require.ErrorAs(t, skipped[0], &d)
	require.NoError(t, SetAside(OS{}, path))
	require.FileExists(t, filepath.Join(dir, Name(10)+Damaged))
	_, err = Save(OS{}, dir, example(11, 40))
	require.NoError(t, err)
	bursts, err := List(OS{}, dir)
	require.NoError(t, err)
	require.Equal(t, []uint64{8, 9, 11}, bursts, "three stay that are whole")
	for _, i := range bursts {
		require.NoError(t, os.Truncate(filepath.Join(dir, Name(i)), 3))
	}
	_, _, _, err = Newest(OS{}, dir)
	require.ErrorAs(t, err, &d)
}

// refused fails unless b is refused, with a section named.
func refused(t *testing.T, b []byte, what string, at int) bool {
	_, err := decode(b)
	switch e := err.(type) {
	case *DamagedError:
		return e.Section != "" || t.Failed()
	case *VersionError:
		return true
	}
	t.Errorf("%s %d: %v", what, at, err)
	return false
}

// TestR4Damage flips every bit of a checkpoint of 64 KiB, flips bits of a large one, and cuts at every section's edges.
func TestR4Damage(t *testing.T) {
	c := driven(learning(77, 416))
	small := encoded(t, c)
	require.InDelta(t, 64<<10, len(small), 1<<10)
	stride := slow.Times(193, 7) // 7 meets every byte and, over 7 bytes, every bit of one
	if *long {
		stride = 1
	}
	var flips atomic.Int64
	var wg sync.WaitGroup
	workers := runtime.GOMAXPROCS(0)
	for w := range workers {
		wg.Go(func() {
			b := bytes.Clone(small)
			for bit := w * stride; bit < 8*len(b) && !t.Failed(); bit += workers * stride {
				b[bit/8] ^= 1 << (bit % 8)
				refused(t, b, "bit", bit)
				b[bit/8] ^= 1 << (bit % 8)
				flips.Add(1)
			}
		})
	}
	wg.Wait()
	if testing.Short() {
		return
	}
	large, many := encoded(t, example(78, 6_250_000)), slow.Times(1, 10)
	if *long {
		many = 200
	}
	r := rand.New(rand.NewPCG(4, 4))
	for range many {
		bit := r.IntN(8 * len(large))
		large[bit/8] ^= 1 << (bit % 8)
		refused(t, large, "bit of the large one", bit)
		large[bit/8] ^= 1 << (bit % 8)
	}
	cuts, offset := 0, headBytes+len(c.parts())*entryBytes+sumBytes
	edges := []int{0, 8, 12, headBytes, offset, len(small) - tailBytes, len(small) - len(endMagic)}
	for _, p := range c.parts() {
		offset += int(aligned(p.length))
		edges = append(edges, offset)
	}
	for _, at := range edges {
		for _, n := range []int{at - 1, at, at + 1} {
			if n >= 0 && n < len(small) {
				refused(t, small[:n], "cut to", n)
				cuts++
			}
		}
	}
	refused(t, append(bytes.Clone(small), 0), "a byte more than", len(small))
	t.Logf("R4: %d flips of %d KiB, %d of %d MB, %d cuts: all found", flips.Load(), len(small)>>10, many, len(large)/1_000_000, cuts)
}

// TestR5Golden reads a checkpoint of every format there has been, and refuses one of the next.
func TestR5Golden(t *testing.T) {
	for i, want := range []*Checkpoint{example(1234, 9), learning(1234, 9), driven(learning(1234, 9)), remembering(driven(learning(1234, 9)))} {
		path := fmt.Sprintf("testdata/format-%d.checkpoint", i+1)
		if *golden {
			require.NoError(t, os.WriteFile(path, encoded(t, want), 0o644))
		}
		b, err := os.ReadFile(path)
		require.NoError(t, err)
		require.Equal(t, b, encoded(t, want), "nothing is written in another way")
		got, err := Read(OS{}, path)
		require.NoError(t, err)
		require.Equal(t, want, got)
		require.EqualValues(t, i+1, got.Format())
	}
	future := encoded(t, example(1, 1))
	binary.LittleEndian.PutUint32(future[8:], Format+6)
	_, err := decode(future)
	require.Equal(t, &VersionError{"x", Format + 6, Format}, err)
	require.ErrorContains(t, err, fmt.Sprintf("format %d found", Format+6))
	require.ErrorContains(t, err, fmt.Sprintf("up to format %d", Format))
	t.Logf("R5: checkpoints of formats 1…%d read, format %d refused", Format, Format+6)
}

// mostMemory is what reading so many bytes may take: twice as much; with plastic projections, of which a table and empty arrays take
// more than their numbers, 12 times.
func mostMemory(b []byte) uint64 {
	if len(b) > 8 && b[8] >= plasticFormat {
		return uint64(12*len(b) + 3<<20)
	}
	return uint64(2*len(b) + 1<<20)
}

// FuzzR22Read: no bytes stop the reader or make it take more memory than mostMemory.
func FuzzR22Read(f *testing.F) {
	f.Add(encoded(f, example(3, 5)))
	f.Add(encoded(f, &Checkpoint{}))
	f.Add(encoded(f, learning(3, 5)))
	f.Add(encoded(f, driven(example(3, 5))))
	f.Add(encoded(f, driven(learning(3, 5))))
	f.Add(encoded(f, remembering(example(3, 5))))
	f.Add(encoded(f, remembering(learning(3, 5))))
	f.Add([]byte(magic))
	huge := encoded(f, example(3, 5))
	binary.LittleEndian.PutUint64(huge[headBytes+24:], 1<<62)
	f.Add(huge)
	f.Fuzz(func(t *testing.T, b []byte) {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		c, err := decode(b)
		runtime.ReadMemStats(&after)
		require.Less(t, after.TotalAlloc-before.TotalAlloc, mostMemory(b))
		if err == nil {
			require.Equal(t, b, encoded(t, c), "what is accepted is what would be written")
		}
	})
}

// TestAllocationIsBounded: lengths that a file names are held against its size before memory is taken for them.
func TestAllocationIsBounded(t *testing.T) {
	c := example(3, 200_000)
	b := encoded(t, c)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, err := decode(b)
	runtime.ReadMemStats(&after)
	require.NoError(t, err)
	require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(2*len(b)+1<<20))
	parts := c.parts()
	parts[0].length = 1 << 50 // a header that is whole, but lies
	head, err := c.head(parts)
	require.NoError(t, err)
	lie := append(head, b[len(head):]...)
	runtime.ReadMemStats(&before)
	_, err = decode(lie)
	runtime.ReadMemStats(&after)
	require.ErrorContains(t, err, `section "V" of 1125899906842624 bytes`)
	require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(1<<20))
}

// TestLengthsNearTheEnd: a section as long as 64 bits can say is refused, though its length, made even, or its end is small again.
func TestLengthsNearTheEnd(t *testing.T) {
	c := example(3, 9)
	b := encoded(t, c)
	count := uint64(len(c.parts()))
	for i := range count {
		at := headBytes + i*entryBytes
		for _, length := range []uint64{1<<64 - 1, 1<<64 - 7, 1<<64 - 8, 1<<64 - 4096, -binary.LittleEndian.Uint64(b[at+16:]), 1 << 63, uint64(len(b)), uint64(len(b)) + 1} {
			bad := bytes.Clone(b)
			binary.LittleEndian.PutUint64(bad[at+24:], length)
			table := headBytes + count*entryBytes
			binary.LittleEndian.PutUint64(bad[table:], xxhash.Sum64(bad[:table]))
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			_, err := decode(bad)
			runtime.ReadMemStats(&after)
			var d *DamagedError
			require.ErrorAs(t, err, &d, "section %d of %d bytes", i, length)
			require.Equal(t, "header", d.Section)
			require.Contains(t, d.Reason, fmt.Sprintf("of %d bytes at", length))
			require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(1<<20))
		}
	}
}
