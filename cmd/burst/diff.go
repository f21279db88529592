package main

import (
	"fmt"
	"math"
	"slices"

	"burst/record/manifest"
	"burst/record/runfolder"
	"burst/record/stats"

	"github.com/spf13/cobra"
)

// comparison is what `burst diff --json` prints.
type comparison struct {
	A          string            `json:"a"`
	B          string            `json:"b"`
	Equal      bool              `json:"equal"` // the same spikes over the same bursts, of the same network
	Manifest   []entryDiff       `json:"manifest"`
	Difference *stats.Difference `json:"first_difference"` // of the recorded spikes; null when there is none, or no recording
	Areas      []areaDiff        `json:"areas"`            // figures side by side, when the runs differ and both have recorded spikes
	Weights    []weightDiff      `json:"weights,omitempty"`
}

// weightDiff is a projection that learns in two runs or checkpoints that differ; of runs, weights are those of the last samples.
type weightDiff struct {
	Name     string  `json:"name"`
	Synapses uint64  `json:"synapses"`
	Compared bool    `json:"compared"` // synapse by synapse, as those of checkpoints are
	Differ   uint64  `json:"differ"`   // synapses whose weights are not the same
	Largest  float64 `json:"largest"`  // difference of two weights
	MeanA    float64 `json:"mean_a"`
	SDA      float64 `json:"sd_a"`
	MeanB    float64 `json:"mean_b"`
	SDB      float64 `json:"sd_b"`
}

// entryDiff is an entry that differs between two manifests.
type entryDiff struct {
	Field string `json:"field"`
	A     string `json:"a"`
	B     string `json:"b"`
}

// areaDiff is an area of two runs.
type areaDiff struct {
	Name string      `json:"name"`
	A    *stats.Area `json:"a"`
	B    *stats.Area `json:"b"`
}

func newDiffCommand() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "diff FOLDER FOLDER | CHECKPOINT CHECKPOINT",
		Short: "Compare two runs: the first spike in which they differ, and their statistics",
		Long: "Two runs are equal if they have the same bursts, the same digest and the same connectome, and where weights change the\n" +
			"same weights. (Two networks without spikes have the same digest.) Other differences, such as seeds, genome or backend,\n" +
			"are listed. Ends with status 8 if the runs are not equal. First it checks all files of both folders against their\n" +
			"manifests: status 7 if one has changed.\n\n" +
			"Two checkpoints are equal if they are of the same connectome, seeds and state. Of projections that learn it says how many\n" +
			"weights differ, and by how much.",
		Example:           "  burst diff runs/quickstart-1 runs/quickstart-2",
		Args:              usage(cobra.ExactArgs(2)),
		ValidArgsFunction: completeFolder,
		RunE:              func(cmd *cobra.Command, args []string) error { return diff(cmd, args[0], args[1], asJSON) },
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the comparison as JSON")
	return cmd
}

func diff(cmd *cobra.Command, dirA, dirB string, asJSON bool) error {
	if isFile(dirA) && isFile(dirB) {
		return diffCheckpoints(cmd, dirA, dirB, asJSON)
	}
	a, err := lookInto(cmd, dirA)
	if err != nil {
		return err
	}
	b, err := lookInto(cmd, dirB)
	if err != nil {
		return err
	}
	for _, f := range []*runfolder.Folder{a, b} { // the digests alone would not tell of what is gone
		if err := f.CheckAll(); err != nil {
			return err
		}
	}
	v := comparison{A: dirA, B: dirB, Manifest: manifestDiffs(&a.Manifest, &b.Manifest), Areas: []areaDiff{}}
	verdict, err := v.judge(a, b)
	if err != nil {
		return err
	}
	return v.tell(cmd, verdict, asJSON)
}

