package cuda

import (
	"os"
	"strconv"

	"burst/genome"
)

// mostBeside is how many backends may share a device; each has a stream and a hardware queue of its own. neuronsPerSM is how many neurons a
// multiprocessor should have before a further one is taken: about as many as fit into its shared memory with their state; of those that
// change at inputs alone twice as many.
const mostBeside, neuronsPerSM = 32, 9000

// usualQueues is how many hardware queues the driver makes unless it is asked before it starts. To make and free a further one takes 20 to 30
// ms of a process, and a burst becomes shorter by 0.02 to 0.04 µs: queueBursts make up for it, and more.
const usualQueues, queueBursts = 8, 200_000

// Beside is how many trials of g suit a GPU at once (Options.Beside), if all trials have so many bursts together.
func Beside(g *genome.Genome, bursts uint64) int {
	room := uint64(0)
	for i := range g.Areas {
		n := g.Areas[i].Neurons()
		if m := g.Areas[i].Model; m == nil || m.Event == "" {
			n *= 2
		}
		room += n
	}
	n := min(mostBeside, max(1, 2*usualSMs*neuronsPerSM/max(1, room)))
	return int(min(n, usualQueues+bursts/queueBursts))
}

// AskForQueues asks the driver for as many hardware queues as backends will use a device at the same time, unless the user has set their
// number. Streams that share a queue wait for each other.
func AskForQueues(backends int) {
	const variable = "CUDA_DEVICE_MAX_CONNECTIONS"
	if _, set := os.LookupEnv(variable); !set && backends > usualQueues {
		_ = os.Setenv(variable, strconv.Itoa(min(backends, mostBeside))) // it fails for names that no variable can have
	}
}

// beside is the tuning for one of n backends that share a device. Each launch uses a part of the multiprocessors, so that launches of all
// backends run at the same time. A burst of a small network spends most of its time in barriers of the grid, which fewer blocks make
// shorter. Additions in the second-level cache, which all backends share, then take longest, so that clusters pay for fewer synapses. Shorter launches need less mapped memory, and taking that memory is most of the time to open a twin.
func (t tuning) beside(parts int) tuning {
	t.parts = parts
	t.clusterDelayed /= uint64(parts)
	t.batch = min(t.batch, 128)
	return t
}
