package cuda

import (
	"fmt"

	"burst/connectome"
	"burst/internal/cuda/driver"
)

// sumsTurns is the struct sum_turns of kernels/sum_bursts.cu, field for field.
type sumsTurns struct {
	apart, updates, draws uint32
	told, toldNext        driver.Ptr
}

// dueRoom and guidedDrives are DUE and GUIDED there, guideBytes what a guide takes.
const dueRoom, guidedDrives, guideBytes = 256, 8, 512

// sumsThreads are those of a block that has three warps that talk, two for lists, and one for each of updates, draws and rows.
const sumsThreads = 256

// sumsBehind is how many bursts after a spike blocks that do not meet need at least to hear of it and to sum its row, beside how many bursts
// they are apart.
const sumsBehind = 3

// apartSums: the network is such that blocks which sum rows need not meet, if these are of places.
func apartSums(q *question) string {
	b, least := q.b, sumsBehind+leastApart
	switch {
	case b.tune.sumsApart < leastApart:
		return "blocks that do not meet are turned off"
	case b.tune.parts < b.tune.sumsParts:
		return "no trials share the device"
	case modelSuffix(q.c) != "_lif":
		return "not all neurons are of model lif"
	case q.c.MaxDelay < least:
		return fmt.Sprintf("no delay is above %d bursts, want %d at least", q.c.MaxDelay, least)
	case q.devices() > 1 || !q.c.Part.Whole():
		return "several devices or processes share the network"
	case b.want.Stimuli:
		return "a caller's stimuli are wanted in every burst"
	case hasInstants(q.c):
		return "drives change, or neurons have drives of their own"
	case b.threads() < sumsThreads:
		return fmt.Sprintf("blocks have %d threads, want at least %d", b.threads(), sumsThreads)
	}
	return ""
}

// sumsBeside reports whether path sums suits the network. It pays for shorter rows, and fewer neurons, than path clusters.
func (q *question) sumsBeside() bool { return apartSums(q) == "" }

// sumsFit: blocks, which are alone in their clusters, have room for their neurons' state, and for the sums of two bursts, and enough of each row.
func sumsFit(q *question) string {
	s := &q.r.shape
	switch {
	case s.outside:
		return "the neurons' state stays in global memory"
	case s.units<<s.piecesLog < q.b.tune.sumsUnits:
		return fmt.Sprintf("a block's part of a row has %d units of memory, want at least %d", s.units<<s.piecesLog, q.b.tune.sumsUnits)
	}
	q.own = s.own
	return q.fits(q.t.sumsBytes(q.c, s, q.b.threads()) + divUp(q.r.tableBytes(), 16)*16)
}

// sumsBytes is a block's shared memory as divide_sums of kernels/sum_bursts.cu divides it.
func (t *tables) sumsBytes(c *connectome.Connectome, s *clusterShape, threads uint32) uint64 {
	drawn := uint64(0)
	if len(t.drives) > 0 {
		drawn = 2 * 4 * s.own
	}
	workers := uint64(threads) - 32*(lateTalkers-1)
	return aligned(2*4*(s.ports()+spare), s.own/32*4, s.own/32*4, 4*workers, 2*4*dueRoom, guideBytes*min(guidedDrives, uint64(len(t.drives))), s.own/32*2, 4*s.own, 4*s.own*uint64(c.Variables()), 2*s.own, drawn) + t.copied()
}

// apartBySums is how many bursts apart blocks are at most.
func (b *backend) apartBySums() uint32 {
	return min(b.tune.sumsApart, uint32(b.rows.lag())-sumsBehind, turns)
}

// bindSums fills in what stays the same in all launches. Warps that update or draw take 128 neurons at a time, all about equally often.
func (b *backend) bindSums(x *batch) {
	tasks, most := divUp(uint64(x.args.run.blockNeurons), 128), uint64(x.threads-sumsThreads)/64+1
	warps := func(n uint32) uint32 { return uint32(divUp(tasks, divUp(tasks, min(uint64(n), most)))) }
	at := b.plan.ptr[bufLate]
	x.args.sums = sumsTurns{b.apartBySums(), warps(b.tune.sumsUpdate), 0, at, at + turnsBytes}
	if x.args.run.driveCount > 0 {
		x.args.sums.draws = warps(b.tune.sumsDraw)
	}
}
