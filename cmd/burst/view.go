package main

import (
	"context"
	"errors"
	"fmt"
	"io"

	"burst/run"
	"burst/serve"

	"github.com/spf13/cobra"
)

// viewOptions are the flags of `burst view`.
type viewOptions struct {
	rate   string
	paused bool
	listen string
}

func newViewCommand() *cobra.Command {
	var o viewOptions
	cmd := &cobra.Command{
		Use:   "view FOLDER [FOLDER]",
		Short: "Show recorded runs in a browser, and to programs, as if they went on",
		Long: "view shows a run's recorded spikes on a page (docs/page.md). Open the control address that it prints in a browser of this\n" +
			"machine: there the run can be played, paused, and taken to any burst. Programs do the same by the frames and routes of\n" +
			"`burst serve` (docs/live.md). Two runs of one network are shown side by side, with the first spike in which they differ; the\n" +
			"routes of the second lie below /beside.",
		Example: "  burst view runs/quickstart-1 --rate 100",
		Args:    usage(cobra.RangeArgs(1, 2)),
		RunE:    func(cmd *cobra.Command, args []string) error { return o.run(cmd, args) },
	}
	f := cmd.Flags()
	f.StringVar(&o.rate, "rate", "", "bursts to play in a second, such as 100Hz (default: in the time of the network)")
	f.BoolVar(&o.paused, "paused", false, "begin paused")
	f.StringVar(&o.listen, "listen", "", "loopback address (default: 127.0.0.1:0, a free port)")
	return cmd
}

// run is the command.
func (o *viewOptions) run(cmd *cobra.Command, folders []string) error {
	if err := o.check(); err != nil {
		return err
	}
	p := newProgress(cmd.ErrOrStderr(), false)
	var servers []*serve.Server
	for _, dir := range folders {
		if _, err := lookInto(cmd, dir); err != nil {
			return errors.Join(err, closeServers(servers))
		}
		so := serve.Options{Listen: o.listen, Paused: o.paused, Tell: func(text string) { p.line("%s", text) }}
		so.Rate = o.rate
		if len(servers) > 0 {
			so.Listen, so.Beside = "", servers[0]
		}
		s, err := serve.View(dir, so)
		if err != nil {
			return errors.Join(err, closeServers(servers))
		}
		servers = append(servers, s)
	}
	ctx, _ := catchSignals(cmd.Context(), nil)
	for _, s := range servers {
		printAddresses(cmd.OutOrStdout(), s)
	}
	p.line("open an address in a browser; Ctrl-C ends")
	return serveAll(ctx, servers)
}

// check refuses flags before anything is opened.
func (o *viewOptions) check() error {
	if _, err := run.ParseRate(o.rate); err != nil {
		return usageError{fmt.Errorf("--rate %w", err)}
	}
	if o.listen == "" {
		return nil
	}
	return checkListen(o.listen)
}

// serveAll serves until ctx ends, or one of the servers does.
func serveAll(ctx context.Context, servers []*serve.Server) error {
	ctx, end := context.WithCancel(ctx)
	defer end()
	done := make(chan error, len(servers))
	for _, s := range servers {
		go func() {
			defer end()
			done <- s.Serve(ctx)
		}()
	}
	var errs []error
	for range servers {
		errs = append(errs, <-done)
	}
	return errors.Join(errs...)
}

func closeServers(servers []*serve.Server) error {
	var errs []error
	for _, s := range servers {
		errs = append(errs, s.Close())
	}
	return errors.Join(errs...)
}

// printAddresses tells where a server can be reached over HTTP, in lines that programs can read.
func printAddresses(out io.Writer, s *serve.Server) {
	if view, control := s.Addresses(); view != "" {
		fmt.Fprintf(out, "view %s\ncontrol %s\n", view, control)
	}
}

// viewing is a run that `burst run --view` shows.
type viewing struct {
	serve.Watch
	server *serve.Server
	end    context.CancelFunc
	done   chan error
}

// open opens the addresses of a run and prints them.
func (v *viewing) open(r *runner) error {
	var err error
	if v.server, err = v.Open(r.Run, serve.Options{Tell: func(text string) { r.progress.line("%s", text) }}); err != nil {
		return err
	}
	ctx, end := context.WithCancel(context.Background())
	v.end, v.done = end, make(chan error, 1)
	go func() { v.done <- v.server.Serve(ctx) }()
	view, _ := v.server.Addresses()
	r.progress.line("view %s\nopen it in a browser; `burst view` shows the run when it has ended", view)
	return nil
}

// close ends it.
func (v *viewing) close() error {
	if v.server == nil {
		return nil
	}
	v.end()
	return <-v.done
}
