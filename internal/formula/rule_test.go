package formula

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// ruleOfAll uses every kind of name.
func ruleOfAll() *RuleSource {
	return &RuleSource{
		Params: []string{"p", "q", "tau", "idle"}, Constants: []Line{{"k", "p/3"}, {"slow", "2*tau"}},
		Synapse: []string{"c"}, Source: []string{"r", "u"}, Pre: []string{"x", "x2"}, Post: []string{"y"}, Modulators: []string{"da"}, Target: []string{"v", "g"},
		OnPost:   []string{"rise = p*pow(w, q)*x2", "w = select(pre, w, w + rise)", "c = c + exp(-age_pre*dt/tau)"},
		OnPre:    []string{"w = w - k*y*select(post, 2, 1)", "out = w*(u*r)"},
		Every:    []string{"w = select(total == 0, w, w*(q/total)) + da*c + 0*g"},
		OnSource: []string{"r = select(first, 1, 1 + (r - r*u - 1)*decay(slow))", "u = u*decay(tau)"},
		When:     "v > q",
	}
}

// eval runs a handler by hand: what each name is, and what State starts as.
func eval(t *testing.T, r *Rule, h *Handler, state []float64, at map[Read]float64, decay map[string]float64) ([]float64, bool) {
	t.Helper()
	n := &Neuron{}
	for _, x := range state {
		n.State = append(n.State, float32(x))
	}
	for _, x := range r.Values(h.Program.Params, func(name string) float64 { return map[string]float64{"p": 0.3, "q": 0.4, "tau": 20}[name] }, 0.1) {
		n.Params = append(n.Params, float32(x))
	}
	require.Len(t, h.Reads, h.Program.Inputs)
	for _, read := range h.Reads {
		x, ok := at[read]
		if read.Kind == ReadDecay {
			x, ok = decay[h.Decays[read.K]]
		}
		require.True(t, ok, "%+v is not to be read", read)
		n.Inputs = append(n.Inputs, float32(x))
	}
	next := make([]float32, len(h.Program.Next))
	fired := NewRunner(h.Program).Run(n, next)
	out := make([]float64, len(next))
	for k, x := range next {
		out[k] = float64(x)
	}
	return out, fired
}

// TestRule holds every handler to the same formula in float64.
func TestRule(t *testing.T) {
	r, faults := DefineRule(ruleOfAll())
	require.Empty(t, faults)
	require.Equal(t, "pow", r.NoNegative())
	random := rand.New(rand.NewPCG(1, 2))
	near := func(want, got []float64) {
		t.Helper()
		require.Len(t, got, len(want))
		for k := range want {
			require.InEpsilon(t, 1+math.Abs(want[k]), 1+math.Abs(got[k]), 2e-6, "%v, want %v", got, want)
			require.Equal(t, want[k] < 0, got[k] < 0)
		}
	}
	truth := func(b bool) float64 {
		if b {
			return 1
		}
		return 0
	}
	for i := range 200 {
		w, c, x, y, age := 0.1+random.Float64(), random.Float64(), random.Float64(), random.Float64(), float64(random.IntN(500))
		flag := i%2 == 1
		reads := map[Read]float64{{ReadPre, 1}: x, {ReadPost, 0}: y, {ReadAgePre, 0}: age, {ReadPreToo, 0}: truth(flag), {ReadPostToo, 0}: truth(flag), {ReadFirst, 0}: truth(flag)}
		want := []float64{w, c + math.Exp(-age*0.1/20)}
		if !flag {
			want[0] += 0.3 * math.Pow(w, 0.4) * x
		}
		got, _ := eval(t, r, r.OnPost, []float64{w, c}, reads, nil)
		near(want, got)

		u, rr := random.Float64(), random.Float64()
		reads[Read{ReadSource, 0}], reads[Read{ReadSource, 1}] = rr, u
		less := w - 0.1*y*(1+truth(flag))
		got, _ = eval(t, r, r.OnPre, []float64{w, c}, reads, nil)
		near([]float64{less, c, less * u * rr}, got)

		total := (random.Float64() - 0.5) * truth(i%3 > 0)
		da := random.Float64()
		want = []float64{w + da*c, c}
		if total != 0 {
			want[0] = w*(0.4/total) + da*c
		}
		got, _ = eval(t, r, r.Every, []float64{w, c}, map[Read]float64{{ReadTotal, 0}: total, {ReadModulator, 0}: da, {ReadTarget, 1}: 5}, nil)
		near(want, got)

		slow, fast := random.Float64(), random.Float64()
		want = []float64{1, u * fast}
		if !flag {
			want[0] = 1 + (rr-rr*u-1)*slow
		}
		got, _ = eval(t, r, r.OnSource, []float64{rr, u}, reads, map[string]float64{"slow": slow, "tau": fast})
		near(want, got)

		_, over := eval(t, r, r.When, nil, map[Read]float64{{ReadTarget, 0}: w}, nil)
		require.Equal(t, float32(w) > float32(0.4), over)
	}
	require.NotContains(t, r.OnPost.Program.Params, "idle")
	require.ElementsMatch(t, []Read{{ReadDecay, 0}, {ReadFirst, 0}, {ReadDecay, 1}}, r.OnSource.Reads)
}

