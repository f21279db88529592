package serve

import (
	"errors"
	"fmt"
	"sync"

	"burst/live"
	"burst/live/wire"
)

// bindings are a client's inputs and outputs.
type bindings struct {
	mu      sync.Mutex
	asked   []wire.Bind
	feeder  *live.Feeder // of all inputs; nil: none are bound
	inputs  []*live.Input
	outputs []*live.Output
	kinds   []wire.Kind

	values   []live.Value // memory of a step
	readings []live.Reading
}

// kinds of outputs by their names.
var kinds = map[string]wire.Kind{"counts": wire.Counts, "fired": wire.Fired, "rate": wire.Rate, "potentials": wire.Potentials}

// bind binds inputs and outputs: all, or none of them.
func (b *bindings) bind(s *live.Session, name string, x *wire.Bind) (answer wire.Bound, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if n := max(len(b.inputs)+len(x.Inputs), len(b.outputs)+len(x.Outputs)); n > mostBound {
		return answer, fmt.Errorf("%d inputs or outputs, want at most %d of each", n, mostBound)
	}
	feeder := b.feeder
	if feeder == nil {
		feeder = s.Feeder(name)
	}
	outputs, kindsOf, err := newOutputs(s, x.Outputs)
	if err != nil {
		return answer, err
	}
	inputs, err := newInputs(feeder, x.Inputs)
	if err != nil {
		closeAll(outputs)
		return answer, err
	}
	answer = handlesOf(len(b.inputs), inputs, len(b.outputs), outputs)
	b.feeder, b.inputs, b.outputs, b.kinds = feeder, append(b.inputs, inputs...), append(b.outputs, outputs...), append(b.kinds, kindsOf...)
	b.asked, b.readings = append(b.asked, *x), make([]live.Reading, len(b.outputs))
	return answer, nil
}

// newOutputs makes outputs: all, or none of them.
func newOutputs(s *live.Session, asked []wire.Output) (list []*live.Output, of []wire.Kind, err error) {
	for i := range asked {
		o := &asked[i]
		kind, known := kinds[o.Kind]
		if !known {
			closeAll(list)
			return nil, nil, fmt.Errorf("output %d of kind %q, want counts, fired, rate or potentials", i, o.Kind)
		}
		place := placeOf(&o.Place)
		place.Variable = o.Variable
		out, err := s.Output(place, live.Kind(kind))
		if err != nil {
			closeAll(list)
			return nil, nil, err
		}
		list, of = append(list, out), append(of, kind)
	}
	return list, of, nil
}

// newInputs makes inputs: all, or none of them.
func newInputs(f *live.Feeder, asked []wire.Input) (list []*live.Input, err error) {
	for i := range asked {
		x := &asked[i]
		err := printable(x.Name)
		var in *live.Input
		if err == nil {
			in, err = f.Bind(live.Binding{Name: x.Name, Place: placeOf(&x.Place), Port: x.Port.Number, PortName: x.Port.Name, Largest: x.Largest, Once: x.Once, HoldFor: x.HoldFor})
		}
		if err != nil {
			closeAll(list)
			return nil, err
		}
		list = append(list, in)
	}
	return list, nil
}

// closeAll takes inputs or outputs away.
func closeAll[T interface{ Close() }](list []T) {
	for _, x := range list {
		x.Close()
	}
}

// handlesOf are those of inputs and outputs that follow so many others.
func handlesOf(before int, inputs []*live.Input, beforeThose int, outputs []*live.Output) wire.Bound {
	answer := wire.Bound{Inputs: []wire.Handle{}, Outputs: []wire.Handle{}}
	for i, in := range inputs {
		answer.Inputs = append(answer.Inputs, wire.Handle{Handle: uint16(before + i), Entries: in.Entries()})
	}
	for i, o := range outputs {
		answer.Outputs = append(answer.Outputs, wire.Handle{Handle: uint16(beforeThose + i), Entries: o.Entries()})
	}
	return answer
}

func placeOf(p *wire.Place) live.Place {
	return live.Place{Area: p.Area, Neurons: p.Neurons, Voxels: p.Voxels}
}

