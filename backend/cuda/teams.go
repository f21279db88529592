package cuda

import (
	"fmt"
	"math/bits"
	"slices"

	"burst/connectome"
	"burst/internal/cuda/driver"
)

// teams is the struct of that name in kernels/teams.cuh, field for field.
type teams struct {
	count, size, ports, room, split uint32
	cut, sums                       driver.Ptr
}

// cutRowsArgs are the parameters of cut_rows.
type cutRowsArgs struct {
	run  run
	rows uint64
}

// teamShape is how ports are dealt to teams of blocks, and what a block's memory then holds; without a count there are none.
type teamShape struct {
	count, size, ports, room uint64
	split                    uint32
	shared                   uint64 // bytes of a block's memory in all
	cached, tabled           bool   // with copies of the state, and of the tables
}

// teamShape deals out the ports, if they fit. If blocks can also hold copies of state and tables, they do, and teams are smaller.
func (b *backend) teamShape(c *connectome.Connectome, t *tables, r *rows, blocks, own uint64) teamShape {
	least, tabled, cached := t.sharedBytes(c, own)
	ports, split := ownPorts(c)
	states := []teamShape{{shared: cached, cached: true, tabled: true, split: split}, {shared: tabled, tabled: true, split: split}, {shared: least, split: split}}
	if b.tune.uncached {
		states = states[2:]
	}
	for _, s := range states {
		for size := min(b.tune.teamMost, blocks); size > 0; size-- {
			if whole := s.dealt(size, blocks, ports, r.tableBytes()); whole.shared <= b.room {
				return whole
			}
		}
	}
	return teamShape{}
}

// ownPorts is the number of ports to deal out, and the logarithm of the number of devices that share all of them. If each neuron has one
// port and the number of devices is a power of two, ports of other devices are left out.
func ownPorts(c *connectome.Connectome) (ports uint64, split uint32) {
	of := uint32(c.Part.Of)
	other := func(a connectome.Area) bool { return a.PortsEach() != 1 }
	if c.Part.Whole() || of&(of-1) != 0 || slices.ContainsFunc(c.Areas, other) {
		return uint64(c.Ports), 0
	}
	return uint64(connectome.Part{Of: c.Part.Of}.Count(c.Neurons)), uint32(bits.TrailingZeros32(of))
}

// four is FOUR of kernels/device.cuh.
const four = 4

// dealt is the shape with teams of size blocks, where values is the size of the table of weights.
func (s teamShape) dealt(size, blocks, ports, values uint64) teamShape {
	s.size, s.count = size, blocks/size
	s.ports = divUp(divUp(ports, s.count), four) * four
	s.room = divUp(4*(s.ports+spare)+values, 16) * 16
	s.shared += s.room
	return s
}

// teams is what kernels take.
func (b *backend) teams() teams {
	s, p := &b.choice.teams, &b.plan.ptr
	if s.count == 0 {
		return teams{}
	}
	return teams{
		count: uint32(s.count), size: uint32(s.size), ports: uint32(s.ports), room: uint32(s.room), split: s.split, cut: p[bufCut], sums: p[bufTeamSums],
	}
}

// cutRows lets the device find where each team's synapses begin in each row.
func (b *backend) cutRows() error {
	args := cutRowsArgs{run: b.batch.args.run, rows: uint64(b.c.Neurons)}
	params := driver.Params(&args)
	defer params.Release()
	if err := b.batch.cutRows.Launch(uint32(8*b.sms), b.tune.threads, params, b.stream); err != nil {
		return fmt.Errorf("cut_rows: %w", err)
	}
	return b.stream.Synchronize()
}
