package genome

import (
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// factorOf reads a factor of a constant drive at 0.5 ms a burst; the column v of f.csv has 1.5, −2 and 0.25.
func factorOf(text string) (*Factor, error) {
	file := holding("time,v,none\n0,1.5,a\n1,-2,b\n2,0.25,c\n")
	text = fmt.Sprintf("burst: v1\ntimestep: 0.5 ms\nareas:\n- {name: a, neurons: 3, model: lif, drive: {constant: 100 pA, factor: {%s}}}\n", text)
	g, err := Parse("net.yaml", []byte(text), file)
	if err != nil {
		return nil, err
	}
	return g.Areas[0].Drives[0].Factor, nil
}

// Values worked out by hand.
func TestFactor(t *testing.T) {
	root := math.Sqrt(0.5)
	for text, want := range map[string]map[uint64]float64{
		"steps: {at: [2, 2 ms, 10], values: [3, -1, 0.5]}": {0: 0, 1: 0, 2: 3, 3: 3, 4: -1, 9: -1, 10: 0.5, 1 << 40: 0.5},
		"steps: {at: [0], values: [2]}":                    {0: 2, 7: 2},
		"ramp: {at: [2, 6, 8], values: [1, 3, -1]}":        {0: 0, 1: 0, 2: 1, 3: 1.5, 5: 2.5, 6: 3, 7: 1, 8: -1, 900: -1},
		// 125 Hz at 0.5 ms: 16 bursts a cycle.
		"sine: {amplitude: 2, frequency: 125 Hz, offset: 1}": {0: 1, 2: 1 + 2*root, 4: 3, 6: 1 + 2*root, 8: 1, 12: -1, 16: 1, 4 + 16_000_000: 3},
		"sine: {amplitude: 2, frequency: 125 Hz, phase: 90}": {0: 2, 4: 0, 8: -2},
		"sine: {amplitude: 1, frequency: 0 Hz, phase: 30}":   {0: 0.5, 99: 0.5},
		"pulse: {width: 3}": {0: 1, 2: 1, 3: 0, 1000: 0},
		"pulse: {value: 4, base: 1, start: 5, width: 1 ms, every: 10}": {0: 1, 4: 1, 5: 4, 6: 4, 7: 1, 14: 1, 15: 4, 17: 1, 25: 4},
		"file: {path: f.csv, column: v}":                               {0: 1.5, 1: -2, 2: 0.25, 3: 0, 1 << 50: 0},
		"file: {path: f.csv, column: v, every: 2 ms}":                  {0: 1.5, 3: 1.5, 4: -2, 7: -2, 8: 0.25, 11: 0.25, 12: 0},
	} {
		f, err := factorOf(text)
		require.NoError(t, err, text)
		for at, x := range want {
			assert.InDelta(t, x, f.In(at), 1e-12, "%s, burst %d", text, at)
			assert.LessOrEqual(t, f.Lo, f.In(at))
			assert.GreaterOrEqual(t, f.Hi, f.In(at))
		}
	}
}

// The bits of a sine: 1,000 values as by the formula of engine/doc.go with a sine of 53 bits, whose last bit may differ.
func TestFactorSine(t *testing.T) {
	f, err := factorOf("sine: {amplitude: 0.7, frequency: 7.3 Hz, phase: 12.5, offset: 0.9}")
	require.NoError(t, err)
	differ := 0
	for at := range uint64(1000) {
		turns := float64(7.3*float64(float64(at)*0.5))/1000 + 12.5/360
		want := 0.9 + float64(0.7*math.Sin(float64((turns-math.Floor(turns))*(2*math.Pi))))
		if f.In(at) != want {
			differ++
		}
		require.InDelta(t, want, f.In(at), 4e-16)
	}
	require.Less(t, differ, 500)
}

func TestFactorMistakes(t *testing.T) {
	for text, want := range map[string]string{
		"":                             "expects steps, ramp, sine, pulse or file, found none of them",
		"step: {at: [0], values: [1]}": `did you mean "steps"?`,
		"steps: {at: [0], values: [1]}, pulse: {width: 1}":       "expects one form of factor in a mapping, found both steps and pulse",
		"steps: {at: [0, 4, 4], values: [1, 2, 3]}":              "expects a burst after the one before, which is 4, found 4",
		"steps: {at: [0, 4], values: [1]}":                       "expects a value for each of 2 entries of at, found 1",
		"ramp: {at: [0]}":                                        `key "values" is missing`,
		"ramp: {at: [0.3 ms], values: [1]}":                      "areas[0].drive.factor.ramp.at[0]",
		"sine: {amplitude: 1, frequency: 8}":                     "expects a frequency such as 10 Hz",
		"sine: {amplitude: 1 pA, frequency: 8 Hz}":               "expects a plain number",
		"sine: {amplitude: 1, frequency: 5 kHz}":                 "expects more than two bursts of",
		"sine: {amplitude: 3e38, frequency: 8 Hz, offset: 3e38}": "expects a factor within ±3.4e38",
		"pulse: {width: 4, every: 4}":                            "expects pulses that end before the next one begins",
		"file: {path: f.csv, column: non}":                       `did you mean "none"?`,
		"file: {path: f.csv, column: none}":                      "f.csv: row 1 (line 2), column none: \"a\", want a number",
	} {
		_, err := factorOf(text)
		if assert.ErrorContains(t, err, want, text) {
			assert.ErrorContains(t, err, "net.yaml:", text)
		}
	}
	for text, want := range map[string]string{
		"{name: a, neurons: 3, model: lif, drive: {poisson: {rate: 1 kHz, weight: 1 mV}, factor: {steps: {at: [0, 1], values: [1, -1]}}}}":             "expects a factor of at least 0 for a rate, found -1",
		"{name: a, neurons: 3, model: lif, drive: {poisson: {rate: 1 kHz, weight: 1 mV}, factor: {pulse: {value: 600, width: 1}}}}":                    "expects at most 500 events per burst, found 600",
		"{name: a, neurons: 3, model: lif, drive: {constant: 1 mV, factor: {sine: {amplitude: 1, frequency: 500 Hz}}}}":                                "expects more than two bursts of 1 ms a cycle, a frequency below 500 Hz, found 500 Hz; a smaller timestep has faster ones",
		"{name: a, neurons: 3, model: lif, drive: {poisson: {rate: 1 Hz, weight: 1 mV}, factor: {sine: {amplitude: 1, frequency: 5 Hz, offset: -2}}}}": "expects a factor for a rate that is above 0 in some bursts, found a sine from -3 to -1",
		"{name: a, neurons: 3, model: lif, factor: {pulse: {width: 1}}}":                                                                               "found a key of the model poisson, which the model lif does not have",
	} {
		_, err := Parse("net.yaml", []byte("burst: v1\nareas:\n- "+text+"\n"), nil)
		assert.ErrorContains(t, err, want, text)
	}
}
