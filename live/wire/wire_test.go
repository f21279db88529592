package wire_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"math"
	"math/rand/v2"
	"net"
	"testing"
	"testing/iotest"

	"burst/live/wire"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// read reads the one frame in b.
func read(t testing.TB, b []byte) (wire.Header, []byte) {
	t.Helper()
	r := wire.Reader{From: bytes.NewReader(b)}
	h, body, err := r.Next()
	require.NoError(t, err)
	require.Len(t, b, wire.HeaderSize+len(body))
	_, _, err = r.Next()
	require.Equal(t, io.EOF, err)
	return h, body
}

// TestBytes holds the frames to the bytes that docs/live.md shows.
func TestBytes(t *testing.T) {
	b := wire.AppendStep(nil, 7, &wire.Step{Bursts: 20, Inputs: []wire.Amounts{{Handle: 1, Amounts: []float32{1, -2}}, {Handle: 2, At: []uint32{5}, Amounts: []float32{0.5}}}})
	require.Equal(t, []byte{
		40, 0, 0, 0, 4, 1, 0, 0, 7, 0, 0, 0, 0, 0, 0, 0,
		20, 0, 0, 0, 2, 0, 0, 0,
		1, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0x80, 0x3f, 0, 0, 0, 0xc0,
		2, 0, 1, 0, 1, 0, 0, 0, 5, 0, 0, 0, 0, 0, 0, 0x3f,
	}, b)
	b = wire.AppendStepped(nil, &wire.Stepped{Next: 27, Digest: 9, Spikes: 3, Outputs: []wire.Result{{Handle: 0, Kind: wire.Counts, Counts: []uint32{4, 0}}, {Handle: 1, Kind: wire.Rate, Values: []float32{1}}}})
	require.Equal(t, []byte{
		48, 0, 0, 0, 5, 1, 0, 0, 27, 0, 0, 0, 0, 0, 0, 0,
		9, 0, 0, 0, 0, 0, 0, 0, 3, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0,
		0, 0, 0, 0, 2, 0, 0, 0, 4, 0, 0, 0, 0, 0, 0, 0,
		1, 0, 2, 0, 1, 0, 0, 0, 0, 0, 0x80, 0x3f,
	}, b)
	require.Equal(t, []byte{0, 0, 0, 0, 9, 1, 0, 0, 8, 0, 0, 0, 0, 0, 0, 0}, wire.AppendSeen(nil, 8))
}

func TestRoundTrip(t *testing.T) {
	want := wire.Step{Bursts: 3, Inputs: []wire.Amounts{{Handle: 1, Amounts: []float32{1, 2, 3}}, {Handle: 9, At: []uint32{}, Amounts: []float32{}}}}
	h, body := read(t, wire.AppendStep(nil, 11, &want))
	require.Equal(t, wire.Header{Bytes: uint32(len(body)), Type: wire.TypeStep, Burst: 11}, h)
	var got wire.Step
	require.NoError(t, got.Parse(body))
	require.Equal(t, want.Bursts, got.Bursts)
	require.Equal(t, want.Inputs[0].Amounts, got.Inputs[0].Amounts)
	require.Nil(t, got.Inputs[0].At)
	require.NotNil(t, got.Inputs[1].At)
	require.Error(t, got.Parse(body[:len(body)-1]))
	require.Error(t, got.Parse(append(body[:len(body):len(body)], 0, 0, 0, 0)))
}

// TestSeries: inputs and outputs of each burst, which only a step has.
func TestSeries(t *testing.T) {
	want := wire.Step{Bursts: 2, Inputs: []wire.Amounts{{Handle: 1, Amounts: []float32{1, 2, 3, 4}, Series: true}}, Each: []uint16{7}}
	b := wire.AppendStep(nil, 7, &want)
	require.Equal(t, []byte{
		36, 0, 0, 0, 4, 1, 0, 0, 7, 0, 0, 0, 0, 0, 0, 0,
		2, 0, 0, 0, 1, 0, 1, 0,
		1, 0, 2, 0, 2, 0, 0, 0, 0, 0, 0x80, 0x3f, 0, 0, 0, 0x40, 0, 0, 0x40, 0x40, 0, 0, 0x80, 0x40,
		7, 0, 0, 0,
	}, b)
	_, body := read(t, b)
	var got wire.Step
	require.NoError(t, got.Parse(body))
	require.Equal(t, want, got)
	_, err := wire.ParseInputs(body[4:32], nil)
	require.ErrorContains(t, err, "coding 2, which is for the bursts of a step")
	for name, change := range map[string]func(b []byte) []byte{
		"another burst":  func(b []byte) []byte { b[0] = 3; return b },
		"no burst":       func(b []byte) []byte { b[0] = 0; return b },
		"too many":       func(b []byte) []byte { b[3], b[15] = 0xff, 0xff; return b },
		"three handles":  func(b []byte) []byte { b[6] = 3; return b },
		"no handle":      func(b []byte) []byte { b[6] = 0; return b },
		"dirty padding":  func(b []byte) []byte { b[len(b)-1] = 1; return b },
		"without an end": func(b []byte) []byte { return b[:len(b)-4] },
	} {
		require.Error(t, got.Parse(change(bytes.Clone(body))), name)
	}
}