// TestRuleParts: a handler without statements is nil, w is delivered unless out is assigned, nothing idle is read.
func TestRuleParts(t *testing.T) {
	r, faults := DefineRule(&RuleSource{Params: []string{"a"}, Pre: []string{"x"}, Post: []string{"y", "z"}, OnPre: []string{"idle = 0*y", "w = w - a*z + 0*idle"}})
	require.Empty(t, faults)
	require.Nil(t, r.OnPost)
	require.Nil(t, r.When)
	require.Len(t, r.OnPre.Program.Next, 1)
	require.Equal(t, "", r.NoNegative())
	r, faults = DefineRule(&RuleSource{Pre: []string{"x", "x2"}, OnPost: []string{"w = w + x2"}})
	require.Empty(t, faults)
	require.Equal(t, []Read{{ReadPre, 1}}, r.OnPost.Reads)
	require.Equal(t, 1, r.OnPost.Program.Inputs)
}

// TestKnownExponents need no pow; two of other exponents fit a handler.
func TestKnownExponents(t *testing.T) {
	source := func(known map[string]float64) *RuleSource {
		return &RuleSource{Params: []string{"p", "q"}, Known: known, OnPost: []string{"w = w + pow(1 - w, p) - pow(w, q)"}}
	}
	two, faults := DefineRule(source(nil))
	require.Empty(t, faults)
	require.Greater(t, len(two.OnPost.Program.Code), 700)
	require.Equal(t, []string{"p", "q"}, two.Exponents())
	require.Less(t, len(two.OnPost.Program.Code), maxCode)
	for _, c := range []struct {
		p, q, want float64
		code       int
	}{{0, 1, 1, 8}, {1, 2, 0.25 + 0.75 - 0.0625, 8}, {2, 0, 0.25 + 0.5625 - 1, 8}} {
		r, faults := DefineRule(source(map[string]float64{"p": c.p, "q": c.q}))
		require.Empty(t, faults)
		require.Less(t, len(r.OnPost.Program.Code), c.code)
		require.Equal(t, "", r.NoNegative())
		n := &Neuron{State: []float32{0.25}, Params: make([]float32, len(r.OnPost.Program.Params))}
		NewRunner(r.OnPost.Program).Run(n, n.State)
		require.Equal(t, float32(c.want), n.State[0])
	}
	r, faults := DefineRule(&RuleSource{OnPre: []string{"w = w + sqrt(w)"}})
	require.Empty(t, faults)
	require.Equal(t, "sqrt", r.NoNegative())
}

