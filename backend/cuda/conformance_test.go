package cuda

import (
	"testing"

	"github.com/stretchr/testify/require"

	"burst/backend/cuda/cudatest"
	"burst/backend/reference"
	"burst/connectome"
	"burst/engine"
	"burst/engine/enginetest"
)

// TestConformanceOnHost runs the suite with the kernels compiled for the host.
func TestConformanceOnHost(t *testing.T) {
	h := cudatest.Host(t)
	enginetest.Run(t, openFirst, reference.Open)
	require.Zero(t, h.Count("held"), "closed backends hold nothing")
}

// TestConformanceOnDevice runs the suite on the real GPU.
func TestConformanceOnDevice(t *testing.T) {
	cudatest.Device(t)
	enginetest.Run(t, openFirst, reference.Open)
}

func openFirst(c *connectome.Connectome, w engine.Want) (engine.Backend, error) {
	return Open(c, Options{Want: w})
}
