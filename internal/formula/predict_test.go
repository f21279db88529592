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

// TestPredictedFunctions: exp, log and pow of a burst have the bits that docs/predict works out from docs/bits.md.
func TestPredictedFunctions(t *testing.T) {
	python, err := exec.LookPath("python3")
	if err != nil {
		require.NotEqual(t, "true", os.Getenv("CI"), "CI must have python3")
		t.Skip("no python3")
	}
	r := rand.New(rand.NewPCG(5, 6))
	exp, log, pow := function(t, "exp(in)"), function(t, "log(in)"), function(t, "pow(in, w)")
	bits := func(x float32) uint32 { return math.Float32bits(x) }
	var ask, want strings.Builder
	for range 300 {
		x := math.Float32frombits(uint32(r.Int32N(0x7f800000-1)) + 1)
		near := float32(0.5 + 2*r.Float64())
		y := float32(120 * (2*r.Float64() - 1) / math.Log2(float64(x)))
		a := float32(180*r.Float64() - 95)
		fmt.Fprintln(&ask, bits(x), bits(near), bits(y), bits(a))
		fmt.Fprintln(&want, bits(exp(a, 0)), bits(log(x, 0)), bits(log(near, 0)), bits(pow(x, y)), bits(pow(near, a)))
	}
	c := exec.Command(python, "-B", "-c", `
import struct, sys
sys.path.insert(0, "../../docs/predict")
from exact import bits32, exp32, log32, pow32
for line in sys.stdin:
    x, near, y, a = (struct.unpack("<f", struct.pack("<I", int(w)))[0] for w in line.split())
    print(bits32(exp32(a)), bits32(log32(x)), bits32(log32(near)), bits32(pow32(x, y)), bits32(pow32(near, a)))
`)
	var stderr bytes.Buffer
	c.Stdin, c.Stderr = strings.NewReader(ask.String()), &stderr
	got, err := c.Output()
	require.NoError(t, err, stderr.String())
	require.Equal(t, want.String(), string(got))
}
