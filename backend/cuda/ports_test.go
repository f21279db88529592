package cuda

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"burst/connectome"
	"burst/engine"
	"burst/engine/enginetest"
	"burst/internal/cuda/cudatest"
	"burst/internal/formula"
	"burst/internal/slow"
)

// portsArea is an area of a model with so many ports, each of another weight for the potential, which the drives reach.
func portsArea(neurons uint32, ports int, drives ...connectome.Drive) connectome.Area {
	s := formula.Source{State: []formula.Line{{Name: "v", Text: "0"}}, Update: []string{"v = v*0.9"}, Threshold: "v > 2", Reset: []string{"v = 0"}}
	for k := range ports {
		name := fmt.Sprintf("in%d", k)
		s.Ports = append(s.Ports, name)
		s.Update[0] += fmt.Sprintf(" + %g*%s", 1-float64(k)/32, name)
	}
	a, err := enginetest.Custom(neurons, &s, nil, 1)
	if err != nil {
		panic("BUG: " + err.Error())
	}
	for k := range ports {
		for _, d := range drives {
			d.Port = 1 + k
			a.Drives = append(a.Drives, d)
		}
	}
	return a
}

// eachKind are drives of each kind, of amounts of both signs, that act in different bursts.
func eachKind() []connectome.Drive {
	up, down := enginetest.Always(connectome.Inject, 3), enginetest.Always(connectome.Inject, -2)
	up.Until, down.From = 20, 11
	noise := enginetest.Always(connectome.Noise, 0, 1<<30, 1<<31)
	noise.Table = []int32{-9, 2, 11}
	return []connectome.Drive{up, down, enginetest.Always(connectome.Poisson, -4, 1<<31, 3<<30), enginetest.Always(connectome.Poisson, 5, 1<<31), noise}
}

// TestPorts runs models of three to sixteen ports, whose drives name each of them, by every path that takes them, on one device and on several,
// alone and beside models of fewer ports.
func TestPorts(t *testing.T) {
	slow.Short(t)
	lists := [][]int{{0}}
	if h := cudatest.Anywhere(t); h != nil {
		h.Control("devices", 3)
		h.Control("multiprocessors", 4)
		lists = append(lists, []int{1, 0}, []int{0, 2, 1})
	}
	tunings := map[string]func(*tuning){
		"run":          func(t *tuning) { t.teamRow = 0 },
		"outside":      func(t *tuning) { t.teamRow, t.uncached = 0, true },
		"teams":        func(t *tuning) { t.teamRow, t.teamLeast = 1, 0 },
		"teams of one": func(t *tuning) { t.teamRow, t.teamLeast, t.teamMost = 1, 0, 1 },
	}
	most := []int{3, 4, 7, 16}
	if !slow.Full() {
		most = most[:1]
	}
	for _, ports := range most {
		for _, delays := range []uint16{1, 5} {
			r := rand.New(rand.NewPCG(uint64(ports), uint64(delays)))
			n := enginetest.Net{Scale: 16, RunSeed: 5, Areas: []connectome.Area{portsArea(300-r.Uint32N(60), ports, eachKind()...)}}
			if ports%2 == 1 {
				n.Areas = append(n.Areas, enginetest.LIF(70), portsArea(50, 1))
			}
			total, places := uint32(0), uint32(0)
			for i := range n.Areas {
				total += n.Areas[i].Neurons.Count
				places += n.Areas[i].Neurons.Count * n.Areas[i].PortsEach()
			}
			for from := range total {
				for range 20 + r.IntN(30) {
					n.Synapses = append(n.Synapses, enginetest.Synapse{From: from, To: r.Uint32N(places), Weight: r.Int32N(40) - 14, Delay: 1 + uint16(r.UintN(uint(delays)))})
				}
			}
			c := n.Build()
			n.Stimuli = []connectome.Stimulus{{At: 2, Every: 3, From: 4, Until: 40, Ports: []uint32{0, places / 2, places - 1}, Amounts: []int32{40, -30, 50}}}
			stimulated := n.Build()
			for name, change := range tunings {
				tune := fewThreads()
				change(&tune)
				p := pathRun
				if tune.teamRow > 0 && delays == 1 {
					p = pathTeams
				}
				for _, list := range lists {
					t.Run(fmt.Sprintf("%d ports, delays to %d, %s, %v", ports, delays, name, list), func(t *testing.T) {
						b, spikes := againstReference(t, c, list, tune, 5)
						require.Equal(t, p, pathOf(b))
						require.Greater(t, spikes, 1000)
					})
				}
				t.Run(fmt.Sprintf("%d ports, delays to %d, %s, stimuli and lists", ports, delays, name), func(t *testing.T) {
					w := engine.Want{FCL: true}
					b, err := open(stimulated, Options{Want: w}, tune)
					require.NoError(t, err)
					require.Equal(t, p, b.(*backend).choice.path)
					likeReferenceFor(t, b, stimulated, w, 20, thirds(stimulated))
					require.NoError(t, b.Close())
				})
			}
		}
	}
}
