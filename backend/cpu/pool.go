package cpu

import "sync"

// pool runs one burst's parts: the first on the caller's goroutine, each other on one of its own that lives until close.
type pool struct {
	parts []*part
	start []chan struct{} // of parts[1:]
	done  sync.WaitGroup
}

func newPool(parts []*part) *pool {
	p := &pool{parts: parts}
	for _, part := range parts[1:] {
		start := make(chan struct{}, 1)
		p.start = append(p.start, start)
		go func() {
			for range start {
				part.step()
				p.done.Done()
			}
		}()
	}
	return p
}

// run steps all parts and returns when all have.
func (p *pool) run() {
	p.done.Add(len(p.start))
	for _, s := range p.start {
		s <- struct{}{}
	}
	p.parts[0].step()
	p.done.Wait()
}

func (p *pool) close() {
	for _, s := range p.start {
		close(s)
	}
}
