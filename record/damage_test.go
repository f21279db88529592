package record

import (
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"burst/record/runfolder"

	"github.com/stretchr/testify/require"
)

// TestDamageIsFound flips single bits and cuts: what the .sums file vouches for either reads as written or is an error.
func TestDamageIsFound(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run")
	r, err := Create(dir, Options{Manifest: raggedManifest(), Plan: everySpike})
	require.NoError(t, err)
	for b := range spiking(4, 2000) {
		require.NoError(t, r.Record(b))
	}
	require.NoError(t, r.Fail(errors.New("test"), nil))
	f, err := runfolder.Open(dir)
	require.NoError(t, err)
	path := filepath.Join(dir, "spikes.arrows")
	good, err := os.ReadFile(path)
	require.NoError(t, err)
	random := rand.New(rand.NewPCG(5, 6))
	try := func(bytes []byte, what string) {
		require.NoError(t, os.WriteFile(path, bytes, 0o600))
		var failed error
		for _, err := range f.Spikes() {
			failed = errors.Join(failed, err)
		}
		var d *runfolder.DamagedError
		require.ErrorAs(t, failed, &d, what)
	}
	for range 200 {
		bad := slices.Clone(good)
		bit := random.IntN(8 * len(bad))
		bad[bit/8] ^= 1 << (bit % 8)
		try(bad, fmt.Sprintf("bit %d", bit))
	}
	for _, n := range []int{0, 1, len(good) / 2, len(good) - 1} {
		try(good[:n], fmt.Sprintf("cut to %d bytes", n))
	}
	require.NoError(t, os.WriteFile(path, append(slices.Clone(good), good[:999]...), 0o600))
	require.Len(t, gather(t, f.Spikes()).burst, 2000, "what no line vouches for is a chunk being written")
}

// TestDamagedParquetIsFound: by its hash in a folder; by itself a file gives an error or rows, and never stops the program.
func TestDamagedParquetIsFound(t *testing.T) {
	f := recorded(t, everySpike, spiking(8, 3000))
	path := filepath.Join(f.Dir, "spikes.parquet")
	good, err := os.ReadFile(path)
	require.NoError(t, err)
	random := rand.New(rand.NewPCG(6, 7))
	for range 300 {
		bad := slices.Clone(good)
		bit := random.IntN(8 * len(bad))
		bad[bit/8] ^= 1 << (bit % 8)
		require.NoError(t, os.WriteFile(path, bad, 0o600))
		var d *runfolder.DamagedError
		for _, err := range f.Spikes() {
			require.ErrorAs(t, err, &d, "bit %d", bit)
		}
		r, err := runfolder.OpenRecording(path)
		if err != nil {
			continue
		}
		for _, err := range r.Chunks {
			if err != nil {
				require.ErrorAs(t, err, &d, "bit %d", bit)
			}
		}
	}
	require.NoError(t, os.Remove(path))
	for _, err := range f.Spikes() {
		require.ErrorIs(t, err, fs.ErrNotExist)
	}
}
