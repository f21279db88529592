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
)

// TestMemoryAreas runs networks with memory areas in processes and on several devices by turns, which divide the areas.
func TestMemoryAreas(t *testing.T) {
	slow.Test(t)
	h, opened := devices(t, 2), 0
	enginetest.RunMemory(t, func(c *connectome.Connectome, w engine.Want) (engine.Backend, error) {
		if opened++; opened%2 == 0 {
			return inProcesses(c, 3, w, fewThreads())
		}
		return openCut(c, []int{1, 0}, w, fewThreads())
	}, reference.Open)
	require.Zero(t, h.Count("held"))
}

// TestMemoryMoves lets networks with memory areas go on from the GPU on the CPU and back.
func TestMemoryMoves(t *testing.T) {
	devices(t, 1)
	for seed := range uint64(slow.Times(3, 20)) {
		t.Run(fmt.Sprintf("seed %d", seed), func(t *testing.T) {
			r := rand.New(rand.NewPCG(seed, 0x6d656d6d6f7665))
			moves(t, enginetest.RandomMemory(r, int(seed)).Build(), defaults, r)
		})
	}
}

// TestMemoryForgets: what fired on the device before a state was written does not fire again in a burst of the same number.
func TestMemoryForgets(t *testing.T) {
	devices(t, 1)
	c := enginetest.Net{Areas: []connectome.Area{enginetest.FEAGI(9), enginetest.Memory(4, map[string]float32{"lifespan": 9}, 0)}}.Build()
	b, err := Open(c, Options{})
	require.NoError(t, err)
	defer func() { require.NoError(t, b.Close()) }()
	var out engine.Burst
	for i, want := range [][]uint32{{0}, {1, 9}, {2, 10}} {
		require.NoError(t, b.Step([]engine.Stimulus{{Port: uint32(i), Amount: 1 << 20}}, &out))
		require.Equal(t, want, out.Fired)
	}
	require.NoError(t, b.WriteState(engine.NewState(c)))
	for range 4 {
		require.NoError(t, b.Step(nil, &out))
		require.Empty(t, out.Fired)
	}
}
