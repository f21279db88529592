package nccl_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"burst/connectome"
	"burst/internal/cuda/driver"
	"burst/internal/exchange"
	"burst/internal/exchange/nccl"
	"burst/internal/exchange/nccl/nccltest"
)

// untilFault gathers until that fails, and closes.
func untilFault(x *nccl.Exchange) error {
	for {
		if _, err := x.Allgather([]uint32{7}); err != nil {
			_, again := x.Allgather(nil)
			if again != err {
				return fmt.Errorf("a later gather says %w, the first said %w", again, err)
			}
			return errors.Join(err, x.Close())
		}
	}
}

// A rank is lost, and NCCL says so in its peers or says nothing: all parts end with the same cause, and close.
func TestLostPart(t *testing.T) {
	for _, c := range []struct {
		name string
		env  map[string]string
		want func(t *testing.T, part int, err error)
	}{
		{"remote error", map[string]string{"lose": "2"}, func(t *testing.T, part int, err error) {
			var p *exchange.PartError
			require.ErrorAs(t, err, &p)
			require.Contains(t, p.Text, "remote process exited")
			require.NotEqual(t, part, p.Part.Index)
			require.Equal(t, 3, p.Part.Of)
		}},
		{"as an error of the system", map[string]string{"lose": "2", "system_error": "1"}, func(t *testing.T, _ int, err error) {
			require.ErrorContains(t, err, "ncclAllGather: unhandled system error (2)")
		}},
		{"a call fails in one", map[string]string{"fail_gather": fmt.Sprint(1<<8 | 1)}, func(t *testing.T, part int, err error) {
			var p *exchange.PartError
			if part == 1 {
				require.False(t, errors.As(err, &p), "its own failure")
				require.ErrorContains(t, err, "ncclAllGather: unhandled cuda error (1): told to fail")
				return
			}
			require.ErrorAs(t, err, &p)
			require.Equal(t, connectome.Part{Index: 1, Of: 3}, p.Part)
			require.Contains(t, p.Text, "told to fail")
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			nccltest.Host(t, 3)
			t.Setenv("HOST_NCCL_fail_after", "50")
			for k, v := range c.env {
				t.Setenv("HOST_NCCL_"+k, v)
			}
			for part, err := range onParts(3, untilFault) {
				c.want(t, part, err)
			}
		})
	}
}

// A part that closes lets the others' gathers fail.
func TestPartLeaves(t *testing.T) {
	h := nccltest.Host(t, 3)
	faults := onParts(3, func(x *nccl.Exchange) error {
		if x.Part().Index == 2 {
			return x.Close()
		}
		return untilFault(x)
	})
	require.NoError(t, faults[2])
	for _, err := range faults[:2] {
		require.EqualError(t, err, "part 2 of 3: a part of the network has ended")
	}
	require.Zero(t, h.Count("held"))
}

// A part whose device is slower than the others' still gets what they gave before they closed.
func TestPartsLeaveInPeace(t *testing.T) {
	h := nccltest.Host(t, 3)
	t.Setenv("HOST_NCCL_late", "2")
	t.Setenv("HOST_NCCL_fail_after", "20")
	for range 5 {
		require.NoError(t, errors.Join(onParts(3, func(x *nccl.Exchange) error { return closes(x, 22) })...))
	}
	require.Zero(t, h.Count("held"))
}

// A part that neither closes nor fails is waited for so long, and named; one that comes later has nobody to wait for.
func TestPartStays(t *testing.T) {
	h := nccltest.Host(t, 3)
	var waiting sync.WaitGroup
	waiting.Add(2)
	faults := onParts(3, func(x *nccl.Exchange) error {
		x.Hurry(time.Second)
		if err := gathers(x, 20); err != nil {
			return err
		}
		if x.Part().Index == 1 {
			waiting.Wait()
		} else {
			defer waiting.Done()
		}
		return x.Close()
	})
	for _, i := range []int{0, 2} {
		var p *exchange.PartError
		require.ErrorAs(t, faults[i], &p)
		require.Equal(t, connectome.Part{Index: 1, Of: 3}, p.Part)
		require.Equal(t, "it has not closed within 1s of this one", p.Text)
	}
	require.NoError(t, faults[1])
	require.Zero(t, h.Count("held"))
}

// A device without memory for a long message ends all: its part says why, the others which part it is.
func TestDeviceFails(t *testing.T) {
	h := nccltest.Host(t, 2)
	faults := onParts(2, func(x *nccl.Exchange) error {
		if x.Part().Index == 1 {
			h.Control("fail_alloc", 1)
		}
		if err := gathers(x, 3); err != nil {
			return err
		}
		_, err := x.Allgather(make([]uint32, 20_000))
		return errors.Join(err, x.Close())
	})
	for i, err := range faults {
		var own *driver.Error
		var other *exchange.PartError
		require.ErrorContains(t, err, "CUDA_ERROR_OUT_OF_MEMORY")
		require.NotEqual(t, errors.As(err, &own), errors.As(err, &other), "part %d: %v", i, err)
		if own == nil {
			require.Equal(t, 1-i, other.Part.Index)
			require.ErrorAs(t, faults[1-i], &own)
		}
	}
	require.Zero(t, h.Count("held"))
}

