package runfolder

import (
	"testing"

	"burst/record/manifest"

	"github.com/stretchr/testify/require"
)

// TestRowsOfRates: a row of rates.csv that stands elsewhere is told with the burst that belongs there, counted from the run's first.
func TestRowsOfRates(t *testing.T) {
	areas := []manifest.Area{{Name: "a", Neurons: 5}}
	r := Rates{First: 100}
	require.NoError(t, r.add(0, []string{"100", "10", "a", "3", "60"}, areas))
	require.EqualError(t, r.add(1, []string{"120", "10", "a", "3", "60"}, areas), `area "a" from burst 120, want "a" from burst 110`)
	require.NoError(t, r.add(1, []string{"110", "10", "a", "3", "60"}, areas))
}
