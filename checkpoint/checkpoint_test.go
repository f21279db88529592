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
	small := encoded(t, example(77, 4050))
	require.InDelta(t, 64<<10, len(small), 1<<10)
	stride := 7 // meets every byte and, over 7 bytes, every bit of one
	if testing.Short() {
		stride = 41
	}
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
	large, many := encoded(t, example(78, 6_250_000)), 10
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
	c := example(77, 4050)
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
	if *golden {
		require.NoError(t, os.WriteFile("testdata/format-1.checkpoint", encoded(t, example(1234, 9)), 0o644))
	}
	got, err := Read(OS{}, "testdata/format-1.checkpoint")
	require.NoError(t, err)
	require.Equal(t, example(1234, 9), got)
	future := encoded(t, example(1, 1))
	binary.LittleEndian.PutUint32(future[8:], Format+6)
	_, err = decode(future)
	require.Equal(t, &VersionError{"x", 7, 1}, err)
	require.ErrorContains(t, err, "format 7 found")
	require.ErrorContains(t, err, "up to format 1")
	t.Logf("R5: checkpoints of formats 1…%d read, format %d refused", Format, Format+6)
}

// FuzzR22Read: no bytes stop the reader or make it take more memory than twice their length and a mebibyte.
func FuzzR22Read(f *testing.F) {
	f.Add(encoded(f, example(3, 5)))
	f.Add(encoded(f, &Checkpoint{}))
	f.Add([]byte(magic))
	huge := encoded(f, example(3, 5))
	binary.LittleEndian.PutUint64(huge[headBytes+24:], 1<<62)
	f.Add(huge)
	f.Fuzz(func(t *testing.T, b []byte) {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		c, err := decode(b)
		runtime.ReadMemStats(&after)
		require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(2*len(b)+1<<20))
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
