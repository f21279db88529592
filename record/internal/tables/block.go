package tables

import (
	"errors"
	"fmt"
	"slices"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"burst/internal/arrowframe"
	"burst/record/manifest"
)

// A stream has a row a burst, in which every column but burst is a list: four bytes a spike are all that a run has to write.
// Ids tell areas. Bursts without rows are left out.

// ChunkRows is how many rows make a chunk; it ends with the burst that reaches them.
const ChunkRows = 1 << 18

// Block is a chunk of the stream as the engine's goroutine gathers it.
type Block struct {
	Numbers []uint64 // bursts
	Ends    []int64  // rows up to the end of each, after a 0
	Rows    Chunk    // of all bursts; Burst and Area stay empty
}

// NewBlock is an empty block.
func NewBlock() *Block { return &Block{Ends: []int64{0}} }

// Reset empties the block.
func (b *Block) Reset() {
	b.Numbers, b.Ends = b.Numbers[:0], b.Ends[:1]
	b.Rows = b.Rows.slice(0, 0)
}

// Count is the number of rows.
func (b *Block) Count() int { return b.Rows.rows() }

// End ends a burst. A burst without rows is not stored.
func (b *Block) End(number uint64) {
	if n := int64(b.Count()); n > b.Ends[len(b.Ends)-1] {
		b.Numbers, b.Ends = append(b.Numbers, number), append(b.Ends, n)
	}
}

// add appends rows from ≤ i < until of another block, of which the first may be of the last burst.
func (b *Block) add(from *Block, lo, hi int) {
	first, _ := slices.BinarySearch(from.Ends[1:], int64(lo)+1)
	for i := first; i < len(from.Numbers) && from.Ends[i] < int64(hi); i++ {
		end := b.Ends[len(b.Ends)-1] + min(from.Ends[i+1], int64(hi)) - max(from.Ends[i], int64(lo))
		if n := len(b.Numbers); n > 0 && b.Numbers[n-1] == from.Numbers[i] {
			b.Ends[n] = end
		} else {
			b.Numbers, b.Ends = append(b.Numbers, from.Numbers[i]), append(b.Ends, end)
		}
	}
	b.Rows.add(from.Rows.slice(lo, hi))
}

// of makes b the rows of a chunk, without copying these.
func (b *Block) of(c *Chunk) *Block {
	b.Numbers, b.Ends, b.Rows = b.Numbers[:0], append(b.Ends[:0], 0), *c
	b.Rows.Burst, b.Rows.Area = nil, nil
	for from := 0; from < len(c.Burst); {
		until := from + 1
		for until < len(c.Burst) && c.Burst[until] == c.Burst[from] {
			until++
		}
		b.Numbers, b.Ends = append(b.Numbers, c.Burst[from]), append(b.Ends, int64(until))
		from = until
	}
	return b
}

// StreamSchema is the table's schema while the run goes on.
func (t Table) StreamSchema(m *manifest.Manifest) *arrow.Schema {
	s := t.Schema(m)
	var fields []arrow.Field
	for _, f := range s.Fields() {
		switch {
		case f.Name == "burst":
			fields = append(fields, f)
		case Told(f.Name):
		case f.Name == variable:
			fields = append(fields, arrow.Field{Name: f.Name, Type: arrow.LargeListOfNonNullable(areaType.IndexType)})
		default:
			fields = append(fields, arrow.Field{Name: f.Name, Type: arrow.LargeListOfNonNullable(f.Type)})
		}
	}
	md := s.Metadata()
	return arrow.NewSchema(fields, &md)
}

// batch views the block as an Arrow batch without copying.
func (b *Block) batch(s *arrow.Schema) arrow.RecordBatch {
	n := len(b.Numbers)
	offsets := memory.NewBufferBytes(arrow.Int64Traits.CastToBytes(b.Ends))
	var columns []arrow.Array
	for _, f := range s.Fields() {
		data := view(Of(&Chunk{Burst: b.Numbers}, "burst"), f.Type, n)
		if list, ok := f.Type.(*arrow.LargeListType); ok {
			values := view(Of(&b.Rows, f.Name), list.Elem(), b.Count())
			data = array.NewData(f.Type, n, []*memory.Buffer{nil, offsets}, []arrow.ArrayData{values}, 0, 0)
		}
		columns = append(columns, array.MakeFromData(data))
	}
	return array.NewRecordBatch(s, columns, int64(n))
}

// errLists is the error of a batch whose lists burst cannot have written.
var errLists = errors.New("lists that are not adjacent, or not of equal length")

// expand makes c the rows of a stream's batch; all but bursts are not copied. Areas are left alone.
func (c *Chunk) expand(b arrow.RecordBatch) (err error) {
	defer arrowframe.Guard(&err)
	burst := c.Burst[:0]
	*c = Chunk{Area: c.Area}
	var numbers []uint64
	var ends []int64
	for i, f := range b.Schema().Fields() {
		column := b.Column(i)
		if n := column.Data().NullN(); n != 0 { // as the batch says: to count them takes a bitmap, which may be missing
			return fmt.Errorf("column %q has %d nulls, which burst does not write", f.Name, n)
		}
		switch a := column.(type) {
		case *array.Uint64:
			numbers = a.Uint64Values()
		case *array.LargeList:
			n := a.Len()
			if !contiguous(a.Offsets(), n, a.ListValues().Len()) || ends != nil && !slices.Equal(ends, a.Offsets()[:n+1]) {
				return errLists
			}
			ends = a.Offsets()[:n+1]
			if err := c.take(f.Name, a.ListValues()); err != nil {
				return err
			}
		default:
			return fmt.Errorf("column %q is %v, which burst does not write", f.Name, f.Type)
		}
	}
	if len(ends) != len(numbers)+1 {
		return errLists
	}
	c.Burst = repeat(burst, numbers, ends)
	return nil
}

// repeat makes to every number as often as its list is long.
func repeat(to, numbers []uint64, ends []int64) []uint64 {
	n := int(ends[len(numbers)])
	to = slices.Grow(to[:0], n)[:n]
	for i, number := range numbers {
		rows := to[ends[i]:ends[i+1]]
		for k := range rows {
			rows[k] = number
		}
	}
	return to
}

// contiguous says whether the offsets of n lists cut values into them with nothing left.
func contiguous(offsets []int64, n, values int) bool {
	return len(offsets) > n && offsets[0] == 0 && offsets[n] == int64(values) && slices.IsSorted(offsets[:n+1])
}
