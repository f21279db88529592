//go:build !nocuda && (linux || darwin)

package clib

import (
	"fmt"
	"os/exec"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"burst/internal/clib/clibtest"

	"github.com/ebitengine/purego"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestOpenSaysWhy loads what is not there from many goroutines, which change threads between calls: each must hear of its own failure.
func TestOpenSaysWhy(t *testing.T) {
	var all sync.WaitGroup
	for i := range 16 {
		all.Go(func() {
			name := fmt.Sprintf("/nowhere/lib%d.so", i)
			for range 300 {
				if _, err := Open(name, i%2 == 0); !assert.ErrorContains(t, err, name) {
					return
				}
			}
		})
	}
	all.Wait()
}

// TestPointersStay calls a function that moves the stack and collects garbage before it uses its arguments: a variable of the caller's
// for its answer, and a list that is reached through what it is given.
func TestPointersStay(t *testing.T) {
	type list struct {
		next *list
		n    int
	}
	fn := purego.NewCallback(func(answer, first, null uintptr, n int) uintptr {
		clibtest.Disturb()
		sum := 0
		for l := clibtest.At[list](first); l != nil; l = l.next {
			sum += l.n
		}
		*clibtest.At[int](answer) = sum
		return null + uintptr(n)
	})
	var freed sync.Map
	answer := 0
	made := func(n int, next *list) *list {
		l := &list{next, n}
		runtime.AddCleanup(l, func(n int) { freed.Store(n, true) }, n)
		return l
	}
	r := Call(fn, Ptr(&answer), Ptr(made(7000, made(300, made(20, nil)))), Ptr[int](nil), Int(int32(-5)))
	require.Equal(t, 7320, answer)
	require.EqualValues(t, -5, int(r))
	require.Eventually(t, func() bool { // it is not kept for ever
		runtime.GC()
		_, first := freed.Load(7000)
		_, last := freed.Load(20)
		return first && last
	}, time.Minute, time.Millisecond)
}

// TestFramesDoNotAllocate calls a function with a frame that is kept.
func TestFramesDoNotAllocate(t *testing.T) {
	if raceDetector { // under it sync.Pool, which purego uses, drops what it is given
		t.Skip("SKIPPED: the race detector is on")
	}
	getpid, err := Open("libc.so.6", false)
	require.NoError(t, err)
	fn, n := Lookup(getpid, "labs"), new(int)
	require.NotZero(t, fn)
	f := &Frame{}
	require.Zero(t, testing.AllocsPerRun(1000, func() {
		f.Set(Int(-3), Ptr(n))
		f.Call(fn)
	}))
}

// TestNoPointerIsANumber looks at all code for addresses that are passed as numbers, which the garbage collector does not see: calls take
// Ptr. Package pages asks only where memory lies.
func TestNoPointerIsANumber(t *testing.T) {
	out, err := exec.Command("grep", "-rlE", "--include=*.go", `uintptr\((\*\(\*uintptr\)\()?unsafe\.Pointer`, "../..").Output()
	require.NoError(t, err)
	for _, file := range strings.Fields(string(out)) {
		require.Contains(t, []string{"../../internal/pages/slice_linux.go", "../../internal/pages/own.go", "../../internal/clib/clib_test.go"}, file)
	}
}

// TestEnvironmentReachesC: what Go puts into the environment libraries see.
func TestEnvironmentReachesC(t *testing.T) {
	libc, err := Open("libc.so.6", false)
	if err != nil {
		t.Skipf("SKIPPED: %v", err)
	}
	var getenv func(name string) string
	Bind(&getenv, Lookup(libc, "getenv"))
	t.Setenv("BURST_TEST_C", "seen")
	require.Equal(t, "seen", getenv("BURST_TEST_C"))
}
