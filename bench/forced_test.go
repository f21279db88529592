package bench

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestForcedTexts: the genomes of all forced networks are such, with the counts that their names say.
func TestForcedTexts(t *testing.T) {
	for name, f := range forced {
		g, err := parse(Workload{Name: name})
		require.NoError(t, err, name)
		require.Equal(t, name, g.Name)
		neurons := uint64(0)
		for _, a := range g.Areas {
			neurons += a.Size[0] * a.Size[1] * a.Size[2] * max(1, uint64(a.PerVoxel))
		}
		require.EqualValues(t, f.neurons, neurons, name)
	}
}
