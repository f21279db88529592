package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"
)

// outcome is what became of a mutant.
type outcome string

const (
	killed     outcome = "killed"      // a test failed
	timedOut   outcome = "timed out"   // tests ran for many times as long as they do without it
	lived      outcome = "lived"       // all tests passed
	notCovered outcome = "not covered" // all tests passed, and none reaches it
	notViable  outcome = "not viable"  // it does not compile
)

// result is a mutant that was tried.
type result struct {
	mutant
	outcome outcome
	note    string // on those that timed out
}

// memory is the most, in bytes, that a test binary may ask the system for: some mutants append for ever.
const memory = 8 << 30

// bench is where the mutants of one package are tried.
type bench struct {
	folder, dir string        // of the package, seen from the module's root; for temporary files
	usual       time.Duration // that the tests take without a mutant
	cpu, wall   time.Duration // limits: a busy machine has no part in the first, which stops what computes for ever; the second, what waits
}

// newBench runs the tests of the unchanged package, which must pass.
func newBench(folder, dir string) (*bench, error) {
	b := &bench{folder: folder, dir: dir, cpu: time.Hour, wall: time.Hour}
	if out, err := b.compile(nil); err != nil {
		return nil, fmt.Errorf("%s: go test: %w\n%s", folder, err, out)
	}
	m := b.runTests()
	if m.err != nil {
		return nil, fmt.Errorf("%s: the tests fail without a mutant: %w\n%s", folder, m.err, m.output)
	}
	b.usual = m.wall
	b.cpu = 10*m.cpu + 10*time.Second
	b.wall = 30*m.wall + time.Minute
	return b, nil
}

func (b *bench) binary() string { return filepath.Join(b.dir, "package.test") }

// compile builds the test binary, with files of the tree replaced by others.
func (b *bench) compile(replace map[string]string) ([]byte, error) {
	text, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return nil, err
	}
	overlay := filepath.Join(b.dir, "overlay.json")
	if err := os.WriteFile(overlay, text, 0o600); err != nil {
		return nil, err
	}
	return exec.Command("go", "test", "-c", "-overlay", overlay, "-ldflags=-s -w", "-o", b.binary(), "./"+b.folder).CombinedOutput()
}

// try plants a mutant and runs the package's tests.
func (b *bench) try(m mutant) (result, error) {
	s, err := readSource(filepath.FromSlash(m.file))
	if err != nil {
		return result{}, err
	}
	path, err := filepath.Abs(s.path)
	if err != nil {
		return result{}, err
	}
	planted := filepath.Join(b.dir, "planted.go")
	if err := os.WriteFile(planted, s.with(m), 0o600); err != nil {
		return result{}, err
	}
	if out, err := b.compile(map[string]string{path: planted}); err != nil {
		if !bytes.Contains(out, []byte(filepath.Base(planted)+":")) { // the compiler does not complain of the mutant
			return result{}, fmt.Errorf("%s:%d: go test: %w\n%s", m.file, m.line, err, out)
		}
		return result{mutant: m, outcome: notViable}, nil
	}
	r := result{mutant: m}
	r.outcome, r.note = b.judge(b.runTests())
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
func (b *bench) judge(m measured) (outcome, string) {
	switch {
	case m.err == nil:
		return lived, ""
	case m.cpu >= b.cpu:
		return timedOut, fmt.Sprintf("after %.0f s of processor time", m.cpu.Seconds())
	case m.wall >= b.wall:
		return timedOut, fmt.Sprintf("after %.0f s, mostly waiting: %.0f s of processor time", m.wall.Seconds(), m.cpu.Seconds())
	}
	return killed, ""
}

// runTests runs the test binary in the package's folder, within the limits.
func (b *bench) runTests() measured {
	files := filepath.Join(b.dir, "files")
	defer os.RemoveAll(files)
	if err := os.MkdirAll(files, 0o755); err != nil {
		return measured{err: err}
	}
	// timeout ends the processes that tests have started, too.
	// The system counts processor time in ticks at one place and to the nanosecond at the other, so it lets tests run a little longer.
	limits := fmt.Sprintf(`ulimit -v %d && ulimit -t %d && exec timeout -s KILL %g "$@"`, memory>>10, int(1.1*b.cpu.Seconds())+1, b.wall.Seconds())
	cmd := exec.Command("sh", "-c", limits, "sh", b.binary(), "-test.short", "-test.failfast", "-test.paniconexit0")
	cmd.Dir, cmd.Env, cmd.WaitDelay = b.folder, append(os.Environ(), "TMPDIR="+files), 10*time.Second
	start := time.Now()
	out, err := cmd.CombinedOutput()
	m := measured{err: err, output: out, wall: time.Since(start)}
	if s := cmd.ProcessState; s != nil {
		m.cpu = s.UserTime() + s.SystemTime()
	}
	return m
}
