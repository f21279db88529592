package bench

import (
	"errors"
	"testing"
	"time"

	"burst/engine"

	"github.com/stretchr/testify/require"
)

// metered is a backend whose devices use 7 joules from one reading to the next.
type metered struct {
	engine.Backend
	used    float64
	unknown error
}

func (m *metered) Energy() (float64, error) {
	m.used += 7
	return m.used, m.unknown
}

func TestEnergy(t *testing.T) {
	nothing := func() error { return nil }
	joules, err := energy(&metered{}, 0, nothing)
	require.NoError(t, err)
	require.Equal(t, 7.0, joules)
	joules, err = energy(&metered{}, time.Hour, nothing) // too short to tell
	require.NoError(t, err)
	require.Zero(t, joules)
	joules, err = energy(&metered{unknown: errors.New("no counter")}, 0, nothing)
	require.NoError(t, err)
	require.Zero(t, joules)
	wrong := errors.New("a burst failed")
	_, err = energy(&metered{}, 0, func() error { return wrong })
	require.ErrorIs(t, err, wrong)
}
