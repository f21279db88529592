package browsertest

import (
	"fmt"
	"os"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestNetworks: areas of three networks light, the raster has what fired, and details of what was chosen are shown: a neuron's
// potential and connections, parameters, and the histogram of weights that learn. With BURST_PICTURES these are the pictures of docs,
// for which the microcircuit is the whole one: it takes 10 GB of memory, and minutes.
func TestNetworks(t *testing.T) {
	in := browser(t)
	microcircuit := "potjans-diesmann-10"
	if os.Getenv("BURST_PICTURES") != "" {
		microcircuit = "potjans-diesmann"
	}
	for _, c := range []struct {
		name, genome   string
		bursts, pieces int
		choose, until  string
	}{
		{"page-quickstart", "quickstart", 480, 16, "burst.chooseNeuron(3, 17)", "document.querySelectorAll('#detail thead').length === 2"},
		{"page-microcircuit", microcircuit, 2000, 16, "burst.choose(3)", "document.querySelector('#detail h2').textContent === 'L4I'"},
		{"page-learning", "stdp-song", 20_000, 16, "burst.choose(1)", "document.querySelector('#detail canvas') !== null"},
	} {
		p := start(t, "serve", c.genome, "--paused", "--no-out", "--backend", "cpu")
		x := open(t, in, p.control, 1280, 800)
		x.ready()
		x.run("burst.setTheme('light'); " + c.choose)
		x.until(c.until)
		for range c.pieces {
			x.run(fmt.Sprintf("await burst.bar.step(%d); await new Promise(d => setTimeout(d, 60))", c.bursts/c.pieces)) // 20 controls a second
		}
		x.until(fmt.Sprintf("burst.burst === %d && burst.raster.spikes.to === %d", c.bursts, c.bursts))
		require.NotEmpty(t, eval[[]string](x, rowsOf), c.name)
		require.NotZero(t, eval[int](x, "burst.areas.reduce((n, a, i) => n + burst.scene.lit(i).length, 0)"), c.name)
		x.until(fmt.Sprintf("document.querySelector('#status dd').textContent === (%d).toLocaleString('en')", c.bursts))
		x.until(fmt.Sprintf("document.querySelector('#detail pre').textContent.includes('--bursts %d')", c.bursts))
		x.picture(c.name)
		require.Empty(t, x.said(), c.name)
	}
}
