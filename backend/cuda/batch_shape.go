package cuda

import (
	"math"
	"math/bits"

	"burst/connectome"
)

// deal gives the blocks of a launch and how many neurons each owns.
func deal(c *connectome.Connectome, sms int) (blocks, own uint64) {
	neurons, least := uint64(c.Neurons), uint64(32)
	if !c.Part.Whole() { // a block of every device has neurons of the same span
		neurons, least = uint64(connectome.Part{Of: c.Part.Of}.Count(c.Neurons)), connectome.Slice
	}
	blocks = min(uint64(sms), divUp(neurons, 32))
	return blocks, divUp(divUp(neurons, blocks), least) * least
}

// ringShape is how the bursts of two launches lie in the memory in which they arrive, and how many a launch may have.
type ringShape struct {
	most, blocks, own uint64
	room              uint64 // words of a block for who fires in a burst: host_room of kernels/run.cuh, event_room of event_bursts.cu
	list              listShape
	values            uint64 // state variables that are wanted after each burst
}

// mostLeft is how often blocks may leave rows to others in a launch. A counter of 16 bits for each two barriers of the grid counts it (meet
// of kernels/resident_bursts.cu); the next counter lies in the same word.
const mostLeft = math.MaxUint16

func (b *backend) ringShape() ringShape {
	const ringRoom, listRoom = 256 << 20, 1 << 30 // of mapped memory, and of device memory for lists
	blocks, own := b.grid()
	s := ringShape{blocks: blocks, own: own, room: own / 4}
	if b.choice.path == pathEvent { // few neurons fire in a burst, and memory that is locked takes most of the time to open a twin
		s.room = own / 32
	}
	s.values = uint64(len(b.ownProbes()))
	wanted := uint64(len(b.want.Values)) // of all devices, whose launches are of the same length
	s.most = min(b.tune.batch, max(1, ringRoom/(2*4*(s.words()+wanted))), max(1, mostLeft/blocks))
	if b.plan.instants > 0 {
		s.most = min(s.most, max(1, instantRoom/(2*b.plan.instants)))
	}
	if b.listed() {
		s.list = makeListShape(b.c, blocks, own)
		s.most = min(s.most, max(1, listRoom/(2*s.list.bytes())))
	}
	return s
}

// words are those of all blocks.
func (s *ringShape) words() uint64 { return s.room * s.blocks }

// ringAt has the offsets in the mapped memory, in bytes, of what all bursts of two launches write: 8 bytes a burst for the burst that is
// done (from 0 on) and for stamps, a word for each block's count, the words of all blocks, a word for the length of a list, and the values.
type ringAt struct{ stamps, fired, ids, totals, values, end uint64 }

func (s *ringShape) at() ringAt {
	n := 2 * s.most
	a := ringAt{stamps: 8 * n, fired: 16 * n}
	a.ids = a.fired + 4*n*s.blocks
	a.totals = a.ids + 4*n*s.words()
	a.values = a.totals
	if s.list.room > 0 {
		a.values += 4 * n
	}
	a.end = a.values + 4*n*s.values
	return a
}

// ringShare is which part of a device's memory the sums of bursts to come may take; usualRing is that of a GPU of usual size.
const ringShare, usualRing = 4, 20 << 30

// kernelShared is more than any kernel's own shared memory, mostShared what is left of a multiprocessor's on the GPUs that have most.
const kernelShared, mostShared = 7 << 10, 220 << 10

// modelSuffix ends the name of the kernel for networks of one common model: less code and fewer registers than for all.
func modelSuffix(c *connectome.Connectome) string {
	if len(c.Areas) == 0 {
		return ""
	}
	for i := range c.Areas {
		if c.Areas[i].Model.Number != c.Areas[0].Model.Number {
			return ""
		}
	}
	return map[string]string{"feagi": "_feagi", "lif": "_lif", "lif_psc_exp": "_psc_exp"}[c.Areas[0].Model.Kind()] // those that have kernels of their own
}

// crowded reports whether the synapses of the neurons of a block of one device cannot be numbered by 32 bits.
func (q *question) crowded() bool {
	if q.devices() > 1 || q.c.Neurons == 0 {
		return false
	}
	_, own := deal(q.c, q.b.sms)
	n := uint64(q.c.Neurons)
	for first := uint64(0); first < n; first += own {
		if q.c.Row[min(first+own, n)]-q.c.Row[first] > math.MaxUint32 {
			return true
		}
	}
	return false
}

// residentBytes is a block's memory as divide of kernels/resident.cuh divides it, for own neurons.
func (t *tables) residentBytes(c *connectome.Connectome, own uint64) uint64 {
	feagi, driven := uint64(0), uint64(0)
	if suffix := modelSuffix(c); suffix == "" || suffix == "_feagi" {
		feagi = own
	}
	if len(t.drives) > 0 {
		driven = own
	}
	return aligned(own/32*4, own/32*2, 2*own, 4*(own+1), 4*own, 2*own, 2*feagi, 8*driven) + t.copied() + uint64(c.Variables())*(4*own)
}

// aligned is the memory of a block that entries of so many bytes take.
func aligned(entries ...uint64) uint64 {
	sum := uint64(0)
	for _, bytes := range entries {
		sum += divUp(bytes, 16) * 16
	}
	return sum
}

// copied is what copies of the tables take in it.
func (t *tables) copied() uint64 {
	return aligned(size(t.areas), size(t.terms), size(t.drives), size(t.counts), size(t.amounts))
}

// customs says which areas have models of the genome's own.
func customs(c *connectome.Connectome) (some, all bool) {
	all = true
	for i := range c.Areas {
		own := c.Areas[i].Custom != nil
		some, all = some || own, all && own
	}
	return some, some && all
}

// mostPorts is the number of ports of the neurons that have most.
func mostPorts(c *connectome.Connectome) (most uint32) {
	for i := range c.Areas {
		most = max(most, c.Areas[i].PortsEach())
	}
	return most
}

// sharedBytes is a block's shared memory, as lay_out of kernels/run.cuh divides it, in three variants: bits only; bits and copies of the
// tables; these and copies of the state of own neurons.
func (t *tables) sharedBytes(c *connectome.Connectome, own uint64) (least, tabled, cached uint64) {
	least = aligned(own / 32 * 4)
	tabled = least + t.copied()
	return least, tabled, tabled + aligned(4*own, 2*own, 2*own) + uint64(c.Variables())*aligned(4*own)
}

// partsLog is the logarithm of the number of warps that deliver a row of mean synapses. Each thread of a warp gets one or two of them, or
// one group of four, which is how resident_bursts loads them, and kernels that must look up the ids of other devices.
func partsLog(mean uint32, four bool) uint32 {
	if four {
		return uint32(bits.Len32(mean / 128))
	}
	return uint32(bits.Len32(mean / 32))
}

// ownRows is how many rows of mean synapses a block delivers by itself, at most about synapses in all.
func ownRows(synapses, mean uint32) uint32 { return synapses / max(1, mean) }
