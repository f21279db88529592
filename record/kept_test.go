package record

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"burst/connectome"
	"burst/record/manifest"
	"burst/record/runfolder"

	"github.com/stretchr/testify/require"
)

// TestKept tells of recordings in ranges what manifests say, and for each neuron how many kept ones come before it.
func TestKept(t *testing.T) {
	type spans = []connectome.Span
	cases := []struct {
		name  string
		spans spans
		want  [3][]manifest.Span // of ragged's areas, where they are not the first ones
		count [3]uint32
	}{
		{"nothing", nil, [3][]manifest.Span{}, [3]uint32{}},
		{"everything", spans{{Count: 1042}}, [3][]manifest.Span{}, [3]uint32{1009, 0, 33}},
		{"the first ones", spans{{Count: 7}, {First: 1009, Count: 1}}, [3][]manifest.Span{}, [3]uint32{7, 0, 1}},
		{"the last one", spans{{First: 1041, Count: 1}}, [3][]manifest.Span{2: {{First: 1041, Neurons: 1}}}, [3]uint32{0, 0, 1}},
		{"over a border", spans{{First: 1000, Count: 12}}, [3][]manifest.Span{0: {{First: 1000, Neurons: 9}}}, [3]uint32{9, 0, 3}},
		{"the first ones and more", spans{{Count: 2}, {First: 500, Count: 12}, {First: 1011, Count: 2}}, [3][]manifest.Span{0: {{First: 0, Neurons: 2}, {First: 500, Neurons: 12}}, 2: {{First: 1011, Neurons: 2}}}, [3]uint32{14, 0, 2}},
	}
	for _, c := range cases {
		m := raggedManifest()
		m.Status = manifest.Complete
		m.Keep(c.spans)
		require.Empty(t, flaw(t, m), c.name)
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
					_, follow, _ := kept.Place(n)
					_, also := kept.Rank(n + follow)
					_, beyond := kept.Rank(n + follow + 1)
					require.True(t, also && !beyond, c.name)
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
	lists := [][]manifest.Span{nil, {{First: 3, Neurons: 0}}, {{First: 0, Neurons: 20}}, {{First: 4, Neurons: 3}}, {{First: 0, Neurons: 1}, {First: 3, Neurons: 2}, {First: 9, Neurons: 4}}, {{First: 2, Neurons: 2}, {First: 4, Neurons: 6}, {First: 12, Neurons: 1}, {First: 19, Neurons: 1}}}
	for _, x := range lists {
		for _, y := range lists {
			a, b := (&manifest.Area{RecordedSpans: x}).Kept(), (&manifest.Area{RecordedSpans: y}).Kept()
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
	f, err := runfolder.Open(dir)
	require.NoError(t, err)
	require.EqualValues(t, 512, f.Manifest.Areas[0].Recorded)
	require.Nil(t, f.Manifest.Areas[0].RecordedSpans)
	r, err = Resume(f, plan, at, Watch{}, func(*manifest.Manifest) {})
	require.NoError(t, err)
	require.NoError(t, r.Fail(errors.New("planted"), nil))
	f, err = runfolder.Open(dir)
	require.NoError(t, err)
	require.EqualValues(t, 12, f.Manifest.Areas[0].Recorded)
	require.Equal(t, []manifest.Span{{First: 500, Neurons: 12}}, f.Manifest.Areas[0].RecordedSpans)
	require.EqualValues(t, 33, f.Manifest.Areas[2].Recorded)
}
