package record

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"burst/connectome"

	"github.com/stretchr/testify/require"
)

// TestKept tells of recordings in ranges what manifests say, and for each neuron how many kept ones come before it.
func TestKept(t *testing.T) {
	type spans = []connectome.Span
	cases := []struct {
		name  string
		spans spans
		want  [3][]Span // of ragged's areas, where they are not the first ones
		count [3]uint32
	}{
		{"nothing", nil, [3][]Span{}, [3]uint32{}},
		{"everything", spans{{Count: 1042}}, [3][]Span{}, [3]uint32{1009, 0, 33}},
		{"the first ones", spans{{Count: 7}, {First: 1009, Count: 1}}, [3][]Span{}, [3]uint32{7, 0, 1}},
		{"the last one", spans{{First: 1041, Count: 1}}, [3][]Span{2: {{1041, 1}}}, [3]uint32{0, 0, 1}},
		{"over a border", spans{{First: 1000, Count: 12}}, [3][]Span{0: {{1000, 9}}}, [3]uint32{9, 0, 3}},
		{"the first ones and more", spans{{Count: 2}, {First: 500, Count: 12}, {First: 1011, Count: 2}}, [3][]Span{0: {{0, 2}, {500, 12}}, 2: {{1011, 2}}}, [3]uint32{14, 0, 2}},
	}
	for _, c := range cases {
		m := raggedManifest()
		m.Status = Complete
		m.keep(c.spans)
		require.Empty(t, m.flaw(), c.name)
		for i, a := range m.Areas {
			require.Equal(t, c.want[i], a.RecordedSpans, c.name)
			require.Equal(t, c.count[i], a.Recorded, c.name)
			kept, before := a.Kept(), uint32(0)
			for n := range uint32(1050) {
				want := false
				for _, s := range c.spans {
					want = want || s.Has(n) && n-a.First < a.Neurons
				}
				rank, has := kept.Rank(n)
				require.Equal(t, want, has, "%s: neuron %d of areas[%d]", c.name, n, i)
				if has {
					require.Equal(t, before, rank, c.name)
					before++
				}
			}
			require.Equal(t, a.Recorded, before, c.name)
		}
	}
}

// TestShared compares with asking both for every neuron.
func TestShared(t *testing.T) {
	lists := [][]Span{nil, {{3, 0}}, {{0, 20}}, {{4, 3}}, {{0, 1}, {3, 2}, {9, 4}}, {{2, 2}, {4, 6}, {12, 1}, {19, 1}}}
	for _, x := range lists {
		for _, y := range lists {
			a, b := newKept(x), newKept(y)
			both := a.Shared(b)
			for n := range uint32(21) {
				_, inA := a.Rank(n)
				_, inB := b.Rank(n)
				_, has := both.Rank(n)
				require.Equal(t, inA && inB, has, "neuron %d of %v and %v", n, x, y)
			}
		}
	}
}

// TestResumeTellsRanges: a run whose manifest told the last recorded neuron alone tells the ranges once it goes on.
func TestResumeTellsRanges(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run")
	plan := Plan{Spikes: []connectome.Span{{First: 500, Count: 12}, {First: 1009, Count: 33}}}
	r, err := Create(dir, Options{Manifest: raggedManifest(), Plan: plan})
	require.NoError(t, err)
	at, err := r.Mark()()
	require.NoError(t, err)
	require.NoError(t, r.Fail(errors.New("planted"), nil))
	path := filepath.Join(dir, "manifest.json")
	text := read(t, path)
	from := strings.Index(text, `"recorded": 12`)
	old := text[:from] + `"recorded": 512` + text[from+strings.Index(text[from:], "\n    }"):]
	require.NoError(t, os.WriteFile(path, []byte(old), 0o600))
	f, err := Open(dir)
	require.NoError(t, err)
	require.EqualValues(t, 512, f.Manifest.Areas[0].Recorded)
	require.Nil(t, f.Manifest.Areas[0].RecordedSpans)
	r, err = Resume(f, plan, at, nil, func(*Manifest) {})
	require.NoError(t, err)
	require.NoError(t, r.Fail(errors.New("planted"), nil))
	f, err = Open(dir)
	require.NoError(t, err)
	require.EqualValues(t, 12, f.Manifest.Areas[0].Recorded)
	require.Equal(t, []Span{{500, 12}}, f.Manifest.Areas[0].RecordedSpans)
	require.EqualValues(t, 33, f.Manifest.Areas[2].Recorded)
}
