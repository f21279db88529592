package cuda

import (
	"fmt"
	"math"
	"math/bits"

	"burst/internal/cuda/driver"
)

// heldLists is the struct held_lists of kernels/held_bursts.cu, field for field.
type heldLists struct {
	cut             driver.Ptr
	widthLog, areas uint32
}

// cutHeldArgs are the parameters of cut_held.
type cutHeldArgs struct {
	run    run
	held   heldLists
	blocks uint32
}

// heldShape is how neurons are dealt to the blocks of held_bursts.
type heldShape struct {
	blocks, own uint64
	widthLog    uint32 // of the lanes that load a stretch of a row
	areas       uint32 // of neurons with inputs
}

// What is in kernels/held_bursts.cu, too: the rows that a block knows of ahead, the entries of tables of decay at hand, the areas of neurons with
// inputs, the neurons that a warp lists, how many bursts blocks are apart, and how many warps of a block compute nothing.
const heldKnown, heldNear, heldAreas, heldFound, heldAway, heldHelpers = 320, 128, 8, 128, 2, 3

// heldLag is the least delay: rows of burst t + 4 are counted in burst t, when all blocks have told of burst t - 2.
const heldLag = 2*heldAway + 2

// heldStatic is more than the kernel's own shared memory.
const heldStatic = 3072

// eventful reports whether launches look at neurons that change at inputs alone when these have some.
func (p path) eventful() bool { return p == pathEvent || p == pathHeld }

func (b *backend) heldGrid() (blocks, own uint64) { return b.choice.held.blocks, b.choice.held.own }

// holdable: one delay, neurons of one port that change at inputs alone, and sources.
func holdable(q *question) string {
	b, r := q.b, q.r
	switch {
	case b.tune.heldBlocks == 0:
		return "blocks that hold neurons are turned off"
	case b.sms > b.tune.heldMost:
		return fmt.Sprintf("there are %d multiprocessors, want at most %d, as where trials share a GPU", b.sms, b.tune.heldMost)
	case b.threads() <= 32*heldHelpers:
		return fmt.Sprintf("blocks have %d threads, want more than %d", b.threads(), 32*heldHelpers)
	case r.synapses == 0 || r.synapses > math.MaxUint32:
		return fmt.Sprintf("there are %d synapses, want 1 to %d", r.synapses, uint32(math.MaxUint32))
	case int(r.least) != q.c.MaxDelay || r.delayBits > 0:
		return "delays differ"
	case r.least < heldLag:
		return fmt.Sprintf("all delays are %d bursts, want at least %d", r.least, heldLag)
	case r.tableBytes() == 0 || r.tableBytes() > 4*nearWeights:
		return fmt.Sprintf("there are more than %d weights", nearWeights)
	}
	areas := 0
	for _, a := range q.c.Areas {
		if a.PortsEach() != 0 && a.Model.Name != "lif_event" {
			return fmt.Sprintf("the area %q has neurons of the model %s", a.Name, a.Model.Name)
		}
		areas += int(a.PortsEach())
	}
	if areas > heldAreas {
		return fmt.Sprintf("there are %d areas of neurons with inputs, want at most %d", areas, heldAreas)
	}
	q.answer.held.areas = uint32(areas)
	return ""
}

// heldFits: the blocks' memory has room for state and sums.
func heldFits(q *question) string {
	if len(q.t.drives) > 0 {
		return "drives act on sums"
	}
	h := q.answer.held
	h.blocks, h.own = deal(q.c, min(q.b.sms, q.b.tune.heldBlocks))
	_, tabled, _ := q.t.sharedBytes(q.c, h.own)
	q.answer.tabled, q.answer.cells, q.answer.cached = true, tabled, true
	q.answer.shared = tabled + aligned(h.own/32*4, 4*heldNear*uint64(h.areas), q.r.tableBytes(), cellBytes*h.own, 4*h.own, h.own/32*4,
		2*4*heldKnown, 2*2*heldKnown, 2*heldFound*uint64(q.b.threads()/32-heldHelpers))
	if room := q.b.room + kernelShared - heldStatic; q.answer.shared > room {
		return fmt.Sprintf("a block of %d neurons needs %d bytes of shared memory, has %d", h.own, q.answer.shared, room)
	}
	h.widthLog = uint32(min(5, bits.Len64(uint64(q.r.mean)/h.blocks)))
	q.answer.held = h
	return ""
}

// cutHeld lets the device find where each block's synapses begin in each row.
func (b *backend) cutHeld() error {
	x := &b.batch
	args := cutHeldArgs{run: x.args.run, held: x.args.held, blocks: x.blocks}
	params := driver.Params(&args)
	defer params.Release()
	if err := x.queueRows.Launch(uint32(8*b.sms), b.tune.threads, params, b.stream); err != nil {
		return fmt.Errorf("cut_held: %w", err)
	}
	return b.stream.Synchronize()
}
