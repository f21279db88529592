package picture

import (
	"testing"

	"burst/internal/slow"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(slow.FewerCollections(m)) }
