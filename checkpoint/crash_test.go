package checkpoint

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"syscall"
	"testing"

	"burst/internal/slow"

	"github.com/stretchr/testify/require"
)

// inode is a file: what a reader sees now, and how much of it would survive a loss of power.
type inode struct {
	live   []byte
	synced int // the first bytes that are on the platter
}

// step is a change of names that the folder's journal may not have yet.
type step struct {
	from, to string // rename; create and remove have one of them
	node     *inode // create
}

func (s step) apply(names map[string]*inode) {
	switch {
	case s.node != nil:
		names[s.to] = s.node
	case s.to == "":
		delete(names, s.from)
	case names[s.from] != nil:
		names[s.to] = names[s.from]
		delete(names, s.from)
	}
}

// memory is a disk in memory that can lose its power and fail at any call.
type memory struct {
	names   map[string]*inode
	durable map[string]*inode
	journal []step // since the folder was synced

	calls      int
	crashAfter int // calls; 0: never
	failAt     int // the call that fails; 0: none
	persistent bool
	fault      error
	failed     []string // calls that failed
}

var errPower = errors.New("power is off")

func newMemory() *memory {
	return &memory{names: map[string]*inode{}, durable: map[string]*inode{}}
}

// call counts a call and says whether it fails.
func (m *memory) call(name string) error {
	if m.crashAfter > 0 && m.calls >= m.crashAfter {
		return errPower
	}
	m.calls++
	if m.failAt > 0 && (m.calls == m.failAt || m.persistent && m.calls > m.failAt) {
		m.failed = append(m.failed, name)
		return &fs.PathError{Op: name, Path: "x", Err: m.fault}
	}
	return nil
}

func (m *memory) change(s step) {
	s.apply(m.names)
	m.journal = append(m.journal, s)
}

func (m *memory) Create(path string) (File, error) {
	if err := m.call("create"); err != nil {
		return nil, err
	}
	n := &inode{}
	m.change(step{to: path, node: n})
	return &memoryFile{m, n}, nil
}

func (m *memory) Open(path string) (io.ReadCloser, int64, error) {
	n := m.names[path]
	if n == nil {
		return nil, 0, &fs.PathError{Op: "open", Path: path, Err: fs.ErrNotExist}
	}
	return io.NopCloser(bytes.NewReader(n.live)), int64(len(n.live)), nil
}

func (m *memory) Rename(from, to string) error {
	if err := m.call("rename"); err != nil {
		return err
	}
	m.change(step{from: from, to: to})
	return nil
}

func (m *memory) Remove(path string) error {
	if err := m.call("remove"); err != nil {
		return err
	}
	m.change(step{from: path})
	return nil
}

func (m *memory) SyncFolder(string) error {
	if err := m.call("sync folder"); err != nil {
		return err
	}
	for _, s := range m.journal {
		s.apply(m.durable)
	}
	m.journal = nil
	return nil
}

func (m *memory) List(string) ([]string, error) {
	if err := m.call("list"); err != nil {
		return nil, err
	}
	var names []string
	for path := range m.names {
		names = append(names, filepath.Base(path))
	}
	return names, nil
}

type memoryFile struct {
	m *memory
	n *inode
}

func (f *memoryFile) Write(b []byte) (int, error) {
	if err := f.m.call("write"); err != nil {
		if errors.Is(err, io.ErrShortWrite) {
			f.n.live = append(f.n.live, b[:len(b)/2]...)
			return len(b) / 2, err
		}
		return 0, err
	}
	f.n.live = append(f.n.live, b...)
	return len(b), nil
}

func (f *memoryFile) Sync() error {
	if err := f.m.call("sync"); err != nil {
		clear(f.n.live[f.n.synced:]) // what a failed fsync leaves is not known: dirty pages are dropped
		return err
	}
	f.n.synced = len(f.n.live)
	return nil
}

func (f *memoryFile) Close() error { return f.m.call("close") }

// crash is the disk after the power is back. Of what was not synced each sector is there with the given chance, and of the
// journal a beginning of that share.
func (m *memory) crash(r *rand.Rand, percent int) *memory {
	const sector = 512
	after := newMemory()
	for _, s := range m.journal[:min(len(m.journal), (len(m.journal)*percent+r.IntN(100))/100)] {
		s.apply(m.durable)
	}
	for path, n := range m.durable {
		live := slices.Clone(n.live)
		for at := n.synced; at < len(live); at += sector {
			if r.IntN(100) >= percent {
				clear(live[at:min(at+sector, len(live))])
			}
		}
		if percent < 100 && len(live) > n.synced && r.IntN(2) == 0 {
			live = live[:n.synced+r.IntN(len(live)-n.synced)]
		}
		after.names[path] = &inode{live, len(live)}
		after.durable[path] = after.names[path]
	}
	return after
}

