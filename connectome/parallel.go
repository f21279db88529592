package connectome

import (
	"runtime"
	"sync"
	"sync/atomic"
)

// threads is the number of goroutines for a wanted number; 0 means all processors.
func threads(want int) int {
	if want > 0 {
		return want
	}
	return runtime.GOMAXPROCS(0)
}

// parallel calls work once for every piece 0…pieces−1; worker tells concurrent calls apart.
func parallel(workers int, pieces uint64, work func(worker int, piece uint64)) {
	var next atomic.Uint64
	var wg sync.WaitGroup
	for worker := range int(min(uint64(workers), pieces)) {
		wg.Go(func() {
			for piece := next.Add(1) - 1; piece < pieces; piece = next.Add(1) - 1 {
				work(worker, piece)
			}
		})
	}
	wg.Wait()
}

// spans cuts 0…n−1 into pieces of at most size and calls work on each.
func spans(workers int, n, size uint64, work func(worker int, lo, hi uint64)) {
	parallel(workers, (n+size-1)/size, func(worker int, piece uint64) {
		work(worker, piece*size, min(n, (piece+1)*size))
	})
}

// meter reports the progress of the build; its zero value reports nothing.
type meter struct {
	done  atomic.Uint64
	total uint64
	mu    sync.Mutex // held while tell is called
	tell  func(done, total uint64)
}

// tellings is about how often a meter tells: if it told of every batch, many goroutines would wait for each other.
const tellings = 1 << 12

func (m *meter) add(n uint64) {
	if m.tell == nil {
		return
	}
	done, each := m.done.Add(n), m.total/tellings
	if each > 0 && done < m.total && done/each == (done-n)/each {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.tell(min(m.total, m.done.Load()), m.total)
}
