package main

import (
	"encoding/base64"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"time"

	"burst/genome"
	"burst/genome/feagi"
)

// recording is what FEAGI made of a genome and did in a run.
type recording struct {
	areas      []areaRecord // in the genome's order
	others     []string     // areas that FEAGI adds
	stimulated []int        // areas that were made to fire
}

// areaRecord is an area in FEAGI.
type areaRecord struct {
	id       string // FEAGI's own
	ids      []uint32
	first    properties // of its first neuron
	synapses []synapse  // that leave it, before the first burst
	fired    [][]uint32 // neurons of each burst, by their place in the area, ascending; one a voxel
	known    []bool     // bursts that have been read
	wear     float32    // the degeneration that burst does not follow; 0: none
}

// match finds FEAGI's area for each of the genome's: by its id, or else by its name.
func match(g *genome.Genome, r *feagi.Report, names map[string]string) (ids []string, others []string, err error) {
	taken := map[string]bool{}
	ids = make([]string, len(g.Areas))
	for i := range g.Areas {
		for id := range names {
			if plain(id) == plain(r.Areas[i].ID) {
				ids[i], taken[id] = id, true
			}
		}
	}
	for i := range g.Areas {
		for id, name := range names {
			if ids[i] == "" && !taken[id] && clean(name) == clean(g.Areas[i].Name) {
				ids[i], taken[id] = id, true
			}
		}
		if ids[i] == "" {
			return nil, nil, fmt.Errorf("FEAGI has no area for %s (%s)", r.Areas[i].ID, g.Areas[i].Name)
		}
	}
	for id := range names {
		if !taken[id] {
			others = append(others, id)
		}
	}
	slices.Sort(others)
	return ids, others, nil
}

// plain is an id with base64 undone and what fills it up dropped.
func plain(id string) string {
	if raw, err := base64.StdEncoding.DecodeString(id); err == nil && len(raw) == 8 {
		id = string(raw)
	}
	return strings.TrimRight(id, "_\x00")
}

// clean is a name without what burst's names may not hold.
func clean(name string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' {
			return r
		}
		return -1
	}, name)
}

// sources are the areas to stimulate: inputs that get none from others, or else whatever has mappings and gets none. FEAGI does not say at
// which potential a neuron fires that is stimulated, so areas whose potentials drive their current are none.
func sources(g *genome.Genome) []int {
	var inputs, any []int
	for i := range g.Areas {
		a := &g.Areas[i]
		into := slices.ContainsFunc(g.Projections, func(p genome.Projection) bool { return p.To == i })
		out := slices.ContainsFunc(g.Projections, func(p genome.Projection) bool { return p.From == i })
		if a.Empty() || a.Source() || a.PSPMax > 0 || into || !out || len(a.Drives) > 0 || a.Group == "core" {
			continue
		}
		any = append(any, i)
		if a.Group == "ipu" {
			inputs = append(inputs, i)
		}
	}
	if len(inputs) > 0 {
		return inputs
	}
	return any
}

// load loads a genome and reads what FEAGI makes of it, with room for n bursts.
func load(s *server, text []byte, g *genome.Genome, r *feagi.Report, n int) (*recording, error) {
	if err := s.load(text); err != nil {
		return nil, err
	}
	names, err := s.names()
	if err != nil {
		return nil, err
	}
	ids, others, err := match(g, r, names)
	if err != nil {
		return nil, err
	}
	rec := &recording{others: others, stimulated: sources(g), areas: make([]areaRecord, len(ids))}
	for i, id := range ids {
		a := &rec.areas[i]
		a.id, a.fired, a.known, a.wear = id, make([][]uint32, n), make([]bool, n), degeneration(&r.Areas[i])
		if a.ids, err = s.neurons(id); err == nil {
			a.synapses, err = s.synapses(id)
		}
		if err == nil && len(a.ids) > 0 {
			a.first, err = s.properties(a.ids[0])
		}
		if err != nil {
			return nil, err
		}
		if want := g.Areas[i].Neurons(); uint64(len(a.ids)) != want && !g.Areas[i].Empty() && !g.Areas[i].Source() {
			return nil, fmt.Errorf("FEAGI gives area %s %d neurons, burst %d", g.Areas[i].Name, len(a.ids), want)
		}
	}
	return rec, nil
}

// degeneration is the one that the import has not honoured.
func degeneration(a *feagi.AreaReport) float32 {
	for _, note := range a.Lines {
		if note.Fate == feagi.NotHonoured && (strings.HasSuffix(note.Key, "de_gen-f") || note.Key == "degeneration") {
			x, _ := strconv.ParseFloat(note.From, 32)
			return float32(x)
		}
	}
	return 0
}

// record loads a genome, runs it for n bursts at a rate under random stimuli, and reads what fired.
func record(s *server, text []byte, g *genome.Genome, r *feagi.Report, n int, hz float64, seed uint64) (*recording, error) {
	rec, err := load(s, text, g, r, n)
	if err != nil {
		return nil, err
	}
	if err := rec.take(s, g, n); err != nil { // from now on the server remembers
		return nil, err
	}
	if err := s.pace(1 / hz); err != nil {
		return nil, err
	}
	if err := rec.run(s, g, n, hz, seed); err != nil {
		return nil, err
	}
	return rec, rec.finish(g)
}

