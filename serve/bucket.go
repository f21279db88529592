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
