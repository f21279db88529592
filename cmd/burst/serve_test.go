package main

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"burst/live/wire"

	"github.com/stretchr/testify/require"
)

// serving is `burst serve` in a process of its own.
type serving struct {
	*exec.Cmd
	lines  *bufio.Scanner
	errors *strings.Builder
}

func serveProcess(t *testing.T, files []*os.File, args ...string) *serving {
	t.Helper()
	return started(t, files, append([]string{"serve"}, args...)...)
}

// started is a command in a process of its own, which prints where it can be reached.
func started(t *testing.T, files []*os.File, args ...string) *serving {
	t.Helper()
	self, err := os.Executable()
	require.NoError(t, err)
	s := &serving{Cmd: exec.Command(self, args...), errors: new(strings.Builder)}
	s.Env, s.ExtraFiles, s.Stderr = append(os.Environ(), asBurst+"=1"), files, s.errors
	out, err := s.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, s.Start())
	t.Cleanup(func() { _ = s.Process.Kill(); _ = s.Wait() })
	s.lines = bufio.NewScanner(out)
	return s
}

// line reads a line of the output that begins with a word, and gives the rest.
func (s *serving) line(t *testing.T, word string) string {
	t.Helper()
	for s.lines.Scan() {
		if rest, found := strings.CutPrefix(s.lines.Text(), word+" "); found {
			return rest
		}
	}
	t.Fatalf("no line %q: %s", word, s.errors)
	return ""
}

// TestServeStops: SIGTERM tells clients, saves, ends with status 0, and what took part replays to the same digest; a checkpoint is there.
func TestServeStops(t *testing.T) {
	dir := t.TempDir()
	socket, out := filepath.Join(dir, "s", "b"), filepath.Join(dir, "out")
	s := serveProcess(t, nil, "quickstart", "--lock-step", "--socket", socket, "--out", out, "--backend", "cpu")
	require.Equal(t, socket, s.line(t, "socket"))
	c, err := wire.Dial(socket, wire.Hello{Role: wire.RoleDrive})
	require.NoError(t, err)
	defer c.Close()
	_, err = c.Bind(wire.Bind{Inputs: []wire.Input{{Place: wire.Place{Area: c.Welcome.Areas[1].Name, Neurons: []uint32{0, 1, 2}}, Largest: 1}}})
	require.NoError(t, err)
	var told []string
	c.Notice = func(n wire.Notice) { told = append(told, n.Code) }
	for range 20 {
		_, err = c.Step(10, wire.Amounts{Amounts: []float32{1, 0.5, 1}})
		require.NoError(t, err)
	}
	require.NoError(t, s.Process.Signal(syscall.SIGTERM))
	require.Error(t, c.See(new(wire.View)))
	require.Contains(t, told, wire.Closing)
	digest := s.line(t, "digest")
	require.NoError(t, s.Wait(), s.errors)
	require.NoFileExists(t, socket)
	code, stdout, stderr := call("replay", out, "--quiet")
	require.Zero(t, code, stderr)
	require.Contains(t, stdout, digest)
	list, err := filepath.Glob(filepath.Join(out, "checkpoints", "*.checkpoint"))
	require.NoError(t, err)
	require.NotEmpty(t, list)
}

