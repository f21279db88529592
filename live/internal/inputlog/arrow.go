package inputlog

import (
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"

	"burst/engine"
	"burst/internal/arrowframe"
	"burst/internal/regular"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/apache/arrow-go/v18/arrow/memory"
)

// inputs.arrows is an Arrow stream with a row an entry: burst, event, which is a Kind as a number, and value; of inputs the ports
// and amounts. Held inputs that do not change are one row.

// networkKey is the metadata's key of the network's hash.
const networkKey = "burst.connectome"

// batchStimuli ends a batch of the Arrow stream.
const batchStimuli = 1 << 16

func schema(network uint64) *arrow.Schema {
	md := arrow.NewMetadata([]string{"burst.events", networkKey}, []string{"1 inputs, 3 stimulus off, 4 stimulus on, 5 reset, 6 restore, 8 set", fmt.Sprintf("%016x", network)})
	return arrow.NewSchema([]arrow.Field{
		{Name: "burst", Type: arrow.PrimitiveTypes.Uint64},
		{Name: "event", Type: arrow.PrimitiveTypes.Uint8},
		{Name: "value", Type: arrow.PrimitiveTypes.Uint64},
		{Name: "port", Type: arrow.LargeListOfNonNullable(arrow.PrimitiveTypes.Uint32)},
		{Name: "amount", Type: arrow.LargeListOfNonNullable(arrow.PrimitiveTypes.Int32)},
	}, &md)
}

// rows gather a batch.
type rows struct {
	burst, value []uint64
	event        []uint8
	ends         []int64
	port         []uint32
	amount       []int32
}

func (b *rows) reset() {
	*b = rows{b.burst[:0], b.value[:0], b.event[:0], append(b.ends[:0], 0), b.port[:0], b.amount[:0]}
}

func (b *rows) add(e *Entry) {
	b.burst, b.event, b.value = append(b.burst, e.Burst), append(b.event, uint8(e.Kind)), append(b.value, e.Value)
	for _, s := range e.Stimuli {
		b.port, b.amount = append(b.port, s.Port), append(b.amount, s.Amount)
	}
	b.ends = append(b.ends, int64(len(b.port)))
}

func (b *rows) batch(s *arrow.Schema) arrow.RecordBatch {
	n := len(b.burst)
	data := func(t arrow.DataType, n int, bytes []byte) arrow.ArrayData {
		return array.NewData(t, n, []*memory.Buffer{nil, memory.NewBufferBytes(bytes)}, nil, 0, 0)
	}
	list := func(t arrow.DataType, bytes []byte) arrow.Array {
		values := data(t.(*arrow.LargeListType).Elem(), len(b.port), bytes)
		return array.MakeFromData(array.NewData(t, n, []*memory.Buffer{nil, memory.NewBufferBytes(arrow.Int64Traits.CastToBytes(b.ends))}, []arrow.ArrayData{values}, 0, 0))
	}
	return array.NewRecordBatch(s, []arrow.Array{
		array.MakeFromData(data(s.Field(0).Type, n, arrow.Uint64Traits.CastToBytes(b.burst))),
		array.MakeFromData(data(s.Field(1).Type, n, b.event)),
		array.MakeFromData(data(s.Field(2).Type, n, arrow.Uint64Traits.CastToBytes(b.value))),
		list(s.Field(3).Type, arrow.Uint32Traits.CastToBytes(b.port)),
		list(s.Field(4).Type, arrow.Int32Traits.CastToBytes(b.amount)),
	}, int64(n))
}

// WriteArrow writes the entries of a reader as inputs.arrows. Inputs that go on unchanged become one entry, those of nothing none.
func WriteArrow(to io.Writer, network uint64, from Reader) error {
	s := schema(network)
	w := ipc.NewWriter(to, ipc.WithSchema(s))
	var b rows
	b.reset()
	flush := func() error {
		if len(b.burst) == 0 {
			return nil
		}
		batch := b.batch(s)
		defer batch.Release()
		err := w.Write(batch)
		b.reset()
		return err
	}
	var open Entry // what may go on
	close := func() {
		if open.Kind == Inputs && open.Value > 0 && len(open.Stimuli) > 0 {
			b.add(&open)
		}
		open.Kind = 0
	}
	for {
		e, err := from.Next()
		if err == io.EOF {
			close()
			return errors.Join(flush(), w.Close())
		}
		if err != nil {
			return err
		}
		switch {
		case e.Kind != Inputs:
			close()
			b.add(e)
		case open.Kind == Inputs && open.End() == e.Burst && slices.Equal(open.Stimuli, e.Stimuli):
			open.Value += e.Value
		default:
			if open.Kind == Inputs && e.Burst < open.End() { // this one stands in place of the rest
				open.Value = e.Burst - open.Burst
			}
			close()
			open = Entry{e.Kind, e.Burst, e.Value, append(open.Stimuli[:0], e.Stimuli...)}
		}
		if len(b.port) >= batchStimuli || len(b.burst) >= batchStimuli {
			if err := flush(); err != nil {
				return err
			}
		}
	}
}

