// Package checkpoint keeps a run on disk so that it can go on after a crash, on any backend: the whole engine.State, what
// the network was built from, and how far its recordings are. A file is either whole, which its checksums prove, or
// refused with the section that is not; docs/checkpoints.md has the format byte by byte.
package checkpoint

import (
	"fmt"

	"burst/engine"
	"burst/internal/regular"
)

// Format is the newest version of the file format that this package reads and writes. A file has the oldest version
// that its state needs: 1, 2 where projections are plastic, 3 where synapses are driven, 4 where areas are of memory.
const Format = memoryFormat

// Checkpoint is all that a run needs to go on, beside its genome.
type Checkpoint struct {
	Version    string   // of the burst that saved it; at most 32 bytes
	Genome     [32]byte // SHA-256 of genome.yaml
	Connectome uint64   // hash
	Seed       uint64
	RunSeed    uint64
	State      engine.State
	Recordings []Recording // how far each recording was on disk when the checkpoint was saved
	Activity   []byte      // the counts behind rates.csv, as package record writes them
}

// Recording is how far a recording goes: all rows of the bursts before the checkpoint's, and none of later ones.
type Recording struct {
	Table    string // "spikes" and the like, as package record names them
	Bytes    int64  // of the .arrows file
	Rows     uint64
	Burst    uint64 // of the last row
	Sums     int64  // bytes of the .sums file, which vouches for every chunk of the other
	SumsHash uint64 // xxHash64 of these, seed 0
}

// DamagedError is a file that is no checkpoint as one was written. It has Path; Section, which is "header", a section's name, "padding",
// "SHA-256" or "end"; and Reason.
type DamagedError = regular.DamagedError

// VersionError is a checkpoint of a format that this version of burst does not know.
type VersionError struct {
	Path          string
	Found, Newest uint32
}

func (e *VersionError) Error() string {
	return fmt.Sprintf("%s: checkpoint format %d found, this version of burst reads up to format %d; use the version that wrote it, or a newer one", e.Path, e.Found, e.Newest)
}