// TestR2PowerLoss cuts the power after every call of five saves: what is there after is the checkpoint that was being
// saved or the one before, never an error, never a mix.
func TestR2PowerLoss(t *testing.T) {
	const saves = 5
	seeds := uint64(slow.Times(3, 20))
	if testing.Short() {
		seeds = 3
	}
	whole := newMemory()
	for i := uint64(1); i <= saves; i++ {
		_, err := Save(whole, "d", example(i, 700))
		require.NoError(t, err)
	}
	crashes := 0
	for k := 1; k <= whole.calls; k++ {
		for _, percent := range []int{0, 50, 100} {
			for seed := range seeds {
				m := newMemory()
				m.crashAfter = k
				done := uint64(0)
				for done < saves {
					if _, err := Save(m, "d", example(done+1, 700)); err != nil {
						require.ErrorIs(t, err, errPower)
						break
					}
					done++
				}
				after := m.crash(rand.New(rand.NewPCG(seed, uint64(k*percent))), percent)
				c, _, skipped, err := Newest(after, "d")
				at := fmt.Sprintf("call %d, %d %%, seed %d: %d saves were done", k, percent, seed, done)
				require.NoError(t, err, at)
				require.Empty(t, skipped, at)
				got := uint64(0)
				if c != nil {
					got = c.State.Number
					require.Equal(t, example(got, 700), c, at)
				}
				require.True(t, got == done || got == done+1, "%s, burst %d found", at, got)
				crashes++
			}
		}
	}
	t.Logf("R2: power lost %d times after each of %d calls: always the checkpoint being saved or the one before", crashes, whole.calls)
}

// TestR3Faults lets every call of a save fail in every way: the save says so, nobody hears of a checkpoint that is not
// there, and the one before loads.
func TestR3Faults(t *testing.T) {
	faults := map[string]error{"ENOSPC": syscall.ENOSPC, "EIO": syscall.EIO, "short write": io.ErrShortWrite, "EROFS": syscall.EROFS}
	const saves, busy = 5, 90_000 // neurons, which need more than one write
	if testing.Short() || !slow.Asked() {
		faults = map[string]error{"ENOSPC": syscall.ENOSPC}
	}
	var examples [saves + 1]*Checkpoint
	for i := range examples {
		examples[i] = example(uint64(i), busy)
	}
	count := newMemory()
	met := map[string]bool{}
	for i := uint64(1); i <= saves; i++ {
		_, err := Save(count, "d", examples[i])
		require.NoError(t, err)
	}
	tries := 0
	for name, fault := range faults {
		for _, persistent := range []bool{false, true} {
			for k := 1; k <= count.calls; k++ {
				m := newMemory()
				m.failAt, m.persistent, m.fault = k, persistent, fault
				s := NewSaver(m, "d", Checkpoint{})
				var err error
				told := uint64(0) // the newest checkpoint that Next has said to be on disk
				for i := uint64(1); i <= saves && err == nil; i++ {
					var next *Checkpoint
					if next, err = s.Next(); err == nil {
						told = i - 1
						*next = *examples[i]
						s.Save(func() ([]Recording, error) { return next.Recordings, nil })
					}
				}
				err = errors.Join(err, s.Close())
				at := fmt.Sprintf("%s at call %d, persistent %v, %v", name, k, persistent, m.failed)
				var p *fs.PathError
				require.ErrorAs(t, err, &p, at)
				require.ErrorIs(t, err, fault, at)
				met[m.failed[0]] = true
				m.failAt = 0
				c, _, skipped, err := Newest(m, "d")
				require.NoError(t, err, at)
				require.Empty(t, skipped, at)
				if told > 0 {
					require.GreaterOrEqual(t, c.State.Number, told, at)
					require.True(t, reflect.DeepEqual(examples[c.State.Number], c), at)
				}
				tries++
			}
		}
	}
	for _, call := range []string{"create", "write", "sync", "close", "rename", "sync folder", "list", "remove"} {
		require.True(t, met[call], call)
	}
	t.Logf("R3: %d faults, every one of %d calls, %s", tries, count.calls, strings.Join(slices.Sorted(mapKeys(faults)), ", "))
}
