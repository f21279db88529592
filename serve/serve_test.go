package serve_test

import (
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"

	"burst/live"
	"burst/live/wire"
	"burst/run"
	"burst/serve"

	"github.com/stretchr/testify/require"
)

// eyeAndLeg are an input and an output of loop.
var eyeAndLeg = wire.Bind{
	Inputs:  []wire.Input{{Name: "eye", Place: wire.Place{Area: "eye"}, Largest: 4}},
	Outputs: []wire.Output{{Place: wire.Place{Area: "leg"}, Kind: "counts"}, {Place: wire.Place{Area: "crowd"}, Kind: "rate"}},
}

// amounts are those of the eye's 24 neurons.
func amounts(x float32) []float32 {
	list := make([]float32, 24)
	for i := range list {
		list[i] = x * float32(i%5)
	}
	return list
}

// drive steps a client ten times and gives the digest after each.
func drive(t testing.TB, c *wire.Client) (digests []uint64) {
	t.Helper()
	for i := range 10 {
		s, err := c.Step(20, wire.Amounts{Handle: 0, Amounts: amounts(float32(i) / 10)})
		require.NoError(t, err)
		require.EqualValues(t, 20*(i+1), s.Next)
		require.Len(t, s.Outputs, 2)
		require.Len(t, s.Outputs[0].Counts, 5)
		require.Len(t, s.Outputs[1].Values, 1)
		digests = append(digests, s.Digest)
	}
	return digests
}

// inProcess is what drive comes to without a server.
func inProcess(t testing.TB, folder string) (digests []uint64) {
	t.Helper()
	s, err := live.New(context.Background(), network(t, loop), live.Options{Options: run.Options{Backend: "cpu", Threads: 1, Folder: folder}})
	require.NoError(t, err)
	defer s.Close()
	eye, err := s.Feeder("driver").Bind(live.Binding{Name: "eye", Place: live.Place{Area: "eye"}, Largest: 4})
	require.NoError(t, err)
	for i := range 10 {
		require.NoError(t, s.Step(context.Background(), 20, live.Value{To: eye, Amounts: amounts(float32(i) / 10)}))
		digests = append(digests, s.Digest())
	}
	return digests
}

