package serve

import (
	"sync"
	"time"
)

// bucket lets so many a second pass, and as many at once.
type bucket struct {
	mu   sync.Mutex
	each float64
	left float64
	last time.Time
	told time.Time
}

func newBucket(each float64) *bucket { return &bucket{each: each, left: each, last: time.Now()} }

// take says whether one more may pass.
func (b *bucket) take() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	now := time.Now()
	b.left = min(b.each, b.left+b.each*now.Sub(b.last).Seconds())
	b.last = now
	if b.left < 1 {
		return false
	}
	b.left--
	return true
}

// tells says, once a second, that something did not pass.
func (b *bucket) tells() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	now := time.Now()
	if now.Sub(b.told) < time.Second {
		return false
	}
	b.told = now
	return true
}

// Of the time of one processor those with the view token have one part in viewShare for requests that take long, and viewSaved at once.
const (
	viewShare = 4
	viewSaved = 2 * time.Second
)

// share is that time. One request has it at a time.
type share struct {
	turn chan struct{}
	free time.Time // when what was taken is made up for
}

func newShare() share { return share{turn: make(chan struct{}, 1)} }

// begin waits until there is time for a request, which must end. It reports false if gone is closed before.
func (x *share) begin(gone <-chan struct{}) bool {
	select {
	case x.turn <- struct{}{}:
	case <-gone:
		return false
	}
	for wait := time.Until(x.free); wait > 0; wait = time.Until(x.free) {
		select {
		case <-time.After(wait):
		case <-gone:
			<-x.turn
			return false
		}
	}
	return true
}

// end notes what a request took.
func (x *share) end(took time.Duration) {
	if saved := time.Now().Add(-viewShare * viewSaved); x.free.Before(saved) {
		x.free = saved
	}
	x.free = x.free.Add(viewShare * took)
	<-x.turn
}
