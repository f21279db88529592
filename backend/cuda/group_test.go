package cuda

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"burst/backend/cuda/cudatest"
	"burst/backend/reference"
	"burst/connectome"
	"burst/engine"
	"burst/engine/enginetest"
)

// TestConformanceOfGroups runs the suite on two and three devices that share each network.
func TestConformanceOfGroups(t *testing.T) {
	for _, devices := range [][]int{{1, 0}, {0, 1, 2}} {
		t.Run(fmt.Sprint(devices), func(t *testing.T) {
			h := cudatest.Host(t)
			h.Control("devices", 3)
			open := func(c *connectome.Connectome, w engine.Want) (engine.Backend, error) {
				return Open(c, Options{Devices: devices, Want: w})
			}
			enginetest.Run(t, open, reference.Open)
			require.Zero(t, h.Count("held"), "closed groups hold nothing")
		})
	}
}