// What is wrong is the same in all parts, names the cause and what to do, and leaves the Control as it was.
func TestUnavailable(t *testing.T) {
	missing := filepath.Join(t.TempDir(), "libnccl.so.2")
	for _, c := range []struct {
		name    string
		devices int64
		arrange func(t *testing.T)
		want    string
	}{
		{"no library", 2, func(t *testing.T) { t.Setenv(nccl.Library, missing) }, missing},
		{"no library: what to do", 2, func(t *testing.T) { t.Setenv(nccl.Library, missing) }, "install NCCL (Ubuntu: libnccl2; pip: nvidia-nccl-cu12), or name it: BURST_LIBNCCL="},
		{"another library", 2, func(t *testing.T) { t.Setenv(nccl.Library, "libc.so.6") }, "libc.so.6: no function ncclGetVersion"},
		{"a function less", 2, func(t *testing.T) { t.Setenv(nccl.Library, nccltest.Build(t, "WITHOUT_ABORT")) }, "no function ncclCommAbort"},
		{"too old", 2, func(t *testing.T) { t.Setenv("HOST_NCCL_version", "2708") }, "NCCL 2.7.8, want 2.10.0 or newer, before 3"},
		{"too new", 2, func(t *testing.T) { t.Setenv("HOST_NCCL_version", "30001") }, "NCCL 3.0.1, want 2.10.0 or newer"},
		{"no driver", 2, func(t *testing.T) { t.Setenv(driver.LibraryVariable, "/nowhere/libcuda.so") }, "CUDA is not available"},
		{"a device too few", 1, func(*testing.T) {}, "part 1 of 2: CUDA is not available: device 1, want 0…0"},
		{"NCCL cannot join", 2, func(t *testing.T) { t.Setenv("HOST_NCCL_fail_init", fmt.Sprint(1<<8|3)) }, "ncclCommInitRank"},
		{"the first gather fails", 2, func(t *testing.T) { t.Setenv("HOST_NCCL_fail_gather", fmt.Sprint(1<<8|5)) }, "told to fail"},
		{"a rank is lost while joining", 2, func(t *testing.T) { t.Setenv("HOST_NCCL_lose", "1") }, "remote process exited"},
	} {
		t.Run(c.name, func(t *testing.T) {
			h := nccltest.Host(t, c.devices)
			c.arrange(t)
			list := controls(2)
			for _, err := range each(list, func(c nccl.Control) error {
				_, err := nccl.Connect(c, c.Part().Index)
				return err
			}) {
				require.ErrorIs(t, err, nccl.ErrUnavailable)
				require.ErrorContains(t, err, c.want)
			}
			require.NoError(t, errors.Join(each(list, func(c nccl.Control) error { return gathers(c, 70) })...), "the Control goes on")
			require.Zero(t, h.Count("held"))
		})
	}
}

func TestSharedDevice(t *testing.T) {
	nccltest.Host(t, 2)
	for _, err := range each(controls(3), func(c nccl.Control) error {
		_, err := nccl.Connect(c, c.Part().Index%2)
		return err
	}) {
		require.ErrorIs(t, err, nccl.ErrUnavailable)
		require.ErrorContains(t, err, "parts 0 and 2 share a GPU (0000:10:00.0), and NCCL wants one for each; give --devices 0,1,… or all")
	}
}

// TestVersionsDiffer: parts on other hosts may have another NCCL. The environment is of both, so one looks after the other.
func TestVersionsDiffer(t *testing.T) {
	nccltest.Host(t, 2)
	t.Setenv("HOST_NCCL_version", "")
	turns := []chan struct{}{make(chan struct{}), make(chan struct{}), make(chan struct{})}
	close(turns[0])
	for _, err := range each(controls(2), func(c nccl.Control) error {
		i := c.Part().Index
		<-turns[i]
		if err := os.Setenv("HOST_NCCL_version", []string{"22703", "22105"}[i]); err != nil {
			return err
		}
		_, err := nccl.Connect(&looked{c, turns[i+1]}, i)
		return err
	}) {
		require.ErrorContains(t, err, "part 0 has NCCL 2.27.3, part 1 has 2.21.5; let BURST_LIBNCCL name the same version everywhere")
	}
}

// looked tells when a part has looked for its library.
type looked struct {
	nccl.Control
	then chan struct{}
}

func (l *looked) Allgather(own []uint32) ([][]uint32, error) {
	close(l.then)
	return l.Control.Allgather(own)
}
