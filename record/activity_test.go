package record

import (
	"encoding/binary"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"burst/connectome"
	"burst/engine"
	"burst/record/internal/tables"
	"burst/record/manifest"

	"github.com/stretchr/testify/require"
)

func twoAreas() *connectome.Connectome {
	return &connectome.Connectome{Neurons: 75, Areas: []connectome.Area{
		{Name: "a", Neurons: connectome.Span{Count: 70}}, {Name: "none"}, {Name: "b", Neurons: connectome.Span{First: 70, Count: 5}},
	}}
}

func TestActivityCountsByArea(t *testing.T) {
	a := NewActivity(twoAreas())
	for burst, fired := range [][]uint32{{0, 69, 70}, {}, {69, 74}} {
		require.NoError(t, a.Record(&engine.Burst{Number: uint64(burst), Fired: fired}))
	}
	require.EqualValues(t, 3, a.Spikes(0))
	require.EqualValues(t, 5, a.Total())
	require.EqualValues(t, 0, a.Spikes(1))
	require.EqualValues(t, 2, a.Spikes(2))
	require.EqualValues(t, 2, a.Active(0))
	require.EqualValues(t, 2, a.Active(2))
	require.Equal(t, []float64{2, 0, 1}, a.Course(0, 60))
	require.Equal(t, []float64{1, 0.5}, a.Course(2, 2), "one bin of one burst, one of two")
}

// TestActivityMergesBins checks runs around the lengths at which bins merge: nothing is lost, and means stay means.
func TestActivityMergesBins(t *testing.T) {
	for _, bursts := range []int{1, maxBins - 1, maxBins, maxBins + 1, 2*maxBins + 1, 4*maxBins + 3, 10_007} {
		a := NewActivity(twoAreas())
		for range bursts {
			require.NoError(t, a.Record(&engine.Burst{Fired: []uint32{3, 71, 72}}))
		}
		require.EqualValues(t, bursts, a.Bursts())
		require.EqualValues(t, 2*bursts, a.Spikes(2))
		require.LessOrEqual(t, len(a.bins[0]), maxBins)
		for _, mean := range a.Course(2, 60) {
			require.Equal(t, 2.0, mean, "%d bursts", bursts)
		}
	}
}

// TestActiveNeurons holds the count of those that fired at all against a set, from bursts in which few fire to some in which all have,
// with counts that are saved and restored in between.
func TestActiveNeurons(t *testing.T) {
	random := rand.New(rand.NewPCG(11, 7))
	a, fired := NewActivity(twoAreas()), map[uint32]bool{}
	for burst := range uint64(400) {
		var list []uint32
		for n := range uint32(75) {
			if random.IntN(100) == 0 {
				list = append(list, n)
				fired[n] = true
			}
		}
		require.NoError(t, a.Record(&engine.Burst{Number: burst, Fired: list}))
		want := [3]uint64{}
		for n := range fired {
			want[min(n/70*2, 2)]++
		}
		require.Equal(t, want, [3]uint64{a.Active(0), a.Active(1), a.Active(2)})
		if burst%50 == 0 {
			saved := a.Save(nil)
			a = NewActivity(twoAreas())
			require.NoError(t, a.Restore(saved))
		}
	}
	require.Len(t, fired, 75, "all have fired long before the end")
	broken := a.Save(nil)
	broken[8*(3+1+2)-1] |= 0xff // the last bits of the first area's two words
	require.ErrorContains(t, NewActivity(twoAreas()).Restore(broken), `area "a" has 78 neurons that fired, of 70`)
}

