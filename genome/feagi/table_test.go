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

	"github.com/stretchr/testify/require"
)

const guide = "../../docs/feagi.md"

// The marks between which the guide holds the table of public genomes.
const begin, end = "<!-- genomes: begin -->\n", "<!-- genomes: end -->\n"

var (
	update  = flag.Bool("update", false, "write the table of public genomes into docs/feagi.md")
	genomes = flag.String("genomes", filepath.Join("..", "..", "..", "shared", "data", "feagi-genomes"), "folder of FEAGI genomes for the table")
)

// Every public genome imports, builds and runs 1,000 bursts with the same digest on the backends of this machine; the
// guide's table says what came of it.
func TestTable(t *testing.T) {
	if testing.Short() {
		t.Skip("10 networks of 1,000 bursts on the reference backend take too long for a short test")
	}
	files, err := filepath.Glob(filepath.Join(*genomes, "*.json"))
	require.NoError(t, err)
	if len(files) == 0 {
		t.Skipf("no FEAGI genomes in %s", *genomes)
	}
	var b strings.Builder
	b.WriteString("\n| genome | dialect | areas | neurons | synapses | by rule | spikes of 1,000 bursts | digest |\n")
	b.WriteString("| --- | --- | ---: | ---: | ---: | ---: | ---: | --- |\n")
	for _, file := range files {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		name := filepath.Base(file)
		g, r, err := feagi.Import(name, text, feagi.Options{})
		if err != nil {
			fmt.Fprintf(&b, "| %s | refused: a layout that FEAGI itself loads no area from |||||||\n", name)
			require.ErrorContains(t, err, "blueprint.cortical_areas", name)
			continue
		}
		c, err := connectome.Build(g, connectome.Options{})
		require.NoError(t, err, name)
		sum, spikes := digest(t, c, "cpu", 1000)
		oracle, _ := digest(t, c, "reference", 1000)
		require.Equal(t, oracle, sum, "reference and cpu, %s", name)
		fmt.Fprintf(&b, "| %s | %s | %d | %d | %d | %d | %d | `%016x` |\n", name, r.Dialect, len(r.Areas), c.Neurons, c.Synapses(), c.ByRule, spikes, sum)
	}
	b.WriteString("\n")
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
