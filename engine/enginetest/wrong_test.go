package enginetest

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"runtime"
	"slices"
	"testing"

	oracle "burst/backend/reference"
	"burst/connectome"
	"burst/engine"
)

// spoiled is the reference with mistakes in what it hands on.
type spoiled struct {
	engine.Backend
	c        *connectome.Connectome
	number   uint64
	step     func(out *engine.Burst)
	read     func(number uint64, s *engine.State)
	write    func(old, s *engine.State)
	afterN   func(s *engine.State) // reading, from StepN to the next Step
	many     bool
	old, own engine.State
}

func (b *spoiled) Step(in []engine.Stimulus, out *engine.Burst) error {
	err := b.Backend.Step(in, out)
	b.number, b.many = out.Number+1, false
	if b.step != nil {
		b.step(out)
	}
	return err
}

func (b *spoiled) ReadState(s *engine.State) error {
	err := b.Backend.ReadState(s)
	if b.read != nil {
		b.read(b.number, s)
	}
	if b.many {
		b.afterN(s)
	}
	return err
}

func (b *spoiled) WriteState(s *engine.State) error {
	b.number, b.many = s.Number, false
	if b.write == nil {
		return b.Backend.WriteState(s)
	}
	if err := b.Backend.ReadState(&b.old); err != nil {
		return err
	}
	b.own = *s.Clone()
	b.write(&b.old, &b.own)
	return b.Backend.WriteState(&b.own)
}

func (b *spoiled) CanStepN() bool { return b.afterN != nil }

func (b *spoiled) StepN(n int, each func(*engine.Burst) error) error {
	feed := engine.NewFeed(b.c, nil)
	for range n {
		in, err := feed.Next(b.number)
		if err != nil {
			return err
		}
		var out engine.Burst
		if err := b.Step(in, &out); err != nil {
			return err
		}
		if err := each(&out); err != nil {
			return err
		}
	}
	b.many = true
	return nil
}

// witness notes a failure instead of failing.
type witness struct {
	testing.TB
	message string
}

func (w *witness) Helper() {}

func (w *witness) Fatal(args ...any) { w.Fatalf("%s", fmt.Sprint(args...)) }

func (w *witness) Fatalf(format string, args ...any) {
	w.message = fmt.Sprintf(format, args...)
	runtime.Goexit()
}

// failure is what a check says of a backend, "" when it passes.
func failure(t *testing.T, check func(t testing.TB, open Open), spoil func(b *spoiled)) string {
	w := &witness{TB: t}
	done := make(chan struct{})
	go func() {
		defer close(done)
		check(w, func(c *connectome.Connectome, want engine.Want) (engine.Backend, error) {
			b, err := oracle.Open(c, want)
			s := &spoiled{Backend: b, c: c}
			spoil(s)
			return s, err
		})
	}()
	<-done
	return w.message
}

// lively is a network in which every field of a state is in use, of several models and delays.
func lively() Net {
	f := set(FEAGI(33), map[string]float32{"fire_limit": 3, "refractory": 2, "snooze": 9, "excitability": 0.7})
	p, i := set(PSCExp(70), map[string]float32{"threshold": 0.005}), Izhikevich(20)
	f.PSPMax = 1_000_000
	n := Net{Areas: []connectome.Area{f, i, p}, Scale: 1000}
	r := rand.New(rand.NewPCG(8, 8))
	for range 3000 {
		s := Synapse{r.Uint32N(123), r.Uint32N(193), quanta(r, 1000), uint16(1 + r.IntN(4))}
		if s.From < 33 {
			s.Weight /= 30 // of an amplitude
		}
		n.Synapses = append(n.Synapses, s)
	}
	learns := Plastic{From: 0, To: 1, Hi: 1, Rule: Handlers{OnPre: []string{"w = 0.9*w + 0.05"}, OnPost: []string{"w = 0.9*w"}}}
	for range 200 {
		learns.Synapses = append(learns.Synapses, Synapse{r.Uint32N(33), r.Uint32N(20), r.Int32N(1001), uint16(1 + r.IntN(4))})
	}
	n.Plastic = []Plastic{learns}
	n.Areas = append(n.Areas, Memory(9, nil, 0))
	return n
}

// wrongFields change a number of each field of a state, at its end: of further variables the last one alone.
var wrongFields = map[string]func(s *engine.State){
	"Number":     func(s *engine.State) { s.Number++ },
	"V":          func(s *engine.State) { s.V[len(s.V)-1]++ },
	"More":       func(s *engine.State) { s.More[len(s.More)-1][len(s.V)-1]++ },
	"Refractory": func(s *engine.State) { s.Refractory[len(s.V)-1]++ },
	"Count":      func(s *engine.State) { s.Count[len(s.V)-1]++ },
	"Queues": func(s *engine.State) {
		q := &s.Queues[len(s.Queues)-1]
		if k := len(*q); k > 0 {
			*q = (*q)[:k-1]
		} else {
			*q = append(*q, 0)
		}
	},
	"Amplitudes": func(s *engine.State) {
		list := &s.Amplitudes[len(s.Amplitudes)-1]
		if k := len(*list); k > 0 {
			(*list)[k-1].Quanta++
		} else {
			*list = append(*list, engine.Amplitude{})
		}
	},
	"Plastic": func(s *engine.State) { // a weight, within its bounds
		w := s.Plastic[0].Weight
		w[len(w)-1] = 1 - w[len(w)-1]
	},
	"Memory": func(s *engine.State) { s.Memory[len(s.Memory)-1].Lost++ },
	"Digest": nil, // which is the engine's
}

