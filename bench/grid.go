package bench

import (
	"fmt"
	"slices"
	"strings"
)

// gridNet is a network of the suite grid: lif neurons of which one in period fires in each burst, as in burst-100k.
type gridNet struct {
	name               string
	neurons, outdegree int
	delay              string // as the genome says it
	period             int    // bursts
}

// grid lists networks of all sizes, delays and rates, to find where a path beside a fast one is slow: compare threads, and revisions.
func grid() (list []gridNet) {
	const mostSynapses = 40_000_000
	for _, neurons := range []int{2000, 20_000, 200_000} {
		for _, outdegree := range []int{10, 100, 1000, 10_000} {
			if neurons*outdegree > mostSynapses {
				continue
			}
			for _, delay := range []struct{ name, text string }{{"1", "0.1 ms"}, {"15", "1.5 ms"}, {"1to20", `"uniform(0.1 ms, 2 ms)"`}} {
				for _, period := range []int{10_000, 100, 5} {
					name := fmt.Sprintf("grid-%d-%d-delay-%s-every-%d", neurons, outdegree, delay.name, period)
					list = append(list, gridNet{name, neurons, outdegree, delay.text, period})
				}
			}
		}
	}
	return list
}

// workload is so many bursts that each network takes about as long.
func (n *gridNet) workload() Workload {
	const work = 400_000_000 // neurons and events
	bursts := work / (n.neurons + n.neurons*n.outdegree/n.period)
	return Workload{Name: n.name, Suites: []string{gridSuite}, Warm: 100, Bursts: min(max(bursts, 50), 3000)}
}

const gridSuite = "grid"

// text is the network's genome. Its weights are so small that neurons keep their period.
func (n *gridNet) text() []byte {
	var areas, projections strings.Builder
	kinds := []struct {
		name   string
		share  int // of five
		weight string
	}{{"E", 4, "0.00001"}, {"I", 1, "-0.00004"}}
	for _, from := range kinds {
		fmt.Fprintf(&areas, `  - name: %s
    neurons: %d
    model: lif
    params: {tau: %d ms, rest: 0 mV, reset: 19.9167 mV, threshold: 20 mV, refractory: %g ms}
    drive: {constant: 21 mV}
    init: {V: "uniform(19.8948 mV, 20 mV)"}
`, from.name, n.neurons*from.share/5, n.period, float64(n.period/5)/10)
		for _, to := range kinds {
			fmt.Fprintf(&projections, "  - {from: %s, to: %s, rule: fixed_outdegree, outdegree: %d, weight: %s mV, delay: %s}\n",
				from.name, to.name, n.outdegree*to.share/5, from.weight, n.delay)
		}
	}
	return fmt.Appendf(nil, "burst: v1\nname: %s\nseed: 1\ntimestep: 0.1 ms\nscale: 100000\nareas:\n%sprojections:\n%s", n.name, areas.String(), projections.String())
}

// gridText is the genome of a network of the grid.
func gridText(name string) ([]byte, bool) {
	all := grid()
	i := slices.IndexFunc(all, func(n gridNet) bool { return n.name == name })
	if i < 0 {
		return nil, false
	}
	return all[i].text(), true
}
