package enginetest

import (
	"fmt"
	"strings"
	"testing"

	"burst/connectome"
	"burst/engine"
	"burst/genome"
)

// writtenText is a genome that has an area of each model that is written as formulas, under a current at which it fires, with events
// for every port, and where it can with a capacitance of each neuron's own.
func writtenText() string {
	var b strings.Builder
	b.WriteString("burst: v1\ntimestep: 0.1 ms\nscale: 4096\nareas:\n")
	events := map[genome.Dimension]string{genome.Plain: "0.5", genome.Voltage: "0.5 mV", genome.Current: "80 pA", genome.Conductance: "1 nS"}
	for _, m := range genome.Written() {
		fmt.Fprintf(&b, "  - name: %s\n    model: %s\n    neurons: 37\n", m.Name, m.Name)
		for i := range m.Params {
			if p := &m.Params[i]; p.Name == "C" {
				fmt.Fprintf(&b, "    params: {I_e: 900 pA, C: \"uniform(%g pF, %g pF)\"}\n", 0.3*p.Default, 1.2*p.Default)
			}
		}
		b.WriteString("    drive:\n")
		for _, port := range m.Ports {
			fmt.Fprintf(&b, "      - {to: {port: %s}, poisson: {rate: 2 kHz, weight: %s}}\n", port.Name, events[port.Unit])
		}
	}
	return b.String()
}

// runWritten compares a backend with the oracle on the models that are written as formulas.
func runWritten(t *testing.T, open, oracle Open) {
	g, err := genome.Parse("written.yaml", []byte(writtenText()), nil)
	must(t, err)
	c, err := connectome.Build(g, connectome.Options{})
	must(t, err)
	a, b := start(t, oracle, c, engine.Want{}), start(t, open, c, engine.Want{})
	const bursts = 120
	d, err := engine.Compare(a, b, bursts, engine.NewFeed(c, nil).Next, 40)
	must(t, err)
	if d != nil {
		t.Fatal(d)
	}
	feed, again, fired := engine.NewFeed(c, nil), start(t, oracle, c, engine.Want{}), map[int]bool{}
	var out engine.Burst
	for number := range uint64(bursts) {
		in, err := feed.Next(number)
		must(t, err)
		must(t, again.Step(in, &out))
		for _, n := range out.Fired {
			fired[c.AreaOf(n)] = true
		}
	}
	for i, m := range genome.Written() {
		if !fired[i] {
			t.Errorf("%s does not fire", m.Name)
		}
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
