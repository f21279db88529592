package cuda

import (
	"fmt"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"burst/engine"
	"burst/internal/cuda/cudatest"
	"burst/internal/cuda/driver"
)

// TestUnavailable fakes every way in which a machine cannot run CUDA: an error that says so, why, and what to do.
func TestUnavailable(t *testing.T) {
	for _, c := range []struct {
		name string
		set  func(t *testing.T)
		want []string
	}{
		{
			name: "no library",
			set:  func(t *testing.T) { t.Setenv(driver.LibraryVariable, filepath.Join(t.TempDir(), "libcuda.so.1")) },
			want: []string{"libcuda.so.1", "is not installed", "install the NVIDIA driver"},
		},
		{
			name: "no device",
			set:  func(t *testing.T) { cudatest.UnsetVisible(t); cudatest.Host(t).Control("devices", 0) },
			want: []string{"CUDA_ERROR_NO_DEVICE", "no NVIDIA GPU that the driver can use", "nvidia-smi"},
		},
		{
			name: "devices hidden",
			set:  func(t *testing.T) { cudatest.Host(t).Control("devices", 0); t.Setenv("CUDA_VISIBLE_DEVICES", "") },
			want: []string{"CUDA_ERROR_NO_DEVICE", `CUDA_VISIBLE_DEVICES="" hides the devices`, "unset it"},
		},
		{
			name: "driver too old",
			set:  func(t *testing.T) { cudatest.Host(t).Control("version", 10020) },
			want: []string{"speaks CUDA 10.2", "CUDA 11.4 or newer", "update the NVIDIA driver"},
		},
		{
			name: "function missing",
			set: func(t *testing.T) {
				cudatest.NeedCompiler(t)
				t.Setenv(driver.LibraryVariable, cudatest.WithoutFunctions(t))
			},
			want: []string{"has no function cuGetErrorName", "update the NVIDIA driver"},
		},
		{
			name: "capability too low",
			set:  func(t *testing.T) { cudatest.Host(t).Control("capability", 61) },
			want: []string{"device 0", "compute capability 6.1, want 7.5"},
		},
		{
			name: "no such device",
			set:  func(t *testing.T) { cudatest.Host(t) },
			want: []string{"device 3, want 0…0", "nvidia-smi -L"},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.set(t)
			device := 0
			if c.name == "no such device" {
				device = 3
			}
			b, err := Open(small(), Options{Device: device})
			require.Nil(t, b)
			require.ErrorIs(t, err, engine.ErrUnavailable)
			for _, w := range c.want {
				require.ErrorContains(t, err, w)
			}
		})
	}
}

// TestDevicesUnavailable holds Devices to the same error, and to a reason for each device that is there but of no use.
func TestDevicesUnavailable(t *testing.T) {
	h := cudatest.Host(t)
	h.Control("capability", 70)
	list, err := Devices()
	require.NoError(t, err)
	require.Len(t, list, 1)
	require.False(t, list[0].Usable)
	require.Contains(t, list[0].Why, "compute capability 7.0, want 7.5")
	require.Equal(t, "7.0", list[0].Capability)

	h.Control("devices", 0)
	_, err = Devices()
	require.ErrorIs(t, err, engine.ErrUnavailable)
}

// TestVisible: a device that others hold for themselves is seen all the same, for nothing is made on it.
func TestVisible(t *testing.T) {
	h := cudatest.Host(t)
	h.Control("devices", 3)
	h.Control("fail_context", 1)
	list, err := Visible()
	require.NoError(t, err)
	require.Len(t, list, 3)
	for i, d := range list {
		require.True(t, d.Usable, d.Why)
		require.Equal(t, fmt.Sprintf("0000:%d0:00.0", i+1), d.PCI)
		require.Zero(t, d.MemoryFree)
	}
	list, err = Devices()
	require.NoError(t, err)
	require.False(t, list[2].Usable)
	require.Contains(t, list[2].Why, "CUDA_ERROR_DEVICE_UNAVAILABLE")

	h.Control("fail_context", 0)
	h.Control("capability", 61)
	list, err = Visible()
	require.NoError(t, err)
	require.False(t, list[2].Usable)
	h.Control("devices", 0)
	_, err = Visible()
	require.ErrorIs(t, err, engine.ErrUnavailable)
}

// TestDevices checks what a usable device tells.
func TestDevices(t *testing.T) {
	h := cudatest.Host(t)
	h.Control("capability", 89)
	h.Control("devices", 2)
	h.Control("free", 12345678)
	list, err := Devices()
	require.NoError(t, err)
	require.Len(t, list, 2)
	for i, d := range list {
		require.Equal(t, DeviceInfo{
			Index: i, Name: "Host Stand-in", PCI: fmt.Sprintf("0000:%d0:00.0", i+1), Capability: "8.9", MemoryTotal: 1 << 40, MemoryFree: 12345678,
			Driver: kernelDriver(), CUDA: "13.0", PTX: "burst_sm_75.ptx", Usable: true, Paths: []string{"single", "event", "run", "learn", "ranges", "resident", "delayed", "late", "teams", "clusters", "sums"},
		}, d)
	}
	h.Control("cooperative", 0)
	list, err = Devices()
	require.NoError(t, err)
	require.Equal(t, []string{"single"}, list[1].Paths)
	require.Zero(t, h.Count("held"))
}
