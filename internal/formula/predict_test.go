package formula

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestPredictedFunctions: the functions of a burst have the bits that docs/predict works out from docs/bits.md.
func TestPredictedFunctions(t *testing.T) {
	python, err := exec.LookPath("python3")
	if err != nil {
		require.NotEqual(t, "true", os.Getenv("CI"), "CI must have python3")
		t.Skip("no python3")
	}
	r := rand.New(rand.NewPCG(5, 6))
	exp, log, pow := function(t, "exp(in)"), function(t, "log(in)"), function(t, "pow(in, w)")
	normalOf := normals()
	sin, cos, tanh := function(t, "sin(in)"), function(t, "cos(in)"), function(t, "tanh(in)")
	bits := func(x float32) uint32 { return math.Float32bits(x) }
	var ask, want strings.Builder
	for range 300 {
		x := math.Float32frombits(uint32(r.Int32N(0x7f800000-1)) + 1)
		near := float32(0.5 + 2*r.Float64())
		y := float32(120 * (2*r.Float64() - 1) / math.Log2(float64(x)))
		a := float32(180*r.Float64() - 95)
		word := r.Uint32() >> r.IntN(32) // also far tails
		angle, small := float32(65536*(2*r.Float64()-1)), float32(3*r.NormFloat64())
		fmt.Fprintln(&ask, bits(x), bits(near), bits(y), bits(a), bits(angle), bits(small), word)
		fmt.Fprintln(&want, bits(exp(a, 0)), bits(log(x, 0)), bits(log(near, 0)), bits(pow(x, y)), bits(pow(near, a)),
			bits(sin(angle, 0)), bits(cos(angle, 0)), bits(sin(small, 0)), bits(cos(small, 0)), bits(tanh(small, 0)),
			bits(normalOf(word)), bits(normalOf(^word)), bits(Uniform(word)))
	}
	c := exec.Command(python, "-B", "-c", `
import struct, sys
sys.path.insert(0, "../../docs/predict")
from exact import angle32, bits32, exp32, log32, normal32, pow32, random32, tanh32
for line in sys.stdin:
    *numbers, word = (int(w) for w in line.split())
    x, near, y, a, angle, small = (struct.unpack("<f", struct.pack("<I", w))[0] for w in numbers)
    print(bits32(exp32(a)), bits32(log32(x)), bits32(log32(near)), bits32(pow32(x, y)), bits32(pow32(near, a)),
          bits32(angle32(angle, False)), bits32(angle32(angle, True)), bits32(angle32(small, False)), bits32(angle32(small, True)), bits32(tanh32(small)),
          bits32(normal32(word)), bits32(normal32(2**32 - 1 - word)), bits32(random32(word)))
`)
	var stderr bytes.Buffer
	c.Stdin, c.Stderr = strings.NewReader(ask.String()), &stderr
	got, err := c.Output()
	require.NoError(t, err, stderr.String())
	require.Equal(t, want.String(), string(got))
}
