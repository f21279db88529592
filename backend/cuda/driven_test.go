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
	"burst/internal/cuda/cudatest"
	"burst/internal/slow"
	"burst/kernels"
)

// TestDrivenInProcesses: parts of a network in which potentials drive what spikes deliver tell each other their amplitudes.
func TestDrivenInProcesses(t *testing.T) {
	devices(t, 1)
	for seed := range uint64(6) {
		t.Run(fmt.Sprintf("seed %d", seed), func(t *testing.T) {
			r := rand.New(rand.NewPCG(seed, 0x647061727473))
			c := enginetest.RandomDriven(r, int(seed)).Build()
			oracle, err := reference.Open(c, engine.Want{FCL: true})
			require.NoError(t, err)
			b, err := inProcesses(c, 2+int(seed%2), engine.Want{FCL: true})
			require.NoError(t, err)
			defer func() { require.NoError(t, b.Close()) }()
			d, err := engine.Compare(oracle, b, 60, sparks(c, seed), 9)
			require.NoError(t, err)
			require.Nil(t, d)
		})
	}
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
	for seed := range uint64(slow.Times(6, 40)) {
		t.Run(fmt.Sprintf("seed %d", seed), func(t *testing.T) {
			r := rand.New(rand.NewPCG(seed, 0x646d6f7665))
			moves(t, enginetest.RandomDriven(r, int(seed)).Build(), r)
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
