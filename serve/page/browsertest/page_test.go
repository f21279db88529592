package browsertest

import (
	"encoding/csv"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"
)

// pattern is a network whose sensor fires what its list says.
const pattern = `burst: v1
name: pattern
seed: 7
areas:
  - {name: eye, size: [6, 4, 1], model: spike_list, spikes: [{neurons: [0, 13, 23], at: [5]}, {neurons: [1], at: [2, 9]}]}
  - {name: echo, size: [6, 4, 1], position: [10, 0, 0], threshold: 1}
  - {name: still, size: [3, 3, 1], position: [20, 0, 0], threshold: 1}
projections:
  - {from: eye, to: echo, rule: one_to_one, weight: 1}
stimuli:
  - {area: still, every: 4, neurons: [8], amount: 2}
`

// written is a file with a text.
func written(t testing.TB, name, text string) string {
	path := filepath.Join(t.TempDir(), name)
	require.NoError(t, os.WriteFile(path, []byte(text), 0o644))
	return path
}

// TestOpens: the printed address shows the network, its token moves out of it, and the console has nothing to say.
func TestOpens(t *testing.T) {
	p := start(t, "serve", "quickstart", "--rate", "100", "--no-out", "--backend", "cpu")
	x := open(t, browser(t), p.control, 1280, 800)
	x.ready()
	x.until("burst.views > 20")
	x.until("document.querySelector('#bar input[list]').placeholder === '100'")
	x.run("const r = document.querySelector('#bar input[list]'); r.value = '1kHz'; r.dispatchEvent(new Event('change')); r.value = ''")
	x.until("document.querySelector('#bar input[list]').placeholder === '1kHz'")
	require.NotContains(t, do(x, chromedp.Location()), "token")
	require.Equal(t, "quickstart · burst", do(x, chromedp.Title()))
	require.Equal(t, []string{"power", "retina", "thalamus", "cortex", "rhythm", "motor"}, eval[[]string](x, "[...document.querySelectorAll('#areas li button')].map(b => b.textContent)"))
	require.True(t, eval[bool](x, "burst.scene.works"))
	x.picture("opens")
	require.Empty(t, x.said())
	wrong := open(t, browser(t), strings.Split(p.view, "#")[0]+"#token=wrong", 1280, 800)
	wrong.until("document.querySelector('#notice').textContent.includes('not one of this server')")
	require.True(t, eval[bool](wrong, "document.querySelector('#door').checkVisibility()"))
}

// litPixels are how bright the places of an area's points are, drawn once with and once without what they glow.
const litPixels = `(area => {
  const s = burst.scene, m = s.camera.matrix(), ratio = s.canvas.width / s.canvas.clientWidth, b = s.boxes[area];
  const seen = () => {
    const c = s.snapshot(), {data} = c.getContext('2d').getImageData(0, 0, c.width, c.height);
    return (x, y) => { const at = 4 * (Math.floor(y * ratio) * c.width + Math.floor(x * ratio)); return [...data.slice(at, at + 3)] };
  };
  const now = seen(), clock = s.clock;
  s.clock += 1e3;
  const dark = seen();
  s.clock = clock;
  return Array.from({length: b.points}, (_, i) => {
    const [, h, d] = b.dims, n = [Math.floor(i / (h * d)), Math.floor(i / d) % h, i % d].map((k, axis) => b.at[axis] + (k + 0.5) * b.step[axis]);
    const [x, y] = s.camera.project(m, n), [p, q] = [now(x, y), dark(x, y)];
    return p.reduce((sum, v, k) => sum + Math.abs(v - q[k]), 0) > 30 ? i : -1;
  }).filter(i => i >= 0);
})`

// TestAreaLights: in each burst those points glow whose neurons the list names, as the page knows and as its pixels show.
func TestAreaLights(t *testing.T) {
	p := start(t, "serve", written(t, "pattern.yaml", pattern), "--paused", "--no-out", "--backend", "cpu")
	x := open(t, browser(t), p.control, 1280, 800)
	x.ready()
	want := map[int][]int{2: {1}, 5: {0, 13, 23}, 9: {1}}
	for burst := range 11 {
		x.run("await burst.bar.step(1)")
		x.until(fmt.Sprintf("burst.burst === %d && burst.last.next === %[1]d", burst+1))
		glow := eval[[]int](x, "burst.scene.lit(0)")
		require.Equal(t, append([]int{}, want[burst]...), glow, "burst %d", burst)
		if burst == 2 || burst == 5 {
			require.Equal(t, want[burst], eval[[]int](x, litPixels+"(0)"), "pixels of burst %d", burst)
		}
	}
	require.Empty(t, x.said())
}

