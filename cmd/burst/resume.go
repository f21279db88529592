package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"burst/checkpoint"
	"burst/genome"
	"burst/record"

	"github.com/spf13/cobra"
)

func newResumeCommand() *cobra.Command {
	var o runOptions
	cmd := &cobra.Command{
		Use:   "resume FOLDER",
		Short: "Go on with a run that was stopped, killed or failed",
		Long: "resume needs nothing but the run folder: it takes the newest checkpoint that is whole, cuts the recordings there, and\n" +
			"runs the rest, on any backend and any number of threads. Digest, spikes and rates are those of a run that nobody\n" +
			"stopped. Without a checkpoint the run begins anew.",
		Example: "  burst resume runs/quickstart-1\n  burst resume runs/quickstart-1 --backend cpu --threads 8",
		Args:    usage(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			return o.together(cmd.Context(), func() error { return o.resume(cmd, args[0]) })
		},
	}
	f := cmd.Flags()
	f.IntVar(&o.threads, "threads", 0, "threads of the cpu backend and of building (default: all processors)")
	backendFlag(cmd, &o.backend)
	f.Lookup("backend").DefValue = "the run's"
	o.gpus.flags(cmd)
	o.exchangeFlag(cmd)
	f.StringVar(&o.expect, "expect-digest", "", "fail with status 8 unless the run ends with this digest")
	f.BoolVar(&o.json, "json", false, "print the result as JSON; of a run that is complete its manifest")
	f.BoolVar(&o.quiet, "quiet", false, "no progress, and of the result only the digest")
	o.safety(cmd)
	for _, name := range []string{"checkpoint-every", "on-device-fault"} {
		f.Lookup(name).DefValue = "the run's"
	}
	return cmd
}

// resume is the command.
func (o *runOptions) resume(cmd *cobra.Command, dir string) error {
	folder, err := openFolder(dir)
	if err != nil {
		return o.settle(err)
	}
	if err := o.checkExpect(); err != nil {
		return o.settle(err)
	}
	if !o.leads() {
		g, err := o.takeUp(cmd, folder)
		if err != nil {
			return o.settle(err)
		}
		return o.serve(g)
	}
	r := &runner{o: o, out: cmd.OutOrStdout(), progress: newProgress(cmd.ErrOrStderr(), o.quiet)}
	if folder.Manifest.Status != record.Complete {
		if r.hold, err = record.Take(dir); err != nil {
			return o.settle(err)
		}
		defer r.release()
		if folder, err = record.Open(dir); err != nil { // what it says now stays
			return o.settle(err)
		}
	}
	return r.goOn(cmd, folder)
}

// goOn runs the rest of the run in a folder that nobody else writes to.
func (r *runner) goOn(cmd *cobra.Command, folder *record.Folder) (err error) {
	m := &folder.Manifest
	if m.Status == record.Complete {
		_ = r.o.settle(errors.New("the run is complete")) // the others need not serve
		if err := folder.CheckAll(); err != nil {
			return err
		}
		return r.o.already(cmd, r.progress, m)
	}
	if r.g, err = r.o.takeUp(cmd, folder); err != nil {
		return r.o.settle(err)
	}
	if r.start, err = newest(cmd.Context(), folder, r.progress); err != nil {
		return r.o.settle(err)
	}
	r.bursts = m.Planned
	return r.whole(cmd)
}

// takeUp reads the network of a run that goes on, and how it ran.
func (o *runOptions) takeUp(cmd *cobra.Command, folder *record.Folder) (*genome.Genome, error) {
	g, err := folder.Genome()
	if err != nil {
		return nil, err
	}
	o.inherit(cmd, &folder.Manifest)
	return g, errors.Join(o.checkBackend(), o.gpus.check("backend", o.backend), o.checkTogether(), o.checkFault())
}

