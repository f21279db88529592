package cuda

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"burst/backend/reference"
	"burst/connectome"
	"burst/engine"
	"burst/engine/enginetest"
	"burst/internal/cuda/cudatest"
	"burst/internal/formula"
	"burst/internal/slow"
	"burst/kernels"
)

// launched notes which kernels of which unit were launched, as the stand-in counts them.
type launched struct {
	h    *cudatest.StandIn // nil: a real GPU, which does not count
	seen map[string]bool   // "unit/kernel"
}

// during notes what do launches of a unit's kernels.
func (l *launched) during(unit string, do func()) {
	if l.h == nil {
		do()
		return
	}
	before := map[string]int64{}
	for _, k := range entries(unit) {
		before[k] = l.h.Count("launches of " + k)
	}
	do()
	for k, n := range before {
		if l.h.Count("launches of "+k) > n {
			l.seen[unit+"/"+k] = true
		}
	}
}

// units are all but the toolbox, which package doctor tests.
var units = map[string]func() []kernels.Image{
	"burst": kernels.Images, "moving": kernels.Moving, "large": kernels.Large, "outside": kernels.Outside, "lists": kernels.Lists, "custom": kernels.Custom,
	"custom_lists": kernels.CustomLists, "lasting": kernels.Lasting, "event": kernels.Event, "late": kernels.Late, "learn": kernels.Learn, "driven": kernels.Driven, "build": kernels.Build,
	"near": kernels.Near, "local": kernels.Local,
}

var entryName = regexp.MustCompile(`\.entry (\w+)\(`)

// entriesOf are the kernels that PTX has.
func entriesOf(ptx string) (names []string) {
	for _, m := range entryName.FindAllStringSubmatch(ptx, -1) {
		names = append(names, m[1])
	}
	return names
}

// entries are the kernels of a unit that burst launches.
func entries(unit string) []string {
	text := units[unit]()[1].PTX()
	return slices.DeleteFunc(entriesOf(text), func(kernel string) bool {
		switch {
		case (unit == "event" || unit == "late") && kernel == "catch_up":
			return false
		case unit == "outside": // others are of the sources that these units share
			return !strings.HasPrefix(kernel, "cluster_bursts")
		case unit == "late":
			return !strings.HasPrefix(kernel, "late_") && !strings.HasPrefix(kernel, "sum_")
		case unit == "lasting", unit == "event", unit == "learn":
			return !strings.HasPrefix(kernel, unit+"_")
		case unit == "large":
			return !strings.HasPrefix(kernel, "run_bursts") && kernel != "catch_up" && kernel != "queue_rows"
		case kernel == "deliver_places": // its rows are those of clusters
			return !strings.Contains(text, ".entry cluster_bursts")
		}
		return kernel == "exact_values" || kernel == "formula_values" // TestExactOnDevice and TestFormulasOnDevice launch them
	})
}

