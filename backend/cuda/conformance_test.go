package cuda

import (
	"testing"

	"github.com/stretchr/testify/require"

	"burst/backend/reference"
	"burst/connectome"
	"burst/engine"
	"burst/engine/enginetest"
)

// TestConformanceOnHost runs the suite with the kernels compiled for the host.
func TestConformanceOnHost(t *testing.T) {
	h := host(t)
	enginetest.Run(t, openFirst, reference.Open)
	require.Zero(t, h.count("held"), "closed backends hold nothing")
}

// TestConformanceOnDevice runs the suite on the real GPU.
func TestConformanceOnDevice(t *testing.T) {
	device(t)
	enginetest.Run(t, openFirst, reference.Open)
}

func openFirst(c *connectome.Connectome, w engine.Want) (engine.Backend, error) {
	return Open(c, Options{Want: w})
}
