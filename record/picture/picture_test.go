package picture

import (
	"bytes"
	"flag"
	"fmt"
	"image"
	"image/png"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"burst/connectome"
	"burst/engine"
	"burst/internal/slow"
	"burst/record"
	"burst/record/manifest"
	"burst/record/runfolder"

	"github.com/stretchr/testify/require"
)

var (
	look = flag.String("look", "", "write the pictures of these tests into this folder, to be looked at")
	long = flag.Bool("long", false, "draw 10^7 spikes instead of 10^6")
)

// network makes areas of ugly sizes.
func network(areas int) []manifest.Area {
	var list []manifest.Area
	first := uint32(0)
	for i := range areas {
		n := []uint32{1, 907, 83, 4001, 12, 300}[i%6]
		list = append(list, manifest.Area{Name: fmt.Sprintf("area %d of this", i), First: first, Neurons: n, Model: "lif", Size: [3]uint32{n, 1, 1}, PerVoxel: 1, Space: &manifest.Space{Extent: [3]float64{float64(n), 2, 0}}})
		first += n
	}
	return list
}

// genomeText is a genome with those areas, each connected to the next and the first.
func genomeText(areas []manifest.Area) string {
	var b strings.Builder
	b.WriteString("burst: v1\nname: ragged\nareas:\n")
	for _, a := range areas {
		fmt.Fprintf(&b, "  - {name: %q, neurons: %d, model: lif}\n", a.Name, a.Neurons)
	}
	b.WriteString("projections:\n")
	for i := range areas {
		for _, to := range []int{0, (i + 1) % len(areas)} {
			fmt.Fprintf(&b, "  - {from: %q, to: %q, rule: fixed_total_number, count: %d, weight: 1 mV}\n", areas[i].Name, areas[to].Name, 1+i*i*377)
		}
	}
	return b.String()
}

// folder makes a run in which neurons of area i fire with the shares that rate tells for a burst.
func folder(t testing.TB, areas []manifest.Area, bursts int, rate func(area, burst int) float64) *runfolder.Folder {
	t.Helper()
	return folderFrom(t, 0, areas, bursts, rate)
}

// folderFrom is folder for a run that began from a checkpoint.
func folderFrom(t testing.TB, first uint64, areas []manifest.Area, bursts int, rate func(area, burst int) float64) *runfolder.Folder {
	t.Helper()
	c := &connectome.Connectome{}
	for _, a := range areas {
		c.Areas = append(c.Areas, connectome.Area{Name: a.Name, Neurons: connectome.Span{First: a.First, Count: a.Neurons}})
	}
	last := areas[len(areas)-1]
	watched := slices.Compact([]uint32{0, last.First, last.First + last.Neurons/2})
	if len(areas) > mostPanels { // more traces than are drawn
		watched = watched[:0]
		for n := range uint32(70) {
			watched = append(watched, areas[3].First+n)
		}
	}
	var values []engine.Probe
	var places []int
	var series []record.Series
	for k, n := range watched {
		values, places = append(values, engine.Probe{Neuron: n}), append(places, k)
		series = append(series, record.Series{Neuron: n, Every: 4, Value: k}, record.Series{Neuron: n, Name: 1, Every: 1, Value: k})
	}
	dir := filepath.Join(t.TempDir(), "run")
	activity := record.NewActivity(c)
	learning, sampling := learners(areas)
	run, err := record.Create(dir, record.Options{
		Manifest: manifest.Manifest{Genome: "a ragged network", Timestep: 0.5, Scale: 1000, First: first, Areas: areas, Learning: learning, Seed: 3},
		Genome:   []byte(genomeText(areas)),
		Plan:     record.Plan{Spikes: []connectome.Span{{Count: last.First + last.Neurons}}, Values: values, Rest: make([]float32, len(watched)), Potentials: places, Variables: series, Names: []string{"V", "u"}, Weights: sampling},
	})
	require.NoError(t, err)
	r := rand.New(rand.NewPCG(7, 11))
	b := engine.Burst{Number: first, Values: make([]float32, len(watched))}
	spikes := uint64(0)
	for ; b.Number < first+uint64(bursts); b.Number++ {
		if b.Number == first || sampling.Due(b.Number) {
			require.NoError(t, run.Sample(learntBy(len(learning), b.Number, first+uint64(bursts))))
		}
		b.Fired = b.Fired[:0]
		for i, a := range areas {
			p := rate(i, int(b.Number))
			if p <= 0 {
				continue
			}
			for k := int(r.ExpFloat64() / p); k < int(a.Neurons); k += 1 + int(r.ExpFloat64()/p) {
				b.Fired = append(b.Fired, a.First+uint32(k))
			}
		}
		for k := range b.Values {
			b.Values[k] = float32(-65 + 10*math.Sin(float64(b.Number)/float64(17*(k+1))))
		}
		spikes += uint64(len(b.Fired))
		require.NoError(t, run.Record(&b))
		require.NoError(t, activity.Record(&b))
	}
	require.NoError(t, run.Sample(learntBy(len(learning), b.Number, b.Number)))
	require.NoError(t, run.Close(record.End{Bursts: uint64(bursts), Spikes: spikes, Digest: "0123456789abcdef", Status: manifest.Complete, Activity: activity}))
	f, err := runfolder.Open(dir)
	require.NoError(t, err)
	return f
}

