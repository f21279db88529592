package bench

import (
	"testing"

	"burst/internal/cuda/cudatest"
	"burst/internal/slow"

	"github.com/stretchr/testify/require"
)

// TestMain fails when a test has left a goroutine behind.
func TestMain(m *testing.M) { cudatest.Verify(m) }

// TestScaling measures tiny networks on one and two stand-ins: the same spikes and states, and figures that belong together.
func TestScaling(t *testing.T) {
	cudatest.Host(t).Control("devices", 3)
	s := Scaling{Neurons: 2015, Degree: 20, Warm: 3, Bursts: 5, Rounds: 3}
	var list []ScalingResult
	require.NoError(t, s.Run("cuda", []int{2, 0, 1}, func(r ScalingResult) { list = append(list, r) }))
	require.Len(t, list, 4)
	for i, want := range []struct {
		network string
		neurons uint32
		devices []int
	}{{"scaling-1", 2015, []int{2}}, {"scaling-2", 4030, []int{2, 0}}, {"scaling-4", 8060, []int{2}}, {"scaling-4", 8060, []int{2, 0}}} {
		r := list[i]
		require.Equal(t, want.network, r.Network)
		require.Equal(t, want.neurons, r.Neurons)
		require.Equal(t, uint64(want.neurons)*20, r.Synapses)
		require.Equal(t, want.devices, r.Devices)
		require.InDelta(t, float64(want.neurons)/100, r.SpikesPerBurst, float64(want.neurons)/200, "1 % fire")
		require.True(t, r.Same)
		require.True(t, 0 < r.BurstLeast && r.BurstLeast <= r.Burst && r.Burst <= r.BurstMost, "%+v", r)
		require.Equal(t, len(r.Devices) > 1, r.Exchange > 0)
	}
	require.Equal(t, list[2].State, list[3].State)
	require.Equal(t, list[2].SpikesPerBurst, list[3].SpikesPerBurst)
	require.InEpsilon(t, list[0].Burst/list[1].Burst, list[1].Weak, 1e-9)
	require.InEpsilon(t, list[2].Burst/list[3].Burst, list[3].Strong, 1e-9)
}

// TestScalingOfEight measures on one to eight stand-ins: the strong case is as large as all devices' shares.
func TestScalingOfEight(t *testing.T) {
	slow.Test(t)
	cudatest.Host(t).Control("devices", 8)
	s := Scaling{Neurons: 1000, Degree: 20, Warm: 1, Bursts: 4, Rounds: 1}
	var list [][2]int
	strong := 0.0
	require.NoError(t, s.Run("cuda", []int{0, 1, 2, 3, 4, 5, 6, 7}, func(r ScalingResult) {
		list = append(list, [2]int{int(r.Neurons) / s.Neurons, len(r.Devices)})
		strong = r.Strong
	}))
	require.Equal(t, [][2]int{{1, 1}, {2, 2}, {4, 4}, {8, 1}, {8, 2}, {8, 4}, {8, 8}}, list)
	require.Positive(t, strong)
}

// TestProve holds an example to its digest, and fails where the digest is another.
func TestProve(t *testing.T) {
	slow.Test(t)
	cudatest.Host(t).Control("devices", 2)
	var list []Proof
	require.NoError(t, Prove("cuda", []string{"quickstart", "feagi-learning"}, []int{1, 0}, func(p Proof) { list = append(list, p) }))
	require.Len(t, list, 3)
	require.Equal(t, []int{1, 0}, list[1].Devices)
	require.True(t, list[0].Equal && list[1].Equal)
	require.Equal(t, "130bd7d62696b90a", list[1].Digest)
}
