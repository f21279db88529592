package feagi_test

import (
	"os"
	"path/filepath"
	"testing"

	"burst/connectome"
	"burst/genome/feagi"

	"github.com/stretchr/testify/require"
)

// sharedGenome reads one of the public genomes that lie beside the checkout, or skips.
func sharedGenome(t *testing.T, name string) (string, []byte) {
	t.Helper()
	path := filepath.Join("..", "..", "..", "shared", "data", "feagi-genomes", name)
	text, err := os.ReadFile(path)
	if err != nil {
		lacking(t, path)
	}
	return name, text
}

// lacking skips a test of public genomes that are not there; where all checks run they must be.
func lacking(t *testing.T, path string) {
	t.Helper()
	require.NotEqual(t, "true", os.Getenv("CI"), "no public genomes in %s; with CI=true they lie in shared/data/feagi-genomes beside the checkout", path)
	t.Skipf("no public genomes in %s", path)
}

// The public genomes have the areas, neurons and synapses that were counted by hand from FEAGI's rules.
func TestSharedCounts(t *testing.T) {
	for _, c := range []struct {
		file              string
		areas             int
		neurons, synapses uint64
	}{
		{"core-barebones.json", 2, 2, 0},
		{"core-essential.json", 24, 55_357, 1_552},
		{"core-vision.json", 25, 204_862, 2_064},
		{"community-pong.json", 17, 56_555, 442_380},
		{"community-learning.json", 65, 47_313, 33_946},
		{"community-gesture.json", 37, 8_351, 14_752},
		{"community-mujoco.json", 29, 18_663, 400},
		{"community-salamander.json", 6, 282, 40},
		{"community-taffybot.json", 28, 69_048, 1_552},
	} {
		t.Run(c.file, func(t *testing.T) {
			name, text := sharedGenome(t, c.file)
			g, r, err := feagi.Import(name, text, feagi.Options{})
			require.NoError(t, err)
			s, err := connectome.Measure(g, connectome.Options{Threads: 1})
			require.NoError(t, err)
			require.Len(t, r.Areas, c.areas)
			require.Equal(t, c.neurons, r.Neurons)
			require.Equal(t, c.neurons, s.Neurons)
			require.Equal(t, c.synapses, s.Synapses, "by rule: %d", s.ByRule)
			require.Equal(t, feagi.Python, r.Dialect)
		})
	}
}

// A layout that FEAGI itself loads nothing from is refused, not read as an empty genome.
func TestSharedUnloadable(t *testing.T) {
	name, text := sharedGenome(t, "core-hierarchical-fp32.json")
	_, _, err := feagi.Import(name, text, feagi.Options{})
	require.ErrorContains(t, err, "blueprint.cortical_areas")
}
