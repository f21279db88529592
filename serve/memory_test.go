package serve_test

import (
	"runtime"
	"testing"
	"time"

	"burst/internal/heap"
	"burst/internal/slow"
	"burst/live/wire"
	"burst/serve"

	"github.com/stretchr/testify/require"
)

// crowd has 100,000 neurons, each of which fires in most bursts.
const crowd = `burst: v1
name: crowd
seed: 3
areas:
  - {name: crowd, size: [400, 250, 1], model: poisson, params: {rate: 900 Hz}}
`

// TestMemoryOfViewers: a viewer that takes nothing, with a raster of as many neurons as there may be, costs two bits a neuron and
// 256 KiB at most, also where every neuron fires.
func TestMemoryOfViewers(t *testing.T) {
	slow.Short(t)
	const viewers, neurons = 32, 100_000
	path := socketIn(t)
	startGenome(t, network(t, crowd), serve.Options{LockStep: true, Socket: path})
	d := dial(t, path, wire.Hello{Role: wire.RoleDrive})
	step := func() {
		for range 30 {
			_, err := d.Step(20)
			require.NoError(t, err)
			time.Sleep(10 * time.Millisecond) // for pictures
		}
	}
	step()
	before := heap.Live()
	chosen := make([]uint32, wire.MostRaster)
	for i := range chosen {
		chosen[i] = uint32(24 * i)
	}
	bind, err := wire.AppendJSON(nil, wire.TypeBind, 0, wire.Bind{Raster: []wire.Place{{Area: "crowd", Neurons: chosen}}})
	require.NoError(t, err)
	var list []*viewer
	for range viewers {
		v := rawViewer(t, path)
		_, err := v.Write(bind)
		require.NoError(t, err)
		for h := (wire.Header{}); h.Type != wire.TypeBind; {
			h, _, err = v.in.Next()
			require.NoError(t, err)
		}
		list = append(list, v)
	}
	step()
	each := (int64(heap.Live()) - int64(before)) / viewers
	t.Logf("%d KiB a viewer, of %d neurons", each>>10, neurons)
	require.Less(t, each, int64(2*neurons/8+256<<10))
	runtime.KeepAlive(list)
}
