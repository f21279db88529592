package main

import (
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"burst/engine"
	"burst/genome"
	"burst/internal/slow"

	"github.com/stretchr/testify/require"
)

// TestPlasticityPage runs the examples of docs/plasticity.md, each to its end: their weights and rates are what the page says of them.
func TestPlasticityPage(t *testing.T) {
	slow.Short(t)
	text, err := os.ReadFile("../../docs/plasticity.md")
	require.NoError(t, err)
	blocks := regexp.MustCompile("(?s)```yaml\n(burst: v1\n.*?)```\n\n(.*?)\n\n").FindAllStringSubmatch(string(text), -1)
	require.Len(t, blocks, 3)
	for _, block := range blocks {
		g, err := genome.Parse("page.yaml", []byte(block[1]), nil)
		require.NoError(t, err)
		t.Run(g.Name, func(t *testing.T) {
			a, err := newActivity([]byte(block[1]))
			require.NoError(t, err)
			from := g.Bursts - g.Bursts/4
			s, err := learned(options{backend: "cpu"}, block[1], g.Bursts, recorder(func(b *engine.Burst) error {
				if b.Number >= from {
					a.add(b)
				}
				return nil
			}))
			require.NoError(t, err)
			var found []string
			for _, p := range s.Plastic {
				if len(p.Weight) == 2 {
					found = append(found, fmt.Sprintf("%.1f mV", p.Weight[0]), fmt.Sprintf("%.1f mV", p.Weight[1]))
					continue
				}
				mean, _ := threeErrors(p.Weight)
				found = append(found, fmt.Sprintf("%.2f mV", mean))
			}
			if slices.Contains(a.names, "E") {
				found = append(found, fmt.Sprintf("%.1f Hz", a.rate("E", float64(g.Bursts-from)*g.Timestep/1000)))
			}
			t.Logf("found %v", found)
			said := strings.Join(strings.Fields(block[2]), " ")
			for _, x := range found {
				require.Contains(t, said, x)
			}
		})
	}
}
