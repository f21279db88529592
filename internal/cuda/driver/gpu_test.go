package driver_test

import (
	"errors"
	"strings"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"

	"burst/internal/cuda/cudatest"
	"burst/internal/cuda/driver"
)

// gpu is the first device's context, entered until the test ends.
func gpu(t *testing.T) *driver.Context {
	t.Helper()
	c := cudatest.Device(t)
	require.NoError(t, c.Enter())
	t.Cleanup(c.Leave)
	return c
}

func TestVectorAdd(t *testing.T) {
	gpu(t)
	x, y := make([]float32, 10007), make([]float32, 10007)
	want := make([]float32, len(x))
	for i := range x {
		x[i], y[i] = float32(i)/7, float32(3*i)/11
		want[i] = x[i] + y[i]
	}
	compiled, err := compile()
	require.NoError(t, err)
	for name, ptx := range map[string][]byte{"NVRTC, or embedded": compiled, "embedded": vectorAddPTX} {
		sum, err := add(ptx, x, y)
		require.NoError(t, err, name)
		require.Equal(t, want, sum, name)
	}
}

// TestNVRTC needs the library; a mistake in the source comes back with its line.
func TestNVRTC(t *testing.T) {
	n, err := driver.OpenNVRTC("")
	if errors.Is(err, driver.ErrUnavailable) {
		t.Skipf("SKIPPED: %v", err)
	}
	require.NoError(t, err)
	version, err := n.Version()
	require.NoError(t, err)
	require.GreaterOrEqual(t, version, 11000)
	_, log, err := n.Compile("#include \"two.cuh\"\nextern \"C\" __global__ void f() { return two; }",
		map[string]string{"two.cuh": "const int two = 2;"}, "--gpu-architecture=compute_75")
	require.Error(t, err)
	require.Contains(t, log, "(2)", "the line of the mistake")
}

func TestDeviceTells(t *testing.T) {
	c := gpu(t)
	v := c.Device()
	name, err := v.Name()
	require.NoError(t, err)
	require.NotEmpty(t, name)
	uuid, err := v.UUID()
	require.NoError(t, err)
	require.Regexp(t, `^GPU-[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$`, uuid)
	pci, err := v.PCIBusID()
	require.NoError(t, err)
	require.Regexp(t, `^[0-9a-fA-F]{4,8}:[0-9a-fA-F]{2}:`, pci)
	free, total, err := c.MemoryInfo()
	require.NoError(t, err)
	require.Less(t, free, total)
	capability, err := v.Capability()
	require.NoError(t, err)
	require.GreaterOrEqual(t, capability, 75)
	sms, err := v.Attribute(driver.MultiprocessorCount)
	require.NoError(t, err)
	require.Positive(t, sms)
	t.Logf("%s, %s, PCI %s, capability %d, %d multiprocessors, %d bytes", name, uuid, pci, capability, sms, total)
}

// TestRefusals checks that mistakes come back as errors that do not spoil the context.
func TestRefusals(t *testing.T) {
	c := gpu(t)
	_, err := c.Load([]byte(".version 6.3\n.target sm_75\n.address_size 64\n.visible .entry f() { nonsense; }"))
	require.Error(t, err)
	require.True(t, strings.Contains(err.Error(), "nonsense") || strings.Contains(err.Error(), "ptxas"), "the compiler's log: %v", err)
	m, err := c.Load(vectorAddPTX)
	require.NoError(t, err)
	_, err = m.Function("no_such_kernel")
	require.ErrorContains(t, err, "no_such_kernel")
	_, err = c.Alloc(1 << 50)
	require.ErrorContains(t, err, "OUT_OF_MEMORY")
	require.False(t, driver.Sticky(err))
	require.NoError(t, m.Unload())
}

// TestGraph captures two launches, and times them; y = x + x, then z = y + x, in memory that host and device share.
func TestGraph(t *testing.T) {
	c := gpu(t)
	m, err := c.Load(vectorAddPTX)
	require.NoError(t, err)
	f, err := m.Function("vector_add")
	require.NoError(t, err)
	s, err := c.Stream()
	require.NoError(t, err)
	host, err := c.AllocHost(3*4*100, true)
	require.NoError(t, err)
	shared, err := host.DevicePtr()
	require.NoError(t, err)
	numbers := unsafe.Slice((*float32)(unsafe.Pointer(unsafe.SliceData(host.Bytes()))), 300)
	for i := range 100 {
		numbers[i] = float32(i) + 0.25
	}
	type arguments struct {
		x, y, sum driver.Ptr
		n         uint32
	}
	args := [2]arguments{{shared, shared, shared + 400, 100}, {shared, shared + 400, shared + 800, 100}}
	first, second := driver.Params(&args[0]), driver.Params(&args[1])
	g, err := s.Capture(func() error {
		return errors.Join(f.Launch(1, 128, first, s), f.LaunchShared(2, 64, 1024, second, s))
	})
	require.NoError(t, err)
	require.Zero(t, numbers[299], "capturing runs nothing")
	start, err := c.Event()
	require.NoError(t, err)
	end, err := c.Event()
	require.NoError(t, err)
	require.NoError(t, s.Record(start))
	require.NoError(t, g.Launch(s))
	require.NoError(t, s.Record(end))
	require.NoError(t, end.Synchronize())
	took, err := end.Since(start)
	require.NoError(t, err)
	require.Positive(t, took)
	for i := range 100 {
		require.Equal(t, 3*(float32(i)+0.25), numbers[200+i])
	}
	blocks, err := f.BlocksPerSM(128, 0)
	require.NoError(t, err)
	require.Positive(t, blocks)
	registers, err := f.Registers()
	require.NoError(t, err)
	require.Positive(t, registers)
	require.NoError(t, f.LaunchCooperative(1, 128, 0, first, s))
	require.NoError(t, s.Synchronize())
	first.Release()
	second.Release()
	require.NoError(t, errors.Join(g.Destroy(), start.Destroy(), end.Destroy(), host.Free(), s.Destroy(), m.Unload()))
}

