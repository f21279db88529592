package run

import (
	"fmt"

	"burst/checkpoint"
	"burst/internal/plain"
)

// Event is something that happened to a run; String is a line about it.
type Event interface{ String() string }

// Building tells now and then how many synapses are built.
type Building struct{ Done, Total uint64 }

func (e Building) String() string { return fmt.Sprintf("building: %d of %d synapses", e.Done, e.Total) }

// Began tells what a run does next: "planning", "building", "opening" the backend, or "writing" what was recorded. The bursts
// come between the last two.
type Began struct{ Phase string }

func (e Began) String() string { return e.Phase }

// Took tells which backend auto has taken, and why.
type Took struct{ Backend, Why string }

func (e Took) String() string { return e.Backend + ": " + e.Why }

// RecordsPart says that only some neurons are recorded, because nothing else was asked for and the network is large.
type RecordsPart struct{ Note string }

func (e RecordsPart) String() string { return e.Note }

// SlowDisk tells that the run waits for the disk.
type SlowDisk struct{ Note string }

func (e SlowDisk) String() string { return e.Note }

// NoCheckpoint says that a resumed run has no checkpoint and starts again from its beginning.
type NoCheckpoint struct{}

func (NoCheckpoint) String() string { return "no checkpoint yet: the run starts from the beginning" }

// SetAside says that a damaged checkpoint was not used.
type SetAside struct{ Err error }

func (e SetAside) String() string {
	return fmt.Sprintf("not used, and renamed to *%s: %v", checkpoint.Damaged, e.Err)
}

// GoesOn tells from which checkpoint a run goes on.
type GoesOn struct {
	Burst uint64 // the next one
	Path  string
}

func (e GoesOn) String() string {
	return fmt.Sprintf("going on after burst %d, from %s", e.Burst, e.Path)
}

// Fault says that a device has failed and that the run continues.
type Fault struct {
	Err    error
	Action Action
}

func (e Fault) String() string { return fmt.Sprintf("%v\ngoing on: %s", plain.Text(e.Err), e.Action) }

// ThroughMPI tells why processes exchange what fired through MPI, and not through NCCL.
type ThroughMPI struct{ Why string }

func (e ThroughMPI) String() string { return fmt.Sprintf("exchange: MPI (%s)", e.Why) }

// Trouble says that an error occurred that did not end the run.
type Trouble struct{ Err error }

func (e Trouble) String() string { return plain.Text(e.Err) }
