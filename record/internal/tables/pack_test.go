package tables

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"burst/record/manifest"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/file"
	"github.com/stretchr/testify/require"
)

// byArrow is what Arrow's writer makes of rows.
func byArrow(t *testing.T, e *encoder, c *Chunk) []byte {
	_, options := parquetOptions(e.s)
	props := parquet.NewWriterProperties(append(options, parquet.WithDataPageSize(1<<30))...) // as burst's pages are not cut
	var out bytes.Buffer
	f, err := file.NewParquetWriterWithError(&out, e.root, file.WithWriterProps(props))
	require.NoError(t, err)
	g, err := f.AppendBufferedRowGroupChecked()
	require.NoError(t, err)
	for i, field := range e.s.Fields() {
		w, err := g.Column(i)
		require.NoError(t, err)
		switch w := w.(type) {
		case *file.Int64ColumnChunkWriter:
			_, err = w.WriteBatch(words[int64](Of(c, field.Name).Bytes()), nil, nil)
		case *file.Int32ColumnChunkWriter:
			_, err = w.WriteBatch(words[int32](Of(c, field.Name).Bytes()), nil, nil)
		case *file.Float32ColumnChunkWriter:
			_, err = w.WriteBatch(words[float32](Of(c, field.Name).Bytes()), nil, nil)
		case *file.Float64ColumnChunkWriter:
			_, err = w.WriteBatch(words[float64](Of(c, field.Name).Bytes()), nil, nil)
		case *file.ByteArrayColumnChunkWriter:
			places, said := *c.places(field.Name), Words(e.m)[field.Name]
			rows := make([]parquet.ByteArray, len(places))
			all := array.NewStringBuilder(memory.DefaultAllocator)
			for _, word := range e.words[field.Name].words {
				all.Append(word)
			}
			for k, place := range places {
				rows[k] = parquet.ByteArray(said[place])
			}
			require.NoError(t, w.CurrentEncoder().(interface{ PutDictionary(arrow.Array) error }).PutDictionary(all.NewArray()))
			_, err = w.WriteBatch(rows, nil, nil)
		}
		require.NoError(t, err)
	}
	require.NoError(t, f.Close())
	return out.Bytes()
}

// TestPagesAreArrows: row groups are those of Arrow's writer, byte for byte, in all tables, of few rows and many, with differences of
// all widths, runs of all lengths, and one word or more than fit a byte.
func TestPagesAreArrows(t *testing.T) {
	random := rand.New(rand.NewPCG(8, 0x66))
	for _, rows := range []int{1, 2, 32, 33, 34, 128, 129, 130, 257, 1000, 6000} {
		for _, areas := range []int{1, 5, 300} {
			m := &manifest.Manifest{Timestep: 0.1, Scale: 1}
			for k := range areas {
				m.Areas = append(m.Areas, manifest.Area{Name: fmt.Sprint("area ", k%250), Aliases: []string{fmt.Sprint(k % 3)}, First: uint32(1000 * k), Neurons: 1000})
				m.Variables = append(m.Variables, fmt.Sprint("V", k))
			}
			for _, name := range Names() {
				table := Named(name)
				s := table.Schema(m)
				c := anyRows(random, rows, areas, table)
				e, g := newEncoder(s, m), &group{block: *new(Block).of(&c)}
				for range 2 { // and again in the same memory
					require.NoError(t, e.encode(g))
					var out bytes.Buffer
					out.WriteString(magic)
					out.Write(g.pages)
					_, err := g.meta.WriteTo(&out, nil)
					require.NoError(t, err)
					want := byArrow(t, e, &g.rows)
					require.True(t, bytes.Equal(want[:len(want)-8], out.Bytes()), "%s, %d rows, %d areas", name, rows, areas)
				}
			}
		}
	}
}

// anyRows makes rows of a table that no run would record.
func anyRows(random *rand.Rand, rows, areas int, t Table) Chunk {
	var c Chunk
	burst, area, width := uint64(0), uint32(0), 0
	for i := range rows {
		if i%97 == 0 {
			width = random.IntN(33)
		}
		if random.IntN(1+i%300) == 0 || i%5000 > 3000 { // also areas that change with every row, for longer than a byte counts
			burst, area = burst+random.Uint64N(1<<(2*width/3)), random.Uint32N(uint32(areas))
		}
		x := func() uint32 { return uint32(random.Uint64N(1 << width)) }
		f := func() float64 {
			if random.IntN(20) == 0 {
				return []float64{0, math.Copysign(0, -1), math.NaN(), math.Inf(1)}[random.IntN(4)]
			}
			return math.Ldexp(random.Float64()-0.5, width)
		}
		c.Burst, c.Area = append(c.Burst, burst), append(c.Area, area)
		c.Neuron, c.Projection = append(c.Neuron, 1000*area+x()%1000), append(c.Projection, x())
		c.Port, c.Sum, c.Variable = append(c.Port, x()), append(c.Sum, int32(x())), append(c.Variable, area)
		c.Potential, c.Value, c.Weight = append(c.Potential, float32(f())), append(c.Value, float32(f())), append(c.Weight, float32(f()))
		c.Source, c.Target, c.Delay = append(c.Source, x()), append(c.Target, x()), append(c.Delay, x())
		c.Mean, c.SD, c.Low, c.High = append(c.Mean, f()), append(c.SD, f()), append(c.Low, f()), append(c.High, f())
		c.Synapses = append(c.Synapses, random.Uint64()>>(63-2*min(width, 31)))
	}
	return c
}
