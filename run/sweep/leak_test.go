package sweep

import (
	"testing"

	"burst/internal/cuda/cudatest"
)

// TestMain fails when a test has left a goroutine behind.
func TestMain(m *testing.M) { cudatest.Verify(m) }
