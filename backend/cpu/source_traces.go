package cpu

import (
	"burst/backend/cpu/internal/vector"
	"burst/connectome"
	"burst/internal/formula"
)

// sources are the traces and variables of the source neurons.
type sources struct {
	values
	last     []uint64 // burst of the last spike plus 1; 0: none
	onSource *handler
}

// values are lists of numbers, one a trace and one a variable.
type values struct{ traces, variables [][]float32 }

func newSources(p *connectome.Plastic, f *vector.Formula) sources {
	n := uint64(p.From.Count)
	return sources{values{lists(len(p.Pre), n), lists(len(p.Source), n)}, room[uint64](n), newHandler(p.OnSource, f)}
}

// copy makes s equal to from.
func (s *sources) copy(from *sources) {
	for k := range s.traces {
		copy(s.traces[k], from.traces[k])
	}
	for k := range s.variables {
		copy(s.variables[k], from.variables[k])
	}
	copy(s.last, from.last)
}

// fire lets sources have a spike in burst s.
func (s *sources) fire(p *connectome.Plastic, list []uint32, t uint64) {
	if s.onSource != nil {
		for rest := list; len(rest) > 0; {
			n := min(len(rest), chunk)
			s.step(rest[:n], t)
			rest = rest[n:]
		}
	}
	for k := range s.traces {
		raise(&p.Pre[k], s.traces[k], s.last, list, t)
	}
	for _, i := range list {
		s.last[i] = t + 1
	}
}

// raise lets a trace of some neurons have an event in burst t.
func raise(trace *connectome.Trace, values []float32, last []uint64, list []uint32, t uint64) {
	table, amount := &trace.Table, trace.Amount
	for _, i := range list {
		if at := last[i]; at == 0 || trace.Set {
			values[i] = amount
		} else {
			values[i] = float32(values[i]*table.At(t+1-at)) + amount
		}
	}
}

// step runs on_source for at most a chunk of sources.
func (s *sources) step(list []uint32, t uint64) {
	h := s.onSource
	for k, values := range s.variables {
		for q, i := range list {
			h.own[k][q] = values[i]
		}
	}
	for k, r := range h.reads {
		in := h.input(k)
		for q, i := range list {
			switch last := s.last[i]; {
			case r.Kind == formula.ReadFirst:
				in[q] = flagNumber(last == 0)
			case last == 0:
				in[q] = 0
			default:
				in[q] = h.decays[r.K].At(t + 1 - last)
			}
		}
	}
	h.run(uint32(len(list)))
	for k, values := range s.variables {
		for q, i := range list {
			values[i] = h.made(k)[q]
		}
	}
}

// aged is a trace's value in burst t. x is its value after the spike of burst last−1, which became an event delay bursts later.
func aged(table *connectome.Table, x float32, last, delay, t uint64) float32 {
	if last == 0 {
		return 0
	}
	return float32(x * table.At(t+1-last-delay))
}
