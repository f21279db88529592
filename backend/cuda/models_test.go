package cuda

import (
	"fmt"
	"io/fs"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"burst/genome"
	"burst/kernels"
)

// TestModelNumbers: the kernels know every model by the number of its descriptor, and have room for its constants.
func TestModelNumbers(t *testing.T) {
	source := func(name string) string {
		text, err := fs.ReadFile(kernels.Sources, name)
		require.NoError(t, err)
		return string(text)
	}
	dynamics := source("neural_dynamics_fcl.cu")
	list := regexp.MustCompile(`enum model \{ (.*) \};`).FindStringSubmatch(dynamics)
	require.NotNil(t, list)
	models := slices.DeleteFunc(strings.Split(list[1], ", "), func(name string) bool { return name == "MODELS" })
	known := slices.DeleteFunc(genome.Models(), func(m *genome.Model) bool { return m.Has("upstream") }) // which they run as spike lists
	require.Contains(t, models, fmt.Sprint("SPIKE_LIST = ", spikeList))
	require.Len(t, models, len(known)+1)
	require.Contains(t, models, fmt.Sprint("CUSTOM = ", genome.CustomNumber))
	for _, m := range known {
		require.Contains(t, list[1]+",", fmt.Sprintf(" = %d,", m.Number), m.Name)
		require.LessOrEqual(t, len(m.Constants), mostConstants, m.Name)
	}
	require.Contains(t, source("network.cuh"), fmt.Sprintf("const u32 MOST_CONSTANTS = %d;", mostConstants))

	places := regexp.MustCompile(`enum feagi_constant \{ (.*) \};`).FindStringSubmatch(dynamics)
	require.NotNil(t, places)
	require.Len(t, strings.Split(places[1], ", "), len(genome.Models()[0].Constants))
}
