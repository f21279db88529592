package record

import (
	"fmt"
	"os"
	"path/filepath"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"burst/engine"
	"burst/record/internal/tables"
	"burst/record/manifest"

	"github.com/stretchr/testify/require"
)

// faulty is a file whose n-th call, counting from 1, fails; 0 never does. Every write takes its time.
type faulty struct {
	*os.File
	calls *atomic.Int64
	fail  int
	err   error
	slow  time.Duration
}

func (f *faulty) call() error {
	n := f.calls.Add(1)
	time.Sleep(f.slow)
	if n == int64(f.fail) {
		return &os.PathError{Op: "write", Path: f.Name(), Err: f.err}
	}
	return nil
}

func (f *faulty) Write(p []byte) (int, error) {
	if err := f.call(); err != nil {
		n, _ := f.File.Write(p[:len(p)/3]) // a full disk takes a part
		return n, err
	}
	return f.File.Write(p)
}

func (f *faulty) Sync() error {
	if err := f.call(); err != nil {
		return err
	}
	return f.File.Sync()
}

// onFaulty starts a track of spikes whose two files count calls together.
func onFaulty(t *testing.T, dir string, fail int, err error, slow time.Duration, warn func(string)) (*track, *atomic.Int64) {
	t.Helper()
	calls := new(atomic.Int64)
	open := func(name string) *faulty {
		f, e := os.Create(filepath.Join(dir, name))
		require.NoError(t, e)
		return &faulty{File: f, calls: calls, fail: fail, err: err, slow: slow}
	}
	m := raggedManifest()
	s, e := tables.NewStream(open("spikes.arrows"), open("spikes.sums"), tables.Named(tables.Spikes).StreamSchema(&m))
	require.NoError(t, e)
	k, e := newTrack(filepath.Join(dir, "spikes.arrows"), s, warn, Offset{}, func(k *track) error {
		k.begun <- nil
		for b := range k.written {
			k.recycle(b)
		}
		return nil
	})
	require.NoError(t, e)
	k.chunkTime = time.Hour // so that chunks end where they are full, however slow this machine is
	return k, calls
}

// fullBurst has every neuron fire: 252 of them make a chunk.
func fullBurst(number uint64) *engine.Burst {
	b := &engine.Burst{Number: number}
	for n := range uint32(1042) {
		b.Fired = append(b.Fired, n)
	}
	return b
}

// TestFaultAtEveryCall fails each call to the disk in turn, once: the run is told, and all chunks before read back. Chunks are
// written one by one, and as many at a time as there are.
func TestFaultAtEveryCall(t *testing.T) {
	for _, cause := range []error{syscall.ENOSPC, syscall.EIO} {
		for _, single := range []bool{true, false} {
			fail := 2 // the first call, the head of .sums, belongs to the beginning
			for faultAt(t, fail, cause, single) {
				fail++
			}
			require.Greater(t, fail, 7, "a write a chunk and three calls more")
			require.True(t, fail > 16 || !single, "four calls a chunk")
		}
	}
}

// faultAt records three chunks and a part onto a disk whose call fails, and says whether there were as many calls.
func faultAt(t *testing.T, fail int, cause error, single bool) bool {
	const bursts = 800
	dir := t.TempDir()
	k, calls := onFaulty(t, dir, fail, cause, 0, nil)
	var failed error
	for i := range uint64(bursts) {
		if failed = k.spikes(fullBurst(i), everySpike.Spikes); failed != nil {
			break
		}
		if single && k.filled.Count() == 0 {
			<-k.mark()
		}
	}
	k.end(true, true)
	closed := k.close()
	if calls.Load() < int64(fail) {
		require.NoError(t, failed)
		require.NoError(t, closed)
		return false
	}
	require.ErrorIs(t, closed, cause, "call %d", fail)
	require.ErrorContains(t, closed, "recording to "+dir)
	if failed != nil {
		require.ErrorIs(t, failed, cause)
	}
	got := 0
	for c, err := range tables.ReadStream(filepath.Join(dir, "spikes"), tables.Named(tables.Spikes), &manifest.Manifest{Areas: ragged()}) {
		require.NoError(t, err, "call %d", fail)
		for i := range c.Burst {
			if c.Burst[i] != uint64(got/1042) || c.Neuron[i] != uint32(got%1042) {
				t.Fatalf("call %d: row %d is burst %d, neuron %d", fail, got, c.Burst[i], c.Neuron[i])
			}
			got++
		}
	}
	if last := k.last.Load(); last != nil {
		require.GreaterOrEqual(t, got, int(last.Rows), "call %d", fail)
	}
	if single {
		require.GreaterOrEqual(t, got, (fail-2)/4*252*1042, "call %d", fail)
	}
	return true
}

