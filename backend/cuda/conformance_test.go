package cuda

import (
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"burst/backend/reference"
	"burst/connectome"
	"burst/engine"
	"burst/engine/enginetest"
	"burst/internal/cuda/cudatest"
	"burst/internal/slow"
)

// paths are the ways of running many bursts in one launch, each forced.
func paths() map[string]tuning {
	with := func(change func(*tuning)) tuning {
		t := defaults
		t.batchThreads, t.gather = 128, 0 // several neurons a thread
		change(&t)
		return t
	}
	return map[string]tuning{
		"resident":                   with(func(t *tuning) { t.listed = true }),
		"resident, few own rows":     with(func(t *tuning) { t.listed, t.ownSynapses = true, 12 }),
		"resident, all rows shared":  with(func(t *tuning) { t.listed, t.ownSynapses = true, 0 }),
		"roaming":                    with(func(t *tuning) { t.roaming = true }),
		"roaming, state outside":     with(func(t *tuning) { t.roaming, t.uncached, t.drawLeast = true, true, 1 }),
		"roaming, gathered":          with(func(t *tuning) { t.roaming, t.gather = true, defaults.gather }),
		"resident, gathered":         with(func(t *tuning) { t.listed, t.ownSynapses, t.gather = true, 12, defaults.gather }),
		"delayed, gathered":          with(func(t *tuning) { t.delayedRow, t.ownSynapses, t.gather = 1, 100, defaults.gather }),
		"rows that wait":             with(func(t *tuning) { t.drawLeast = 1; rowsWait(t, 63, 1<<8) }),
		"some rows that wait":        with(func(t *tuning) { t.unpacked, t.batch = true, 3; rowsWait(t, 2, 4) }),
		"resident, 8-byte synapses":  with(func(t *tuning) { t.listed, t.unpacked = true, true }),
		"delayed":                    with(func(t *tuning) { t.delayedRow = 1 }),
		"delayed, few own rows":      with(func(t *tuning) { t.delayedRow, t.ownSynapses, t.batch = 1, 100, 3 }),
		"delayed, all rows shared":   with(func(t *tuning) { t.delayedRow, t.ownSynapses = 1, 0 }),
		"delayed, a large block":     with(func(t *tuning) { t.delayedRow, t.batchThreads, t.unpacked = 1, 1024, true }),
		"delayed, a burst a launch":  with(func(t *tuning) { t.delayedRow, t.batch = 1, 1 }),
		"roaming, 8-byte synapses":   with(func(t *tuning) { t.roaming, t.unpacked, t.drawLeast = true, true, 1 }),
		"a launch for every 3rd one": with(func(t *tuning) { t.listed, t.batch = true, 3 }),
		"teams":                      with(func(t *tuning) { t.teamRow, t.teamLeast = 1, 0 }),
		"teams of one, 8 bytes":      with(func(t *tuning) { t.teamLeast, t.teamRow, t.teamMost, t.uncached, t.unpacked = 0, 1, 1, true, true }),
		"clusters": with(func(t *tuning) {
			t.clusterRow, t.clusterLeast, t.clusterDelayed, t.clusterPairs, t.slotBytes, t.listed = 1, 1, 1, 1, 1<<20, true
		}),
		"clusters of one": with(func(t *tuning) {
			t.clusterRow, t.clusterLeast, t.clusterDelayed, t.clusterSize, t.slotBytes, t.listed = 1, 1, 1, 1, 1<<20, true
		}),
		"clusters, state outside": with(func(t *tuning) {
			t.clusterRow, t.clusterLeast, t.clusterDelayed, t.clusterPairs, t.slotBytes, t.listed, t.outside = 1, 1, 1, 1, 1<<20, true, 1
		}),
		"clusters, two rounds": with(func(t *tuning) {
			t.clusterRow, t.clusterLeast, t.clusterDelayed, t.clusterSize, t.slotBytes, t.listed, t.outside = 1, 1, 1, 1, 1<<20, true, mostRounds
		}),
	}
}