// rowsOf gives a page's raster as lines: burst, area, neuron.
const rowsOf = `(() => {
  const list = [];
  burst.raster.spikes.each(0, Infinity, (t, row) => { const n = burst.raster.neuronAt(row); list.push([t, burst.areas[n.area].name, n.neuron].join()) });
  return list;
})()`

// TestRaster: its rows are the recorded ones, spike by spike, and each has its pixels.
func TestRaster(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "out")
	p := start(t, "serve", "quickstart", "--paused", "--out", dir, "--record", "spikes=all", "--backend", "cpu")
	x := open(t, browser(t), p.control, 1280, 800)
	x.ready()
	x.run("await burst.bar.step(240)")
	x.until("burst.burst === 240 && burst.raster.spikes.to === 240")
	rows := eval[[]string](x, rowsOf)
	pixels := eval[bool](x, `(() => {
	  const r = burst.raster, c = r.raster, g = c.getContext('2d'), ratio = c.width / c.clientWidth, left = Math.round(64 * ratio), wide = c.width - left - Math.round(8 * ratio);
	  r.frame();
	  const pixels = new Uint32Array(g.getImageData(left, 0, wide, c.height).data.buffer);
	  let all = true;
	  r.spikes.each(0, Infinity, (t, row) => {
	    const x = Math.floor((t - r.end + r.span) / r.span * wide), y = Math.floor(row * c.height / r.rows);
	    all &&= pixels[y * wide + x] !== pixels[1];
	  });
	  return all;
	})()`)
	require.True(t, pixels, "each spike has its pixels")
	require.Equal(t, "digest 130bd7d62696b90a", p.stop())
	recorded := filepath.Join(t.TempDir(), "spikes.csv")
	burst(t, "export", dir, "-o", recorded)
	file, err := os.Open(recorded)
	require.NoError(t, err)
	defer file.Close()
	table, err := csv.NewReader(file).ReadAll()
	require.NoError(t, err)
	at := func(name string) int { return slices.Index(table[0], name) }
	firsts := map[string]int{"power": 0, "retina": 1, "thalamus": 257, "cortex": 321, "rhythm": 833, "motor": 849}
	var want []string
	for _, row := range table[1:] {
		var neuron int
		_, err := fmt.Sscan(row[at("neuron")], &neuron)
		require.NoError(t, err)
		want = append(want, fmt.Sprintf("%s,%s,%d", row[at("burst")], row[at("area")], neuron-firsts[row[at("area")]]))
	}
	require.Len(t, want, 4750)
	slices.Sort(rows)
	slices.Sort(want)
	require.Equal(t, want, rows)
}

// TestUnpaced: of a run that is too fast for all spikes to be sent, the raster shows what was sent last, and no gap alone.
func TestUnpaced(t *testing.T) {
	p := start(t, "serve", "quickstart", "--no-out", "--backend", "cpu")
	x := open(t, browser(t), p.view, 1280, 800)
	x.ready()
	x.until("burst.raster.spikes.lost.length > 5")
	require.True(t, eval[bool](x, `(() => {
	  const r = burst.raster, from = r.end - r.span;
	  let lost = 0, seen = 0;
	  for (const [a, b] of r.spikes.lost) lost += Math.max(0, Math.min(b, r.end) - Math.max(a, from));
	  r.spikes.each(from, r.end, () => seen++);
	  return lost < 0.6 * r.span && seen > 0;
	})()`))
	p.stop()
}

