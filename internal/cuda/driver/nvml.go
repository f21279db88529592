package driver

import (
	"cmp"
	"fmt"
	"os"
	"unsafe"

	"burst/internal/clib"
)

// NVML is NVIDIA's management library, which comes with the driver and reports a device's health.
type NVML struct {
	path    string
	library uintptr
}

// OpenNVML loads the library: the named one, or when path is empty $BURST_LIBNVML if set, else libnvidia-ml.so.1. The error
// wraps ErrUnavailable where there is none, as in some containers.
func OpenNVML(path string) (*NVML, error) {
	n := &NVML{}
	var err error
	if n.path, n.library, err = openFirst(cmp.Or(path, os.Getenv(NVMLVariable)), "libnvidia-ml.so.1"); err != nil {
		return nil, unavailable("%v; it comes with the NVIDIA driver (in containers: NVIDIA_DRIVER_CAPABILITIES=compute,utility)", err)
	}
	return n, n.call("nvmlInit_v2")
}

// call calls a function by name; a library without it, and a device that does not support it, are errors alike.
func (n *NVML) call(name string, args ...clib.Arg) error {
	fn := clib.Lookup(n.library, name)
	if fn == 0 {
		return unavailable("%s has no function %s", n.path, name)
	}
	r := clib.Call(fn, args...)
	if int32(r) == 0 {
		return nil
	}
	text := fmt.Sprintf("status %d", int32(r))
	if describe := clib.Lookup(n.library, "nvmlErrorString"); describe != 0 {
		t := clib.Call(describe, clib.Int(r))
		text = goString(*(*unsafe.Pointer)(unsafe.Pointer(&t)))
	}
	return fmt.Errorf("%s: %s", name, text)
}

// Path is the name that the library was loaded by.
func (n *NVML) Path() string { return n.path }

// DriverVersion is the version of the driver, as 570.86.15.
func (n *NVML) DriverVersion() (string, error) {
	var b [96]byte
	err := n.call("nvmlSystemGetDriverVersion", clib.Ptr(&b), clib.Int(len(b)))
	return upToNUL(b[:]), err
}

// Close lets go of the library.
func (n *NVML) Close() error { return n.call("nvmlShutdown") }

// Health is what NVML reports of a device; nil where the device does not support it.
type Health struct {
	LinkGeneration    *int // now; an idle link may rest at a lower one
	LinkGenerationMax *int
	LinkWidth         *int // lanes
	LinkWidthMax      *int
	ECC               *bool
	Corrected         *uint64 // memory errors since the counters were last cleared
	Uncorrected       *uint64
	RemappedRows      *int  // of memory, for corrected and uncorrected errors
	RemapPending      *bool // a remapping waits for a reset of the device
	RemapFailed       *bool
}

// device is the handle of the device at a PCI address, as Device.PCIBusID gives it.
func (n *NVML) device(pci string) (handle uintptr, err error) {
	err = n.call("nvmlDeviceGetHandleByPciBusId_v2", clib.Ptr(cString(pci)), clib.Ptr(&handle))
	return handle, err
}

// Energy is what the device at a PCI address has used since its driver was loaded, in joules, whoever used it. The counter moves
// some ten times a second.
func (n *NVML) Energy(pci string) (float64, error) {
	device, err := n.device(pci)
	if err != nil {
		return 0, err
	}
	var millijoules uint64
	err = n.call("nvmlDeviceGetTotalEnergyConsumption", clib.Int(device), clib.Ptr(&millijoules))
	return float64(millijoules) / 1e3, err
}

// Health asks for the device at a PCI address.
func (n *NVML) Health(pci string) (Health, error) {
	device, err := n.device(pci)
	if err != nil {
		return Health{}, err
	}
	h := Health{
		LinkGeneration: n.number("nvmlDeviceGetCurrPcieLinkGeneration", device), LinkGenerationMax: n.number("nvmlDeviceGetMaxPcieLinkGeneration", device),
		LinkWidth: n.number("nvmlDeviceGetCurrPcieLinkWidth", device), LinkWidthMax: n.number("nvmlDeviceGetMaxPcieLinkWidth", device),
		Corrected: n.errors(device, 0), Uncorrected: n.errors(device, 1),
	}
	var ecc [2]uint32 // now, after the next restart
	if n.call("nvmlDeviceGetEccMode", clib.Int(device), clib.Ptr(&ecc[0]), clib.Ptr(&ecc[1])) == nil {
		h.ECC = flag(ecc[0])
	}
	var rows [4]uint32 // for corrected and for uncorrected errors, pending, failed
	if n.call("nvmlDeviceGetRemappedRows", clib.Int(device), clib.Ptr(&rows[0]), clib.Ptr(&rows[1]),
		clib.Ptr(&rows[2]), clib.Ptr(&rows[3])) == nil {
		sum := int(rows[0] + rows[1])
		h.RemappedRows, h.RemapPending, h.RemapFailed = &sum, flag(rows[2]), flag(rows[3])
	}
	return h, nil
}

// number asks one of the functions that give one number of a device.
func (n *NVML) number(name string, device uintptr) *int {
	var v uint32
	if n.call(name, clib.Int(device), clib.Ptr(&v)) != nil {
		return nil
	}
	i := int(v)
	return &i
}

// errors is the number of memory errors of a kind (0: corrected, 1: uncorrected).
func (n *NVML) errors(device, kind uintptr) *uint64 {
	const aggregate = 1
	var v uint64
	if n.call("nvmlDeviceGetTotalEccErrors", clib.Int(device), clib.Int(kind), clib.Int(aggregate), clib.Ptr(&v)) != nil {
		return nil
	}
	return &v
}

func flag(v uint32) *bool {
	b := v != 0
	return &b
}
