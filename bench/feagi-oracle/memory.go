package main

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"burst/genome"
	"burst/genome/feagi"
)

// newMemories makes memory areas of several lifetimes and depths, which see two areas of some neurons that are made to fire.
func newMemories() *laws {
	l := &laws{byKey: map[string]*lawCase{}}
	l.area("___pwr", "power", "nx-fire_t-f", 1000.0)
	eye, ear := l.area("ceye__", forced+" eye"), l.area("cear__", forced+" ear")
	eye.size, ear.size = 3, 2
	for i, x := range []struct {
		depth, lifespan int
		growth          float64
		longTerm        int
		both            bool // sees the ear too
	}{
		{1, 9, 1, 100, false}, {1, 9, 2, 30, false}, {1, 3, 1, 100, true}, {1, 1, 1, 6, false}, {2, 6, 1.9, 12, true}, {3, 4, 3, 9, false}, {1, 40, 20, 20, true},
	} {
		key := fmt.Sprintf("cm%d___", i)
		l.area(key, fmt.Sprintf("memory %d", i), "cx-memory-b", true, "cx-tmpdpt-i", x.depth, "cx-mem_ls-i", x.lifespan, "cx-mem_gr-i", x.growth, "cx-mem__t-i", x.longTerm)
		rule := []any{"episodic_memory", []int{1, 1, 1}, 1, false, 1, 1, 1, 1, 1}
		eye.to[key] = append(eye.to[key], rule)
		if x.both {
			ear.to[key] = append(ear.to[key], rule)
		}
	}
	return l
}

// lifetime is what the server holds of a memory neuron.
type lifetime struct {
	Pattern  uint64 `json:"pattern_hash"`
	Lifespan uint32 `json:"lifespan_current"`
	LongTerm bool   `json:"is_longterm_memory"`
}

// lifetimes are those of all neurons of a memory area, at most 50.
func (s *server) lifetimes(area string) ([]lifetime, error) {
	var m struct {
		IDs  []uint32 `json:"memory_neuron_ids"`
		More bool     `json:"has_more"`
	}
	if err := s.get("cortical_area/memory?cortical_id="+url.QueryEscape(area), &m); err != nil {
		return nil, err
	}
	if m.More {
		return nil, fmt.Errorf("area %s keeps more patterns than the server tells at once", area)
	}
	list := make([]lifetime, len(m.IDs))
	for i, id := range m.IDs {
		if err := s.get(fmt.Sprintf("connectome/memory_neuron?neuron_id=%d", id), &list[i]); err != nil {
			return nil, err
		}
	}
	return list, nil
}

// remembered runs a genome with memory areas and writes, burst by burst, who was made to fire and what the areas keep then.
func (o *options) remembered(s *server, file string, text []byte, g *genome.Genome, r *feagi.Report) error {
	rec, err := load(s, text, g, r, o.bursts)
	if err != nil {
		return err
	}
	var eyes, memories []int
	for i := range g.Areas {
		switch {
		case strings.HasPrefix(g.Areas[i].Name, forced):
			eyes = append(eyes, i)
		case g.Areas[i].Upstream != nil:
			memories = append(memories, i)
		}
	}
	err = errors.Join(rec.take(s, g, o.bursts), s.pace(1/o.hz), s.post("burst_engine/start", nil, nil))
	rows, draw := make([]string, o.bursts), rand.New(rand.NewPCG(o.seed, 37))
	for last := 0; err == nil && last <= o.bursts; {
		var at int
		if at, err = s.bursts(); err != nil || at == last {
			time.Sleep(2 * time.Millisecond)
			continue
		}
		last = at
		voxels := map[string][][3]uint64{}
		for _, i := range eyes { // few patterns, so that they come again; silent for a while now and then
			if x := draw.Uint64N(2 * g.Areas[i].Size[0]); x < g.Areas[i].Size[0] && at/15%3 != 2 {
				voxels[rec.areas[i].id] = [][3]uint64{{x}}
			}
		}
		if len(voxels) > 0 {
			err = s.stimulate(voxels)
		}
		if at >= 1 && at <= o.bursts && err == nil {
			rows[at-1] = s.row(rec, memories, at)
		}
		if at%10 == 0 && err == nil {
			err = rec.take(s, g, o.bursts)
		}
	}
	if err = errors.Join(err, rec.take(s, g, o.bursts), s.post("burst_engine/stop", nil, nil)); err != nil {
		return err
	}
	if err := rec.finish(g); err != nil {
		return err
	}
	var b strings.Builder
	b.WriteString("# What FEAGI's released server kept: who was made to fire in each burst, area by area, the patterns' ids counted from the first given;\n" +
		"# then for each memory area its patterns, lifespans and ! for long-term; ? where that was not read within the burst.\n")
	for _, i := range eyes {
		fmt.Fprintf(&b, "%q %d ", g.Areas[i].Name, rec.areas[i].ids[0])
	}
	b.WriteByte('\n')
	for t, row := range rows {
		for _, i := range eyes {
			fmt.Fprintf(&b, "%d ", rec.areas[i].fired[t])
		}
		b.WriteString(row + "\n")
	}
	name := strings.TrimSuffix(filepath.Base(file), ".json") + ".kept"
	return os.WriteFile(filepath.Join(o.kept, name), []byte(b.String()), 0o644)
}

// row is what memory areas keep after a burst; ? where the burst was over before all was read.
func (s *server) row(rec *recording, memories []int, at int) string {
	time.Sleep(50 * time.Millisecond) // the server's thread of memory comes after the burst
	var b strings.Builder
	for _, i := range memories {
		list, err := s.lifetimes(rec.areas[i].id)
		if err != nil { // a neuron that is gone
			return "?"
		}
		text := make([]string, len(list))
		for k, x := range list {
			text[k] = fmt.Sprintf("%016x:%d", x.Pattern, x.Lifespan)
			if x.LongTerm {
				text[k] += "!"
			}
		}
		slices.Sort(text)
		b.WriteString("| " + strings.Join(text, " ") + " ")
	}
	if after, err := s.bursts(); err != nil || after != at {
		return "?"
	}
	return b.String()
}
