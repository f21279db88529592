package checkpoint

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// forged is a file of those sections whose checksums are all right.
func forged(t *testing.T, c *Checkpoint, parts []part) []byte {
	t.Helper()
	head, err := c.head(parts)
	require.NoError(t, err)
	b := bytes.NewBuffer(head)
	for _, p := range parts {
		require.NoError(t, p.write(b))
		b.Write(make([]byte, aligned(p.length)-p.length))
	}
	sum := sha256.Sum256(b.Bytes())
	return append(append(b.Bytes(), sum[:]...), endMagic...)
}

// TestForgedSections: sections that are whole and cannot be of a run are refused, each with its name.
func TestForgedSections(t *testing.T) {
	c := example(5, 6)
	good := c.parts()
	require.Equal(t, encoded(t, c), forged(t, c, good))
	at := func(name string) int { return slices.IndexFunc(good, func(p part) bool { return p.name == name }) }
	put := func(p part) []part {
		list := slices.Clone(good)
		list[at(p.name)] = p
		return list
	}
	named := func(i int, name string) []part {
		list := slices.Clone(good)
		list[i].name = name
		return list
	}
	swapped := slices.Clone(good)
	swapped[0], swapped[1] = swapped[1], swapped[0]
	many := slices.Clone(good)
	for len(many) <= mostParts {
		many = slices.Insert(many, 3, good[3])
	}
	for _, x := range []struct {
		name    string
		parts   []part
		section string
		reason  string
	}{
		{"none", nil, "header", "the table of 0 sections does not end with the last one"},
		{"no last one", good[:len(good)-1], "header", "does not end with the last one"},
		{"another order", swapped, "header", `section 0 is "refractory", want "V"`},
		{"another name", named(2, "counts"), "header", `section 2 is "counts", want "count"`},
		{"another variable", named(4, "variable 3"), "header", `section 4 is "variable 3", want "queue lengths"`},
		{"twice at the end", append(slices.Clone(good), good[len(good)-1]), "header", `section 9 is "activity", want "none"`},
		{"too many", many, "header", "81 sections, want at most 80"},
		{"halves of floats", put(numbers("V", make([]byte, 6))), "V", "6 bytes, want a multiple of 4"},
		{"halves of counts", put(numbers("count", make([]byte, 3))), "count", "3 bytes, want a multiple of 2"},
		{"a queue too long", put(numbers("queue lengths", []uint64{2, 0, 4})), "queues", "queue 3 has 4 ids, 3 are left"},
		{"a queue of all", put(numbers("queue lengths", []uint64{1 << 63, 0, 3})), "queues", "queue 1 has 9223372036854775808 ids, 5 are left"},
		{"a queue too short", put(numbers("queue lengths", []uint64{2, 0, 2})), "queues", "1 ids are in no queue"},
		{"no recordings", put(numbers("recordings", []byte{})), "recordings", "0 bytes do not fit"},
		{"fewer recordings", put(numbers("recordings", encodeRecordings(c.Recordings)[:8+recordingBytes])), "recordings", "do not fit the recordings that they name"},
		{"halves of recordings", put(numbers("recordings", encodeRecordings(c.Recordings)[:8+2*recordingBytes-1])), "recordings", "do not fit"},
		{"a recording more", put(numbers("recordings", append(encodeRecordings(c.Recordings), make([]byte, recordingBytes)...))), "recordings", "do not fit"},
		{"a byte more", put(numbers("recordings", append(encodeRecordings(c.Recordings), 0))), "recordings", "do not fit"},
		{"bytes below 0", put(numbers("recordings", encodeRecordings([]Recording{{Table: "fcl", Bytes: -1}}))), "recordings", `recording "fcl" of 18446744073709551615 and 0 bytes`},
		{"sums below 0", put(numbers("recordings", encodeRecordings([]Recording{{Table: "fcl", Sums: -1}}))), "recordings", `recording "fcl" of 0 and 18446744073709551615 bytes`},
	} {
		_, err := decode(forged(t, c, x.parts))
		var d *DamagedError
		require.ErrorAs(t, err, &d, x.name)
		require.Equal(t, x.section, d.Section, "%s: %v", x.name, err)
		require.Contains(t, d.Reason, x.reason, x.name)
		require.True(t, strings.HasPrefix(err.Error(), "x: "+x.section+": "), "the file, the section, what is wrong")
	}
	most := slices.Clone(good)
	for k := len(c.State.More); len(most) < mostParts; k++ {
		p := numbers(moreName(k), []float32{float32(k)})
		most = slices.Insert(most, 3+k, p)
	}
	got, err := decode(forged(t, c, most))
	require.NoError(t, err, "as many as there may be")
	require.Len(t, got.State.More, mostParts-7)
}

