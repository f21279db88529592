package inputlog

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"burst/engine"
	"burst/internal/regular"

	"github.com/cespare/xxhash/v2"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
)

// TestMain fails when a test has left a goroutine behind.
func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const ports = 100

// some are entries of every kind, with inputs that go on, and some that end early.
func some() []Entry {
	a, b := []engine.Stimulus{{Port: 3, Amount: -7}, {Port: 99, Amount: 1 << 30}}, []engine.Stimulus{{Port: 0, Amount: 1}}
	return []Entry{
		{SwitchOff, 0, 2, nil}, {Inputs, 0, 1, a}, {Inputs, 1, 1, a}, {Inputs, 2, 1, a}, {Reset, 3, 0xfeed, nil}, {Inputs, 3, 1, a},
		{Inputs, 4, 50, b}, {Restore, 10, 0xcafe, nil}, {Set, 10, 0xbeef, nil}, {SwitchOn, 10, 2, nil}, {Inputs, 20, 1, nil}, {Inputs, 21, 9, b}, {Inputs, 30, 1, b}, {Inputs, 31, 1, a},
	}
}

// written writes a log, in two halves with a sync between them where that is asked for, and gives its bytes.
func written(t testing.TB, path string, syncs bool) []byte {
	t.Helper()
	f, err := os.Create(path)
	require.NoError(t, err)
	w, err := Create(path, f, 0xabc)
	require.NoError(t, err)
	for i, e := range some() {
		w.Add(&e)
		if i%3 == 0 {
			require.NoError(t, w.Flush())
		}
		if syncs && i == 6 {
			require.NoError(t, w.Sync())
			require.NoError(t, w.Sync(), "nothing new")
		}
	}
	require.NoError(t, w.Flush())
	size := w.Bytes()
	require.NoError(t, w.Close())
	b, err := os.ReadFile(path)
	require.NoError(t, err)
	return b[:size] // as a kill leaves it
}

// read reads all entries of a file.
func read(t testing.TB, path string) (list []Entry, torn int64, err error) {
	t.Helper()
	r, err := Open(path, ports)
	if err != nil {
		return nil, 0, err
	}
	defer r.Close()
	list, err = drain(r)
	return list, r.Torn(), err
}

func drain(r Reader) (list []Entry, err error) {
	for {
		e, err := r.Next()
		if err == io.EOF {
			return list, nil
		}
		if err != nil {
			return list, err
		}
		list = append(list, Entry{e.Kind, e.Burst, e.Value, slices.Clone(e.Stimuli)})
	}
}

// TestWrittenAndRead: what is added is read, also what goes on after an end, and by the Arrow file with unchanged inputs as one entry.
func TestWrittenAndRead(t *testing.T) {
	path := filepath.Join(t.TempDir(), "inputs")
	whole := written(t, path, true)
	got, torn, err := read(t, path)
	require.NoError(t, err)
	require.Zero(t, torn)
	require.Equal(t, comparable(some()), comparable(got))
	require.Less(t, len(whole), HeadBytes+16*recordBytes+8*2*5, "inputs that do not change take no room")

	f, err := os.OpenFile(path, os.O_RDWR, 0)
	require.NoError(t, err)
	at, err := f.Seek(0, io.SeekEnd)
	require.NoError(t, err)
	r, err := Open(path, ports)
	require.NoError(t, err)
	require.Equal(t, [2]uint64{0xabc, r.id}, [2]uint64{r.Network(), r.ID()})
	require.NoError(t, r.Close())
	w := Continue(path, f, r.ID(), at)
	more := Entry{Inputs, 40, 1, some()[13].Stimuli}
	w.Add(&more)
	require.NoError(t, w.Flush())
	require.NoError(t, w.Close())
	got, _, err = read(t, path)
	require.NoError(t, err)
	require.Equal(t, comparable(append(some(), more)), comparable(got))

	r, err = Open(path, ports)
	require.NoError(t, err)
	defer r.Close()
	arrows := path + ".arrows"
	out, err := os.Create(arrows)
	require.NoError(t, err)
	require.NoError(t, WriteArrow(out, 0xabc, r))
	require.NoError(t, out.Close())
	in, err := OpenArrow(arrows, ports)
	require.NoError(t, err)
	defer in.Close()
	require.EqualValues(t, 0xabc, in.Network())
	got, err = drain(in)
	require.NoError(t, err)
	a, b := some()[1].Stimuli, some()[6].Stimuli
	require.Equal(t, comparable([]Entry{
		{SwitchOff, 0, 2, nil}, {Inputs, 0, 3, a}, {Reset, 3, 0xfeed, nil}, {Inputs, 3, 1, a}, {Inputs, 4, 50, b}, {Restore, 10, 0xcafe, nil}, {Set, 10, 0xbeef, nil}, {SwitchOn, 10, 2, nil},
		{Inputs, 21, 10, b}, {Inputs, 31, 1, a}, {Inputs, 40, 1, a},
	}), comparable(got))
}