// waves is a rate that differs between areas and over time.
func waves(area, burst int) float64 {
	return 0.02 * (1 + math.Sin(float64(burst)/37+float64(area))) / float64(1+area%5)
}

// TestPictures draws all pictures of few and many areas, of no and of many spikes, and of parts of a run.
func TestPictures(t *testing.T) {
	cases := []struct {
		name, why string
		areas     int
		bursts    int
		rate      func(int, int) float64
		o         Options
	}{
		{"one", "one area of one neuron", 1, 211, func(int, int) float64 { return 0.2 }, Options{}},
		{"silent", "no spikes at all", 4, 300, func(int, int) float64 { return 0 }, Options{}},
		{"six", "panels", 6, 2003, waves, Options{}},
		{"many", "heat maps", 24, 503, waves, Options{}},
		{"part", "two areas, part of the time", 6, 2003, waves, Options{From: 401, Until: 733, Areas: []string{"area 1 of this", "area 3 of this"}}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			if testing.Short() && c.areas > mostPanels {
				t.Skip("large pictures take seconds")
			}
			f := folder(t, network(c.areas), c.bursts, c.rate)
			names, left, err := Available(f)
			require.NoError(t, err)
			require.Empty(t, left)
			require.Equal(t, Names(), names)
			pictures, err := Draw(f, Names(), c.o)
			require.NoError(t, err)
			for _, p := range pictures {
				text, err := p.Encode("svg")
				require.NoError(t, err)
				require.Contains(t, string(text), "</svg>")
				require.Contains(t, string(text), ",sans-serif;")
				require.Contains(t, string(text), "a ragged network", "%s has its title", p.Name)
				if !slow.Asked() && (testing.Short() || c.name != "six" && c.name != "many") {
					continue // as pixels, which take longer, these look much the same
				}
				data, err := p.Encode("png")
				require.NoError(t, err)
				img, err := png.Decode(bytes.NewReader(data))
				require.NoError(t, err)
				require.Equal(t, 2*int(pageWidth), img.Bounds().Dx())
				require.Greater(t, inked(img), 200, "%s is not blank", p.Name)
				require.True(t, blankEdge(img), "%s: text or lines reach the picture's edge", p.Name)
				if *look != "" {
					require.NoError(t, os.WriteFile(filepath.Join(*look, c.name+"-"+p.Name+".png"), data, 0o600))
					require.NoError(t, os.WriteFile(filepath.Join(*look, c.name+"-"+p.Name+".svg"), text, 0o600))
				}
			}
		})
	}
}

// TestFromCheckpoint: pictures of a run that began in burst 1000 show its own bursts, the rates that it keeps as well as
// those counted from its spikes.
func TestFromCheckpoint(t *testing.T) {
	f := folderFrom(t, 1000, network(2), 200, func(int, int) float64 { return 0.1 })
	d, err := newDrawing(f, Options{})
	require.NoError(t, err)
	require.EqualValues(t, 1000, d.span.from)
	require.EqualValues(t, 1200, d.span.until)
	kept, err := f.Rates()
	require.NoError(t, err)
	counted, err := spikeCourse(d.span, f.Spikes())
	require.NoError(t, err)
	s := d.span
	c := ratesCourse(&s, kept)
	require.EqualValues(t, 1000, s.from)
	require.Equal(t, counted.width, c.width)
	for i := range c.hz {
		require.InDeltaSlice(t, counted.hz[i], c.hz[i], 1e-9)
	}
	for _, name := range Names() {
		p, err := d.picture(name)
		require.NoError(t, err)
		text, err := p.Encode("svg")
		require.NoError(t, err)
		require.False(t, strings.Contains(string(text), ">no spikes<"), name)
		if slices.Contains([]string{"raster", "rates", "potentials"}, name) {
			require.True(t, strings.Contains(string(text), ">600<"), "%s: an axis from 500 to 600 ms", name)
		}
	}
}