// Ended reads inputs.arrows.
type Ended struct {
	path    string
	f       *os.File
	r       *ipc.Reader
	network uint64
	ports   uint32
	rows    rows // of the batch
	next    int  // row
	entry   Entry
	burst   uint64 // of the entry before
}

// OpenArrow opens inputs.arrows of a network with so many ports.
func OpenArrow(path string, ports uint32) (*Ended, error) {
	f, err := regular.Open(path, os.O_RDONLY)
	if err != nil {
		return nil, err
	}
	e := &Ended{path: path, f: f, ports: ports}
	if err := e.begin(); err != nil {
		return nil, errors.Join(regular.Damaged(path, "%v", err), f.Close())
	}
	return e, nil
}

func (r *Ended) begin() (err error) {
	defer arrowframe.Guard(&err)
	info, err := r.f.Stat()
	if err != nil {
		return err
	}
	if _, err := arrowframe.Stream(r.f, info.Size(), false); err != nil {
		return err
	}
	if r.r, err = ipc.NewReader(r.f, ipc.WithBodySizeLimit(0)); err != nil {
		return err
	}
	got, want := r.r.Schema(), schema(0)
	text, _ := got.Metadata().GetValue(networkKey)
	if r.network, err = strconv.ParseUint(text, 16, 64); err != nil {
		return fmt.Errorf("metadata %s is %q, want a hash", networkKey, text)
	}
	if !slices.EqualFunc(got.Fields(), want.Fields(), func(a, b arrow.Field) bool { return a.Name == b.Name && arrow.TypeEqual(a.Type, b.Type) }) {
		return fmt.Errorf("columns are %v, want %v", got.Fields(), want.Fields())
	}
	return nil
}

// Network is the hash of the network.
func (r *Ended) Network() uint64 { return r.network }

// Close closes the file.
func (r *Ended) Close() error {
	r.r.Release()
	return r.f.Close()
}

// Next gives the next entry.
func (r *Ended) Next() (*Entry, error) {
	for r.next == len(r.rows.burst) {
		r.next = 0
		switch more, err := r.load(); {
		case err != nil:
			return nil, regular.Damaged(r.path, "%v", err)
		case !more:
			return nil, io.EOF
		}
	}
	i, b := r.next, &r.rows
	r.next++
	e := &r.entry
	e.Kind, e.Burst, e.Value, e.Stimuli = Kind(b.event[i]), b.burst[i], b.value[i], e.Stimuli[:0]
	for k := b.ends[i]; k < b.ends[i+1]; k++ {
		e.Stimuli = append(e.Stimuli, engine.Stimulus{Port: b.port[k], Amount: b.amount[k]})
	}
	err := e.follows(r.burst, r.ports)
	if kindNames[e.Kind] == "" || e.Kind != Inputs && len(e.Stimuli) > 0 {
		err = fmt.Errorf("an event %d with %d stimuli, which burst does not write", e.Kind, len(e.Stimuli))
	}
	if err != nil {
		return nil, regular.Damaged(r.path, "%v", err)
	}
	r.burst = e.Burst
	return e, nil
}

// load reads the next batch.
func (r *Ended) load() (more bool, err error) {
	defer arrowframe.Guard(&err)
	r.rows = rows{}
	if !r.r.Next() {
		return false, r.r.Err()
	}
	b := r.r.RecordBatch()
	for i := range int(b.NumCols()) {
		if n := b.Column(i).Data().NullN(); n != 0 {
			return false, fmt.Errorf("column %q has %d nulls, which burst does not write", b.ColumnName(i), n)
		}
	}
	port, amount := b.Column(3).(*array.LargeList), b.Column(4).(*array.LargeList)
	n := int(b.NumRows())
	rows := rows{
		burst: b.Column(0).(*array.Uint64).Uint64Values(), event: b.Column(1).(*array.Uint8).Uint8Values(), value: b.Column(2).(*array.Uint64).Uint64Values(),
		port: port.ListValues().(*array.Uint32).Uint32Values(), amount: amount.ListValues().(*array.Int32).Int32Values(),
	}
	if len(port.Offsets()) <= n || len(amount.Offsets()) <= n || len(rows.burst) != n || len(rows.event) != n || len(rows.value) != n {
		return false, errors.New("columns of a batch that are not equally long")
	}
	rows.ends = port.Offsets()[:n+1]
	if len(rows.port) != len(rows.amount) || rows.ends[0] != 0 || rows.ends[n] != int64(len(rows.port)) || !slices.IsSorted(rows.ends) || !slices.Equal(rows.ends, amount.Offsets()[:n+1]) {
		return false, errors.New("lists that are not one beside the other, or not equally long")
	}
	r.rows = rows
	return true, nil
}