// TestPictures: each coding gives back which points have fired, and is the shortest.
func TestPictures(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, points := range []int{1, 7, 8, 9, 1000, 4099} {
		for _, share := range []float64{0, 0.001, 0.05, 0.3, 1} {
			counts := make([]uint8, points)
			for i := range counts {
				if r.Float64() < share {
					counts[i] = uint8(1 + r.IntN(255))
				}
			}
			for _, grain := range []uint8{1, 3} {
				b := wire.BeginView(nil, 5, 2, 1)
				b = wire.EndView(wire.AppendPicture(b, 3, grain, 1.5, counts), 0)
				h, body := read(t, b)
				var v wire.View
				require.NoError(t, v.Parse(h.Burst, body))
				require.Len(t, v.Areas, 1)
				require.EqualValues(t, 1.5, v.Areas[0].Rate)
				got, err := v.Areas[0].Counts(points, nil)
				require.NoError(t, err)
				for i, n := range counts {
					if grain == 1 {
						n = min(n, 1)
					}
					require.Equal(t, n, got[i])
				}
				if grain == 1 {
					require.LessOrEqual(t, len(v.Areas[0].Data), (points+7)/8)
				}
				_, err = v.Areas[0].Counts(points+64, nil)
				require.True(t, err != nil || v.Areas[0].Coding <= 1)
			}
		}
	}
}

// TestReader: frames arrive in any pieces; what is too long or not a frame is refused before memory is taken for it.
func TestReader(t *testing.T) {
	b, err := wire.AppendJSON(nil, wire.TypeHello, 0, wire.Hello{Role: wire.RoleView})
	require.NoError(t, err)
	b = wire.AppendSeen(b, 4)
	r := wire.Reader{From: iotest.OneByteReader(bytes.NewReader(b))}
	_, body, err := r.Next()
	require.NoError(t, err)
	var h wire.Hello
	require.NoError(t, wire.ParseJSON(body, &h))
	require.Equal(t, wire.RoleView, h.Role)
	require.Error(t, wire.ParseJSON([]byte(`{"role":"view","roll":1}`), &h))
	require.Error(t, wire.ParseJSON([]byte(`{} {}`), &h))
	_, _, err = r.Next()
	require.NoError(t, err)

	for at, plant := range map[int]byte{3: 2, 4: 11, 5: 2, 6: 1} {
		bad := bytes.Clone(b)
		bad[at] = plant
		_, _, err := (&wire.Reader{From: bytes.NewReader(bad)}).Next()
		require.Error(t, err, at)
	}
	_, _, err = (&wire.Reader{From: bytes.NewReader(b), Most: 8}).Next()
	require.ErrorContains(t, err, "at most 8")
	huge := binary.LittleEndian.AppendUint32(nil, wire.MostBytes)
	huge = append(huge, 4, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)
	for cut := range len(b) - wire.HeaderSize {
		if cut > 0 {
			_, _, err = (&wire.Reader{From: bytes.NewReader(b[:cut])}).Next()
			require.ErrorIs(t, err, io.ErrUnexpectedEOF, cut)
		}
	}
	took := testing.AllocsPerRun(1, func() { _, _, err = (&wire.Reader{From: bytes.NewReader(huge)}).Next() })
	require.ErrorIs(t, err, io.ErrUnexpectedEOF)
	require.Less(t, took, 10.0)
}

