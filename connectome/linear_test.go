package connectome

import (
	"bytes"
	"flag"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"burst/genome"
)

var projections = flag.Int("projections", 200, "how many projections TestManyProjections has")

// A genome of many projections of all kinds is parsed, checked, measured and built, in parts too. Areas grow in number with them, so that
// each has four.
func TestManyProjections(t *testing.T) {
	areas := max(4, *projections/4)
	var text strings.Builder
	text.WriteString("burst: v1\nscale: auto\nareas:\n")
	for i := range areas {
		fmt.Fprintf(&text, "  - {name: area%d, neurons: 4, divide_psp: %t}\n", i, i%8 == 0)
	}
	text.WriteString("projections:\n")
	rules := []string{
		`fixed_total_number, count: 7, weight: "normal(8, 0.5) >= 0", delay: "normal(3, 1) >= 1"`, "fixed_indegree, indegree: 2, weight: 1, delay: 2",
		"fixed_outdegree, outdegree: 2, weight: -1", "pairwise_bernoulli, p: 0.4, weight: 2", "projector, weight: 3, merge: true", "vectors, vectors: [[1, 0, 0]], weight: 1, merge: true",
		"edges, weight: 1, file: list%d.csv",
	}
	for i := range *projections {
		from, rule := i%areas, rules[i%len(rules)]
		if from%8 == 0 {
			rule = rules[2] // what is divided has one weight
		}
		if strings.Contains(rule, "%d") {
			rule = fmt.Sprintf(rule, i)
		}
		fmt.Fprintf(&text, "  - {from: area%d, to: area%d, rule: %s}\n", from, (from+i/areas/2)%areas, rule)
	}
	g, err := genome.Parse("many.yaml", []byte(text.String()), func(string) (io.ReadCloser, error) {
		return memFile{bytes.NewReader([]byte("source,target\n1,2\n"))}, nil
	})
	require.NoError(t, err)
	_, err = Check(g, Options{})
	require.NoError(t, err)
	sizes, err := Measure(g, Options{Threads: 2})
	require.NoError(t, err)
	whole, err := Build(g, Options{Threads: 2})
	require.NoError(t, err)
	require.Equal(t, sizes.Synapses, whole.Synapses())
	parts, err := inTurn(g, 2, Options{Threads: 2})
	require.NoError(t, err)
	require.Equal(t, whole.Hash(), parts.Hash())
}
