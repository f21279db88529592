package cuda

import (
	"burst/internal/slow"
	"testing"

	"github.com/stretchr/testify/require"

	"burst/backend/reference"
	"burst/connectome"
	"burst/engine"
	"burst/genome"
	"burst/genomes"
	"burst/internal/cuda/cudatest"
)

// example builds a shipped network.
func example(t testing.TB, name string) *connectome.Connectome {
	text, err := genomes.Text(name)
	require.NoError(t, err)
	g, err := genome.Parse(name+".yaml", text, genomes.Open)
	require.NoError(t, err)
	c, err := connectome.Build(g, connectome.Options{})
	require.NoError(t, err)
	return c
}

// costs is what bursts ask of the driver.
type costs struct{ launches, copies, bytes, waits, syncs int64 }

func countCosts(h *cudatest.StandIn, do func()) costs {
	now := func() costs {
		return costs{h.Count("launches"), h.Count("downloads"), h.Count("downloaded"), h.Count("waits"), h.Count("synchronizes")}
	}
	a := now()
	do()
	b := now()
	return costs{b.launches - a.launches, b.copies - a.copies, b.bytes - a.bytes, b.waits - a.waits, b.syncs - a.syncs}
}

// TestListsCost counts what lists of many bursts cost beside the launches: one copy a burst, of twelve bytes a candidate and no
// more, waited for by its event alone. Single bursts of the plain kernels cost six launches, three copies with twelve bytes a candidate, and a wait
// for the device each.
func TestListsCost(t *testing.T) {
	slow.Short(t)
	const bursts = 70
	h := cudatest.Host(t)
	c := example(t, "izhikevich-2003") // 1000 neurons with noise: nearly all are candidates
	opened, err := Open(c, Options{Want: engine.Want{FCL: true}})
	require.NoError(t, err)
	b := opened.(*backend)
	require.True(t, b.CanStepN())
	none := func(*engine.Burst) error { return nil }
	require.NoError(t, b.StepN(1, none)) // the ring of sums is made once

	candidates, want := int64(0), costs{launches: 1, copies: bursts, waits: bursts}
	got := countCosts(h, func() {
		require.NoError(t, b.StepN(bursts, func(out *engine.Burst) error {
			candidates += int64(len(out.Candidates))
			return nil
		}))
	})
	want.bytes = 12 * candidates
	require.Equal(t, want, got)
	require.Greater(t, candidates, int64(bursts*950))
	t.Logf("a burst of many: %d candidates, %d bytes", candidates/bursts, got.bytes/bursts)

	var out engine.Burst
	step := func(b engine.Backend) costs {
		return countCosts(h, func() {
			for range bursts {
				require.NoError(t, b.Step(nil, &out))
				require.Greater(t, len(out.Candidates), 950)
			}
		})
	}
	got = step(b)
	require.GreaterOrEqual(t, got.bytes, int64(bursts*950*12))
	got.bytes = 0
	require.Equal(t, costs{launches: bursts, copies: bursts, waits: bursts}, got, "a Step is a launch, too")
	require.NoError(t, b.Close())

	tune := defaults
	tune.plain = true
	plain, err := open(c, Options{Want: engine.Want{FCL: true}}, tune)
	require.NoError(t, err)
	require.NoError(t, plain.Step(nil, &out)) // how long lists are is not known yet
	got = step(plain)
	require.Equal(t, int64(bursts), got.syncs)
	require.Zero(t, got.waits)
	require.LessOrEqual(t, got.launches, int64(6*bursts))
	require.GreaterOrEqual(t, got.bytes, int64(bursts*950*12))
	require.NoError(t, plain.Close())
	require.Zero(t, h.Count("held"))
}