// TestForgedAmplitudes: likewise of amplitudes, in files with and without plastic projections.
func TestForgedAmplitudes(t *testing.T) {
	for _, c := range []*Checkpoint{driven(example(5, 6)), driven(learning(5, 6))} {
		good := c.parts()
		require.Equal(t, encoded(t, c), forged(t, c, good))
		at := slices.IndexFunc(good, func(p part) bool { return p.name == amplitudesSection })
		put := func(words ...uint32) []part {
			list := slices.Clone(good)
			list[at] = numbers(amplitudesSection, words)
			return list
		}
		first := slices.Clone(good) // before the queues
		first[4+1], first[at] = first[at], first[4+1]
		for _, x := range []struct {
			parts           []part
			section, reason string
		}{
			{slices.Delete(slices.Clone(good), at, at+1), "header", `is "recordings", want "amplitudes"`},
			{first, "header", `section 5 is "amplitudes", want "queue lengths"`},
			{put(), amplitudesSection, "no list, want one"},
			{put(1, 2), amplitudesSection, "list 1 has 1 entries, 1 words are left"},
			{put(0, 1<<31, 2, 3), amplitudesSection, "list 2 has 2147483648 entries, 2 words are left"},
		} {
			_, err := decode(forged(t, c, x.parts))
			var d *DamagedError
			require.ErrorAs(t, err, &d, x.reason)
			require.Equal(t, x.section, d.Section, "%v", err)
			require.Contains(t, d.Reason, x.reason)
		}
	}
}

