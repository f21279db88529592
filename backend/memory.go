package backend

import (
	"fmt"
	"runtime/debug"

	"burst/backend/cpu"
	"burst/backend/cuda"
	"burst/connectome"
	"burst/engine"
	"burst/internal/plain"
)

// MemoryError says that a backend would need more host memory than allowed. It comes before anything is allocated.
type MemoryError struct {
	Backend string
	Need    uint64 // bytes that the backend would allocate
	Network uint64 // bytes of the network, which is in memory already
	Limit   uint64 // bytes allowed for both
	Cure    string // what the user can do
}

func (e *MemoryError) Error() string {
	return fmt.Sprintf("the %s backend needs %d bytes beside the network's %d, the limit for both is %d (%s of %s); %s",
		e.Backend, e.Need, e.Network, e.Limit, plain.Bytes(e.Need+e.Network), plain.Bytes(e.Limit), e.Cure)
}

// Footprint is the number of bytes that Open allocates for c on the host, without the network itself, and on the device. It
// needs no device. It does not count the spikes of bursts or the memory of the driver.
func Footprint(name string, c *connectome.Connectome, o Options) (host, device uint64) {
	switch name {
	case "cpu":
		return cpu.Memory(c, o.Threads), 0
	case "cuda":
		if len(o.Devices) > 1 || c.Row == nil { // the devices have the rows
			return cuda.PartsBytes(c, max(1, len(o.Devices)), o.Want)
		}
		return cuda.HostBytes(c, o.Want), cuda.DeviceBytes(c, o.Want)
	}
	return stateBytes(c) + 4*uint64(c.Ports), 0
}

// hostMemory is the number of bytes that a run on the named backend needs on the host, without the network: Footprint, and the
// copies of the state that the engine and a checkpoint keep.
func hostMemory(name string, c *connectome.Connectome, o Options) uint64 {
	host, _ := Footprint(name, c, o)
	copies := uint64(2) // the one that the engine keeps, and the checkpoint's
	if len(c.Plastic) > 0 {
		copies += 2 // from which the weights' digest is made, and one that the engine looks at before it keeps it
	}
	if name == "cuda" {
		copies++ // the engine reads the state to look for NaN and Inf
		if len(o.Devices) > 1 {
			copies++ // of a part, before it is merged into the whole
		}
	}
	return host + copies*stateBytes(c)
}

// stateBytes is the size of one copy of the state, without the fire queues.
func stateBytes(c *connectome.Connectome) uint64 {
	n := uint64(c.Neurons) * uint64(4+2+2+4*c.Variables())
	for i := range c.Plastic {
		n += c.Plastic[i].LearntBytes()
	}
	return n + engine.MemoryBytes(c)
}

// fits returns a *MemoryError if the backend would exceed the limit.
func fits(name string, c *connectome.Connectome, o Options) error {
	return allFit(name, c.Bytes(), []*connectome.Connectome{c}, o)
}

// allFit is fits for backends of all parts of a network; network is the bytes of it in memory. The exact size is computed
// only if the upper bound exceeds the limit.
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
		debug.FreeOSMemory() // garbage of the build
		e.Limit = o.free() + network
	}
	left := e.Limit - min(e.Limit, network)
	if name == "cpu" && most <= left {
		return nil
	}
	for _, c := range parts {
		e.Need += hostMemory(name, c, o)
	}
	if e.Need <= left {
		return nil
	}
	e.Cure = cure(name, parts, o, left)
	return e
}

// free is this process's share of the machine's free memory.
func (o Options) free() uint64 { return connectome.AvailableMemory() / uint64(max(1, o.Sharers)) }

// queueRoom is the memory that the limit leaves for fire queues and for the spikes on their way in the cpu backend, at least 1.
func queueRoom(c *connectome.Connectome, o Options) uint64 {
	limit := o.MaxBytes
	if limit == 0 {
		limit = o.free() + c.Bytes()
	}
	taken := c.Bytes() + atMost("cpu", c, o)
	if taken > limit { // the bound is too high
		taken = c.Bytes() + hostMemory("cpu", c, o)
	}
	return max(1, (limit-min(limit, taken))/uint64(max(1, o.Parts)))
}

// atMost is an upper bound of hostMemory that is computed without reading the synapses.
func atMost(name string, c *connectome.Connectome, o Options) uint64 {
	most := 4*stateBytes(c) + cpu.MemoryAtMost(c, o.Threads)
	switch {
	case name == "cuda" && len(o.Devices) > 1:
		host, _ := cuda.PartsBytes(c, len(o.Devices), o.Want)
		most += host + stateBytes(c)
	case name == "cuda":
		most += cuda.HostBytes(c, o.Want)
	}
	return most
}

// cut splits a network among backends of this process if there is memory for the copies and for all backends.
func cut(name string, c *connectome.Connectome, o Options) ([]*connectome.Connectome, error) {
	copies := c.Synapses()*(4+4) + c.Delay.Bytes() + uint64(o.Parts)*8*uint64(c.Neurons+1)
	for i := range c.Plastic {
		p := &c.Plastic[i]
		copies += p.Synapses()*8 + p.Delay.Bytes()
		copies += uint64(o.Parts) * 8 * uint64(len(p.Row))
	}
	limit := o.MaxBytes
	if limit == 0 {
		debug.FreeOSMemory() // garbage of the build
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

// fewer is the advice if the network is in memory both as a whole and in parts.
const fewer = "take fewer parts, make the network smaller, or use a machine with more memory"

// cure suggests how the network could fit.
func cure(name string, parts []*connectome.Connectome, o Options, left uint64) string {
	if len(parts) > 1 {
		return fewer
	}
	if c := parts[0]; name == "cpu" {
		o.Threads = 1
		if need := hostMemory(name, c, o); need <= left {
			return fmt.Sprintf("with --threads 1 it needs %d bytes", need)
		}
		if need := hostMemory("reference", c, o); need <= left {
			return fmt.Sprintf("--backend reference copies no synapses and needs %d bytes, but is slow", need)
		}
	}
	return "make the network smaller, raise --max-memory, or use a machine with more memory"
}
