package cuda

import (
	"fmt"
	"math"

	"burst/backend/cuda/driver"
)

// teams is the struct of that name in kernels/teams.cuh, field for field.
type teams struct {
	count, size, ports, room uint32
	cut, sums                driver.Ptr
}

// cutRowsArgs are the parameters of cut_rows.
type cutRowsArgs struct {
	run  run
	rows uint64
}

// teamShape is how ports are dealt to teams of blocks, and what a block's memory then holds; without a count there are none.
type teamShape struct {
	count, size, ports, room uint64
	shared                   uint64 // bytes of a block's memory in all
	cached                   bool   // with copies of state and tables
}

// teamShape deals the ports out, if that pays: rows must be long, for every one costs every team a look at it, and bringing
// sums together costs each burst about as much as a million additions in global memory.
func (b *backend) teamShape(t *tables, blocks, own uint64) teamShape {
	r, c := &b.rows, b.c
	some, _ := customs(c)
	if b.tune.teamRow == 0 || r.mean < b.tune.teamRow || r.synapses > math.MaxUint32 || r.delays || some || c.Ports == 0 {
		return teamShape{}
	}
	least, cached := t.sharedBytes(c, own)
	shape := func(size uint64, state uint64, cached bool) (teamShape, bool) {
		s := teamShape{size: size, count: blocks / size, cached: cached}
		if s.count == 0 {
			return s, false
		}
		const four, spare = 4, 32
		s.ports = divUp(divUp(uint64(c.Ports), s.count), four) * four
		s.room = divUp(4*(s.ports+spare)+b.plan.bytes[bufValues], 16) * 16
		s.shared = s.room + state
		return s, s.shared <= mostShared
	}
	for size := b.tune.teamMost; size > 0; size-- {
		if s, ok := shape(size, cached, true); ok && !b.tune.uncached {
			return s
		}
	}
	for size := b.tune.teamMost; size > 0; size-- {
		if s, ok := shape(size, least, false); ok {
			return s
		}
	}
	return teamShape{}
}

// planTeams adds the memory of teams to the plan.
func (p *plan) planTeams(b *backend, t *tables) {
	blocks, own := deal(b.c, b.sms)
	s := b.teamShape(t, blocks, own)
	p.bytes[bufCut] = 4 * uint64(b.c.Neurons) * (s.count + 1) * min(s.count, 1)
	p.bytes[bufTeamSums] = 4 * s.size * s.count * s.ports
}

// cutRows lets the device find where each team's synapses begin in each row.
func (b *backend) cutRows() error {
	cut, err := b.module.Function("cut_rows")
	if err != nil {
		return err
	}
	args := cutRowsArgs{run: b.batch.args.run, rows: uint64(b.c.Neurons)}
	params := driver.Params(&args)
	defer params.Release()
	if err := cut.Launch(uint32(8*b.sms), b.tune.threads, params, b.stream); err != nil {
		return fmt.Errorf("cut_rows: %w", err)
	}
	return b.stream.Synchronize()
}
