package exact

// Stream is the draws of one seed, purpose and t, made many at a time: on amd64 with AVX2 or AVX-512 eight at once.
type Stream struct {
	rounds [20][4]uint64 // the words of the key's ten rounds, four lanes of each
	upper  [2]uint64     // words 2 and 3 of the counter
	seed   uint64
	t      uint64
	p      Purpose
	wide   int // as wideness
}

// NewStream prepares the draws of Words(seed, p, …, t).
func NewStream(seed uint64, p Purpose, t uint64) *Stream {
	s := &Stream{upper: [2]uint64{uint64(uint32(t)), uint64(p)<<24 | t>>32&0xffffff}, seed: seed, t: t, p: p, wide: wideness()}
	k0, k1 := uint32(seed), uint32(seed>>32)
	for i := range 10 {
		for lane := range 4 {
			s.rounds[2*i][lane], s.rounds[2*i+1][lane] = uint64(k0), uint64(k1)
		}
		k0 += weyl0
		k1 += weyl1
	}
	return s
}

// Words is x and y of one index.
func (s *Stream) Words(index uint64) (x, y uint64) { return Words(s.seed, s.p, index, s.t) }

// X fills x with the first words of the indices from first on.
func (s *Stream) X(first uint64, x []uint64) {
	for i := s.wideX(first, x); i < len(x); i++ {
		x[i], _ = s.Words(first + uint64(i))
	}
}

// Pick fills x with the first words of a list of indices, which is as long.
func (s *Stream) Pick(index, x []uint64) {
	x = x[:len(index)]
	for i := s.widePick(index, x); i < len(x); i++ {
		x[i], _ = s.Words(index[i])
	}
}

// XY fills x and y, which have one length, with both words likewise.
func (s *Stream) XY(first uint64, x, y []uint64) {
	y = y[:len(x)]
	for i := s.wideXY(first, x, y); i < len(x); i++ {
		x[i], y[i] = s.Words(first + uint64(i))
	}
}
