package browsertest

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"
)

// patience is how long a test waits for what must come: so long that no machine is too slow.
const patience = 3 * time.Minute

// program is the burst that is tested.
func program(t testing.TB) string {
	path := os.Getenv("BURST_PROGRAM")
	if path == "" {
		path = "../../../bin/burst"
	}
	path, err := filepath.Abs(path)
	require.NoError(t, err)
	_, err = os.Stat(path)
	require.NoError(t, err, "want the program: make build")
	return path
}

// burst runs the program to its end.
func burst(t testing.TB, args ...string) string {
	out, err := exec.Command(program(t), args...).CombinedOutput()
	require.NoError(t, err, "%s", out)
	return string(out)
}

// process is a burst that serves until the test ends.
type process struct {
	cmd           *exec.Cmd
	lines         *bufio.Scanner
	view, control string // addresses
}

// start starts a process and waits for its addresses.
func start(t testing.TB, args ...string) *process {
	cmd := exec.Command(program(t), args...)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	p := &process{cmd: cmd, lines: bufio.NewScanner(out)}
	p.view, p.control = p.addresses(t)
	t.Cleanup(func() { p.stop() })
	return p
}

// addresses reads the next two lines.
func (p *process) addresses(t testing.TB) (view, control string) {
	return p.line(t, "view "), p.line(t, "control ")
}

// line reads lines up to the one that begins with a word, and gives what follows it.
func (p *process) line(t testing.TB, word string) string {
	for p.lines.Scan() {
		if rest, found := strings.CutPrefix(p.lines.Text(), word); found {
			return rest
		}
	}
	require.FailNow(t, "the program ended without a line "+word)
	return ""
}

// stop ends the process as Ctrl-C does, and gives what it prints last.
func (p *process) stop() string {
	if p.cmd.ProcessState != nil {
		return ""
	}
	_ = p.cmd.Process.Signal(syscall.SIGTERM)
	last := ""
	for p.lines.Scan() {
		last = p.lines.Text()
	}
	_ = p.cmd.Wait()
	return last
}

// browser is one Chromium of a test.
func browser(t testing.TB, flags ...chromedp.ExecAllocatorOption) context.Context {
	path, err := exec.LookPath("chromium")
	require.NoError(t, err, "want Debian's chromium")
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(path), chromedp.NoSandbox,
		chromedp.Flag("use-angle", "swiftshader"), chromedp.Flag("enable-unsafe-swiftshader", true), chromedp.Flag("disable-dev-shm-usage", true))
	ctx, cancel := chromedp.NewExecAllocator(context.Background(), append(options, flags...)...)
	t.Cleanup(cancel)
	return ctx
}

// tab is a tab of a browser, with what its console has said.
type tab struct {
	t       testing.TB
	ctx     context.Context
	mu      sync.Mutex
	console []string
}

// open opens an address in a tab of so many pixels.
func open(t testing.TB, in context.Context, address string, width, height int64) *tab {
	return openFor(t, patience, in, address, width, height)
}

// openFor opens a tab that is open for no longer than that.
func openFor(t testing.TB, longest time.Duration, in context.Context, address string, width, height int64) *tab {
	ctx, cancel := chromedp.NewContext(in)
	t.Cleanup(cancel)
	ctx, stop := context.WithTimeout(ctx, longest)
	t.Cleanup(stop)
	x := &tab{t: t, ctx: ctx}
	do(x, chromedp.EmulateViewport(width, height))
	require.NoError(t, chromedp.Listen(ctx, func(event any) {
		switch e := event.(type) {
		case *runtime.EventConsoleAPICalled:
			text := string(e.Type)
			for _, a := range e.Args {
				text += fmt.Sprintf(" %s%s", a.Value, a.Description)
			}
			x.note(text)
		case *runtime.EventExceptionThrown:
			x.note(fmt.Sprintf("exception: %s %s", e.ExceptionDetails.Text, e.ExceptionDetails.Exception.Description))
		case *log.EventEntryAdded:
			x.note(fmt.Sprintf("%s: %s %s", e.Entry.Level, e.Entry.Text, e.Entry.URL))
		}
	}))
	do(x, chromedp.Navigate(address))
	return x
}

func (x *tab) note(text string) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.console = append(x.console, text)
}

// said is what the console has said.
func (x *tab) said() []string {
	x.mu.Lock()
	defer x.mu.Unlock()
	return append([]string(nil), x.console...)
}

// do does something in a tab.
func do[T any](x *tab, a chromedp.Action[T]) T {
	x.t.Helper()
	v, err := chromedp.Run(x.ctx, a)
	require.NoError(x.t, err, "%v", x.said())
	return v
}

// eval evaluates an expression, of a promise what comes of it.
func eval[T any](x *tab, expression string) T {
	x.t.Helper()
	return do(x, chromedp.Evaluate[T](expression, chromedp.EvalAwaitPromise))
}

// run evaluates an expression for what it does.
func (x *tab) run(expression string) {
	x.t.Helper()
	eval[bool](x, "(async () => { "+expression+"; return true })()")
}

// until waits until an expression is true.
func (x *tab) until(expression string) {
	x.t.Helper()
	_, err := chromedp.Run(x.ctx, chromedp.Poll[bool](expression, chromedp.WithPollingTimeout(0), chromedp.WithPollingInterval(20*time.Millisecond)))
	require.NoError(x.t, err, "until %s; console %v", expression, x.said())
}

// ready waits until the page is connected and shows the network.
func (x *tab) ready() {
	x.t.Helper()
	x.until("window.burst?.areas.length > 0 && document.querySelector('#status dd') !== null")
}

// picture saves what is seen, where BURST_PICTURES names a folder.
func (x *tab) picture(name string) {
	dir := os.Getenv("BURST_PICTURES")
	if dir == "" {
		return
	}
	b := do(x, chromedp.CaptureScreenshot())
	require.NoError(x.t, os.WriteFile(filepath.Join(dir, name+".png"), b, 0o644))
}

// sh runs a command line.
func sh(t testing.TB, line string) string {
	out, err := exec.Command("sh", "-c", line).CombinedOutput()
	require.NoError(t, err, "%s: %s", line, out)
	return string(out)
}
