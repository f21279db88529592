package nccl_test

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"burst/connectome"
	"burst/internal/cuda/driver"
	"burst/internal/exchange"
	"burst/internal/exchange/nccl"
	"burst/internal/exchange/nccl/nccltest"
)

// meeting lets parts in this process say when they leave.
type meeting struct {
	mu     sync.Mutex
	gone   []int
	causes []string // of gone
}

// control is a Control of parts in this process.
type control struct {
	exchange.Exchange
	m    *meeting
	said bool
}

func (c *control) Leave(cause error) error {
	c.m.mu.Lock()
	defer c.m.mu.Unlock()
	if c.said {
		return nil
	}
	c.said = true
	text := ""
	if cause != nil {
		text = cause.Error()
	}
	c.m.gone, c.m.causes = append(c.m.gone, c.Part().Index), append(c.m.causes, text)
	return nil
}

func (c *control) Left() (parts []int, causes []string, err error) {
	c.m.mu.Lock()
	defer c.m.mu.Unlock()
	parts, causes = slices.Clone(c.m.gone), slices.Clone(c.m.causes)
	if own := slices.Index(parts, c.Part().Index); own >= 0 {
		parts, causes = slices.Delete(parts, own, own+1), slices.Delete(causes, own, own+1)
	}
	return parts, causes, nil
}

// Close is of a process: that one has ended does not let the others' gathers fail.
func (c *control) Close() error { return nil }

// controls joins parts that are goroutines.
func controls(parts int) []nccl.Control {
	m, list := &meeting{}, make([]nccl.Control, parts)
	for i, x := range exchange.Local(parts) {
		list[i] = &control{Exchange: x, m: m}
	}
	return list
}

// onParts connects parts, each with the device of its number, lets them run, and gives their errors.
func onParts(parts int, run func(x *nccl.Exchange) error) []error {
	return each(controls(parts), func(c nccl.Control) error {
		x, err := nccl.Connect(c, c.Part().Index)
		if err != nil {
			return err
		}
		return run(x)
	})
}

// each does something for every part at the same time.
func each(list []nccl.Control, do func(c nccl.Control) error) []error {
	faults := make([]error, len(list))
	var all sync.WaitGroup
	for i, c := range list {
		all.Go(func() { faults[i] = do(c) })
	}
	all.Wait()
	return faults
}

// content is what a part gives in a turn.
func content(turn, part, n int) []uint32 {
	words := make([]uint32, n)
	for i := range words {
		words[i] = uint32(turn)<<24 ^ uint32(part)<<20 ^ uint32(i)*2654435761
	}
	return words
}

// lengths of what a part gives: none, one, what just fits in a message, just not, twice that; messages grow and shrink
// again; much, which takes several messages; and small ones for most turns.
func lengths(turn, part int) int {
	ugly := []int{0, 1, exchange.Shortest - 2, exchange.Shortest - 1, exchange.Shortest, 2*exchange.Shortest - 1, 2 * exchange.Shortest, 1000}
	switch {
	case turn < 64:
		return ugly[(turn/(1+7*part)+part)%len(ugly)] // every pair of two parts
	case turn == 64:
		return 1_000_003 * (1 - part%2)
	case turn == 65:
		return 2_500_000 + part
	case turn < 500:
		return (turn*7 + part*13) % 5
	}
	return (turn*(part+3)*31 + part) % 300
}

// gathers turns as lengths has them.
func gathers(x exchange.Exchange, turns int) error {
	p := x.Part()
	for turn := range turns {
		own := content(turn, p.Index, lengths(turn, p.Index))
		all, err := x.Allgather(own)
		if err != nil {
			return err
		}
		clear(own) // ours again
		for i, words := range all {
			if !slices.Equal(words, content(turn, i, lengths(turn, i))) {
				return fmt.Errorf("part %d, turn %d: %d words of part %d are not the %d it gave", p.Index, turn, len(words), i, lengths(turn, i))
			}
		}
	}
	return nil
}

// closes gathers and closes.
func closes(x exchange.Exchange, turns int) error { return errors.Join(gathers(x, turns), x.Close()) }

func TestAllgather(t *testing.T) {
	for _, parts := range []int{1, 2, 3} {
		h := nccltest.Host(t, 3)
		faults := onParts(parts, func(x *nccl.Exchange) error {
			if x.Version() != "2.27.3" || x.Part() != (connectome.Part{Index: x.Part().Index, Of: parts}) {
				return fmt.Errorf("NCCL %s, %v", x.Version(), x.Part())
			}
			return closes(x, 4000/parts)
		})
		require.NoError(t, errors.Join(faults...), "%d parts", parts)
		require.Zero(t, h.Count("held"), "all memory, streams and contexts are given back")
	}
}

// NCCL_COMM_BLOCKING=0 and libraries before ncclGetLastError change nothing.
func TestOtherLibraries(t *testing.T) {
	nccltest.Host(t, 2, "OLD")
	t.Setenv("HOST_NCCL_version", "21003")
	t.Setenv("HOST_NCCL_slow", "1")
	require.NoError(t, errors.Join(onParts(2, func(x *nccl.Exchange) error { return closes(x, 100) })...))
}

// TestRealDevices gathers on the machine's GPUs, one a part.
func TestRealDevices(t *testing.T) {
	parts := realDevices(t)
	require.NoError(t, errors.Join(onParts(parts, func(x *nccl.Exchange) error { return closes(x, 4000) })...))
}

// realDevices is how many GPUs there are, where there are several and NCCL; BURST_REQUIRE_CUDA asks for both.
func realDevices(t testing.TB) int {
	t.Helper()
	required := os.Getenv("BURST_REQUIRE_CUDA") != ""
	n := 0
	d, err := driver.Open("")
	if err == nil {
		n, err = d.DeviceCount()
	}
	if err == nil && n < 2 {
		err = fmt.Errorf("%d GPUs, want 2 or more", n)
	}
	if err == nil {
		err = errors.Join(each(controls(n), func(c nccl.Control) error {
			x, err := nccl.Connect(c, c.Part().Index)
			if err != nil {
				return err
			}
			return x.Close()
		})...)
	}
	if err != nil && !required {
		t.Skipf("SKIPPED: %v", err)
	}
	require.NoError(t, err)
	return n
}
