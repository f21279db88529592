package wire

import (
	"encoding/json"
	"errors"
)

// Port says which of the neurons' ports takes amounts, in JSON by a number or a name. The zero value leaves it to the amount's sign.
type Port struct {
	Number int    // from 1, in the order of the model; 0: not by number
	Name   string // "": not by name
}

// MarshalJSON writes the name, or if there is none the number.
func (p Port) MarshalJSON() ([]byte, error) {
	if p.Name != "" {
		return json.Marshal(p.Name)
	}
	return json.Marshal(p.Number)
}

// UnmarshalJSON reads a number or a name.
func (p *Port) UnmarshalJSON(b []byte) error {
	var x Port
	if json.Unmarshal(b, &x.Number) != nil && (json.Unmarshal(b, &x.Name) != nil || x.Name == "") {
		return errors.New("port: want a whole number or a name")
	}
	*p = x
	return nil
}
