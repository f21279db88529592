package main

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestLearning holds the rules of plasticity to tables worked out in float64; the slow cases are in TestPublished.
func TestLearning(t *testing.T) {
	for _, c := range quickLearning() {
		t.Run(c.name, func(t *testing.T) {
			checks, err := c.run(options{backend: "cpu"})
			require.NoError(t, err)
			require.NotEmpty(t, checks)
			report(t, checks)
		})
	}
}
