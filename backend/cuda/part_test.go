package cuda

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"burst/backend/reference"
	"burst/connectome"
	"burst/engine"
	"burst/engine/enginetest"
	"burst/internal/slow"
	"burst/internal/split"
)

// TestPartsTakeTheWholeQueue runs two parts as processes would, each on a device of its own: after every burst each is
// given who fired in all, in any order.
func TestPartsTakeTheWholeQueue(t *testing.T) {
	devices(t, 2)
	c := uneven(517, 300, 401, 3)
	ref, err := reference.Open(c, engine.Want{})
	require.NoError(t, err)
	var parts [2]*backend
	for i := range parts {
		b, err := Open(c.Cut(connectome.Part{Index: i, Of: 2}), Options{Device: i})
		require.NoError(t, err)
		parts[i] = b.(*backend)
		require.True(t, parts[i].CanStepN())
	}
	in := everyone(c.Ports)
	var want, got engine.Burst
	for range 7 {
		require.NoError(t, ref.Step(in, &want))
		var fired []uint32
		for i, b := range parts {
			var own []engine.Stimulus
			for _, s := range in {
				if b.c.Part.Owns(s.Port) {
					own = append(own, s)
				}
			}
			require.NoError(t, b.Step(own, &got))
			for _, n := range got.Fired {
				require.True(t, b.c.Part.Owns(n), "part %d lists its own neurons", i)
			}
			fired = append(append([]uint32{}, got.Fired...), fired...) // part 1's first
		}
		require.ElementsMatch(t, want.Fired, fired)
		for _, b := range parts {
			b.SetQueue(1, fired)
		}
		in = nil
	}
	for _, b := range parts {
		require.NoError(t, b.Close())
	}
}

// inProcesses opens parts of c as processes do, on one device.
func inProcesses(c *connectome.Connectome, parts int, w engine.Want, tune tuning) (engine.Backend, error) {
	list := make([]*connectome.Connectome, parts)
	for i := range list {
		list[i] = c.Cut(connectome.Part{Index: i, Of: parts})
	}
	return split.Local(list, w, func(c *connectome.Connectome, w engine.Want) (split.Part, error) {
		b, err := open(c, Options{Want: w}, tune)
		if err != nil {
			return nil, err
		}
		return b.(split.Part), nil
	})
}

// leading is the backend of part 0.
func leading(b engine.Backend) *backend {
	return b.(interface{ Leading() split.Part }).Leading().(*backend)
}

// TestBatchesOfProcesses runs the suite's batches in two processes and in three by turns, whose devices run the bursts of a window in one launch,
// on each path.
func TestBatchesOfProcesses(t *testing.T) {
	devices(t, 1).Control("multiprocessors", 4)
	teams := fewThreads()
	teams.teamRow, teams.teamLeast = 1, 0
	for name, tune := range map[path]tuning{pathRun: fewThreads(), pathTeams: teams, pathClusters: clustered(1)} {
		t.Run(name.String(), func(t *testing.T) {
			slow.Short(t)
			if name != pathTeams { // TestWindowsOfProcesses has the other paths
				slow.Case(t)
			}
			opened, taken := 0, [2]int{}
			open := func(c *connectome.Connectome, w engine.Want) (engine.Backend, error) {
				turn := opened % 2
				opened++
				b, err := inProcesses(c, 2+turn, w, tune)
				if err == nil && leading(b).choice.path == name {
					taken[turn]++
				}
				return b, err
			}
			enginetest.RunBatches(t, open, reference.Open, engine.Want{})
			require.Positive(t, taken[0])
			require.Positive(t, taken[1])
		})
	}
}

// TestWindowsOfProcesses: with long delays a launch has many bursts, of which spikes and variables arrive.
func TestWindowsOfProcesses(t *testing.T) {
	slow.Short(t)
	devices(t, 1).Control("multiprocessors", 4)
	late := clustered(1)
	for seed, v := range []struct {
		least, longest uint16
		tune           tuning
		path           path
	}{{1, 1, fewThreads(), pathRun}, {5, 9, fewThreads(), pathRun}, {15, 15, fewThreads(), pathRun}, {1, 1, late, pathClusters}, {7, 7, late, pathClusters}, {15, 15, late, pathClusters}} {
		r := rand.New(rand.NewPCG(uint64(seed), 0x77696e))
		n := enginetest.Uniform(r)
		for i := range n.Synapses {
			n.Synapses[i].Delay = v.least + uint16(r.UintN(uint(v.longest-v.least+1)))
		}
		c := n.Build()
		w := engine.Want{Values: []engine.Probe{{Neuron: c.Neurons - 1}, {Neuron: 3}, {Neuron: c.Neurons / 2}}}
		for _, parts := range []int{2, 3} {
			t.Run(fmt.Sprintf("%v, delays %d to %d, %d parts", v.path, v.least, v.longest, parts), func(t *testing.T) {
				b, err := inProcesses(c, parts, w, v.tune)
				require.NoError(t, err)
				require.Equal(t, v.path, leading(b).choice.path)
				spikes := likeReference(t, b, c, w, uint64(seed))
				require.Greater(t, spikes, 30)
				require.NoError(t, b.Close())
			})
		}
	}
}
