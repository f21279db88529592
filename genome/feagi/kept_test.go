package feagi_test

import (
	"fmt"
	"math"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"burst/backend/reference"
	"burst/engine"
	"burst/genome"
	"burst/genome/feagi"

	"github.com/stretchr/testify/require"
)

// TestReleasedMemory holds memory areas to what FEAGI's released server kept, burst by burst, of the same spikes: hashes, lifespans and
// what is long-term. In its burst t + 1 it looks at what fired in burst t of the file, counted from 0, and so does burst in burst t + 1.
func TestReleasedMemory(t *testing.T) {
	text, err := os.ReadFile("testdata/memory.json")
	require.NoError(t, err)
	g, _, err := feagi.Import("memory.json", text, feagi.Options{})
	require.NoError(t, err)
	recorded, err := os.ReadFile("testdata/memory.kept")
	require.NoError(t, err)
	lines := strings.Split(strings.TrimRight(string(recorded), "\n"), "\n")
	for strings.HasPrefix(lines[0], "#") {
		lines = lines[1:]
	}
	first := slices.Repeat([]uint32{math.MaxUint32}, len(g.Areas))
	var eyes []int
	for _, m := range regexp.MustCompile(`"([^"]+)" (\d+)`).FindAllStringSubmatch(lines[0], -1) {
		i := slices.IndexFunc(g.Areas, func(a genome.Area) bool { return a.Name == m[1] })
		n, err := strconv.ParseUint(m[2], 10, 32)
		require.NoError(t, err)
		eyes, first[i] = append(eyes, i), uint32(n)
	}
	lines = lines[1:]
	for k, i := range eyes {
		a := &g.Areas[i]
		a.Model, a.Params = genome.ModelNamed("spike_list"), map[string]float64{}
		for b, line := range lines {
			for _, n := range strings.Fields(regexp.MustCompile(`\[[\d ]*\]`).FindAllString(line, -1)[k]) {
				if n = strings.Trim(n, "[]"); n != "" {
					x, err := strconv.ParseUint(n, 10, 32)
					require.NoError(t, err)
					a.Spikes = append(a.Spikes, genome.Spike{Burst: uint64(b), Neuron: uint32(x)})
				}
			}
		}
	}
	for i := range g.Areas {
		if g.Areas[i].Upstream != nil {
			g.Areas[i].Size[0] = 40 // as many as are needed
		}
	}
	made, _, err := feagi.Numbered(g, first)
	require.NoError(t, err)
	c := build(t, made)
	backend, err := reference.Open(c, engine.Want{})
	require.NoError(t, err)
	var out engine.Burst
	var s engine.State
	require.NoError(t, backend.Step(nil, &out))
	compared, longTerm := 0, 0
	for b, line := range lines {
		require.NoError(t, backend.Step(nil, &out))
		require.NoError(t, backend.ReadState(&s))
		want := strings.Split(line, "|")[1:]
		if len(want) == 0 { // the server had gone on before all was read
			continue
		}
		for k := range s.Memory {
			var have []string
			for i, left := range s.Memory[k].Lifespan {
				if left > 0 {
					text := fmt.Sprintf("%016x:%d", s.Memory[k].Pattern[i], left)
					if s.Memory[k].LongTerm[i] != 0 {
						text += "!"
						longTerm++
					}
					have = append(have, text)
				}
			}
			slices.Sort(have)
			require.Equal(t, strings.Fields(want[k]), append([]string{}, have...), "burst %d, %s", b, c.Memories()[k].Name)
			compared += len(have)
		}
	}
	require.Greater(t, compared, 500)
	require.Greater(t, longTerm, 50)
}
