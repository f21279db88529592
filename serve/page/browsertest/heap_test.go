package browsertest

import (
	"fmt"
	"os"
	"strconv"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/heapprofiler"
	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"
)

// heap is what the page's scripts hold, in bytes, when what nobody can reach has been collected.
func (x *tab) heap() float64 {
	x.t.Helper()
	_, err := chromedp.Call(x.ctx, heapprofiler.CollectGarbage, cdp.Empty{})
	require.NoError(x.t, err)
	return eval[float64](x, "performance.memory.usedJSHeapSize")
}

// TestHeap: once it shows as much of the past as it keeps, a page that stays open holds no more memory, within a tenth. BURST_MINUTES
// says for how long: the nightly test takes an hour.
func TestHeap(t *testing.T) {
	minutes := 0.1
	if text := os.Getenv("BURST_MINUTES"); text != "" {
		var err error
		minutes, err = strconv.ParseFloat(text, 64)
		require.NoError(t, err)
	}
	span := time.Duration(minutes * float64(time.Minute))
	p := start(t, "serve", "quickstart", "--rate", "5kHz", "--no-out", "--backend", "cpu")
	x := openFor(t, patience+span, browser(t, chromedp.Flag("enable-precise-memory-info", true)), p.control, 640, 480)
	x.ready()
	x.run("burst.chooseNeuron(3, 17)")
	x.until("burst.burst > 30_000 && burst.views > 150")
	before := x.heap()
	views := eval[int](x, "burst.views")
	time.Sleep(span)
	x.until(fmt.Sprintf("burst.views > %d", views+50))
	after := x.heap()
	t.Logf("page: heap %.2f MB, after %g minutes and %d views %.2f MB", before/1e6, minutes, eval[int](x, "burst.views")-views, after/1e6)
	require.LessOrEqual(t, after, 1.1*before)
	require.Empty(t, x.said())
}