// TestForgedPlastic: likewise of plastic projections; sizes that a file cannot have take no memory.
func TestForgedPlastic(t *testing.T) {
	c := learning(5, 6)
	good := c.parts()
	require.Equal(t, encoded(t, c), forged(t, c, good))
	put := func(p part) []part {
		list := slices.Clone(good)
		list[slices.IndexFunc(good, func(q part) bool { return p.name == q.name })] = p
		return list
	}
	sizes := sizesOf(c.State.Plastic)
	sized := func(at int, to uint64) []part {
		list := slices.Clone(sizes)
		list[at] = to
		return put(numbers(sizesSection, list))
	}
	static := slices.DeleteFunc(slices.Clone(good), func(p part) bool { return p.name == sizesSection || plasticSection(p.name) != nil })
	empty := make([]uint64, 3000*sizeWords) // projections without synapses, whose traces are many
	for i := range 3000 {
		empty[i*sizeWords+targetTraces] = 1 << 20
	}
	for _, x := range []struct {
		name    string
		parts   []part
		section string
		reason  string
	}{
		{"none of the sections", static, "header", `section 7 is "recordings", want "plastic sizes"`},
		{"no projection", put(numbers(sizesSection, []uint64{})), sizesSection, "0 numbers, want 8 for each projection"},
		{"half a projection", put(numbers(sizesSection, sizes[:12])), sizesSection, "12 numbers, want 8 for each"},
		{"a projection less", put(numbers(sizesSection, sizes[:16])), "weights", "6 entries belong to no projection"},
		{"a projection more", put(numbers(sizesSection, append(slices.Clone(sizes), sizes...))), "weights", "array 0 of projection 3 has 54 entries, 0 are left"},
		{"a synapse more", sized(0, 55), "weights", "array 0 of projection 2 has 6 entries, 5 are left"},
		{"synapses without end", sized(0, 1<<63), "weights", "array 0 of projection 0 has 9223372036854775808 entries, 60 are left"},
		{"a variable less", sized(1, 1), "synapse values", "54 entries belong to no projection"},
		{"traces without end", sized(8+sourceTraces, 1<<62), sizesSection, "projection 1 has 4611686018427387904 arrays of a kind, a file of"},
		{"empty traces", put(numbers(sizesSection, empty)), sizesSection, "projection 0 has 1048576 arrays of a kind"},
		{"weights gone", put(numbers("weights", []float32{})), "weights", "array 0 of projection 0 has 54 entries, 0 are left"},
		{"halves of bursts", put(numbers("source spikes", make([]byte, 12))), "source spikes", "12 bytes, want a multiple of 8"},
		{"another modulator", put(numbers("modulator bursts", make([]uint64, 4))), "modulator bursts", "1 entries belong to no projection"},
	} {
		b := forged(t, c, x.parts)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := decode(b)
		runtime.ReadMemStats(&after)
		var d *DamagedError
		require.ErrorAs(t, err, &d, x.name)
		require.Equal(t, x.section, d.Section, "%s: %v", x.name, err)
		require.Contains(t, d.Reason, x.reason, x.name)
		require.Less(t, after.TotalAlloc-before.TotalAlloc, mostMemory(b), x.name)
	}
	plain := example(5, 6)
	_, err := decode(forged(t, plain, good))
	require.ErrorContains(t, err, `section 7 is "plastic sizes", want "recordings"`, "a file of format 1 has none of them")
}

// TestForgedMemory: likewise of memory areas.
func TestForgedMemory(t *testing.T) {
	for _, c := range []*Checkpoint{remembering(example(5, 6)), remembering(learning(5, 6))} {
		good := c.parts()
		put := func(p part) []part {
			list := slices.Clone(good)
			list[slices.IndexFunc(good, func(q part) bool { return p.name == q.name })] = p
			return list
		}
		without := slices.DeleteFunc(slices.Clone(good), func(p part) bool { return slices.Contains(memorySections, p.name) })
		at := slices.IndexFunc(good, func(p part) bool { return p.name == keptSection })
		swapped := slices.Clone(good)
		swapped[at+1], swapped[at+2] = good[at+2], good[at+1]
		for _, x := range []struct {
			name    string
			parts   []part
			section string
			reason  string
		}{
			{"none of the sections", without, "header", fmt.Sprintf(`section %d is "recordings", want "memory areas"`, at)},
			{"another order", swapped, "header", fmt.Sprintf(`section %d is "memory lifespans", want "memory patterns"`, at+1)},
			{"no area", put(numbers(keptSection, []uint64{})), keptSection, "0 numbers, want 2 for each memory area"},
			{"half an area", put(numbers(keptSection, []uint64{9, 0, 0})), keptSection, "3 numbers, want 2 for each memory area"},
			{"an area less", put(numbers(keptSection, []uint64{9, 0, 0, 0})), patternsSection, "2 entries belong to no memory area"},
			{"neurons without end", put(numbers(keptSection, []uint64{1 << 63, 0})), patternsSection, "memory area 0 has 9223372036854775808 neurons, 11 are left"},
			{"a lifespan less", put(numbers(lifespansSection, make([]uint32, 10))), lifespansSection, "memory area 2 has 2 neurons, 1 are left"},
			{"a flag more", put(numbers(longTermSection, make([]uint8, 12))), longTermSection, "1 entries belong to no memory area"},
			{"halves of patterns", put(numbers(patternsSection, make([]uint8, 12))), patternsSection, "12 bytes, want a multiple of 8"},
		} {
			_, err := decode(forged(t, c, x.parts))
			var d *DamagedError
			require.ErrorAs(t, err, &d, x.name)
			require.Equal(t, x.section, d.Section, "%s: %v", x.name, err)
			require.Contains(t, d.Reason, x.reason, x.name)
		}
	}
	_, err := decode(forged(t, learning(5, 6), remembering(learning(5, 6)).parts()))
	require.ErrorContains(t, err, `is "memory areas", want "recordings"`, "a file of format 2 has none of them")
}

