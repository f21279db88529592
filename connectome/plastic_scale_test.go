package connectome

import (
	"regexp"
	"testing"

	"burst/genome"

	"github.com/stretchr/testify/require"
)

// TestScaleOfWeightsThatChange: an error of too large a scale names one with which the network can be built.
func TestScaleOfWeightsThatChange(t *testing.T) {
	built := func(scale string) error {
		g, err := genome.Parse("scale.yaml", []byte("burst: v1\nscale: "+scale+`
areas:
  - {name: a, neurons: 30, model: lif_psc_exp}
projections:
  - {from: a, to: a, rule: all_to_all, weight: "lognormal(30 pA, 30 pA) <= 200 pA", plasticity: {rule: tsodyks_markram, w_max: 200 pA}}
`), nil)
		require.NoError(t, err)
		_, err = Build(g, Options{})
		return err
	}
	err := built("300000")
	require.ErrorContains(t, err, "where weights change; write scale: ")
	fits := regexp.MustCompile(`scale: (\d+) or less`).FindStringSubmatch(err.Error())
	require.Len(t, fits, 2)
	require.NoError(t, built(fits[1]))
}
