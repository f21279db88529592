//go:build !amd64

package exact

func wideness() int { return 0 }

// wideX, widePick and wideXY say how many draws they have made.

func (s *Stream) wideX(uint64, []uint64) int { return 0 }

func (s *Stream) widePick([]uint64, []uint64) int { return 0 }

func (s *Stream) wideXY(uint64, []uint64, []uint64) int { return 0 }

func wideNormals([]uint64, []float64) { panic("BUG: there is no wide code here") }
