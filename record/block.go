package record

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"burst/internal/arrowframe"
)

// A stream has a row a burst, in which every column but burst is a list: four bytes a spike are all that a run has to write.
// Ids tell areas. Bursts without rows are left out.

// block is a chunk of the stream as the engine's goroutine gathers it.
type block struct {
	numbers []uint64 // bursts
	ends    []int64  // rows up to the end of each, after a 0
	rows    Chunk    // of all bursts; Burst and Area stay empty
	began   time.Time
	mark    chan<- Offset // told how far the recording is when the block is on disk, closed if it cannot be; nil: nobody asks
}

func newBlock() *block { return &block{ends: []int64{0}} }

func (b *block) reset() {
	b.numbers, b.ends, b.mark = b.numbers[:0], b.ends[:1], nil
	c := &b.rows
	c.Neuron, c.Potential, c.Port, c.Sum = c.Neuron[:0], c.Potential[:0], c.Port[:0], c.Sum[:0]
}

// pending is the number of rows of bursts that are not ended.
func (b *block) pending() int { return len(b.rows.Neuron) - int(b.ends[len(b.ends)-1]) }

// end ends a burst; one without rows leaves no trace.
func (b *block) end(number uint64) {
	if b.pending() > 0 {
		b.numbers, b.ends = append(b.numbers, number), append(b.ends, int64(len(b.rows.Neuron)))
	}
}

// streamSchema is the table's schema while the run goes on.
func (t table) streamSchema(m *Manifest) *arrow.Schema {
	s := t.schema(m)
	var fields []arrow.Field
	for _, f := range s.Fields() {
		switch f.Name {
		case "burst":
			fields = append(fields, f)
		case "area":
		default:
			fields = append(fields, arrow.Field{Name: f.Name, Type: arrow.LargeListOfNonNullable(f.Type)})
		}
	}
	md := s.Metadata()
	return arrow.NewSchema(fields, &md)
}

// batch views the block as an Arrow batch without copying.
func (b *block) batch(s *arrow.Schema) arrow.RecordBatch {
	n := len(b.numbers)
	offsets := memory.NewBufferBytes(arrow.Int64Traits.CastToBytes(b.ends))
	var columns []arrow.Array
	for _, f := range s.Fields() {
		data := (&Chunk{Burst: b.numbers}).column("burst", f.Type, n)
		if list, ok := f.Type.(*arrow.LargeListType); ok {
			values := b.rows.column(f.Name, list.Elem(), len(b.rows.Neuron))
			data = array.NewData(f.Type, n, []*memory.Buffer{nil, offsets}, []arrow.ArrayData{values}, 0, 0)
		}
		columns = append(columns, array.MakeFromData(data))
	}
	return array.NewRecordBatch(s, columns, int64(n))
}

// errLists is a batch whose lists burst cannot have written.
var errLists = errors.New("lists that are not one beside the other, or not equally long")

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
	for i, number := range numbers {
		for range ends[i+1] - ends[i] {
			burst = append(burst, number)
		}
	}
	c.Burst = burst
	return nil
}

// contiguous says whether the offsets of n lists cut values into them with nothing left.
func contiguous(offsets []int64, n, values int) bool {
	return len(offsets) > n && offsets[0] == 0 && offsets[n] == int64(values) && slices.IsSorted(offsets[:n+1])
}