// TestSlowDiskSlowsTheRun holds the disk back: the run waits and says so once, memory stays bounded, nothing is lost. The
// clock of its bubble moves only while the disk sleeps.
func TestSlowDiskSlowsTheRun(t *testing.T) {
	if testing.Short() {
		t.Skip("records 3.7 million rows")
	}
	synctest.Test(t, func(t *testing.T) {
		const call, chunks = 300 * time.Millisecond, 14
		dir := t.TempDir()
		var told []string
		k, calls := onFaulty(t, dir, 0, nil, call, func(s string) { told = append(told, s) })
		before, start := calls.Load(), time.Now()
		for i := range uint64(252 * chunks) {
			require.NoError(t, k.spikes(fullBurst(i), everySpike.Spikes))
		}
		recorded := time.Since(start)
		k.end(true, true)
		require.NoError(t, k.close())
		require.Equal(t, time.Duration(calls.Load()-before)*call, time.Since(start), "only the disk takes time")
		require.Equal(t, k.waited, recorded)
		const written = chunks - blockCount + 1 // at least, before the run ends: one block is empty then, the others are on their way
		require.GreaterOrEqual(t, recorded, (written+3)*call, "a write for each, and three calls to sync them")
		require.Less(t, recorded, time.Since(start))
		require.Len(t, told, 1)
		require.Equal(t, fmt.Sprintf("the run waits, as recording to %s is slower; nothing is lost", filepath.Join(dir, "spikes.arrows")), told[0])
		require.Len(t, gather(t, tables.ReadStream(filepath.Join(dir, "spikes"), tables.Named(tables.Spikes), &manifest.Manifest{Areas: ragged()})).burst, 252*chunks*1042)
	})
}

// TestWaitsAddUp: the disk is called slow once waiting for it has taken more than a second in all.
func TestWaitsAddUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		told := 0
		k := &track{warn: func(string) { told++ }, filled: newBlock(), free: make(chan *block), full: make(chan *block, 4)}
		go func() {
			for range 4 {
				time.Sleep(slowDisk / 2)
				k.free <- newBlock()
			}
		}()
		for _, want := range []int{0, 0, 1, 1} {
			k.flush()
			require.Equal(t, want, told)
		}
	})
}

// TestQuietRunsReachTheDisk: a chunk does not wait for its rows longer than its time.
func TestQuietRunsReachTheDisk(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k, _ := onFaulty(t, t.TempDir(), 0, nil, 0, nil)
		k.chunkTime = chunkTime
		require.NoError(t, k.spikes(&engine.Burst{Number: 4, Fired: []uint32{8}}, everySpike.Spikes))
		time.Sleep(chunkTime - 1)
		require.NoError(t, k.spikes(&engine.Burst{Number: 5}, everySpike.Spikes))
		synctest.Wait()
		require.Nil(t, k.last.Load(), "the chunk's time is not over")
		time.Sleep(time.Nanosecond)
		require.NoError(t, k.spikes(&engine.Burst{Number: 6}, everySpike.Spikes))
		synctest.Wait()
		at := *k.last.Load()
		require.EqualValues(t, 1, at.Rows)
		require.EqualValues(t, 4, at.Burst)
		k.end(true, true)
		require.NoError(t, k.close())
	})
}

// TestSyncedInTime: what is in the stream is on disk half a second after it was written, at the latest, though nothing follows it.
func TestSyncedInTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k, calls := onFaulty(t, t.TempDir(), 0, nil, 0, nil)
		for i := range uint64(252) {
			require.NoError(t, k.spikes(fullBurst(i), everySpike.Spikes))
		}
		synctest.Wait()
		require.EqualValues(t, 2, calls.Load(), "a chunk was written behind the head of .sums, and not synced")
		require.Nil(t, k.last.Load())
		time.Sleep(syncTime)
		synctest.Wait()
		require.EqualValues(t, 5, calls.Load())
		require.EqualValues(t, 252*1042, k.last.Load().Rows)
		k.end(true, true)
		require.NoError(t, k.close())
		require.EqualValues(t, 5, calls.Load())
	})
}

// TestStreamsAreSyncedWhereWanted: at the end, unless there is a Parquet file in their place.
func TestStreamsAreSyncedWhereWanted(t *testing.T) {
	for _, c := range []struct {
		stream, failed bool
		calls          int
	}{{true, false, 5}, {false, false, 2}, {false, true, 5}} {
		synctest.Test(t, func(t *testing.T) {
			k, calls := onFaulty(t, t.TempDir(), 0, nil, 0, nil)
			for i := range uint64(252) {
				require.NoError(t, k.spikes(fullBurst(i), everySpike.Spikes))
			}
			synctest.Wait()
			if c.failed {
				k.fail(syscall.ENOSPC)
			}
			k.end(true, c.stream)
			require.Equal(t, c.failed, k.close() != nil)
			require.EqualValues(t, c.calls, calls.Load(), "%+v", c)
		})
	}
}

// TestChunksBeforeAFailure are on disk, though they were not synced before it.
func TestChunksBeforeAFailure(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir := t.TempDir()
		k, _ := onFaulty(t, dir, 4, syscall.ENOSPC, 0, nil) // the head of .sums, two chunks, and the third
		for i := range uint64(3 * 252) {
			require.NoError(t, k.spikes(fullBurst(i), everySpike.Spikes))
		}
		k.end(true, true)
		require.ErrorIs(t, k.close(), syscall.ENOSPC)
		require.Len(t, gather(t, tables.ReadStream(filepath.Join(dir, "spikes"), tables.Named(tables.Spikes), &manifest.Manifest{Areas: ragged()})).burst, 2*252*1042)
	})
}
