package connectome

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"burst/genome"
)

// receptors has a model with three ports and one with two, and names ports in all places where that is possible.
const receptors = `burst: v1
scale: 100
models:
  - name: three
    ports: {ampa: nS, nmda: nS, noise: pA}
    state: {v: 0, s: 0}
    update: [s = s/2 + nmda, v = v/2 + ampa + s + noise]
    threshold: v > 3
areas:
  - {name: a, neurons: 4, model: poisson, params: {rate: 100 Hz}}
  - name: b
    neurons: 4
    model: three
    drive:
      - {to: {port: noise}, normal: {mean: 1 pA, sd: 64 pA}}
      - {to: {port: nmda, area: b}, poisson: {rate: 100 Hz, weight: -2 nS}}
      - {to: {port: ampa}, constant: 0.5 nS}
  - {name: c, neurons: 4, model: lif_psc_exp}
projections:
  - {from: a, to: {area: b, port: nmda}, rule: one_to_one, weight: 1 nS}
  - {from: a, to: {area: b, port: noise}, rule: one_to_one, weight: -3 pA}
  - {from: a, to: {area: b, port: ampa}, rule: one_to_one, weight: 0.001 uS}
  - {from: a, to: {area: c, port: ex}, rule: one_to_one, weight: -5 pA}
  - {from: a, to: c, rule: one_to_one, weight: -6 pA}
stimuli:
  - {to: {area: b, port: noise}, at: 3, neurons: [1], amount: -7 pA}
  - {to: {area: c, port: in}, at: 3, neurons: [2], amount: 8 pA}
`

func TestNamedPorts(t *testing.T) {
	c, err := own(t, receptors)
	require.NoError(t, err)
	require.EqualValues(t, 3*4+2*4, c.Ports)
	for n := range uint32(4) {
		row := slices.Clone(c.Target[c.Row[n]:c.Row[n+1]])
		require.Equal(t, []uint32{n, 4 + n, 8 + n, 12 + n, 16 + n}, row)
		require.Equal(t, []int32{100, 100, -300, -500, -600}, c.Weight[c.Row[n]:c.Row[n+1]])
	}
	require.Equal(t, []uint32{9}, c.Stimuli[0].Ports)
	require.Equal(t, []uint32{18}, c.Stimuli[1].Ports)
	drives := c.Areas[1].Drives
	require.Equal(t, []int{3, 2, 1}, []int{drives[0].Port, drives[1].Port, drives[2].Port})
	events := uint32(len(drives[1].Counts))
	noise := uint32(drives[0].Table[len(drives[0].Table)-1])
	require.Equal(t, []uint32{100 + 50, 100 + 200*events, 300 + noise}, []uint32{c.Bound[0], c.Bound[4], c.Bound[8]}, "each port has a proof of its own")
	require.Equal(t, []uint32{500, 600}, []uint32{c.Bound[12], c.Bound[16]})

	hash := c.Hash()
	for _, change := range [][2]string{{"drive:\n      - {to: {port: noise}, normal: {mean: 1 pA, sd: 64 pA}}", "drive:\n      - {to: {port: ampa}, normal: {mean: 1 nS, sd: 64 nS}}"}, {"port: ex}", "port: in}"}} {
		require.Contains(t, receptors, change[0])
		other, err := own(t, strings.Replace(receptors, change[0], change[1], 1))
		require.NoError(t, err)
		require.NotEqual(t, hash, other.Hash())
	}
	constant := strings.Replace(receptors, "neurons: 4, model: lif_psc_exp}", "neurons: 4, model: lif_psc_exp, drive: {to: {port: in}, poisson: {rate: 10 Hz, weight: -1 pA}}}", 1)
	named, err := own(t, constant)
	require.NoError(t, err)
	unnamed, err := own(t, strings.Replace(constant, "to: {port: in}, ", "", 1))
	require.NoError(t, err)
	require.Equal(t, unnamed.Hash(), named.Hash(), "a drive to the port that its sign chooses")
	other, err := own(t, strings.Replace(constant, "to: {port: in}, ", "to: {port: ex}, ", 1))
	require.NoError(t, err)
	require.NotEqual(t, unnamed.Hash(), other.Hash())
	short, err := own(t, strings.Replace(strings.Replace(receptors, "-5 pA", "5 pA", 1), "{area: c, port: ex}", "c", 1))
	require.NoError(t, err)
	long, err := own(t, strings.Replace(receptors, "-5 pA", "5 pA", 1))
	require.NoError(t, err)
	require.Equal(t, short.Hash(), long.Hash(), "the name of the port that the sign chooses")
}