// numbered gives the genome's neurons the ids of FEAGI's, and the record of its areas the new order.
func (rec *recording) numbered(g *genome.Genome) (*genome.Genome, error) {
	first := make([]uint32, len(rec.areas))
	for i := range rec.areas {
		if g.Areas[i].Upstream != nil {
			rec.areas[i].ids = nil // FEAGI gives a memory area a neuron that has no part in it
		}
		ids := rec.areas[i].ids
		for k, id := range ids {
			if id != ids[0]+uint32(k) {
				return nil, fmt.Errorf("neuron %d of area %s has FEAGI's id %d, want %d behind its first", k, g.Areas[i].Name, id, ids[0]+uint32(k))
			}
		}
		if first[i] = math.MaxUint32; len(ids) > 0 {
			first[i] = ids[0]
		}
	}
	made, at, err := feagi.Numbered(g, first)
	if err != nil {
		return nil, err
	}
	areas := make([]areaRecord, len(made.Areas))
	for i, place := range at {
		areas[place] = rec.areas[i]
	}
	next := uint32(0)
	for i := range areas {
		a := &areas[i]
		if n := uint32(made.Areas[i].Neurons()); len(a.ids) == 0 && n > 0 { // FEAGI's own
			a.fired = make([][]uint32, len(rec.areas[0].fired))
			for k := range n {
				a.ids = append(a.ids, next+k)
			}
		}
		next += uint32(len(a.ids))
	}
	for i := range rec.stimulated {
		rec.stimulated[i] = at[rec.stimulated[i]]
	}
	rec.areas = areas
	return made, nil
}

// run starts the brain, stimulates it at random until n bursts are over, and stops it.
func (rec *recording) run(s *server, g *genome.Genome, n int, hz float64, seed uint64) error {
	if err := s.post("burst_engine/start", nil, nil); err != nil {
		return err
	}
	draw := rand.New(rand.NewPCG(seed, 29))
	for read := 0; ; {
		at, err := s.bursts()
		if err != nil {
			return err
		}
		if at > n { // the last one's fire queue is filed
			return errors.Join(rec.take(s, g, n), s.post("burst_engine/stop", nil, nil))
		}
		if at-read >= 10 { // what is not asked for is forgotten at times
			read = at
			if err := rec.take(s, g, n); err != nil {
				return err
			}
		}
		voxels := map[string][][3]uint64{}
		for _, i := range rec.stimulated {
			if draw.IntN(2) == 0 {
				continue
			}
			size := g.Areas[i].Size
			for range 1 + draw.IntN(min(int(size[0]*size[1]*size[2]), 60)) {
				voxels[rec.areas[i].id] = append(voxels[rec.areas[i].id], [3]uint64{draw.Uint64N(size[0]), draw.Uint64N(size[1]), draw.Uint64N(size[2])})
			}
		}
		if len(voxels) > 0 && draw.IntN(4) > 0 {
			if err := s.stimulate(voxels); err != nil {
				return err
			}
		}
		time.Sleep(time.Duration(float64(time.Second) / hz * (0.5 + draw.Float64())))
	}
}

// take files what the server remembers of the bursts up to n.
func (rec *recording) take(s *server, g *genome.Genome, n int) error {
	fired, err := s.fired(rec.ids())
	if err != nil {
		return err
	}
	for i := range rec.areas {
		a := &rec.areas[i]
		for burst, voxels := range fired[a.id] {
			if burst < 1 || burst > n || a.known[burst-1] {
				continue
			}
			var list []uint32
			for _, v := range voxels {
				first, _ := g.Areas[i].Voxel(v[0], v[1], v[2])
				list = append(list, uint32(first))
			}
			slices.Sort(list)
			a.known[burst-1], a.fired[burst-1] = true, slices.Compact(list)
		}
	}
	return nil
}

// errForgotten says that FEAGI did not keep what fired; it happens now and then in the first bursts.
var errForgotten = errors.New("FEAGI has forgotten burst")

// finish checks that no burst is missing.
func (rec *recording) finish(g *genome.Genome) error {
	for i := range rec.areas {
		if b := slices.Index(rec.areas[i].known, false); b >= 0 {
			return fmt.Errorf("%w %d of area %s before it was read", errForgotten, b+1, g.Areas[i].Name)
		}
	}
	return nil
}

// fired is what each area fired in each of the first n bursts.
func (rec *recording) fired(n int) [][][]uint32 {
	all := make([][][]uint32, len(rec.areas))
	for i := range all {
		all[i] = rec.areas[i].fired[:n]
	}
	return all
}

// trains are the bursts as text: a line for each voxel, its area, its first neuron and that one's id in FEAGI, and a character a burst.
func (rec *recording) trains(g *genome.Genome) []byte {
	var b strings.Builder
	b.WriteString("# What FEAGI's released server fired: area, first neuron of a voxel, its id, whether it was made to fire, and a character for each burst.\n")
	for i := range rec.areas {
		if rec.areas[i].id == "" {
			continue
		}
		how := "fires"
		if slices.Contains(rec.stimulated, i) {
			how = "forced"
		}
		for k := uint32(0); k < uint32(g.Areas[i].Neurons()); k += uint32(g.Areas[i].PerVoxel) {
			fmt.Fprintf(&b, "%q %d %d %s ", g.Areas[i].Name, k, rec.areas[i].ids[k], how)
			for _, fired := range rec.areas[i].fired {
				b.WriteByte("_1"[map[bool]int{true: 1}[slices.Contains(fired, k)]])
			}
			b.WriteByte('\n')
		}
	}
	return []byte(b.String())
}

// ids are those of FEAGI's areas.
func (rec *recording) ids() []string {
	ids := make([]string, len(rec.areas))
	for i := range ids {
		ids[i] = rec.areas[i].id
	}
	return ids
}