// comparable makes texts of entries: no stimuli are as good as nil.
func comparable(list []Entry) (texts []string) {
	for _, e := range list {
		texts = append(texts, fmt.Sprint(e.Kind, e.Burst, e.Value, e.Stimuli))
	}
	return texts
}

// TestTornAndDamaged: cut anywhere, a log reads up to its last whole record; a flipped bit is damage where the log says that it was
// on disk, else the end. What was read before is always as it was written.
func TestTornAndDamaged(t *testing.T) {
	path := filepath.Join(t.TempDir(), "inputs")
	random := rand.New(rand.NewPCG(1, 2))
	for _, syncs := range []bool{true, false} {
		good := written(t, path, syncs)
		want := comparable(some())
		for n := HeadBytes; n < len(good); n += 7 {
			require.NoError(t, os.WriteFile(path, good[:n], 0o600))
			got, torn, err := read(t, path)
			require.NoError(t, err, "cut to %d bytes", n)
			require.Equal(t, want[:len(got)], append([]string{}, comparable(got)...))
			require.Less(t, torn, int64(recordBytes+16))
		}
		for range 300 {
			bit := random.IntN(8 * len(good))
			bad := slices.Clone(good)
			bad[bit/8] ^= 1 << (bit % 8)
			require.NoError(t, os.WriteFile(path, bad, 0o600))
			got, torn, err := read(t, path)
			require.Equal(t, want[:len(got)], append([]string{}, comparable(got)...), "bit %d", bit)
			if bit/8 < lastMark(good) {
				var d *regular.DamagedError
				require.ErrorAs(t, err, &d, "bit %d of byte %d", bit%8, bit/8)
			} else {
				require.NoError(t, err)
				require.Positive(t, torn)
			}
		}
	}
	good := written(t, path, true)
	for n := range HeadBytes {
		require.NoError(t, os.WriteFile(path, good[:n], 0o600))
		_, _, err := read(t, path)
		require.ErrorContains(t, err, "not the head of a log of inputs")
	}
}

// lastMark is how much of a log its last mark vouches for; a head is always damage.
func lastMark(good []byte) int {
	last := HeadBytes
	for at := HeadBytes; at < len(good); at += int(binary.LittleEndian.Uint32(good[at:])) {
		if Kind(good[at+4]) == synced {
			last = int(binary.LittleEndian.Uint64(good[at+16:]))
		}
	}
	return last
}

// TestImpossible: records that burst does not write are damage, however well their sums fit.
func TestImpossible(t *testing.T) {
	path := filepath.Join(t.TempDir(), "inputs")
	good := some()[1].Stimuli
	for want, list := range map[string][]Entry{
		"inputs of burst 4, want none before burst 5":                    {{Inputs, 5, 1, good}, {Inputs, 4, 1, good}},
		"inputs of 0 bursts from burst 5 on":                             {{Inputs, 5, 0, good}},
		"inputs of 18446744073709551615 bursts from burst 5 on":          {{Inputs, 5, 1<<64 - 1, good}},
		"port 100, want ascending ones below 100":                        {{Inputs, 5, 1, []engine.Stimulus{{Port: 100}}}},
		"port 3, want ascending ones below 100":                          {{Inputs, 5, 1, []engine.Stimulus{{Port: 3}, {Port: 3}}}},
		"the record at 64 is of kind 9 with 0 stimuli, which burst does": {{9, 5, 1, nil}},
		"the record at 64 is of kind 2 with 0 stimuli, which burst does": {{again, 5, 1, nil}},
		"the record at 64 is of reset with 2 stimuli, which burst does":  {{Reset, 5, 1, good}},
	} {
		f, err := os.Create(path)
		require.NoError(t, err)
		w, err := Create(path, f, 1)
		require.NoError(t, err)
		for _, e := range list {
			w.Add(&e)
		}
		require.NoError(t, errors.Join(w.Flush(), w.Close()))
		_, _, err = read(t, path)
		require.ErrorContains(t, err, want)
	}
}

// failing is a file that fails when so many bytes are written, or at a sync.
type failing struct {
	bytes.Buffer
	room   int
	sync   error
	closed bool
}

func (f *failing) Write(b []byte) (int, error) {
	if len(b) > f.room {
		n, _ := f.Buffer.Write(b[:f.room])
		f.room = 0
		return n, errors.New("no space left")
	}
	f.room -= len(b)
	return f.Buffer.Write(b)
}

func (f *failing) Sync() error  { return f.sync }
func (f *failing) Close() error { f.closed = true; return nil }

