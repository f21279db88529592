package bench

import (
	"testing"

	"github.com/stretchr/testify/require"

	"burst/genome"
)

// TestPortedTexts: all have a million neurons, and 1,000 synapses each over the ports that their names say.
func TestPortedTexts(t *testing.T) {
	for name, ports := range ported {
		g, err := parse(Workload{Name: name})
		require.NoError(t, err, name)
		require.Equal(t, name, g.Name)
		require.EqualValues(t, 1_000_000, g.Areas[0].Size[0])
		require.Len(t, g.Areas[0].Model.Ports, ports)
		require.Len(t, g.Projections, ports)
		total := uint64(0)
		for k, p := range g.Projections {
			require.Equal(t, genome.FixedOutdegree, p.Rule)
			require.Equal(t, min(ports-1, 1)*(1+k), p.Port) // the only port has no number
			total += uint64(p.Outdegree)
		}
		require.EqualValues(t, 1000, total)
	}
}
