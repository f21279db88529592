package exact

import "math/bits"

// Philox is Philox4x32-10 (Salmon, Moraes, Dror and Shaw 2011): ten rounds that turn a counter and a key into four
// 32-bit words, each uniform and independent.
func Philox(key uint64, counter [4]uint32) [4]uint32 {
	const (
		m0, m1 = 0xD2511F53, 0xCD9E8D57
		w0, w1 = 0x9E3779B9, 0xBB67AE85
	)
	k0, k1 := uint32(key), uint32(key>>32)
	c0, c1, c2, c3 := counter[0], counter[1], counter[2], counter[3]
	for range 10 {
		h0, l0 := bits.Mul32(m0, c0)
		h1, l1 := bits.Mul32(m1, c2)
		c0, c1, c2, c3 = h1^c1^k0, l1, h0^c3^k1, l0
		k0 += w0
		k1 += w1
	}
	return [4]uint32{c0, c1, c2, c3}
}

// Purpose separates draws that would otherwise share a counter.
type Purpose uint32

// The purposes; engine/doc.go says what each one's index and words are.
const (
	Wiring Purpose = 1 + iota
	WeightDraw
	DelayDraw
	InitialV
	PoissonDrive
	Excitability
)

// Draw is the law's draw for index in burst t.
func Draw(seed uint64, p Purpose, index, t uint64) [4]uint32 {
	return Philox(seed, [4]uint32{uint32(index), uint32(index >> 32), uint32(t), uint32(p)<<24 | uint32(t>>32)&0xffffff})
}
