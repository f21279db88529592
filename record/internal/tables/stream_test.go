package tables

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"

	"burst/record/manifest"
)

// TestReadAhead: however many goroutines read, chunks come in order; one that is damaged ends them, after those before it; and a reader
// may leave early.
func TestReadAhead(t *testing.T) {
	m := manifest.Manifest{Areas: []manifest.Area{{Name: "a", Neurons: 50, Recorded: 50}}, Timestep: 1}
	base, table := filepath.Join(t.TempDir(), Spikes), Named(Spikes)
	data, err := os.Create(base + ".arrows")
	require.NoError(t, err)
	sums, err := os.Create(base + ".sums")
	require.NoError(t, err)
	s, err := NewStream(data, sums, table.StreamSchema(&m))
	require.NoError(t, err)
	const count = 11
	var ends []int64
	for i := range uint64(count) {
		b := NewBlock()
		for burst := 3 * i; burst < 3*i+3; burst++ {
			b.Rows.Neuron = append(b.Rows.Neuron, uint32(i), uint32(20+burst%3), 49)
			b.End(burst)
		}
		require.NoError(t, s.Write(b))
		require.False(t, s.Synced())
		info, err := data.Stat()
		require.NoError(t, err)
		ends = append(ends, info.Size())
		if i%3 == 2 || i == count-1 { // some at a time
			before, err := sums.Stat()
			require.NoError(t, err)
			at, err := s.Sync()
			require.NoError(t, err)
			require.True(t, s.Synced())
			after, err := sums.Stat()
			require.NoError(t, err)
			require.Greater(t, after.Size(), before.Size())
			require.Equal(t, []any{info.Size(), 9 * (i + 1), 3*i + 2, after.Size()}, []any{at.Bytes, at.Rows, at.Burst, at.Sums})
		}
	}
	require.NoError(t, s.Close())

	read := func(most int) (got int, err error) {
		for c, e := range ReadStream(base, table, &m) {
			if e != nil {
				return got, e
			}
			require.Len(t, c.Burst, 9)
			require.Equal(t, []uint64{uint64(3 * got), uint64(3*got + 2)}, []uint64{c.Burst[0], c.Burst[8]})
			require.EqualValues(t, got, c.Neuron[0])
			if got++; got == most {
				break
			}
		}
		return got, nil
	}
	for _, processors := range []int{1, 2, 7} {
		before := runtime.GOMAXPROCS(processors)
		for _, most := range []int{1, 4, count, count + 1} {
			got, err := read(most)
			require.NoError(t, err)
			require.Equal(t, min(most, count), got)
		}
		runtime.GOMAXPROCS(before)
	}
	whole, err := os.ReadFile(base + ".arrows")
	require.NoError(t, err)
	for _, at := range []int{0, 1, 6, count - 1} {
		broken := append([]byte(nil), whole...)
		broken[ends[at]-9] ^= 4
		require.NoError(t, os.WriteFile(base+".arrows", broken, 0o666))
		got, err := read(count + 1)
		require.Equal(t, at, got)
		require.ErrorContains(t, err, "hashes to")
	}
}
