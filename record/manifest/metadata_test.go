package manifest

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestDescribedAreas: what a file says of its areas is checked as a manifest's is.
func TestDescribedAreas(t *testing.T) {
	describe := func(areas string) error {
		var m Manifest
		return m.TakeMetadata(map[string]string{"burst.format": "1", "burst.timestep_ms": "0.1", "burst.scale": "4", "burst.areas": areas})
	}
	good := Manifest{Timestep: 1, Scale: 1, Areas: []Area{{Name: "a", Neurons: 5, Model: "lif"}, {Name: "b", First: 5, Neurons: 5, Model: "lif"}}}
	text := func(m Manifest) string {
		found, ok := m.Metadata("spikes")["burst.areas"]
		require.True(t, ok)
		return found
	}
	require.NoError(t, describe(text(good)))
	bad := good
	bad.Areas = []Area{{Name: "a", Neurons: 5, Model: "lif"}, {Name: "b", First: 6, Neurons: 5, Model: "lif"}}
	require.ErrorContains(t, describe(text(bad)), "areas[1] (b) begins at neuron 6, want 5")
	bad.Areas = []Area{{Name: "a", Neurons: 5, Model: "lif", Space: &Space{Each: make([][3]float64, 4)}}}
	require.ErrorContains(t, describe(text(bad)), "areas[0] (a) has 5 neurons and the positions of 4, want one for each")
	require.ErrorContains(t, describe("[{"), "unexpected end")
}
