package backend

import (
	"fmt"
	"runtime/debug"

	"burst/backend/cpu"
	"burst/backend/cuda"
	"burst/connectome"
	"burst/internal/plain"
)

// MemoryError refuses a network that a backend has no room for on the host, before anything is allocated for it.
type MemoryError struct {
	Backend string
	Need    uint64 // bytes that the backend would take beside the network
	Network uint64 // bytes of the network, which is there
	Limit   uint64 // bytes allowed for both
	Cure    string
}

func (e *MemoryError) Error() string {
	return fmt.Sprintf("the %s backend needs %d bytes beside the network's %d, the limit for both is %d (%s of %s); %s",
		e.Backend, e.Need, e.Network, e.Limit, plain.Bytes(e.Need+e.Network), plain.Bytes(e.Limit), e.Cure)
}

// Footprint is how many bytes Open takes for c on the host, beside the network itself, and on the device; it needs neither the
// backend nor its device. What a burst's spikes take, and what a driver keeps for itself, is not in it.
func Footprint(name string, c *connectome.Connectome, o Options) (host, device uint64) {
	switch name {
	case "cpu":
		return cpu.Memory(c, o.Threads), 0
	case "cuda":
		if len(o.Devices) > 1 {
			return cuda.PartsBytes(c, len(o.Devices), o.Want)
		}
		return cuda.HostBytes(c, o.Want), cuda.DeviceBytes(c, o.Want)
	}
	return stateBytes(c) + 4*uint64(c.Ports), 0
}

// Memory is how many bytes a run on the named backend takes on the host beside the network: Footprint, and the copies of the
// state that the engine and a checkpoint keep.
func Memory(name string, c *connectome.Connectome, o Options) uint64 {
	host, _ := Footprint(name, c, o)
	copies := uint64(2) // the one that the engine keeps, and the checkpoint's
	if name == "cuda" {
		copies++ // the engine reads it to look at it
		if len(o.Devices) > 1 {
			copies++ // of one part, to put the whole together
		}
	}
	return host + copies*stateBytes(c)
}

// stateBytes is one copy of the state, without the fire queues.
func stateBytes(c *connectome.Connectome) uint64 {
	return uint64(c.Neurons) * uint64(4+2+2+4*c.Variables())
}

// fits refuses a backend that would pass the limit.
func fits(name string, c *connectome.Connectome, o Options) error {
	return allFit(name, c.Bytes(), []*connectome.Connectome{c}, o)
}

// allFit is fits for a backend of each part of a network; network is what is there of all. What has room in any case is not
// counted out.
func allFit(name string, network uint64, parts []*connectome.Connectome, o Options) error {
	e := &MemoryError{Backend: name, Network: network, Limit: o.MaxBytes}
	most := uint64(0)
	for _, c := range parts {
		most += atMost(name, c, o)
	}
	if e.Limit == 0 {
		if most <= o.free() {
			return nil
		}
		debug.FreeOSMemory() // what building left
		e.Limit = o.free() + network
	}
	left := e.Limit - min(e.Limit, network)
	if name == "cpu" && most <= left {
		return nil
	}
	for _, c := range parts {
		e.Need += Memory(name, c, o)
	}
	if e.Need <= left {
		return nil
	}
	e.Cure = cure(name, parts, o, left)
	return e
}

// free is this process's share of what memory the machine has free.
func (o Options) free() uint64 { return connectome.AvailableMemory() / uint64(max(1, o.Sharers)) }

// atMost is a bound of Memory that does not look at the synapses.
func atMost(name string, c *connectome.Connectome, o Options) uint64 {
	most := 2*stateBytes(c) + cpu.MemoryAtMost(c, o.Threads)
	switch {
	case name == "cuda" && len(o.Devices) > 1:
		host, _ := cuda.PartsBytes(c, len(o.Devices), o.Want)
		most += host + stateBytes(c)
	case name == "cuda":
		most += cuda.HostBytes(c, o.Want)
	}
	return most
}

// cut splits a network among backends of this process, where there is room for the copies and for all of the backends.
func cut(name string, c *connectome.Connectome, o Options) ([]*connectome.Connectome, error) {
	each := uint64(4 + 4)
	if c.Delay != nil {
		each++
	}
	copies := c.Synapses()*each + uint64(o.Parts)*8*uint64(c.Neurons+1)
	limit := o.MaxBytes
	if limit == 0 {
		debug.FreeOSMemory() // what building left
		limit = o.free() + c.Bytes()
	}
	if c.Bytes()+copies > limit {
		return nil, &MemoryError{Backend: name, Need: copies, Network: c.Bytes(), Limit: limit, Cure: fewer}
	}
	list := make([]*connectome.Connectome, o.Parts)
	for i := range list {
		list[i] = c.Cut(connectome.Part{Index: i, Of: o.Parts})
	}
	return list, allFit(name, c.Bytes()+copies, list, o)
}

// fewer is the cure where a network is in memory in whole and in parts.
const fewer = "take fewer parts, make the network smaller, or use a machine with more memory"

// cure is a way to have the network fit.
func cure(name string, parts []*connectome.Connectome, o Options, left uint64) string {
	if len(parts) > 1 {
		return fewer
	}
	if c := parts[0]; name == "cpu" {
		o.Threads = 1
		if need := Memory(name, c, o); need <= left {
			return fmt.Sprintf("with --threads 1 it needs %d bytes", need)
		}
		if need := Memory("reference", c, o); need <= left {
			return fmt.Sprintf("--backend reference copies no synapses and needs %d bytes, but is slow", need)
		}
	}
	return "make the network smaller, raise --max-memory, or use a machine with more memory"
}
