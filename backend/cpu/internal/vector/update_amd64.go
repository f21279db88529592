package vector

// The assembly updates eight neurons at a time by AVX2, sixteen by AVX-512. Those that are left over are AVX2's work, then the plain loops'.

const eight, sixteen = 8, 16

// rest is what a loop says of the last neurons of a block, of which the first ones have been updated.
type rest struct {
	fired [1]uint64
	live  [1]uint8
}

// join adds it to what has been said of the block, where its neurons begin at place at.
func (r *rest) join(fired []uint64, live []uint8, at int) {
	if at%Block == 0 {
		fired[at/Block], live[at/Block] = 0, 0
	}
	fired[at/Block] |= r.fired[0] << (at % Block)
	live[at/Block] |= r.live[0]
}

// lifBy is lif with so many neurons at a time: eight or sixteen.
func lifBy(atOnce int) func(k *LIF, acc []int32, v []float32, r []uint16, fired []uint64, live []uint8) {
	return func(k *LIF, acc []int32, v []float32, r []uint16, fired []uint64, live []uint8) {
		wideLIF(atOnce, k, acc, v, r, fired, live)
	}
}

func wideLIF(atOnce int, k *LIF, acc []int32, v []float32, r []uint16, fired []uint64, live []uint8) {
	all := len(acc)
	n := all / atOnce * atOnce
	if n > 0 {
		clear(fired[n/Block : blocks(n)]) // the assembly writes the bits of its neurons alone
		_, _, _ = v[n-1], r[n-1], live[blocks(n)-1]
		if atOnce == sixteen {
			lifAVX512(&k.EM1, &acc[0], &v[0], &r[0], &fired[0], &live[0], uint64(n/sixteen))
		} else {
			lifAVX2(&k.EM1, &acc[0], &v[0], &r[0], &fired[0], &live[0], uint64(n/eight))
		}
	}
	if n == all {
		return
	}
	var left rest
	if atOnce == sixteen {
		wideLIF(eight, k, acc[n:], v[n:all], r[n:all], left.fired[:], left.live[:])
	} else {
		lif(k, acc[n:], v[n:all], r[n:all], left.fired[:], left.live[:])
	}
	left.join(fired, live, n)
}

// pscExpBy is pscExp likewise.
func pscExpBy(atOnce int) func(k *PSCExp, s *Currents, fired []uint64, live []uint8) {
	return func(k *PSCExp, s *Currents, fired []uint64, live []uint8) { widePSCExp(atOnce, k, s, fired, live) }
}

func widePSCExp(atOnce int, k *PSCExp, s *Currents, fired []uint64, live []uint8) {
	all := len(s.AccEx)
	n := all / atOnce * atOnce
	if n > 0 {
		clear(fired[n/Block : blocks(n)]) // the assembly writes the bits of its neurons alone
		_, _, _, _, _, _ = s.AccIn[n-1], s.V[n-1], s.Ex[n-1], s.In[n-1], s.R[n-1], live[blocks(n)-1]
		if atOnce == sixteen {
			pscExpAVX512(&k.EM1, &s.AccEx[0], &s.AccIn[0], &s.V[0], &s.Ex[0], &s.In[0], &s.R[0], &fired[0], &live[0], uint64(n/sixteen))
		} else {
			pscExpAVX2(&k.EM1, &s.AccEx[0], &s.AccIn[0], &s.V[0], &s.Ex[0], &s.In[0], &s.R[0], &fired[0], &live[0], uint64(n/eight))
		}
	}
	if n == all {
		return
	}
	var left rest
	more := Currents{s.AccEx[n:], s.AccIn[n:all], s.V[n:all], s.Ex[n:all], s.In[n:all], s.R[n:all]}
	if atOnce == sixteen {
		widePSCExp(eight, k, &more, left.fired[:], left.live[:])
	} else {
		pscExp(k, &more, left.fired[:], left.live[:])
	}
	left.join(fired, live, n)
}
