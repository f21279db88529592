package wire

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"
)

// MostRaster is how many neurons a viewer can choose.
const MostRaster = 4096

// Raster is what chosen neurons have fired in bursts First ≤ burst < First + Bursts. Parse uses the memory of the one before.
type Raster struct {
	First  uint64
	Bursts uint32
	Lost   uint32 // so many bursts after these were too much to keep
	Spikes []Spike
}

// Spike is one of a Raster.
type Spike struct {
	After uint16 // bursts after First
	Entry uint16 // place of the neuron among the chosen
}

// AppendRaster appends a raster.
func AppendRaster(b []byte, r *Raster) []byte {
	start := len(b)
	b = binary.LittleEndian.AppendUint32(begin(b, TypeRaster, r.First), r.Bursts)
	b = binary.LittleEndian.AppendUint32(b, r.Lost)
	b = binary.LittleEndian.AppendUint32(b, uint32(len(r.Spikes)))
	for _, s := range r.Spikes {
		b = binary.LittleEndian.AppendUint16(b, s.After)
		b = binary.LittleEndian.AppendUint16(b, s.Entry)
	}
	return end(b, start)
}

// Parse reads the body of a raster, whose header names the first burst.
func (r *Raster) Parse(first uint64, body []byte) error {
	if len(body) < 12 {
		return fmt.Errorf("wire: a raster of %d bytes, want 12 at least", len(body))
	}
	n := uint64(binary.LittleEndian.Uint32(body[8:]))
	if uint64(len(body)) != 12+4*n {
		return fmt.Errorf("wire: a raster of %d spikes in %d bytes, want %d", n, len(body), 12+4*n)
	}
	r.First, r.Bursts, r.Lost = first, binary.LittleEndian.Uint32(body), binary.LittleEndian.Uint32(body[4:])
	if r.Bursts > math.MaxUint16+1 {
		return fmt.Errorf("wire: a raster of %d bursts, want at most %d", r.Bursts, math.MaxUint16+1)
	}
	r.Spikes = slices.Grow(r.Spikes[:0], int(n))[:n]
	for i := range r.Spikes {
		r.Spikes[i] = Spike{binary.LittleEndian.Uint16(body[12+4*i:]), binary.LittleEndian.Uint16(body[14+4*i:])}
	}
	return nil
}