// TestServeGoesOn: a server that is killed goes on from its folder, where its last step ended, to the digest of one that was not.
func TestServeGoesOn(t *testing.T) {
	if testing.Short() {
		t.Skip("starts processes")
	}
	digests := map[bool]string{}
	for _, killed := range []bool{false, true} {
		dir := t.TempDir()
		socket, out := filepath.Join(dir, "s", "b"), filepath.Join(dir, "out")
		s := serveProcess(t, nil, "quickstart", "--lock-step", "--socket", socket, "--out", out, "--backend", "cpu", "--checkpoint-every", "70")
		s.line(t, "socket")
		steps := func(from uint64) {
			var c *wire.Client
			var err error
			require.Eventually(t, func() bool {
				c, err = wire.Dial(socket, wire.Hello{Role: wire.RoleDrive})
				return err == nil
			}, time.Minute, time.Millisecond, "the place of the driver before is free")
			defer c.Close()
			require.Equal(t, from, c.Next())
			_, err = c.Bind(wire.Bind{Inputs: []wire.Input{{Place: wire.Place{Area: c.Welcome.Areas[1].Name, Neurons: []uint32{0, 1, 2}}, Largest: 1, HoldFor: 7}}})
			require.NoError(t, err)
			if from == 0 {
				require.NoError(t, c.Control(wire.Control{Do: "set", Settings: []string{"stimuli.0.every=9"}}))
			}
			for range 10 {
				_, err = c.Step(10, wire.Amounts{Amounts: []float32{1, 0.5, 1}})
				require.NoError(t, err)
			}
		}
		steps(0)
		if killed {
			require.NoError(t, s.Process.Kill())
			_ = s.Wait()
			s = serveProcess(t, nil, out, "--lock-step", "--socket", socket)
			s.line(t, "socket")
		}
		steps(100)
		require.NoError(t, s.Process.Signal(syscall.SIGTERM))
		digests[killed] = s.line(t, "digest")
		require.NoError(t, s.Wait(), s.errors)
		code, stdout, stderr := call("replay", out, "--quiet")
		require.Zero(t, code, stderr)
		require.Contains(t, stdout, digests[killed])
	}
	require.Equal(t, digests[false], digests[true])
	code, _, stderr := call("serve", filepath.Join(t.TempDir(), "out"), "--seed", "3")
	require.NotZero(t, code, stderr)
}

// TestViewCommand: `burst run --view` says where it can be watched and changes nothing, and `burst view` shows two runs afterwards.
func TestViewCommand(t *testing.T) {
	out := filepath.Join(t.TempDir(), "out")
	code, stdout, stderr := call("run", "quickstart", "--view", "--bursts", "240", "--out", out, "--backend", "cpu")
	require.Zero(t, code, stderr)
	require.Regexp(t, `view http://127\.0\.0\.1:\d+/#token=\S+\nopen it in a browser`, stderr)
	require.Contains(t, stdout, "130bd7d62696b90a")
	if testing.Short() {
		t.Skip("starts a process")
	}
	s := started(t, nil, "view", out, out, "--rate", "1kHz")
	at, token, found := strings.Cut(s.line(t, "view"), "/pair#token=")
	require.True(t, found)
	for _, path := range []string{"", "/beside"} {
		q, err := http.NewRequest("GET", at+path+"/v1/status", nil)
		require.NoError(t, err)
		q.Header.Set("Authorization", "Bearer "+token)
		a, err := http.DefaultClient.Do(q)
		require.NoError(t, err)
		text, err := io.ReadAll(a.Body)
		require.NoError(t, err)
		a.Body.Close()
		require.Contains(t, string(text), `"digest":"130bd7d62696b90a"`)
	}
	http.DefaultClient.CloseIdleConnections()
	require.NoError(t, s.Process.Signal(syscall.SIGTERM))
	require.NoError(t, s.Wait(), s.errors)
}

// pair is two ends of a Unix socket, as socketpair makes them, on every system.
func pair(t *testing.T) (ours, theirs *os.File) {
	t.Helper()
	l, err := net.Listen("unix", filepath.Join(t.TempDir(), "pair"))
	require.NoError(t, err)
	defer l.Close()
	dialled, err := net.Dial("unix", l.Addr().String())
	require.NoError(t, err)
	defer dialled.Close()
	accepted, err := l.Accept()
	require.NoError(t, err)
	defer accepted.Close()
	ours, err = dialled.(*net.UnixConn).File()
	require.NoError(t, err)
	theirs, err = accepted.(*net.UnixConn).File()
	require.NoError(t, err)
	return ours, theirs
}

// TestServeEndsWithItsParent: a server on an inherited socket ends when the other end is gone.
func TestServeEndsWithItsParent(t *testing.T) {
	ours, theirs := pair(t)
	s := serveProcess(t, []*os.File{theirs}, "quickstart", "--lock-step", "--fd", "3", "--no-out", "--backend", "cpu")
	theirs.Close()
	c, err := wire.NewClient(ours, wire.Hello{Role: wire.RoleDrive})
	require.NoError(t, err)
	_, err = c.Step(5)
	require.NoError(t, err)
	require.NoError(t, c.Close())
	require.NoError(t, s.Wait(), s.errors)
}

