package browsertest

import (
	"encoding/json"
	"fmt"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestPair: two runs stand side by side, are moved together, and the first spike in which they differ is that of `burst diff`.
func TestPair(t *testing.T) {
	var dirs []string
	for seed := range 2 {
		dir := filepath.Join(t.TempDir(), fmt.Sprintf("seed-%d", seed))
		burst(t, "run", "quickstart", "--bursts", "240", "--run-seed", fmt.Sprint(seed+1), "--out", dir, "--record", "spikes=all", "--backend", "cpu", "--quiet")
		dirs = append(dirs, dir)
	}
	out, err := exec.Command(program(t), "diff", "--json", dirs[0], dirs[1]).Output()
	require.Error(t, err, "they differ")
	var diff struct {
		First struct {
			Burst, Index int
			Area, In     string
		} `json:"first_difference"`
	}
	require.NoError(t, json.Unmarshal(out, &diff))
	first := diff.First
	p := start(t, "view", dirs[0], dirs[1], "--paused")
	x := open(t, browser(t), p.control, 1400, 900)
	const apps = "[...document.querySelectorAll('iframe')].map(f => f.contentWindow.burst)"
	x.until(apps + ".every(a => a?.areas.length > 0 && a.socket.readyState === 1)")
	name := map[string]string{"a": "seed-0", "b": "seed-1"}[first.In]
	x.until(fmt.Sprintf("document.querySelector('#difference').textContent === 'First difference: at burst %d neuron %d of %s fires in %s alone.'", first.Burst, first.Index, first.Area, name))
	x.until("document.querySelector('#show').checkVisibility()")
	x.run("document.querySelector('#show').click()")
	x.until(apps + ".every(a => a.burst === " + fmt.Sprint(min(240, first.Burst+1+125)) + " && a.raster.spikes.to === a.burst)")
	require.Equal(t, []int{first.Burst, first.Burst}, eval[[]int](x, apps+".map(a => a.raster.mark)"))
	const fires = `.map(a => {
	  let n = 0;
	  a.raster.spikes.each(%d, %d, (t, row) => { const at = a.raster.neuronAt(row); if (a.areas[at.area].name === %q && at.neuron === %d) n++ });
	  return n;
	})`
	want := map[string][]int{"a": {1, 0}, "b": {0, 1}}[first.In]
	require.Equal(t, want, eval[[]int](x, apps+fmt.Sprintf(fires, first.Burst, first.Burst+1, first.Area, first.Index)))
	const drawn = `.map(a => {
	  a.raster.frame();
	  const c = a.raster.chart, g = c.getContext('2d'), ratio = c.width / c.clientWidth;
	  const {data} = g.getImageData(Math.round(66 * ratio), Math.round(6 * ratio), c.width - Math.round(80 * ratio), Math.round(80 * ratio));
	  return data.some(v => v > 0);
	})`
	require.Equal(t, []bool{true, true}, eval[[]bool](x, apps+drawn), "the rates of one picture are a line")
	x.picture("pair")
	x.run("const l = document.querySelector('#line'); l.value = '10'; l.dispatchEvent(new Event('input'))")
	x.until(apps + ".every(a => a.burst === 10 && !a.bar.seeking)")
	x.run("document.querySelector('#bursts').value = '5'; document.querySelector('#step').click()")
	x.until(apps + ".every(a => a.burst === 15)")
	x.until("document.querySelector('#play').textContent === 'play'")
	x.run("document.querySelector('#play').click()")
	x.until(apps + ".every(a => a.burst === 240 && a.mode === 'paused')")
	require.Empty(t, x.said())
}
