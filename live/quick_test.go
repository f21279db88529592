package live

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"burst/engine"
	"burst/genome"
	"burst/run"

	"github.com/stretchr/testify/require"
)

// TestQuickly: values that are made into stimuli at once give what they give entry by entry, the error of a refused one included.
func TestQuickly(t *testing.T) {
	const text = `burst: v1
name: net
areas:
  - {name: eye, size: [4, 3, 1], neurons_per_voxel: 3, threshold: 9}
  - {name: signed, model: lif_psc_exp, neurons: 40}
  - {name: plain, neurons: 40, threshold: 9}
`
	g, err := genome.Parse("net.yaml", []byte(text), nil)
	require.NoError(t, err)
	s, err := New(t.Context(), g, Options{Options: run.Options{Backend: "reference"}})
	require.NoError(t, err)
	defer s.Close()
	r, f := rand.New(rand.NewPCG(3, 4)), s.Feeder("x")
	quick, slow, refused := 0, 0, 0
	for range 300 {
		b := Binding{Place: placeOf(r), Largest: 2, Port: r.IntN(2)}
		in, err := f.Bind(b)
		require.NoError(t, err)
		for range 20 {
			v := valueOf(r, in)
			in.scratch = in.scratch[:0]
			was := f.make(v, nil)
			made := append([]engine.Stimulus(nil), in.scratch...)
			if in.quickly(v) {
				quick++
			} else {
				slow++
			}
			want := in.slowly(v)
			require.Equal(t, want, was, "%+v %+v", b, v)
			if want == nil {
				require.Equal(t, append([]engine.Stimulus(nil), in.scratch...), made, "%+v %+v", b, v)
			} else {
				refused++
			}
		}
		in.Close()
		require.NoError(t, s.Step(t.Context(), 1)) // which forgets the input
	}
	require.Greater(t, quick, 2000)
	require.Greater(t, slow, 1000)
	require.Greater(t, refused, 300)
}

// placeOf is an area, or some of its neurons or voxels in any order, now and then one of them twice.
func placeOf(r *rand.Rand) Place {
	p := Place{Area: []string{"eye", "signed", "plain"}[r.IntN(3)]}
	switch n := 1 + r.IntN(12); {
	case r.IntN(3) == 0:
	case p.Area == "eye" && r.IntN(2) == 0:
		for _, i := range r.Perm(12)[:n] {
			p.Voxels = append(p.Voxels, [3]uint32{uint32(i % 4), uint32(i / 4), 0})
		}
		if r.IntN(4) == 0 {
			p.Voxels = append(p.Voxels, p.Voxels[0])
		}
	default:
		for _, i := range r.Perm(36)[:n] {
			p.Neurons = append(p.Neurons, uint32(i))
		}
		switch r.IntN(4) {
		case 0:
			p.Neurons = append(p.Neurons, p.Neurons[0])
		case 1:
			slices.Sort(p.Neurons)
		}
	}
	return p
}

// valueOf is a value of an input, for all entries or some, now and then one that is to be refused.
func valueOf(r *rand.Rand, in *Input) Value {
	v := Value{To: in, Amounts: make([]float32, in.entries)}
	if r.IntN(2) == 0 {
		v.At = []uint32{}
		for i := range in.entries {
			if r.IntN(2) == 0 {
				v.At = append(v.At, uint32(i))
			}
		}
		v.Amounts = v.Amounts[:len(v.At)]
	}
	for i := range v.Amounts {
		switch r.IntN(4) {
		case 0: // stays 0
		case 1:
			v.Amounts[i] = 0.0005 - 0.001*float32(r.IntN(2))
		default:
			v.Amounts[i] = 4 * (r.Float32() - 0.5)
		}
	}
	if n := len(v.Amounts); n > 0 && r.IntN(8) == 0 {
		v.Amounts[r.IntN(n)] = []float32{2.1, -2.1, float32(math.NaN())}[r.IntN(3)]
	}
	if n := len(v.At); n > 0 && r.IntN(8) == 0 {
		v.At[r.IntN(n)] = []uint32{0, uint32(in.entries), math.MaxUint32}[r.IntN(3)]
	}
	return v
}
