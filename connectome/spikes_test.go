package connectome

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"burst/genome"
)

// trains parses a source of four neurons whose spikes are in a file.
func trains(t *testing.T, file, content string) *genome.Genome {
	t.Helper()
	g, err := genome.Parse("net.yaml", []byte("burst: v1\nareas:\n  - {name: s, neurons: 4, model: spike_list, file: "+file+"}\n"), func(string) (io.ReadCloser, error) {
		return memFile{bytes.NewReader([]byte(content))}, nil
	})
	require.NoError(t, err)
	return g
}

// streamed is an Arrow stream with columns of uint32 and int64.
func streamed(t *testing.T, neurons []uint32, bursts []int64) string {
	t.Helper()
	n, b := array.NewUint32Builder(memory.DefaultAllocator), array.NewInt64Builder(memory.DefaultAllocator)
	n.AppendValues(neurons, nil)
	b.AppendValues(bursts, nil)
	s := arrow.NewSchema([]arrow.Field{{Name: "neuron", Type: arrow.PrimitiveTypes.Uint32}, {Name: "burst", Type: arrow.PrimitiveTypes.Int64}}, nil)
	var out bytes.Buffer
	w := ipc.NewWriter(&out, ipc.WithSchema(s))
	require.NoError(t, w.Write(array.NewRecordBatch(s, []arrow.Array{n.NewArray(), b.NewArray()}, int64(len(neurons)))))
	require.NoError(t, w.Close())
	return out.String()
}

// A list in a file, in any order and format, is the list in the genome.
func TestSpikesOfAFile(t *testing.T) {
	g, err := genome.Parse("net.yaml", []byte("burst: v1\nareas:\n  - {name: s, neurons: 4, model: spike_list, spikes: [{neurons: [0, 3], at: [2, 9]}, {neurons: [1], at: [0]}]}\n"), nil)
	require.NoError(t, err)
	want := build(t, g)
	sizes, err := Measure(g, Options{})
	require.NoError(t, err)
	for file, content := range map[string]string{
		"s.csv":    "burst,_note,neuron\n9,x,3\n2,,0\n0,,1\n2,,3\n9,,0\n",
		"s.arrows": streamed(t, []uint32{3, 0, 1, 3, 0}, []int64{9, 2, 0, 2, 9}),
	} {
		g := trains(t, file, content)
		c := build(t, g)
		assert.Equal(t, want.Areas[0].Spikes, c.Areas[0].Spikes, file)
		assert.Equal(t, want.Hash(), c.Hash(), file)
		s, err := Measure(g, Options{})
		require.NoError(t, err)
		assert.Equal(t, sizes.Bytes, s.Bytes, file)
	}
	assert.Empty(t, build(t, trains(t, "s.csv", "neuron,burst\n")).Areas[0].Spikes.Low)
}

// What is wrong with a list is told with file, row and line.
func TestSpikesOfAFileRefused(t *testing.T) {
	for content, want := range map[string]string{
		"neuron,burst\n1,2\n4,5\n":            "net.yaml:3:52: areas[0].file: s.csv: row 2 (line 3), column neuron: neuron 4, want 0…3 of s",
		"neuron,burst\n1,-2\n":                "column burst: -2, want the number of a burst, from 0",
		"neuron,burst\n1,1.5\n":               `column burst: "1.5", want a whole number`,
		"neuron,burst\n1,5\n2,5\n1,5\n":       "s.csv: expects each neuron at most once per burst, found neuron 1 twice in burst 5",
		"source,target\n1,5\n":                `s.csv: unknown column "source", want one of neuron, burst`,
		"neuron\n1\n":                         `s.csv: columns "neuron", want neuron and burst`,
		"neurons,burst\n1,2\n":                `did you mean "neuron"?`,
		"neuron,burst\n18446744073709551615,": "want",
	} {
		_, err := Build(trains(t, "s.csv", content), Options{})
		require.ErrorContains(t, err, want)
	}
	_, err := Build(trains(t, "s.csv", "neuron,burst\n1,2\n2,3\n3,3\n"), Options{MaxBytes: 600})
	require.ErrorContains(t, err, "bytes")
}

// A long list, read by several threads in column order, in a random order of rows; bursts may need more than 32 bits.
func TestLongListOfSpikes(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 1))
	for _, first := range []int64{0, 1<<32 - 400} {
		var neurons []uint32
		var bursts []int64
		for b := range int64(5000) {
			for n := range uint32(4) {
				if r.IntN(2) == 0 {
					neurons, bursts = append(neurons, n), append(bursts, first+b)
				}
			}
		}
		r.Shuffle(len(neurons), func(i, j int) {
			neurons[i], neurons[j] = neurons[j], neurons[i]
			bursts[i], bursts[j] = bursts[j], bursts[i]
		})
		l := build(t, trains(t, "s.arrows", streamed(t, neurons, bursts))).Areas[0].Spikes
		require.Len(t, l.Low, len(neurons))
		require.Equal(t, first > 0, l.High != nil, "4 bytes a spike where they do")
		for k, n := range neurons {
			require.True(t, l.Fires(n, uint64(bursts[k])))
		}
		for n := range uint32(4) {
			for k := l.Row[n] + 1; k < l.Row[n+1]; k++ {
				require.Less(t, l.At(k-1), l.At(k))
			}
		}
		again := append(slices.Clone(bursts), bursts[77])
		_, err := Build(trains(t, "s.arrows", streamed(t, append(neurons, neurons[77]), again)), Options{})
		require.ErrorContains(t, err, fmt.Sprintf("found neuron %d twice in burst %d", neurons[77], bursts[77]))
	}
}
