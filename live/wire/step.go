package wire

import (
	"encoding/binary"
	"fmt"
	"slices"
	"unsafe"
)

// Amounts are what an input is set to.
type Amounts struct {
	Handle  uint16
	At      []uint32 // the entries that have an amount; nil: all in order
	Amounts []float32
	Series  bool // Amounts has those of each burst of the step, one burst after the other; At is nil

	at []uint32 // memory of At
}

// Step asks for bursts with inputs. Parse uses the memory of the one before.
type Step struct {
	Bursts uint32
	Inputs []Amounts
	Each   []uint16 // outputs to be told of each burst, and no others; none: all outputs, of all bursts together
}

// Codings of amounts.
const (
	dense  = 0
	sparse = 1
	series = 2
)

// AppendStep appends a step that begins at a burst.
func AppendStep(b []byte, burst uint64, s *Step) []byte {
	start := len(b)
	b = binary.LittleEndian.AppendUint32(begin(b, TypeStep, burst), s.Bursts)
	b = appendInputs(b, s.Inputs, s.Bursts, uint16(len(s.Each)))
	for _, handle := range s.Each {
		b = binary.LittleEndian.AppendUint16(b, handle)
	}
	if len(s.Each)%2 > 0 {
		b = append(b, 0, 0)
	}
	return end(b, start)
}

// AppendFeed appends inputs that count from a burst on; 0: from the next one.
func AppendFeed(b []byte, from uint64, inputs []Amounts) []byte {
	start := len(b)
	return end(appendInputs(begin(b, TypeFeed, from), inputs, 1, 0), start)
}

// appendInputs appends inputs of so many bursts, and before them how many outputs follow.
func appendInputs(b []byte, inputs []Amounts, bursts uint32, outputs uint16) []byte {
	b = binary.LittleEndian.AppendUint16(b, uint16(len(inputs)))
	b = binary.LittleEndian.AppendUint16(b, outputs)
	for i := range inputs {
		in := &inputs[i]
		coding, n := uint16(dense), len(in.Amounts)
		switch {
		case in.Series:
			coding, n = series, n/int(bursts)
		case in.At != nil:
			coding = sparse
		}
		b = binary.LittleEndian.AppendUint16(b, in.Handle)
		b = binary.LittleEndian.AppendUint16(b, coding)
		b = binary.LittleEndian.AppendUint32(b, uint32(n))
		b = append(b, bytesOf(in.At)...)
		b = append(b, bytesOf(in.Amounts)...)
	}
	return b
}

// bytesOf views numbers as their bytes, lowest first on the machines that burst runs on. One by one they would take a tenth of a step.
func bytesOf[T uint32 | float32](numbers []T) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(numbers))), 4*len(numbers))
}

// parse reads n numbers into the memory of list. The result is not nil: what names no entry is not what names all.
func parse[T uint32 | float32](list []T, b []byte, n int) []T {
	list = slices.Grow(list[:0], max(n, 1))[:n]
	copy(bytesOf(list), b)
	return list
}

// Parse reads the body of a step.
func (s *Step) Parse(body []byte) (err error) {
	if len(body) < 8 {
		return fmt.Errorf("wire: a step of %d bytes, want 8 at least", len(body))
	}
	s.Bursts = binary.LittleEndian.Uint32(body)
	n := int(binary.LittleEndian.Uint16(body[6:]))
	var rest []byte
	if s.Inputs, rest, err = parseInputs(body[4:], s.Inputs, s.Bursts); err != nil {
		return err
	}
	if want := (2*n + 3) / 4 * 4; len(rest) != want || n%2 > 0 && binary.LittleEndian.Uint16(rest[2*n:]) != 0 {
		return fmt.Errorf("wire: %d bytes after the last input, want %d with the handles of %d outputs, and zeros behind them", len(rest), want, n)
	}
	s.Each = slices.Grow(s.Each[:0], n)[:n]
	for i := range s.Each {
		s.Each[i] = binary.LittleEndian.Uint16(rest[2*i:])
	}
	return nil
}

// ParseInputs reads the body of a feed into the memory of list.
func ParseInputs(body []byte, list []Amounts) ([]Amounts, error) {
	list, rest, err := parseInputs(body, list, 0)
	switch {
	case err != nil:
		return list, err
	case binary.LittleEndian.Uint16(body[2:]) != 0:
		return list, fmt.Errorf("wire: the padding after the number of inputs is %#x, want 0", binary.LittleEndian.Uint16(body[2:]))
	case len(rest) > 0:
		return list, fmt.Errorf("wire: %d bytes after the last input, want none", len(rest))
	}
	return list, nil
}

// parseInputs reads inputs into the memory of list and gives what is behind them. Without bursts there is none for each burst.
func parseInputs(body []byte, list []Amounts, bursts uint32) ([]Amounts, []byte, error) {
	if len(body) < 4 {
		return list, nil, fmt.Errorf("wire: inputs of %d bytes, want 4 at least", len(body))
	}
	n, rest := int(binary.LittleEndian.Uint16(body)), body[4:]
	if len(rest) < 8*n {
		return list, nil, fmt.Errorf("wire: %d inputs in %d bytes, want 8 bytes for each at least", n, len(rest))
	}
	list = slices.Grow(list[:0], n)[:n]
	for i := range list {
		var err error
		if rest, err = list[i].parse(rest, bursts); err != nil {
			return list, nil, fmt.Errorf("wire: input %d of %d: %w", i, n, err)
		}
	}
	return list, rest, nil
}

