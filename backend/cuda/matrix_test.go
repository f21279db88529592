package cuda

import (
	flags "flag"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"burst/connectome"
	"burst/engine"
	"burst/engine/enginetest"
	"burst/genome"
)

var update = flags.Bool("update", false, "rewrite the table of paths in docs/gpu-design.md")

// features are networks and wishes by which paths differ. Rows of 20 synapses are long here.
func features(t *testing.T) []feature {
	net := func(synapses int, delay func(k int) uint16, change func(*enginetest.Net)) *connectome.Connectome {
		r := rand.New(rand.NewPCG(1, 0x6d6174))
		const neurons = 640
		n := enginetest.Net{Areas: []connectome.Area{enginetest.LIF(neurons)}}
		for from := range uint32(neurons) {
			for k := range synapses {
				n.Synapses = append(n.Synapses, enginetest.Synapse{From: from, To: r.Uint32N(neurons), Weight: 3, Delay: delay(k)})
			}
		}
		if change != nil {
			change(&n)
		}
		return n.Build()
	}
	one := func(int) uint16 { return 1 }
	several := func(k int) uint16 { return uint16(1 + k%3) }
	weights := func(n *enginetest.Net) {
		for i := range n.Synapses {
			n.Synapses[i].Weight += int32(i % 3)
		}
	}
	models := func(n *enginetest.Net) { n.Areas = []connectome.Area{enginetest.LIF(320), enginetest.FEAGI(320)} }
	events := func(n *enginetest.Net) { n.Areas = []connectome.Area{enginetest.Of("lif_event", 640)} }
	ports := func(count int) func(n *enginetest.Net) {
		return func(n *enginetest.Net) { n.Areas = []connectome.Area{portsArea(640, count)} }
	}
	own := ports(1)
	long := net(60, one, nil)
	learns := func(kind genome.Window) *connectome.Connectome {
		return net(5, one, func(n *enginetest.Net) {
			n.Plastic = []enginetest.Plastic{{Hi: 1, Window: connectome.Window{Kind: kind, Bursts: 1}, Synapses: []enginetest.Synapse{{From: 1, To: 2}}}}
			if kind == genome.WindowNone {
				n.Plastic[0].Rule.OnPre = []string{"w = w*0.5"}
			}
		})
	}
	pairs := net(5, one, func(n *enginetest.Net) {
		trace := []connectome.Trace{enginetest.Trace(9, 1, false)}
		n.Plastic = []enginetest.Plastic{{Hi: 1, Pre: trace, Post: trace, Synapses: []enginetest.Synapse{{From: 1, To: 2}}, Rule: enginetest.Handlers{
			Pre: []string{"x"}, Post: []string{"y"}, OnPost: []string{"w = w + x"}, OnPre: []string{"w = w - y"},
		}}}
	})
	return []feature{
		{"long rows of one weight each", long, engine.Want{}, 0},
		{"the same, all delays d", net(60, func(int) uint16 { return 3 }, nil), engine.Want{}, 0},
		{"the same, all delays of five bursts and more, beside other trials", net(60, func(int) uint16 { return 5 }, nil), engine.Want{}, 0},
		{"long rows, different delays", net(60, several, nil), engine.Want{}, 0},
		{"long rows, delays of four bursts and more", net(60, func(k int) uint16 { return uint16(4 + k%3) }, nil), engine.Want{}, 0},
		{"long rows, different weights", net(60, one, weights), engine.Want{}, 0},
		{"the same, different delays", net(60, several, weights), engine.Want{}, 0},
		{"short rows, one common model", net(5, one, nil), engine.Want{}, 0},
		{"short rows, several models", net(5, one, models), engine.Want{}, 0},
		{"short rows, different delays", net(5, several, nil), engine.Want{}, 0},
		{"some delays above 255 bursts", net(5, func(k int) uint16 { return uint16(1 + 100*k) }, nil), engine.Want{}, 0},
		{"short rows, state larger than shared memory", net(5, one, nil), engine.Want{}, 600},
		{"neurons of `lif_event` or `lif_psc_exp_event`", net(5, one, events), engine.Want{}, 0},
		{"the same, with fire candidate lists", net(5, one, events), engine.Want{FCL: true}, 0},
		{"models of the genome's own, long rows", net(60, one, own), engine.Want{}, 0},
		{"the same, different delays", net(60, several, own), engine.Want{}, 0},
		{"the same, short rows", net(5, one, own), engine.Want{}, 0},
		{"models of more than two ports, long rows", net(60, one, ports(3)), engine.Want{}, 0},
		{"weights that change, small networks", learns(genome.WindowNone), engine.Want{}, 0},
		{"the same, larger than shared memory", learns(genome.WindowNone), engine.Want{}, 4000},
		{"the same, by rules of pairs, one delay a projection", pairs, engine.Want{}, 0},
		{"the same, by FEAGI's rules", learns(genome.WindowRelease), engine.Want{}, 0},
		{"the same, with fire candidate lists", learns(genome.WindowNone), engine.Want{FCL: true}, 0},
		{"potentials that drive what spikes deliver (`psp_max`)", drivenNet(), engine.Want{}, 0},
		{"memory areas", enginetest.Net{Areas: []connectome.Area{enginetest.FEAGI(9), enginetest.Memory(4, nil, 0)}}.Build(), engine.Want{}, 0},
		{"fire candidate lists, long rows", long, engine.Want{FCL: true}, 0},
		{"fire candidate lists, short rows", net(5, one, nil), engine.Want{FCL: true}, 0},
		{"state variables of every burst", long, engine.Want{Values: []engine.Probe{{Neuron: 1}}}, 0},
	}
}