// TestNoAllocation: steps and pictures in steady state take no memory.
func TestNoAllocation(t *testing.T) {
	in := wire.Step{Bursts: 1, Inputs: []wire.Amounts{{Amounts: make([]float32, 64)}, {At: []uint32{1, 2}, Amounts: make([]float32, 2)}}}
	answer := wire.Stepped{Outputs: []wire.Result{{Counts: make([]uint32, 256)}, {Kind: wire.Rate, Values: []float32{1}}}}
	var b, c []byte
	var s wire.Step
	var got wire.Stepped
	var pipe bytes.Reader
	r := wire.Reader{From: &pipe}
	n := testing.AllocsPerRun(100, func() {
		b, c = wire.AppendStep(b[:0], 1, &in), wire.AppendStepped(c[:0], &answer)
		pipe.Reset(b)
		_, body, err := r.Next()
		if err = errors.Join(err, s.Parse(body), got.Parse(1, c[wire.HeaderSize:])); err != nil {
			t.Error(err)
		}
	})
	require.Zero(t, n)
}

// TestClient: refused questions are errors, notices between others reach the client.
func TestClient(t *testing.T) {
	ours, theirs := net.Pipe()
	defer ours.Close()
	done := make(chan error, 1)
	go func() {
		r := wire.Reader{From: ours}
		answer := func(ty wire.Type, burst uint64, v any) error {
			b, err := wire.AppendJSON(nil, ty, burst, v)
			_, failed := ours.Write(b)
			return errors.Join(err, failed)
		}
		_, _, err := r.Next()
		err = errors.Join(err, answer(wire.TypeHello, 6, wire.Welcome{Burst: 6}))
		h, _, failed := r.Next()
		err = errors.Join(err, failed, answer(wire.TypeNotice, 6, wire.Notice{Code: wire.Mode, Text: "m"}))
		_, failed = ours.Write(wire.AppendStepped(nil, &wire.Stepped{Next: h.Burst + 4}))
		err = errors.Join(err, failed)
		h, _, failed = r.Next()
		err = errors.Join(err, failed, answer(wire.TypeNotice, h.Burst, wire.Notice{Code: wire.Refused, Text: "no"}))
		done <- err
	}()
	c, err := wire.NewClient(theirs, wire.Hello{Role: wire.RoleDrive})
	require.NoError(t, err)
	defer c.Close()
	var notices []wire.Notice
	c.Notice = func(n wire.Notice) { notices = append(notices, n) }
	s, err := c.Step(4)
	require.NoError(t, err)
	require.EqualValues(t, 10, s.Next)
	require.EqualValues(t, 10, c.Next())
	_, err = c.Step(1)
	require.EqualError(t, err, "no")
	require.Len(t, notices, 1)
	require.NoError(t, <-done)
}

// FuzzFrames: whatever comes, no frame makes the readers panic or take more memory than it has bytes; one that is read is written again
// as the same bytes, but for pictures, whose coding may be another one.
func FuzzFrames(f *testing.F) {
	f.Add(wire.AppendStep(nil, 7, &wire.Step{Bursts: 2, Inputs: []wire.Amounts{{Amounts: []float32{1}}, {At: []uint32{3}, Amounts: []float32{2}}}}))
	f.Add(wire.AppendStep(nil, 7, &wire.Step{Bursts: 2, Inputs: []wire.Amounts{{Amounts: []float32{1, 2}, Series: true}}, Each: []uint16{1, 0, 3}}))
	f.Add(wire.AppendFeed(nil, 0, []wire.Amounts{{Handle: 2, Amounts: []float32{1}}}))
	f.Add(wire.AppendStepped(nil, &wire.Stepped{Outputs: []wire.Result{{Counts: []uint32{1}}, {Kind: wire.Potentials, Values: []float32{1}}}}))
	for _, grain := range []uint8{1, 2} {
		f.Add(wire.EndView(wire.AppendPicture(wire.BeginView(nil, 1, 1, 1), 0, grain, 2, []uint8{1, 0, 0, 5, 0, 0, 0, 0, 0, 9, 0, 0}), 0))
	}
	f.Add(wire.AppendRaster(nil, &wire.Raster{First: 5, Bursts: 3, Spikes: []wire.Spike{{After: 2, Entry: 1}}}))
	hello, _ := wire.AppendJSON(nil, wire.TypeHello, 0, wire.Hello{Role: wire.RoleFeed})
	f.Add(hello)
	f.Fuzz(func(t *testing.T, data []byte) {
		r := wire.Reader{From: bytes.NewReader(data)}
		for {
			h, body, err := r.Next()
			if err != nil {
				return
			}
			var again []byte
			switch h.Type {
			case wire.TypeStep:
				var s wire.Step
				if s.Parse(body) == nil {
					again = wire.AppendStep(nil, h.Burst, &s)
				}
			case wire.TypeFeed:
				if list, err := wire.ParseInputs(body, nil); err == nil {
					again = wire.AppendFeed(nil, 0, list)
				}
			case wire.TypeStepped:
				var s wire.Stepped
				if s.Parse(h.Burst, body) == nil {
					again = wire.AppendStepped(nil, &s)
				}
			case wire.TypeRaster:
				var x wire.Raster
				if x.Parse(h.Burst, body) == nil {
					again = wire.AppendRaster(nil, &x)
				}
			case wire.TypeView:
				var v wire.View
				if v.Parse(h.Burst, body) == nil {
					for i := range v.Areas {
						_, _ = v.Areas[i].Counts(1000, nil)
					}
				}
			case wire.TypeHello, wire.TypeBind, wire.TypeControl:
				for _, v := range []any{new(wire.Hello), new(wire.Bind), new(wire.Control)} {
					_ = wire.ParseJSON(body, v)
				}
			}
			if again != nil && h.Type != wire.TypeFeed {
				require.Equal(t, body, again[wire.HeaderSize:])
			}
		}
	})
}

