package burst_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"burst/internal/slow"

	"github.com/stretchr/testify/require"
)

// newRule is what it takes to add the rule neighbours: each neuron reaches those up to reach behind it. Of each edit the text stands behind
// the line; a file that is not there yet has one edit and no line.
var newRule = []struct{ file, line, text string }{
	{"genome/rules.go", "	P           float64 // pairwise_bernoulli: probability of each pair, 0…1\n", "	Reach       uint64  // neighbours: how far a neuron reaches\n"},
	{"genome/rules.go", "	Composite\n	Edges\n", "	Neighbours\n"},
	{"genome/rules.go", "			keys: []key{{Name: \"file\", Form: formFile, Doc: \"edge list in the genome's folder: .csv, .parquet, .arrow or .arrows\"}}},\n",
		"		{name: \"neighbours\", merges: true, read: func(_ *parser, f *fields, pr *Projection) { f.must(\"reach\", \"neighbours\"); f.whole(\"reach\", &pr.Reach) },\n" +
			"			doc:  \"each neuron i to i + 1, i + 2, … i + `reach`, where there are such\",\n" +
			"			keys: []key{count(\"reach\", \"how far a neuron reaches\")}},\n"},
	{"connectome/rule.go", "		genome.Edges:             {rule: newEdges},\n", "		genome.Neighbours:        {rule: newNeighbours},\n"},
	{"connectome/neighbours.go", "", `package connectome

// neighbours connects source s to the targets s + 1 … s + reach.
type neighbours struct {
	ends
	reach uint64
}

func newNeighbours(_ *plan, w *wiring) (rule, error) {
	return &neighbours{w.ends, min(w.p.Reach, w.ends.targets)}, nil
}

func (r *neighbours) synapses(onto uint64) (least, most uint64) {
	if onto < r.targets {
		return 0, mul(onto, r.reach)
	}
	for s := range min(r.sources, r.targets) {
		n, _ := r.row(s)
		least += n
	}
	return least, least
}

func (r *neighbours) row(source uint64) (synapses uint64, known bool) {
	if source >= r.targets {
		return 0, true
	}
	return min(r.reach, r.targets-1-source), true
}

func (r *neighbours) longest() uint64 { return r.reach }
func (r *neighbours) unit() unit      { return bySource }
func (r *neighbours) scattered() bool { return false }
func (r *neighbours) scratch() uint64 { return 0 }
func (r *neighbours) sizeKey() string { return "reach" }

func (r *neighbours) draw(lo, hi uint64, b *batch) {
	for s := lo; s < hi; s++ {
		n, _ := r.row(s)
		for t := s + 1; t <= s+n; t++ {
			b.add(s, t, s*r.targets+t)
		}
	}
}
`},
	{"connectome/rules_test.go", "}{\n	{\"one to one\", genome.Projection{Rule: genome.OneToOne}, 60, 0x57219e61cab07b28},\n",
		"	{\"neighbours\", genome.Projection{Rule: genome.Neighbours, Reach: 3}, 3*60 - 6, 0x9e822be05eac25f8},\n"},
}

// tryNewRule is a program's view of it.
const tryNewRule = `package connectome

import (
	"testing"

	"github.com/stretchr/testify/require"

	"burst/genome"
)

func TestNeighbours(t *testing.T) {
	g, err := genome.Parse("net.yaml", []byte("burst: v1\nareas: [{name: a, neurons: 5}]\nprojections: [{from: a, to: a, rule: neighbours, reach: 2, weight: 1}]\n"), nil)
	require.NoError(t, err)
	c, err := Build(g, Options{})
	require.NoError(t, err)
	require.Equal(t, [][2]uint32{{0, 1}, {0, 2}, {1, 2}, {1, 3}, {2, 3}, {2, 4}, {3, 4}}, pairs(c))
	_, err = genome.Parse("net.yaml", []byte("burst: v1\nareas: [{name: a, neurons: 5}]\nprojections: [{from: a, to: a, rule: neighbours, weight: 1}]\n"), nil)
	require.ErrorContains(t, err, "key \"reach\" is missing; the rule neighbours needs it")
}
`

// A rule is added in four files at most, its tests among them: with the edits above, in a copy, it passes the tests that every rule must
// pass, and can be used.
func TestNewRuleTakesFourFiles(t *testing.T) {
	slow.Test(t)
	dir, files := t.TempDir(), map[string]string{}
	for _, e := range newRule {
		text, started := files[e.file]
		if !started && e.line != "" {
			read, err := os.ReadFile(e.file)
			require.NoError(t, err)
			text = string(read)
		}
		require.True(t, e.line == "" || strings.Count(text, e.line) == 1, "%s: %q", e.file, e.line)
		files[e.file] = strings.Replace(text, e.line, e.line+e.text, 1)
	}
	require.LessOrEqual(t, len(files), 4)
	files["connectome/trynewrule_test.go"] = tryNewRule
	replace := map[string]string{}
	root, err := os.Getwd()
	require.NoError(t, err)
	for file, text := range files {
		at := filepath.Join(dir, strings.ReplaceAll(file, "/", "_"))
		require.NoError(t, os.WriteFile(at, []byte(text), 0o644))
		replace[filepath.Join(root, file)] = at
	}
	overlay, err := json.Marshal(map[string]any{"Replace": replace})
	require.NoError(t, err)
	list := filepath.Join(dir, "overlay.json")
	require.NoError(t, os.WriteFile(list, overlay, 0o644))
	tests := []string{"TestNeighbours", "TestRulesPredictTheirSynapses", "TestGoldenHashesAtAnyThreadCount", "TestSchemaKeys"}
	out, err := exec.Command("go", "test", "-vet=off", "-overlay="+list, "-v", "-run=^("+strings.Join(tests, "|")+")$", "./genome", "./connectome").CombinedOutput()
	require.NoError(t, err, "%s", out)
	for _, name := range tests {
		require.Contains(t, string(out), "--- PASS: "+name+" ", "%s", out)
	}
}