// TestControls: the buttons pause, step and set the rate; stimuli are switched, and neurons given input. What was done gives the
// same spikes as a command line, and is in the run's log.
func TestControls(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "out")
	p := start(t, "serve", written(t, "pattern.yaml", pattern), "--rate", "50", "--out", dir, "--backend", "cpu")
	x := open(t, browser(t), p.control, 1280, 800)
	x.ready()
	press := func(text string) {
		t.Helper()
		x.run(fmt.Sprintf("[...document.querySelectorAll('button')].find(b => b.textContent === %q).click()", text))
	}
	press("pause")
	x.until("burst.mode === 'paused' && [...document.querySelectorAll('#bar button')].some(b => b.textContent === 'play')")
	next := eval[int](x, "burst.server.get('v1/status').then(s => s.burst)")
	x.run("document.querySelector('#bar input[type=number]').value = '7'")
	press("step")
	x.until(fmt.Sprintf("burst.burst === %d", next+7))
	x.run("burst.chooseNeuron(1, 5)")
	x.until("document.querySelector('#detail h2').textContent === 'echo neuron 5'")
	x.until("document.querySelectorAll('#detail thead').length === 2")
	require.Contains(t, eval[string](x, "document.querySelector('#detail').innerText"), "Receives from 1")
	x.run("document.querySelector('#detail input[type=number]').value = '2.5'")
	press("once")
	x.until("burst.touch.acts.length === 1")
	x.run("await burst.bar.step(1)")
	x.until(fmt.Sprintf("burst.last.next === %d", next+8))
	require.Equal(t, []int{5}, eval[[]int](x, "burst.scene.lit(1)"))
	press("hold")
	x.until("burst.touch.acts.length === 2")
	x.run("await burst.bar.step(10)")
	press("release")
	x.until("burst.touch.acts.length === 3")
	x.run("await burst.bar.step(20)")
	x.until(fmt.Sprintf("burst.raster.spikes.to === %d", next+38))
	held := eval[[]int](x, "(() => { const l = []; burst.raster.spikes.each(0, Infinity, (t, row) => { const n = burst.raster.neuronAt(row); if (n.area === 1 && n.neuron === 5) l.push(t) }); return l })()")
	want := []int{next + 7}
	for i := range 10 {
		want = append(want, next+8+i)
	}
	require.Equal(t, want, held)
	shell := eval[string](x, "burst.text('command line')")
	yaml := eval[string](x, "burst.text('YAML')")
	require.Contains(t, yaml, fmt.Sprintf("at: %d, neurons: [5], amount: 2.5", next+7))
	require.Contains(t, yaml, fmt.Sprintf("every: 1, from: %d, until: %d, neurons: [5]", next+8, next+18))
	require.Contains(t, eval[string](x, "burst.text('Python')"), "([5], [2.5])")
	require.Empty(t, x.said())
	digest := strings.TrimPrefix(p.stop(), "digest ")
	require.Contains(t, burst(t, "replay", dir, "--quiet"), digest)
	line := strings.ReplaceAll(strings.Split(shell, "\n#")[0], "runs/out/genome.yaml", filepath.Join(dir, "genome.yaml"))
	require.Contains(t, sh(t, strings.ReplaceAll(line, "burst run", program(t)+" run")+" --no-out --backend cpu"), digest)
}

// TestStimulus: a stimulus that is switched off no longer comes.
func TestStimulus(t *testing.T) {
	p := start(t, "serve", written(t, "pattern.yaml", pattern), "--paused", "--no-out", "--backend", "cpu")
	x := open(t, browser(t), p.control, 1280, 800)
	x.ready()
	x.run("await burst.bar.step(8)")
	x.run("[...document.querySelectorAll('#detail button')].find(b => b.textContent === 'on').click()")
	x.until("burst.touch.acts.length === 1")
	x.run("await burst.bar.step(8)")
	x.until("burst.raster.spikes.to === 16")
	require.Equal(t, []string{"0,still,8", "4,still,8"}, slices.DeleteFunc(eval[[]string](x, rowsOf), func(s string) bool { return !strings.Contains(s, "still") }))
	require.Contains(t, eval[string](x, "burst.text('Python', 16)"), "net.switch(0, False)")
	require.Empty(t, x.said())
}

