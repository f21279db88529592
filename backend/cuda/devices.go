package cuda

import (
	"fmt"
	"os"
	"strings"

	"burst/internal/cuda/driver"
	"burst/kernels"
)

// DeviceInfo describes a GPU and whether Open can use it.
type DeviceInfo struct {
	Index       int      `json:"index"`
	Name        string   `json:"name"`
	UUID        string   `json:"uuid"` // empty where the driver does not tell
	PCI         string   `json:"pci"`
	Capability  string   `json:"capability"`   // compute capability, as 9.0
	MemoryTotal uint64   `json:"memory_total"` // bytes
	MemoryFree  uint64   `json:"memory_free"`  // bytes; 0 when the device cannot be used
	Driver      string   `json:"driver"`       // version of the kernel driver, empty where the system does not tell
	CUDA        string   `json:"cuda"`         // newest CUDA version that the driver speaks
	PTX         string   `json:"ptx"`          // the embedded code that Open would load
	Usable      bool     `json:"usable"`
	Why         string   `json:"why"`           // why it is not usable
	Paths       []string `json:"paths"`         // how it can run bursts (Path), the last where a network allows it
	SingleSteps string   `json:"single_bursts"` // why every burst is launched by itself, empty where launches have many
}

// Devices lists the GPUs. The error wraps engine.ErrUnavailable when there is no driver or no device.
func Devices() ([]DeviceInfo, error) {
	list, d, err := visible()
	for i := range list {
		if list[i].Usable {
			list[i].found(list[i].askMemory(d))
		}
	}
	return list, err
}

// Visible is Devices for many processes at a time: it makes no context on any device. So it cannot say whether a context can be made, nor
// how much memory is free.
func Visible() ([]DeviceInfo, error) {
	list, _, err := visible()
	return list, err
}

func visible() ([]DeviceInfo, *driver.Driver, error) {
	d, err := driver.Open("")
	if err != nil {
		return nil, nil, unavailable(err)
	}
	n, err := d.DeviceCount()
	if err != nil {
		return nil, nil, unavailable(err)
	}
	list := make([]DeviceInfo, n)
	for i := range list {
		list[i] = DeviceInfo{Index: i, Driver: kernelDriver(), CUDA: fmt.Sprintf("%d.%d", d.Version()/1000, d.Version()%1000/10)}
		list[i].found(list[i].look(d))
	}
	return list, d, nil
}

// found notes why the device cannot be used, or that it can.
func (i *DeviceInfo) found(wrong error) {
	i.Usable = wrong == nil
	if wrong != nil {
		i.Why = wrong.Error()
	}
}

// look fills in what device v tells; the error is why it cannot be used.
func (i *DeviceInfo) look(d *driver.Driver) error {
	v, err := d.Device(i.Index)
	if err != nil {
		return err
	}
	if i.Name, err = v.Name(); err != nil {
		return err
	}
	if uuid, err := v.UUID(); err == nil {
		i.UUID = uuid
	}
	if pci, err := v.PCIBusID(); err == nil {
		i.PCI = pci
	}
	if i.MemoryTotal, err = v.TotalMemory(); err != nil {
		return err
	}
	capability, err := v.Capability()
	if err != nil {
		return err
	}
	i.Capability = fmt.Sprintf("%d.%d", capability/10, capability%10)
	image, err := selectImage(d, v, kernels.Images())
	if err != nil {
		return err
	}
	i.PTX = image.Name
	if i.SingleSteps, err = singleSteps(v); err != nil {
		return err
	}
	last := pathSums
	if i.SingleSteps != "" {
		last = pathSingle
	}
	for p := pathSingle; p <= last; p++ {
		if p != pathLocal || capability >= clusterCapability {
			i.Paths = append(i.Paths, p.String())
		}
	}
	return nil
}

// sharedRoom is how many bytes of shared memory a block of a launch of many bursts may have, beside what its kernel takes for itself.
func sharedRoom(v *driver.Device) (uint64, error) {
	bytes, err := v.Attribute(driver.MaxSharedPerBlockOptin)
	return min(mostShared, uint64(max(0, bytes-kernelShared))), err
}

// singleSteps is why the device launches every burst by itself; empty where blocks of a launch may wait for each other.
func singleSteps(v *driver.Device) (string, error) {
	can, err := v.Attribute(driver.CooperativeLaunch)
	if err != nil || can != 0 {
		return "", err
	}
	return "the device has no cooperative launches (CU_DEVICE_ATTRIBUTE_COOPERATIVE_LAUNCH is 0), so each burst is launched by itself, which takes longer", nil
}

// askMemory needs a context, so it also shows whether one can be made.
func (i *DeviceInfo) askMemory(d *driver.Driver) error {
	v, err := d.Device(i.Index)
	if err != nil {
		return err
	}
	c, err := v.Retain()
	if err != nil {
		return err
	}
	if err := c.Enter(); err != nil {
		_ = c.Release()
		return err
	}
	defer c.Leave()
	if i.MemoryFree, _, err = c.MemoryInfo(); err != nil {
		_ = c.Release()
		return err
	}
	return c.Release()
}

// kernelDriver is the version of the kernel's NVIDIA module.
func kernelDriver() string {
	b, err := os.ReadFile("/sys/module/nvidia/version")
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(b))
}

// Device names the GPU that the backend runs on.
func (b *backend) Device() string {
	name, err := b.device.Name()
	if err != nil {
		return fmt.Sprintf("device %d", b.device.Index())
	}
	return name
}
