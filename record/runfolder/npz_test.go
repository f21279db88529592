package runfolder

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"io"
	"syscall"
	"testing"

	"burst/record/manifest"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/stretchr/testify/require"
)

// TestGrowingNPZ exports a recording to which a chunk comes whenever it is read: all arrays are as long as the first pass found.
func TestGrowingNPZ(t *testing.T) {
	passes := 0
	chunks := func(yield func(Chunk, error) bool) {
		passes++
		for k := range uint32(passes) {
			if !yield(Chunk{Burst: []uint64{7, 8}, Neuron: []uint32{k, k + 1}, Area: []uint32{0, 0}}, nil) {
				return
			}
		}
	}
	var out memory
	r := Recording{Table: "spikes", Manifest: manifest.Manifest{Areas: []manifest.Area{{Name: "a"}}}, Chunks: chunks}
	s, err := r.schema(nil)
	require.NoError(t, err)
	require.NoError(t, exportNPZ(&out, r, s))
	z, err := zip.NewReader(bytes.NewReader(out), int64(len(out)))
	require.NoError(t, err)
	for name, size := range map[string]int{"burst.npy": 16, "neuron.npy": 8, "area.npy": 8, "index.npy": 8, "time_ms.npy": 16} {
		f, err := z.Open(name)
		require.NoError(t, err)
		all, err := io.ReadAll(f)
		require.NoError(t, err)
		header := 10 + int(binary.LittleEndian.Uint16(all[8:]))
		require.Contains(t, string(all[:header]), "'shape': (2,)")
		require.Len(t, all[header:], size, name)
	}
	require.Equal(t, 2, passes)
}

// TestRuns: a burst that chunks divide is one, and a column of bursts is not written.
func TestRuns(t *testing.T) {
	chunks := func(yield func(Chunk, error) bool) {
		_ = yield(Chunk{Burst: []uint64{3, 3, 7}, Neuron: []uint32{0, 2, 1}, Area: []uint32{0, 0, 0}}, nil) &&
			yield(Chunk{Burst: []uint64{7, 7, 1 << 40}, Neuron: []uint32{2, 3, 0}, Area: []uint32{0, 0, 0}}, nil)
	}
	var out memory
	r := Recording{Table: "spikes", Manifest: manifest.Manifest{Areas: []manifest.Area{{Name: "a"}}}, Chunks: chunks}
	require.NoError(t, ExportRuns(&out, r))
	z, err := zip.NewReader(bytes.NewReader(out), int64(len(out)))
	require.NoError(t, err)
	require.Len(t, z.File, 3)
	words := func(name, kind string) []byte {
		f, err := z.Open(name)
		require.NoError(t, err)
		all, err := io.ReadAll(f) // and the CRC-32
		require.NoError(t, err)
		header := 10 + int(binary.LittleEndian.Uint16(all[8:]))
		require.Contains(t, string(all[:header]), kind)
		return all[header:]
	}
	require.Equal(t, []uint32{0, 2, 1, 2, 3, 0}, arrow.Uint32Traits.CastFromBytes(words("neuron.npy", "<u4")))
	require.Equal(t, []uint64{3, 7, 1 << 40}, arrow.Uint64Traits.CastFromBytes(words("bursts.npy", "<u8")))
	require.Equal(t, []int64{2, 3, 1}, arrow.Int64Traits.CastFromBytes(words("counts.npy", "<i8")))
}

// TestNamesInNPZ: every area's name is there, as long as the longest.
func TestNamesInNPZ(t *testing.T) {
	var out memory
	chunks := func(yield func(Chunk, error) bool) {
		yield(Chunk{Burst: []uint64{7}, Neuron: []uint32{0}, Area: []uint32{0}}, nil)
	}
	areas := []manifest.Area{{Name: "a"}, {Name: "äöü"}, {Name: "bc"}}
	r := Recording{Table: "spikes", Manifest: manifest.Manifest{Areas: areas}, Chunks: chunks}
	s, err := r.schema(nil)
	require.NoError(t, err)
	require.NoError(t, exportNPZ(&out, r, s))
	z, err := zip.NewReader(bytes.NewReader(out), int64(len(out)))
	require.NoError(t, err)
	f, err := z.Open("area_names.npy")
	require.NoError(t, err)
	all, err := io.ReadAll(f)
	require.NoError(t, err)
	header := 10 + int(binary.LittleEndian.Uint16(all[8:]))
	require.Contains(t, string(all[:header]), "'descr': '<U3'")
	var text []rune
	for at := header; at < len(all); at += 4 {
		text = append(text, rune(binary.LittleEndian.Uint32(all[at:])))
	}
	require.Equal(t, []rune("a\x00\x00äöübc\x00"), text)
}

// TestShrinkingNPZ: of rows that are gone when they are read again, no zeros are told.
func TestShrinkingNPZ(t *testing.T) {
	passes := 0
	chunks := func(yield func(Chunk, error) bool) {
		passes++
		for range 3 - passes {
			if !yield(Chunk{Burst: []uint64{7}, Neuron: []uint32{0}, Area: []uint32{0}}, nil) {
				return
			}
		}
	}
	r := Recording{Table: "spikes", Manifest: manifest.Manifest{Areas: []manifest.Area{{Name: "a"}}}, Chunks: chunks}
	s, err := r.schema(nil)
	require.NoError(t, err)
	require.ErrorContains(t, exportNPZ(new(memory), r, s), "spikes has 1 rows fewer")
}

// TestFullNPZ: an error of the file ends the export, in whatever chunk it comes.
func TestFullNPZ(t *testing.T) {
	chunks := func(yield func(Chunk, error) bool) {
		for range 9 {
			if !yield(Chunk{Burst: []uint64{7}, Neuron: []uint32{0}, Area: []uint32{0}}, nil) {
				return
			}
		}
	}
	r := Recording{Table: "spikes", Manifest: manifest.Manifest{Areas: []manifest.Area{{Name: "a"}}}, Chunks: chunks}
	s, err := r.schema([]string{"burst", "neuron"})
	require.NoError(t, err)
	for writes := range 18 {
		left := full(writes)
		require.ErrorIs(t, exportNPZ(&left, r, s), syscall.ENOSPC)
	}
}

// full is a file that takes so many writes.
type full int

func (f *full) WriteAt(b []byte, _ int64) (int, error) {
	if *f--; *f < 0 {
		return 0, syscall.ENOSPC
	}
	return len(b), nil
}

// memory is a file.
type memory []byte

func (m *memory) WriteAt(b []byte, at int64) (int, error) {
	*m = append(*m, make([]byte, max(0, int(at)+len(b)-len(*m)))...)
	return copy((*m)[at:], b), nil
}
