package feagi_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"burst/connectome"
	"burst/genome/feagi"
	"burst/internal/slow"

	"github.com/stretchr/testify/require"
)

const guide = "../../docs/feagi.md"

// The marks between which the guide holds the table of public genomes.
const begin, end = "<!-- genomes: begin -->\n", "<!-- genomes: end -->\n"

var (
	update  = flag.Bool("update", false, "write the table of public genomes into docs/feagi.md")
	genomes = flag.String("genomes", filepath.Join("..", "..", "..", "shared", "data", "feagi-genomes"), "folder of FEAGI genomes for the table")
)

// bursts is the length of the runs of the table.
const bursts = 250

// Every public genome imports, builds and runs with spikes in its sensors, with the same digest and the same candidates on
// the backends of this machine; the guide's table says what came of it.
func TestTable(t *testing.T) {
	if testing.Short() {
		t.Skip("9 networks on the reference backend take too long for a short test")
	}
	slow.Test(t)
	files, err := filepath.Glob(filepath.Join(*genomes, "*.json"))
	require.NoError(t, err)
	if len(files) == 0 {
		lacking(t, *genomes)
	}
	var b strings.Builder
	b.WriteString("\n| genome | dialect | areas | neurons | synapses | by rule | network |\n| --- | --- | ---: | ---: | ---: | ---: | --- |\n")
	var runs strings.Builder
	fmt.Fprintf(&runs, "\n| genome | mappings that carry | weights learnt | spikes of %d bursts | digest | candidates |\n| --- | ---: | ---: | ---: | --- | --- |\n", bursts)
	seen := map[uint64]string{}
	for _, file := range files {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		name := filepath.Base(file)
		g, r, err := feagi.Import(name, text, feagi.Options{})
		if err != nil {
			fmt.Fprintf(&b, "| %s | refused: a layout that FEAGI itself loads no area from ||||||\n", name)
			require.ErrorContains(t, err, "blueprint.cortical_areas", name)
			continue
		}
		c, err := connectome.Build(g, connectome.Options{})
		require.NoError(t, err, name)
		fast, oracle := observe(t, g, c, "cpu"), observe(t, g, c, "reference")
		require.Equal(t, oracle, fast, "reference and cpu, %s", name)
		require.Equal(t, c.Total() > 0, fast.carry > 0, "%s: no mapping carries a spike", name)
		require.Empty(t, seen[fast.fcl], "%s has the candidates of another genome", name)
		seen[fast.fcl] = name
		fmt.Fprintf(&b, "| %s | %s | %d | %d | %d | %d | `%016x` |\n", name, r.Dialect, len(r.Areas), c.Neurons, c.Total(), c.ByRule, c.Hash())
		fmt.Fprintf(&runs, "| %s | %d of %d | %d of %d | %d | `%016x` | `%016x` |\n", name, fast.carry, len(g.Projections), fast.learnt, c.Total()-c.Synapses(), fast.spikes, fast.digest, fast.fcl)
	}
	b.WriteString(runs.String() + "\n")
	doc, err := os.ReadFile(guide)
	require.NoError(t, err)
	before, rest, ok := strings.Cut(string(doc), begin)
	table, after, ok2 := strings.Cut(rest, end)
	require.True(t, ok && ok2, "the guide lacks the marks of its table")
	if *update {
		require.NoError(t, os.WriteFile(guide, []byte(before+begin+b.String()+end+after), 0o644))
		return
	}
	require.Equal(t, table, b.String(), "run make feagi-table")
}
