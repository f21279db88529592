// Package inputlog is the log of what a live run was given from outside: the file `inputs` while it goes on, and inputs.arrows when
// it has ended. Both hold the same entries in the order in which they took effect.
//
// The file `inputs` is a head and records, little-endian:
//
//	head    "burstin" 1 | u64 id, drawn | u64 hash of the network | u64 sum
//	record  u32 bytes, a multiple of 8 | u8 kind | 3 zeros | u64 burst | u64 value | u32 port, i32 amount … | u64 sum
//
// A sum is the xxHash64 of what precedes it in the record, with the seed id + place of the record in the file; that of the head has
// the seed 0. So a record is valid at its place in its file alone. A record of the kind synced says how many bytes were on disk
// when it was written: what is damaged before that is damage, what is torn behind it was lost with the power.
package inputlog

import (
	"fmt"

	"burst/engine"
)

// Kind says what an Entry is.
type Kind uint8

// The kinds.
const (
	Inputs    Kind = iota + 1 // the stimuli of Value bursts from Burst on, or of fewer where a later entry says otherwise
	again                     // in the file: one burst more of the stimuli before
	SwitchOff                 // of the genome's stimulus Value, before Burst
	SwitchOn
	Reset   // to the state before burst 0, whose hash is Value
	Restore // of the state whose hash is Value
	synced  // in the file: so many of its bytes are on disk
	Set     // of drives and stimuli, by settings whose hash is Value
)

var kindNames = map[Kind]string{Inputs: "inputs", SwitchOff: "stimulus off", SwitchOn: "stimulus on", Reset: "reset", Restore: "restore", Set: "set"}

func (k Kind) String() string {
	if name, ok := kindNames[k]; ok {
		return name
	}
	return fmt.Sprintf("kind %d", uint8(k))
}

// Entry is one input or action from outside the run.
type Entry struct {
	Kind    Kind
	Burst   uint64
	Value   uint64
	Stimuli []engine.Stimulus // of Inputs: ascending by port, none twice
}

// End is the first burst after those that the entry covers.
func (e *Entry) End() uint64 {
	if e.Kind == Inputs {
		return e.Burst + e.Value
	}
	return e.Burst
}

// follows refuses an entry that cannot stand behind one of burst last in the log of a network with so many ports.
func (e *Entry) follows(last uint64, ports uint32) error {
	if e.Burst < last {
		return fmt.Errorf("%v of burst %d, want none before burst %d", e.Kind, e.Burst, last)
	}
	if e.Kind == Inputs && (e.Value == 0 || e.End() < e.Burst) {
		return fmt.Errorf("inputs of %d bursts from burst %d on", e.Value, e.Burst)
	}
	for i, s := range e.Stimuli {
		if s.Port >= ports || i > 0 && s.Port <= e.Stimuli[i-1].Port {
			return fmt.Errorf("inputs of burst %d: port %d, want ascending ones below %d", e.Burst, s.Port, ports)
		}
	}
	return nil
}

// Reader gives the entries of a log.
type Reader interface {
	// Network is the hash of the network that the log is of.
	Network() uint64
	// Next gives the next entry, valid until the one after; io.EOF behind the last.
	Next() (*Entry, error)
	Close() error
}