// already answers for a run that has nothing left to do.
func (o *runOptions) already(cmd *cobra.Command, p *progress, m *record.Manifest) error {
	p.line("the run is complete: %d bursts, %d spikes", m.Bursts, m.Spikes)
	if o.json {
		if err := printJSON(cmd, m); err != nil {
			return err
		}
	} else if _, err := fmt.Fprintln(cmd.OutOrStdout(), m.Digest); err != nil {
		return err
	}
	digest, err := hex.DecodeString(m.Digest)
	if err != nil || len(digest) != 8 {
		return &record.DamagedError{Path: "manifest.json", Reason: fmt.Sprintf("its digest is %q", m.Digest)}
	}
	sum := uint64(0)
	for _, b := range digest {
		sum = sum<<8 | uint64(b)
	}
	return o.compare(sum)
}

// inherit takes from the manifest what no flag says.
func (o *runOptions) inherit(cmd *cobra.Command, m *record.Manifest) {
	given := cmd.Flags().Changed
	if !given("backend") {
		o.backend = m.Backend
	}
	if !given("checkpoint-every") {
		o.every = m.Options.CheckpointEvery
	}
	if !given("on-device-fault") && m.Options.OnDeviceFault != "" {
		o.onFault = m.Options.OnDeviceFault
	}
	o.keep.record, o.realtime = m.Options.Record, m.Options.RealTime
}

// newest finds where a run goes on: at its newest whole checkpoint, else where it began.
func newest(ctx context.Context, f *record.Folder, p *progress) (*start, error) {
	c, path, skipped, err := checkpoint.Newest(diskOf(ctx), filepath.Join(f.Dir, checkpointFolder))
	if err != nil {
		return nil, err
	}
	if c == nil {
		begin, err := origin(ctx, f)
		if err != nil {
			return nil, err
		}
		p.line("no checkpoint yet: the run begins anew")
		if begin == nil {
			begin = &start{}
		} else {
			begin.saved.Activity, begin.saved.Recordings = nil, nil // of the run that it came from
		}
		begin.folder = f
		return begin, nil
	}
	if got := hex.EncodeToString(c.Genome[:]); got != f.Manifest.GenomeSHA256 || c.RunSeed != f.Manifest.RunSeed {
		return nil, &checkpoint.DamagedError{Path: path, Section: "header", Reason: fmt.Sprintf("is of genome %s with run seed %d, the manifest says %s with %d", got, c.RunSeed, f.Manifest.GenomeSHA256, f.Manifest.RunSeed)}
	}
	if err := checkpoint.SetAside(diskOf(ctx), path); err != nil {
		return nil, err
	}
	for _, err := range skipped {
		p.line("not used, and renamed to *%s: %v", checkpoint.Damaged, err)
	}
	p.line("going on after burst %d, from %s", c.State.Number, path)
	return &start{path: path, saved: c, folder: f}, nil
}

// origin is the checkpoint that a run began from; nil for one that began at burst 0.
func origin(ctx context.Context, f *record.Folder) (*start, error) {
	if f.Manifest.From == nil {
		return nil, nil
	}
	path := filepath.Join(f.Dir, fromFile)
	if err := f.Check(fromFile); err != nil {
		return nil, err
	}
	c, err := checkpoint.Read(diskOf(ctx), path)
	if err != nil {
		return nil, err
	}
	return &start{path: path, saved: c}, nil
}

// branch reads --from; the run's seed is the checkpoint's unless another is given. One that the genome names is neither ignored
// nor taken for a wish.
func (o *runOptions) branch(cmd *cobra.Command, g *genome.Genome) (*start, error) {
	if o.from == "" {
		return nil, nil
	}
	c, err := checkpoint.Read(diskOf(cmd.Context()), o.from)
	if err != nil {
		return nil, err
	}
	if !cmd.Flags().Changed("run-seed") {
		if g.OwnRunSeed && g.RunSeed != c.RunSeed {
			return nil, usageError{fmt.Errorf("--from %s was saved with run seed %d, the genome has %d; add --run-seed %[2]d for the same future, or --run-seed %[3]d for another", o.from, c.RunSeed, g.RunSeed)}
		}
		g.RunSeed = c.RunSeed
	}
	return &start{path: o.from, saved: c}, nil
}

