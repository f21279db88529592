package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// outcome is what became of a mutant.
type outcome string

const (
	killed     outcome = "killed"      // a test failed
	timedOut   outcome = "timed out"   // tests ran for many times as long as they do without it
	lived      outcome = "lived"       // all tests passed
	notCovered outcome = "not covered" // all tests passed, and none reaches it
	equivalent outcome = "equivalent"  // all tests passed, and the list of survivors says that none can notice it
	notViable  outcome = "not viable"  // it does not compile
)

// result is a mutant that was tried.
type result struct {
	mutant
	outcome outcome
	note    string // on those that timed out
}

func (r result) survived() bool { return r.outcome == lived || r.outcome == notCovered }

// memory is the most, in bytes, that a test binary may ask the system for: some mutants append for ever.
const memory = 8 << 30

// bench is where the mutants of one package are tried.
type bench struct {
	folder, dir string // of the package, seen from the module's root; for temporary files
	passes      []pass // through its tests: the fast ones come first
}

// pass is one run of some of the tests.
type pass struct {
	filter    string        // flag of the test binary that picks them
	usual     time.Duration // that they take without a mutant
	cpu, wall time.Duration // limits: a busy machine has no part in the first, which stops what computes for ever; the second, what waits
}

// newBench runs the tests of the unchanged package, which must pass.
func newBench(folder, dir string) (*bench, error) {
	b := &bench{folder: folder, dir: dir}
	if out, err := b.compile(dir, nil); err != nil {
		return nil, fmt.Errorf("%s: go test: %w\n%s", folder, err, out)
	}
	all := b.runTests(dir, pass{filter: "-test.v", cpu: time.Hour, wall: time.Hour})
	if all.err != nil {
		return nil, fmt.Errorf("%s: the tests fail without a mutant: %w\n%s", folder, all.err, all.output)
	}
	fast := "^(" + strings.Join(fastTests(string(all.output)), "|") + ")$"
	for _, filter := range []string{"-test.run=" + fast, "-test.skip=" + fast} {
		m := b.runTests(dir, pass{filter: filter, cpu: time.Hour, wall: time.Hour})
		if m.err != nil {
			return nil, fmt.Errorf("%s: the tests fail with %s: %w\n%s", folder, filter, m.err, m.output)
		}
		b.passes = append(b.passes, pass{filter: filter, usual: m.wall, cpu: 5*m.cpu + 5*time.Second, wall: 30*m.wall + time.Minute})
	}
	return b, nil
}

// fastTests reads what tests say that run with -test.v and gives the names of those that together take a tenth of the time.
func fastTests(output string) []string {
	type test struct {
		name    string
		seconds float64
	}
	var tests []test
	var all, sum float64
	for line := range strings.Lines(output) {
		var t test
		if n, _ := fmt.Sscanf(line, "--- PASS: %s (%fs)", &t.name, &t.seconds); n == 2 {
			tests = append(tests, t)
			all += t.seconds
		}
	}
	slices.SortFunc(tests, func(a, b test) int { return cmp.Compare(a.seconds, b.seconds) })
	var names []string
	for _, t := range tests {
		if sum += t.seconds; sum > all/10 {
			break
		}
		names = append(names, t.name)
	}
	return names
}

func binary(dir string) string { return filepath.Join(dir, "package.test") }

// compile builds the test binary in dir, with files of the tree replaced by others.
func (b *bench) compile(dir string, replace map[string]string) ([]byte, error) {
	text, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return nil, err
	}
	overlay := filepath.Join(dir, "overlay.json")
	if err := os.WriteFile(overlay, text, 0o600); err != nil {
		return nil, err
	}
	return exec.Command("go", "test", "-c", "-overlay", overlay, "-ldflags=-s -w", "-o", binary(dir), "./"+b.folder).CombinedOutput()
}

// try plants a mutant and runs the package's tests. Several goroutines may call it.
func (b *bench) try(m mutant) (result, error) {
	s, err := readSource(filepath.FromSlash(m.file))
	if err != nil {
		return result{}, err
	}
	path, err := filepath.Abs(s.path)
	if err != nil {
		return result{}, err
	}
	dir, err := os.MkdirTemp(b.dir, "try")
	if err != nil {
		return result{}, err
	}
	defer os.RemoveAll(dir)
	planted := filepath.Join(dir, "planted.go")
	if err := os.WriteFile(planted, s.with(m), 0o600); err != nil {
		return result{}, err
	}
	if _, err := b.compile(dir, map[string]string{path: planted}); err != nil {
		if out, err := b.compile(dir, nil); err != nil { // it is not the mutant's fault
			return result{}, fmt.Errorf("%s:%d: go test: %w\n%s", m.file, m.line, err, out)
		}
		return result{mutant: m, outcome: notViable}, nil
	}
	r := result{mutant: m}
	for _, p := range b.passes {
		if r.outcome, r.note = p.judge(b.runTests(dir, p)); r.outcome != lived {
			break
		}
	}
	if r.outcome == lived && !m.covered {
		r.outcome = notCovered
	}
	return r, nil
}

// measured is one run of the tests.
type measured struct {
	err       error
	output    []byte
	cpu, wall time.Duration
}

// judge tells what a run of the tests says of a mutant.
func (p pass) judge(m measured) (outcome, string) {
	switch {
	case m.err == nil:
		return lived, ""
	case m.cpu >= p.cpu:
		return timedOut, fmt.Sprintf("after %.0f s of processor time", m.cpu.Seconds())
	case m.wall >= p.wall:
		return timedOut, fmt.Sprintf("after %.0f s, mostly waiting: %.0f s of processor time", m.wall.Seconds(), m.cpu.Seconds())
	}
	return killed, ""
}

// runTests runs the test binary of dir in the package's folder, within the limits.
func (b *bench) runTests(dir string, p pass) measured {
	files := filepath.Join(dir, "files")
	defer os.RemoveAll(files)
	if err := os.MkdirAll(files, 0o755); err != nil {
		return measured{err: err}
	}
	// timeout ends the processes that tests have started, too.
	// The system counts processor time in ticks at one place and to the nanosecond at the other, so it lets tests run a little longer.
	limits := fmt.Sprintf(`ulimit -v %d && ulimit -t %d && exec timeout -s KILL %g "$@"`, memory>>10, int(1.1*p.cpu.Seconds())+1, p.wall.Seconds())
	cmd := exec.Command("sh", "-c", limits, "sh", binary(dir), p.filter, "-test.short", "-test.failfast", "-test.paniconexit0")
	cmd.Dir, cmd.Env, cmd.WaitDelay = b.folder, append(os.Environ(), "TMPDIR="+files), 10*time.Second
	start := time.Now()
	out, err := cmd.CombinedOutput()
	m := measured{err: err, output: out, wall: time.Since(start)}
	if s := cmd.ProcessState; s != nil {
		m.cpu = s.UserTime() + s.SystemTime()
	}
	return m
}
