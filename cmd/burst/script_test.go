package main

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"burst/checkpoint"
	"burst/internal/clib"
	"burst/internal/cuda/cudatest"
	"burst/internal/cuda/driver"
	"burst/internal/slow"
)

// In the environment: asBurst makes the test binary the program itself; killAt, such as "before rename 3", kills it there;
// signalAt, such as "2 9 300", sends part 2 the signal 9 at its 300th gather;
// measured, the path of a genome, has it print the liveBytes of the network;
// drawn has runs of a script leave pictures; hostControl, such as "fail_launch=200 devices=2", steers the stand-in for libcuda, where $NAME is a variable; faultAt has the GPU fail at the nth checkpoint.
const (
	asBurst     = "BURST_TEST_AS_PROGRAM"
	killAt      = "BURST_TEST_KILL_AT"
	signalAt    = "BURST_TEST_SIGNAL_AT"
	hostControl = "BURST_TEST_HOST_CONTROL"
	faultAt     = "BURST_TEST_FAULT_AT"
	drawn       = "BURST_TEST_DRAWN"
	measured    = "BURST_TEST_MEASURED"
)

// undrawn is a context in which runs leave no pictures, which take most of the time of a small run.
func undrawn() context.Context {
	return context.WithValue(context.Background(), drawKey{}, func(string) error { return nil })
}

// scripted is the program of scripts; drawn has its runs leave pictures.
func scripted() {
	ctx := undrawn()
	if os.Getenv(drawn) != "" {
		ctx = context.Background()
	}
	os.Exit(execute(ctx, os.Args[1:], os.Stdout, os.Stderr))
}

func TestMain(m *testing.M) {
	slow.FewerCollections(m) // also of the program, which is this one
	if os.Getenv(asBurst) != "" {
		os.Exit(program())
	}
	if path := os.Getenv(measured); path != "" {
		if err := measure(path); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(exitOther)
		}
		return
	}
	testscript.Main(withStandIn{m}, map[string]func(){"burst": scripted})
}

// withStandIn runs the tests with a place for the stand-in of a GPU.
type withStandIn struct{ m *testing.M }

func (w withStandIn) Run() int {
	var err error
	if tests, err = os.MkdirTemp("", "burst"); err != nil {
		panic(err)
	}
	defer os.RemoveAll(tests)
	return cudatest.Main(w.m)
}

// program is burst, with what the environment plants.
func program() int {
	ctx := undrawn()
	if text := os.Getenv(killAt); text != "" {
		point, nth, _ := strings.Cut(text, "@")
		n, err := strconv.Atoi(nth)
		if err != nil {
			panic(err)
		}
		ctx = context.WithValue(ctx, diskKey{}, &killer{point: point, nth: n})
	}
	if text := os.Getenv(signalAt); text != "" {
		ctx = context.WithValue(ctx, exchangeKey{}, signalled(text))
	}
	if text := os.Getenv(faultAt); text != "" {
		os.Unsetenv(faultAt) // a process that follows this one meets a sound device
		n, err := strconv.Atoi(text)
		if err != nil {
			panic(err)
		}
		ctx = context.WithValue(ctx, diskKey{}, &faulter{left: n})
	}
	if text := os.Getenv(hostControl); text != "" {
		os.Unsetenv(hostControl) // likewise
		if err := steer(text); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return exitOther
		}
	}
	return execute(ctx, os.Args[1:], os.Stdout, os.Stderr)
}

// steer sets what the stand-in pretends.
func steer(text string) error {
	d, err := driver.Open("")
	if err != nil {
		return err
	}
	for word := range strings.FieldsSeq(os.ExpandEnv(text)) {
		key, value, _ := strings.Cut(word, "=")
		n, err := strconv.Atoi(value)
		if err != nil {
			return err
		}
		k := append([]byte(key), 0)
		if err := d.Call("hostControl", clib.Ptr(&k[0]), clib.Int(n)); err != nil {
			return err
		}
	}
	return nil
}

// killer is the machine's disk on which the program is killed at the nth passing of a point.
type killer struct {
	checkpoint.OS
	point string
	nth   int
}

// killPoints are all of them.
func killPoints() []string {
	var points []string
	for _, call := range []string{"create", "write", "sync", "rename", "sync folder", "remove"} {
		points = append(points, "before "+call, "after "+call)
	}
	return points
}

func (k *killer) at(point string) {
	if point != k.point {
		return
	}
	if k.nth--; k.nth == 0 {
		self, _ := os.FindProcess(os.Getpid()) // which has no error here
		_ = self.Kill()
		select {}
	}
}

// around does a call between its two points.
func (k *killer) around(call string, do func() error) error {
	k.at("before " + call)
	err := do()
	k.at("after " + call)
	return err
}

func (k *killer) Create(path string) (f checkpoint.File, err error) {
	err = k.around("create", func() error { f, err = k.OS.Create(path); return err })
	return killerFile{f, k}, err
}

func (k *killer) Rename(from, to string) error {
	return k.around("rename", func() error { return k.OS.Rename(from, to) })
}

func (k *killer) Remove(path string) error {
	return k.around("remove", func() error { return k.OS.Remove(path) })
}

func (k *killer) SyncFolder(dir string) error {
	return k.around("sync folder", func() error { return k.OS.SyncFolder(dir) })
}

type killerFile struct {
	checkpoint.File
	k *killer
}

func (f killerFile) Write(b []byte) (n int, err error) {
	err = f.k.around("write", func() error { n, err = f.File.Write(b); return err })
	return n, err
}

func (f killerFile) Sync() error { return f.k.around("sync", f.File.Sync) }

// TestScripts runs every command and its errors as a user would.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{Dir: "testdata/script"})
}
