package backend

import (
	"fmt"
	"io"
	"runtime"
	"strings"
	"testing"
	"testing/fstest"

	"burst/connectome"
	"burst/engine"
	"burst/genome"

	"github.com/stretchr/testify/require"
)

const text = `
burst: v1
areas:
  - {name: a, neurons: 70, threshold: 1.5, leak: 0.3, drive: {poisson: {rate: 400 Hz, weight: 1.2}}}
  - {name: b, neurons: 9, model: lif, drive: {constant: 30 mV}}
projections:
  - {from: a, to: b, rule: fixed_indegree, indegree: 5, weight: 3 mV, delay: 2}
`

func build(t *testing.T) *connectome.Connectome {
	g, err := genome.Parse("text", []byte(text), nil)
	require.NoError(t, err)
	c, err := connectome.Build(g, connectome.Options{})
	require.NoError(t, err)
	return c
}

func TestOpenKnowsItsNames(t *testing.T) {
	_, err := Open("gpu", build(t), Options{})
	require.EqualError(t, err, `backend "gpu", want one of cpu, cuda, reference`)
	for _, name := range Names() {
		b, err := Open(name, build(t), Options{})
		if name == "cuda" && err != nil {
			require.ErrorIs(t, err, engine.ErrUnavailable)
			continue
		}
		require.NoError(t, err)
		require.NoError(t, b.Close())
	}
}

// TestAutoWithoutADevice hides every GPU: auto must work all the same and say why it took the CPU.
func TestAutoWithoutADevice(t *testing.T) {
	t.Setenv("CUDA_VISIBLE_DEVICES", "")
	b, name, why, err := Auto(build(t), Options{})
	require.NoError(t, err)
	defer b.Close()
	require.Equal(t, "cpu", name)
	require.NotEmpty(t, why)
	require.NotContains(t, why, "\n")
}

// TestAutoWithoutADeviceTakesNoMemoryForIt: a GPU's tables take 8 bytes a listed spike; without one, auto takes what cpu does.
func TestAutoWithoutADeviceTakesNoMemoryForIt(t *testing.T) {
	t.Setenv("CUDA_VISIBLE_DEVICES", "")
	const spikes = 300_000
	list := strings.Builder{}
	list.WriteString("neuron,burst\n")
	for k := range spikes {
		fmt.Fprintf(&list, "%d,%d\n", k%3, k)
	}
	g, err := genome.Parse("trains", []byte("burst: v1\nareas: [{name: a, neurons: 3, model: spike_list, file: s.csv}]\n"),
		func(string) (io.ReadCloser, error) {
			return fstest.MapFS{"s.csv": {Data: []byte(list.String())}}.Open("s.csv")
		})
	require.NoError(t, err)
	c, err := connectome.Build(g, connectome.Options{})
	require.NoError(t, err)
	taken := func(open func() (engine.Backend, error)) uint64 {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		b, err := open()
		runtime.ReadMemStats(&after)
		require.NoError(t, err)
		require.NoError(t, b.Close())
		return after.TotalAlloc - before.TotalAlloc
	}
	cpu := taken(func() (engine.Backend, error) { return Open("cpu", c, Options{}) })
	auto := taken(func() (engine.Backend, error) {
		b, name, _, err := Auto(c, Options{})
		require.Equal(t, "cpu", name)
		return b, err
	})
	require.Less(t, auto, cpu+4*spikes)
}

// liar is a reference whose fire queue has a neuron too many.
type liar struct{ engine.Backend }

func (l liar) Step(in []engine.Stimulus, out *engine.Burst) error {
	err := l.Backend.Step(in, out)
	out.Fired = append(out.Fired, 78)
	return err
}

// TestSelfTest accepts an honest backend, leaving it before burst 0, and refuses one that is wrong.
func TestSelfTest(t *testing.T) {
	c := build(t)
	b, err := Open("cpu", c, Options{})
	require.NoError(t, err)
	defer b.Close()
	require.NoError(t, selfTest(c, b, engine.Want{}))
	var s engine.State
	require.NoError(t, b.ReadState(&s))
	require.Nil(t, engine.CompareStates(engine.NewState(c), &s))
	require.ErrorContains(t, selfTest(c, liar{b}, engine.Want{}), "failed its self-test against the reference: burst 0, neuron 78")
}
