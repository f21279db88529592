package cuda

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"burst/connectome"
)

// TestInterleave interleaves the lists of two to eight devices, from none to all of whose neurons have fired.
func TestInterleave(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 0x6a6f696e))
	for range 500 {
		low, count, share := r.Uint32N(1000), 1+r.Uint32N(100), r.Uint32N(1+r.Uint32N(100))
		lists, all := make([][]uint32, 2+r.IntN(7)), []uint32{}
		for n := low * connectome.Slice; n < (low+count)*connectome.Slice; n++ {
			if r.Uint32N(100) < share {
				q := n / connectome.Slice % uint32(len(lists))
				lists[q], all = append(lists[q], n), append(all, n)
			}
		}
		starts, to := slices.Repeat([]uint32{9}, int(count)), make([]uint32, len(all)) // of a block before
		interleave(to, lists, low, starts)
		require.Equal(t, all, to)
	}
}

// told is what devices that share a network, each with so many multiprocessors, have told of the second of two bursts, in which a neuron has
// fired with the share of its area of 1,000 neurons, and who has.
func told(r *rand.Rand, devices, sms int, neurons uint32, share func(area uint32) float64) (j joiner, fired []uint32) {
	for n := range neurons {
		if r.Float64() < share(n/1000) {
			fired = append(fired, n)
		}
	}
	for q := range devices {
		c := &connectome.Connectome{Neurons: neurons}
		if devices > 1 {
			c.Part = connectome.Part{Index: q, Of: devices}
		}
		blocks, own := deal(c, sms)
		x := &batch{part: c.Part, grid: grid{blocks: uint32(blocks)}, shape: ringShape{most: 1, blocks: blocks, own: own, room: own / 4}}
		x.args.run.blockNeurons, x.joiner.from = uint32(own), []*batch{x}
		x.fired, x.ids = make([]uint32, 2*blocks), make([]uint32, 2*blocks*x.shape.room)
		lists := make([][]uint32, blocks)
		for _, n := range fired {
			if c.Part.Owns(n) {
				block := c.Part.Count(n) / uint32(own)
				lists[block] = append(lists[block], n)
			}
		}
		for block, list := range lists {
			place := blocks + uint64(block)
			x.fired[place] = uint32(len(list))
			for i, n := range list {
				if words := x.wordsIn(place); len(list) <= len(words) {
					words[i] = n
				} else {
					at := c.Part.Count(n) % uint32(own)
					words[at/32] |= 1 << (at % 32)
				}
			}
		}
		j.from = append(j.from, x)
	}
	return j, fired
}

func join(j *joiner, queue []uint32) []uint32 {
	return j.join(1, slices.Grow(queue[:0], j.count(1)))
}

// TestSpares: memory is the smallest that has room, and what has none is given up, the smallest first.
func TestSpares(t *testing.T) {
	var s spares
	require.Equal(t, 50, cap(s.take(40)), "none")
	for _, n := range []int{30, 5, 20, 10} {
		s.put(make([]uint32, 0, n))
	}
	for _, one := range []struct{ n, room int }{{7, 10}, {25, 30}, {40, 50}, {0, 20}, {0, 0}} {
		require.Equal(t, one.room, cap(s.take(one.n)), one.n)
	}
	require.Empty(t, s.list)
}

// TestJoin joins bursts of one to eight devices, whose areas are silent, fire now and then, or nearly all at once, so that some blocks bring
// neurons, some bits, and of one number one device the one and another the other; by one goroutine and by several.
func TestJoin(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(8))
	r := rand.New(rand.NewPCG(2, 0x6a6f696e))
	several := 0
	for i := range 60 {
		shares := [6]float64{0, 0.001, 0.02, 0.2, 0.25, 0.97}
		neurons := 1 + r.Uint32N([3]uint32{300, 20_000, 900_000}[i%3])
		j, want := told(r, 1+i%8, 1+r.IntN(20), neurons, func(area uint32) float64 {
			if i%5 == 4 { // few in all of a block
				return 0.0005
			}
			return shares[(area*area+uint32(i))%6]
		})
		var queue []uint32
		for range 2 { // memory of the first one is used again
			if queue = join(&j, queue); len(j.from) == 1 {
				require.True(t, slices.Equal(want, j.from[0].queue(1, nil)))
			}
			require.True(t, slices.Equal(want, queue), "%d devices, %d neurons", 1+i%8, neurons)
		}
		several += min(1, len(j.hands)-1)
	}
	require.Greater(t, several, 5)
}

// BenchmarkJoin joins bursts of a million neurons a device, which fire independently.
func BenchmarkJoin(b *testing.B) {
	for _, devices := range []int{1, 2, 4} {
		for _, share := range []float64{0.001, 0.01, 0.05, 0.2, 0.5} {
			j, fired := told(rand.New(rand.NewPCG(1, 2)), devices, 132, uint32(devices)<<20, func(uint32) float64 { return share })
			b.Run(fmt.Sprintf("%d/%v", devices, share), func(b *testing.B) {
				var queue []uint32
				for b.Loop() {
					queue = join(&j, queue)
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(len(fired)), "ns/spike")
			})
		}
	}
}
