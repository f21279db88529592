package wire

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strings"
)

// Version of the frames.
const Version = 1

// HeaderSize is how many bytes a frame's header has.
const HeaderSize = 16

// MostBytes is how long the body of a frame can be.
const MostBytes = 16 << 20

// Type says what a frame is.
type Type uint8

// The types.
const (
	TypeHello   Type = 1
	TypeView    Type = 2
	TypeRaster  Type = 3
	TypeStep    Type = 4
	TypeStepped Type = 5
	TypeFeed    Type = 6
	TypeNotice  Type = 7
	TypeControl Type = 8
	TypeSeen    Type = 9
	TypeBind    Type = 10
)

// Header is what a frame begins with.
type Header struct {
	Bytes uint32 // of the body
	Type  Type
	Burst uint64
}

// ParseHeader reads a header of HeaderSize bytes.
func ParseHeader(b []byte) (Header, error) {
	h := Header{Bytes: binary.LittleEndian.Uint32(b), Type: Type(b[4]), Burst: binary.LittleEndian.Uint64(b[8:])}
	switch {
	case b[5] != Version:
		return h, fmt.Errorf("wire: a frame of version %d, want %d", b[5], Version)
	case binary.LittleEndian.Uint16(b[6:]) != 0:
		return h, fmt.Errorf("wire: flags %#x, want 0", binary.LittleEndian.Uint16(b[6:]))
	case h.Bytes > MostBytes:
		return h, fmt.Errorf("wire: a body of %d bytes, want at most %d", h.Bytes, MostBytes)
	case h.Type < TypeHello || h.Type > TypeBind:
		return h, fmt.Errorf("wire: a frame of type %d, want one of 1 to %d", h.Type, TypeBind)
	}
	return h, nil
}

// begin appends a header whose length end fills in.
func begin(b []byte, t Type, burst uint64) []byte {
	b = append(b, 0, 0, 0, 0, byte(t), Version, 0, 0)
	return binary.LittleEndian.AppendUint64(b, burst)
}

// end completes the frame that starts at a place of b.
func end(b []byte, start int) []byte {
	binary.LittleEndian.PutUint32(b[start:], uint32(len(b)-start-HeaderSize))
	return b
}

// AppendJSON appends a frame whose body is v in JSON.
func AppendJSON(b []byte, t Type, burst uint64, v any) ([]byte, error) {
	text, err := json.Marshal(v)
	if err != nil {
		return b, fmt.Errorf("wire: %w", err)
	}
	start := len(b)
	return end(append(begin(b, t, burst), text...), start), nil
}

// AppendSeen appends the frame that acknowledges a view.
func AppendSeen(b []byte, burst uint64) []byte { return begin(b, TypeSeen, burst) }

// Reader reads frames.
type Reader struct {
	From io.Reader
	Most uint32 // no body may be longer; 0: MostBytes

	in     *bufio.Reader // so that a short frame takes one call of the system
	header [HeaderSize]byte
	body   []byte
}

// readAhead is how much is read at once.
const readAhead = 4 << 10

// step is by how much memory grows ahead of what has come.
const step = 64 << 10

// Next reads a frame. Its body is valid until the next call. At the end of what there is to read, and not within a frame, the error
// is io.EOF.
func (r *Reader) Next() (Header, []byte, error) {
	if r.in == nil {
		r.in = bufio.NewReaderSize(r.From, readAhead)
	}
	if _, err := io.ReadFull(r.in, r.header[:]); err != nil {
		return Header{}, nil, err
	}
	h, err := ParseHeader(r.header[:])
	if err != nil {
		return h, nil, err
	}
	if r.Most > 0 && h.Bytes > r.Most {
		return h, nil, fmt.Errorf("wire: a body of %d bytes, want at most %d here", h.Bytes, r.Most)
	}
	n := int(h.Bytes)
	for done := 0; done < n; {
		part := min(n-done, max(step, cap(r.body)-done))
		if cap(r.body) < done+part {
			grown := make([]byte, done+part, min(n, 2*(done+part)))
			copy(grown, r.body[:done])
			r.body = grown
		}
		r.body = r.body[:done+part]
		if _, err := io.ReadFull(r.in, r.body[done:]); err != nil {
			return h, nil, within(err)
		}
		done += part
	}
	return h, r.body[:n], nil
}

// within makes an end within a frame one that is unexpected.
func within(err error) error {
	if err == io.EOF {
		return io.ErrUnexpectedEOF
	}
	return err
}

// kinds are values of JSON by what they are read into.
var kinds = map[reflect.Kind]string{
	reflect.Bool: "true or false", reflect.Float32: "a number (float32)", reflect.Float64: "a number", reflect.Int: "a whole number", reflect.String: "a text",
	reflect.Uint16: "a whole number from 0 to 65535", reflect.Uint32: "a whole number from 0 to 4294967295",
	reflect.Uint64: "a whole number that is not negative", reflect.Slice: "a list", reflect.Array: "a list", reflect.Struct: "a mapping",
}

// unknownKey begins the error of encoding/json for a key that is none of a mapping's.
const unknownKey = "json: unknown field "

// keysOf appends the keys of a type, and of those within it.
func keysOf(keys []string, t reflect.Type) []string {
	switch t.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Array:
		return keysOf(keys, t.Elem())
	case reflect.Struct:
		for f := range t.Fields() {
			if key, _, _ := strings.Cut(f.Tag.Get("json"), ","); key != "" {
				keys = append(keys, key)
			}
			keys = keysOf(keys, f.Type)
		}
	}
	return keys
}

// ParseJSON reads the body of a JSON frame into v. Unknown keys are an error.
func ParseJSON(body []byte, v any) error {
	d := json.NewDecoder(bytes.NewReader(body))
	d.DisallowUnknownFields()
	err := d.Decode(v)
	var other *json.UnmarshalTypeError
	switch {
	case errors.As(err, &other):
		field := strings.ReplaceAll(cmp.Or(other.Field, "all of it"), "Place.", "")
		return fmt.Errorf("wire: JSON: %q is %s, want %s", field, other.Value, kinds[other.Type.Kind()])
	case err != nil && strings.HasPrefix(err.Error(), unknownKey):
		keys := slices.Compact(slices.Sorted(slices.Values(keysOf(nil, reflect.TypeOf(v)))))
		return fmt.Errorf("wire: JSON: key %s is unknown, want %s", strings.TrimPrefix(err.Error(), unknownKey), cmp.Or(strings.Join(keys, ", "), "none"))
	case err == io.EOF || err == io.ErrUnexpectedEOF: // which would look like the end of the connection
		return errors.New("wire: JSON: it ends within a value, want a whole one")
	case err != nil:
		return fmt.Errorf("wire: JSON: %w", err)
	}
	if _, err := d.Token(); err != io.EOF {
		return errors.New("wire: JSON: more after the first value, want one")
	}
	return nil
}