// TestEveryKernel launches every kernel of every unit for a small network, and compares what comes of it with the reference. This is what
// sanitize.sh runs under compute-sanitizer, under whose tools a launch takes a hundred times as long. On the stand-in none may be missing.
func TestEveryKernel(t *testing.T) {
	slow.Short(t)
	l := &launched{h: cudatest.Anywhere(t), seen: map[string]bool{}}
	all := true
	sub := func(name string, f func(t *testing.T)) {
		ran := false
		t.Run(name, func(t *testing.T) {
			ran = true
			f(t)
		})
		all = all && ran
	}
	for _, unit := range []string{"burst", "moving", "large", "outside", "lists", "custom", "custom_lists"} {
		for _, kernel := range entries(unit) {
			if p, ok := pathOfKernel(kernel); ok {
				sub(unit+"/"+kernel, func(t *testing.T) { launchBursts(t, l, unit, kernel, p) })
			}
		}
		if unit != "large" && unit != "outside" { // for paths run and clusters alone
			sub(unit+"/teams", func(t *testing.T) { launchBursts(t, l, unit, teamKernel(unit), pathTeams) })
		}
		if !strings.HasSuffix(unit, "lists") && unit != "large" && unit != "outside" { // for launches of many bursts alone
			sub(unit+"/single bursts", func(t *testing.T) { launchBursts(t, l, unit, "", pathSingle) })
		}
	}
	for _, kernel := range []string{"resident_bursts", "resident_bursts_psc_exp"} {
		sub("burst/"+kernel+", delayed", func(t *testing.T) { launchBursts(t, l, "burst", kernel, pathDelayed) })
	}
	for kernel, p := range map[string]path{"run_bursts": pathRun, "resident_bursts_feagi": pathResident, "resident_bursts_lif": pathDelayed} {
		sub("burst/"+kernel+", gathered", func(t *testing.T) { launchBursts(t, l, "burst", kernel, p, gather) })
	}
	sub("large/rows that wait", func(t *testing.T) {
		tune := few()
		rowsWait(&tune, 5, 1<<10)
		c := waiting(func(r *rand.Rand, _, _ uint32) uint16 { return uint16(1 + r.UintN(9)) })
		l.during("large", func() { launchAs(t, c, tune, thirds(c)) })
	})
	for _, model := range []string{"lif izhikevich", "feagi", "lif", "lif_psc_exp"} {
		sub("lasting/"+model, func(t *testing.T) { launchLasting(t, l, strings.Fields(model)) })
	}
	for model, neurons := range map[string]uint32{"lif_event": 300, "lif_psc_exp_event": 100} {
		sub("event/"+model, func(t *testing.T) {
			n := enginetest.Net{Scale: 16, Areas: []connectome.Area{enginetest.Of(model, neurons), enginetest.LIF(90)}}
			n.Areas[0].Constant("threshold").Const, n.Areas[0].Constant("reset").Const = 1, 0
			n.Areas[0].Drives = []connectome.Drive{enginetest.Always(connectome.Poisson, 40, 1<<31)}
			for i := range 3000 {
				n.Synapses = append(n.Synapses, enginetest.Synapse{From: uint32(i) % neurons, To: uint32(i*7) % neurons, Weight: int32(i%40 - 14), Delay: uint16(2 + i%2)})
			}
			c := n.Build()
			l.during("event", func() { launchAs(t, c, few(), thirds(c)) })
		})
	}
	sub("late", func(t *testing.T) {
		c := leaks(func(r *rand.Rand) uint16 { return uint16(4 + r.UintN(3)) })
		tune := few()
		tune.lateRow, tune.batchThreads = 1, 416
		l.during("late", func() { launchAs(t, c, tune, thirds(c)) })
	})
	sub("late/sums", func(t *testing.T) {
		c := evenly(6)
		l.during("late", func() { launchAs(t, c, summing(), thirds(c)) })
	})
	for seed := range 8 {
		sub(fmt.Sprint("learn/seed ", seed), func(t *testing.T) {
			r := rand.New(rand.NewPCG(uint64(seed), 0x6b65726e))
			c := enginetest.RandomPlastic(r, seed).Build()
			tune := few()
			tune.events = 2
			if seed%2 == 1 {
				gather(&tune)
			}
			l.during("learn", func() { launchAs(t, c, tune, thirds(c)) })
			tune.localBlocks = defaults.localBlocks
			l.during("local", func() { launchAs(t, c, tune, thirds(c)) })
		})
	}
	sub("lasting/local", func(t *testing.T) {
		c, err := learns(1, "")
		require.NoError(t, err)
		tune := few()
		tune.localBlocks, tune.entries, tune.linger = defaults.localBlocks, defaults.entries, time.Minute
		lastAs(t, l, "local", c, tune)
	})
	sub("learn/ranges", func(t *testing.T) {
		c, err := learns(1, "")
		require.NoError(t, err)
		tune := few()
		tune.rangeLeast, tune.rangePart = 1, 0
		l.during("learn", func() { launchAs(t, c, tune, thirds(c)) })
	})
	for seed := range 2 {
		sub(fmt.Sprint("driven/seed ", seed), func(t *testing.T) {
			c := enginetest.RandomDriven(rand.New(rand.NewPCG(uint64(seed), 0x64726976)), seed).Build()
			l.during("driven", func() { launchAs(t, c, defaults, sparks(c, uint64(seed))) })
		})
	}
	for i, text := range []string{allRules("scale: 1000"), scaled("10", 3, 1), narrowing(), joining("150000", 9), drawnRows} {
		sub(fmt.Sprint("build/", i), func(t *testing.T) {
			l.during("build", func() {
				c := holdsMaker(t, newTestMaker(t, 0), parsed(t, text), connectome.Part{})
				tune := defaults
				tune.unpacked, tune.delayedRow = i == 3, 1 // so that delays are joined with weights; and rows are split by delay
				b, _, err := openMade(t, parsed(t, text), []int{0}, tune)
				require.NoError(t, err)
				defer func() { require.NoError(t, b.Close()) }()
				likeReferenceFor(t, b, c, engine.Want{}, 5, thirds(c))
			})
		})
	}
	sub("build/places", func(t *testing.T) {
		l.during("build", func() {
			g := codedNetwork(t, codedNetworks[1])
			c, err := connectome.Build(g, connectome.Options{})
			require.NoError(t, err)
			b, _, err := openMade(t, g, []int{0}, clustered(1))
			require.NoError(t, err)
			defer func() { require.NoError(t, b.Close()) }()
			require.True(t, b.(*backend).rows.placed())
			likeReferenceFor(t, b, c, engine.Want{}, 5, thirds(c))
		})
	})
	sub("near", func(t *testing.T) {
		l.during("near", func() { holdsMaker(t, newTestMaker(t, 0), parsed(t, allNear(true)), connectome.Part{}) })
	})
	if l.h == nil || !all {
		return
	}
	var missing []string
	for _, unit := range slices.Sorted(maps.Keys(units)) {
		for _, k := range entries(unit) {
			if !l.seen[unit+"/"+k] {
				missing = append(missing, unit+"/"+k)
			}
		}
	}
	require.Empty(t, missing, "kernels that were not launched")
}

