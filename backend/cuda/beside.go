package cuda

import "os"

// mostBeside is how many backends may share a device, each of which has a stream and a queue of its own, and neuronsPerSM how many neurons a
// multiprocessor should have before another network gets its own: about as many as have room there for their state.
const mostBeside, neuronsPerSM = 32, 8192

// Beside is how many trials of a network with so many neurons suit a GPU at once (Options.Beside).
func Beside(neurons uint64) int {
	return int(min(mostBeside, max(1, usualSMs*neuronsPerSM/max(1, neurons))))
}

// AskForQueues asks the driver for a hardware queue for each of so many backends that will use a device at once, if the user has not said how
// many: streams that share a queue wait for each other, and the driver makes 8 unless it is asked before it is started. More are not free: 32
// take half a second of a process to make and to free.
func AskForQueues(backends int) {
	const variable, usual = "CUDA_DEVICE_MAX_CONNECTIONS", 8
	if _, set := os.LookupEnv(variable); !set && backends > usual {
		_ = os.Setenv(variable, "32") // it fails for names that no variable can have
	}
}

// beside is the tuning for one of so many backends that share a device. Each launch takes a part of its multiprocessors, so that launches of
// all run at once: a burst of a small network mostly waits for its blocks to meet, the less the fewer they are. Shorter launches take less
// mapped memory, which takes most of the time in which a twin is opened.
func (t tuning) beside(parts int) tuning {
	t.parts = parts
	t.batch = min(t.batch, 128)
	return t
}
