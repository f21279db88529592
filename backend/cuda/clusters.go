package cuda

import (
	"math"
	"math/bits"
	"runtime"
	"sync"

	"burst/backend/cuda/driver"
	"burst/connectome"
	"burst/internal/weights"
)

// mostClustered is how many blocks a cluster may have: MOST_BLOCKS of kernels/teams.cuh.
const mostClustered = 4

// places is the struct of that name in kernels/places.cuh, field for field.
type places struct {
	count, size, ports     uint32
	wide, shareLog, idBits uint32
	cut, place, label      driver.Ptr
}

// clusterShape is how neurons are dealt to clusters of blocks, and how rows of places lie; without a count there are none.
type clusterShape struct {
	count, size uint64 // clusters, and blocks of each
	own         uint64 // neurons of a block
	wide        bool   // units of 8 places instead of 4
	shared      uint64 // bytes of a block's memory
}

// ports are those of a cluster.
func (s *clusterShape) ports() uint64 { return s.size * s.own }

// unit is how many places a unit has.
func (s *clusterShape) unit() uint64 {
	if s.wide {
		return 8
	}
	return 4
}

func (s *clusterShape) unitBytes() uint64 { return 2 * s.unit() }

// countClusters asks the device how many clusters it runs whose blocks have all of a multiprocessor's shared memory.
func (b *backend) countClusters() error {
	if b.image.Capability < 90 {
		return nil
	}
	f := b.kernel[kernelDynamics]
	if err := f.AllowShared(mostShared); err != nil {
		return err
	}
	for size := uint64(1); size <= mostClustered; size *= 2 {
		n, err := f.MostClusters(1024, mostShared, uint32(size))
		if err != nil {
			return err
		}
		b.clusters[size] = uint64(n)
	}
	return nil
}

// clusterRows is r for rows of places, if the network can have them and is large enough that they pay.
func (b *backend) clusterRows(c *connectome.Connectome, r rows) rows {
	some, _ := customs(c)
	if b.tune.clusterRow == 0 || r.mean < b.tune.clusterRow || c.Neurons < b.tune.clusterLeast || r.delays || c.MaxDelay != 1 || some || r.synapses == 0 ||
		b.tune.plain || b.want.FCL || len(b.want.Potentials) > 0 || b.share.devices > 1 || !c.Part.Whole() {
		return rows{}
	}
	for i := range c.Areas {
		if c.Areas[i].PortsEach() != 1 {
			return rows{}
		}
	}
	table := rowWeights(c)
	if table == nil {
		return rows{}
	}
	r.table = table
	t := makeTables(c)
	for size := b.tune.clusterMost; size > 0; size /= 2 {
		if r.shape = b.clusterShape(t, r, size); r.shape.count > 0 {
			r.units = countUnits(c, &r.shape)
			if r.units <= math.MaxUint32 {
				return r
			}
		}
	}
	return rows{}
}

// clusterShape deals the neurons to as many clusters as the device runs, if they fit.
func (b *backend) clusterShape(t *tables, r rows, blocks uint64) clusterShape {
	const beside, mostPlaces = 32, 1 << 16 // BESIDE of kernels/places.cuh
	n, all := uint64(b.c.Neurons), b.clusters[blocks]
	if all == 0 {
		return clusterShape{}
	}
	own := divUp(divUp(n, all*blocks), 32) * 32
	s := clusterShape{count: divUp(n, own*blocks), size: blocks, own: own, wide: uint64(r.mean) >= 6*all}
	for _, bytes := range []uint64{4 * (s.ports() + beside), own, size(r.table.List)} {
		s.shared += divUp(bytes, 16) * 16
	}
	s.shared += t.clusterBytes(b.c, own)
	if s.shared > mostShared || s.ports()+beside > mostPlaces || bits.Len64(n-1)+bits.Len(uint(len(r.table.List)-1)) > 32 {
		return clusterShape{}
	}
	return s
}

// clusterBytes is a block's memory as divide_cluster of kernels/cluster_bursts.cu divides it, for own neurons, but for sums, labels
// and weights.
func (t *tables) clusterBytes(c *connectome.Connectome, own uint64) uint64 {
	feagi, driven := own, uint64(0)
	if teamSuffix(c) == "_lif" {
		feagi = 0
	}
	if len(t.drives) > 0 {
		driven = own
	}
	sum := uint64(0)
	for _, bytes := range []uint64{
		own / 32 * 4, own / 32 * 2, 4 * own, 4 * own * uint64(c.Variables()), 2 * own, 2 * feagi, 4 * driven,
		size(t.areas), size(t.terms), size(t.drives), size(t.counts), size(t.amounts),
	} {
		sum += divUp(bytes, 16) * 16
	}
	return sum
}

// places is what kernels take.
func (b *backend) places() places {
	s, p := &b.rows.shape, &b.plan.ptr
	if s.count == 0 {
		return places{}
	}
	return places{
		count: uint32(s.count), size: uint32(s.size), ports: uint32(s.ports()), wide: flag(s.wide), shareLog: b.rows.shareLog(),
		idBits: uint32(bits.Len32(b.c.Neurons - 1)), cut: p[bufCut], place: p[bufTarget], label: p[bufLabel],
	}
}

// shareLog says how many threads share a stretch: so that most have one or two turns.
func (r *rows) shareLog() uint32 {
	units := uint64(r.mean)/(r.shape.count*r.shape.unit()) + 1
	return uint32(min(2, bits.Len64(units/2)))
}