// TestRatesOfTheLastBin: 301 bursts make bins of 2 and a last one of 1, whose rate is that of one burst.
func TestRatesOfTheLastBin(t *testing.T) {
	f := recorded(t, Plan{}, func(yield func(*engine.Burst) bool) {
		for i := range uint64(301) {
			if !yield(&engine.Burst{Number: i, Fired: []uint32{5, 1010}}) {
				return
			}
		}
	})
	r, err := f.Rates()
	require.NoError(t, err)
	require.EqualValues(t, 2, r.Width)
	require.EqualValues(t, 301, r.Bursts)
	require.Len(t, r.Hz[0], 151)
	require.EqualValues(t, 1, r.Spikes[0][150])
	for k := range r.Hz[0] {
		require.InDelta(t, 1/1009.0/0.0001, r.Hz[0][k], 1e-9, "bin %d", k)
		require.Zero(t, r.Hz[1][k], "an area without neurons")
		require.InDelta(t, 1/33.0/0.0001, r.Hz[2][k], 1e-9, "bin %d", k)
	}
	text, err := os.ReadFile(filepath.Join(f.Dir, "rates.csv"))
	require.NoError(t, err)
	require.Contains(t, string(text), "\n300,1,none,0,0\n300,1,γ-motor,1,303.03", "where it begins and how long it is")
}

// TestRatesOfALaterBeginning: bins of a run that began at a later burst say which bursts theirs are.
func TestRatesOfALaterBeginning(t *testing.T) {
	a := NewActivity(twoAreas())
	for i := range uint64(2) {
		require.NoError(t, a.Record(&engine.Burst{Number: 40 + i}))
	}
	var text strings.Builder
	require.NoError(t, writeRates(&text, &manifest.Manifest{First: 40, Areas: []manifest.Area{{Name: "a"}}}, a))
	require.Equal(t, strings.Join(tables.RatesHead, ",")+"\n40,1,a,0,0\n41,1,a,0,0\n", text.String())
}

// TestActivityThatCannotBe: saved counts whose numbers do not fit each other or the network are refused, and none of them is met later.
func TestActivityThatCannotBe(t *testing.T) {
	a := NewActivity(twoAreas())
	for n := range uint64(301) {
		require.NoError(t, a.Record(&engine.Burst{Number: n, Fired: []uint32{3, 71}}))
	}
	good := a.Save(nil)
	again := NewActivity(twoAreas())
	require.NoError(t, again.Restore(good))
	require.Equal(t, a, again)
	set := func(word int, x uint64) func([]byte) []byte {
		return func(b []byte) []byte {
			binary.LittleEndian.PutUint64(b[8*word:], x)
			return b
		}
	}
	for name, change := range map[string]func([]byte) []byte{
		"nothing":                func([]byte) []byte { return nil },
		"two words":              func(b []byte) []byte { return b[:16] },
		"a byte more":            func(b []byte) []byte { return append(b, 0) },
		"a word more":            func(b []byte) []byte { return append(b, make([]byte, 8)...) },
		"a word less":            func(b []byte) []byte { return b[:len(b)-8] },
		"no width":               set(0, 0),
		"a width of 3":           set(0, 3),
		"another width":          set(0, 4),
		"one burst fewer":        set(1, 300),
		"two bursts more":        set(1, 303),
		"bursts beyond a bin":    set(1, 1<<40),
		"another number of bins": set(2, 150),
		"bins of 64 bits":        set(2, 1<<63),
		"bursts near the end": func([]byte) []byte { // width and bursts add up to 0
			return set(0, 1<<63)(set(1, 1<<63+1)(set(2, 0)(NewActivity(twoAreas()).Save(nil))))
		},
		"an odd end": func([]byte) []byte { return set(0, 2)(set(1, 1<<64-1)(set(2, 0)(NewActivity(twoAreas()).Save(nil)))) },
	} {
		require.ErrorContains(t, NewActivity(twoAreas()).Restore(change(slices.Clone(good))), "does not fit the network", name)
	}
	b := set(0, 2)(set(1, 302)(slices.Clone(good))) // the last bin is full
	require.NoError(t, NewActivity(twoAreas()).Restore(b))
	empty := NewActivity(twoAreas())
	require.NoError(t, empty.Restore(NewActivity(twoAreas()).Save(nil)))
	require.NoError(t, empty.Record(&engine.Burst{Fired: []uint32{74}}))
	require.Equal(t, []float64{1}, empty.Course(2, 5))
}
