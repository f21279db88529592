package cuda

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"burst/backend/reference"
	"burst/connectome"
	"burst/engine"
	"burst/engine/enginetest"
	"burst/internal/cuda/cudatest"
	"burst/internal/slow"
)

// TestEventPath compares launches of many bursts of neurons that change at inputs alone with the reference: burst for burst, state for
// state and value for value, with single bursts between, where blocks hold their neurons and where they do not.
func TestEventPath(t *testing.T) {
	slow.Short(t)
	cudatest.Anywhere(t)
	for name, change := range map[string]func(*tuning){
		"usual":           func(*tuning) {},
		"blocks apart":    func(t *tuning) { t.batchThreads = 224 },
		"two apart":       func(t *tuning) { t.batchThreads, t.apart = 256, 2 },
		"neurons outside": func(t *tuning) { t.uncached, t.unpacked = true, true },
		"short launches":  func(t *tuning) { t.batchThreads, t.batch, t.entries = 64, 3, 7 },
	} {
		t.Run(name, func(t *testing.T) {
			tune := few()
			tune.batch = defaults.batch
			change(&tune)
			events, ahead, early, one, many := 0, 0, 0, 0, 0
			enginetest.RunEventBatches(t, func(c *connectome.Connectome, w engine.Want) (engine.Backend, error) {
				b, err := open(c, Options{Want: w}, tune)
				if err != nil || pathOf(b) != pathEvent {
					return b, err
				}
				events++
				x := &b.(*backend).batch.args
				ahead += int(min(x.events.lag-1, 1))
				if x.events.lag >= 4 { // AHEAD of event_bursts.cu
					early++
				}
				if x.events.back < x.events.lag {
					one++
				}
				if x.run.slotMask > 1 {
					many++
				}
				require.Equal(t, tune.uncached, x.events.cells != 0)
				return b, nil
			}, reference.Open, engine.Want{})
			require.Greater(t, events, 3)
			require.Greater(t, ahead, 0, "rows are delivered a burst ahead")
			require.Greater(t, events-ahead, 0, "and where a delay is 1 they are not")
			require.Greater(t, early, 0, "they are looked up a burst before that")
			require.Greater(t, ahead-early, 0, "and where there is no time for it they are not")
			require.Greater(t, one, 0, "all delays are one")
			require.Greater(t, many, 0, "the ring has several bursts")
		})
	}
}

// TestEventMade: where rows stay on the device that has made them, the smallest delay is that of constant ones, and 1 where some are drawn.
func TestEventMade(t *testing.T) {
	slow.Short(t)
	cudatest.Anywhere(t)
	for delays, want := range map[string]uint32{"0.3 ms, 0.7 ms": 3, "0.4 ms, 0.4 ms": 4, `0.3 ms, "uniform(0.2 ms, 0.5 ms)"`: 1} {
		one, other, _ := strings.Cut(delays, ", ")
		text := fmt.Sprintf(`burst: v1
timestep: 0.1 ms
areas:
  - {name: a, neurons: 300, model: lif_event, drive: [{constant: 19 mV}, {poisson: {rate: 9000 Hz, weight: 0.5 mV}}]}
  - {name: b, neurons: 90, model: lif_psc_exp_event}
projections:
  - {from: a, to: a, rule: fixed_indegree, indegree: 20, weight: 0.3 mV, delay: %s}
  - {from: a, to: b, rule: fixed_outdegree, outdegree: 9, weight: 90 pA, delay: %s}
`, one, other)
		b, _, err := openMade(t, parsed(t, text), []int{0}, defaults)
		require.NoError(t, err)
		require.Equal(t, pathEvent, pathOf(b))
		require.Equal(t, want, b.(*backend).rows.least, delays)
		c, err := connectome.Build(parsed(t, text), connectome.Options{})
		require.NoError(t, err)
		likeReferenceFor(t, b, c, engine.Want{}, 40, thirds(c))
		require.NoError(t, b.Close())
	}
}
