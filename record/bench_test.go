//go:build unix

package record

import (
	"errors"
	"math/rand/v2"
	"path/filepath"
	"syscall"
	"testing"

	"burst/connectome"
	"burst/engine"
	"burst/record/manifest"

	"github.com/stretchr/testify/require"
)

// BenchmarkSpikes records bursts in which one neuron in a hundred of a million fires, by nobody else's work: the processor
// time of all threads a spike, until the last chunk is on disk.
func BenchmarkSpikes(b *testing.B) {
	const neurons, kinds, bursts = 1_000_000, 64, 1000
	random := rand.New(rand.NewPCG(3, 0x62))
	var fired [kinds][]uint32
	for i := range fired {
		for n := uint32(random.IntN(199)); n < neurons; n += 1 + uint32(random.IntN(199)) {
			fired[i] = append(fired[i], n)
		}
	}
	m := manifest.Manifest{Areas: []manifest.Area{{Name: "E", Neurons: 800_000}, {Name: "I", First: 800_000, Neurons: 200_000}}}
	dir := b.TempDir()
	spikes := 0
	var before, after syscall.Rusage
	require.NoError(b, syscall.Getrusage(syscall.RUSAGE_SELF, &before))
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
	require.NoError(b, syscall.Getrusage(syscall.RUSAGE_SELF, &after))
	spent := after.Utime.Nano() + after.Stime.Nano() - before.Utime.Nano() - before.Stime.Nano()
	b.ReportMetric(float64(spent)/float64(spikes), "cpu-ns/spike")
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
			var before, after syscall.Rusage
			var spent int64
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
				require.NoError(b, syscall.Getrusage(syscall.RUSAGE_SELF, &before))
				b.StartTimer()
				require.NoError(b, r.Close(End{Status: manifest.Complete, Activity: &Activity{}}))
				require.NoError(b, syscall.Getrusage(syscall.RUSAGE_SELF, &after))
				spent += after.Utime.Nano() + after.Stime.Nano() - before.Utime.Nano() - before.Stime.Nano()
			}
			b.ReportMetric(float64(spent)/float64(b.N)/rows, "cpu-ns/row")
		})
	}
}
