package cuda

import (
	"burst/connectome"
	"burst/engine"
)

// worth is how many synapses a device must get to be worth its share of the exchange.
const worth = 100_000_000

// Spread chooses which of the devices share c: all that are usable when every one gets enough to do, fewer for smaller
// networks, but as many as it takes to have room.
func Spread(c *connectome.Connectome, devices []DeviceInfo) []int {
	var list []int
	need, room := DeviceBytes(c, engine.Want{}), uint64(0)
	for _, d := range devices {
		if !d.Usable || len(list) == mostDevices {
			continue
		}
		if n := uint64(len(list)); n > 0 && (n+1)*worth > c.Total() && room > need {
			break
		}
		list, room = append(list, d.Index), room+d.MemoryFree
	}
	return list
}
