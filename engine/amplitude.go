package engine

import (
	"fmt"
	"strconv"

	"burst/connectome"
)

// Amplitude is the potential at which a neuron of an area with a psp_max was fired, in quanta, 0 where that was below 0. What its
// synapses deliver follows from it.
type Amplitude struct {
	Neuron uint32
	Quanta int32
}

// AmplitudeError says that a neuron has fired at a potential beyond its area's psp_max. Beyond it, sums could leave int32, so
// the run ends.
type AmplitudeError struct {
	Neuron    uint32
	Area      string
	Number    uint32 // of the neuron in its area
	Potential float32
	Most      float64
}

func (e *AmplitudeError) Error() string {
	return fmt.Sprintf("neuron %d of area %q (id %d) fired at the potential %v, beyond its psp_max %v; give the area a larger psp_max",
		e.Number, e.Area, e.Neuron, e.Potential, e.Most)
}

// NewAmplitude returns the amplitude of a neuron n of area a that fires at potential v. The error is an *AmplitudeError.
func NewAmplitude(c *connectome.Connectome, a *connectome.Area, n uint32, v float32) (Amplitude, error) {
	q, ok := connectome.Amplitude(v, c.Scale, a.PSPMax)
	if !ok {
		return Amplitude{}, &AmplitudeError{n, a.Name, n - a.Neurons.First, v, float64(a.PSPMax) / float64(c.Scale)}
	}
	return Amplitude{n, q}, nil
}

// compareAmplitudes finds the first entry that differs, or nil.
func compareAmplitudes(a, b []Amplitude) *Difference {
	text := func(list []Amplitude, i int) string {
		if i >= len(list) {
			return "none"
		}
		return fmt.Sprintf("%d quanta of neuron %d", list[i].Quanta, list[i].Neuron)
	}
	for i := range max(len(a), len(b)) {
		if i >= len(a) || i >= len(b) || a[i] != b[i] {
			d := &Difference{Field: "amplitude", A: text(a, i), B: text(b, i)}
			if i < len(a) {
				d.Neuron = a[i].Neuron
			} else {
				d.Neuron = b[i].Neuron
			}
			return d
		}
	}
	return nil
}

// checkAmplitudes reports the first thing in which the amplitudes do not fit the queues.
func (s *State) checkAmplitudes(c *connectome.Connectome) error {
	lists := c.AmplitudeLists()
	if len(s.Amplitudes) != lists {
		return fmt.Errorf("state of %d lists of amplitudes, want %d", len(s.Amplitudes), lists)
	}
	for d, list := range s.Amplitudes {
		for _, n := range s.Queues[d] {
			a := &c.Areas[c.AreaOf(n)]
			if a.PSPMax == 0 {
				continue
			}
			if len(list) == 0 || list[0].Neuron != n || list[0].Quanta > a.PSPMax || list[0].Quanta < 0 {
				found := "none"
				if len(list) > 0 {
					found = strconv.Itoa(int(list[0].Quanta)) + " of neuron " + strconv.Itoa(int(list[0].Neuron))
				}
				return fmt.Errorf("state: amplitude of neuron %d, which fired %d bursts earlier: %s found, want 0…%d", n, d+1, found, a.PSPMax)
			}
			list = list[1:]
		}
		if len(list) > 0 {
			return fmt.Errorf("state: neuron %d has an amplitude of %d bursts earlier, when it did not fire", list[0].Neuron, d+1)
		}
	}
	return nil
}