// drawnRows are packed once all weights are known.
const drawnRows = `burst: v1
areas:
  - {name: a, neurons: 300, model: lif, drive: {poisson: {rate: 9000 Hz, weight: 0.5 mV}}}
projections:
  - {from: a, to: a, rule: pairwise_bernoulli, p: 0.1, weight: "normal(0.1 mV, 0.02 mV)", delay: "uniform(1, 9)"}
`

// pathOfKernel is the path that launches a kernel of many bursts.
func pathOfKernel(kernel string) (p path, many bool) {
	for prefix, p := range map[string]path{"run_bursts": pathRun, "resident_bursts": pathResident, "cluster_bursts": pathClusters} {
		if strings.HasPrefix(kernel, prefix) {
			return p, true
		}
	}
	return 0, false
}

// teamKernel is what runs teams of a unit's networks here.
func teamKernel(unit string) string {
	if strings.HasPrefix(unit, "custom") {
		return "run_bursts_custom"
	}
	return "run_bursts_lif"
}

// launchBursts runs a random network of a unit by a path and its kernel, some bursts by themselves and some in one launch.
func launchBursts(t *testing.T, l *launched, unit, kernel string, p path, change ...func(*tuning)) {
	w := engine.Want{FCL: strings.HasSuffix(unit, "lists")}
	tune := few()
	tune.listed = true
	switch p {
	case pathRun:
		tune.roaming = true
	case pathTeams:
		tune.teamRow, tune.teamLeast = 1, 0
	case pathClusters:
		tune = clustered(2)
		tune.entries = few().entries
		if unit == "outside" {
			tune.outside = 1
		}
	case pathDelayed:
		tune.delayedRow = 1
	case pathSingle:
		tune.plain = true
	}
	for _, c := range change {
		c(&tune)
	}
	if unit == "large" {
		tune.uncached, tune.drawLeast = true, 1
	}
	late := uint16(1)
	if p == pathTeams || p == pathClusters {
		late = 0
	}
	c := netOf(t, unit, kernel, late)
	l.during(unit, func() {
		b, err := open(c, Options{Want: w}, tune)
		require.NoError(t, err)
		defer func() { require.NoError(t, b.Close()) }()
		require.Equal(t, p, b.(*backend).choice.path)
		require.True(t, p == pathSingle || p.kernel(c) == kernel)
		require.Contains(t, b.(*backend).image.Name, unit+"_sm_")
		likeReferenceFor(t, b, c, w, 20, thirds(c))
	})
}

// few is a tuning with small blocks, short launches and room for few stimuli.
func few() tuning {
	tune := defaults
	tune.batchThreads, tune.batch, tune.entries, tune.gather, tune.localBlocks = 128, 7, 7, 0, 0
	return tune
}

// gather has launches be one cluster.
func gather(t *tuning) { t.gather = defaults.gather }

// netOf is a network of a unit whose models are those of a kernel; of the genome's own models, one of three ports. Delays are 1, or
// with late 1 to 3.
func netOf(t *testing.T, unit, kernel string, late uint16) *connectome.Connectome {
	if strings.HasPrefix(unit, "custom") {
		a, err := enginetest.Custom(300, &formula.Source{
			Ports: []string{"i", "j", "k"}, State: []formula.Line{{Name: "v", Text: "0"}}, Update: []string{"v = v*0.9 + i + 0.5*j + 0.25*k"},
			Threshold: "v > 0.8", Reset: []string{"v = 0"},
		}, nil, 1)
		require.NoError(t, err)
		for port := range 3 {
			d := enginetest.Always(connectome.Poisson, 20, 1<<31)
			d.Port = 1 + port
			a.Drives = append(a.Drives, d)
		}
		n := enginetest.Net{Scale: 16, Areas: []connectome.Area{a}}
		if kernel == "run_bursts" {
			n.Areas = append(n.Areas, enginetest.LIF(90))
		}
		r := rand.New(rand.NewPCG(1, 0x6b65726e))
		for from := range uint32(300) {
			for range r.IntN(30) {
				n.Synapses = append(n.Synapses, enginetest.Synapse{From: from, To: r.Uint32N(900), Weight: r.Int32N(40) - 14, Delay: 1 + late*uint16(r.IntN(3))})
			}
		}
		return n.Build()
	}
	kinds := []string{"lif", "izhikevich"}
	for suffix, kind := range map[string]string{"_feagi": "feagi", "_lif": "lif", "_psc_exp": "lif_psc_exp"} {
		if strings.HasSuffix(kernel, suffix) {
			kinds = []string{kind}
		}
	}
	for seed := range uint64(1000) {
		n := enginetest.Uniform(rand.New(rand.NewPCG(seed, 0x6b65726e)), kinds...)
		for i := range n.Synapses {
			n.Synapses[i].Delay = 1 + late*uint16(i%3)
		}
		c := n.Build()
		suffix, ok := strings.CutPrefix(kernel, strings.TrimSuffix(kernel, modelSuffix(c)))
		driven := unit != "large" || len(makeTables(c).drives) > 0 // it draws for many neurons at a time
		if ok && driven && hasInstants(c) == (unit == "moving") && (suffix != "" || len(kinds) == 1 || modelSuffix(c) == "") {
			return c
		}
	}
	require.Fail(t, "no network", "%s of unit %s", kernel, unit)
	return nil
}

