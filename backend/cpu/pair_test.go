package cpu

import (
	"burst/internal/slow"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"burst/backend/cpu/internal/vector"
	"burst/backend/reference"
	"burst/connectome"
	"burst/engine"
	"burst/engine/enginetest"
	"burst/internal/formula"
)

// pairRules are handlers, and whether those are of a pair rule.
var pairRules = []struct {
	onPost, onPre string
	is            bool
}{
	{"w = w + up*x", "w = w - down*y", true},
	{"w = w + up*(1 - w)*x", "w = w - down*w*y", true},
	{"w = w + up*(1 - w/0.7)*x", "w = w - down*(w/0.7)*y", true},
	{"w = x*(w - 0.3) + w", "w = w - y*(-w)", true},
	{"w = w - up*x", "w = w - down*(y - 0.4)", true},
	{"w = w - (w + 0.1)*x", "w = w + (-up)*2*(0.1 + y)", true},
	{"w = w + up*x*(1 - w)", "w = w - down*y", false}, // rounds elsewhere
	{"w = up*x", "w = w - down*y", false},
	{"w = w + up*x", "w = w*(1 - down*y)", false},
	{"w = w + up*(0.4 - x)", "w = w - down*y", false},
	{"w = w + up*min(x, 0.5)", "w = w - down*y", false},
	{"w = w + up*x", "w = w - down*x*y", false},
	{"w = w + up*x", "w = w - down*z", false}, // not the trace that stands in heads
	{"w = w + x/2*x", "w = w - down*y", false},
}

// newPairs is a network of that rule. Targets fire about as often as sources, and some of them several times between two spikes.
func newPairs(t *testing.T, onPost, onPre string, delays uint32) *connectome.Connectome {
	const each = 70
	n := enginetest.Net{Scale: 1000, Areas: []connectome.Area{enginetest.Poisson(each, 0.04), enginetest.LIF(each)}}
	n.Plastic = []enginetest.Plastic{{
		From: 0, To: 1, Hi: 1, Lag: 2, Values: map[string]float32{"up": 0.03, "down": 0.05},
		Rule: enginetest.Handlers{Params: []string{"up", "down"}, Pre: []string{"x"}, Post: []string{"y", "z"}, OnPost: []string{onPost}, OnPre: []string{onPre}},
		Pre:  []connectome.Trace{enginetest.Trace(30, 1, false)}, Post: []connectome.Trace{enginetest.Trace(20, 1, false), enginetest.Trace(7, 0.5, false)},
	}}
	for i := range uint32(each) {
		for j := range uint32(each) {
			if (i+j)%11 > 0 {
				n.Plastic[0].Synapses = append(n.Plastic[0].Synapses, enginetest.Synapse{From: i, To: j, Weight: int32(500 + j), Delay: uint16(1 + (i*j)%delays)})
			}
		}
	}
	a := &n.Areas[1]
	a.Constant("em1").Const, a.Constant("threshold").Const, a.Constant("reset").Const = -0.1, 6, 0
	return n.Build()
}

// TestPairing compares pair rules with the reference, on the pass for them and on plain loops: each with one number of delays, or with two.
func TestPairing(t *testing.T) {
	slow.Short(t)
	for k, rule := range pairRules {
		for i, delays := range []uint32{1, 3} {
			if i != k/4%2 && !slow.Full() {
				continue
			}
			c := newPairs(t, rule.onPost, rule.onPre, delays)
			oracle, err := reference.Open(c, engine.Want{})
			require.NoError(t, err)
			kernels := []vector.Kernels{vector.Best(), vector.Plain()}[(k+int(delays))%2]
			b := eager(open(c, engine.Want{}, []int{1, 2, 3, 8}[k%4], kernels))
			d, err := engine.Compare(oracle, b, 400, nil, 61)
			require.NoError(t, err)
			if d != nil {
				t.Errorf("%v, %d delays: burst %d, neuron %d: %s is %s, want %s", rule, delays, d.Burst, d.Neuron, d.Field, d.B, d.A)
			}
			if x := b.workers[0].shares[0].pairing; (x != nil) != rule.is {
				t.Errorf("%v: the pass for pair rules is taken: %v", rule, x != nil)
			}
			require.NoError(t, b.Close())
		}
	}
}

// TestPairingMeetsAll: rows have eights that the pass takes and eights with more events than it can.
func TestPairingMeetsAll(t *testing.T) {
	b := open(newPairs(t, "w = w + up*x", "w = w - down*y", 1), engine.Want{}, 1, vector.Best())
	defer b.Close()
	var out engine.Burst
	eights, missed, fired := 0, 0, 0
	for range 400 {
		require.NoError(t, b.Step(nil, &out))
		x := b.workers[0].shares[0].pairing
		eights, missed, fired = eights+x.eights, missed+x.missed, fired+len(out.Fired)
	}
	if missed == 0 || 2*missed > eights {
		t.Errorf("of %d eights %d are missed (%d spikes)", eights, missed, fired)
	}
}

// TestPairingOneRow: a projection of a single row, whose length is no multiple of eight, has no synapse behind it.
func TestPairingOneRow(t *testing.T) {
	c := newPairs(t, "w = w + up*x", "w = w - down*y", 1)
	p := &c.Plastic[0]
	p.Target, p.Weight = p.Target[:17:17], p.Weight[:17:17]
	for i := range p.Row[1:] {
		p.Row[1+i] = 17
	}
	oracle, err := reference.Open(c, engine.Want{})
	require.NoError(t, err)
	b := open(c, engine.Want{}, 1, vector.Best())
	defer b.Close()
	d, err := engine.Compare(oracle, b, 300, nil, 7)
	require.NoError(t, err)
	require.Nil(t, d)
	require.NotZero(t, cap(b.workers[0].shares[0].pairing.again), "no spike came")
}

// TestPairNumbers: the numbers that are found in handlers.
func TestPairNumbers(t *testing.T) {
	for text, want := range map[string]string{
		"w = w + up*x":                  "{9 0.03 1 +Inf 0}",
		"w = w - up*(1 - w/0.5)*x":      "{9 -0.03 1 -0.5 0}",
		"w = w + up*w*x":                "{9 0.03 0 1 0}",
		"w = w - (0.25 + w)*(x - 0.75)": "{9 -1 0.25 1 -0.75}",
		"w = w + (-(0.25 + w/2))*x":     "{9 1 -0.25 -2 0}",
	} {
		rule, faults := formula.DefineRule(&formula.RuleSource{Params: []string{"up"}, Pre: []string{"x"}, OnPost: []string{text}})
		require.Empty(t, faults)
		form, ok := pairStep(&connectome.Handler{Handler: rule.OnPost, Params: []float32{0.03}}, formula.ReadPre)
		require.True(t, ok, text)
		require.Equal(t, want, fmt.Sprint(form), text)
	}
}
