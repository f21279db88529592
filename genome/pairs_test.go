package genome

import (
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const pairsText = `burst: v1
timestep: 0.1 ms
areas:
  - {name: A, neurons: 3, model: poisson, params: {rate: 5 Hz}}
  - {name: B, neurons: 3, model: lif}
  - {name: C, neurons: 3, model: lif_psc_exp}
  - {name: D, neurons: 3, model: lif_psc_exp}
projections:
`

// withoutPlaces is all projections as text, but for where they stand.
func withoutPlaces(g *Genome) (all []string) {
	for _, pr := range g.Projections {
		pr.Pos, pr.Weight.Pos, pr.Delay.Pos, pr.place = Pos{}, Pos{}, Pos{}, 0
		l := pr.Learning
		if pr.Learning = nil; l != nil {
			all = append(all, fmt.Sprint(l.Rule.Name, l.Params, l.Lo, l.Hi))
		}
		all = append(all, fmt.Sprintf("%+v", pr))
	}
	return all
}

// TestPairsOfAreas: lists of areas are the projections written out, in order.
func TestPairsOfAreas(t *testing.T) {
	for short, long := range map[string]string{
		"{from: [A, C], to: [C, D], RULE}":                                      "{from: A, to: C, RULE}\n{from: A, to: D, RULE}\n{from: C, to: C, RULE}\n{from: C, to: D, RULE}",
		"{from: A, to: {area: [D, C], port: in}, RULE}\n{from: C, to: C, RULE}": "{from: A, to: {area: D, port: in}, RULE}\n{from: A, to: {area: C, port: in}, RULE}\n{from: C, to: C, RULE}",
		"{from: [C], to: D, RULE, plasticity: stdp}":                            "{from: C, to: D, RULE, plasticity: stdp}",
		"{from: [A, D], to: C, RULE, plasticity: stdp}":                         "{from: A, to: C, RULE, plasticity: stdp}\n{from: D, to: C, RULE, plasticity: stdp}",
	} {
		parse := func(list string) *Genome {
			text := pairsText
			for _, line := range strings.Split(list, "\n") {
				text += "  - " + strings.ReplaceAll(line, "RULE", "rule: all_to_all, weight: 5 pA, delay: 2 ms") + "\n"
			}
			g, err := Parse("net.yaml", []byte(text), nil)
			require.NoError(t, err)
			return g
		}
		g, written := parse(short), parse(long)
		require.Equal(t, withoutPlaces(written), withoutPlaces(g), short)
		still, err := g.Frozen()
		require.NoError(t, err)
		writtenStill, err := written.Frozen()
		require.NoError(t, err)
		require.Equal(t, withoutPlaces(writtenStill), withoutPlaces(still), short)
	}
}

// TestPairsRefused: what is wrong with all pairs is said once, what is wrong with one names its area.
func TestPairsRefused(t *testing.T) {
	for entry, want := range map[string][]string{
		"{from: [A, B], to: [C, D], rule: all_to_all, weight: 5 mV}": {"net.yaml:9:58: projections[0].weight: "},
		"{from: [A, E], to: [C, D], rule: all_to_all, weight: 5 pA}": {`net.yaml:9:16: projections[0].from: expects the name of an area, found "E"`},
		"{from: A, to: [C, A], rule: all_to_all, weight: 5 pA}":      {"net.yaml:9:23: projections[0].to: expects an area that takes input, found A"},
		"{from: A, to: [B, C], rule: all_to_all, weight: 5 pA}":      {"net.yaml:9:53: projections[0].weight: "},
		"{from: [], to: C, rule: all_to_all, weight: 5 pA}":          {"net.yaml:9:12: projections[0].from: expects the name of one area, found a list"},
		"{from: [[A, B]], to: C, rule: all_to_all, weight: 5 pA}":    {"net.yaml:9:13: projections[0].from: expects the name of one area, found a list"},
		"{from: [A, B], to: C, rule: all_to_all, wieght: 5 pA}":      {"net.yaml:9:45: projections[0].wieght: unknown key"},
	} {
		_, err := Parse("net.yaml", []byte(pairsText+"  - "+entry+"\n"), nil)
		faults, is := err.(Faults)
		require.True(t, is, entry)
		require.Len(t, faults, len(want), "%v", err)
		for _, text := range want {
			require.ErrorContains(t, err, text)
		}
	}
	many := strings.Repeat("A, ", 300)
	_, err := Parse("net.yaml", []byte(pairsText+"  - {from: ["+many+"], to: ["+strings.ReplaceAll(many, "A", "B")+"], rule: all_to_all, weight: 5 mV}\n"), nil)
	require.ErrorContains(t, err, "expects at most 65536 pairs of areas in all lists, found 90000 up to here")
}

// TestFrozenBehindTables: rows of a table have no place in the text's list.
func TestFrozenBehindTables(t *testing.T) {
	g, err := Parse("net.yaml", []byte(pairsText+"  - {file: t.csv}\n  - {from: A, to: C, rule: all_to_all, weight: 5 pA, plasticity: stdp}\n"), func(string) (io.ReadCloser, error) {
		return memory{strings.NewReader("source,target,rule,weight\nA,C,all_to_all,3\nA,D,all_to_all,3\nA,D,all_to_all,3\n")}, nil
	})
	require.NoError(t, err)
	still, err := g.Frozen()
	require.NoError(t, err)
	require.Equal(t, "off", still.Projections[3].Learning.Rule.Name)
}
