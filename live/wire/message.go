package wire

import (
	"encoding/json"
	"errors"
	"fmt"
)

// The roles of clients.
const (
	RoleView  = "view"  // is shown pictures
	RoleFeed  = "feed"  // gives inputs to a run that goes on by itself, and reads outputs over HTTP
	RoleDrive = "drive" // steps a run in lock-step; there is one at most
)

// Hello is what a client says first.
type Hello struct {
	Token    string  `json:"token,omitempty"` // of a WebSocket; the other sockets need none
	Role     string  `json:"role"`
	Name     string  `json:"name,omitempty"`     // for messages
	Pictures float64 `json:"pictures,omitempty"` // a second, for viewers; 0: 30, which is the most
}

// Welcome is the server's answer.
type Welcome struct {
	Program string  `json:"program"` // version of burst
	Name    string  `json:"name"`    // of the genome
	Network string  `json:"network"` // hash of the connectome
	Mode    string  `json:"mode"`    // lock-step, real-time, free or paused
	Burst   uint64  `json:"burst"`   // the next one
	Step    float64 `json:"timestep_ms"`
	Areas   []Area  `json:"areas"`
}

// Area is an area as a picture has it: its points are voxels, or cubes of grain × grain × grain voxels, numbered along z first, then
// y, then x.
type Area struct {
	Name     string     `json:"name"`
	Model    string     `json:"model"`
	First    uint32     `json:"first"` // neuron
	Neurons  uint32     `json:"neurons"`
	Size     [3]uint32  `json:"size"` // voxels
	PerVoxel uint32     `json:"neurons_per_voxel"`
	Position [3]float64 `json:"position"`
	Grain    uint8      `json:"grain"`
	Points   uint32     `json:"points"`
}

// Place says which neurons of an area an input or output has: an entry is a neuron, or all neurons of a voxel.
type Place struct {
	Area    string   `json:"area"`
	Neurons []uint32 `json:"neurons,omitempty"`
	Voxels  Voxels   `json:"voxels,omitempty"` // with neither: all neurons of the area
}

// Voxels are x, y and z of each.
type Voxels [][3]uint32

// UnmarshalJSON reads lists of three numbers: encoding/json would fill up or cut off others.
func (v *Voxels) UnmarshalJSON(b []byte) error {
	var lists [][]uint32
	if json.Unmarshal(b, &lists) != nil {
		return errors.New("voxels: want a list of lists of three whole numbers from 0 to 4294967295")
	}
	if *v = nil; lists != nil {
		*v = make(Voxels, len(lists))
	}
	for i, list := range lists {
		if len(list) != 3 {
			return fmt.Errorf("voxels: %v, want three numbers, x, y and z", list)
		}
		(*v)[i] = [3]uint32(list)
	}
	return nil
}

// Input is an input to bind.
type Input struct {
	Place
	Name    string  `json:"name,omitempty"`
	Port    Port    `json:"port,omitzero"`  // of the neurons; the zero value: by the amount's sign, unless there are several to name
	Largest float32 `json:"largest"`        // no amount will be larger, of either sign, in the port's unit
	Once    bool    `json:"once,omitempty"` // a value counts for one burst
	HoldFor uint64  `json:"hold_for,omitempty"`
}

// Output is an output to bind.
type Output struct {
	Place
	Kind     string `json:"kind"`               // counts, fired, rate or potentials
	Variable string `json:"variable,omitempty"` // of potentials: a state variable of the area's model in place of its potential
}

// Bind asks for inputs and outputs. Their handles are their places in the list of all that the client has bound.
type Bind struct {
	Inputs  []Input  `json:"inputs,omitempty"`
	Outputs []Output `json:"outputs,omitempty"`
	Raster  []Place  `json:"raster,omitempty"` // of a viewer: the neurons whose spikes it is shown; in place of those before
}

// Handle is what has been bound.
type Handle struct {
	Handle  uint16 `json:"handle"`
	Entries int    `json:"entries"`
}

// Bound is the answer to Bind.
type Bound struct {
	Inputs  []Handle `json:"inputs"`
	Outputs []Handle `json:"outputs"`
	Raster  int      `json:"raster,omitempty"` // so many neurons
	Burst   uint64   `json:"burst"`            // the next one
}

// Codes of notices.
const (
	Refused = "refused" // what the client asked for was not done, the text says why
	Done    = "done"    // answers a control
	Dropped = "dropped" // values that came too fast were left out
	Mode    = "mode"    // the run's mode is another one
	Closing = "closing" // the server ends
)

// Notice is something that a client should know.
type Notice struct {
	Code string `json:"code"`
	Text string `json:"text"`
	Next uint64 `json:"next,omitempty"` // of a step that is refused: where it must begin
}

// Error makes a Notice the error of what was refused.
func (n *Notice) Error() string { return n.Text }

// Control asks for one thing: what Do names, with what belongs to it.
type Control struct {
	Do       string   `json:"do"`              // pause, resume, step, rate, seek, stimulus, set, checkpoint, flush, keep, restore, reset or stop
	Burst    uint64   `json:"burst,omitempty"` // to seek
	Bursts   uint64   `json:"bursts,omitempty"`
	Rate     string   `json:"rate,omitempty"`
	Stimulus *int     `json:"stimulus,omitempty"`
	On       *bool    `json:"on,omitempty"`
	State    string   `json:"state,omitempty"`    // its name, to keep and restore
	Settings []string `json:"settings,omitempty"` // of drives and stimuli, such as areas.L4E.drive.poisson.rate=20Hz
}
