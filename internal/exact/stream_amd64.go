package exact

import "golang.org/x/sys/cpu"

//go:generate go run ./gen -out stream_amd64.s -stubs stubs_amd64.go -pkg exact

// lanes is how many draws the assembly makes at once.
const lanes = 8

func hasWide() bool { return cpu.X86.HasAVX2 }

// wideX makes all of X, or nothing, and says how many draws that are; the last eight are made anew where they fill no step
// of their own.
func (s *Stream) wideX(first uint64, x []uint64) int {
	if len(x) < lanes || !s.wide {
		return 0
	}
	xAVX2(&s.rounds[0][0], first, &x[0], uint64(len(x)/lanes))
	if rest := len(x) - lanes; rest%lanes != 0 {
		xAVX2(&s.rounds[0][0], first+uint64(rest), &x[rest], 1)
	}
	return len(x)
}

// widePick is Pick likewise.
func (s *Stream) widePick(index, x []uint64) int {
	if len(x) < lanes || !s.wide {
		return 0
	}
	pickAVX2(&s.rounds[0][0], &index[0], &x[0], uint64(len(x)/lanes))
	if rest := len(x) - lanes; rest%lanes != 0 {
		pickAVX2(&s.rounds[0][0], &index[rest], &x[rest], 1)
	}
	return len(x)
}

// wideXY is XY likewise.
func (s *Stream) wideXY(first uint64, x, y []uint64) int {
	if len(x) < lanes || !s.wide {
		return 0
	}
	xyAVX2(&s.rounds[0][0], first, &x[0], &y[0], uint64(len(x)/lanes))
	if rest := len(x) - lanes; rest%lanes != 0 {
		xyAVX2(&s.rounds[0][0], first+uint64(rest), &x[rest], &y[rest], 1)
	}
	return len(x)
}
