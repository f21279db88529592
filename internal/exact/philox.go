package exact

// Philox is Philox4x32-10 (Salmon, Moraes, Dror and Shaw 2011): ten rounds that turn a counter and a key into four
// 32-bit words, each uniform and independent.
func Philox(key uint64, counter [4]uint32) [4]uint32 {
	a, b, c, d := philox(key, counter[0], counter[1], counter[2], counter[3])
	return [4]uint32{a, b, c, d}
}

// weyl0 and weyl1 are what each round adds to the words of the key.
const weyl0, weyl1 = 0x9E3779B9, 0xBB67AE85

// philox keeps all words in registers, which Go does not do for arrays.
func philox(key uint64, c0, c1, c2, c3 uint32) (uint32, uint32, uint32, uint32) {
	const m0, m1 = 0xD2511F53, 0xCD9E8D57
	k0, k1 := uint32(key), uint32(key>>32)
	for range 10 {
		p0, p1 := uint64(c0)*m0, uint64(c2)*m1
		c0, c1, c2, c3 = uint32(p1>>32)^c1^k0, uint32(p1), uint32(p0>>32)^c3^k1, uint32(p0)
		k0 += weyl0
		k1 += weyl1
	}
	return c0, c1, c2, c3
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
	Attractivity
	NoiseDrive
	PoissonSource
	ParameterDraw
	FormulaDraw
	SynapseDraw
)

// Draw is the law's draw for index in burst t.
func Draw(seed uint64, p Purpose, index, t uint64) [4]uint32 {
	return Philox(seed, [4]uint32{uint32(index), uint32(index >> 32), uint32(t), uint32(p)<<24 | uint32(t>>32)&0xffffff})
}

// Words is Draw as two 64-bit words: x is words 1 and 0, y words 3 and 2, the higher one first.
func Words(seed uint64, p Purpose, index, t uint64) (x, y uint64) {
	a, b, c, d := philox(seed, uint32(index), uint32(index>>32), uint32(t), uint32(p)<<24|uint32(t>>32)&0xffffff)
	return uint64(b)<<32 | uint64(a), uint64(d)<<32 | uint64(c)
}