// inParts does something with stretches of the rows low ≤ n < high that have about equally many synapses, side by side.
func inParts(c *connectome.Connectome, low, high uint32, do func(part int, low, high uint32)) int {
	parts := runtime.GOMAXPROCS(0)
	var all sync.WaitGroup
	at, each := low, (c.Row[high]-c.Row[low])/uint64(parts)+1
	for i := range parts {
		first := at
		for at < high && (c.Row[at+1]-c.Row[low] <= uint64(i+1)*each || i == parts-1) {
			at++
		}
		end := at
		all.Go(func() { do(i, first, end) })
	}
	all.Wait()
	return parts
}

// rowWeights lists the rows' weights, nil if a row has several, or there are more than a label can tell.
func rowWeights(c *connectome.Connectome) *weights.Table {
	const mostLabels = 256
	first, one := make([]int32, c.Neurons), make([]bool, runtime.GOMAXPROCS(0))
	inParts(c, 0, c.Neurons, func(part int, low, high uint32) {
		known := c.Weight[0] // an empty row has any weight
		for n := low; n < high; n++ {
			row := c.Weight[c.Row[n]:c.Row[n+1]]
			if len(row) > 0 {
				known = row[0]
			}
			for _, w := range row {
				if w != known {
					return
				}
			}
			first[n] = known
		}
		one[part] = true
	})
	for _, yes := range one {
		if !yes {
			return nil
		}
	}
	return weights.Collect(first, mostLabels, len(one))
}

// stretch is how many of a row's targets, ascending, belong to the team of the first of them.
func (s *clusterShape) stretch(row []uint32) (team uint64, length int) {
	team = uint64(row[0]) / s.ports()
	end := (team + 1) * s.ports()
	for length < len(row) && uint64(row[length]) < end {
		length++
	}
	return team, length
}

// countUnits is how many units all rows take.
func countUnits(c *connectome.Connectome, s *clusterShape) uint64 {
	units := make([]uint64, runtime.GOMAXPROCS(0))
	inParts(c, 0, c.Neurons, func(part int, low, high uint32) {
		sum := uint64(0)
		for n := low; n < high; n++ {
			for row := c.Target[c.Row[n]:c.Row[n+1]]; len(row) > 0; {
				_, length := s.stretch(row)
				sum += divUp(uint64(length), s.unit())
				row = row[length:]
			}
		}
		units[part] = sum
	})
	sum := uint64(0)
	for _, n := range units {
		sum += n
	}
	return sum
}

// coded is a stretch of rows as the device has them, from a unit of its own on.
type coded struct {
	places []uint16
	cut    []uint32
}

// code is rows low ≤ n < high of places.
func (s *clusterShape) code(c *connectome.Connectome, low, high uint32, to *coded) {
	to.places, to.cut = to.places[:0], to.cut[:0]
	ports, unit := uint32(s.ports()), int(s.unit())
	for n := low; n < high; n++ {
		team := uint64(0)
		for row := c.Target[c.Row[n]:c.Row[n+1]]; len(row) > 0; {
			next, length := s.stretch(row)
			for ; team <= next; team++ {
				to.cut = append(to.cut, uint32(len(to.places)/unit))
			}
			first := uint32(next) * ports
			for _, t := range row[:length] {
				to.places = append(to.places, uint16(t-first))
			}
			for len(to.places)%unit != 0 {
				to.places = append(to.places, uint16(ports)+uint16(len(to.places)%32))
			}
			row = row[length:]
		}
		for ; team <= s.count; team++ {
			to.cut = append(to.cut, uint32(len(to.places)/unit))
		}
	}
}

// uploadPlaces copies rows of places to the device, some at a time: these are on their way while the next are coded.
func (b *backend) uploadPlaces(c *connectome.Connectome) error {
	const some = 8 << 20 // synapses
	s, p := &b.rows.shape, &b.plan.ptr
	if err := b.stream.Upload(p[bufValues], data(b.rows.table.List), b.plan.bytes[bufValues]); err != nil {
		return err
	}
	labels := make([]uint8, c.Neurons)
	for n := range c.Neurons {
		if c.Row[n+1] > c.Row[n] {
			labels[n] = uint8(b.rows.table.Place(c.Weight[c.Row[n]]))
		}
	}
	if err := b.stream.Upload(p[bufLabel], data(labels), size(labels)); err != nil {
		return err
	}
	var rooms [2][]coded
	for i := range rooms {
		rooms[i] = make([]coded, runtime.GOMAXPROCS(0))
	}
	units, cuts := uint64(0), uint64(0)
	for low, turn := uint32(0), 0; low < c.Neurons; turn = 1 - turn {
		high := low + 1
		for high < c.Neurons && c.Row[high+1]-c.Row[low] <= some {
			high++
		}
		inParts(c, low, high, func(part int, low, high uint32) { s.code(c, low, high, &rooms[turn][part]) })
		if err := b.stream.Synchronize(); err != nil {
			return err
		}
		for i := range rooms[turn] {
			r := &rooms[turn][i]
			for k := range r.cut {
				r.cut[k] += uint32(units)
			}
			if len(r.places) > 0 {
				if err := b.stream.Upload(p[bufTarget]+driver.Ptr(units*s.unitBytes()), data(r.places), size(r.places)); err != nil {
					return err
				}
			}
			if len(r.cut) > 0 {
				if err := b.stream.Upload(p[bufCut]+driver.Ptr(4*cuts), data(r.cut), size(r.cut)); err != nil {
					return err
				}
			}
			units += uint64(len(r.places)) / s.unit()
			cuts += uint64(len(r.cut))
		}
		low = high
	}
	err := b.stream.Synchronize()
	runtime.KeepAlive(rooms)
	runtime.KeepAlive(labels)
	return err
}
