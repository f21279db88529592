package genome

import (
	"testing"

	"burst/internal/slow"

	"go.uber.org/goleak"
)

// TestMain fails when a test has left a goroutine behind.
func TestMain(m *testing.M) { goleak.VerifyTestMain(slow.FewerCollections(m)) }
