package genomes_test

import (
	"context"
	"flag"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"burst/backend"
	"burst/connectome"
	"burst/engine"
	"burst/genome"
	"burst/genomes"

	"github.com/stretchr/testify/require"
)

var (
	long    = flag.Bool("long", false, "run every example, for its own length")
	threads = flag.String("threads", "reference,1,2,3,8", "with -long: on what, the reference or a number of threads of the cpu backend")
	write   = flag.Bool("write", false, "with -long: rewrite the .digest files from the reference backend")
)

// short lists the examples that run in every test; the others, which take a second or more each, need -long: `make test-long`, which
// CI runs, has all.
var short = []string{"quickstart", "c-elegans", "burst-100k", "izhikevich-2003", "izhikevich-2003-custom", "adex", "potjans-diesmann-10", "vogels-abbott-cuba", "feagi-learning", "daspnet", "short-term", "spnet", "receptors", "rhythm", "columns", "wave"}

// TestDigest runs every example for its own length and compares with the digest beside it.
func TestDigest(t *testing.T) {
	names := genomes.Names()
	require.Subset(t, names, short)
	if !*long {
		names = short
	}
	if i := slices.Index(names, "potjans-diesmann"); i > 0 { // the longest by far begins first, or a core idles beside it at the end
		names[0], names[i] = names[i], names[0]
	}
	for _, name := range names {
		t.Run(name, func(t *testing.T) {
			t.Parallel() // the reference takes one thread; no more networks are held at once than run
			if testing.Short() && name != "quickstart" && name != "c-elegans" {
				t.Skip("a network of 100,000 neurons or 15 M synapses; left out by -short")
			}
			text, err := genomes.Text(name)
			require.NoError(t, err)
			g, err := genome.Parse(name+".yaml", text, genomes.Open)
			require.NoError(t, err)
			c, err := connectome.Build(g, connectome.Options{})
			require.NoError(t, err)
			require.NotZero(t, g.Bursts, "an example says how long it runs")
			if *write {
				e := run(t, c, "reference", 0, g.Bursts)
				text := fmt.Sprintf("bursts %d\nspikes %d\ndigest %016x\n", e.Bursts, e.Spikes, e.Digest)
				if e.Weights != 0 {
					text += fmt.Sprintf("weights %016x\n", e.Weights)
				}
				require.NoError(t, os.WriteFile(name+".digest", []byte(text), 0o644))
				t.Logf("%s: %+v", name, e)
				return
			}
			want, err := genomes.Expect(name)
			require.NoError(t, err)
			require.NotZero(t, want.Spikes)
			list := "2"
			if *long {
				list = *threads
			}
			for text := range strings.SplitSeq(list, ",") {
				if text == "reference" {
					require.Equal(t, want, run(t, c, text, 0, g.Bursts), text)
					continue
				}
				n, err := strconv.Atoi(text)
				require.NoError(t, err)
				require.Equal(t, want, run(t, c, "cpu", n, g.Bursts), "cpu, %d threads", n)
			}
		})
	}
}

// run runs c from burst 0.
func run(t *testing.T, c *connectome.Connectome, name string, threads int, bursts uint64) genomes.Expected {
	b, err := backend.Open(name, c, backend.Options{Threads: threads})
	require.NoError(t, err)
	defer b.Close()
	e := engine.New(c, b, engine.Options{})
	require.NoError(t, e.Run(context.Background(), bursts))
	made := genomes.Expected{Bursts: bursts, Spikes: e.Spikes(), Digest: e.Digest()}
	if len(c.Plastic) > 0 {
		var s engine.State
		require.NoError(t, e.State(&s))
		made.Weights = s.WeightDigest()
	}
	return made
}

// TestLearntBell: the weights of feagi-learning, by voxel, before and after meals and at the end; docs/feagi.md tells of them.
func TestLearntBell(t *testing.T) {
	text, err := genomes.Text("feagi-learning")
	require.NoError(t, err)
	g, err := genome.Parse("feagi-learning.yaml", text, genomes.Open)
	require.NoError(t, err)
	c, err := connectome.Build(g, connectome.Options{})
	require.NoError(t, err)
	b, err := backend.Open("cpu", c, backend.Options{})
	require.NoError(t, err)
	defer b.Close()
	e, at := engine.New(c, b, engine.Options{}), uint64(0)
	for _, x := range []struct {
		bursts  uint64
		weights []float32
	}{{15, []float32{6, 6, 6}}, {30, []float32{2, 2, 2}}, {45, []float32{6, 0, 2}}, {75, []float32{14, 0, 2}}, {90, []float32{18, 0, 0}}, {150, []float32{34, 0, 0}}} {
		require.NoError(t, e.Run(context.Background(), x.bursts-at))
		at = x.bursts
		var s engine.State
		require.NoError(t, e.State(&s))
		require.Equal(t, x.weights, s.Plastic[0].Weight, "after burst %d", at-1)
	}
}

// TestFirstLineIsASentence: `burst examples` lists the first line of each, which says by itself what the network is.
func TestFirstLineIsASentence(t *testing.T) {
	for _, name := range genomes.Names() {
		text, err := genomes.Text(name)
		require.NoError(t, err)
		line, _, _ := strings.Cut(string(text), "\n")
		require.Regexp(t, `^# \S.{20,120}\.$`, line, name)
	}
}

func TestEveryExampleHasADigest(t *testing.T) {
	require.Len(t, genomes.Names(), 34)
	for _, name := range genomes.Names() {
		_, err := genomes.Expect(name)
		require.NoError(t, err)
	}
}

// TestCustomExamplesReachTheBuiltIns: a model written out fires as the built-in one does, spike by spike.
func TestCustomExamplesReachTheBuiltIns(t *testing.T) {
	for _, name := range []string{"burst-100k", "izhikevich-2003"} {
		builtIn, err := genomes.Expect(name)
		require.NoError(t, err)
		written, err := genomes.Expect(name + "-custom")
		require.NoError(t, err)
		require.Equal(t, builtIn, written)
	}
}
