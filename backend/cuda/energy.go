package cuda

import (
	"errors"

	"burst/internal/cuda/driver"
)

// Energy is what the backend's GPU has used since its driver was loaded, in joules, whoever used it. Readings less than some
// seconds apart tell little, since the counter moves some ten times a second.
func (b *backend) Energy() (float64, error) { return energy(b) }

// Energy is what the GPUs have used together.
func (g *group) Energy() (float64, error) { return energy(g.parts...) }

// energy asks NVML for what the backends' devices have used.
func energy(parts ...*backend) (joules float64, err error) {
	n, err := driver.OpenNVML("")
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, n.Close()) }()
	for _, b := range parts {
		pci, err := b.device.PCIBusID()
		if err != nil {
			return 0, err
		}
		j, err := n.Energy(pci)
		if err != nil {
			return 0, err
		}
		joules += j
	}
	return joules, nil
}