// TestFillsAndCopies moves bytes within the device.
func TestFillsAndCopies(t *testing.T) {
	c := gpu(t)
	s, err := c.Stream()
	require.NoError(t, err)
	p, err := c.Alloc(64)
	require.NoError(t, err)
	var got [16]uint32
	require.NoError(t, errors.Join(
		s.Fill(p, 0xAB, 16), s.Fill32(p+16, 0xDEADBEEF, 4), s.Copy(p+32, p, 32),
		s.Download(unsafe.Pointer(&got), p, 64), s.Synchronize(),
	))
	half := [8]uint32{0xABABABAB, 0xABABABAB, 0xABABABAB, 0xABABABAB, 0xDEADBEEF, 0xDEADBEEF, 0xDEADBEEF, 0xDEADBEEF}
	require.Equal(t, half[:], got[:8])
	require.Equal(t, half[:], got[8:])
	require.NoError(t, errors.Join(c.Free(p), s.Destroy()))
}

// TestPeers copies between two devices where there are two.
func TestPeers(t *testing.T) {
	c := gpu(t)
	d, err := driver.Open("")
	require.NoError(t, err)
	n, err := d.DeviceCount()
	require.NoError(t, err)
	if n < 2 {
		t.Skip("SKIPPED: one device only")
	}
	v, err := d.Device(1)
	require.NoError(t, err)
	other, err := v.Retain()
	require.NoError(t, err)
	require.NoError(t, other.Enter())
	from, err := other.Alloc(8)
	require.NoError(t, err)
	away, err := other.Stream()
	require.NoError(t, err)
	require.NoError(t, errors.Join(away.Fill32(from, 77, 2), away.Synchronize()))
	other.Leave()
	require.NoError(t, c.Enter())
	defer c.Leave()
	if can, err := c.Device().CanAccessPeer(v); err == nil && can {
		require.NoError(t, errors.Join(c.EnablePeer(other), c.EnablePeer(other)))
	}
	s, err := c.Stream()
	require.NoError(t, err)
	to, err := c.Alloc(8)
	require.NoError(t, err)
	var got [2]uint32
	require.NoError(t, errors.Join(s.CopyFromPeer(to, other, from, 8), s.Download(unsafe.Pointer(&got), to, 8), s.Synchronize()))
	require.Equal(t, [2]uint32{77, 77}, got)
	require.NoError(t, errors.Join(c.Free(to), s.Destroy(), other.Release()))
}

// TestAllocHost: memory of all sizes, which the driver or this package takes, is written by the host and read through the device's copies.
func TestAllocHost(t *testing.T) {
	c := gpu(t)
	s, err := c.Stream()
	require.NoError(t, err)
	for _, n := range []int{1, 4<<20 - 1, 4 << 20, 9<<20 + 5} {
		for _, mapped := range []bool{false, true} {
			host, err := c.AllocHost(n, mapped)
			require.NoError(t, err)
			bytes := host.Bytes()
			require.Len(t, bytes, n)
			for i := range bytes {
				bytes[i] = byte(i*i>>7 + n)
			}
			if mapped {
				at, err := host.DevicePtr()
				require.NoError(t, err)
				require.NotZero(t, at)
			}
			there, err := c.Alloc(uint64(n))
			require.NoError(t, err)
			back := make([]byte, n)
			require.NoError(t, errors.Join(s.Upload(there, unsafe.Pointer(&bytes[0]), uint64(n)), s.Synchronize()))
			require.NoError(t, errors.Join(s.Download(unsafe.Pointer(&back[0]), there, uint64(n)), s.Synchronize()))
			require.Equal(t, bytes, back)
			require.NoError(t, errors.Join(c.Free(there), host.Free()))
		}
	}
	require.NoError(t, s.Destroy())
}
