package tables

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
	"testing"

	"burst/record/manifest"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/stretchr/testify/require"
)

// TestLinesAreThoseOfTheCSVWriter: lines of any rows, and of all together, are those that package csv makes of the same numbers.
func TestLinesAreThoseOfTheCSVWriter(t *testing.T) {
	m := &manifest.Manifest{Variables: []string{"V", "u,w", "", ` "`}}
	for _, name := range []string{"plain", `quo"ted`, "com,ma", " led by a space", "two\nlines", "", `\.`} {
		m.Areas = append(m.Areas, manifest.Area{Name: name})
	}
	r, n := rand.New(rand.NewPCG(3, 9)), 4001
	odd := []float64{0, math.Copysign(0, -1), math.NaN(), math.Inf(1), math.Inf(-1), 0.1, 1e21, 5e-324, 123456.789}
	var c Chunk
	for i := range n {
		c.Burst = append(c.Burst, []uint64{0, 7, uint64(i), math.MaxUint64}[r.IntN(4)])
		c.Neuron = append(c.Neuron, r.Uint32()>>r.IntN(32))
		c.Area, c.Variable = append(c.Area, r.Uint32N(uint32(len(m.Areas)))), append(c.Variable, r.Uint32N(uint32(len(m.Variables))))
		c.Sum, c.Value = append(c.Sum, int32(r.Uint32())), append(c.Value, float32(odd[r.IntN(len(odd))]*float64(1+r.IntN(2))))
		c.Time = append(c.Time, odd[r.IntN(len(odd))])
	}
	names := []string{"burst", "neuron", "area", areaID, variable, "sum", "value", "time_ms"}
	var fields []arrow.Field
	for _, name := range names {
		fields = append(fields, arrow.Field{Name: name, Type: arrow.PrimitiveTypes.Uint32})
	}
	lines := NewLines(arrow.NewSchema(fields, nil), m)

	var want bytes.Buffer
	w := csv.NewWriter(&want)
	require.NoError(t, w.Write(names))
	w.Flush()
	require.Equal(t, want.String(), string(lines.Head()))
	starts := []int{want.Len()}
	for i := range n {
		require.NoError(t, w.Write([]string{
			fmt.Sprint(c.Burst[i]), fmt.Sprint(c.Neuron[i]), m.Areas[c.Area[i]].Name, m.Areas[c.Area[i]].Call(), m.Variables[c.Variable[i]], fmt.Sprint(c.Sum[i]),
			strconv.FormatFloat(float64(c.Value[i]), 'g', -1, 32), strconv.FormatFloat(c.Time[i], 'g', -1, 64),
		}))
		w.Flush()
		starts = append(starts, want.Len())
		require.Equal(t, want.String()[starts[i]:], string(lines.Append(nil, &c, i, i+1)), "row %d", i)
	}
	require.True(t, want.String()[starts[0]:] == string(lines.Append(nil, &c, 0, n)))
	for range 50 {
		from := r.IntN(n)
		until := from + r.IntN(n-from)
		require.True(t, "kept"+want.String()[starts[from]:starts[until]] == string(lines.Append([]byte("kept"), &c, from, until)), "rows %d to %d", from, until)
	}
}