// TestRecorded: a recorded run can be taken to any burst, whose spikes are those of the run, played and stepped.
func TestRecorded(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "out")
	digest := burst(t, "run", "quickstart", "--out", dir, "--record", "spikes=all", "--backend", "cpu", "--quiet")
	p := start(t, "view", dir, "--paused")
	x := open(t, browser(t), p.control, 1280, 800)
	x.ready()
	whole := func() []string { return eval[[]string](x, rowsOf) }
	x.run("document.querySelector('#bar input[type=range]').value = '240'; document.querySelector('#bar input[type=range]').dispatchEvent(new Event('input'))")
	x.until("burst.raster.spikes.to === 240")
	all := whole()
	require.Len(t, all, 4750)
	x.run("burst.bar.seek(100)")
	x.until("burst.raster.spikes.to === 100 && burst.burst === 100")
	var until []string
	for _, s := range all {
		var burst int
		_, err := fmt.Sscanf(s, "%d,", &burst)
		require.NoError(t, err)
		if burst < 100 {
			until = append(until, s)
		}
	}
	require.Equal(t, until, whole())
	x.run("await burst.bar.step(140)")
	x.until("burst.raster.spikes.to === 240")
	require.Equal(t, all, whole())
	x.run("burst.bar.seek(30)")
	x.until("burst.burst === 30 && !burst.bar.seeking")
	x.run("await burst.server.control({do: 'rate', rate: ''}); await burst.bar.toggle()")
	x.until("burst.raster.spikes.to === 240 && burst.mode === 'paused'")
	x.run("burst.bar.seek(77)")
	x.until("burst.burst === 77 && location.hash.includes('burst=77')")
	kept := do(x, chromedp.Location())
	x.run("burst.bar.seek(50)")
	x.until("burst.burst === 50 && location.hash.includes('burst=50')")
	y := open(t, browser(t), kept+"&token="+strings.Split(p.control, "#token=")[1], 1280, 800)
	y.ready()
	y.until("burst.burst === 77 && burst.raster.spikes.to === 77")
	x.until("burst.burst === 77 && location.hash.includes('burst=77')") // there is one place for all who look
	x.run("await burst.server.control({do: 'rate', rate: '1'}); await burst.bar.toggle()")
	x.until("burst.mode === 'real-time' && !location.hash.includes('burst')")
	z := open(t, browser(t), kept+"&token="+strings.Split(p.control, "#token=")[1], 1280, 800)
	z.ready()
	z.until("burst.mode === 'paused' && burst.burst === 77 && location.hash.includes('burst=77')")
	require.Empty(t, append(y.said(), z.said()...))
	x.run("await burst.server.control({do: 'rate', rate: ''})")
	x.run("burst.bar.seek(240)")
	x.until("burst.burst === 240 && burst.raster.spikes.to === 240")
	line := strings.ReplaceAll(strings.Split(eval[string](x, "burst.text('command line')"), "\n#")[0], "runs/out/", dir+"/")
	x.until("document.querySelector('#detail pre').textContent === burst.text('command line') && burst.burst === 240")
	out := sh(t, strings.ReplaceAll(line, "burst run", program(t)+" run")+" --no-out --backend cpu")
	require.Contains(t, out, strings.TrimSpace(digest))
	x.picture("recorded")
	require.Empty(t, x.said())
}

// TestReload: the view is the same after a reload: camera, what is chosen and hidden, time shown and theme; and the token is still there.
func TestReload(t *testing.T) {
	p := start(t, "serve", "quickstart", "--paused", "--no-out", "--backend", "cpu")
	x := open(t, browser(t), p.view, 1280, 800)
	x.ready()
	x.run("burst.scene.camera.turn(0.3, -0.1); burst.scene.camera.by(0.5); burst.toggle(2); burst.chooseNeuron(3, 17); burst.raster.widen(2, {zoomed: () => burst.later()}); burst.setTheme('dark')")
	state := "[burst.scene.camera.text, [...burst.hidden].join(), burst.area, burst.neuron, burst.raster.span, document.documentElement.dataset.theme].join(';')"
	want := eval[string](x, state)
	x.until("location.hash.includes('neuron=17') && location.hash.includes('theme=dark') && location.hash.includes('hide=2')")
	do(x, chromedp.Reload())
	x.ready()
	require.Equal(t, want, eval[string](x, state))
	x.until("document.querySelector('#detail h2')?.textContent === 'cortex neuron 17'")
	require.Empty(t, x.said())
}

// TestLabels: labels of thin bands stand beside each other in order, and of more than there is room for those of the widest bands stay.
func TestLabels(t *testing.T) {
	genome := "burst: v1\nname: thin\nseed: 1\nareas:\n"
	for i := range 60 {
		n := 5
		if i%20 == 7 {
			n = 500
		}
		genome += fmt.Sprintf("  - {name: a%d, neurons: %d, threshold: 1}\n", i, n)
	}
	p := start(t, "serve", written(t, "thin.yaml", genome), "--paused", "--no-out", "--backend", "cpu")
	x := open(t, browser(t), p.view, 1280, 800)
	x.ready()
	for _, height := range []int64{800, 1500} {
		do(x, chromedp.EmulateViewport(1280, height))
		x.until("burst.raster.raster.height === Math.round(burst.raster.raster.clientHeight * devicePixelRatio) && burst.raster.labels?.length === 60")
		x.run("burst.raster.dirty = true; burst.raster.frame()")
		places := eval[[]*float64](x, "burst.raster.labels")
		high := eval[float64](x, "burst.raster.raster.clientHeight")
		last, n := -100.0, 0
		for i, y := range places {
			if y == nil {
				require.NotEqual(t, 7, i%20, "a wide band has its label")
				continue
			}
			require.GreaterOrEqual(t, *y, last+12, "label %d", i)
			require.GreaterOrEqual(t, *y, 8.0)
			require.LessOrEqual(t, *y, high-8)
			last, n = *y, n+1
		}
		require.Equal(t, min(60, int((high-16)/12)+1), n, "as many as there is room for")
	}
	x.picture("labels")
	require.Empty(t, x.said())
}

