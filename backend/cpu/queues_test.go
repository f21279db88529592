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

// Spikes on their way along rows that learn count as well: each once, and its trips along rows of several delays for each thread.
func TestLearningOutgrowsItsRoom(t *testing.T) {
	p := enginetest.Plastic{Hi: 1, Pre: []connectome.Trace{enginetest.Trace(20, 1, false)}}
	p.Rule.Pre = []string{"x"}
	for i := range uint16(70) {
		p.Synapses = append(p.Synapses, enginetest.Synapse{From: uint32(i), To: 0, Weight: 1, Delay: 230 + i})
	}
	n := enginetest.Net{Scale: 1000, Areas: []connectome.Area{enginetest.FEAGI(70)}, Plastic: []enginetest.Plastic{p}}
	n.Areas[0].Drives = []connectome.Drive{enginetest.Always(connectome.Inject, 1000)} // all fire in every burst
	need := 3*engine.QueueBytes(299, 70*299) + 70*(299-230+1)*(4+8+4+4+24)
	run := func(room uint64) error {
		b, err := Open(n.Build(), Options{Threads: 1, QueueBytes: room})
		require.NoError(t, err)
		defer b.Close()
		var out engine.Burst
		for range 700 {
			if err := b.Step(nil, &out); err != nil {
				return err
			}
		}
		var s engine.State
		require.NoError(t, b.ReadState(&s))
		require.NoError(t, b.WriteState(&s))
		return b.Step(nil, &out)
	}
	require.NoError(t, run(need))
	require.ErrorContains(t, run(need-1), "burst 299: the fire queues of 299 bursts hold 20930 spikes")
}