// handles are those of everything that is bound.
func (b *bindings) handles() wire.Bound {
	b.mu.Lock()
	defer b.mu.Unlock()
	return handlesOf(0, b.inputs, 0, b.outputs)
}

// close takes away all that is bound.
func (b *bindings) close() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.feeder != nil {
		b.feeder.Close()
	}
	closeAll(b.outputs)
	b.feeder, b.inputs, b.outputs, b.kinds, b.asked, b.readings = nil, nil, nil, nil, nil, nil
}

// set sets inputs, all from the same burst on: the next one, or a later one.
func (b *bindings) set(from uint64, list []wire.Amounts) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if err := b.valuesOf(list); err != nil || len(b.values) == 0 {
		return err
	}
	return b.feeder.SetFrom(from, b.values...)
}

// check is the error that set would have.
func (b *bindings) check(list []wire.Amounts) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if err := b.valuesOf(list); err != nil || len(b.values) == 0 {
		return err
	}
	return b.feeder.Check(b.values...)
}

// valuesOf makes b.values of amounts.
func (b *bindings) valuesOf(list []wire.Amounts) error {
	b.values = b.values[:0]
	for i := range list {
		x := &list[i]
		if int(x.Handle) >= len(b.inputs) {
			return fmt.Errorf("input %d is not bound, want less than %d", x.Handle, len(b.inputs))
		}
		b.values = append(b.values, live.Value{To: b.inputs[x.Handle], At: x.At, Amounts: x.Amounts})
	}
	return nil
}

// read reads an output into a result.
func (b *bindings) read(i int, o *wire.Result) {
	o.Handle, o.Kind, o.Counts, o.Values = uint16(i), b.kinds[i], o.Counts[:0], o.Values[:0]
	b.readMore(i, o)
}

// readMore reads an output behind what its result has already.
func (b *bindings) readMore(i int, o *wire.Result) {
	r := &b.readings[i]
	b.outputs[i].View(r)
	switch o.Kind {
	case wire.Counts:
		o.Counts = append(o.Counts, r.Counts...)
	case wire.Fired:
		o.Counts = append(o.Counts, r.Fired...)
	case wire.Rate:
		o.Values = append(o.Values, float32(r.Rate))
	case wire.Potentials:
		o.Values = append(o.Values, r.Potentials...)
	}
}

// bind answers a frame that asks for inputs and outputs.
func (c *client) bind(_ wire.Header, body []byte) error {
	var x wire.Bind
	if err := wire.ParseJSON(body, &x); err != nil {
		return err
	}
	var answer wire.Bound
	var err error
	switch {
	case c.role == wire.RoleView && len(x.Inputs)+len(x.Outputs) > 0:
		err = errors.New("inputs and outputs are not for a client to view")
	case c.role == wire.RoleView:
		answer = wire.Bound{Inputs: []wire.Handle{}, Outputs: []wire.Handle{}}
		answer.Raster, err = c.choose(x.Raster)
	case x.Raster != nil:
		err = fmt.Errorf("a raster is not for a client to %s", c.role)
	case c.role == wire.RoleDrive:
		answer, err = c.s.driver.bind(c, &x)
	default:
		answer, err = c.bound.bind(c.s.session, c.name, &x)
	}
	if err != nil {
		return err
	}
	answer.Burst = c.s.nextBurst()
	b, err := wire.AppendJSON(nil, wire.TypeBind, answer.Burst, answer)
	if err != nil {
		return err
	}
	if err := c.send(b, helloPatience); err != nil {
		return &brokenError{err}
	}
	return nil
}

// feed sets the inputs of a feeder. What comes too fast is left out.
func (c *client) feed(h wire.Header, body []byte) error {
	if !c.feeds.take() {
		c.s.count(&c.s.dropped)
		if c.feeds.tells() {
			return &wire.Notice{Code: wire.Dropped, Text: fmt.Sprintf("more than %d messages a second, some are left out", feedsEach)}
		}
		return nil
	}
	var err error
	if c.fed, err = wire.ParseInputs(body, c.fed); err != nil {
		return err
	}
	return c.bound.set(h.Burst, c.fed)
}
