package run

import (
	"runtime"
	"time"

	"burst/backend"
	"burst/backend/cuda"
	"burst/connectome"
	"burst/engine"
	"burst/genome"
	"burst/record"
)

// build makes the network, or this process's part of it. If several devices share the network, build only plans it: each device builds its
// part when it is opened.
func (r *Run) build(maker *cuda.Maker) (err error) {
	start, o := time.Now(), &r.o
	if n := o.Network; n != nil {
		r.Connectome, r.ID, r.Wiring = n.c.Reseeded(r.Genome.RunSeed), n.id, n.wiring
		return nil
	}
	how := o.building(r.Genome, maker)
	if o.Peers == nil {
		if r.parts, r.o.GPUs.List, err = o.GPUs.Parts(r.Genome, o.Backend, how); err != nil {
			return err
		}
		if n := r.parts; n != nil && maker != nil && o.GPUs.Build == OnEither {
			if by := BuiltBy(&connectome.Outlook{Least: n.Least(connectome.Part{})}); by.Where == "host" {
				r.Builder = &by
				return r.build(nil)
			}
		}
		if r.parts != nil {
			r.Connectome = r.parts.Head()
			r.times.Plan += time.Since(start)
			return nil
		}
	}
	told, planned := how.Progress, start
	how.Progress = func(done, total uint64) {
		if total == 0 && planned.Equal(start) {
			planned = time.Now()
			r.emit(Began{"building"})
		}
		if told != nil {
			told(done, total)
		}
	}
	if r.Connectome, r.ID, r.Wiring, err = o.Peers.build(r.Genome, how); err != nil {
		return err
	}
	r.times.Plan += planned.Sub(start)
	r.times.Build += time.Since(planned)
	return nil
}

// buildOr is build by a maker, or by the host where GPUs do not build the network.
func (r *Run) buildOr(maker *cuda.Maker) error {
	err := r.build(maker)
	if why := r.o.notOnDevice(err); why != "" {
		r.Builder = &Builder{"host", why}
		return r.build(nil)
	}
	return err
}

// openOr is openBackend. Where it finds that the GPUs have no room to build, the host does.
func (r *Run) openOr(o backend.Options) error {
	err := r.openBackend(o)
	why := r.o.notOnDevice(err)
	if why == "" {
		return err
	}
	o.Maker, r.parts, r.Builder = nil, nil, &Builder{"host", why}
	if err := r.build(nil); err != nil {
		return err
	}
	return r.openBackend(o)
}

// building is how the network of g is built, by a maker where there is one.
func (o *Options) building(g *genome.Genome, m *cuda.Maker) connectome.Options {
	how := connectome.Options{Threads: o.Threads, MaxBytes: o.MaxBytes}
	if o.Peers == nil { // else makePlan of the leader, for only that knows what to record
		how.Planned = func(c *connectome.Connectome) error { return planError(record.Check(g, c, o.Record)) }
	}
	if m != nil {
		how.Maker = m
	}
	if o.Tell != nil {
		how.Progress = func(done, total uint64) { o.Tell(Building{done, total}) }
	}
	return how
}

// backendOptions are the options to open this process's part with. If there are other processes, all of them call it after building, and
// agree on how fire queues are exchanged.
func (o *Options) backendOptions() (backend.Options, error) {
	b := backend.Options{Threads: o.Threads, Devices: o.GPUs.List, MaxBytes: o.MaxBytes, Beside: o.GPUs.Beside}
	if o.Peers == nil {
		return b, nil
	}
	return b, o.Peers.meet(o, &b)
}

// want says what the backend is asked for.
func (r *Run) want() engine.Want {
	w := r.plan.Want()
	w.Stimuli = len(r.o.Sources) > 0
	return w
}

// makePlan says what to record; where there is no folder, state variables alone are delivered that the options name.
func (r *Run) makePlan() error {
	p, note, err := record.NewPlan(r.Genome, r.Connectome, r.o.Record)
	if err != nil {
		return planError(err)
	}
	if !r.keeps() {
		if len(r.o.Record) > 0 {
			r.plan = record.Plan{Values: p.Values, Rest: p.Rest}
		}
		return nil
	}
	r.plan = p
	if r.plan.Weights.Every == 0 {
		r.plan.Weights.Every = record.DefaultEvery(r.Connectome, r.Planned)
	}
	if note != "" {
		r.emit(RecordsPart{note})
	}
	return nil
}

// PlanError is a mistake in Options.Record. It shows once the network is planned, or, where more is asked for than can be kept, built.
type PlanError struct{ Err error }

func (e *PlanError) Error() string { return "record " + e.Err.Error() }

// Unwrap is what package record said.
func (e *PlanError) Unwrap() error { return e.Err }

// planError is the PlanError of err, if there is one.
func planError(err error) error {
	if err == nil {
		return nil
	}
	return &PlanError{err}
}

// openBackend opens the backend that was asked for; auto tells what it took and why.
func (r *Run) openBackend(o backend.Options) (err error) {
	r.Backend = r.o.Backend
	r.emit(Began{"opening"})
	why := ""
	switch {
	case r.o.Network != nil:
		r.backend, r.Backend, why, err = r.o.Network.open(r.Backend, r.Connectome, o)
	case r.parts != nil:
		why, err = r.openParts(o)
	case r.Backend == "auto":
		r.backend, r.Backend, why, err = backend.Auto(r.Connectome, o)
	default:
		r.backend, err = backend.Open(r.Backend, r.Connectome, o)
	}
	if why != "" {
		r.emit(Took{r.Backend, why})
	}
	if err == nil {
		r.times.Upload += backend.Uploading(r.backend)
	}
	return err
}

// openParts has the devices build their parts, or the host all of it where auto finds that they cannot.
func (r *Run) openParts(o backend.Options) (why string, err error) {
	if r.Backend == "auto" {
		r.backend, r.Connectome, r.Backend, why, err = backend.AutoParts(r.parts, o, func() (*connectome.Connectome, error) {
			return connectome.Build(r.Genome, r.o.building(r.Genome, nil))
		})
	} else {
		r.backend, r.Connectome, err = backend.OpenParts(r.parts, o)
	}
	if err != nil {
		return why, err
	}
	r.times.Build += max(0, r.parts.Took()-r.times.Plan) // which Took includes
	switch {
	case o.Maker == nil || r.Backend != "cuda":
	case r.parts.Kept():
		r.Builder = &Builder{"device", "the synapses stay there"}
	default:
		r.Builder = &Builder{"device", "the synapses came back, and the host packed them"}
	}
	r.ID = r.Connectome.Hash()
	r.Wiring = r.Connectome.Wiring(r.ID)
	return why, nil
}

// threads is the number of threads that n of the options stands for.
func threads(n int) int {
	if n == 0 {
		return runtime.GOMAXPROCS(0)
	}
	return n
}