// TestPortsOverflow: the sum of one port may not leave int32, whatever the others leave, and the error names it.
func TestPortsOverflow(t *testing.T) {
	_, err := own(t, strings.Replace(receptors, "weight: -3 pA", "weight: -21474836 pA", 1))
	require.ErrorContains(t, err, `neuron 0 of area "b" could receive`)
	require.ErrorContains(t, err, " quanta in one burst at noise, more than 2147483647")
	_, err = own(t, strings.Replace(receptors, "weight: -3 pA", "weight: -20000000 pA", 1))
	require.NoError(t, err)
}

// TestPortsMerge: projections merge that lead to one port, and only those.
func TestPortsMerge(t *testing.T) {
	text := strings.ReplaceAll(receptors, "rule: one_to_one", "rule: one_to_one, merge: true")
	text = strings.Replace(text, "  - {from: a, to: c, rule: one_to_one, merge: true, weight: -6 pA}", "  - {from: a, to: {area: b, port: nmda}, rule: all_to_all, merge: true, weight: 9 nS}", 1)
	c, err := own(t, text)
	require.NoError(t, err)
	for n := range uint32(4) {
		require.Equal(t, uint64(1+4+1+1), c.Row[n+1]-c.Row[n])
		for k := c.Row[n]; k < c.Row[n+1]; k++ {
			if c.Target[k] == 4+n {
				require.EqualValues(t, 1000, c.Weight[k])
			}
		}
	}
}

// TestPortsOfLists: a list's column chooses the ports, from 0; a port that the genome names must be that of the column.
func TestPortsOfLists(t *testing.T) {
	build := func(line, list string) (*Connectome, error) {
		head, _, _ := strings.Cut(receptors, "projections:")
		g, err := genome.Parse("net.yaml", []byte(head+"projections:\n  - "+line+"\n"), opener(map[string]string{"w.csv": list}))
		require.NoError(t, err)
		return Build(g, Options{})
	}
	const whole, area = "{rule: edges, file: w.csv}", "{from: a, to: {area: b, port: noise}, rule: edges, file: w.csv}"
	c, err := build(whole, "source,target,weight,port\n0,4,1,0\n0,5,2,1\n0,6,-3,2\n0,8,-4,0\n0,9,5,1\n")
	require.NoError(t, err)
	require.Equal(t, []uint32{0, 5, 10, 12, 17}, c.Target)
	require.Equal(t, []int32{100, 200, -300, -400, 500}, c.Weight)
	require.EqualValues(t, 300+uint32(c.Areas[1].Drives[0].Table[792]), c.Bound[10])
	c, err = build(area, "source,target,weight\n0,3,-1\n")
	require.NoError(t, err)
	require.Equal(t, []uint32{11}, c.Target)
	c, err = build("{from: a, to: c, rule: edges, file: w.csv, weight: 2 pA}", "source,target,port\n0,3,1\n0,2,0\n")
	require.NoError(t, err)
	require.Equal(t, []uint32{14, 19}, c.Target)
	for list, want := range map[string]string{
		"source,target,weight\n0,8,1\n0,4,1\n":          "row 2 (line 3), column target: found neuron 4 of area b, whose model three has the ports ampa, nmda, noise, want a column port",
		"source,target,weight,port\n0,8,1,1\n0,4,1,3\n": "row 2 (line 3), column port: 3, want 0…2: the model three has the ports ampa, nmda, noise",
		"source,target,weight,port\n0,8,1,2\n":          "row 1 (line 2), column port: 2, want 0…1: the model lif_psc_exp has the ports ex, in",
	} {
		_, err := build(whole, list)
		require.ErrorContains(t, err, want)
	}
	_, err = build(area, "source,target,weight,port\n0,0,1,2\n0,1,1,1\n")
	require.ErrorContains(t, err, "row 2 (line 3), column port: 1, which is nmda, want 2: the weights of this projection go to noise")
}
