package run

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"burst/backend"
	"burst/connectome"
	"burst/engine"
	"burst/genome"
)

// Change is a change of drives and stimuli that has been proved and can be made.
type Change struct {
	Connectome *connectome.Connectome // with the new drives and stimuli
	genome     *genome.Genome
}

// Plan reads a change of drives and stimuli, given as settings of genome.With, and proves that no sum can leave int32 with it. Only
// areas.NAME.drive, stimuli.N and run_seed can change during a run.
func (r *Run) Plan(settings []string) (*Change, error) {
	if r.parts != nil {
		return nil, errors.New("run: GPUs alone hold the network, which is not kept to open them anew; want one GPU and a network that the host has built, or the cpu backend, to change drives")
	}
	if len(settings) == 0 {
		return nil, errors.New("run: no settings, want some such as areas.NAME.drive.poisson.rate=20Hz")
	}
	reseeds := false
	for _, s := range settings {
		seeds := strings.HasPrefix(s, "run_seed=")
		if reseeds = reseeds || seeds; !seeds && !changes(r.Genome, s) {
			return nil, fmt.Errorf("run: %s: only drives, stimuli and the run seed can change in a run, want areas.NAME.drive…, stimuli.N… or run_seed=N", s)
		}
	}
	before, c := r.Genome, r.Connectome
	if r.changed != nil {
		before, c = r.changed.genome, r.changed.Connectome
	}
	g, err := before.With(settings)
	if err != nil {
		return nil, err
	}
	made, err := c.Redriven(before, g, r.o.Threads)
	if err != nil {
		return nil, err
	}
	if reseeds {
		made.RunSeed = g.RunSeed
	}
	return &Change{made, g}, nil
}

// changes says whether a setting is of a drive or a stimulus. Names of areas may hold points; the longest that fits counts.
func changes(g *genome.Genome, setting string) bool {
	if rest, found := strings.CutPrefix(setting, "stimuli."); found {
		return rest != "" && rest[0] != '='
	}
	rest, found := strings.CutPrefix(setting, "areas.")
	if !found {
		return false
	}
	name, _, _ := strings.Cut(rest, ".")
	for i := range g.Areas {
		for _, n := range append(slices.Clone(g.Areas[i].Aliases), g.Areas[i].Name) {
			if len(n) > len(name) && strings.HasPrefix(rest, n+".") {
				name = n
			}
		}
	}
	key, found := strings.CutPrefix(rest, name+".drive")
	return found && key != "" && (key[0] == '.' || key[0] == '=')
}

// Change makes a change between two bursts. It opens the backend again with the present state, which on a GPU takes as long as at the start
// of the run. An error ends the run.
func (r *Run) Change(x *Change) error {
	if r.failed != nil {
		return r.failed
	}
	if err := r.reopen(x.Connectome); err != nil {
		return r.fail(err)
	}
	r.changed = x
	return nil
}

// reopen goes on with the backend of the same name for c.
func (r *Run) reopen(c *connectome.Connectome) error {
	var s engine.State
	if err := r.engine.State(&s); err != nil {
		return err
	}
	options, err := r.o.backendOptions()
	if err != nil {
		return err
	}
	options.Want = r.want()
	old := r.backend
	r.backend = nil
	if err := old.Close(); err != nil { // before there is another: a device may have no room for both
		return err
	}
	b, err := backend.Open(r.Backend, c, options)
	if err != nil {
		return err
	}
	r.backend = b
	return r.engine.Replace(c, b, &s)
}
