package cuda

import "os"

// mostBeside is how many backends may share a device; each has a stream and a hardware queue of its own. neuronsPerSM is how many neurons a
// multiprocessor should have before a further one is taken: about as many as fit into its shared memory with their state.
const mostBeside, neuronsPerSM = 32, 8192

// Beside is how many trials of a network with so many neurons suit a GPU at once (Options.Beside).
func Beside(neurons uint64) int {
	return int(min(mostBeside, max(1, usualSMs*neuronsPerSM/max(1, neurons))))
}

// AskForQueues asks the driver for n hardware queues, one for each backend that will use a device at the same time, unless the user has set
// their number. Streams that share a queue wait for each other. The driver makes 8 queues unless it is asked before it starts. To make and
// free 32 takes half a second of a process.
func AskForQueues(backends int) {
	const variable, usual = "CUDA_DEVICE_MAX_CONNECTIONS", 8
	if _, set := os.LookupEnv(variable); !set && backends > usual {
		_ = os.Setenv(variable, "32") // it fails for names that no variable can have
	}
}

// beside is the tuning for one of n backends that share a device. Each launch uses a part of the multiprocessors, so that launches of all
// backends run at the same time. A burst of a small network spends most of its time in barriers of the grid, which fewer blocks make
// shorter. Additions in the second-level cache, which all backends share, then take longest, so that clusters pay for fewer synapses. Shorter launches need less mapped memory, and taking that memory is most of the time to open a twin.
func (t tuning) beside(parts int) tuning {
	t.parts = parts
	t.clusterLate /= uint64(parts)
	t.batch = min(t.batch, 128)
	return t
}
