package browsertest

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// large is a network of 1.44 million neurons, of which about one in 50 fires in a burst.
const large = `burst: v1
name: large
seed: 7
areas:
  - {name: sheet, size: [1200, 1200, 1], model: poisson, params: {rate: 20 Hz}}
`

// TestFigures reports how long the page takes to its first picture, and to decode and upload one of a million points. Only the size of
// pictures is held to a bound: times are the machine's.
func TestFigures(t *testing.T) {
	const most = 130_000 // bytes of a picture, docs/live.md
	p := start(t, "serve", "quickstart", "--rate", "100", "--no-out", "--backend", "cpu")
	x := open(t, browser(t), p.control, 1280, 800)
	first := eval[float64](x, `new Promise(done => {
		const look = () => burst.views > 0 ? done(performance.now()) : requestAnimationFrame(look);
		look();
	})`)
	t.Logf("quickstart: first picture after %.0f ms", first)

	times := eval[[]float64](x, `(async () => {
		burst.socket.onclose = null;
		burst.socket.close();
		const {scene} = burst, data = new Uint8Array(125000), times = [];
		scene.set([{name: 'million', neurons: 1e6, points: 1e6, grain: 1, size: [1000, 1000, 1], position: [0, 0, 0]}], []);
		for (let k = 0; k < 40; k++) {
			for (let i = 0; i < data.length; i++) data[i] = Math.random() < 0.08 ? 1 << (8 * Math.random()) : 0; // one in a hundred fires
			scene.clock += 0.03;
			const before = performance.now();
			scene.light([{area: 0, coding: 2, data}], false);
			scene.gl.readPixels(0, 0, 1, 1, scene.gl.RGBA, scene.gl.UNSIGNED_BYTE, new Uint8Array(4)); // waits for what was uploaded
			times.push(performance.now() - before);
		}
		return times.sort((a, b) => a - b);
	})()`)
	t.Logf("a picture of 1 M points is decoded and uploaded in %.1f ms (median of %d, longest %.1f)", times[len(times)/2], len(times), times[len(times)-1])
	require.Positive(t, eval[int](x, "burst.scene.lit(0).length"))
	require.Empty(t, x.said())

	p = start(t, "serve", written(t, "large.yaml", large), "--no-out", "--backend", "cpu")
	x = open(t, browser(t), p.view, 1280, 800)
	x.ready()
	x.until("burst.views > 5")
	largest := 0
	for range 20 {
		x.run("const v = burst.views; while (burst.views === v) await new Promise(requestAnimationFrame)")
		largest = max(largest, eval[int](x, "Math.max(...burst.last.pictures.map(p => p.data.length))"))
	}
	t.Logf("1.44 M neurons, %d points: pictures of at most %d bytes", eval[int](x, "burst.areas[0].points"), largest)
	require.Positive(t, largest)
	require.LessOrEqual(t, largest, most)
	require.Empty(t, x.said())
}
