package serve_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"sort"
	"strings"
	"testing"
	"time"

	"burst/genome"
	"burst/internal/eager"
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

// asServer names the environment variable with which the test binary is the other side of BenchmarkStep, of the kind that it holds.
const asServer = "BURST_STEPS_OVER"

// answerSteps is the other side of BenchmarkStep until its input ends. It prints where it listens.
func answerSteps(kind string) error {
	folder, err := os.MkdirTemp("", "steps")
	if err != nil {
		return err
	}
	defer os.RemoveAll(folder)
	path := filepath.Join(folder, "s", "b")
	ctx, end := context.WithCancel(context.Background())
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		end()
	}()
	if bare, ok := strings.CutPrefix(kind, "bare "); ok {
		network, looks := strings.CutSuffix(bare, ", looking")
		l, err := net.Listen(network, map[string]string{"unix": filepath.Join(folder, "b"), "tcp": "127.0.0.1:0"}[network])
		if err != nil {
			return err
		}
		context.AfterFunc(ctx, func() { l.Close() })
		fmt.Println(l.Addr())
		return echo(l, looks)
	}
	g, err := genome.Parse("robot.yaml", []byte(robot), nil)
	if err != nil {
		return err
	}
	o := serve.Options{LockStep: true, Socket: path, Listen: "127.0.0.1:0"}
	o.Backend, o.Threads = "cpu", 1
	s, err := serve.New(ctx, g, o)
	if err != nil {
		return err
	}
	_, address := s.Addresses()
	fmt.Println(map[string]string{"unix": path, "websocket": address}[kind])
	return s.Serve(ctx)
}

// echo answers every 288 bytes, which a step of 64 amounts has, with as many as the answer of 256 counts has.
func echo(l net.Listener, looks bool) error {
	conn, err := l.Accept()
	if err != nil {
		return err
	}
	defer conn.Close()
	if looks {
		conn = eager.Conn(conn)
	}
	in, out := make([]byte, 288), make([]byte, 1068)
	for {
		if _, err := io.ReadFull(conn, in); err != nil {
			return nil // it is closed
		}
		if _, err := conn.Write(out); err != nil {
			return err
		}
	}
}

// otherProcess starts the other side of steps, and gives where it listens.
func otherProcess(b *testing.B, kind string) string {
	b.Helper()
	x := exec.Command(os.Args[0])
	x.Env = append(os.Environ(), asServer+"="+kind)
	x.Stderr = os.Stderr
	in, err := x.StdinPipe()
	require.NoError(b, err)
	out, err := x.StdoutPipe()
	require.NoError(b, err)
	require.NoError(b, x.Start())
	b.Cleanup(func() {
		in.Close()
		require.NoError(b, x.Wait())
	})
	at, err := bufio.NewReader(out).ReadString('\n')
	require.NoError(b, err)
	return strings.TrimSpace(at)
}

// BenchmarkStep prints the round trip of a step to a server in a process of its own, 256 B in and 1 KB out, beside the step itself and
// bare sockets that carry as much, between programs that sleep in each read, or look before they sleep.
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
	for _, kind := range []string{"bare unix", "bare unix, looking", "bare tcp", "bare tcp, looking"} {
		b.Run(kind, func(b *testing.B) {
			network, looks := strings.CutSuffix(strings.TrimPrefix(kind, "bare "), ", looking")
			conn, err := net.Dial(network, otherProcess(b, kind))
			require.NoError(b, err)
			defer conn.Close()
			if looks {
				conn = eager.Conn(conn)
			}
			out, in := make([]byte, 288), make([]byte, 1068)
			quantiles(b, func() {
				_, failed := conn.Write(out)
				_, err := io.ReadFull(conn, in)
				require.NoError(b, errors.Join(failed, err))
			})
		})
	}
	for _, kind := range []string{"unix", "websocket"} {
		b.Run(kind, func(b *testing.B) {
			c, step := driven(b, otherProcess(b, kind), robotBind)
			defer c.Close()
			quantiles(b, func() { step(a) })
		})
	}
}