// TestFailingDisk: a write or sync that fails ends the log, whoever asks next.
func TestFailingDisk(t *testing.T) {
	_, err := Create("x", &failing{room: 20}, 1)
	require.EqualError(t, err, "logging inputs to x: no space left")
	f := &failing{room: 150}
	w, err := Create("x", f, 1)
	require.NoError(t, err)
	e := some()[0]
	for err == nil {
		w.Add(&e)
		err = w.Flush()
	}
	require.EqualError(t, err, "logging inputs to x: no space left")
	require.Equal(t, err, w.Flush())
	require.Equal(t, err, w.Sync())
	require.ErrorIs(t, w.Close(), err)
	require.True(t, f.closed)
	f = &failing{room: 1 << 20}
	w, err = Create("x", f, 1)
	require.NoError(t, err)
	f.sync = errors.New("gone")
	w.Add(&e)
	require.NoError(t, w.Flush())
	require.EqualError(t, w.Sync(), "logging inputs to x: gone")
	require.EqualError(t, w.Flush(), "logging inputs to x: gone")
	require.Error(t, w.Close())
}

// TestNoAllocation: to log a burst takes no memory.
func TestNoAllocation(t *testing.T) {
	f := &failing{room: 1 << 30}
	f.Grow(64 << 20)
	w, err := Create("x", f, 1)
	require.NoError(t, err)
	defer w.Close()
	list := make([]engine.Stimulus, 1000)
	for i := range list {
		list[i].Port = uint32(i)
	}
	e := &Entry{Kind: Inputs, Value: 1, Stimuli: list}
	one := func() {
		e.Burst++
		list[0].Amount++
		w.Add(e)
		if err := w.Flush(); err != nil {
			t.Fatal(err)
		}
	}
	one()
	require.Zero(t, testing.AllocsPerRun(100, one))
}

// FuzzR22Inputs: whatever bytes a log holds, in either of its forms, reading gives entries or an error. The sums of records are made
// to fit, so that the reader behind them is met too.
func FuzzR22Inputs(f *testing.F) {
	dir := f.TempDir()
	path := filepath.Join(dir, "inputs")
	f.Add(written(f, path, true))
	r, err := Open(path, ports)
	require.NoError(f, err)
	var arrows bytes.Buffer
	require.NoError(f, WriteArrow(&arrows, 1, r))
	require.NoError(f, r.Close())
	f.Add(arrows.Bytes())
	f.Fuzz(func(t *testing.T, b []byte) {
		path := filepath.Join(t.TempDir(), "inputs")
		for range 2 {
			require.NoError(t, os.WriteFile(path, b, 0o600))
			if list, _, err := read(t, path); err == nil {
				for i := range list {
					require.Contains(t, kindNames, list[i].Kind)
				}
			}
			if r, err := OpenArrow(path, ports); err == nil {
				_, _ = drain(r)
				require.NoError(t, r.Close())
			}
			mend(b)
		}
	})
}

// mend makes the sums of a log fit.
func mend(b []byte) {
	if len(b) < HeadBytes {
		return
	}
	copy(b, magic)
	binary.LittleEndian.PutUint64(b[24:], xxhash.Sum64(b[:24]))
	id := binary.LittleEndian.Uint64(b[8:])
	for at := HeadBytes; at+recordBytes <= len(b); {
		n := int(binary.LittleEndian.Uint32(b[at:]))
		if n < recordBytes || n > len(b)-at {
			return
		}
		var h xxhash.Digest
		h.ResetWithSeed(id + uint64(at))
		h.Write(b[at : at+n-8])
		binary.LittleEndian.PutUint64(b[at+n-8:], h.Sum64())
		at += n
	}
}

// TestFalseArrows: bytes flipped in inputs.arrows give entries or damage, and never stop the program.
func TestFalseArrows(t *testing.T) {
	path := filepath.Join(t.TempDir(), "inputs")
	written(t, path, true)
	r, err := Open(path, ports)
	require.NoError(t, err)
	var arrows bytes.Buffer
	require.NoError(t, WriteArrow(&arrows, 1, r))
	require.NoError(t, r.Close())
	random := rand.New(rand.NewPCG(3, 4))
	for range 500 {
		bad := slices.Clone(arrows.Bytes())
		for range 1 + random.IntN(3) {
			bad[random.IntN(len(bad))] ^= byte(1 + random.IntN(255))
		}
		require.NoError(t, os.WriteFile(path, bad, 0o600))
		in, err := OpenArrow(path, ports)
		if err == nil {
			_, err = drain(in)
			require.NoError(t, in.Close())
		}
		if err != nil {
			var d *regular.DamagedError
			require.ErrorAs(t, err, &d)
		}
	}
}
