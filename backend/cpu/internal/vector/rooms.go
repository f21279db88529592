package vector

// Rooms are rows of segments that all have the same room, so that a short row is one access to memory: row n begins at
// Units[n·Room]. It ends with the room or with a count of 0. A row that is longer lies in Rest, and ends with a count of 0 there; its
// room has a header of the kind Elsewhere, whose slot and weight are the lower and upper half of where it begins.
type Rooms struct {
	Room  uint64 // units: 8, 16 or 32, so that no room is in two cache lines; 0: there are none
	Units []uint16
	Rest  []uint16
	Slots uint32 // behind which there are SpareSlots sums that nobody reads; 0: there are none, or too many slots for Direct rows
}

// Kinds of headers in Rooms alone. Few and Direct stand for an Even segment that is its row's only one. They are delivered without a
// branch for each synapse: their number differs from row to row, and a mispredicted branch costs as much as ten synapses.
//
// Direct has the weight behind count and kind, and then the slots themselves, each in a unit. What room is left has spare slots.
const (
	Elsewhere = 3
	Few       = 4
	Direct    = 5
)

// DirectUnits is the length of a Direct row without its slots.
const DirectUnits = 4

// SpareSlots are as many as a room has beside the header of a Direct row. MostDirect is the most slots that a Direct row can tell.
const (
	SpareSlots = 32
	MostDirect = 1<<16 - SpareSlots
)

// leastFew is the least room of rows that are Few.
const leastFew = 16

// Put writes row n, whose room is empty.
func (r *Rooms) Put(n uint32, row []uint16) {
	room := r.Units[uint64(n)*r.Room:][:r.Room]
	if uint64(len(row)) <= r.Room {
		single := len(row) > 0 && row[1] == Even && HeaderUnits+EvenUnits*(int(row[0])-1) == len(row)
		if single && r.Slots > 0 {
			r.direct(room, row)
			return
		}
		copy(room, row)
		if single && r.Room >= leastFew {
			room[1] = Few
		}
		return
	}
	room[0], room[1] = 1, Elsewhere
	PutDouble(room[2:], uint32(len(r.Rest)))
	PutDouble(room[4:], uint32(uint64(len(r.Rest))>>32))
	r.Rest = append(append(r.Rest, row...), 0)
}

// direct writes an Even segment as a Direct row.
func (r *Rooms) direct(room, row []uint16) {
	room[0], room[1], room[2], room[3] = row[0], Direct, row[4], row[5]
	var some [SpareSlots]uint32
	slots := Slots(some[:0], row)
	for k := range room[DirectUnits:] {
		slot := r.Slots + uint32(k)
		if k < len(slots) {
			slot = slots[k]
		}
		room[DirectUnits+k] = uint16(slot)
	}
}

// Row returns the segments of row n, or the header and slots of a Direct one.
func (r *Rooms) Row(n uint32) []uint16 {
	row := r.Units[uint64(n)*r.Room:][:r.Room]
	if row[0] > 0 && row[1] == Elsewhere {
		row = r.Rest[uint64(Double(row[2:]))|uint64(Double(row[4:]))<<32:]
	}
	if row[0] > 0 && row[1] == Direct {
		return row[:DirectUnits+row[0]]
	}
	for rest := row; ; {
		if len(rest) == 0 || rest[0] == 0 {
			return row[:len(row)-len(rest)]
		}
		_, rest = Next(rest)
	}
}

func deliverRooms(acc []int32, r *Rooms, ids []uint32) {
	for _, n := range ids {
		segments := r.Row(n)
		if len(segments) > 0 && segments[1] == Direct {
			for _, slot := range segments[DirectUnits:] {
				acc[slot] += int32(Double(segments[2:]))
			}
			continue
		}
		for len(segments) > 0 {
			var s Segment
			s, segments = Next(segments)
			s.deliver(acc)
		}
	}
}
