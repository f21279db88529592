package engine

import (
	"unsafe"

	"github.com/cespare/xxhash/v2"
)

// digester keeps the digest of step 5 of the law. xxHash64 takes 5 µs for a burst of 10,000 spikes, has a seed to chain bursts
// with, and exists in every language.
type digester struct {
	sum  uint64
	hash xxhash.Digest
	head [2]uint64
}

// add extends the digest by a burst.
func (d *digester) add(t uint64, fired []uint32) {
	d.hash.ResetWithSeed(d.sum)
	d.head = [2]uint64{t, uint64(len(fired))}
	d.hash.Write(bytesOf(d.head[:]))
	d.hash.Write(bytesOf(fired))
	d.sum = d.hash.Sum64()
}

// bytesOf views numbers as their bytes, lowest first on the machines that burst runs on: to copy them takes longer than to hash them.
func bytesOf[T uint16 | uint32 | uint64 | float32](numbers []T) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(numbers))), len(numbers)*int(unsafe.Sizeof(*new(T))))
}

// Hash is a digest of the whole state: xxHash64 of Number, Digest, the bits of V, Refractory, Count, the queues, each
// queue after its length, the bits of More, of Amplitudes each list after its length as neuron and quanta, all arrays of Plastic in
// the order of Plastic.Arrays, and the fields of Memory, all little-endian.
func (s *State) Hash() uint64 {
	h := xxhash.New()
	h.Write(bytesOf([]uint64{s.Number, s.Digest}))
	h.Write(bytesOf(s.V))
	h.Write(bytesOf(s.Refractory))
	h.Write(bytesOf(s.Count))
	for _, q := range s.Queues {
		h.Write(bytesOf([]uint64{uint64(len(q))}))
		h.Write(bytesOf(q))
	}
	for _, more := range s.More {
		h.Write(bytesOf(more))
	}
	for _, list := range s.Amplitudes {
		h.Write(bytesOf([]uint64{uint64(len(list))}))
		for _, x := range list {
			h.Write(bytesOf([]uint32{x.Neuron, uint32(x.Quanta)}))
		}
	}
	for i := range s.Plastic {
		for _, a := range s.Plastic[i].Arrays() {
			h.Write(bytesOf(a.Numbers))
			h.Write(bytesOf(a.Bursts))
		}
	}
	for i := range s.Memory {
		m := &s.Memory[i]
		h.Write(bytesOf(m.Pattern))
		h.Write(bytesOf(m.Lifespan))
		h.Write(m.LongTerm)
		h.Write(bytesOf([]uint64{m.Lost}))
	}
	return h.Sum64()
}

// Digest is a Backend that wraps another one and keeps the digest of its bursts.
type Digest struct {
	Backend
	digest digester
	spikes uint64
}

// NewDigest wraps a backend that is in the state before burst 0.
func NewDigest(b Backend) *Digest { return &Digest{Backend: b} }

// Step is that of the wrapped backend.
func (d *Digest) Step(in []Stimulus, out *Burst) error {
	if err := d.Backend.Step(in, out); err != nil {
		return err
	}
	d.digest.add(out.Number, out.Fired)
	d.spikes += uint64(len(out.Fired))
	return nil
}

// CanStepN reports whether the backend can advance many bursts at a time.
func (d *Digest) CanStepN() bool {
	b, ok := d.Backend.(Batcher)
	return ok && b.CanStepN()
}

// StepN is that of the wrapped backend; CanStepN must be true.
func (d *Digest) StepN(n int, each func(*Burst) error) error {
	return d.Backend.(Batcher).StepN(n, func(out *Burst) error {
		d.digest.add(out.Number, out.Fired)
		d.spikes += uint64(len(out.Fired))
		return each(out)
	})
}

// Sum is the digest so far.
func (d *Digest) Sum() uint64 { return d.digest.sum }

// Spikes is how many neurons have fired since NewDigest, summed over bursts.
func (d *Digest) Spikes() uint64 { return d.spikes }
