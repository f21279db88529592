package backend

import (
	"errors"

	"burst/connectome"
	"burst/engine"
)

// twinned is a backend that opens others of its network.
type twinned interface {
	// Twin opens a backend in the state before burst 0 for c, the network of this one with another run seed (Connectome.Reseeded). It
	// delivers the same, and shares what never changes. Either may be closed first. They may be used by goroutines beside each other.
	Twin(c *connectome.Connectome) (engine.Backend, error)
}

// Twin opens another backend like first, of the name and with the options that it was opened with, for the same network with another run
// seed. Where the backend can, both share the synapses as it lays them out; where it cannot, this is Open. Errors are those of Open.
func Twin(name string, first engine.Backend, c *connectome.Connectome, o Options) (engine.Backend, error) {
	t, can := first.(twinned)
	if !can || o.Others != nil || o.Parts > 1 {
		return Open(name, c, o)
	}
	if err := fits("reference", c, o); err != nil { // it copies no synapses either
		if m, is := errors.AsType[*MemoryError](err); is {
			m.Backend = name
		}
		return nil, err
	}
	return t.Twin(c)
}
