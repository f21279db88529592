package run

import (
	"cmp"
	"fmt"
	"os"
	"strings"

	"burst/backend/cuda"
	"burst/engine"
	"burst/internal/exchange"
)

// takeGPU chooses, before anything is built, the GPU of this process: the one that the options name, or one that no other
// process uses. All processes must call it.
func (o *Options) takeGPU() (err error) {
	p := o.Peers
	if p == nil || o.Backend != "cuda" {
		return nil
	}
	process := p.Exchange.Part().Index
	var choice []cuda.DeviceInfo
	if o.GPUs.named() {
		p.gpu, err = o.GPUs.turn(process)
	} else {
		choice, err = usableGPUs()
	}
	if err = p.Settle(err); err != nil {
		return err
	}
	all, err := p.Exchange.Allgather(p.look(choice).words())
	if err != nil {
		return err
	}
	sights := make([]sight, len(all))
	for i, words := range all {
		sights[i] = readSight(words)
	}
	taken, err := dealGPUs(sights)
	switch {
	case err != nil && p.Leads():
		return err
	case err != nil:
		return ErrServed // the leader has the same error
	case len(choice) > 0:
		p.gpu = choice[taken[process]].Index
	}
	return nil
}

// usableGPUs are those that this process can use, at least one.
func usableGPUs() ([]cuda.DeviceInfo, error) {
	found, err := cuda.Visible()
	if err != nil {
		return nil, err
	}
	var list []cuda.DeviceInfo
	why := "the driver shows none"
	for _, d := range found {
		if d.Usable {
			list = append(list, d)
		} else {
			why = d.Why
		}
	}
	if len(list) == 0 {
		return nil, fmt.Errorf("%w: %s", engine.ErrUnavailable, why)
	}
	return list, nil
}

// sight is what a process tells the others about the GPUs that it may use.
type sight struct {
	host string   // the number of the first part there
	name string   // the host's
	gpus []string // what each is called whatever its number in this process; none where the user named one
}

// look is this process's sight.
func (p *Peers) look(choice []cuda.DeviceInfo) sight {
	s := sight{host: fmt.Sprint(p.Host[0]), name: "one host"}
	if name, err := os.Hostname(); err == nil {
		s.name = name
	}
	for _, d := range choice {
		s.gpus = append(s.gpus, cmp.Or(d.UUID, d.PCI, fmt.Sprint("device ", d.Index)))
	}
	return s
}

func (s sight) words() []uint32 {
	return exchange.TextWords(strings.Join(append([]string{s.host, s.name}, s.gpus...), "\n"))
}

func readSight(words []uint32) sight {
	lines := strings.Split(exchange.WordsText(words), "\n")
	return sight{lines[0], lines[1], lines[2:]}
}

// dealGPUs gives each process that has a choice one of its GPUs, as an index of its list. No two processes of a host get the
// same one. The error names the first host that has too few.
func dealGPUs(all []sight) (taken []int, err error) {
	taken = make([]int, len(all))
	hosts := map[string][]int{} // processes that have a choice
	for i, s := range all {
		if len(s.gpus) > 0 {
			hosts[s.host] = append(hosts[s.host], i)
		}
	}
	for i, s := range all {
		processes := hosts[s.host]
		if len(processes) == 0 || processes[0] != i {
			continue // each host once
		}
		sees := make([][]string, len(processes))
		for rank, process := range processes {
			sees[rank] = all[process].gpus
		}
		own, enough := assign(sees)
		if enough < len(processes) {
			return nil, tooFewGPUs(s.name, sees, enough)
		}
		for rank, process := range processes {
			taken[process] = own[rank]
		}
	}
	return taken, nil
}

// assign gives each process of a host one of the GPUs that it sees, as an index of its list, and no GPU to two processes. If
// all see the same list, the r-th process gets the r-th GPU. As many processes as possible get one, the others −1.
func assign(sees [][]string) (own []int, enough int) {
	own = make([]int, len(sees))
	holder := map[string]int{}
	var find func(process int, asked map[string]bool) bool
	find = func(process int, asked map[string]bool) bool {
		for i, gpu := range sees[process] {
			if _, taken := holder[gpu]; !taken {
				own[process], holder[gpu] = i, process
				return true
			}
		}
		for i, gpu := range sees[process] { // or one whose holder finds another
			if asked[gpu] {
				continue
			}
			asked[gpu] = true
			if find(holder[gpu], asked) {
				own[process], holder[gpu] = i, process
				return true
			}
		}
		return false
	}
	for process := range sees {
		own[process] = -1
		if find(process, map[string]bool{}) {
			enough++
		}
	}
	return own, enough
}

// tooFewGPUs is the error for more processes than GPUs on a host.
func tooFewGPUs(host string, sees [][]string, enough int) error {
	seen := map[string]bool{}
	for _, list := range sees {
		for _, gpu := range list {
			seen[gpu] = true
		}
	}
	return fmt.Errorf("%w: %d processes on %s want a GPU each, and see %d in all, enough for %d; start no more than %d there, or let them share on purpose: --devices all",
		engine.ErrUnavailable, len(sees), host, len(seen), enough, enough)
}
