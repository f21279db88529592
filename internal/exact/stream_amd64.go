package exact

import "golang.org/x/sys/cpu"

//go:generate go run ./gen -out stream_amd64.s -stubs stubs_amd64.go -pkg exact

// lanes is how many draws the assembly makes at once.
const lanes = 8

// wideness is what this processor has: 2 AVX-512, 1 AVX2, 0 neither.
func wideness() int {
	switch {
	case cpu.X86.HasAVX512F && cpu.X86.HasAVX512DQ:
		return 2
	case cpu.X86.HasAVX2:
		return 1
	}
	return 0
}

// wideX makes all of X, or nothing, and says how many draws that are; the last eight are made anew where they fill no step
// of their own.
func (s *Stream) wideX(first uint64, x []uint64) int {
	if len(x) < lanes || s.wide == 0 {
		return 0
	}
	s.eightsX(first, x)
	if rest := len(x) - lanes; rest%lanes != 0 {
		s.eightsX(first+uint64(rest), x[rest:])
	}
	return len(x)
}

// eightsX, eightsPick and eightsXY make whole steps.
func (s *Stream) eightsX(first uint64, x []uint64) {
	if s.wide > 1 {
		xAVX512(&s.rounds[0][0], first, &x[0], uint64(len(x)/lanes))
	} else {
		xAVX2(&s.rounds[0][0], first, &x[0], uint64(len(x)/lanes))
	}
}

// widePick is Pick likewise.
func (s *Stream) widePick(index, x []uint64) int {
	if len(x) < lanes || s.wide == 0 {
		return 0
	}
	s.eightsPick(index, x)
	if rest := len(x) - lanes; rest%lanes != 0 {
		s.eightsPick(index[rest:], x[rest:])
	}
	return len(x)
}

func (s *Stream) eightsPick(index, x []uint64) {
	if s.wide > 1 {
		pickAVX512(&s.rounds[0][0], &index[0], &x[0], uint64(len(x)/lanes))
	} else {
		pickAVX2(&s.rounds[0][0], &index[0], &x[0], uint64(len(x)/lanes))
	}
}

// wideXY is XY likewise.
func (s *Stream) wideXY(first uint64, x, y []uint64) int {
	if len(x) < lanes || s.wide == 0 {
		return 0
	}
	s.eightsXY(first, x, y)
	if rest := len(x) - lanes; rest%lanes != 0 {
		s.eightsXY(first+uint64(rest), x[rest:], y[rest:])
	}
	return len(x)
}

func (s *Stream) eightsXY(first uint64, x, y []uint64) {
	if s.wide > 1 {
		xyAVX512(&s.rounds[0][0], first, &x[0], &y[0], uint64(len(x)/lanes))
	} else {
		xyAVX2(&s.rounds[0][0], first, &x[0], &y[0], uint64(len(x)/lanes))
	}
}
