package engine

import "unsafe"

// QueueBytes is the memory of as many fire queues as bursts, of which all together hold so many spikes, in one copy of the state or in a
// checkpoint.
func QueueBytes(bursts int, spikes uint64) uint64 {
	return uint64(bursts)*uint64(unsafe.Sizeof([]uint32{})) + 4*spikes
}

// Queued is the number of spikes in the fire queues.
func (s *State) Queued() uint64 {
	n := uint64(0)
	for _, q := range s.Queues {
		n += uint64(len(q))
	}
	return n
}
