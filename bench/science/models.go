package main

import (
	"cmp"
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"math"
	"strings"

	"burst/backend"
	"burst/connectome"
	"burst/engine"
	"burst/genome"
)

//go:embed testdata/nest_models.json
var nestModels []byte

// nestTable are NEST's f-I curves and peaks of post-synaptic potentials, which testdata/nest_models.py made.
type nestTable struct {
	NEST   string      `json:"nest"` // its version
	Models []nestModel `json:"models"`
}

// nestModel are the values of a model: rates under constant currents, and the peaks of what a spike to each of two ports does to V.
type nestModel struct {
	Nest    string    `json:"nest"`
	Model   string    `json:"model"`
	Params  string    `json:"params"`  // beside the defaults
	Neurons int       `json:"neurons"` // of which the rate is the mean
	Step    float64   `json:"step_ms"` // of a burst, nestStep where 0
	Current []float64 `json:"current_pA"`
	Rate    []float64 `json:"rate_hz"`
	Held    float64   `json:"psp_current_pA"` // constant current while a potential is looked at
	Weight  []float64 `json:"weight"`         // in the port's unit
	PSP     []float64 `json:"psp_mV"`
}

func readNESTModels() (nestTable, error) {
	var t nestTable
	err := json.Unmarshal(nestModels, &t)
	return t, err
}

const nestStep = 0.1 // ms

// step is the length of a burst in ms.
func (m *nestModel) step() float64 { return cmp.Or(m.Step, nestStep) }

// driven is what an area has beside its model: parameters, and a current, which models written as formulas have as a parameter.
func (m *nestModel) driven(current float64) string {
	switch g := genome.ModelNamed(m.Model); {
	case g.Custom != nil:
		return fmt.Sprintf("params: {I_e: %g pA, %s}", current, m.Params)
	case g.Drive[0] == genome.Plain:
		return fmt.Sprintf("params: {%s}, drive: {constant: %g}", m.Params, current)
	}
	return fmt.Sprintf("params: {%s}, drive: {constant: %g pA}", m.Params, current)
}

// run runs the neurons under a current, with one stimulus, for n bursts.
func (m *nestModel) run(o options, current float64, stimulus string, n uint64, each recorder, want engine.Want) error {
	text := fmt.Sprintf("burst: v1\ntimestep: %g ms\nscale: auto\nareas: [{name: a, neurons: %d, model: %s, %s}]\n%s", m.step(), m.Neurons, m.Model, m.driven(current), stimulus)
	g, err := genome.Parse(m.Model, []byte(text), nil)
	if err != nil {
		return err
	}
	c, err := connectome.Build(g, connectome.Options{})
	if err != nil {
		return err
	}
	b, err := backend.Open(o.backend, c, backend.Options{Want: want})
	if err != nil {
		return err
	}
	defer b.Close()
	return engine.New(c, b, engine.Options{Recorders: []engine.Recorder{each}}).Run(context.Background(), n)
}

// rate is the script's, in Hz: of the spikes from 500 to 2000 ms the intervals over the time from the first to the last, 0 for fewer than
// three spikes; of several neurons the mean of their spikes over the time.
func (m *nestModel) rate(o options, current float64) (float64, error) {
	var times []uint64
	spikes := 0
	err := m.run(o, current, "", uint64(math.Round(2000/m.step())), func(b *engine.Burst) error {
		if len(b.Fired) > 0 && float64(b.Number+1)*m.step() > 500 {
			times = append(times, b.Number)
			spikes += len(b.Fired)
		}
		return nil
	}, engine.Want{})
	if err != nil || len(times) < 3 {
		return 0, err
	}
	if m.Neurons > 1 {
		return float64(spikes) / float64(m.Neurons) / 1.5, nil
	}
	return 1000 * float64(len(times)-1) / (float64(times[len(times)-1]-times[0]) * m.step()), nil
}

// response is how far V is, after each burst from the one on in which a spike comes to the k-th port, from where it was before, in mV.
func (m *nestModel) response(o options, k int) ([]float64, error) {
	const at, bursts = 7000, 2000
	ports := genome.ModelNamed(m.Model).Ports
	port := ports[min(k, len(ports)-1)]
	unit := map[genome.Dimension]string{genome.Voltage: "mV", genome.Current: "pA", genome.Conductance: "nS"}[port.Unit]
	stimulus := fmt.Sprintf("stimuli: [{to: {area: a, port: %s}, at: %d, neurons: [0], amount: %s}]\n", port.Name, at, strings.TrimSpace(fmt.Sprintf("%g %s", m.Weight[k], unit)))
	var v []float64
	err := m.run(o, m.Held, stimulus, at+bursts, func(b *engine.Burst) error {
		v = append(v, float64(b.Values[0]))
		return nil
	}, engine.Want{Values: []engine.Probe{{}}})
	if err != nil {
		return nil, err
	}
	base := v[at-1]
	for i := range v {
		v[i] -= base
	}
	return v[at:], nil
}

// furthest is the number that is furthest from 0.
func furthest(list []float64) (most float64) {
	for _, x := range list {
		if math.Abs(x) > math.Abs(most) {
			most = x
		}
	}
	return most
}
