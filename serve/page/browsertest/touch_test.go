package browsertest

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/stretchr/testify/require"
)

// spot is where a point of an area is seen, or the middle of an arc, in pixels of the page.
const spot = `((area, point) => {
  const s = burst.scene, b = s.boxes[area], r = s.canvas.getBoundingClientRect(), n = [Math.floor(point / (b.dims[1] * b.dims[2])), Math.floor(point / b.dims[2]) % b.dims[1], point % b.dims[2]];
  const place = point < 0 ? s.edges[area].arc[12] : n.map((k, axis) => b.at[axis] + (k + 0.5) * b.step[axis]);
  const [x, y] = s.camera.project(s.camera.matrix(), place);
  return [r.left + x, r.top + y];
})`

// pointer does something with the pointer at a place.
func (x *tab) pointer(kind input.DispatchMouseEventType, at []float64, more ...chromedp.MouseOption) {
	x.t.Helper()
	_, err := chromedp.Run(x.ctx, chromedp.MouseEvent(kind, at[0], at[1], more...))
	require.NoError(x.t, err)
}

// TestPointer: what lies under the pointer is told, a click chooses a neuron, and dragging turns.
func TestPointer(t *testing.T) {
	p := start(t, "serve", written(t, "pattern.yaml", pattern), "--paused", "--no-out", "--backend", "cpu")
	x := open(t, browser(t), p.control, 1280, 800)
	x.ready()
	const told = "(e => e.hidden ? '' : e.textContent)(document.querySelector('#hover'))"
	at := eval[[]float64](x, spot+"(1, 9)")
	x.pointer(input.DispatchMouseEventTypeMouseMoved, at)
	x.until(told + " === 'echo neuron 9'")
	x.pointer(input.DispatchMouseEventTypeMousePressed, at, chromedp.ButtonLeft, chromedp.ClickCount(1))
	x.pointer(input.DispatchMouseEventTypeMouseReleased, at, chromedp.ButtonLeft, chromedp.ClickCount(1))
	x.until("document.querySelector('#detail h2').textContent === 'echo neuron 9'")
	x.pointer(input.DispatchMouseEventTypeMouseMoved, eval[[]float64](x, spot+"(0, -1)"))
	x.until(told + " === 'eye → echo\\none_to_one, weight 1, delay 1 ms'")
	x.pointer(input.DispatchMouseEventTypeMouseMoved, []float64{240, 130})
	x.until(told + " === ''")
	before := eval[string](x, "burst.scene.camera.text")
	x.pointer(input.DispatchMouseEventTypeMousePressed, []float64{300, 200}, chromedp.ButtonLeft, chromedp.ClickCount(1))
	x.pointer(input.DispatchMouseEventTypeMouseMoved, []float64{340, 200}, chromedp.ButtonLeft)
	x.pointer(input.DispatchMouseEventTypeMouseReleased, []float64{340, 200}, chromedp.ButtonLeft, chromedp.ClickCount(1))
	x.until(fmt.Sprintf("burst.scene.camera.text !== %q", before))
	require.Equal(t, "echo neuron 9", eval[string](x, "document.querySelector('#detail h2').textContent"), "dragging chooses nothing")
	require.Empty(t, x.said())
}

// TestClicks: where a click gives input, points that are clicked one after the other fire together, and the Python and the command
// line that the page shows do the same.
func TestClicks(t *testing.T) {
	genome := written(t, "pattern.yaml", pattern)
	p := start(t, "serve", genome, "--paused", "--no-out", "--backend", "cpu")
	x := open(t, browser(t), p.control, 1280, 800)
	x.ready()
	x.run("burst.chooseNeuron(1, 0)")
	x.until("document.querySelector('#detail input[type=checkbox]') !== null")
	x.run("burst.amount = 2; document.querySelector('#detail input[type=checkbox]').click()")
	for i, neuron := range []int{9, 4} {
		at := eval[[]float64](x, fmt.Sprint(spot, "(1, ", neuron, ")"))
		x.pointer(input.DispatchMouseEventTypeMousePressed, at, chromedp.ButtonLeft, chromedp.ClickCount(1))
		x.pointer(input.DispatchMouseEventTypeMouseReleased, at, chromedp.ButtonLeft, chromedp.ClickCount(1))
		x.until(fmt.Sprintf("burst.touch.acts[0]?.neurons.length === %d && burst.touch.acts.length === 1", i+1))
	}
	x.run("await burst.touch.once('still', [3], [2], 0)")
	x.run("await burst.bar.step(1)")
	x.until("burst.last?.next === 1")
	require.Equal(t, [][]int{{4, 9}, {3, 8}}, eval[[][]int](x, "[burst.scene.lit(1), burst.scene.lit(2)]"))
	require.Contains(t, eval[string](x, "burst.text('Python')"), "net.step(1, {in0: ([4, 9], [2, 2]), in1: ([3], [2])})\n    print")
	line := strings.Replace(eval[string](x, "burst.text('command line')"), "burst run pattern", program(t)+" run "+genome, 1)
	digest := strings.TrimPrefix(p.stop(), "digest ")
	require.Contains(t, sh(t, line+" --no-out --backend cpu"), digest)
	require.Empty(t, slices.DeleteFunc(x.said(), func(s string) bool { return strings.Contains(s, "ERR_CONNECTION") || strings.Contains(s, "WebSocket") }))
}

