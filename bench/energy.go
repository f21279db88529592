package bench

import (
	"time"

	"burst/engine"
)

// leastMetered is how long bursts must take for their energy to be told: the counter of a GPU moves some ten times a second.
const leastMetered = 2 * time.Second

// meter is a backend that knows what its devices have used, in joules since some time in the past.
type meter interface{ Energy() (float64, error) }

// energy runs something and returns what b's devices used meanwhile, in joules; 0 if b does not know, or if it took less than least.
func energy(b engine.Backend, least time.Duration, run func() error) (joules float64, err error) {
	m, ok := b.(meter)
	if !ok {
		return 0, run()
	}
	before, unknown := m.Energy()
	start := time.Now()
	if err := run(); err != nil || unknown != nil || time.Since(start) < least {
		return 0, err
	}
	after, err := m.Energy()
	return after - before, err
}
