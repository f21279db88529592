//go:build unix

package tables

import (
	"math/rand/v2"
	"syscall"
	"testing"

	"burst/record/manifest"

	"github.com/stretchr/testify/require"
)

// spikesOf makes chunks of a network of which one neuron in a hundred fires in a burst.
func spikesOf(neurons uint32, rows int) []Chunk {
	random := rand.New(rand.NewPCG(3, 0x62))
	var chunks []Chunk
	var c Chunk
	for burst := uint64(0); rows > 0; burst++ {
		for n := uint32(random.IntN(199)); n < neurons; n += 1 + uint32(random.IntN(199)) {
			c.Burst, c.Neuron = append(c.Burst, burst), append(c.Neuron, n)
		}
		if len(c.Burst) >= ChunkRows {
			rows -= len(c.Burst)
			chunks = append(chunks, c)
			c = Chunk{}
		}
	}
	return chunks
}

// counter counts what is written.
type counter int

func (c *counter) Write(b []byte) (int, error) {
	*c += counter(len(b))
	return len(b), nil
}

// variablesOf makes chunks of the potentials of all neurons in every burst.
func variablesOf(neurons uint32, rows int) []Chunk {
	random := rand.New(rand.NewPCG(5, 0x63))
	var chunks []Chunk
	for burst := uint64(0); rows > 0; {
		var c Chunk
		for ; len(c.Burst) < ChunkRows; burst++ {
			for n := range neurons {
				c.Burst, c.Neuron, c.Variable, c.Value = append(c.Burst, burst), append(c.Neuron, n), append(c.Variable, 0), append(c.Value, -65+5*random.Float32())
			}
		}
		rows -= len(c.Burst)
		chunks = append(chunks, c)
	}
	return chunks
}

// BenchmarkParquet is the processor time of a row in a Parquet file.
func BenchmarkParquet(b *testing.B) {
	m := &manifest.Manifest{Areas: []manifest.Area{{Name: "E", Neurons: 80_000}, {Name: "I", First: 80_000, Neurons: 20_000}}, Variables: []string{"V"}}
	for table, chunks := range map[string][]Chunk{Spikes: spikesOf(100_000, 4<<20), Variables: variablesOf(2133, 4<<20)} {
		rows := 0
		for i := range chunks {
			rows += len(chunks[i].Burst)
			require.NoError(b, chunks[i].locate(Named(table), m))
		}
		b.Run(table, func(b *testing.B) {
			var before, after syscall.Rusage
			require.NoError(b, syscall.Getrusage(syscall.RUSAGE_SELF, &before))
			n, size := 0, counter(0)
			for b.Loop() {
				n += rows
				require.NoError(b, WriteParquet(&size, Named(table).Schema(m), m, func(yield func(Chunk, error) bool) {
					for _, c := range chunks {
						if !yield(c, nil) {
							return
						}
					}
				}))
			}
			require.NoError(b, syscall.Getrusage(syscall.RUSAGE_SELF, &after))
			b.ReportMetric(float64(after.Utime.Nano()+after.Stime.Nano()-before.Utime.Nano()-before.Stime.Nano())/float64(n), "cpu-ns/row")
			b.ReportMetric(float64(size)/float64(n), "bytes/row")
		})
	}
}