// tell prints the comparison; its error says why the two are not equal.
func (v *comparison) tell(cmd *cobra.Command, verdict string, asJSON bool) (err error) {
	if asJSON {
		err = printJSON(cmd, v)
	} else {
		err = v.print(cmd)
	}
	if err != nil || v.Equal {
		return err
	}
	return assertionError{fmt.Errorf("%s and %s differ: %s", v.A, v.B, verdict)}
}

// manifestDiffs names what differs in what was run and how.
func manifestDiffs(a, b *manifest.Manifest) []entryDiff {
	list := []entryDiff{}
	entry := func(field string, x, y any) {
		if s, t := fmt.Sprint(x), fmt.Sprint(y); s != t {
			list = append(list, entryDiff{field, s, t})
		}
	}
	names := func(m *manifest.Manifest) (out []string) {
		for _, x := range m.Areas {
			out = append(out, fmt.Sprintf("%s:%d", x.Name, x.Neurons))
		}
		return out
	}
	entry("genome", a.Genome, b.Genome)
	entry("genome_sha256", a.GenomeSHA256, b.GenomeSHA256)
	entry("connectome", a.Connectome, b.Connectome)
	entry("seed", a.Seed, b.Seed)
	entry("run_seed", a.RunSeed, b.RunSeed)
	entry("timestep_ms", a.Timestep, b.Timestep)
	entry("areas", names(a), names(b))
	entry("first_burst", a.First, b.First)
	entry("bursts", a.Bursts, b.Bursts)
	entry("status", a.Status, b.Status)
	entry("digest", a.Digest, b.Digest)
	entry("weight_digest", a.WeightDigest, b.WeightDigest)
	entry("spikes", a.Spikes, b.Spikes)
	entry("burst", a.Burst, b.Burst)
	entry("backend", a.Backend, b.Backend)
	entry("device", a.Device, b.Device)
	return list
}

// alike is what two runs have in common.
type alike struct {
	areas, network, bursts bool
	digests, digest        bool // both have one; it is the same
	weights                bool // their digest is the same, or one of them does not learn
	spikes                 bool // both have recorded theirs
}

// likenessOf compares two runs that end before the bursts endA and endB, without reading their recordings.
func likenessOf(a, b *runfolder.Folder, endA, endB uint64) alike {
	x, y := &a.Manifest, &b.Manifest
	digests := x.Digest != "" && y.Digest != ""
	return alike{
		areas:   slices.EqualFunc(x.Areas, y.Areas, func(x, y manifest.Area) bool { return x.Name == y.Name && x.Neurons == y.Neurons }),
		network: x.Connectome == y.Connectome,
		bursts:  x.First == y.First && endA == endB,
		digests: digests,
		digest:  digests && x.Digest == y.Digest,
		weights: x.WeightDigest == "" || y.WeightDigest == "" || x.WeightDigest == y.WeightDigest,
		spikes:  hasSpikes(a) && hasSpikes(b),
	}
}

// judge reports whether two runs are equal, and if not, why.
func (v *comparison) judge(a, b *runfolder.Folder) (string, error) {
	endA, err := stats.End(a)
	if err != nil {
		return "", err
	}
	endB, err := stats.End(b)
	if err != nil {
		return "", err
	}
	same := likenessOf(a, b, endA, endB)
	v.Equal = same.areas && same.network && same.bursts && same.weights && (same.digest || !same.digests)
	if same.areas && same.spikes && !(v.Equal && same.digests) {
		if v.Difference, err = stats.FirstDifference(a, b, min(endA, endB)); err != nil {
			return "", err
		}
		v.Equal = v.Equal && v.Difference == nil
	}
	if v.Equal {
		return "", nil
	}
	if same.spikes {
		if err := v.sideBySide(a, b); err != nil {
			return "", err
		}
	}
	if err := v.weightsOf(a, b, endA, endB); err != nil {
		return "", err
	}
	return v.verdict(same, &a.Manifest, &b.Manifest, endA, endB), nil
}