// TestConformanceOnHost runs the suite with the kernels compiled for the host: with blocks of three warps, or, if slow tests are asked for,
// every third network with the blocks of a GPU, which take two or three times as long here.
func TestConformanceOnHost(t *testing.T) {
	h := cudatest.Host(t)
	tune := fewThreads()
	opened := 0
	enginetest.Run(t, func(c *connectome.Connectome, w engine.Want) (engine.Backend, error) {
		t := tune
		if opened++; slow.Full() && opened%3 == 0 {
			t = defaults
		}
		t.gather, t.localBlocks = t.gather*(opened%2), t.localBlocks*(opened/2%2)
		longest := func(bursts uint32) bool {
			return slices.ContainsFunc(c.Plastic, func(p connectome.Plastic) bool { return p.Longest > bursts })
		}
		if longest(1_000) {
			t.threads = 32 // each thread of a single burst's kernel looks at all delays
		}
		b, err := open(c, Options{Want: w}, t)
		if err == nil && c.Neurons > 1_000 && longest(200) {
			return struct{ engine.Backend }{b}, nil // no launches of many bursts, in which all blocks look at all delays: 45 s
		}
		return b, err
	}, reference.Open)
	require.Zero(t, h.Count("held"), "closed backends hold nothing")
}

// TestConformanceOfPlainKernels runs the suite by single bursts alone, with the five plain kernels that are the law step by step.
func TestConformanceOfPlainKernels(t *testing.T) {
	slow.Test(t)
	cudatest.Anywhere(t)
	tune := defaults
	tune.plain = true
	enginetest.RunStatic(t, func(c *connectome.Connectome, w engine.Want) (engine.Backend, error) {
		return open(c, Options{Want: w}, tune)
	}, reference.Open)
}

// TestConformanceOnDevice runs the suite on every real GPU.
func TestConformanceOnDevice(t *testing.T) {
	cudatest.Device(t)
	list, err := Devices()
	require.NoError(t, err)
	for i := range list {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			enginetest.Run(t, func(c *connectome.Connectome, w engine.Want) (engine.Backend, error) {
				return Open(c, Options{Device: i, Want: w})
			}, reference.Open)
		})
	}
}

// TestPaths runs many bursts on each path, on two of them with their lists too: every one
// gives the bits of the reference.
func TestPaths(t *testing.T) {
	slow.Short(t)
	cudatest.Anywhere(t)
	for name, tune := range paths() {
		wants := []engine.Want{{}}
		if name == "resident" || name == "delayed" || name == "roaming" || name == "teams" {
			wants = append(wants, engine.Want{FCL: true})
		}
		for _, w := range wants {
			t.Run(fmt.Sprintf("%s, FCL %v", name, w.FCL), func(t *testing.T) {
				if quick := []string{"resident", "delayed", "roaming", "teams", "clusters"}; w.FCL || !slices.Contains(quick, name) { // a variant of these
					slow.Test(t)
				}
				byTeams, byClusters, delayed := 0, 0, 0
				enginetest.RunBatches(t, func(c *connectome.Connectome, w engine.Want) (engine.Backend, error) {
					b, err := open(c, Options{Want: w}, tune)
					if err == nil && b.(*backend).choice.path == pathTeams {
						byTeams++
					}
					if err == nil && b.(*backend).choice.path == pathClusters {
						byClusters++
					}
					if err == nil && b.(*backend).choice.path == pathDelayed {
						delayed++
					}
					return b, err
				}, reference.Open, w)
				require.Equal(t, tune.delayedRow == 1, delayed > 0, "networks with delays, and of lif, have their rows delivered early")
				require.Equal(t, tune.teamRow == 1, byTeams > 0, "networks whose delays are all 1 are run by teams")
				require.Equal(t, tune.clusterRow == 1, byClusters > 0, "those whose rows have one weight each are run by clusters")
			})
		}
	}
}
