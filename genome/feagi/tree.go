package feagi

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// The bounds of a file: they keep what is read of it within about 60 bytes a byte.
const (
	maxText   = 16 << 20 // bytes
	maxValues = 1 << 20  // keys count too
	maxDepth  = 32       // a genome needs 8
)

// value is a piece of the JSON text.
type value struct {
	at   int // byte where it begins
	what any // nil, bool, json.Number, string, []value or *object
}

// object keeps its members in the file's order, which gives areas and neurons their numbers.
type object struct {
	members []member
	index   map[string]int // of members, once there are many
}

// member is one key of an object.
type member struct {
	key string
	at  int // byte where the key begins
	value
}

// get is the member with a key, nil when there is none.
func (o *object) get(key string) *member {
	if o == nil {
		return nil
	}
	if o.index != nil {
		if i, ok := o.index[key]; ok {
			return &o.members[i]
		}
		return nil
	}
	for i := range o.members {
		if o.members[i].key == key {
			return &o.members[i]
		}
	}
	return nil
}

func (o *object) add(m member) {
	const many = 16
	if o.members = append(o.members, m); len(o.members) == many {
		o.index = map[string]int{}
		for i := range o.members {
			o.index[o.members[i].key] = i
		}
	} else if o.index != nil {
		o.index[m.key] = len(o.members) - 1
	}
}

// object is the value as an object, nil when it is none.
func (v value) object() *object {
	o, _ := v.what.(*object)
	return o
}

// String describes the value for messages.
func (v value) String() string {
	switch x := v.what.(type) {
	case nil:
		return "null"
	case bool:
		return strconv.FormatBool(x)
	case json.Number:
		return short(x.String())
	case string:
		return strconv.Quote(short(x))
	case []value:
		return listed(x)
	}
	return "an object"
}

// listed describes a list: a short one of numbers and texts in full.
func listed(list []value) string {
	const most = 4
	texts := make([]string, len(list))
	for i, e := range list {
		if _, deep := e.what.([]value); deep || e.object() != nil || len(list) > most {
			return fmt.Sprintf("a list of %d", len(list))
		}
		texts[i] = e.String()
	}
	return "[" + strings.Join(texts, ", ") + "]"
}

// short cuts a text for a message.
func short(s string) string {
	const most = 60
	if r := []rune(s); len(r) > most {
		return string(r[:most]) + "…"
	}
	return s
}

// reader reads the tree of one text.
type reader struct {
	text   []byte
	d      *json.Decoder
	values int
	path   []string // keys that lead to the place being read
}

// broken is what is wrong with the text as JSON.
type broken struct {
	at      int
	key     string
	message string
}

// read turns the text into a tree.
func read(text []byte) (value, *broken) {
	if len(text) > maxText {
		return value{}, &broken{0, "", fmt.Sprintf("a text of %d bytes, want at most 16 MiB", len(text))}
	}
	r := &reader{text: text, d: json.NewDecoder(bytes.NewReader(text))}
	r.d.UseNumber()
	v, wrong := r.value(0)
	if wrong != nil {
		return value{}, wrong
	}
	at := r.next()
	if _, err := r.d.Token(); err != io.EOF {
		return value{}, r.wrong(at, "more text after the end of the genome, want one JSON object")
	}
	return v, nil
}

// next is where the next token begins.
func (r *reader) next() int {
	at := int(r.d.InputOffset())
	for at < len(r.text) && bytes.IndexByte([]byte(" \t\r\n,:"), r.text[at]) >= 0 {
		at++
	}
	return at
}

func (r *reader) wrong(at int, message string) *broken {
	key := ""
	for i, name := range r.path {
		if i > 0 {
			key += "."
		}
		key += short(name)
	}
	return &broken{min(at, len(r.text)), key, message}
}

// token reads one token.
func (r *reader) token() (json.Token, int, *broken) {
	at := r.next()
	t, err := r.d.Token()
	if err == nil {
		return t, at, nil
	}
	var s *json.SyntaxError
	switch {
	case err == io.EOF || errors.Is(err, io.ErrUnexpectedEOF):
		return nil, at, r.wrong(len(r.text), "the text ends inside the JSON, want the rest of it")
	case errors.As(err, &s):
		return nil, at, r.wrong(at, "no JSON: "+s.Error())
	}
	return nil, at, r.wrong(at, "no JSON: "+err.Error())
}

// value reads one value, depth levels down.
func (r *reader) value(depth int) (value, *broken) {
	t, at, wrong := r.token()
	if wrong != nil {
		return value{}, wrong
	}
	if r.values++; r.values > maxValues {
		return value{}, r.wrong(at, fmt.Sprintf("more than %d values, want at most so many", maxValues))
	}
	delim, nested := t.(json.Delim)
	if !nested {
		return value{at, t}, nil
	}
	if depth == maxDepth {
		return value{}, r.wrong(at, fmt.Sprintf("values nested more than %d deep, want no deeper", maxDepth))
	}
	if delim == '[' {
		return r.list(at, depth)
	}
	return r.members(at, depth)
}

func (r *reader) list(at, depth int) (value, *broken) {
	list := []value{}
	for r.d.More() {
		v, wrong := r.value(depth + 1)
		if wrong != nil {
			return value{}, wrong
		}
		list = append(list, v)
	}
	_, _, wrong := r.token()
	return value{at, list}, wrong
}

func (r *reader) members(at, depth int) (value, *broken) {
	o := &object{}
	for r.d.More() {
		t, at, wrong := r.token()
		if wrong != nil {
			return value{}, wrong
		}
		key := t.(string) // the decoder takes nothing else for a key
		r.path = append(r.path, key)
		if r.values++; o.get(key) != nil {
			return value{}, r.wrong(at, "the key stands here twice, want it once")
		}
		v, wrong := r.value(depth + 1)
		if wrong != nil {
			return value{}, wrong
		}
		r.path = r.path[:len(r.path)-1]
		o.add(member{key, at, v})
	}
	_, _, wrong := r.token()
	return value{at, o}, wrong
}