// parse reads one input of so many bursts and gives what is behind it.
func (in *Amounts) parse(b []byte, bursts uint32) ([]byte, error) {
	if len(b) < 8 {
		return nil, fmt.Errorf("%d bytes, want 8 at least", len(b))
	}
	in.Handle = binary.LittleEndian.Uint16(b)
	coding, count := binary.LittleEndian.Uint16(b[2:]), uint64(binary.LittleEndian.Uint32(b[4:]))
	b = b[8:]
	lists := uint64(1)
	switch coding {
	case dense:
	case sparse:
		lists = 2
	case series:
		lists = uint64(bursts)
	default:
		return nil, fmt.Errorf("coding %d, want 0, 1 or 2", coding)
	}
	if lists == 0 {
		return nil, fmt.Errorf("coding %d, which is for the bursts of a step", coding)
	}
	if most := uint64(len(b)) / 4; count > most/lists {
		return nil, fmt.Errorf("%d lists of %d numbers in %d bytes, want 4 bytes for each", lists, count, len(b))
	}
	n := int(count)
	in.At, in.Series = nil, coding == series
	if coding == sparse {
		in.at = parse(in.at, b, n)
		in.At, b = in.at, b[4*n:]
	}
	if in.Series {
		n *= int(bursts)
	}
	in.Amounts = parse(in.Amounts, b, n)
	return b[4*n:], nil
}

// Kind says what an output tells.
type Kind uint16

// The kinds, as live.Kind numbers them.
const (
	Counts     Kind = iota // how often each entry has fired
	Fired                  // the entries that have fired, ascending
	Rate                   // one number: Hz
	Potentials             // of each entry
)

// Result is what an output tells since the step before, or of each burst of a step, one burst after the other.
type Result struct {
	Handle uint16
	Kind   Kind
	Counts []uint32  // of Counts and Fired
	Values []float32 // of Rate and Potentials
}

// Stepped answers a step. Parse uses the memory of the one before.
type Stepped struct {
	Next    uint64 // burst
	Digest  uint64
	Spikes  uint64 // of the whole network, in the bursts of the step
	Outputs []Result
}

// AppendStepped appends the answer to a step.
func AppendStepped(b []byte, s *Stepped) []byte {
	start := len(b)
	b = binary.LittleEndian.AppendUint64(begin(b, TypeStepped, s.Next), s.Digest)
	b = binary.LittleEndian.AppendUint64(b, s.Spikes)
	b = binary.LittleEndian.AppendUint32(b, uint32(uint16(len(s.Outputs))))
	for i := range s.Outputs {
		o := &s.Outputs[i]
		b = binary.LittleEndian.AppendUint16(b, o.Handle)
		b = binary.LittleEndian.AppendUint16(b, uint16(o.Kind))
		if o.Kind >= Rate {
			b = append(binary.LittleEndian.AppendUint32(b, uint32(len(o.Values))), bytesOf(o.Values)...)
		} else {
			b = append(binary.LittleEndian.AppendUint32(b, uint32(len(o.Counts))), bytesOf(o.Counts)...)
		}
	}
	return end(b, start)
}

// Parse reads the body of the answer to a step, whose header names the next burst.
func (s *Stepped) Parse(next uint64, body []byte) error {
	if len(body) < 20 {
		return fmt.Errorf("wire: a stepped of %d bytes, want 20 at least", len(body))
	}
	s.Next, s.Digest, s.Spikes = next, binary.LittleEndian.Uint64(body), binary.LittleEndian.Uint64(body[8:])
	n, padding, rest := int(binary.LittleEndian.Uint16(body[16:])), binary.LittleEndian.Uint16(body[18:]), body[20:]
	if padding != 0 || len(rest) < 8*n {
		return fmt.Errorf("wire: %d outputs in %d bytes, padding %#x, want 8 bytes for each at least, and 0", n, len(rest), padding)
	}
	s.Outputs = slices.Grow(s.Outputs[:0], n)[:n]
	for i := range s.Outputs {
		var err error
		if rest, err = s.Outputs[i].parse(rest); err != nil {
			return fmt.Errorf("wire: output %d of %d: %w", i, n, err)
		}
	}
	if len(rest) > 0 {
		return fmt.Errorf("wire: %d bytes after the last output, want none", len(rest))
	}
	return nil
}

// parse reads one output and gives what is behind it.
func (o *Result) parse(b []byte) ([]byte, error) {
	if len(b) < 8 {
		return nil, fmt.Errorf("%d bytes, want 8 at least", len(b))
	}
	o.Handle, o.Kind = binary.LittleEndian.Uint16(b), Kind(binary.LittleEndian.Uint16(b[2:]))
	count := uint64(binary.LittleEndian.Uint32(b[4:]))
	b = b[8:]
	if o.Kind > Potentials || uint64(len(b)) < 4*count {
		return nil, fmt.Errorf("kind %d with %d values in %d bytes", o.Kind, count, len(b))
	}
	n := int(count)
	o.Counts, o.Values = o.Counts[:0], o.Values[:0]
	if o.Kind >= Rate {
		o.Values = parse(o.Values, b, n)
	} else {
		o.Counts = parse(o.Counts, b, n)
	}
	return b[4*n:], nil
}
