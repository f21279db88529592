package cuda

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"burst/backend/reference"
	"burst/connectome"
	"burst/engine"
	"burst/engine/enginetest"
	"burst/genome"
	"burst/internal/cuda/cudatest"
	"burst/internal/slow"
	"burst/kernels"
)

// TestDrivenInParts: parts of a network in which potentials drive what spikes deliver tell each other their amplitudes, processes and
// devices of one process.
func TestDrivenInParts(t *testing.T) {
	slow.Short(t)
	h := devices(t, 3)
	want := engine.Want{FCL: true}
	opens := map[string]func(c *connectome.Connectome, parts int) (engine.Backend, error){
		"processes": func(c *connectome.Connectome, parts int) (engine.Backend, error) {
			return inProcesses(c, parts, want, fewThreads())
		},
		"devices": func(c *connectome.Connectome, parts int) (engine.Backend, error) {
			return openCut(c, []int{2, 0, 1}[:parts], want, defaults)
		},
	}
	for name, open := range opens {
		for seed := range uint64(6) {
			t.Run(fmt.Sprintf("%s, seed %d", name, seed), func(t *testing.T) {
				r := rand.New(rand.NewPCG(seed, 0x647061727473))
				c := enginetest.RandomDriven(r, int(seed)).Build()
				oracle, err := reference.Open(c, want)
				require.NoError(t, err)
				b, err := open(c, 2+int(seed%2))
				require.NoError(t, err)
				defer func() { require.NoError(t, b.Close()) }()
				d, err := engine.Compare(oracle, b, 60, sparks(c, seed), 9)
				require.NoError(t, err)
				require.Nil(t, d)
			})
		}
	}
	require.Zero(t, h.Count("held"))
}

// TestDrivenGenomeOnDevices has devices build the parts of a genome whose potentials drive what spikes deliver, and moves the run between
// them, one device and the reference.
func TestDrivenGenomeOnDevices(t *testing.T) {
	slow.Short(t)
	devices(t, 3)
	g, err := genome.Parse("driven.yaml", []byte(`burst: v1
scale: 1024
areas:
  - {name: eye, size: [20, 9, 1], threshold: 1.5, leak: 0.25, psp_max: 400, drive: [{poisson: {rate: 200 Hz, weight: 0.75}}]}
  - {name: cell, size: [20, 9, 1], threshold: 9, leak: 0.125, psp_max: 400, divide_psp: true}
  - {name: still, neurons: 70, model: lif}
projections:
  - {from: eye, to: cell, rule: all_to_all, weight: 0.05, delay: 3}
  - {from: eye, to: cell, rule: one_to_one, weight: 2}
  - {from: cell, to: eye, rule: all_to_all, weight: 0.01, delay: 2}
  - {from: cell, to: still, rule: all_to_all, weight: 0.5 mV}
  - {from: still, to: eye, rule: all_to_all, weight: 0.01, delay: 5}
`), nil)
	require.NoError(t, err)
	c, err := connectome.Build(g, connectome.Options{})
	require.NoError(t, err)
	want, err := reference.Open(c, engine.Want{})
	require.NoError(t, err)
	spikes, state, out := 0, &engine.State{}, engine.Burst{}
	for _, list := range [][]int{{0, 1}, {2}, {2, 1, 0}, {1, 2}} {
		b, whole := openGenome(t, g, list, connectome.Options{})
		require.Equal(t, c.Hash(), whole.Hash())
		require.Equal(t, c.Total(), whole.Total())
		require.NoError(t, want.ReadState(state))
		require.NoError(t, b.WriteState(state))
		d, err := engine.Compare(want, b, 40, sparks(c, uint64(len(list))), 9)
		require.NoError(t, err)
		require.Nil(t, d, "devices %v", list)
		require.NoError(t, b.Step(nil, &out))
		require.NoError(t, want.Step(nil, &out))
		spikes += len(out.Amplitudes)
		require.NoError(t, b.Close())
	}
	require.Positive(t, spikes)
}

