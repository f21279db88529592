package feagi_test

import (
	"testing"

	"burst/internal/slow"
)

func TestMain(m *testing.M) { slow.FewerCollections(m).Run() }
