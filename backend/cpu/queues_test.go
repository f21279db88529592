package cpu

import (
	"testing"

	"github.com/stretchr/testify/require"

	"burst/connectome"
	"burst/engine"
	"burst/engine/enginetest"
)

// Queues that outgrow the memory that the limit leaves end the run with figures; what fits goes on for ever, as old spikes leave.
func TestQueuesOutgrowTheirRoom(t *testing.T) {
	n := enginetest.Net{Scale: 1000, Areas: []connectome.Area{enginetest.FEAGI(70)}, Synapses: []enginetest.Synapse{{From: 0, To: 69, Weight: 1, Delay: 300}, {From: 1, To: 2, Weight: 1, Delay: 2}}}
	n.Areas[0].Drives = []connectome.Drive{enginetest.Always(connectome.Inject, 1000)} // all fire in every burst
	c := n.Build()
	const spikes = 70 * 300
	need := 3*engine.QueueBytes(300, spikes) + spikes*24
	run := func(room uint64, bursts int) error {
		b, err := Open(c, Options{Threads: 1, QueueBytes: room})
		require.NoError(t, err)
		defer b.Close()
		var out engine.Burst
		for range bursts {
			if err := b.Step(nil, &out); err != nil {
				return err
			}
		}
		return nil
	}
	require.NoError(t, run(need, 700))
	require.NoError(t, run(0, 700))
	require.NoError(t, run(need-1, 299))
	require.ErrorContains(t, run(need-1, 300), "burst 299: the fire queues of 300 bursts hold 21000 spikes, which take 759.4 KiB with all copies")
}
