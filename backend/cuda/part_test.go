package cuda

import (
	"testing"

	"github.com/stretchr/testify/require"

	"burst/backend/reference"
	"burst/connectome"
	"burst/engine"
)

// TestPartsTakeTheWholeQueue runs two parts as processes would, each on a device of its own: after every burst each is
// given who fired in all, in any order.
func TestPartsTakeTheWholeQueue(t *testing.T) {
	devices(t, 2)
	c := uneven(517, 300, 401, 3)
	ref, err := reference.Open(c, engine.Want{})
	require.NoError(t, err)
	var parts [2]*backend
	for i := range parts {
		b, err := Open(c.Cut(connectome.Part{Index: i, Of: 2}), Options{Device: i})
		require.NoError(t, err)
		parts[i] = b.(*backend)
		require.False(t, parts[i].CanStepN(), "bursts of a part wait for the other parts")
	}
	in := everyone(c.Ports)
	var want, got engine.Burst
	for range 7 {
		require.NoError(t, ref.Step(in, &want))
		var fired []uint32
		for i, b := range parts {
			var own []engine.Stimulus
			for _, s := range in {
				if b.c.Part.Owns(s.Port) {
					own = append(own, s)
				}
			}
			require.NoError(t, b.Step(own, &got))
			for _, n := range got.Fired {
				require.True(t, b.c.Part.Owns(n), "part %d lists its own neurons", i)
			}
			fired = append(append([]uint32{}, got.Fired...), fired...) // part 1's first
		}
		require.ElementsMatch(t, want.Fired, fired)
		for _, b := range parts {
			b.SetQueue(1, fired)
		}
		in = nil
	}
	for _, b := range parts {
		require.NoError(t, b.Close())
	}
}