// TestTrace: a neuron's potential is asked for more often than once a second where that is cheap, and less often where nothing changes.
func TestTrace(t *testing.T) {
	p := start(t, "serve", "quickstart", "--rate", "500", "--no-out", "--backend", "cpu")
	x := open(t, browser(t), p.control, 1280, 800)
	x.ready()
	x.run("burst.chooseNeuron(3, 17)")
	x.until("burst.detail.trace?.values.length >= 5 && burst.detail.gap < 700")
	values := eval[[][]float64](x, "burst.detail.trace.values")
	for i, v := range values[1:] {
		require.Greater(t, v[0], values[i][0], "each of another burst")
	}
	x.run("await burst.bar.toggle()")
	x.until("burst.mode === 'paused' && burst.detail.gap === 1000")
	require.Empty(t, x.said())
}

// TestStalledTab: a page that acknowledges nothing gets no more than two pictures, and all that has fired meanwhile in one.
func TestStalledTab(t *testing.T) {
	p := start(t, "serve", written(t, "pattern.yaml", pattern), "--paused", "--no-out", "--backend", "cpu")
	x := open(t, browser(t), p.control, 1280, 800)
	x.ready()
	x.run("window.seen = []; const seen = burst.seen.bind(burst); burst.seen = (next, body) => { seen(next, body); window.seen.push([burst.last.bursts, next]) }; burst.stall(true)")
	for i := range 5 {
		x.run("await burst.bar.step(1)")
		if i < 2 {
			x.until(fmt.Sprintf("window.seen.length === %d", i+1))
		}
	}
	require.Equal(t, [][]int{{1, 1}, {1, 2}}, eval[[][]int](x, "window.seen"))
	x.run("await burst.bar.step(5); burst.stall(false)")
	x.until("burst.burst === 10")
	require.Equal(t, [][]int{{1, 1}, {1, 2}, {8, 10}}, eval[[][]int](x, "window.seen"))
	require.Equal(t, []int{0, 1, 13, 23}, eval[[]int](x, "burst.scene.lit(0)"), "bursts 2 to 9 in one picture")
	require.Empty(t, x.said())
}

// TestForeignOrigin: a page of another server gets nothing, though it has the token.
func TestForeignOrigin(t *testing.T) {
	p := start(t, "serve", "quickstart", "--paused", "--no-out", "--backend", "cpu")
	foreign := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "<title>foreign</title>") }))
	t.Cleanup(foreign.Close)
	base, token, _ := strings.Cut(p.control, "/#token=")
	x := open(t, browser(t), foreign.URL, 800, 600)
	require.Equal(t, "closed", eval[string](x, fmt.Sprintf("new Promise(d => { const s = new WebSocket(%q); s.onopen = () => d('open'); s.onclose = () => d('closed') })", strings.Replace(base, "http", "ws", 1)+"/live")))
	require.Equal(t, "refused", eval[string](x, fmt.Sprintf("fetch(%q, {headers: {Authorization: 'Bearer %s'}}).then(() => 'answered', () => 'refused')", base+"/v1/status", token)))
	require.Equal(t, "refused", eval[string](x, fmt.Sprintf("fetch(%q, {method: 'POST', mode: 'no-cors', body: '{}'}).then(a => a.type === 'opaque' ? 'refused' : 'answered', () => 'refused')", base+"/v1/control")))
	require.Equal(t, "blocked", eval[string](x, fmt.Sprintf("new Promise(d => { const f = document.createElement('iframe'); f.src = %q; f.onload = () => { try { f.contentWindow.document.title; d('shown') } catch { d('blocked') } }; document.body.append(f) })", base+"/")))
}

// TestWithoutWebGL: without WebGL2 raster and rates are still drawn, and the page says what is missing.
func TestWithoutWebGL(t *testing.T) {
	p := start(t, "serve", "quickstart", "--paused", "--no-out", "--backend", "cpu")
	x := open(t, browser(t, chromedp.Flag("disable-3d-apis", true)), p.control, 1280, 800)
	x.ready()
	require.False(t, eval[bool](x, "burst.scene.works"))
	x.run("await burst.bar.step(240)")
	x.until("burst.raster.spikes.to === 240")
	require.Len(t, eval[[]string](x, rowsOf), 4750)
	require.Contains(t, eval[string](x, "document.querySelector('#space').innerText"), "no WebGL2")
	require.Greater(t, eval[int](x, "document.querySelector('#raster').clientHeight"), 450, "the raster has the room")
	x.picture("flat")
	require.Empty(t, x.said())
}