// TestDrivers: over each kind of socket a driver gets what the same calls give in the process.
func TestDrivers(t *testing.T) {
	t.Parallel() // it mostly waits
	want := inProcess(t, "")
	hello := wire.Hello{Role: wire.RoleDrive, Name: "robot"}
	t.Run("unix", func(t *testing.T) {
		path := socketIn(t)
		s := start(t, serve.Options{LockStep: true, Socket: path})
		c := dial(t, path, hello)
		require.Equal(t, "lock-step", c.Welcome.Mode)
		require.Len(t, c.Welcome.Areas, 3)
		bound, err := c.Bind(eyeAndLeg)
		require.NoError(t, err)
		require.Equal(t, []wire.Handle{{Handle: 0, Entries: 24}}, bound.Inputs)
		require.Equal(t, want, drive(t, c))
		require.NoError(t, s.stop())
	})
	t.Run("websocket", func(t *testing.T) {
		s := start(t, serve.Options{LockStep: true})
		_, _, control := s.tokens()
		hello.Token = control
		c, err := s.web(hello)
		require.NoError(t, err)
		_, err = c.Bind(eyeAndLeg)
		require.NoError(t, err)
		require.Equal(t, want, drive(t, c))
		require.NoError(t, s.stop())
	})
	t.Run("inherited", func(t *testing.T) {
		ours, theirs := pair(t)
		s := start(t, serve.Options{LockStep: true, Inherited: theirs})
		c, err := wire.NewClient(ours, wire.Hello{Role: wire.RoleDrive})
		require.NoError(t, err)
		_, err = c.Bind(eyeAndLeg)
		require.NoError(t, err)
		require.Equal(t, want, drive(t, c))
		require.NoError(t, c.Close()) // as the end of the parent does
		select {
		case err := <-s.done:
			require.NoError(t, err)
			close(s.done)
		case <-time.After(patience):
			t.Fatal("the server outlives its parent")
		}
	})
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

// rawDriver is a driver that sees the bytes of its answers. It steps loop with what it has bound.
type rawDriver struct {
	t    testing.TB
	conn net.Conn
	in   wire.Reader
}

func driveRaw(t testing.TB, path string) *rawDriver {
	conn, err := net.Dial("unix", path)
	require.NoError(t, err)
	t.Cleanup(func() { conn.Close() })
	d := &rawDriver{t, conn, wire.Reader{From: conn}}
	d.ask(wire.TypeHello, wire.Hello{Role: wire.RoleDrive})
	d.ask(wire.TypeBind, eyeAndLeg)
	return d
}

func (d *rawDriver) ask(ty wire.Type, v any) {
	b, err := wire.AppendJSON(nil, ty, 0, v)
	require.NoError(d.t, err)
	_, err = d.conn.Write(b)
	require.NoError(d.t, err)
	h, _, err := d.in.Next()
	require.NoError(d.t, err)
	require.Equal(d.t, ty, h.Type)
}

func (d *rawDriver) step(burst uint64, n uint32) (wire.Header, []byte) {
	_, err := d.conn.Write(wire.AppendStep(nil, burst, &wire.Step{Bursts: n, Inputs: []wire.Amounts{{Amounts: amounts(1)}}}))
	require.NoError(d.t, err)
	h, body, err := d.in.Next()
	require.NoError(d.t, err)
	return h, append([]byte(nil), body...)
}

// TestStepsOnceOnly: a step that was done is answered again, one that begins elsewhere is refused, and a driver that comes back goes on
// with what it had bound.
func TestStepsOnceOnly(t *testing.T) {
	path := socketIn(t)
	s := start(t, serve.Options{LockStep: true, Socket: path})
	d := driveRaw(t, path)
	_, first := d.step(0, 30)
	h, again := d.step(0, 30)
	require.EqualValues(t, 30, h.Burst)
	require.Equal(t, first, again)
	for burst, n := range map[uint64]uint32{0: 29, 29: 30, 31: 30} {
		h, body := d.step(burst, n)
		require.Equal(t, wire.TypeNotice, h.Type)
		var notice wire.Notice
		require.NoError(t, wire.ParseJSON(body, &notice))
		require.EqualValues(t, 30, notice.Next)
		require.Contains(t, notice.Text, fmt.Sprintf("at burst %d, want the next burst, 30", burst))
	}
	d.conn.Write(wire.AppendStep(nil, 30, &wire.Step{Bursts: 10, Inputs: []wire.Amounts{{Amounts: amounts(1)}}}))
	d.conn.Close() // before the answer
	until(t, "the step is done, and the place free", func() bool {
		x, err := s.Status()
		require.NoError(t, err)
		return x.Burst == 40 && !x.Driven
	})
	d = driveRaw(t, path)
	_, err := wire.Dial(path, wire.Hello{Role: wire.RoleDrive})
	require.EqualError(t, err, "there is a client to drive already, and one is the most")
	h, _ = d.step(30, 10)
	require.EqualValues(t, 40, h.Burst, "the answer that was lost")
	h, _ = d.step(40, 10)
	require.EqualValues(t, 50, h.Burst)
}

// TestLostAnswer: of a server that was killed the last step's answer can be asked for as before, also where none had been given.
func TestLostAnswer(t *testing.T) {
	path, dir := socketIn(t), filepath.Join(t.TempDir(), "out")
	start(t, serve.Options{LockStep: true, Socket: path, Options: live.Options{Options: run.Options{Folder: dir}}})
	d := driveRaw(t, path)
	d.step(0, 30)
	_, want := d.step(30, 10)
	killed := filepath.Join(t.TempDir(), "killed") // which lacks all that comes later
	require.NoError(t, os.CopyFS(killed, os.DirFS(dir)))
	_, next := d.step(40, 5)
	for _, lost := range []bool{true, false} {
		path, dir := socketIn(t), filepath.Join(t.TempDir(), "out")
		require.NoError(t, os.CopyFS(dir, os.DirFS(killed)))
		s, err := serve.Resume(t.Context(), dir, serve.Options{LockStep: true, Socket: path})
		require.NoError(t, err)
		ctx, end := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() { done <- s.Serve(ctx) }()
		d := driveRaw(t, path)
		h, body := d.step(41, 1)
		require.Equal(t, wire.TypeNotice, h.Type)
		require.Contains(t, string(body), "at burst 41, want the next burst, 40")
		if lost {
			_, got := d.step(30, 10)
			require.Equal(t, want, got)
		}
		_, got := d.step(40, 5)
		require.Equal(t, next, got)
		end()
		require.NoError(t, <-done)
	}
}

// TestIdleDriver: after the step timeout the run is paused and saved, and another driver goes on at the same burst.
func TestIdleDriver(t *testing.T) {
	path, dir := socketIn(t), filepath.Join(t.TempDir(), "out")
	s := start(t, serve.Options{LockStep: true, Socket: path, StepTimeout: 100 * time.Millisecond, Options: live.Options{Options: run.Options{Folder: dir}}})
	c, told := stepInTime(t, path)
	require.Contains(t, told, "paused")
	until(t, "a checkpoint", func() bool {
		list, err := os.ReadDir(filepath.Join(dir, run.CheckpointFolder))
		return err == nil && len(list) > 0
	})
	x, err := s.Status()
	require.NoError(t, err)
	require.Equal(t, "paused", x.Mode)
	require.Equal(t, c.Next(), x.Burst)
	d, told := stepInTime(t, path)
	require.Equal(t, []string{"lock-step", "paused"}, told[:2])
	require.Equal(t, c.Next()+7, d.Next())
}

// stepInTime is a driver that steps once, before the step timeout has passed, and what it was told until its connection ended.
func stepInTime(t testing.TB, path string) (c *wire.Client, told []string) {
	t.Helper()
	until(t, "a step in time", func() bool {
		var err error
		if c, err = wire.Dial(path, wire.Hello{Role: wire.RoleDrive}); err != nil {
			return false // the place is not free yet
		}
		told = nil
		c.Notice = func(n wire.Notice) { told = append(told, n.Text) }
		_, err = c.Step(7)
		return err == nil
	})
	defer c.Close()
	require.Error(t, c.See(new(wire.View)), "the connection ends")
	return c, told
}

// TestFeeders: a feeder's values count, what is refused is told and changes nothing, and with the feeder its values go.
func TestFeeders(t *testing.T) {
	path := socketIn(t)
	s := start(t, serve.Options{Socket: path, Listen: "127.0.0.1:0", Options: live.Options{Options: run.Options{Rate: "200"}}})
	watch := dial(t, path, wire.Hello{Role: wire.RoleFeed})
	bound, err := watch.Bind(wire.Bind{Outputs: []wire.Output{{Place: wire.Place{Area: "eye"}, Kind: "counts"}}})
	require.NoError(t, err)
	require.Len(t, bound.Outputs, 1)
	c := dial(t, path, wire.Hello{Role: wire.RoleFeed, Name: "camera"})
	_, err = c.Bind(wire.Bind{Inputs: eyeAndLeg.Inputs})
	require.NoError(t, err)
	_, err = c.Bind(wire.Bind{Inputs: []wire.Input{{Place: wire.Place{Area: "eyes"}, Largest: 1}}})
	require.ErrorContains(t, err, "eye")
	require.NoError(t, c.Feed(wire.Amounts{Amounts: amounts(1)}))
	spikes := func() uint64 {
		var r serve.Rates
		s.get("/v1/rates", &r)
		return r.Areas[0].Spikes
	}
	until(t, "the eye fires", func() bool { return spikes() > 100 })
	require.NoError(t, c.FeedFrom(1, wire.Amounts{Amounts: amounts(1)}), "a burst that has begun")
	require.NoError(t, c.Feed(wire.Amounts{Amounts: amounts(2)}), "the largest is 4, and 2·4 = 8")
	require.NoError(t, c.Feed(wire.Amounts{Handle: 3}))
	var texts []string
	c.Notice = func(n wire.Notice) { texts = append(texts, n.Text) }
	_, err = c.Step(1)
	require.ErrorContains(t, err, `input "eye" of camera`)
	require.NoError(t, c.Close())
	until(t, "the eye is quiet", func() bool {
		before := spikes()
		time.Sleep(50 * time.Millisecond)
		return spikes() == before
	})
}

// TestViewers: each gets pictures that agree with what fires; who does not acknowledge gets two, then one of all that it missed.
func TestViewers(t *testing.T) {
	path := socketIn(t)
	s := start(t, serve.Options{LockStep: true, Socket: path})
	d := dial(t, path, wire.Hello{Role: wire.RoleDrive})
	_, err := d.Bind(wire.Bind{Outputs: []wire.Output{{Place: wire.Place{Area: "eye", Voxels: voxels()}, Kind: "fired"}, {Place: wire.Place{Area: "crowd"}, Kind: "fired"}}})
	require.NoError(t, err)
	fast, slow := dial(t, path, wire.Hello{Role: wire.RoleView}), rawViewer(t, path)
	want := map[uint32]bool{}
	shown := map[uint32]bool{}
	bursts := uint32(0)
	for range 6 {
		r, err := d.Step(1)
		require.NoError(t, err)
		for _, n := range r.Outputs[1].Counts {
			want[n] = true
		}
		var v wire.View
		require.NoError(t, fast.See(&v))
		require.Equal(t, r.Next, v.Next)
		bursts += v.Bursts
		collect(t, &v, shown)
	}
	require.EqualValues(t, 6, bursts)
	require.Equal(t, want, shown)
	require.NotEmpty(t, want)

	seen := map[uint32]bool{}
	v := slow.next(t)
	one := v.Next
	collect(t, v, seen)
	v = slow.next(t)
	require.EqualValues(t, 2, v.Next)
	collect(t, v, seen)
	slow.nothing(t)
	slow.ack(t, one)
	v = slow.next(t)
	require.EqualValues(t, 6, v.Next)
	require.EqualValues(t, 4, v.Bursts, "all that it missed in one")
	collect(t, v, seen)
	require.Equal(t, want, seen)
	require.NoError(t, s.stop())
}

// TestUnseen: a viewer that acknowledges nothing for 120 s is told so and sent away, and no other one.
func TestUnseen(t *testing.T) {
	path := socketIn(t)
	s := start(t, serve.Options{LockStep: true, Socket: path})
	d := dial(t, path, wire.Hello{Role: wire.RoleDrive})
	stalled, slow := rawViewer(t, path), rawViewer(t, path)
	step := func() {
		_, err := d.Step(1)
		require.NoError(t, err)
	}
	for range 2 {
		step()
		stalled.next(t)
		last := slow.next(t).Next
		if last == 2 {
			slow.ack(t, 1) // but not 2
		}
	}
	step()
	require.EqualValues(t, 3, slow.next(t).Next)
	s.AgeViews(90 * time.Second)
	step()
	stalled.nothing(t)
	slow.ack(t, 2)
	require.EqualValues(t, 4, slow.next(t).Next)
	s.AgeViews(30 * time.Second)
	step()
	require.NoError(t, stalled.SetReadDeadline(time.Now().Add(patience)))
	h, body, err := stalled.in.Next()
	require.NoError(t, err)
	require.Equal(t, wire.TypeNotice, h.Type)
	require.Contains(t, string(body), "no picture was acknowledged for 120 s")
	_, _, err = stalled.in.Next()
	require.ErrorIs(t, err, io.EOF)
	slow.ack(t, 3)
	require.EqualValues(t, 5, slow.next(t).Next)
	require.NoError(t, s.stop())
}

// TestR27StalledViewers: of 64 viewers 16 read and acknowledge nothing. The others see every burst, none lost, and so does a stalled one
// when it goes on.
func TestR27StalledViewers(t *testing.T) {
	path := socketIn(t)
	s := start(t, serve.Options{LockStep: true, Socket: path})
	d := dial(t, path, wire.Hello{Role: wire.RoleDrive})
	var stalled []*viewer
	var lively []*wire.Client
	for i := range serve.MostViewers {
		if i%4 == 0 {
			stalled = append(stalled, rawViewer(t, path))
		} else {
			lively = append(lively, dial(t, path, wire.Hello{Role: wire.RoleView}))
		}
	}
	_, err := wire.Dial(path, wire.Hello{Role: wire.RoleView})
	require.ErrorContains(t, err, "there are 64 clients to view already")
	saw := make(chan uint32, len(lively))
	for _, c := range lively {
		go func() {
			n := uint32(0)
			for v := new(wire.View); v.Next < 200 && c.See(v) == nil; {
				n += v.Bursts
			}
			saw <- n
		}()
	}
	for range 20 {
		_, err := d.Step(10)
		require.NoError(t, err)
		time.Sleep(20 * time.Millisecond)
	}
	for range lively {
		require.EqualValues(t, 200, <-saw)
	}
	for _, v := range stalled {
		n := uint32(0)
		for last := uint64(0); last < 200; {
			x := v.next(t)
			n, last = n+x.Bursts, x.Next
			v.ack(t, last)
		}
		require.EqualValues(t, 200, n)
	}
	require.NoError(t, s.stop())
	t.Logf("R27: 16 of 64 viewers stalled; the other 48 saw all 200 bursts, and so did the 16 when they went on")
}

// voxels are those of the eye.
func voxels() (list [][3]uint32) {
	for x := range uint32(4) {
		for y := range uint32(3) {
			list = append(list, [3]uint32{x, y, 0})
		}
	}
	return list
}

// collect adds the neurons of crowd that a picture shows.
func collect(t testing.TB, v *wire.View, into map[uint32]bool) {
	t.Helper()
	require.Len(t, v.Areas, 3)
	counts, err := v.Areas[1].Counts(200, nil)
	require.NoError(t, err)
	for i, n := range counts {
		if n > 0 {
			into[uint32(i)] = true
		}
	}
}

// viewer is one that acknowledges by hand.
type viewer struct {
	net.Conn
	in wire.Reader
}

func rawViewer(t testing.TB, path string) *viewer {
	t.Helper()
	conn, err := net.Dial("unix", path)
	require.NoError(t, err)
	t.Cleanup(func() { conn.Close() })
	b, err := wire.AppendJSON(nil, wire.TypeHello, 0, wire.Hello{Role: wire.RoleView})
	require.NoError(t, err)
	_, err = conn.Write(b)
	require.NoError(t, err)
	v := &viewer{Conn: conn, in: wire.Reader{From: conn}}
	_, _, err = v.in.Next()
	require.NoError(t, err)
	return v
}

func (v *viewer) next(t testing.TB) *wire.View {
	t.Helper()
	require.NoError(t, v.SetReadDeadline(time.Now().Add(patience)))
	h, body, err := v.in.Next()
	require.NoError(t, err)
	require.Equal(t, wire.TypeView, h.Type)
	var x wire.View
	require.NoError(t, x.Parse(h.Burst, append([]byte(nil), body...)))
	return &x
}

func (v *viewer) nothing(t testing.TB) {
	t.Helper()
	require.NoError(t, v.SetReadDeadline(time.Now().Add(150*time.Millisecond)))
	_, _, err := v.in.Next()
	require.ErrorIs(t, err, os.ErrDeadlineExceeded)
}

func (v *viewer) ack(t testing.TB, burst uint64) {
	t.Helper()
	_, err := v.Write(wire.AppendSeen(nil, burst))
	require.NoError(t, err)
}
