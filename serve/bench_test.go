package serve_test

import (
	"context"
	"errors"
	"io"
	"net"
	"path/filepath"
	"sort"
	"testing"
	"time"

	"burst/live"
	"burst/live/wire"
	"burst/run"
	"burst/serve"

	"github.com/stretchr/testify/require"
)

// driven is a client that drives, at a path or an address, without memory of its own.
func driven(t testing.TB, at string, bind wire.Bind) (c *wire.Client, step func(wire.Amounts)) {
	t.Helper()
	c, err := wire.Dial(at, wire.Hello{Role: wire.RoleDrive})
	require.NoError(t, err)
	_, err = c.Bind(bind)
	require.NoError(t, err)
	list := make([]wire.Amounts, 1)
	return c, func(a wire.Amounts) {
		list[0] = a
		if _, err := c.Step(1, list...); err != nil {
			t.Fatal(err)
		}
	}
}

// robot is a network of which a step takes next to no time: 64 inputs and 256 outputs are 256 B and 1 KB.
const robot = `burst: v1
name: robot
seed: 1
areas:
  - {name: eye, neurons: 64, threshold: 0.9}
  - {name: leg, neurons: 256, threshold: 0.9}
projections:
  - {from: eye, to: leg, rule: fixed_outdegree, outdegree: 2, weight: 1, delay: 1}
`

var robotBind = wire.Bind{Inputs: []wire.Input{{Place: wire.Place{Area: "eye"}, Largest: 4}}, Outputs: []wire.Output{{Place: wire.Place{Area: "leg"}, Kind: "counts"}}}

// TestStepTakesNoMemory: in steady state neither client nor server allocates for a step.
func TestStepTakesNoMemory(t *testing.T) {
	path := socketIn(t)
	s := startGenome(t, network(t, robot), serve.Options{LockStep: true, Socket: path, Listen: "127.0.0.1:0"})
	a := wire.Amounts{Amounts: make([]float32, 64)}
	_, address := s.Addresses()
	for name, at := range map[string]string{"unix": path, "websocket": address} {
		c, step := driven(t, at, robotBind)
		for range 100 {
			step(a)
		}
		n := testing.AllocsPerRun(2000, func() { step(a) })
		require.Less(t, n, 0.5, "%s: allocations a step, of the whole process", name)
		require.NoError(t, c.Close())
		until(t, "the driver has gone", func() bool {
			x, err := s.Status()
			require.NoError(t, err)
			return !x.Driven
		})
	}
}

// echo answers every 288 bytes, which a step of 64 amounts has, with as many as the answer of 256 counts has.
func echo(l net.Listener) {
	conn, err := l.Accept()
	if err != nil {
		return
	}
	defer conn.Close()
	in, out := make([]byte, 288), make([]byte, 1068)
	for {
		if _, err := io.ReadFull(conn, in); err != nil {
			return
		}
		if _, err := conn.Write(out); err != nil {
			return
		}
	}
}

// BenchmarkStep prints the round trip of a step, 256 B in and 1 KB out, beside the step itself and sockets that carry as much.
func BenchmarkStep(b *testing.B) {
	a := wire.Amounts{Amounts: make([]float32, 64)}
	quantiles := func(b *testing.B, step func()) {
		times := make([]float64, 0, b.N)
		for range b.N {
			began := time.Now()
			step()
			times = append(times, float64(time.Since(began).Nanoseconds())/1000)
		}
		sort.Float64s(times)
		b.ReportMetric(times[len(times)/2], "p50-µs")
		b.ReportMetric(times[len(times)*99/100], "p99-µs")
	}
	b.Run("in process", func(b *testing.B) {
		s, err := live.New(context.Background(), network(b, robot), live.Options{Options: run.Options{Backend: "cpu", Threads: 1}})
		require.NoError(b, err)
		defer s.Close()
		in, err := s.Feeder("x").Bind(live.Binding{Place: live.Place{Area: "eye"}, Largest: 4})
		require.NoError(b, err)
		quantiles(b, func() {
			if err := s.Step(context.Background(), 1, live.Value{To: in, Amounts: a.Amounts}); err != nil {
				b.Fatal(err)
			}
		})
	})
	for _, network := range []string{"unix", "tcp"} {
		b.Run("bare "+network, func(b *testing.B) {
			address := map[string]string{"unix": filepath.Join(b.TempDir(), "s"), "tcp": "127.0.0.1:0"}[network]
			l, err := net.Listen(network, address)
			require.NoError(b, err)
			defer l.Close()
			go echo(l)
			conn, err := net.Dial(network, l.Addr().String())
			require.NoError(b, err)
			defer conn.Close()
			out, in := make([]byte, 288), make([]byte, 1068)
			quantiles(b, func() {
				_, failed := conn.Write(out)
				_, err := io.ReadFull(conn, in)
				require.NoError(b, errors.Join(failed, err))
			})
		})
	}
	b.Run("unix", func(b *testing.B) {
		path := socketIn(b)
		startGenome(b, network(b, robot), serve.Options{LockStep: true, Socket: path})
		c, step := driven(b, path, robotBind)
		defer c.Close()
		quantiles(b, func() { step(a) })
	})
	b.Run("websocket", func(b *testing.B) {
		_, address := startGenome(b, network(b, robot), serve.Options{LockStep: true}).Addresses()
		c, step := driven(b, address, robotBind)
		defer c.Close()
		quantiles(b, func() { step(a) })
	})
}