// verdict says why two runs are not equal.
func (v *comparison) verdict(same alike, a, b *manifest.Manifest, endA, endB uint64) string {
	switch {
	case !same.areas:
		return "their networks have other areas"
	case v.Difference != nil:
		d, in := v.Difference, v.A
		if d.In == "b" {
			in = v.B
		}
		return fmt.Sprintf("first in burst %d: neuron %d of area %q (id %d) fires only in %s", d.Burst, d.Index, d.Area, d.Neuron, in)
	case !same.bursts:
		have := fmt.Sprintf("one has bursts from %d until %d, the other from %d until %d", a.First, endA, b.First, endB)
		if from, until := max(a.First, b.First), min(endA, endB); same.spikes && from < until {
			return fmt.Sprintf("they are equal for the %d bursts that both have, %s", until-from, have)
		}
		return have
	case same.digest && same.network:
		return fmt.Sprintf("their weights, of digests %s and %s, though they have fired the same spikes", a.WeightDigest, b.WeightDigest)
	case same.digest:
		return fmt.Sprintf("their networks, of connectomes %s and %s, though they have fired the same spikes", a.Connectome, b.Connectome)
	case !same.spikes:
		return "their digests, and spikes were not recorded in both"
	}
	return "their digests; the spikes that both have recorded are the same"
}

// sideBySide fills in the figures of both runs.
func (v *comparison) sideBySide(a, b *runfolder.Folder) error {
	x, err := stats.Compute(a, stats.Options{})
	if err != nil {
		return err
	}
	y, err := stats.Compute(b, stats.Options{})
	if err != nil {
		return err
	}
	for i := range x.Areas {
		v.Areas = append(v.Areas, areaDiff{Name: x.Areas[i].Name, A: &x.Areas[i]})
	}
	for i := range y.Areas {
		at := slices.IndexFunc(v.Areas, func(d areaDiff) bool { return d.Name == y.Areas[i].Name })
		if at < 0 {
			v.Areas = append(v.Areas, areaDiff{Name: y.Areas[i].Name})
			at = len(v.Areas) - 1
		}
		v.Areas[at].B = &y.Areas[i]
	}
	return nil
}

// print writes the comparison for people.
func (v *comparison) print(cmd *cobra.Command) error {
	w := cmd.OutOrStdout()
	if v.Equal {
		fmt.Fprintf(w, "%s and %s are equal\n", v.A, v.B)
	}
	if len(v.Manifest) > 0 {
		rows := [][]string{{"manifest", v.A, v.B}}
		for _, d := range v.Manifest {
			rows = append(rows, []string{d.Field, abridged(d.A), abridged(d.B)})
		}
		if err := table(w, rows); err != nil {
			return err
		}
	}
	if err := v.printWeights(w); err != nil {
		return err
	}
	if len(v.Areas) == 0 {
		return nil
	}
	fmt.Fprintln(w)
	rows := [][]string{{"area", "spikes", "", "rate (Hz)", "", "CV", "", "synchrony", "", "correlation", ""}}
	for _, d := range v.Areas {
		x, y := orMissing(d.A), orMissing(d.B)
		rows = append(rows, []string{d.Name, count(x.Spikes), count(y.Spikes), figure(x.Rate, 2, 1, ""), figure(y.Rate, 2, 1, ""), figure(x.CV, 3, 1, ""), figure(y.CV, 3, 1, ""),
			figure(x.Synchrony, 3, 1, ""), figure(y.Synchrony, 3, 1, ""), figure(x.Correlation, 4, 1, ""), figure(y.Correlation, 4, 1, "")})
	}
	return table(w, rows)
}

// orMissing is an area without figures where a run has none of that name.
func orMissing(a *stats.Area) stats.Area {
	if a != nil {
		return *a
	}
	none := stats.Value(math.NaN())
	return stats.Area{Rate: none, CV: none, Synchrony: none, Correlation: none}
}

// abridged cuts an entry that is too long for the table.
func abridged(s string) string {
	const most = 40
	if r := []rune(s); len(r) > most {
		return string(r[:most-1]) + "…"
	}
	return s
}
