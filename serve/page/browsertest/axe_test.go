package browsertest

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// axe is the script of axe-core, which `make test-page` installs.
func axe(t testing.TB) string {
	path := os.Getenv("BURST_AXE")
	if path == "" {
		path = "../../../.npm/node_modules/axe-core/axe.min.js"
	}
	text, err := os.ReadFile(path)
	if err != nil && os.Getenv("CI") != "true" {
		t.Skipf("want axe-core (make test-page installs it): %v", err)
	}
	require.NoError(t, err)
	return string(text)
}

// fallen are the rules of axe-core that what is shown breaks, with the first place of each.
const fallen = `axe.run(document, {runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice']}).then(r =>
  [r.passes.length, r.violations.map(v => [v.impact, v.id, v.help, v.nodes.map(n => n.target.join(' ') + ': ' + n.any.map(a => a.message).join('; ')).join(' | ')].join(', '))])`

// TestAccessible: axe-core finds no fault in the page, live and recorded, wide and narrow, light and dark, with all of its parts open.
func TestAccessible(t *testing.T) {
	script := axe(t)
	live := start(t, "serve", "quickstart", "--paused", "--no-out", "--backend", "cpu")
	dir := t.TempDir() + "/out"
	burst(t, "run", "quickstart", "--out", dir, "--record", "spikes=all", "--backend", "cpu", "--quiet")
	recorded, pair := start(t, "view", dir, "--paused"), start(t, "view", dir, dir, "--paused")
	in := browser(t)
	for _, c := range []struct {
		name, address string
		width         int64
		do, until     string // until: of pages that are not ready as others are
	}{
		{"control, light", live.control, 1280, "burst.setTheme('light')", ""},
		{"control, dark", live.control, 1280, "burst.setTheme('dark')", ""},
		{"an area", live.control, 1280, "burst.choose(3)", ""},
		{"a neuron, dark", live.control, 1280, "burst.setTheme('dark'); burst.chooseNeuron(3, 17)", ""},
		{"view, narrow", live.view, 390, "burst.chooseNeuron(3, 17)", ""},
		{"recorded", recorded.view, 1280, "burst.setTheme('light')", ""},
		{"no token", strings.Split(live.view, "#")[0] + "#token=wrong", 1280, "", "document.querySelector('#door').checkVisibility()"},
		{"two runs", pair.control, 1280, "", "document.querySelector('#difference').textContent !== ''"},
	} {
		x := open(t, in, c.address, c.width, 800)
		if c.until == "" {
			x.ready()
			x.run(c.do)
			if strings.Contains(c.do, "chooseNeuron") {
				x.until("document.querySelectorAll('#detail thead').length === 2")
			}
		} else {
			x.until(c.until)
		}
		x.run(script)
		found := eval[[]any](x, fallen)
		require.Greater(t, found[0], 10.0, "rules that were tried")
		require.Empty(t, found[1], "%s:\n%s", c.name, strings.ReplaceAll(fmt.Sprint(found[1]), "] [", "\n"))
	}
	x := open(t, in, live.view, 1280, 800)
	x.ready()
	x.run(script + "; document.querySelector('#theme').style.color = '#eee'; document.querySelector('#areas input').removeAttribute('aria-label'); document.querySelector('html').lang = ''")
	require.NotEmpty(t, eval[[]any](x, fallen)[1], "faults that are planted are found")
}