// TestForgedFrame: what stands around the sections.
func TestForgedFrame(t *testing.T) {
	c := example(5, 6)
	whole := encoded(t, c)
	for name, x := range map[string]struct {
		at              int
		to              string
		section, reason string
	}{
		"another program": {0, "BURSTCKQ", "header", `begins with "BURSTCKQ", want "BURSTCKP"`},
		"format 0":        {8, "\x00\x00\x00\x00", "header", "format 0 with flags 0x0"},
		"flags":           {12, "\x02\x00\x00\x00", "header", "with flags 0x2"},
		"padding":         {len(whole) - tailBytes - 1, "\x01", "padding", `bytes after section "activity" are not zero`},
		"SHA-256":         {len(whole) - tailBytes, "\x00\x00", "SHA-256", "the file says 0000"},
		"end":             {len(whole) - 1, "Q", "end", `is "BURSTENQ", want "BURSTEND"`},
	} {
		bad := bytes.Clone(whole)
		copy(bad[x.at:], x.to)
		_, err := decode(bad)
		var d *DamagedError
		require.ErrorAs(t, err, &d, name)
		require.Equal(t, x.section, d.Section, name)
		require.Contains(t, d.Reason, x.reason, name)
	}
}

// TestForgedSize: where sections end early, the error says where they should.
func TestForgedSize(t *testing.T) {
	whole := encoded(t, example(5, 6))
	end := len(whole) - tailBytes
	_, err := decode(append(bytes.Clone(whole), make([]byte, 8)...))
	require.ErrorContains(t, err, fmt.Sprintf("the sections end at %d, want %d in a file of %d bytes", end, end+8, len(whole)+8))
}

// TestVersions: a version fills its 32 bytes and no more, and holds no NUL, which would end it.
func TestVersions(t *testing.T) {
	c := example(1, 2)
	c.Version = strings.Repeat("v", 32)
	got, err := decode(encoded(t, c))
	require.NoError(t, err)
	require.Equal(t, c.Version, got.Version)
	for _, bad := range []string{strings.Repeat("v", 33), "1\x002"} {
		c.Version = bad
		require.ErrorContains(t, c.write(io.Discard), "want at most 32 bytes without NUL")
	}
	c = example(1, 2)
	c.Recordings = []Recording{{Table: "sixteen letters!"}}
	got, err = decode(encoded(t, c))
	require.NoError(t, err)
	require.Equal(t, c.Recordings, got.Recordings)
	c.Recordings[0].Table += "?"
	require.Panics(t, func() { _ = c.write(io.Discard) })
}

// narrow takes so many writes of w and refuses the next.
type narrow struct{ left int }

func (n *narrow) Write(b []byte) (int, error) {
	if n.left--; n.left < 0 {
		return 0, io.ErrShortWrite
	}
	return len(b), nil
}

// TestWriteFails: whichever write is refused, the error comes out.
func TestWriteFails(t *testing.T) {
	c := example(1, blockItems+3)
	n := 0
	for ; ; n++ {
		if err := c.write(&narrow{n}); err == nil {
			break
		} else {
			require.ErrorIs(t, err, io.ErrShortWrite, "write %d", n)
		}
	}
	require.Greater(t, n, 20)
}