// inked counts dots that are not white.
func inked(img image.Image) int {
	n := 0
	for y := range img.Bounds().Dy() {
		for x := range img.Bounds().Dx() {
			if r, g, b, _ := img.At(x, y).RGBA(); r+g+b < 3*0xffff {
				n++
			}
		}
	}
	return n
}

// blankEdge reports whether a picture's outermost dots are white, so that nothing was cut.
func blankEdge(img image.Image) bool {
	white := func(x, y int) bool { r, g, b, _ := img.At(x, y).RGBA(); return r+g+b == 3*0xffff }
	w, h := img.Bounds().Dx(), img.Bounds().Dy()
	for x := range w {
		if !white(x, 0) || !white(x, h-1) {
			return false
		}
	}
	for y := range h {
		if !white(0, y) || !white(w-1, y) {
			return false
		}
	}
	return true
}

// TestDenseRaster draws a million spikes, with -long ten, and logs how long that takes, reading included: 2 s for 10^7 is
// what it is made for.
func TestDenseRaster(t *testing.T) {
	bursts := 2000
	if *long {
		bursts = 20_000
	}
	f := folder(t, network(6), bursts, func(int, int) float64 { return 0.1 })
	start := time.Now()
	pictures, err := Draw(f, []string{"raster"}, Options{})
	require.NoError(t, err)
	data, err := pictures[0].Encode("png")
	require.NoError(t, err)
	spent := time.Since(start)
	t.Logf("%d spikes in %v, %d bytes", f.Manifest.Spikes, spent, len(data))
	require.Greater(t, f.Manifest.Spikes, uint64(50*bursts), "a raster that is dense")
	require.Less(t, len(data), 2<<20, "the picture does not grow with the spikes")
	if *look != "" {
		require.NoError(t, os.WriteFile(filepath.Join(*look, "dense-raster.png"), data, 0o600))
	}
}

// TestTicks holds labels to round numbers, enough and not too many.
func TestTicks(t *testing.T) {
	for _, span := range [][2]float64{{0, 1}, {0, 240}, {-71.3, -48.9}, {0.0003, 0.0017}, {1e6, 1.9e9}, {200.5, 366.5}} {
		list := ticks(span[0], span[1])
		require.GreaterOrEqual(t, len(list), 3, "%v", span)
		require.LessOrEqual(t, len(list), 8, "%v", span)
		for i, k := range list {
			require.NotEmpty(t, k.label)
			if i > 0 {
				require.NotEqual(t, list[i-1].label, k.label, "%v", span)
			}
		}
	}
	require.Len(t, ticks(5, 5), 1)
	require.Len(t, ticks(0.9999999999999994, 0.9999999999999996), 1, "a step that does not change the number would go on for ever")
	lo, hi := (&heat{values: [][]float64{{0.9999999999999994, 0.9999999999999996}}}).limits()
	require.InDelta(t, 1, hi-lo, 1e-9)
	require.Equal(t, "1500", number(1500))
	require.Equal(t, "1M", number(999_999))
	require.Equal(t, "18.9k", number(18_851))
	require.Equal(t, "0", number(math.Copysign(0, -1)))
	require.Equal(t, "-0.25", number(-0.25))
	require.Equal(t, "0", number(0))
}

// TestExtentCoversAllDots draws n bursts side by side: none leaves a gap to the next unless it is wide, none overlaps.
func TestExtentCoversAllDots(t *testing.T) {
	for _, n := range []uint64{1, 7, 211, 700, 1003, 1081, 1082} {
		const dots = 1082
		covered := 0
		for k := range n {
			from, until := extent(int(k*dots/n), dots, n, 1)
			require.GreaterOrEqual(t, from, covered, "%d bursts", n)
			if dots/n < 8 {
				require.Equal(t, covered, from, "%d bursts", n)
			}
			covered = until
		}
	}
	from, until := extent(1080, 1082, 5000, 3)
	require.Equal(t, []int{1080, 1082}, []int{from, until}, "a dot at the edge is cut")
}
