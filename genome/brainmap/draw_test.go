package brainmap_test

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"burst/genome"
	"burst/genome/brainmap"

	"github.com/stretchr/testify/require"
)

func draw(t *testing.T, text string) string {
	t.Helper()
	g, err := genome.Parse("g.yaml", []byte(text), nil)
	require.NoError(t, err)
	var b bytes.Buffer
	require.NoError(t, brainmap.Draw(&b, g))
	d := xml.NewDecoder(bytes.NewReader(b.Bytes()))
	for {
		_, err := d.Token()
		if errors.Is(err, io.EOF) {
			return b.String()
		}
		require.NoError(t, err, "the picture is XML")
	}
}

const three = `
burst: v1
name: three
areas:
  - {name: eye, size: [30, 20, 1], group: ipu, position: [0, 0, 0]}
  - {name: brain one, size: [5, 5, 5], position: [60, 40, -7]}
  - {name: past, group: memory, neurons: 0, position: [-20, 40, 9]}
projections:
  - {from: eye, to: brain one, rule: projector, weight: 1}
  - {from: eye, to: brain one, rule: block_to_block, weight: 2}
  - {from: brain one, to: eye, rule: projector, weight: -1}
  - {from: brain one, to: brain one, rule: projector, weight: 1}
`

// Every area has its box and its name, once; every pair of areas and sign of weight one arrow.
func TestDraw(t *testing.T) {
	svg := draw(t, three)
	for _, name := range []string{">eye<", ">brain one<", ">past<", ">three: 3 areas<"} {
		require.Equal(t, 1, strings.Count(svg, name), name)
	}
	require.Equal(t, 3, strings.Count(svg, "stroke-width:0.7"), "two arrows and a loop")
	require.Contains(t, svg, "stroke:#C82828", "the inhibitory one is red")
	require.Equal(t, svg, draw(t, three), "the same picture each time")
}

// x runs to the right and y up, with the smallest sides still to be seen.
func TestPlaces(t *testing.T) {
	svg := draw(t, "burst: v1\nareas:\n  - {name: low, neurons: 1, position: [0, 0, 0]}\n  - {name: high, neurons: 1, position: [1000, 500, 0]}\n")
	at := func(name string) (x, y float64) {
		before, _, ok := strings.Cut(svg, ">"+name+"<")
		require.True(t, ok)
		_, err := fmt.Sscanf(before[strings.LastIndex(before, "<text"):], `<text x="%g" y="%g"`, &x, &y)
		require.NoError(t, err)
		return x, -y
	}
	x0, y0 := at("low")
	x1, y1 := at("high")
	require.Greater(t, x1, x0+700)
	require.Greater(t, y1, y0+350)
}

// Areas without positions do not lie on top of each other.
func TestRows(t *testing.T) {
	var b strings.Builder
	b.WriteString("burst: v1\nareas:\n")
	for i := range 30 {
		fmt.Fprintf(&b, "  - {name: area %d, size: [%d, 4, 2]}\n", i, 1+i*i)
	}
	svg := draw(t, b.String())
	seen := map[string]bool{}
	for _, part := range strings.Split(svg, "<text ")[1:] {
		place, _, _ := strings.Cut(part, "transform")
		require.False(t, seen[place], "two labels at %s", place)
		seen[place] = true
	}
}