func BenchmarkPicture100k(b *testing.B) {
	counts := make([]uint8, 100_000)
	r := rand.New(rand.NewPCG(1, 2))
	for i := range counts {
		if r.Float64() < 0.28 {
			counts[i] = 1
		}
	}
	var out []byte
	for b.Loop() {
		out = wire.EndView(wire.AppendPicture(wire.BeginView(out[:0], 1, 33, 1), 0, 1, 1, counts), 0)
	}
	b.ReportMetric(float64(len(out)), "bytes")
}

// TestJSONOfOtherKinds: what is of another kind is named as those who wrote it know it.
func TestJSONOfOtherKinds(t *testing.T) {
	for text, want := range map[string]string{
		`{"inputs": [{"neurons": [-1]}]}`:          `wire: JSON: "inputs.neurons" is number -1, want a whole number from 0 to 4294967295`,
		`{"inputs": [{"largest": "2"}]}`:           `wire: JSON: "inputs.largest" is string, want a number (float32)`,
		`{"inputs": [{"largest": 1e99}]}`:          `wire: JSON: "inputs.largest" is number 1e99, want a number (float32)`,
		`{"inputs": [{"hold_for": 0.5}]}`:          `wire: JSON: "inputs.hold_for" is number 0.5, want a whole number that is not negative`,
		`{"inputs": [{"once": 1}]}`:                `wire: JSON: "inputs.once" is number, want true or false`,
		`{"outputs": [{"kind": 1}]}`:               `wire: JSON: "outputs.kind" is number, want a text`,
		`{"inputs": [{"voxels": [[1, 2]]}]}`:       `wire: JSON: voxels: [1 2], want three numbers, x, y and z`,
		`{"inputs": [{"voxels": [[1, 2, 3, 4]]}]}`: `wire: JSON: voxels: [1 2 3 4], want three numbers, x, y and z`,
		`{"inputs": [{"voxels": [[1, 2, -3]]}]}`:   `wire: JSON: voxels: want a list of lists of three whole numbers from 0 to 4294967295`,
		`{"inputs": [`:                             `wire: JSON: it ends within a value, want a whole one`,
		``:                                         `wire: JSON: it ends within a value, want a whole one`,
		`{"outputs": 1}`:                           `wire: JSON: "outputs" is number, want a list`,
		`[]`:                                       `wire: JSON: "all of it" is array, want a mapping`,
		`{"input": []}`:                            `wire: JSON: key "input" is unknown, want area, hold_for, inputs, kind, largest, name, neurons, once, outputs, port, raster, variable, voxels`,
	} {
		require.EqualError(t, wire.ParseJSON([]byte(text), new(wire.Bind)), want)
	}
	for text, want := range map[string]wire.Voxels{`null`: nil, `[]`: {}, `[[1, 2, 3], [0, 0, 4294967295]]`: {{1, 2, 3}, {0, 0, math.MaxUint32}}} {
		x := wire.Place{Voxels: wire.Voxels{{7, 7, 7}}}
		require.NoError(t, wire.ParseJSON([]byte(`{"voxels": `+text+`}`), &x))
		require.Equal(t, want, x.Voxels, text)
	}
	require.EqualError(t, wire.ParseJSON([]byte(`{"a": 1}`), &struct{}{}), `wire: JSON: key "a" is unknown, want none`)
}