// launchLasting acts on a network in every burst, in launches that wait for it.
func launchLasting(t *testing.T, l *launched, kinds []string) {
	r := rand.New(rand.NewPCG(5, 0x6b65726e))
	c := enginetest.Uniform(r, kinds...).Build()
	for len(kinds) > 1 && modelSuffix(c) != "" || hasInstants(c) {
		c = enginetest.Uniform(r, kinds...).Build()
	}
	tune := defaults
	tune.batchThreads, tune.batch, tune.listed = 128, 8, true
	lastAs(t, l, "lasting", c, tune)
}

// lastAs does so with a network, in launches of a unit.
func lastAs(t *testing.T, l *launched, unit string, c *connectome.Connectome, tune tuning) {
	b, err := open(c, Options{Want: engine.Want{Stimuli: true}}, tune)
	require.NoError(t, err)
	defer func() { require.NoError(t, b.Close()) }()
	require.True(t, b.(*backend).lasts())
	l.during(unit, func() {
		oracle, err := reference.Open(c, engine.Want{})
		require.NoError(t, err)
		d, err := engine.Compare(oracle, b, 12, engine.NewFeed(c, []engine.Source{thirds(c)}).Next, 0)
		require.NoError(t, err)
		require.Nil(t, d)
	})
}

// launchAs runs a network as the tuning says.
func launchAs(t *testing.T, c *connectome.Connectome, tune tuning, in stimuli) {
	b, err := open(c, Options{}, tune)
	require.NoError(t, err)
	defer func() { require.NoError(t, b.Close()) }()
	likeReferenceFor(t, b, c, engine.Want{}, 40, in)
}

// stimuli is a source.
type stimuli func(burst uint64) ([]engine.Stimulus, error)

func (s stimuli) Stimuli(burst uint64, in []engine.Stimulus) ([]engine.Stimulus, error) {
	more, err := s(burst)
	return append(in, more...), err
}

// thirds stimulates every third port by turns. Those are more than few holds, so that such a burst is launched by itself.
func thirds(c *connectome.Connectome) stimuli {
	return func(burst uint64) (list []engine.Stimulus, _ error) {
		for port := uint32(burst % 3); port < c.Ports; port += 3 {
			list = append(list, engine.Stimulus{Port: port, Amount: c.Scale})
		}
		return list, nil
	}
}

// likeReferenceFor compares 4 single bursts with stimuli, so many in launches, and 2 more by themselves, and states in between.
func likeReferenceFor(t *testing.T, b engine.Backend, c *connectome.Connectome, w engine.Want, many int, in stimuli) {
	t.Helper()
	oracle, err := reference.Open(c, w)
	require.NoError(t, err)
	same := func(bursts uint64) {
		t.Helper()
		d, err := engine.Compare(oracle, b, bursts, engine.NewFeed(c, []engine.Source{in}).Next, 0)
		require.NoError(t, err)
		require.Nil(t, d)
	}
	same(4)
	if several, ok := b.(engine.Batcher); ok && several.CanStepN() {
		own := engine.NewFeed(c, nil)
		number := uint64(4)
		var want engine.Burst
		require.NoError(t, several.StepN(many, func(got *engine.Burst) error {
			list, err := own.Next(number)
			require.NoError(t, err)
			number++
			require.NoError(t, oracle.Step(list, &want))
			require.Nil(t, engine.CompareBursts(&want, got))
			return nil
		}))
	}
	same(2)
}

// TestSanitized: sanitize.sh runs the tests that launch every kernel.
func TestSanitized(t *testing.T) {
	text, err := os.ReadFile("sanitize.sh")
	require.NoError(t, err)
	require.Contains(t, string(text), "-test.run '^(TestEveryKernel|TestExactOnDevice)$'")
}
