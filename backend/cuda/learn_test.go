package cuda

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"burst/backend/cpu"
	"burst/backend/reference"
	"burst/connectome"
	"burst/engine"
	"burst/engine/enginetest"
	"burst/internal/cuda/cudatest"
	"burst/internal/slow"
	"burst/kernels"
)

// TestPendingEvents compares networks that learn with the reference, with states read rarely, so that events are pending for long, and
// with room for few, so that sweeps come at any time.
func TestPendingEvents(t *testing.T) {
	slow.Test(t)
	cudatest.Anywhere(t)
	for seed := range uint64(slow.Times(6, 60)) {
		r := rand.New(rand.NewPCG(seed, 0x706c6173))
		n := enginetest.RandomPlastic(r, int(seed))
		c := n.Build()
		every, bursts := []uint64{0, 41, 3}[r.IntN(3)], uint64(100+r.IntN(200))
		tune := defaults
		tune.events, tune.threads = 1+r.Uint32N(20), 32*(1+r.Uint32N(8))
		t.Run(fmt.Sprintf("seed %d, %d events, states every %d", seed, tune.events, every), func(t *testing.T) {
			oracle, err := reference.Open(c, engine.Want{FCL: true})
			require.NoError(t, err)
			b, err := open(c, Options{Want: engine.Want{FCL: true}}, tune)
			require.NoError(t, err)
			defer func() { require.NoError(t, b.Close()) }()
			d, err := engine.Compare(oracle, b, bursts, nil, every)
			require.NoError(t, err)
			require.Nil(t, d)
		})
	}
}

// TestLearningBatches mixes launches of many bursts with single ones, with room for few events.
func TestLearningBatches(t *testing.T) {
	cudatest.Anywhere(t)
	for seed := range uint64(slow.Times(8, 60)) {
		r := rand.New(rand.NewPCG(seed, 0x62617463))
		c := enginetest.RandomPlastic(r, int(seed)).Build()
		tune := defaults
		tune.events, tune.batchThreads, tune.batch, tune.uncached = 1+r.Uint32N(20), 32*(2+r.Uint32N(7)), 1+r.Uint64N(30), r.IntN(2) == 0
		t.Run(fmt.Sprintf("seed %d, %d events, %d threads", seed, tune.events, tune.batchThreads), func(t *testing.T) {
			oracle, err := reference.Open(c, engine.Want{})
			require.NoError(t, err)
			b, err := open(c, Options{}, tune)
			require.NoError(t, err)
			defer func() { require.NoError(t, b.Close()) }()
			require.Equal(t, pathLearn, b.(*backend).choice.path)
			feed := engine.NewFeed(c, nil)
			var want, got engine.State
			var x engine.Burst
			for range 8 {
				number := got.Number
				n := 1 + r.IntN(40)
				if r.IntN(4) > 0 {
					require.NoError(t, b.(engine.Batcher).StepN(n, func(y *engine.Burst) error {
						in, err := feed.Next(number)
						require.NoError(t, err)
						require.NoError(t, oracle.Step(in, &x))
						require.True(t, slices.Equal(x.Fired, y.Fired), "burst %d: %d fire, want %d", number, y.Fired, x.Fired)
						number++
						return nil
					}))
				} else {
					in, err := feed.Next(number)
					require.NoError(t, err)
					require.NoError(t, oracle.Step(in, &x))
					require.NoError(t, b.Step(in, &x))
				}
				require.NoError(t, oracle.ReadState(&want))
				require.NoError(t, b.ReadState(&got))
				require.Nil(t, engine.CompareStates(&want, &got))
			}
		})
	}
}

// TestLearningMoves lets a run go on from the GPU on the CPU and back, again and again.
func TestLearningMoves(t *testing.T) {
	slow.Short(t)
	cudatest.Anywhere(t)
	for seed := range uint64(slow.Times(3, 40)) {
		r := rand.New(rand.NewPCG(seed, 0x6d6f7665))
		t.Run(fmt.Sprintf("seed %d", seed), func(t *testing.T) {
			moves(t, enginetest.RandomPlastic(r, int(seed)).Build(), r)
		})
	}
}

// moves lets a run go on from the GPU on the CPU and back, by states, and compares it with the reference.
func moves(t *testing.T, c *connectome.Connectome, r *rand.Rand) {
	oracle, err := reference.Open(c, engine.Want{})
	require.NoError(t, err)
	var here, there engine.Backend
	here, err = Open(c, Options{})
	require.NoError(t, err)
	there, err = cpu.Open(c, cpu.Options{Threads: 2})
	require.NoError(t, err)
	defer func() { require.NoError(t, here.Close()); require.NoError(t, there.Close()) }()
	var s engine.State
	for range 6 {
		d, err := engine.Compare(oracle, here, 1+r.Uint64N(30), nil, 0)
		require.NoError(t, err)
		require.Nil(t, d)
		require.NoError(t, here.ReadState(&s))
		require.NoError(t, there.WriteState(&s))
		here, there = there, here
	}
}

// TestLearnArguments holds the structs to the parameters that the compiled kernels declare.
func TestLearnArguments(t *testing.T) {
	var k learnKernels
	for _, image := range kernels.Learn() {
		ptx := image.PTX()
		require.Equal(t, len(k.named())+2, strings.Count(ptx, ".visible .entry learn_"))
		require.Equal(t, declared(t, ptx, "learn_bursts"), sizes(reflect.TypeFor[runArgs]()), image.Name)
		for name, e := range k.named() {
			args := reflect.ValueOf(e).Elem().FieldByName("args").Type()
			require.Equal(t, declared(t, ptx, "learn_"+name), sizes(args), "learn_%s in %s: sizes of the parameters, in order", name, image.Name)
		}
	}
}

// TestKernelsHaveAPlaceForRules: every kernel that runs a handler has one place for the code, and no other has any.
func TestKernelsHaveAPlaceForRules(t *testing.T) {
	for _, image := range kernels.Learn() {
		ptx := image.PTX()
		for name := range new(learnKernels).named() {
			one, err := only(ptx, []string{"learn_" + name})
			require.NoError(t, err)
			rules, handlers := map[string]int{"sources": 1, "events": 1, "every": 1}, map[string]int{"rows": 1, "sweep": 1}
			require.Equal(t, rules[name], strings.Count(one, ruleRemark), name)
			require.Equal(t, handlers[name], strings.Count(one, handlerRemark), name)
		}
	}
}

// TestLearningIsRefused says what cannot be yet.
func TestLearningIsRefused(t *testing.T) {
	cudatest.Anywhere(t)
	c := enginetest.RandomPlastic(rand.New(rand.NewPCG(1, 2)), 1).Build()
	_, err := Open(c.Cut(connectome.Part{Index: 0, Of: 2}), Options{})
	require.ErrorContains(t, err, "learns (test), and a GPU holds such networks whole so far; want one process and one device, or --backend cpu")
}