// TestListsOfExamples holds every list of many bursts to the reference's: one area that all blocks share, several ports a
// neuron, and sources without any.
func TestListsOfExamples(t *testing.T) {
	slow.Short(t)
	cudatest.Anywhere(t)
	for _, name := range []string{"izhikevich-2003", "izhikevich-2003-custom", "c-elegans", "quickstart"} {
		c := example(t, name)
		tune := defaults
		tune.batch = 9
		b, err := open(c, Options{Want: engine.Want{FCL: true}}, tune)
		require.NoError(t, err)
		ref, err := reference.Open(c, engine.Want{FCL: true})
		require.NoError(t, err)
		feed, want, lists := engine.NewFeed(c, nil), engine.Burst{}, 0
		require.NoError(t, b.(engine.Batcher).StepN(40, func(out *engine.Burst) error {
			in, err := feed.Next(out.Number)
			require.NoError(t, err)
			require.NoError(t, ref.Step(in, &want))
			require.Nil(t, engine.CompareBursts(&want, out), "%s, burst %d", name, out.Number)
			lists += len(out.Candidates)
			return nil
		}))
		require.Greater(t, lists, 40, name)
		sameState(t, ref, b)
		require.NoError(t, b.Close())
	}
}

// TestListsAreNotListed names what keeps single bursts for its lists: several devices, and a part.
func TestListsAreNotListed(t *testing.T) {
	devices(t, 2)
	fcl := engine.Want{FCL: true}
	for _, c := range []struct {
		name string
		c    *connectome.Connectome
		on   []int
		want engine.Want
	}{
		{"two devices", small(), []int{0, 1}, fcl},
	} {
		b, err := openCut(c.c, c.on, c.want, defaults)
		require.NoError(t, err, c.name)
		require.False(t, b.(engine.Batcher).CanStepN(), c.name)
		var out engine.Burst
		for range 3 {
			require.NoError(t, b.Step(nil, &out), c.name)
		}
		require.NotEmpty(t, out.Candidates, c.name)
		require.NoError(t, b.Close())
	}
}

// TestListIsNotCopied lets a copy be refused in the middle of a run: the state is unknown until it is replaced, then all goes on.
func TestListIsNotCopied(t *testing.T) {
	h := cudatest.Host(t)
	opened, err := Open(small(), Options{Want: engine.Want{FCL: true}})
	require.NoError(t, err)
	b := opened.(*backend)
	var lists [2][]engine.Candidate
	collect := func(k int) func(*engine.Burst) error {
		return func(out *engine.Burst) error {
			lists[k] = append(lists[k], out.Candidates...)
			return nil
		}
	}
	require.NoError(t, b.StepN(3, collect(0)))
	saved := &engine.State{}
	require.NoError(t, b.ReadState(saved))
	lists[0] = nil
	require.NoError(t, b.StepN(9, collect(0)))
	require.NotEmpty(t, lists[0])

	b.batch.lister.shape.room += 1 << 40 // the second list lies beyond what there is
	first := b.StepN(9, func(*engine.Burst) error { t.Error("a burst without its list"); return nil })
	b.batch.lister.shape.room -= 1 << 40
	require.ErrorContains(t, first, "burst 12: stepping")
	require.ErrorContains(t, first, "CUDA_ERROR_INVALID_VALUE")
	require.Equal(t, first, b.StepN(9, collect(1)), "nobody knows how far the device is")
	require.NoError(t, b.WriteState(saved))
	require.NoError(t, b.StepN(9, collect(1)))
	require.Equal(t, lists[0], lists[1])
	require.NoError(t, b.Close())
	require.Zero(t, h.Count("held"))
}

// TestListsOfALostDevice lets a launch touch an illegal address: the run ends with that, however far copies had come.
func TestListsOfALostDevice(t *testing.T) {
	h := cudatest.Host(t)
	c := small()
	b, err := Open(c, Options{Want: engine.Want{FCL: true}})
	require.NoError(t, err)
	many := b.(engine.Batcher)
	require.NoError(t, many.StepN(5, func(*engine.Burst) error { return nil }))
	h.Control("fail_launch", 1)
	first := many.StepN(5, func(*engine.Burst) error { return nil })
	require.ErrorContains(t, first, "CUDA_ERROR_ILLEGAL_ADDRESS")
	require.ErrorContains(t, first, "start a new process")
	require.Equal(t, first, b.WriteState(engine.NewState(c)))
	require.Equal(t, first, b.Close())
}
