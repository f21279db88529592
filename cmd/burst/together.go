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
	"burst/backend/split"
	"burst/connectome"
	"burst/exchange"
	"burst/exchange/mpi"
	"burst/genome"

	"github.com/spf13/cobra"
)

// exchangeKey is the key of a context's func(exchange.Exchange) exchange.Exchange, by which tests make an exchange fail.
type exchangeKey struct{}

// together joins the processes that mpirun or srun has started for one run, if this is one of them. Each holds a part of the
// network. The first leads: it alone reads checkpoints, records, writes and reports; the others serve it, and say nothing,
// for it tells their errors as well.
func (o *runOptions) together(ctx context.Context, run func() error) error {
	if mpi.Launched(os.Getenv) == 1 {
		return run()
	}
	w, err := mpi.Connect()
	if err != nil {
		return err
	}
	o.wrap = func(x exchange.Exchange) exchange.Exchange { return x }
	if wrap, ok := ctx.Value(exchangeKey{}).(func(exchange.Exchange) exchange.Exchange); ok {
		o.wrap = wrap
	}
	l, err := newLookout(o.wrap(w))
	if err != nil {
		return errors.Join(err, w.Close())
	}
	stop := l.watch(l.giveUp)
	o.control, o.others, o.host = w, l, w.Host()
	if o.threads == 0 {
		o.threads = max(1, runtime.GOMAXPROCS(0)/len(o.host))
	}
	if err = run(); errors.Is(err, errServed) {
		err = nil
	}
	stop() // parts that have closed may be gone
	return errors.Join(err, o.others.Close())
}

// errServed ends a process that only serves: the leader knows how the run ended.
var errServed = errors.New("told by the leader")

// leads says that this process is the only one or the first.
func (o *runOptions) leads() bool { return o.others == nil || o.others.Part().Index == 0 }

// settle lets no process go on where one has an error. All call it at the same points: before building, and after.
func (o *runOptions) settle(err error) error {
	if o.others == nil {
		return err
	}
	if errors.Is(err, connectome.ErrElsewhere) {
		err = nil // the part that failed says why
	}
	err = exchange.Settle(o.others, err)
	if err != nil && !o.leads() {
		return errServed
	}
	return err
}

// serve does the leader's bidding with this process's part of g.
func (o *runOptions) serve(g *genome.Genome) error {
	if err := o.settle(nil); err != nil {
		return err
	}
	if err := o.takeGPU(); err != nil {
		return err
	}
	c, err := o.build(g, newProgress(io.Discard, true))
	if err != nil {
		return err
	}
	if _, err := o.identify(c); err != nil {
		return err
	}
	signal.Ignore(os.Interrupt, syscall.SIGTERM) // the leader decides what they mean
	options, err := o.meet(newProgress(io.Discard, true))
	if err != nil {
		return err
	}
	err = split.Serve(c, o.others, backend.PartOf(partBackend(o.backend), options))
	if err != nil && o.via == byMPI { // what NCCL joins tells the leader before it leaves
		return err
	}
	return errServed
}

// partBackend is the backend of a part when name was asked for.
func partBackend(name string) string {
	if name == "auto" {
		return "cpu"
	}
	return name
}

// build makes the connectome, or this process's part of it.
func (o *runOptions) build(g *genome.Genome, p *progress) (*connectome.Connectome, error) {
	if o.others == nil {
		return build(g, o.threads, o.memory, p)
	}
	limit := o.memory.apply(len(o.host))
	if limit == 0 {
		limit = connectome.AvailableMemory() / uint64(len(o.host))
	}
	c, err := connectome.Build(g, connectome.Options{
		Threads: o.threads, MaxBytes: limit, Progress: p.building, Part: o.others.Part(), Gather: o.others.Gather,
	})
	return c, o.settle(err)
}

// identify gives the hash of the whole connectome of which c may be this process's part.
func (o *runOptions) identify(c *connectome.Connectome) (uint64, error) {
	if o.others == nil {
		return c.Hash(), nil
	}
	return exchange.Sum(o.others, c.Hash())
}

// checkTogether refuses what several processes cannot do.
func (o *runOptions) checkTogether() error {
	switch {
	case !slices.Contains(exchanges, o.exchange):
		return checkChoice("--exchange", o.exchange, exchanges)
	case o.others == nil:
		return nil
	case o.exchange == viaNCCL && o.backend != "cuda":
		return usageError{fmt.Errorf("--exchange nccl joins GPUs, and the backend is %s; add --backend cuda", o.backend)}
	case o.sweep != "":
		return usageError{errors.New("--seeds is for one process; start a run with each --seed instead")}
	case o.onFault != "" && o.onFault != faultStop:
		return usageError{fmt.Errorf("--on-device-fault %s is for one process; several stop, and mpirun … burst resume goes on", o.onFault)}
	}
	return nil
}

// checkAlone refuses a command that several processes would only repeat.
func checkAlone(cmd *cobra.Command) error {
	switch n := mpi.Launched(os.Getenv); {
	case n == 1, cmd.Name() == "run", cmd.Name() == "resume", cmd.Name() == "replay":
		return nil
	default:
		return usageError{fmt.Errorf("burst %s is for one process, %d were started; only run, resume and replay share a network among several", cmd.Name(), n)}
	}
}
