package driver

import (
	"bytes"
	"fmt"

	"burst/internal/clib"
)

// Device is one GPU that the process may use.
type Device struct {
	d      *Driver
	index  int
	handle int32
}

// Attribute is a CUdevice_attribute.
type Attribute int32

// Attributes of a device.
const (
	MultiprocessorCount    Attribute = 16
	CapabilityMajor        Attribute = 75
	CapabilityMinor        Attribute = 76
	CooperativeLaunch      Attribute = 95
	MaxSharedPerBlockOptin Attribute = 97 // bytes
)

// DeviceCount is the number of devices; CUDA_VISIBLE_DEVICES may hide some.
func (d *Driver) DeviceCount() (int, error) {
	var n int32
	err := d.call(cuDeviceGetCount, clib.Ptr(&n))
	return int(n), err
}

// Device is the i-th device, from 0 on. The error wraps ErrUnavailable when there is none with that number.
func (d *Driver) Device(i int) (*Device, error) {
	n, err := d.DeviceCount()
	if err != nil {
		return nil, err
	}
	if i < 0 || i >= n {
		return nil, unavailable("device %d, want 0…%d; list the devices with nvidia-smi -L", i, n-1)
	}
	v := &Device{d: d, index: i}
	return v, d.call(cuDeviceGet, clib.Ptr(&v.handle), clib.Int(i))
}

// Index is the number by which Driver.Device knows the device.
func (v *Device) Index() int { return v.index }

// Name is the product's name.
func (v *Device) Name() (string, error) {
	var b [256]byte
	err := v.d.call(cuDeviceGetName, clib.Ptr(&b), clib.Int(len(b)), clib.Int(v.handle))
	return upToNUL(b[:]), err
}

// UUID identifies the device across restarts, in the form that nvidia-smi prints.
func (v *Device) UUID() (string, error) {
	var b [16]byte
	err := v.d.call(cuDeviceGetUuid, clib.Ptr(&b), clib.Int(v.handle))
	return fmt.Sprintf("GPU-%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:]), err
}

// PCIBusID is the device's address, as 0000:1b:00.0.
func (v *Device) PCIBusID() (string, error) {
	var b [64]byte
	err := v.d.call(cuDeviceGetPCIBusId, clib.Ptr(&b), clib.Int(len(b)), clib.Int(v.handle))
	return upToNUL(b[:]), err
}

// TotalMemory is the size of the device's memory in bytes.
func (v *Device) TotalMemory() (uint64, error) {
	var n uint64
	err := v.d.call(cuDeviceTotalMem, clib.Ptr(&n), clib.Int(v.handle))
	return n, err
}

// Attribute is one of the device's numbers.
func (v *Device) Attribute(a Attribute) (int, error) {
	var n int32
	err := v.d.call(cuDeviceGetAttribute, clib.Ptr(&n), clib.Int(a), clib.Int(v.handle))
	return int(n), err
}

// Capability is the device's compute capability, 10·major + minor: 90 for 9.0.
func (v *Device) Capability() (int, error) {
	major, err := v.Attribute(CapabilityMajor)
	if err != nil {
		return 0, err
	}
	minor, err := v.Attribute(CapabilityMinor)
	return 10*major + minor, err
}

// CanAccessPeer reports whether kernels on v may use memory of peer.
func (v *Device) CanAccessPeer(peer *Device) (bool, error) {
	var can int32
	err := v.d.call(cuDeviceCanAccessPeer, clib.Ptr(&can), clib.Int(v.handle), clib.Int(peer.handle))
	return can != 0, err
}

// upToNUL is the string in a C buffer.
func upToNUL(b []byte) string {
	s, _, _ := bytes.Cut(b, []byte{0})
	return string(s)
}
