package vector

// Rooms are rows of segments that all have the same room, so that a short row is one access to memory: row n begins at
// Units[n·Room]. It ends with the room or with a count of 0. A row that is longer lies in Rest, and ends with a count of 0 there; its
// room has a header of the kind Elsewhere, whose slot and weight are the lower and upper half of where it begins.
type Rooms struct {
	Room  uint64 // units: 8, 16 or 32, so that no room is in two cache lines; 0: there are none
	Units []uint16
	Rest  []uint16
}

// Kinds of headers in Rooms alone. Few is an Even segment that is its row's only one. It is delivered without a branch for each
// synapse: their number differs from row to row, and a mispredicted branch costs as much as ten synapses.
const (
	Elsewhere = 3
	Few       = 4
)

// leastFew is the least room of rows that are Few.
const leastFew = 16

// Put writes row n, whose room is empty.
func (r *Rooms) Put(n uint32, row []uint16) {
	room := r.Units[uint64(n)*r.Room:][:r.Room]
	if uint64(len(row)) <= r.Room {
		copy(room, row)
		if len(row) > 0 && r.Room >= leastFew && row[1] == Even && HeaderUnits+EvenUnits*(int(row[0])-1) == len(row) {
			room[1] = Few
		}
		return
	}
	room[0], room[1] = 1, Elsewhere
	PutDouble(room[2:], uint32(len(r.Rest)))
	PutDouble(room[4:], uint32(uint64(len(r.Rest))>>32))
	r.Rest = append(append(r.Rest, row...), 0)
}

// Row returns the segments of row n.
func (r *Rooms) Row(n uint32) []uint16 {
	row := r.Units[uint64(n)*r.Room:][:r.Room]
	if row[0] > 0 && row[1] == Elsewhere {
		row = r.Rest[uint64(Double(row[2:]))|uint64(Double(row[4:]))<<32:]
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
		for segments := r.Row(n); len(segments) > 0; {
			var s Segment
			s, segments = Next(segments)
			s.deliver(acc)
		}
	}
}
