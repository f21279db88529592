package stats

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestSweep compares means and deviations with ones worked out by hand.
func TestSweep(t *testing.T) {
	var s Sweep
	for i, spikes := range []uint64{2, 4, 4, 4, 5, 5, 7, 9} { // mean 5, squared deviations 32
		s.Add(uint64(i+3), "eye", 7, spikes, float64(spikes)/2, 6, "00000000000000aa")
		s.Add(uint64(i+3), "leg", 5, 1, 0.25, 1, "00000000000000aa")
	}
	areas := s.Areas()
	require.Len(t, areas, 2)
	require.Equal(t, 5.0, areas[0].SpikesMean)
	require.InDelta(t, 2.138089935, areas[0].SpikesSD, 1e-9)
	require.Equal(t, 2.5, areas[0].RateMean)
	require.InDelta(t, 1.0690449677, areas[0].RateSD, 1e-9)
	require.Equal(t, Spread{Area: "leg", Neurons: 5, SpikesMean: 1, RateMean: 0.25}, areas[1])
	dir := t.TempDir()
	require.NoError(t, s.Write(dir))
	text, err := os.ReadFile(filepath.Join(dir, "sweep.csv"))
	require.NoError(t, err)
	require.Contains(t, string(text), "seed,area,neurons,spikes,rate_hz,active,digest\n3,eye,7,2,1,6,00000000000000aa\n3,leg,5,1,0.25,1,00000000000000aa\n4,eye,")
	one := Sweep{}
	one.Add(1, "eye", 7, 3, 1.5, 2, "")
	require.Equal(t, []Spread{{Area: "eye", Neurons: 7, SpikesMean: 3, RateMean: 1.5}}, one.Areas(), "one run has no deviation")
}
