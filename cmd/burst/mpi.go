package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime"
	"slices"
	"syscall"

	"burst/backend"
	"burst/genome"
	"burst/internal/exchange/mpi"
	"burst/run"

	"github.com/spf13/cobra"
)

// exchangeKey is the key of a context's func(backend.Exchange) backend.Exchange, by which tests make an exchange fail.
type exchangeKey struct{}

// underMPI calls work. If mpirun or srun has started this process as one of several, it first joins the others: each process
// holds a part of the network. The first process leads. It alone reads checkpoints, records, writes and reports, also the
// errors of the others.
func (o *runOptions) underMPI(ctx context.Context, work func() error) error {
	if mpi.Launched(os.Getenv) == 1 {
		return work()
	}
	w, err := mpi.Connect()
	if err != nil {
		return err
	}
	x, wrap := backend.Exchange(w), ctx.Value(exchangeKey{})
	peers := &run.Peers{Control: w, Host: w.Host()}
	if wrap, ok := wrap.(func(backend.Exchange) backend.Exchange); ok {
		x, peers.Wrap = wrap(x), wrap
	}
	dog, err := newWatchdog(x)
	if err != nil {
		return errors.Join(err, w.Close())
	}
	stop := dog.watch(dog.giveUp)
	peers.Exchange, peers.Via = dog, o.exchange
	o.peers = peers
	if o.threads == 0 {
		o.threads = max(1, runtime.GOMAXPROCS(0)/len(peers.Host))
	}
	if err = work(); errors.Is(err, run.ErrServed) {
		err = nil
	}
	stop() // parts that have closed may be gone
	return errors.Join(err, peers.Exchange.Close())
}

// serve has this process's part of g do what the leader tells it.
func (o *runOptions) serve(ctx context.Context, g *genome.Genome) error {
	return run.Serve(g, o.settings(ctx, newProgress(io.Discard, true)), func() {
		signal.Ignore(os.Interrupt, syscall.SIGTERM) // the leader decides what they mean
	})
}

// checkMPI refuses what several processes cannot do.
func (o *runOptions) checkMPI() error {
	switch {
	case !slices.Contains(exchanges, o.exchange):
		return checkChoice("--exchange", o.exchange, exchanges)
	case o.peers == nil:
		return nil
	case o.exchange == run.ViaNCCL && o.backend != "cuda":
		return usageError{fmt.Errorf("--exchange nccl needs the cuda backend, but the backend is %s; add --backend cuda", o.backend)}
	case o.sweeping.asked():
		return usageError{errors.New("--sweep, --seeds and --trials are for one process; start a run with each --set, --seed or --run-seed instead")}
	case o.onFault != "" && o.onFault != faultStop:
		return usageError{fmt.Errorf("--on-device-fault %s is for one process; several stop, and mpirun … burst resume goes on", o.onFault)}
	}
	return nil
}

// checkAlone refuses a command that several processes would only repeat.
func checkAlone(cmd *cobra.Command) error {
	switch n := mpi.Launched(os.Getenv); {
	case n > 1 && cmd.Flags().Changed("view"):
		return usageError{fmt.Errorf("--view is for one process, %d were started; it may use several GPUs", n)}
	case n == 1, cmd.Name() == "run", cmd.Name() == "resume", cmd.Name() == "replay":
		return nil
	default:
		return usageError{fmt.Errorf("burst %s is for one process, %d were started; only run, resume and replay share a network among several", cmd.Name(), n)}
	}
}
