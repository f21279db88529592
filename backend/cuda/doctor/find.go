package doctor

import (
	"errors"
	"fmt"

	"burst/backend/cuda"
	"burst/internal/cuda/driver"
	"burst/kernels"
)

// libraries looks for those that come with the driver or the toolkit; burst itself needs none of them.
func (e *examiner) libraries() {
	if n, err := driver.OpenNVRTC(""); err != nil {
		e.failed("nvrtc", false, err)
	} else if v, err := n.Version(); err != nil {
		e.failed("nvrtc", false, err)
	} else {
		e.report.NVRTC = Library{Path: n.Path(), Version: versionText(v)}
		e.found("nvrtc", false, "%s, CUDA %s", n.Path(), versionText(v))
	}
	n, err := driver.OpenNVML("")
	if err != nil {
		e.failed("nvml", false, err)
		return
	}
	defer func() { _ = n.Close() }()
	version, err := n.DriverVersion()
	if err != nil {
		e.failed("nvml", false, err)
		return
	}
	e.report.NVML = Library{Path: n.Path(), Version: version}
	e.found("nvml", false, "%s, driver %s", n.Path(), version)
}

// driver opens the driver and lists the devices; false when there is no use in going on.
func (e *examiner) driver() bool {
	d, err := driver.Open("")
	var call *driver.Error
	if errors.As(err, &call) && (call.Code == driver.NoDevice || call.Code == driver.InvalidDevice) {
		cause, advice := noDevice()
		e.wrong("devices", false, fmt.Sprintf("%s (%s)", cause, call.Name), advice)
		return false
	}
	if err != nil {
		e.failed("driver", false, err)
		return false
	}
	e.report.Driver = Library{Path: d.Path(), Version: versionText(d.Version())}
	e.found("driver", false, "%s, CUDA %s", d.Path(), versionText(d.Version()))
	list, err := cuda.Devices()
	if err != nil {
		e.failed("devices", false, err)
		return false
	}
	if len(list) == 0 {
		cause, advice := noDevice()
		e.wrong("devices", false, cause, advice)
		return false
	}
	for _, info := range list {
		e.report.Devices = append(e.report.Devices, Device{DeviceInfo: info, Measures: []Measure{}})
	}
	e.found("devices", false, "%d", len(list))
	return true
}

// choose picks the embedded PTX for a device, and says why that one.
func choose(images []kernels.Image, capability, cudaVersion int) (image kernels.Image, why string, err error) {
	isa := kernels.ISA(cudaVersion)
	if image, err = kernels.Choose(images, capability, isa); err != nil {
		return image, "", err
	}
	why = fmt.Sprintf("PTX %s for compute capability %s and newer; the device has %s, the driver (CUDA %s) takes PTX up to %s",
		dotted(image.ISA), dotted(image.Capability), dotted(capability), versionText(cudaVersion), dotted(isa))
	for _, better := range images {
		if better.Capability > image.Capability && better.Capability <= capability {
			why += fmt.Sprintf("; %s would suit the device but is PTX %s", better.Name, dotted(better.ISA))
		}
	}
	return image, why, nil
}

func dotted(v int) string { return fmt.Sprintf("%d.%d", v/10, v%10) }

// health asks NVML about a device.
func (e *examiner) health(name string, v *Device) {
	if e.report.NVML.Path == "" || v.PCI == "" {
		return
	}
	n, err := driver.OpenNVML("")
	if err != nil {
		e.failed(name, false, err)
		return
	}
	defer func() { _ = n.Close() }()
	h, err := n.Health(v.PCI)
	if err != nil {
		e.failed(name, false, err)
		return
	}
	v.Health = (*Health)(&h)
	switch {
	case isTrue(h.RemapFailed):
		e.wrong(name, false, "a row of memory could not be remapped", "replace the GPU")
	case isTrue(h.RemapPending):
		e.wrong(name, false, "a row of memory waits for its remapping", "reset the GPU when it is idle (nvidia-smi -r), or restart the machine")
	case h.Uncorrected != nil && *h.Uncorrected > 0:
		e.wrong(name, false, fmt.Sprintf("%d uncorrectable memory errors so far", *h.Uncorrected), "see nvidia-smi -q -d ECC,ROW_REMAPPER; replace the GPU if the number grows")
	case h.LinkWidth != nil && h.LinkWidthMax != nil && *h.LinkWidth < *h.LinkWidthMax:
		e.wrong(name, false, fmt.Sprintf("the PCIe link has %d of %d lanes", *h.LinkWidth, *h.LinkWidthMax), "copies are slow: check the slot, the riser and the BIOS")
	default:
		e.found(name, false, "%s", healthText(h))
	}
}

// healthText is what NVML told, in a line.
func healthText(h driver.Health) string {
	text := "no faults known"
	if h.LinkGeneration != nil && h.LinkWidth != nil {
		text += fmt.Sprintf(", PCIe %d.0 × %d", *h.LinkGeneration, *h.LinkWidth)
	}
	if h.ECC != nil {
		text += map[bool]string{true: ", ECC on", false: ", ECC off"}[*h.ECC]
	}
	if h.Corrected != nil {
		text += fmt.Sprintf(", %d corrected errors", *h.Corrected)
	}
	if h.RemappedRows != nil {
		text += fmt.Sprintf(", %d remapped rows", *h.RemappedRows)
	}
	return text
}

func isTrue(b *bool) bool { return b != nil && *b }
