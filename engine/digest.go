package engine

import (
	"encoding/binary"
	"math"

	"github.com/cespare/xxhash/v2"
)

// digester keeps the digest of step 5. xxHash64 because it is fast (a burst of 10,000 spikes costs microseconds), has a
// seed to chain bursts with, and has implementations in every language a reader may check it with.
type digester struct {
	sum  uint64
	hash xxhash.Digest
	buf  []byte
}

// add makes the digest that of one burst more.
func (d *digester) add(t uint64, fired []uint32) {
	d.buf = binary.LittleEndian.AppendUint64(d.buf[:0], t)
	d.buf = binary.LittleEndian.AppendUint64(d.buf, uint64(len(fired)))
	for _, id := range fired {
		d.buf = binary.LittleEndian.AppendUint32(d.buf, id)
	}
	d.hash.ResetWithSeed(d.sum)
	d.hash.Write(d.buf)
	d.sum = d.hash.Sum64()
}

// Hash is a digest of the whole state: xxHash64 of Number, Digest, the bits of V, Refractory, Count, the queues, each
// queue after its length, and the bits of More, all little-endian.
func (s *State) Hash() uint64 {
	h := xxhash.New()
	buf := make([]byte, 0, 1<<16)
	flush := func(room int) {
		if len(buf)+room > cap(buf) {
			h.Write(buf)
			buf = buf[:0]
		}
	}
	put64 := func(x uint64) { flush(8); buf = binary.LittleEndian.AppendUint64(buf, x) }
	put32 := func(x uint32) { flush(4); buf = binary.LittleEndian.AppendUint32(buf, x) }
	put16 := func(x uint16) { flush(2); buf = binary.LittleEndian.AppendUint16(buf, x) }
	put64(s.Number)
	put64(s.Digest)
	for _, v := range s.V {
		put32(math.Float32bits(v))
	}
	for _, r := range s.Refractory {
		put16(r)
	}
	for _, n := range s.Count {
		put16(n)
	}
	for _, q := range s.Queues {
		put64(uint64(len(q)))
		for _, id := range q {
			put32(id)
		}
	}
	for _, more := range s.More {
		for _, x := range more {
			put32(math.Float32bits(x))
		}
	}
	h.Write(buf)
	return h.Sum64()
}

// Digest is a Backend that keeps the digest of what another one does.
type Digest struct {
	Backend
	digest digester
	spikes uint64
}

// NewDigest wraps a backend that is in the state before burst 0.
func NewDigest(b Backend) *Digest { return &Digest{Backend: b} }

// Step is the backend's.
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

// StepN is the backend's, which CanStepN must have allowed.
func (d *Digest) StepN(n int, each func(*Burst) error) error {
	return d.Backend.(Batcher).StepN(n, func(out *Burst) error {
		d.digest.add(out.Number, out.Fired)
		d.spikes += uint64(len(out.Fired))
		return each(out)
	})
}

// Sum is the digest so far.
func (d *Digest) Sum() uint64 { return d.digest.sum }

// Spikes is how many neurons have fired so far, summed over bursts.
func (d *Digest) Spikes() uint64 { return d.spikes }
