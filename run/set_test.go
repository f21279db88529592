package run_test

import (
	"context"
	"testing"

	"burst/genome"
	"burst/run"

	"github.com/stretchr/testify/require"
)

// TestPlan: names of areas may hold points, also the word drive, and nothing but drives is taken for one.
func TestPlan(t *testing.T) {
	g, err := genome.Parse("net.yaml", []byte(`burst: v1
name: dots
areas:
  - {name: a, neurons: 3, threshold: 1, drive: {constant: 0.1}}
  - {name: a.drive, aliases: [other], neurons: 3, threshold: 1, drive: {constant: 0.1}}
`), nil)
	require.NoError(t, err)
	r, err := run.New(context.Background(), g, run.Options{Backend: "reference"})
	require.NoError(t, err)
	defer r.Close()
	for setting, takes := range map[string]bool{
		"areas.a.drive.constant=0.2": false, // the area a.drive has no such key
		"areas.0.drive.constant=0.2": true, "areas.0.drive.factor.pulse.width=2": true, "areas.0.drive.factor.pulse.width=0": false, "areas.0.factor.pulse.width=2": false, "areas.0.drive={constant: 0.2}": true, "areas.a.drive.drive.constant=0.2": true, "areas.other.drive.constant=0.2": true,
		"areas.a.drive.threshold=2": false, "areas.a.drive=2": false, "areas.a=2": false, "areas=2": false, "areas.a.threshold=2": false, "areas.other.drive=": false,
	} {
		x, err := r.Plan([]string{setting})
		require.Equal(t, takes, err == nil, "%s: %v", setting, err)
		if takes {
			require.NoError(t, r.Change(x))
			require.NoError(t, r.Advance(context.Background(), r.Number()+3))
		}
	}
}
