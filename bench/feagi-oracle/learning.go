package main

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"time"

	"burst/genome"
	"burst/genome/feagi"
)

// forced begins the names of areas that are made to fire at random.
const forced = "forced"

// newLearning makes areas of one neuron, some of them made to fire and some that fire by what has been learnt. Each pair has rules of its own.
func newLearning() *laws {
	l := &laws{byKey: map[string]*lawCase{}}
	l.area("___pwr", "power", "nx-fire_t-f", 1000.0)
	sources := []*lawCase{
		l.area("csa___", forced+" one"),
		l.area("csb___", forced+" divided", "cx-pstcr_-f", 2.0, "cx-pspuni-b", false),
		l.area("csc___", forced+" minus", "cx-pstcr_-f", -3.0),
		l.area("csd___", forced+" half", "cx-pstcr_-f", 0.5),
	}
	// rules of a mapping: multiplier, plastic, constant, ltp, ltd, window, delay
	rules := [][][]float64{
		{{10, 1, 1, 1, 1, 1, 1}},
		{{10, 1, 1, 1, 1, 2, 1}},
		{{10, 1, 1, 3, 1, 3, 1}},
		{{10.5, 1, 2.5, 2.5, 1.5, 1, 1}},
		{{254, 1, 1, 5, 1, 5, 1}},
		{{-5, 1, 1, 2, 1, 1, 1}, {0, 1, 1, 2, 1, 1, 1}},
		{{7, 1, 1, 1, 1, 1, 1}, {20, 0, 9, 9, 9, 9, 1}, {30, 1, 1, 4, 2, 2, 1}},
		{{7, 0, 1, 1, 1, 1, 1}, {20, 1, 1, 2, 1, 3, 1}, {-30, 0, 1, 4, 2, 2, 1}},
		{{10, 1, -1, 1, 1, 1, 1}},
		{{10, 1, -1, -2, 1, 2, 1}},
		{{10, 1, 1, 1, -1, 2, 1}},
		{{12, 1, 1, 2, 1, 1, 3}},
		{{12, 1, 1, 2, 1, 4, 7}, {5, 0, 1, 2, 1, 4, 2}},
	}
	targets := []*lawCase{}
	for i := range 6 {
		targets = append(targets, l.area(fmt.Sprintf("ct%d___", i), fmt.Sprintf("%s target %d", forced, i), "nx-fire_t-f", 1e6))
	}
	for i := range 7 {
		targets = append(targets, l.area(fmt.Sprintf("cd%d___", i), fmt.Sprintf("driven %d", i), "nx-fire_t-f", float64(2+3*i), "nx-mp_acc-b", i%2 == 0, "nx-leak_c-f", 0.5))
	}
	for i, from := range sources {
		for k, to := range targets {
			for _, r := range rules[(3*i+k)%len(rules)] {
				from.to[to.key] = append(from.to[to.key], []any{"all_to_all", []int{1, 1, 1}, r[0], r[1] != 0, r[2], r[3], r[4], r[5], int(r[6])})
			}
		}
	}
	return l
}

// newDrivenLearning makes areas whose potentials drive their current and whose synapses learn. They fire by what areas send them that are
// made to fire, as FEAGI does not say at which potential a neuron fires that is.
func newDrivenLearning() *laws {
	l := &laws{byKey: map[string]*lawCase{}}
	l.area("___pwr", "power", "nx-fire_t-f", 1000.0)
	add := func(from, to *lawCase, multiplier float64, plastic bool, constant, ltp, ltd float64, window, delay int) {
		from.to[to.key] = append(from.to[to.key], []any{"all_to_all", []int{1, 1, 1}, multiplier, plastic, constant, ltp, ltd, window, delay})
	}
	var feeders []*lawCase
	for i, psp := range []float64{1, 0.5, 2.25} {
		feeders = append(feeders, l.area(fmt.Sprintf("cs%d___", i), fmt.Sprintf("%s %d", forced, i), "cx-pstcr_-f", psp))
	}
	sources := []*lawCase{
		l.area("cda___", "drives", "nx-mp_psp-b", true, "nx-fthlim-f", 64.0, "nx-fire_t-f", 0.5),
		l.area("cdb___", "drives in shares", "nx-mp_psp-b", true, "nx-fthlim-f", 64.0, "nx-fire_t-f", 1.5, "cx-pspuni-b", false),
		l.area("cdc___", "drives below", "nx-mp_psp-b", true, "nx-fthlim-f", 64.0, "nx-fire_t-f", -4.0, "nx-mp_acc-b", false),
		l.area("cdd___", "drives with a current", "nx-mp_psp-b", true, "nx-fthlim-f", 64.0, "nx-fire_t-f", 1.0, "cx-pstcr_-f", 3.0),
	}
	for i, from := range feeders {
		for k, to := range sources {
			add(from, to, []float64{1, 1.5, -0.75, 2}[(i+k)%4], false, 1, 1, 1, 1, 1+i%2)
		}
	}
	// rules of a mapping: multiplier, constant, ltp, ltd; window, delay
	rules := []struct {
		multiplier, constant, ltp, ltd float64
		window, delay                  int
	}{{10, 1, 1, 1, 1, 1}, {4.5, 1, 1, 1, 2, 1}, {2, 1, 3, 1, 3, 1}, {-5, 1, 2, 1, 1, 1}, {0, 1, 2, 1, 1, 1}, {12, 1, 2, 1, 4, 3}, {1.25, 2.5, 2.5, 1.5, 2, 7}}
	var targets []*lawCase
	for i := range 3 {
		targets = append(targets, l.area(fmt.Sprintf("ct%d___", i), fmt.Sprintf("%s target %d", forced, i), "nx-fire_t-f", 1e6))
	}
	for i := range 5 {
		targets = append(targets, l.area(fmt.Sprintf("ce%d___", i), fmt.Sprintf("answers %d", i), "nx-fire_t-f", float64(1+6*i), "nx-mp_acc-b", i%2 == 0, "nx-leak_c-f", 0.5))
	}
	for i, from := range sources {
		for k, to := range targets {
			r := rules[(2*i+k)%len(rules)]
			add(from, to, r.multiplier, true, r.constant, r.ltp, r.ltd, r.window, r.delay)
			if i != 1 && (i+k)%4 == 0 { // a second mapping of the pair, which learns by the same rule; the shares of the others are eighths
				add(from, to, 1.5, false, 1, 1, 1, 1, 2)
			}
		}
	}
	return l
}