// TestOSFiles: what is no regular file is not opened, and what stands in the way of a new one is replaced, not written through.
func TestOSFiles(t *testing.T) {
	dir := t.TempDir()
	_, _, err := OS{}.Open(dir)
	require.ErrorContains(t, err, "expects a regular file, found a directory")
	_, _, err = OS{}.Open(filepath.Join(dir, "none"))
	require.ErrorIs(t, err, fs.ErrNotExist)
	_, err = Read(OS{}, dir)
	require.ErrorContains(t, err, "checkpoint: ")
	path, other := filepath.Join(dir, "x"), filepath.Join(dir, "other")
	require.NoError(t, os.WriteFile(other, []byte("kept"), 0o600))
	require.NoError(t, os.Symlink(other, path))
	f, err := OS{}.Create(path)
	require.NoError(t, err)
	_, err = f.Write([]byte("new"))
	require.NoError(t, errors.Join(err, f.Close()))
	kept, err := os.ReadFile(other)
	require.NoError(t, err)
	require.Equal(t, "kept", string(kept))
	r, size, err := OS{}.Open(path)
	require.NoError(t, err)
	require.NoError(t, r.Close())
	require.EqualValues(t, 3, size)
	require.NoError(t, os.MkdirAll(filepath.Join(dir, "full", "x"), 0o700))
	_, err = OS{}.Create(filepath.Join(dir, "full"))
	require.Error(t, err, "a folder that holds something")
	_, err = OS{}.List(path)
	require.Error(t, err, "a file is no folder")
	names, err := OS{}.List(filepath.Join(dir, "none"))
	require.NoError(t, err)
	require.Empty(t, names)
	_, err = List(OS{}, path)
	require.ErrorContains(t, err, "checkpoint: ")
	_, _, _, err = Newest(OS{}, path)
	require.ErrorContains(t, err, "checkpoint: ")
}

// TestListNames: only names as Save makes them are checkpoints.
func TestListNames(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{Name(7), Name(1 << 40), Name(0), "7.checkpoint", Name(8) + Damaged, "00000000000000000009", "unfinished.tmp", "x.checkpoint"} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), nil, 0o600))
	}
	bursts, err := List(OS{}, dir)
	require.NoError(t, err)
	require.Equal(t, []uint64{0, 7, 1 << 40}, bursts)
	require.NoError(t, SetAside(OS{}, filepath.Join(dir, Name(7))))
	bursts, err = List(OS{}, dir)
	require.NoError(t, err)
	require.Equal(t, []uint64{0, 7}, bursts, "the one at the path and those before stay")
}

// TestSaverTells: an error of the recordings, or of the disk, comes out once, with the next checkpoint or at the end.
func TestSaverTells(t *testing.T) {
	dir := t.TempDir()
	s := NewSaver(OS{}, dir, Checkpoint{Seed: 4})
	for range 2 {
		next, err := s.Next()
		require.NoError(t, err)
		require.EqualValues(t, 4, next.Seed)
		s.Save(func() ([]Recording, error) { return nil, fs.ErrClosed })
		_, err = s.Next()
		require.ErrorIs(t, err, fs.ErrClosed)
	}
	next, err := s.Next()
	require.NoError(t, err)
	next.State.Number = 12
	s.Save(func() ([]Recording, error) { return []Recording{{Table: "spikes", Rows: 3}}, nil })
	require.NoError(t, s.Close())
	require.NoError(t, s.Close())
	c, path, _, err := Newest(OS{}, dir)
	require.NoError(t, err)
	require.Equal(t, filepath.Join(dir, Name(12)), path)
	require.Equal(t, []Recording{{Table: "spikes", Rows: 3}}, c.Recordings)
	require.ErrorContains(t, SaveAs(OS{}, filepath.Join(dir, "none", "x"), c), "checkpoint: saving ")
	_, err = Save(OS{}, filepath.Join(dir, "none"), c)
	require.ErrorContains(t, err, "checkpoint: saving burst 12: ")
}