// TestRuleFaults: a name in the wrong handler is told where it may stand.
func TestRuleFaults(t *testing.T) {
	for _, c := range []struct {
		part    Part
		text    string
		at      int
		message string
	}{
		{InOnPost, "w = w + r", 8, "a variable of the source; it may stand only in on_pre and on_source"},
		{InEvery, "w = w + u", 8, "a variable of the source; it may stand only in on_pre and on_source"},
		{InOnPost, "out = w", 0, "what is delivered; it may stand only in on_pre"},
		{InOnPost, "w = select(post, w, 1)", 11, "may stand only in on_pre"},
		{InOnPre, "w = select(pre, w, 1)", 11, "may stand only in on_post"},
		{InOnPre, "w = w + total", 8, "may stand only in every"},
		{InOnPre, "w = w*out", 6, "no value before it is assigned"},
		{InOnPre, "w = decay(tau)", 4, "may stand only in on_source"},
		{InOnPre, "x = w", 0, "which is given and does not change"},
		{InOnPre, "first = w", 0, "may stand only in on_source"},
		{InOnPre, "w = w > 1", 6, "found a condition"},
		{InOnPre, "out = w > 1", 8, "found a condition"},
		{InOnPre, "w = w + pre*1", 8, "may stand only in on_post"},
		{InOnPre, "w = post", 4, "found a condition"},
		{InOnPre, "ww = w", 0, "not a variable and is never used"},
		{InOnPre, "w = refractory", 4, "unknown name"},
		{InOnSource, "u = w", 4, "the weight; it may stand only in on_post, on_pre and every"},
		{InOnSource, "u = c", 4, "a variable of the synapse; it may stand only in on_post, on_pre and every"},
		{InOnSource, "u = x", 4, "a trace of the source; it may stand only in on_post, on_pre and every"},
		{InOnSource, "u = decay(u)", 10, "the name of a parameter or constant, found"},
		{InOnSource, "u = decay(3)", 10, "the name of a parameter or constant, found"},
		{InOnSource, "u = decay(dt)", 10, "the name of a parameter or constant, found"},
		{InOnSource, "u = decay(tua)", 10, "unknown name"},
		{InOnSource, "u = decoy(tau)", 4, "unknown function"},
		{InWhen, "v", 0, "found a number"},
		{InWhen, "v > w", 4, "the weight; it may stand only in"},
		{InWhen, "x > 1", 0, "a trace of the source"},
		{InConstants, "w", 0, "unknown name"},
	} {
		s := ruleOfAll()
		switch c.part {
		case InOnPost:
			s.OnPost = []string{c.text}
		case InOnPre:
			s.OnPre = []string{c.text}
		case InEvery:
			s.Every = []string{c.text}
		case InOnSource:
			s.OnSource = []string{c.text}
		case InWhen:
			s.When = c.text
		default:
			s.Constants[1].Text = c.text
		}
		r, faults := DefineRule(s)
		require.Nil(t, r, c.text)
		require.Len(t, faults, 1, "%s: %v", c.text, faults)
		require.Contains(t, faults[0].Message, c.message, c.text)
		require.Equal(t, c.at, faults[0].Offset, c.text)
		require.Equal(t, c.part, faults[0].Part, c.text)
	}
	_, faults := DefineRule(&RuleSource{OnPost: []string{"w = pow(w, 0.3) + pow(w + 1, 0.4) + pow(w + 2, 0.6)"}})
	require.Len(t, faults, 1)
	require.Contains(t, faults[0].Message, "at most 1024 operations")
}

// FuzzDefineRule: no text may crash the reader, and what it takes must run.
func FuzzDefineRule(f *testing.F) {
	f.Add("w = w + p*x", "out = w*u", "r = decay(tau)", "v > 1")
	f.Add("c = pow(w, 0)", "w = select(post, w, out)", "first", "w")
	f.Fuzz(func(t *testing.T, post, pre, source, when string) {
		s := ruleOfAll()
		s.OnPost, s.OnPre, s.OnSource, s.When = strings.Split(post, ";"), strings.Split(pre, ";"), []string{source}, when
		r, faults := DefineRule(s)
		if (r == nil) != (len(faults) > 0) {
			t.Fatalf("%d faults and rule %v", len(faults), r)
		}
		if r == nil {
			return
		}
		for _, h := range []*Handler{r.OnPost, r.OnPre, r.Every, r.OnSource, r.When} {
			if h != nil {
				n := &Neuron{State: []float32{0.5, 2, 3}, Params: make([]float32, len(h.Program.Params)), Inputs: make([]float32, len(h.Reads))}
				NewRunner(h.Program).Run(n, n.State)
			}
		}
	})
}