// TestPicture: a picture that is held on an area gives each voxel its grey.
func TestPicture(t *testing.T) {
	p := start(t, "serve", written(t, "pattern.yaml", pattern), "--paused", "--no-out", "--backend", "cpu")
	x := open(t, browser(t), p.control, 1280, 800)
	x.ready()
	x.run("burst.choose(1)")
	x.until("document.querySelector('#detail input[type=file]') !== null")
	x.run(`document.querySelector('#detail input[type=number][aria-label^=Amount]').value = '2'
	  const c = document.createElement('canvas');
	  [c.width, c.height] = [6, 4];
	  const g = c.getContext('2d');
	  g.fillStyle = '#000';
	  g.fillRect(0, 0, 6, 4);
	  g.fillStyle = '#fff';
	  g.fillRect(2, 0, 1, 1);
	  g.fillRect(5, 3, 1, 1);
	  g.fillStyle = '#404040';
	  g.fillRect(0, 0, 1, 1);
	  const files = new DataTransfer(), file = document.querySelector('#detail input[type=file]');
	  files.items.add(new File([await new Promise(d => c.toBlob(d))], 'x.png', {type: 'image/png'}));
	  file.files = files.files;
	  file.dispatchEvent(new Event('change'))`)
	x.until("burst.touch.acts.length === 1")
	for i, want := range [][]int{{8, 23}, {0, 8, 23}} { // x 2, y 0 and x 5, y 3; a quarter of grey adds up to the threshold
		x.run("await burst.bar.step(1)")
		x.until(fmt.Sprintf("burst.last?.next === %d", i+1))
		require.Equal(t, want, eval[[]int](x, "burst.scene.lit(1)"))
	}
	require.Empty(t, x.said())
}

// TestCheckpoint: the button saves a checkpoint in the run's folder.
func TestCheckpoint(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "out")
	p := start(t, "serve", written(t, "pattern.yaml", pattern), "--paused", "--out", dir, "--backend", "cpu")
	x := open(t, browser(t), p.control, 1280, 800)
	x.ready()
	x.run("await burst.bar.step(3); [...document.querySelectorAll('#bar button')].find(b => b.textContent === 'checkpoint').click()")
	require.Eventually(t, func() bool {
		found, err := filepath.Glob(filepath.Join(dir, "checkpoint*"))
		return err == nil && len(found) > 0
	}, patience, patience/1000)
	require.Empty(t, eval[string](x, "document.querySelector('#notice').textContent"))
	require.Empty(t, x.said())
}

// TestKeys: the keys of docs/page.md do what they say.
func TestKeys(t *testing.T) {
	p := start(t, "serve", written(t, "pattern.yaml", pattern), "--paused", "--no-out", "--backend", "cpu")
	x := open(t, browser(t), p.control, 1280, 800)
	x.ready()
	press := func(key string) {
		t.Helper()
		_, err := chromedp.Run(x.ctx, chromedp.KeyEvent(key))
		require.NoError(t, err)
	}
	press(".")
	x.until("burst.burst === 1")
	press(" ")
	x.until("burst.mode !== 'paused'")
	press(" ")
	x.until("burst.mode === 'paused'")
	home := eval[string](x, "burst.scene.camera.text")
	x.run("document.querySelector('#scene').focus()")
	for _, key := range []string{"+", "-", kb.ArrowLeft, kb.ArrowUp} {
		before := eval[string](x, "burst.scene.camera.text")
		press(key)
		x.until(fmt.Sprintf("burst.scene.camera.text !== %q", before))
	}
	press("0")
	require.Equal(t, home, eval[string](x, "burst.scene.camera.text"))
	x.run("document.querySelector('#raster').focus()")
	press("-")
	require.Equal(t, 1000, eval[int](x, "burst.raster.span"))
	press("+")
	press("+")
	require.Equal(t, 250, eval[int](x, "burst.raster.span"))
	require.Empty(t, x.said())
}

// TestPhone: on a narrow screen nothing lies beside it, and areas, raster and details are there, each as wide as the screen.
func TestPhone(t *testing.T) {
	p := start(t, "serve", "quickstart", "--paused", "--no-out", "--backend", "cpu")
	x := open(t, browser(t), p.control, 390, 844)
	x.ready()
	x.run("await burst.bar.step(240); burst.chooseNeuron(3, 17)")
	x.until("burst.raster.spikes.to === 240 && document.querySelectorAll('#detail thead').length === 2")
	require.Equal(t, 390, eval[int](x, "document.documentElement.scrollWidth"))
	for _, id := range []string{"scene", "raster", "rates", "detail", "areas"} {
		require.Equal(t, 390, eval[int](x, fmt.Sprintf("document.getElementById(%q).offsetWidth", id)), id)
	}
	require.True(t, eval[bool](x, "[...document.querySelectorAll('#bar button, #bar input')].every(b => { const r = b.getBoundingClientRect(); return r.left >= 0 && r.right <= 390 })"))
	x.picture("phone")
	require.Empty(t, x.said())
}

// TestSnapshot: the picture that is saved has areas, raster and rates one below the other.
func TestSnapshot(t *testing.T) {
	p := start(t, "serve", "quickstart", "--paused", "--no-out", "--backend", "cpu")
	x := open(t, browser(t), p.view, 1280, 800)
	x.ready()
	size := eval[[]int](x, "burst.bar.picture().then(b => createImageBitmap(b)).then(i => [i.width, i.height])")
	want := eval[[]int](x, "[burst.scene.canvas.width, burst.scene.canvas.height + burst.raster.raster.height + burst.raster.chart.height]")
	require.Equal(t, want, size)
	require.Empty(t, x.said())
}