// learnt runs a genome of areas of one neuron and writes, burst by burst, who fired and what all synapses weigh then.
func (o *options) learnt(s *server, file string, text []byte, g *genome.Genome, r *feagi.Report) error {
	var rec *recording
	var rows [][]synapse
	for range 5 {
		var err error
		if rec, rows, err = o.watch(s, text, g, r); err == nil {
			break
		} else if !errors.Is(err, errForgotten) {
			return err
		}
	}
	name := strings.TrimSuffix(filepath.Base(file), ".json") + ".weights"
	return os.WriteFile(filepath.Join(o.weights, name), weights(g, rec, rows), 0o644)
}

// watch runs the genome slowly. The synapses of a burst are nil where they could not be read within it.
func (o *options) watch(s *server, text []byte, g *genome.Genome, r *feagi.Report) (*recording, [][]synapse, error) {
	rec, err := load(s, text, g, r, o.bursts)
	if err != nil {
		return nil, nil, err
	}
	rec.stimulated = nil
	for i := range g.Areas {
		if strings.HasPrefix(g.Areas[i].Name, forced) {
			rec.stimulated = append(rec.stimulated, i)
		}
	}
	err = errors.Join(rec.take(s, g, o.bursts), s.pace(1/o.hz), s.post("burst_engine/start", nil, nil))
	rows, draw := make([][]synapse, o.bursts), rand.New(rand.NewPCG(o.seed, 31))
	for last := 0; err == nil && last <= o.bursts; {
		var at, after int
		if at, err = s.bursts(); err != nil || at == last {
			time.Sleep(2 * time.Millisecond)
			continue
		}
		last = at
		if err = rec.poke(s, draw); err != nil || at < 1 || at > o.bursts {
			continue
		}
		var now []synapse
		for i := range rec.areas {
			if len(rec.areas[i].synapses) > 0 && err == nil {
				var some []synapse
				some, err = s.synapses(rec.areas[i].id)
				now = append(now, some...)
			}
		}
		if after, err = must(s.bursts, err); after == at {
			rows[at-1] = now
		}
		if at%10 == 0 && err == nil {
			err = rec.take(s, g, o.bursts)
		}
	}
	if err = errors.Join(err, rec.take(s, g, o.bursts), s.post("burst_engine/stop", nil, nil)); err != nil {
		return nil, nil, err
	}
	return rec, rows, rec.finish(g)
}

// must asks unless there has been an error.
func must(ask func() (int, error), err error) (int, error) {
	if err != nil {
		return 0, err
	}
	return ask()
}

// poke makes each area fire in the next burst by chance, more often if the burst's luck is good, so that some fire together.
func (rec *recording) poke(s *server, draw *rand.Rand) error {
	voxels, luck := map[string][][3]uint64{}, draw.Float64()*draw.Float64()
	for _, i := range rec.stimulated {
		if draw.Float64() < luck {
			voxels[rec.areas[i].id] = [][3]uint64{{}}
		}
	}
	if len(voxels) == 0 {
		return nil
	}
	return s.stimulate(voxels)
}

// weights are the bursts as text: a line with the ends of all synapses, and one for each burst with who fired and what they weigh.
func weights(g *genome.Genome, rec *recording, rows [][]synapse) []byte {
	var b strings.Builder
	b.WriteString("# What FEAGI's released server learnt. Ends of the synapses by area, then who fired in each burst, and what the synapses weighed then; ? where that was not read.\n")
	who := map[uint32]string{}
	for i := range rec.areas {
		for _, id := range rec.areas[i].ids {
			who[id] = g.Areas[i].Name
		}
	}
	first := rows[0]
	for _, row := range rows {
		if first == nil {
			first = row
		}
	}
	for _, x := range first {
		fmt.Fprintf(&b, "%q>%q ", who[x.Source], who[x.Target])
	}
	b.WriteByte('\n')
	for t, row := range rows {
		for i := range rec.areas {
			if len(rec.areas[i].fired[t]) > 0 {
				fmt.Fprintf(&b, "%q ", g.Areas[i].Name)
			}
		}
		b.WriteByte(':')
		for _, x := range row {
			if x.Type == 1 {
				x.Weight = -x.Weight
			}
			fmt.Fprintf(&b, " %g", x.Weight)
		}
		if row == nil {
			b.WriteString(" ?")
		}
		b.WriteByte('\n')
	}
	return []byte(b.String())
}