type feature struct {
	name string
	c    *connectome.Connectome
	want engine.Want
	room uint64 // bytes of shared memory; 0: usual
}

// path is the one that devices take together.
func (f *feature) path(devices int) path {
	b := onUsual(f.c, f.want)
	b.tune.clusterRow, b.tune.teamRow, b.tune.delayedRow, b.tune.lateRow, b.tune.clusterLeast, b.tune.clusterDelayed, b.tune.slotBytes, b.tune.teamLeast = 20, 20, 20, 20, 1, 1, 64, 0
	b.tune.rangeLeast, b.tune.rangePart, b.tune.gather = 1, 0, 0
	b.sms, b.clusters = 2, [mostClustered + 1]uint64{1: 2, 2: 1}
	if f.room > 0 {
		b.room = f.room
	}
	if strings.Contains(f.name, "trials") {
		b.tune.parts = 2
	}
	if devices > 1 {
		b.share = share{devices: devices}
		b.c = f.c.Cut(connectome.Part{Of: devices})
	}
	t := makeTables(b.c)
	b.rows, _ = b.rowsOf(b.c, t)
	return b.choose(t).path
}

// TestMatrix holds the table of docs/gpu-design.md to what choose says.
func TestMatrix(t *testing.T) {
	const file, begin, end = "../../docs/gpu-design.md", "<!-- paths -->\n", "<!-- end of paths -->\n"
	var table strings.Builder
	table.WriteString("| network, or what is asked for | `reference`, `cpu` | `cuda`, one GPU | `cuda`, several GPUs |\n| --- | --- | --- | --- |\n")
	taken := map[path]bool{}
	for _, f := range features(t) {
		one, more := f.path(1), any("refused") // several devices cannot share what learns
		if taken[one] = true; len(f.c.Plastic) == 0 {
			two := f.path(2)
			taken[two], more = true, two
		}
		fmt.Fprintf(&table, "| %s | burst by burst | %v | %v |\n", f.name, one, more)
	}
	require.Len(t, taken, int(pathSums)+1, "every path has a network: %v", taken)
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	head, rest, found := strings.Cut(string(text), begin)
	require.True(t, found)
	_, tail, found := strings.Cut(rest, end)
	require.True(t, found)
	want := head + begin + table.String() + end + tail
	if *update {
		require.NoError(t, os.WriteFile(file, []byte(want), 0o644))
		return
	}
	require.Equal(t, want, string(text), "go test ./backend/cuda -run TestMatrix -update writes it")
}
