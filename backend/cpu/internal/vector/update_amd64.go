package vector

// The assembly updates whole blocks. The neurons that are left over fill one.

// tail is a block of fewer than Block neurons. The last one is repeated, so that the block is live where they are.
type tail struct {
	acc, accIn [Block]int32
	v, ex, in  [Block]float32
	r          [Block]uint16
	fired      uint64
}

func pad[T any](to *[Block]T, from []T) {
	last := copy(to[:], from) - 1
	for i := last + 1; i < Block; i++ {
		to[i] = from[last]
	}
}

// firedOf are the spikes of the first n neurons.
func (t *tail) firedOf(n int) uint64 { return t.fired & (1<<n - 1) }

func wideLIF(k *LIF, acc []int32, v []float32, r []uint16, fired []uint64, live []uint8) {
	n := len(acc) / Block
	if n > 0 {
		_, _, _, _ = v[n*Block-1], r[n*Block-1], fired[n-1], live[n-1]
		lifAVX2(&k.EM1, &acc[0], &v[0], &r[0], &fired[0], &live[0], uint64(n))
	}
	acc, v, r = acc[n*Block:], v[n*Block:len(acc)], r[n*Block:len(acc)]
	if len(acc) == 0 {
		return
	}
	var t tail
	pad(&t.acc, acc)
	pad(&t.v, v)
	pad(&t.r, r)
	lifAVX2(&k.EM1, &t.acc[0], &t.v[0], &t.r[0], &t.fired, &live[n], 1)
	clear(acc)
	copy(v, t.v[:])
	copy(r, t.r[:])
	fired[n] = t.firedOf(len(acc))
}

func widePSCExp(k *PSCExp, s *Currents, fired []uint64, live []uint8) {
	n, all := len(s.AccEx)/Block, len(s.AccEx)
	if m := n * Block; m > 0 {
		_, _, _, _, _, _, _ = s.AccIn[m-1], s.V[m-1], s.Ex[m-1], s.In[m-1], s.R[m-1], fired[n-1], live[n-1]
		pscExpAVX2(&k.EM1, &s.AccEx[0], &s.AccIn[0], &s.V[0], &s.Ex[0], &s.In[0], &s.R[0], &fired[0], &live[0], uint64(n))
	}
	m := n * Block
	if m == all {
		return
	}
	var t tail
	pad(&t.acc, s.AccEx[m:])
	pad(&t.accIn, s.AccIn[m:])
	pad(&t.v, s.V[m:all])
	pad(&t.ex, s.Ex[m:all])
	pad(&t.in, s.In[m:all])
	pad(&t.r, s.R[m:all])
	pscExpAVX2(&k.EM1, &t.acc[0], &t.accIn[0], &t.v[0], &t.ex[0], &t.in[0], &t.r[0], &t.fired, &live[n], 1)
	clear(s.AccEx[m:])
	clear(s.AccIn[m:])
	copy(s.V[m:all], t.v[:])
	copy(s.Ex[m:all], t.ex[:])
	copy(s.In[m:all], t.in[:])
	copy(s.R[m:all], t.r[:])
	fired[n] = t.firedOf(all - m)
}
