package run

import (
	"errors"
	"strings"

	"burst/backend"
	"burst/connectome"
	"burst/genome"
	"burst/internal/exchange"
	"burst/internal/exchange/nccl"
	"burst/internal/split"
)

// How processes exchange who fired.
const (
	ViaAuto = "auto" // through NCCL where each process has a GPU of its own, else through MPI
	ViaMPI  = "mpi"
	ViaNCCL = "nccl"
)

// byMPI is what is said of processes that gather through MPI; of NCCL the version is.
const byMPI = "MPI"

// Peers are processes that share a network; each has one part. All open the same genome with the same options. The first
// process is the leader and calls New or Resume; the others call Serve. Only the leader reads checkpoints, records, writes
// files and reports errors, also those of the others. A nil Peers means a single process.
type Peers struct {
	Exchange backend.Exchange                        // between all of them; later what has taken its place
	Control  Control                                 // the same, for what is beside fire queues
	Host     []int                                   // the parts on this one's host, with this one
	Via      string                                  // ViaAuto, ViaMPI or ViaNCCL
	Wrap     func(backend.Exchange) backend.Exchange // wraps the exchange that takes Exchange's place; may be nil

	via string // what Via has come to
	gpu int    // of this part
}

// Control is a second connection of the processes. NCCL is joined by it, and it tells who has left, which NCCL does not.
type Control interface {
	backend.Exchange
	// Leave tells every other part, once, that this one leaves. cause is this part's own error; nil: it has none.
	Leave(cause error) error
	// Left lists the other parts that have left, in the order in which that became known here, and the text of each one's
	// cause: empty if it ended without an error, or because another part failed. It does not wait.
	Left() (parts []int, causes []string, err error)
}

// ErrServed is the error of a process that does not lead. The leader reports how the run ended.
var ErrServed = errors.New("told by the leader")

// Leads reports whether this process is the first or the only one.
func (p *Peers) Leads() bool { return p == nil || p.Exchange.Part().Index == 0 }

// Settle shares errors: if one process has an error, it returns an error in every process. All processes must call it at the
// same points; New, Resume and Serve do so before and after building.
func (p *Peers) Settle(err error) error {
	if p == nil {
		return err
	}
	if errors.Is(err, connectome.ErrElsewhere) {
		err = nil // the process that failed reports why
	}
	err = exchange.Settle(p.Exchange, err)
	if err != nil && !p.Leads() {
		return ErrServed
	}
	return err
}

// Serve builds this process's part of g and follows the leader until the run ends. It calls ready when the part is built.
// The error is ErrServed if the leader reports it.
func Serve(g *genome.Genome, o Options, ready func()) error {
	p := o.Peers
	if err := p.Settle(nil); err != nil {
		return err
	}
	if err := o.takeGPU(); err != nil {
		return err
	}
	c, _, _, err := p.build(g, o.building(g, nil))
	if err != nil {
		return err
	}
	ready()
	options, err := o.backendOptions()
	if err != nil {
		return err
	}
	err = backend.Serve(partBackend(o.Backend), c, options)
	if err != nil && p.via == byMPI { // what NCCL joins tells the leader before it leaves
		return err
	}
	return ErrServed
}

// partBackend is the backend for a part if the options ask for name.
func partBackend(name string) string {
	if name == "auto" || name == "" {
		return "cpu"
	}
	return name
}

// build makes the connectome or this process's part of it, and returns the hash of the whole and that of its wiring.
func (p *Peers) build(g *genome.Genome, o connectome.Options) (c *connectome.Connectome, id, wiring uint64, err error) {
	if p == nil {
		if c, err = connectome.Build(g, o); err != nil {
			return nil, 0, 0, err
		}
		id = c.Hash()
		return c, id, c.Wiring(id), nil
	}
	if o.MaxBytes == 0 {
		o.MaxBytes = connectome.AvailableMemory() / uint64(len(p.Host))
	}
	o.Part, o.Allgather = p.Exchange.Part(), p.Exchange.Allgather
	c, err = connectome.Build(g, o)
	if err = p.Settle(err); err != nil {
		return nil, 0, 0, err
	}
	own := c.Hash()
	if id, err = exchange.Sum(p.Exchange, own); err == nil {
		wiring, err = exchange.Sum(p.Exchange, c.Wiring(own))
	}
	return c, id, wiring, err
}

// meet chooses how fire queues are exchanged, the same way in all processes, and returns how this process's part is opened.
func (p *Peers) meet(o *Options, b *backend.Options) error {
	b.Device, b.Devices, b.Others, b.Sharers = p.gpu, nil, p.Exchange, len(p.Host)
	p.via = byMPI
	if p.Via == ViaMPI || o.Backend != "cuda" {
		return nil
	}
	x, err := nccl.Connect(p.Control, p.gpu)
	switch {
	case err == nil:
		p.via, p.Exchange = "NCCL "+x.Version(), x
		if p.Wrap != nil {
			p.Exchange = p.Wrap(x)
		}
		b.Others = p.Exchange
		return nil
	case errors.Is(err, nccl.ErrUnavailable) && p.Via != ViaNCCL:
		if o.Tell != nil && p.Leads() {
			o.Tell(ThroughMPI{strings.ReplaceAll(err.Error(), "\n", "; ")})
		}
		return nil
	case !p.Leads():
		return ErrServed // the leader has the same error
	}
	return err
}

// dismiss tells the other processes, before a backend is opened, that there is nothing to run.
func (p *Peers) dismiss() { split.Dismiss(p.Exchange) }

// joined names what the parts run on, and how they are joined.
func (p *Peers) joined(device string) string {
	if p == nil {
		return device
	}
	return device + " joined by " + p.via
}

// name is the way the processes exchange spikes; "" for a single process.
func (p *Peers) name() string {
	if p == nil {
		return ""
	}
	return p.via
}
