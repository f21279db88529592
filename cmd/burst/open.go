package main

import (
	"time"

	"burst/backend"
	"burst/connectome"
	"burst/engine"
)

// build makes the network, or this process's part of it. Where several devices are to share it, it is planned only: each
// builds its part when it is opened.
func (r *runner) build() (err error) {
	start := time.Now()
	if r.o.others == nil {
		how := connectome.Options{Threads: r.o.threads, MaxBytes: r.o.memory.apply(1), Progress: r.progress.building}
		if r.parts, r.devices, err = r.o.gpus.parts(r.g, r.o.backend, how); err != nil {
			return err
		}
		if r.parts != nil {
			r.c = r.parts.Head()
			return nil
		}
	}
	if r.c, err = r.o.build(r.g, r.progress); err != nil {
		return err
	}
	r.buildTime = time.Since(start)
	r.id, err = r.o.identify(r.c)
	return err
}

// open opens the backend that was asked for; auto says what it took and why.
func (r *runner) open(o backend.Options) (engine.Backend, error) {
	if r.parts != nil {
		return r.openParts(o)
	}
	b, used, why, err := engine.Backend(nil), r.o.backend, "", error(nil)
	if used == "auto" {
		b, used, why, err = backend.Auto(r.c, o)
		r.progress.once("%s: %s", used, why)
	} else {
		b, err = backend.Open(used, r.c, o)
	}
	r.used = used
	return b, err
}

// openParts has the devices build their parts, or all of it for the processor where auto finds that they cannot.
func (r *runner) openParts(o backend.Options) (b engine.Backend, err error) {
	if r.used = r.o.backend; r.used == "auto" {
		var why string
		b, r.c, r.used, why, err = backend.AutoParts(r.parts, o, func() (*connectome.Connectome, error) {
			return r.o.build(r.g, r.progress)
		})
		r.progress.once("%s: %s", r.used, why)
	} else {
		b, r.c, err = backend.OpenParts(r.parts, o)
	}
	if err != nil {
		return nil, err
	}
	r.buildTime, r.id = r.parts.Took(), r.c.Hash()
	return b, nil
}