// room refuses a run beyond the last burst that a run can have.
func (s *start) room(bursts uint64) error {
	first := uint64(0)
	if s != nil {
		first = s.saved.State.Number
	}
	if most := record.MostBursts - min(first, record.MostBursts); bursts > most {
		return usageError{fmt.Errorf("%d bursts from burst %d on, want at most %d", bursts, first, most)}
	}
	return nil
}

// checkStart works out where the run begins, and refuses a checkpoint of another network.
func (r *runner) checkStart() error {
	if r.start == nil || r.start.saved == nil {
		return nil
	}
	s := r.start.saved
	if s.Connectome != r.id {
		return &checkpoint.DamagedError{Path: r.start.path, Section: "header", Reason: fmt.Sprintf("is of the network %016x, genome and seed make %016x; want those that it was saved with", s.Connectome, r.id)}
	}
	r.began, r.first = s.State.Number, s.State.Number
	if f := r.start.folder; f != nil {
		r.first = f.Manifest.First
		if r.began < r.first || r.began > r.first+r.bursts {
			return &checkpoint.DamagedError{Path: r.start.path, Section: "header", Reason: fmt.Sprintf("is of burst %d, the manifest says that the run goes from %d to %d", r.began, r.first, r.first+r.bursts)}
		}
	}
	return nil
}

// restore puts a new engine, and the counts, where the run begins.
func (r *runner) restore() error {
	if r.start == nil || r.start.saved == nil {
		return nil
	}
	s := r.start.saved
	if err := s.State.Check(r.c); err != nil {
		return &checkpoint.DamagedError{Path: r.start.path, Section: "state", Reason: err.Error()}
	}
	if err := r.engine.Restore(&s.State); err != nil {
		return err
	}
	if r.start.folder == nil || s.Activity == nil {
		return nil
	}
	if err := r.activity.Restore(s.Activity); err != nil {
		return &checkpoint.DamagedError{Path: r.start.path, Section: "activity", Reason: err.Error()}
	}
	return nil
}

// offsets are how far the recordings of a run that goes on were.
func (s *start) offsets() map[string]record.Offset {
	at := map[string]record.Offset{}
	if s.saved != nil {
		for _, r := range s.saved.Recordings {
			at[r.Table] = record.Offset{Bytes: r.Bytes, Rows: r.Rows, Burst: r.Burst, Sums: r.Sums, SumsHash: r.SumsHash}
		}
	}
	return at
}

// resumed tells the manifest of a run that goes on.
func (r *runner) resumed(m *record.Manifest) {
	m.Resumed = append(m.Resumed, record.Resumed{Burst: r.began, Backend: r.used, Device: r.device, Threads: r.o.threadCount(), Started: time.Now().UTC()})
	m.Backend, m.Device, m.Threads = r.used, r.device, r.o.threadCount()
	m.Options.CheckpointEvery, m.Options.OnDeviceFault = r.o.every, r.o.onFault
}

// copyStart keeps the checkpoint that a run begins from in its folder.
func (r *runner) copyStart(dir string, m *record.Manifest) error {
	if r.start == nil {
		return nil
	}
	s := r.start.saved
	path := filepath.Join(dir, fromFile)
	if err := checkpoint.SaveAs(r.disk, path, s); err != nil {
		return err
	}
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	h := sha256.New()
	n, err := io.Copy(h, f)
	if err != nil {
		return err
	}
	m.From = &record.Origin{File: record.File{Path: fromFile, Bytes: n, SHA256: hex.EncodeToString(h.Sum(nil))}, Burst: s.State.Number, RunSeed: s.RunSeed}
	return nil
}
