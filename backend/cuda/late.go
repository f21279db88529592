package cuda

import (
	"fmt"

	"burst/connectome"
	"burst/internal/cuda/driver"
)

// lateQueues is the struct late_queues of kernels/late_rows.cuh, field for field.
type lateQueues struct {
	apart, back, mask uint32
	lengths, queues   driver.Ptr
	told, toldNext    driver.Ptr
}

// lateLengths is LENGTHS there, lateTalkers how many warps of a block talk or list, and lateBack how many at least deliver alone.
const lateLengths, lateTalkers, lateBack = 32, 4, 2

// leastApart is how many bursts apart blocks are at least, or they meet.
const leastApart = 2

// apartByDelays reports whether delays of c may be so long that blocks need not meet.
func apartByDelays(c *connectome.Connectome) bool {
	return modelSuffix(c) == "_lif" && c.MaxDelay >= 2*leastApart && len(c.Plastic) == 0
}

// late: no delay is so short that blocks have to meet.
func late(q *question) string {
	b, least := q.b, q.r.least
	switch {
	case modelSuffix(q.c) != "_lif":
		return "not all neurons are of model lif"
	case q.r.synapses == 0 || q.r.mean < b.tune.lateRow:
		return shortRows(q.r.mean, max(1, b.tune.lateRow))
	case b.tune.apart < leastApart:
		return "blocks that do not meet are turned off"
	case q.c.MaxDelay < 2*leastApart:
		return fmt.Sprintf("no delay is above %d bursts, want at least %d", max(1, q.c.MaxDelay), 2*leastApart)
	case least < 2*leastApart:
		return fmt.Sprintf("there are delays of %d bursts, want at least %d", least, 2*leastApart)
	case b.want.FCL || b.want.Stimuli:
		return "fire candidate lists or a caller's stimuli are wanted in every burst"
	case hasInstants(q.c):
		return "drives change, or neurons have drives of their own"
	case b.gathered():
		return "all blocks are one cluster"
	case lateFront(q.own)+lateBack > q.lateWarps():
		return fmt.Sprintf("a block's %d neurons take all of its warps", q.own)
	}
	return ""
}

// lateFront is how many warps of a block update its own neurons, and lateWarps how many do that or deliver rows.
func lateFront(own uint64) uint32 { return uint32(divUp(own, 32)) }
func (q *question) lateWarps() uint32 {
	warps := q.b.threads()/32 - lateTalkers
	if len(q.t.drives) > 0 {
		warps -= min(warps, uint32(divUp(q.own, 128)))
	}
	return warps
}

// lateApart is how many bursts apart blocks are at most.
func (b *backend) lateApart() uint32 { return min(b.tune.apart, b.rows.least/2, turns) }

// lateQueued is of how many bursts there are queues.
func (b *backend) lateQueued() uint64 { return powerOfTwo(2 * uint64(b.lateApart())) }

// lateBytes is the memory of queues, and of their lengths and counters, which lie before them.
func (b *backend) lateBytes() uint64 {
	return 4*lateLengths + 2*turnsBytes + b.lateQueued()*spikeBytes*uint64(b.c.Neurons)
}

// bindLate fills in what stays the same in all launches.
func (b *backend) bindLate(x *batch) {
	at := b.plan.ptr[bufLate]
	x.args.late = lateQueues{
		apart: b.lateApart(), mask: uint32(b.lateQueued() - 1), lengths: at,
		told: at + 4*lateLengths, toldNext: at + 4*lateLengths + turnsBytes, queues: at + 4*lateLengths + 2*turnsBytes,
	}
	x.args.run.front = lateFront(uint64(x.args.run.blockNeurons))
	if x.args.late.back = b.delayOfAll(); x.args.late.back > 0 {
		x.args.run.delay, x.args.run.late = 0, 0
	}
}