// TestClientFromThePage: the client of docs/live.md, in Python's own library, steps a network, and watches it over the WebSocket.
func TestClientFromThePage(t *testing.T) {
	if testing.Short() {
		t.Skip("starts processes")
	}
	python, err := exec.LookPath("python3")
	if err != nil {
		require.Empty(t, os.Getenv("CI"), "no python3")
		t.Skip("SKIPPED: no python3, so the client of docs/live.md was not run")
	}
	page, err := os.ReadFile("../../docs/live.md")
	require.NoError(t, err)
	programs := regexp.MustCompile("(?s)```python\n(.*?)```").FindAllStringSubmatch(string(page), -1)
	require.Len(t, programs, 2)
	dir := t.TempDir()
	socket := filepath.Join(dir, "s", "b")
	s := serveProcess(t, nil, "quickstart", "--lock-step", "--socket", socket, "--listen", "127.0.0.1:0", "--no-out", "--backend", "cpu")
	view := s.line(t, "view")
	s.line(t, "socket")
	driver := exec.Command(python, "-c", programs[0][1], socket)
	text, err := driver.CombinedOutput()
	require.NoError(t, err, "%s", text)
	require.Regexp(t, `^next 200 digest [0-9a-f]{16} counts \[\d`, string(text))
	watching := exec.Command(python, "-c", programs[1][1], view)
	out, err := watching.StdoutPipe()
	require.NoError(t, err)
	watching.Stderr = s.errors
	require.NoError(t, watching.Start())
	lines := bufio.NewScanner(out)
	require.True(t, lines.Scan(), "%s", s.errors)
	require.Equal(t, "watching", lines.Text())
	again, err := exec.Command(python, "-c", programs[0][1], socket).CombinedOutput()
	require.NoError(t, err, "%s", again)
	require.Regexp(t, `^next 400 `, string(again))
	require.True(t, lines.Scan(), "%s", s.errors)
	require.Regexp(t, `^burst \d+: \d+ neurons fired in \d+ bursts`, lines.Text())
	require.NoError(t, watching.Wait())
}

// TestServeForItsParent: the process that has started a server may control it as often as it likes, reads what was recorded while the
// run goes on, and has the files that the genome names in the run's folder.
func TestServeForItsParent(t *testing.T) {
	dir := t.TempDir()
	genome, list, out := filepath.Join(dir, "own", "net.yaml"), filepath.Join(dir, "own", "wires.csv"), filepath.Join(dir, "out")
	require.NoError(t, os.Mkdir(filepath.Dir(genome), 0o755))
	require.NoError(t, os.WriteFile(list, []byte("source,target,weight\n0,1,2\n1,0,2\n"), 0o600))
	require.NoError(t, os.WriteFile(genome, []byte("burst: v1\nname: own\nareas: [{name: a, neurons: 2, threshold: 1}]\n"+
		"projections: [{from: a, to: a, rule: edges, file: wires.csv}]\nstimuli: [{area: a, at: 0, neurons: [0], amount: 2}]\n"), 0o600))
	ours, theirs := pair(t)
	s := serveProcess(t, []*os.File{theirs}, genome, "--lock-step", "--fd", "3", "--keep-files", "--out", out, "--backend", "cpu")
	theirs.Close()
	c, err := wire.NewClient(ours, wire.Hello{Role: wire.RoleDrive})
	require.NoError(t, err)
	require.NoError(t, c.Control(wire.Control{Do: "flush"}), "before the first burst")
	for n := range 50 {
		_, err = c.Step(1)
		require.NoError(t, err)
		require.NoError(t, c.Control(wire.Control{Do: "flush"}))
		if n%25 == 0 {
			code, _, stderr := call("export", out, "-o", filepath.Join(dir, "now.csv"))
			require.Zero(t, code, stderr)
			rows, err := os.ReadFile(filepath.Join(dir, "now.csv"))
			require.NoError(t, err)
			require.Equal(t, n+2, strings.Count(string(rows), "\n"), "a head, and one neuron in each burst")
		}
	}
	require.NoError(t, c.Close())
	digest := s.line(t, "digest")
	require.NoError(t, s.Wait(), s.errors)
	require.NoError(t, os.RemoveAll(filepath.Dir(genome)))
	code, stdout, stderr := call("replay", out, "--quiet")
	require.Zero(t, code, stderr)
	require.Contains(t, stdout, digest)
}
