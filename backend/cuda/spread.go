package cuda

import (
	"math/bits"

	"burst/connectome"
)

// worth is how many synapses a device must get to be worth its share of the exchange.
const worth = 100_000_000

// Spread chooses the devices that share a network of that many synapses, before it is built; head is its connectome without
// synapses. It takes all usable devices if each gets enough to do, and fewer for smaller networks, but as many as the memory
// needs. It counts 8 bytes a synapse, because the weights are not known yet.
func Spread(head *connectome.Connectome, synapses uint64, devices []DeviceInfo) []int {
	var list []int
	b := &backend{c: head, tune: defaults, sms: usualSMs, ringRoom: usualRing, rows: rows{synapses: synapses, delays: uint64(bits.Len8(uint8(min(head.MaxDelay, 2) - 1)))}}
	b.makePlan(makeTables(head))
	need, room := b.plan.total(), uint64(0)
	for _, d := range devices {
		if !d.Usable || len(list) == mostDevices {
			continue
		}
		if n := uint64(len(list)); n > 0 && (n+1)*worth > synapses && room > need {
			break
		}
		list, room = append(list, d.Index), room+d.MemoryFree
	}
	return list
}
