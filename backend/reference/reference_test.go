package reference_test

import (
	"testing"

	"burst/backend/reference"
	"burst/engine/enginetest"
)

func TestConformance(t *testing.T) {
	enginetest.Run(t, reference.Open, reference.Open)
}
