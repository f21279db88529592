package main

import (
	"fmt"
	"io"
	"math"

	"burst/checkpoint"
	"burst/engine"
	"burst/internal/exact"
	"burst/record/runfolder"
	"burst/record/stats"

	"github.com/spf13/cobra"
)

// diffCheckpoints compares the states of two checkpoints.
func diffCheckpoints(cmd *cobra.Command, pathA, pathB string, asJSON bool) error {
	var c [2]*checkpoint.Checkpoint
	for i, path := range []string{pathA, pathB} {
		var err error
		if c[i], err = checkpoint.Read(diskOf(cmd.Context()), path); err != nil {
			return err
		}
	}
	a, b := c[0], c[1]
	v := comparison{A: pathA, B: pathB, Manifest: []entryDiff{}, Areas: []areaDiff{}}
	entry := func(field, format string, x, y any) {
		if s, t := fmt.Sprintf(format, x), fmt.Sprintf(format, y); s != t {
			v.Manifest = append(v.Manifest, entryDiff{field, s, t})
		}
	}
	entry("connectome", "%016x", a.Connectome, b.Connectome)
	entry("genome_sha256", "%x", a.Genome, b.Genome)
	entry("seed", "%d", a.Seed, b.Seed)
	entry("run_seed", "%d", a.RunSeed, b.RunSeed)
	entry("burst", "%d", a.State.Number, b.State.Number)
	entry("digest", "%016x", a.State.Digest, b.State.Digest)
	entry("state", "%016x", a.State.Hash(), b.State.Hash())
	if len(a.State.Plastic) > 0 && len(b.State.Plastic) > 0 {
		entry("weight_digest", "%016x", a.State.WeightDigest(), b.State.WeightDigest())
	}
	d := engine.CompareStates(&a.State, &b.State)
	verdict := ""
	switch {
	case a.Connectome != b.Connectome:
		verdict = fmt.Sprintf("their networks, of connectomes %016x and %016x", a.Connectome, b.Connectome)
	case d != nil:
		verdict = "their states: " + d.String()
	case a.Seed != b.Seed || a.RunSeed != b.RunSeed || a.State.Digest != b.State.Digest:
		verdict = "their seeds or digests, though not their states"
	}
	if v.Equal = verdict == ""; !v.Equal {
		v.Weights = weightDiffs(a.State.Plastic, b.State.Plastic)
	}
	return v.tell(cmd, verdict, asJSON)
}

// weightDiffs compares weights synapse by synapse; none where they are of other networks.
func weightDiffs(a, b []engine.Plastic) (list []weightDiff) {
	if len(a) != len(b) {
		return nil
	}
	for i := range a {
		x, y := a[i].Weight, b[i].Weight
		if len(x) != len(y) {
			return nil
		}
		d := weightDiff{Name: fmt.Sprintf("plastic %d", i), Synapses: uint64(len(x)), Compared: true}
		for k := range x {
			if x[k] != y[k] {
				d.Differ++
				d.Largest = max(d.Largest, math.Abs(float64(x[k])-float64(y[k])))
			}
		}
		var m, n exact.Moments
		m.Add(x)
		n.Add(y)
		d.MeanA, d.SDA, d.MeanB, d.SDB = m.Mean(), m.SD(), n.Mean(), n.SD()
		list = append(list, d)
	}
	return list
}

// weightsOf fills in the last samples of projections that learn in both runs.
func (v *comparison) weightsOf(a, b *runfolder.Folder, endA, endB uint64) error {
	x, err := stats.LearntWeights(a, 0, endA)
	if err != nil {
		return err
	}
	y, err := stats.LearntWeights(b, 0, endB)
	if err != nil {
		return err
	}
	for i := range x {
		for k := range y {
			if p, q := &x[i], &y[k]; p.Projection == q.Projection && p.From == q.From && p.To == q.To && p.Synapses == q.Synapses {
				v.Weights = append(v.Weights, weightDiff{
					Name: fmt.Sprintf("projections[%d], %s to %s", p.Projection, p.From, p.To), Synapses: p.Synapses,
					MeanA: p.After.Mean, SDA: p.After.SD, MeanB: q.After.Mean, SDB: q.After.SD,
				})
			}
		}
	}
	return nil
}

// printWeights writes how weights differ, for people.
func (v *comparison) printWeights(w io.Writer) error {
	if len(v.Weights) == 0 {
		return nil
	}
	fmt.Fprintln(w)
	rows := [][]string{{"weights", "synapses", "mean", "", "SD", "", "differ", "largest difference"}}
	for _, d := range v.Weights {
		differ, largest := "-", "-"
		if d.Compared {
			differ, largest = count(d.Differ), fmt.Sprintf("%.4g", d.Largest)
		}
		rows = append(rows, []string{d.Name, count(d.Synapses), fmt.Sprintf("%.4g", d.MeanA), fmt.Sprintf("%.4g", d.MeanB), fmt.Sprintf("%.4g", d.SDA), fmt.Sprintf("%.4g", d.SDB), differ, largest})
	}
	return table(w, rows)
}
