// Package record holds recorders: what a run keeps of its bursts for people to look at.
package record

import (
	"encoding/binary"
	"fmt"
	"math/bits"
	"slices"

	"burst/connectome"
	"burst/engine"
	"burst/record/manifest"
)

// Activity is a Recorder that counts spikes, per area in all and per area over time in bins that grow with the run, so
// that its memory stays the same for a run of any length.
type Activity struct {
	c      *connectome.Connectome
	spikes []uint64   // per area
	active []bitset   // per area: who has fired at all
	silent []uint64   // per area: how many have not
	bins   [][]uint64 // per area, the same number for all
	width  uint64     // bursts in a bin
	bursts uint64
}

// Rate is the mean rate in Hz of so many neurons that fired so many spikes in bursts of timestep ms; 0 without neurons or bursts.
func Rate(spikes, neurons, bursts uint64, timestep float64) float64 {
	if neurons == 0 || bursts == 0 {
		return 0
	}
	return float64(spikes) / float64(neurons) / (float64(bursts) * timestep / 1000)
}

// maxBins is how many bins are kept; when they are full, neighbours are merged.
const maxBins = 256

// bitset has a bit a neuron.
type bitset []uint64

// NewActivity makes an Activity for c.
func NewActivity(c *connectome.Connectome) *Activity {
	n := len(c.Areas)
	a := &Activity{c: c, spikes: make([]uint64, n), active: make([]bitset, n), silent: make([]uint64, n), bins: make([][]uint64, n), width: 1}
	for i := range c.Areas {
		a.active[i] = make(bitset, (c.Areas[i].Neurons.Count+63)/64)
		a.silent[i] = uint64(c.Areas[i].Neurons.Count)
	}
	return a
}

// Record counts one burst. Fired is ascending, so areas are met in order.
func (a *Activity) Record(b *engine.Burst) error {
	if a.bursts%a.width == 0 {
		a.open()
	}
	a.bursts++
	fired := b.Fired
	for i := range a.c.Areas {
		area := &a.c.Areas[i].Neurons
		k, _ := slices.BinarySearch(fired, area.End())
		a.spikes[i] += uint64(k)
		a.bins[i][len(a.bins[i])-1] += uint64(k)
		if a.silent[i] > 0 { // mostly for the first bursts alone, for to look at every spike takes a tenth of a burst of a fast GPU
			a.silent[i] -= a.active[i].set(fired[:k], area.First)
		}
		fired = fired[k:]
	}
	return nil
}

// set sets the bits of neurons, of which first is the set's first one, and says how many were not.
func (s bitset) set(neurons []uint32, first uint32) uint64 {
	fresh := uint64(0)
	for _, n := range neurons {
		n -= first
		if bit := uint64(1) << (n % 64); s[n/64]&bit == 0 {
			s[n/64] |= bit
			fresh++
		}
	}
	return fresh
}

// count is how many bits are set.
func (s bitset) count() uint64 {
	n := 0
	for _, w := range s {
		n += bits.OnesCount64(w)
	}
	return uint64(n)
}

// open starts a bin, after merging pairs where there are too many.
func (a *Activity) open() {
	for i, bins := range a.bins {
		if len(bins) == maxBins {
			for k := range maxBins / 2 {
				bins[k] = bins[2*k] + bins[2*k+1]
			}
			bins = bins[:maxBins/2]
		}
		a.bins[i] = append(bins, 0)
	}
	if a.bursts == a.width*maxBins {
		a.width *= 2
	}
}

// Spikes is how often the neurons of area i have fired.
func (a *Activity) Spikes(i int) uint64 { return a.spikes[i] }

// Total is how often all neurons have fired.
func (a *Activity) Total() uint64 {
	sum := uint64(0)
	for _, n := range a.spikes {
		sum += n
	}
	return sum
}

// Bursts is how many bursts have been recorded.
func (a *Activity) Bursts() uint64 { return a.bursts }

// Active is how many neurons of area i have fired at least once.
func (a *Activity) Active(i int) uint64 { return uint64(a.c.Areas[i].Neurons.Count) - a.silent[i] }

// Course is the spikes of area i over the run in n equal bins (fewer in a run of fewer bursts), as the mean per burst.
func (a *Activity) Course(i, n int) []float64 {
	bins := a.bins[i]
	n = min(n, len(bins))
	course := make([]float64, n)
	for k := range course {
		from, to := k*len(bins)/n, (k+1)*len(bins)/n
		var sum uint64
		for _, x := range bins[from:to] {
			sum += x
		}
		end := min(uint64(to)*a.width, a.bursts) // the last bin may be unfinished
		course[k] = float64(sum) / float64(end-uint64(from)*a.width)
	}
	return course
}

// Save appends all counts to b, for Restore.
func (a *Activity) Save(b []byte) []byte {
	bins := 0
	if len(a.bins) > 0 {
		bins = len(a.bins[0])
	}
	put := func(list ...uint64) {
		for _, x := range list {
			b = binary.LittleEndian.AppendUint64(b, x)
		}
	}
	put(a.width, a.bursts, uint64(bins))
	for i := range a.spikes {
		put(a.spikes[i])
		put(a.active[i]...)
		put(a.bins[i]...)
	}
	return b
}

// Restore goes on from counts that an Activity of the same network has saved.
func (a *Activity) Restore(b []byte) error {
	words := make([]uint64, len(b)/8)
	if _, err := binary.Decode(b, binary.LittleEndian, words); err != nil {
		return fmt.Errorf("record: activity: %w", err)
	}
	want := uint64(3)
	for _, set := range a.active {
		want += 1 + uint64(len(set))
	}
	if len(words) < 3 || len(b)%8 != 0 || words[2] > maxBins || uint64(len(words)) != want+words[2]*uint64(len(a.active)) ||
		bits.OnesCount64(words[0]) != 1 || words[0] > manifest.MostBursts || words[1] > manifest.MostBursts || words[2] != (words[1]+words[0]-1)/words[0] {
		return fmt.Errorf("record: activity of %d bytes does not fit the network", len(b))
	}
	bins := words[2]
	a.width, a.bursts = words[0], words[1]
	take := func(n uint64) []uint64 {
		list := words[:n:n]
		words = words[n:]
		return list
	}
	take(3)
	for i := range a.active {
		a.spikes[i], a.active[i], a.bins[i] = take(1)[0], take(uint64(len(a.active[i]))), take(bins)
		all, fired := uint64(a.c.Areas[i].Neurons.Count), a.active[i].count()
		if fired > all {
			return fmt.Errorf("record: activity of area %q has %d neurons that fired, of %d", a.c.Areas[i].Name, fired, all)
		}
		a.silent[i] = all - fired
	}
	return nil
}