// sparks are stimuli, in every third burst, that make neurons of areas with psp_max fire at many potentials.
func sparks(c *connectome.Connectome, seed uint64) func(uint64) ([]engine.Stimulus, error) {
	return func(t uint64) (list []engine.Stimulus, _ error) {
		r := rand.New(rand.NewPCG(seed, t))
		for i := range c.Areas {
			a := &c.Areas[i]
			for k := uint32(0); t%3 == 0 && a.PSPMax > 0 && k < a.Neurons.Count; k += 1 + r.Uint32N(9) {
				list = append(list, engine.Stimulus{Port: a.Ports.First + k, Amount: int32(a.Lift(int64(r.Int32N(5 * c.Scale))))})
			}
		}
		return list, nil
	}
}

// TestDrivenMoves lets such networks go on from the GPU on the CPU and back.
func TestDrivenMoves(t *testing.T) {
	cudatest.Anywhere(t)
	for seed := range uint64(slow.Times(4, 20)) {
		t.Run(fmt.Sprintf("seed %d", seed), func(t *testing.T) {
			r := rand.New(rand.NewPCG(seed, 0x646d6f7665))
			random := enginetest.RandomDriven
			if seed%2 == 1 {
				random = enginetest.RandomDrivenLearning
			}
			moves(t, random(r, int(seed)).Build(), defaults, r)
		})
	}
}

// TestBeyondMends: a potential beyond psp_max is no fault of the device; no burst follows it until a state is written.
func TestBeyondMends(t *testing.T) {
	cudatest.Anywhere(t)
	c := drivenNet()
	b, err := Open(c, Options{})
	require.NoError(t, err)
	defer func() { require.NoError(t, b.Close()) }()
	var out engine.Burst
	beyond := b.Step([]engine.Stimulus{{Port: 2, Amount: 2001}}, &out)
	require.ErrorAs(t, beyond, new(*engine.AmplitudeError))
	var fault *engine.DeviceError
	require.NotErrorAs(t, beyond, &fault)
	require.Equal(t, beyond, b.Step(nil, &out))
	require.NoError(t, b.WriteState(engine.NewState(c)))
	require.NoError(t, b.Step([]engine.Stimulus{{Port: 0, Amount: 1500}}, &out))
	require.Equal(t, []engine.Amplitude{{Neuron: 0, Quanta: 1500}}, out.Amplitudes)
	require.NoError(t, b.Step(nil, &out))
	require.Equal(t, []engine.Amplitude{{Neuron: 1, Quanta: 1500}}, out.Amplitudes)
}

// TestBeyondOnDevices: of several devices the error is that of the first neuron, whichever device has it, and a state mends them all.
func TestBeyondOnDevices(t *testing.T) {
	devices(t, 3)
	a := enginetest.FEAGI(300)
	a.PSPMax = 2000
	c := enginetest.Net{Areas: []connectome.Area{a}, Synapses: []enginetest.Synapse{{From: 130, To: 131, Weight: 1000}}}.Build()
	b, err := openCut(c, []int{0, 1, 2}, engine.Want{}, defaults)
	require.NoError(t, err)
	defer func() { require.NoError(t, b.Close()) }()
	var out engine.Burst
	for _, ports := range [][]uint32{{70, 130, 195}, {3, 70}, {130, 200}} {
		var in []engine.Stimulus
		for _, port := range ports {
			in = append(in, engine.Stimulus{Port: port, Amount: 2001})
		}
		beyond := b.Step(in, &out)
		require.ErrorContains(t, beyond, fmt.Sprintf("neuron %d of area", ports[0]))
		require.Equal(t, beyond, b.Step(nil, &out))
		require.NoError(t, b.WriteState(engine.NewState(c)))
	}
	require.NoError(t, b.Step([]engine.Stimulus{{Port: 130, Amount: 1500}}, &out))
	require.NoError(t, b.Step(nil, &out))
	require.Equal(t, []engine.Amplitude{{Neuron: 131, Quanta: 1500}}, out.Amplitudes)
}

// TestDrivenArguments holds the structs to the parameters that the compiled kernels declare.
func TestDrivenArguments(t *testing.T) {
	var k drivenKernels
	for _, image := range kernels.Driven() {
		ptx := image.PTX()
		require.Equal(t, len(k.named()), strings.Count(ptx, ".visible .entry"))
		for name, e := range k.named() {
			args := reflect.ValueOf(e).Elem().FieldByName("args").Type()
			require.Equal(t, declared(t, ptx, "driven_"+name), sizes(args), "driven_%s in %s: sizes of the parameters, in order", name, image.Name)
		}
	}
}