// lostFields leave a field as it was when a state is written, of further variables the last one alone.
func lost(field string, old, s *engine.State) {
	if field == "More" {
		s.More[len(s.More)-1] = old.More[len(old.More)-1]
		return
	}
	reflect.ValueOf(s).Elem().FieldByName(field).Set(reflect.ValueOf(old).Elem().FieldByName(field))
}

// TestWrongBackendsAreCaught: each check of the suite notices a backend that does all but one thing right, where it is the check's
// turn, and passes one that does all.
func TestWrongBackendsAreCaught(t *testing.T) {
	for _, f := range reflect.VisibleFields(reflect.TypeFor[engine.State]()) {
		if _, known := wrongFields[f.Name]; !known {
			t.Errorf("no backend has a wrong %s", f.Name)
		}
	}
	n := lively()
	checks := map[string]func(t testing.TB, open Open){
		"same": func(t testing.TB, open Open) {
			c := n.Build()
			same(t, open, oracle.Open, c, 40, randomInput(3, c), "as the reference")
		},
		"split":       func(t testing.TB, open Open) { split(t, open, n, 3) },
		"unconnected": func(t testing.TB, open Open) { unconnected(t, open, n, 3) },
		"want":        func(t testing.TB, open Open) { want(t, open, n, 3) },
		"values":      func(t testing.TB, open Open) { values(t, open, n, 3) },
		"state":       func(t testing.TB, open Open) { wholeState(t, open, n, 3) },
		"late":        func(t testing.TB, open Open) { late(t, open, n, 3) },
		"sources":     func(t testing.TB, open Open) { sources(t, open) },
		"batch":       func(t testing.TB, open Open) { batch(t, open, oracle.Open, engine.Want{FCL: true}, n, 3) },
	}
	for name, check := range checks {
		if m := failure(t, check, func(*spoiled) {}); m != "" {
			t.Fatalf("%s fails a backend without a mistake: %s", name, m)
		}
	}
	must := func(check, mistake string, spoil func(b *spoiled)) {
		if failure(t, checks[check], spoil) == "" {
			t.Errorf("%s passes a backend with a mistake: %s", check, mistake)
		}
	}
	for field, wrong := range wrongFields {
		if wrong == nil {
			continue
		}
		for _, check := range []string{"same", "state"} {
			must(check, field+" of the state before burst 0", func(b *spoiled) {
				b.read = func(number uint64, s *engine.State) {
					if number == 0 {
						wrong(s)
					}
				}
			})
		}
		for _, from := range []uint64{1, 13, 40} {
			must("same", fmt.Sprintf("%s from burst %d on", field, from), func(b *spoiled) {
				b.read = func(number uint64, s *engine.State) {
					if number >= from {
						wrong(s)
					}
				}
			})
		}
		must("same", field+" in one burst alone", func(b *spoiled) {
			b.read = func(number uint64, s *engine.State) {
				if number == 21 {
					wrong(s)
				}
			}
		})
		must("batch", field+" after many bursts at a time", func(b *spoiled) { b.afterN = wrong })
		must("state", field+" is changed where a state is written", func(b *spoiled) {
			b.write = func(_, s *engine.State) { wrong(s) }
		})
		check := "split"
		if field == "Number" {
			check = "late" // both states of split have the same
		}
		must(check, field+" is lost where a state is written", func(b *spoiled) {
			b.write = func(old, s *engine.State) { lost(field, old, s) }
		})
	}
	must("state", "the digest is read", func(b *spoiled) { b.read = func(_ uint64, s *engine.State) { s.Digest++ } })
	for _, check := range []string{"same", "late"} {
		must(check, "bursts are numbered from 1", func(b *spoiled) { b.step = func(out *engine.Burst) { out.Number++ } })
	}
	must("same", "the last to fire is left out", func(b *spoiled) {
		b.step = func(out *engine.Burst) { out.Fired = out.Fired[:max(1, len(out.Fired))-1] }
	})
	must("same", "the fire queue is turned round", func(b *spoiled) {
		b.step = func(out *engine.Burst) { slices.Reverse(out.Fired) }
	})
	must("same", "the last candidate is left out", func(b *spoiled) {
		b.step = func(out *engine.Burst) { out.Candidates = out.Candidates[:max(1, len(out.Candidates))-1] }
	})
	must("same", "a candidate's sum", func(b *spoiled) {
		b.step = func(out *engine.Burst) {
			for i := range out.Candidates {
				out.Candidates[i].Sum++
			}
		}
	})
	must("values", "the last value", func(b *spoiled) {
		b.step = func(out *engine.Burst) {
			if k := len(out.Values); k > 0 {
				out.Values[k-1]++
			}
		}
	})
	must("want", "candidates nobody asked for", func(b *spoiled) {
		b.step = func(out *engine.Burst) { out.Candidates = append(out.Candidates, engine.Candidate{Sum: 1}) }
	})
	must("unconnected", "one more fires in a larger network", func(b *spoiled) {
		b.step = func(out *engine.Burst) {
			if b.c.Neurons > 132 && !slices.Contains(out.Fired, 0) {
				out.Fired = slices.Insert(out.Fired, 0, 0)
			}
		}
	})
	must("sources", "nobody fires", func(b *spoiled) { b.step = func(out *engine.Burst) { out.Fired = out.Fired[:0] } })
}
