//go:build unix

package record

import (
	"errors"
	"math/rand/v2"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"burst/connectome"
	"burst/engine"
	"burst/record/manifest"
	"burst/record/picture"
	"burst/record/runfolder"

	"github.com/stretchr/testify/require"
)

// BenchmarkSpikes records bursts in which one neuron in a hundred of a million fires, by nobody else's work: the processor
// time of all threads a spike, until the last chunk is on disk.
func BenchmarkSpikes(b *testing.B) {
	const neurons, kinds, bursts = 1_000_000, 64, 1000
	fired := someFire(neurons, kinds)
	m := manifest.Manifest{Areas: []manifest.Area{{Name: "E", Neurons: 800_000}, {Name: "I", First: 800_000, Neurons: 200_000}}}
	dir := b.TempDir()
	spikes := 0
	before := spent(b)
	for b.Loop() {
		dir = filepath.Join(dir, "x")
		r, err := Create(dir, Options{Manifest: m, Plan: Plan{Spikes: []connectome.Span{{Count: neurons}}}})
		require.NoError(b, err)
		for t := range uint64(bursts) {
			list := fired[t%kinds]
			spikes += len(list)
			require.NoError(b, r.Record(&engine.Burst{Number: t, Fired: list}))
		}
		require.NoError(b, r.Fail(errors.New("measured"), nil))
	}
	b.ReportMetric(float64(spent(b)-before)/float64(spikes), "cpu-ns/spike")
}

// BenchmarkClose ends a run of four million spikes, or as many rows of variables: what becomes of its streams.
func BenchmarkClose(b *testing.B) {
	const neurons, rows = 2133, 4 << 20
	m := manifest.Manifest{Timestep: 0.1, Scale: 1000, Areas: []manifest.Area{{Name: "E", Neurons: neurons, Recorded: neurons}}}
	everyone := make([]uint32, neurons)
	plans := map[string]Plan{"spikes": {Spikes: []connectome.Span{{Count: neurons}}}, "variables": {Names: []string{"V"}}}
	values := plans["variables"]
	for n := range uint32(neurons) {
		everyone[n] = n
		values.Variables, values.Values, values.Rest = append(values.Variables, Series{Neuron: n, Every: 1, Value: int(n)}), append(values.Values, engine.Probe{Neuron: n}), append(values.Rest, -65)
	}
	plans["variables"] = values
	random := rand.New(rand.NewPCG(7, 0x64))
	dir := b.TempDir()
	for name, plan := range plans {
		b.Run(name, func(b *testing.B) {
			took := int64(0)
			for b.Loop() {
				b.StopTimer()
				dir = filepath.Join(dir, "x")
				r, err := Create(dir, Options{Manifest: m, Plan: plan})
				require.NoError(b, err)
				burst := engine.Burst{Fired: everyone, Values: make([]float32, neurons)}
				for burst.Number < rows/neurons {
					for k := range burst.Values {
						burst.Values[k] = random.Float32()
					}
					require.NoError(b, r.Record(&burst))
					burst.Number++
				}
				_, err = r.Mark()()
				require.NoError(b, err)
				before := spent(b)
				b.StartTimer()
				require.NoError(b, r.Close(End{Status: manifest.Complete, Activity: &Activity{}}))
				took += spent(b) - before
			}
			b.ReportMetric(float64(took)/float64(b.N)/rows, "cpu-ns/row")
		})
	}
}

// BenchmarkWhole records 10^8 spikes of a network that takes no time itself, as fast as they are taken: what a run waits for,
// its end, and its pictures.
func BenchmarkWhole(b *testing.B) {
	const neurons, bursts, kinds = 1_000_000, 10_000, 64
	fired := someFire(neurons, kinds)
	rates := [][]uint64{{0}, {0}}
	m := manifest.Manifest{Timestep: 1, Scale: 1000, Areas: []manifest.Area{{Name: "E", Neurons: 800_000, Recorded: 800_000}, {Name: "I", First: 800_000, Neurons: 200_000, Recorded: 200_000}}}
	dir := b.TempDir()
	var waited, recorded, closed, drawn time.Duration
	spikes := uint64(0)
	before := spent(b)
	for b.Loop() {
		dir = filepath.Join(dir, "x")
		start := time.Now()
		var raster *picture.Raster
		r, err := Create(dir, Options{Manifest: m, Plan: Plan{Spikes: []connectome.Span{{Count: neurons}}}, Watch: Watch{Spikes: func(m *manifest.Manifest) func(*runfolder.Chunk) {
			raster = picture.NewRaster(m, bursts)
			return raster.Add
		}}})
		require.NoError(b, err)
		all := uint64(0)
		for t := range uint64(bursts) {
			all += uint64(len(fired[t%kinds]))
			require.NoError(b, r.Record(&engine.Burst{Number: t, Fired: fired[t%kinds]}))
		}
		recorded += time.Since(start)
		start = time.Now()
		require.NoError(b, r.Close(End{Bursts: bursts, Spikes: all, Status: manifest.Complete, Activity: &Activity{bins: rates, width: bursts, bursts: bursts}}))
		closed += time.Since(start)
		start = time.Now()
		require.NoError(b, picture.OfRun(dir, raster))
		drawn += time.Since(start)
		waited, spikes = waited+r.Waited(), spikes+all
	}
	for name, d := range map[string]time.Duration{"recorded": recorded, "waited": waited, "closed": closed, "drawn": drawn} {
		b.ReportMetric(d.Seconds()/float64(b.N), name+"-s")
	}
	b.ReportMetric(float64(spent(b)-before)/float64(spikes), "cpu-ns/spike")
}

// someFire makes so many lists of neurons, of which one in a hundred fires.
func someFire(neurons uint32, kinds int) [][]uint32 {
	random := rand.New(rand.NewPCG(3, 0x62))
	fired := make([][]uint32, kinds)
	for i := range fired {
		for n := uint32(random.IntN(199)); n < neurons; n += 1 + uint32(random.IntN(199)) {
			fired[i] = append(fired[i], n)
		}
	}
	return fired
}

// spent is the processor time of the process, in ns.
func spent(b *testing.B) int64 {
	var r syscall.Rusage
	require.NoError(b, syscall.Getrusage(syscall.RUSAGE_SELF, &r))
	return r.Utime.Nano() + r.Stime.Nano()
}
