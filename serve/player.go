package serve

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"strconv"
	"sync"
	"time"

	"burst/connectome"
	"burst/engine"
	"burst/genome"
	"burst/live"
	"burst/record/manifest"
	"burst/record/runfolder"
	"burst/run"
)

// player shows a recorded run as if it went on: it gives the tap the recorded spikes, burst by burst.
type player struct {
	folder *runfolder.Folder
	facts  *run.Facts
	tap    *tap
	digest uint64
	end    uint64 // the burst after the last
	ended  func() // is called when the end is reached

	mu     sync.Mutex
	next   uint64 // burst
	cursor cursor
	period time.Duration
	paused bool
	base   time.Time // when burst from was due
	from   uint64
	wake   chan struct{} // something of these is another
}

// View opens the sockets and plays the recorded run in a folder, in the time of the network or at o.Rate. Clients may seek. Of a run in
// progress it plays what is on disk. Spikes must have been recorded. It uses only the options Rate, Paused, Tell and those of sockets.
func View(dir string, o Options) (*Server, error) {
	f, err := runfolder.Open(dir)
	if err != nil {
		return nil, err
	}
	p, err := newPlayer(f)
	if err != nil {
		return nil, err
	}
	if o.Rate == "" {
		o.Rate = strconv.FormatFloat(1000/f.Manifest.Timestep, 'f', -1, 64)
	}
	if err := p.SetRate(o.Rate); err != nil {
		return nil, err
	}
	s, err := prepare(o)
	if err != nil {
		return nil, err
	}
	p.tap, p.ended = s.tap, func() { s.setMode(p.holds()) }
	return s, s.begin(p)
}

func newPlayer(f *runfolder.Folder) (*player, error) {
	m := &f.Manifest
	if _, err := f.Recording("spikes"); err != nil {
		return nil, fmt.Errorf("%w; a run with --record spikes=all can be viewed", err)
	}
	g, err := f.Genome()
	if err != nil {
		return nil, err
	}
	id, err := strconv.ParseUint(m.Connectome, 16, 64)
	if err != nil || len(g.Areas) != len(m.Areas) {
		return nil, &runfolder.DamagedError{Path: "manifest.json", Reason: fmt.Sprintf("names %d areas of the network %q, the genome has %d", len(m.Areas), m.Connectome, len(g.Areas))}
	}
	p := &player{folder: f, wake: make(chan struct{}, 1), next: m.First, from: m.First, end: m.First + m.Bursts}
	if !m.Ended() {
		if p.end, err = lastRecorded(f); err != nil {
			return nil, err
		}
	}
	if m.Digest != "" {
		if p.digest, err = strconv.ParseUint(m.Digest, 16, 64); err != nil {
			return nil, &runfolder.DamagedError{Path: "manifest.json", Reason: fmt.Sprintf("its digest is %q", m.Digest)}
		}
	}
	p.facts = &run.Facts{
		Genome: g, Connectome: shape(g, m), ID: id, Backend: m.Backend, Device: m.Device, Threads: m.Threads, First: m.First, Planned: p.end - m.First, Began: m.First, Folder: f.Dir,
	}
	return p, nil
}

// lastRecorded is the burst after the last with a spike on disk, of a run that goes on or was killed.
func lastRecorded(f *runfolder.Folder) (end uint64, err error) {
	end = f.Manifest.First
	for c, err := range f.Spikes() {
		if err != nil {
			return end, err
		}
		if n := len(c.Burst); n > 0 {
			end = c.Burst[n-1] + 1
		}
	}
	return end, nil
}

// shape is the recorded network without its synapses.
func shape(g *genome.Genome, m *manifest.Manifest) *connectome.Connectome {
	c := &connectome.Connectome{Name: m.Genome, Seed: m.Seed, RunSeed: m.RunSeed, Timestep: m.Timestep, Scale: m.Scale, Stimuli: make([]connectome.Stimulus, len(g.Stimuli))}
	for i := range m.Areas {
		a := &m.Areas[i]
		c.Neurons += a.Neurons
		c.Areas = append(c.Areas, connectome.Area{
			Name: a.Name, Neurons: connectome.Span{First: a.First, Count: a.Neurons}, Size: a.Size, PerVoxel: a.PerVoxel, Model: g.Areas[i].Model,
		})
	}
	return c
}

// Facts describe the recorded run.
func (p *player) Facts() *run.Facts { return p.facts }

// Status has the digest and the spikes of the whole run.
func (p *player) Status() (live.Status, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	m := &p.folder.Manifest
	return live.Status{Burst: p.next, Digest: p.digest, Spikes: m.Spikes, Paused: p.paused, Latency: m.Timings.Latency}, nil
}

// State is not recorded.
func (p *player) State() (*engine.State, error) {
	return nil, refusal(501, "the run is a recorded one, which has no state; its checkpoints have")
}

// Run plays until ctx ends. At the end of the recording it waits.
func (p *player) Run(ctx context.Context) error {
	defer p.cursor.close()
	p.change(func() {}) // the clock begins
	tick := time.NewTimer(0)
	defer tick.Stop()
	for {
		wait, err := p.play()
		if err != nil {
			return err
		}
		tick.Reset(wait)
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-p.wake:
		case <-tick.C:
		}
	}
}

// pieces is how many bursts are played at once, so that others get their turn.
const pieces = 256

// play plays what is due, and says how long it is until there is more.
func (p *player) play() (time.Duration, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.paused {
		return time.Hour, nil
	}
	due := p.end
	if p.period > 0 {
		due = min(due, p.from+uint64(time.Since(p.base)/p.period))
	}
	if err := p.forward(min(due, p.next+pieces)); err != nil {
		return 0, err
	}
	switch {
	case p.next == p.end:
		p.paused = true
		go p.ended() // which asks for what this holds
		return time.Hour, nil
	case p.next < due:
		return 0, nil
	}
	return max(p.period, time.Millisecond), nil
}

// forward plays until to is the next burst.
func (p *player) forward(to uint64) error {
	for ; p.next < to; p.next++ {
		fired, err := p.cursor.at(p.folder, p.next)
		if err != nil {
			return err
		}
		if err := p.tap.Record(&engine.Burst{Number: p.next, Fired: fired}); err != nil {
			return err
		}
	}
	return nil
}

// change changes how it goes on.
func (p *player) change(f func()) {
	p.mu.Lock()
	f()
	p.base, p.from = time.Now(), p.next
	p.mu.Unlock()
	select {
	case p.wake <- struct{}{}:
	default:
	}
}

// holds says whether it is paused.
func (p *player) holds() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.paused
}

// Pause and Unpause hold and play it.
func (p *player) Pause()   { p.change(func() { p.paused = true }) }
func (p *player) Unpause() { p.change(func() { p.paused = false }) }

// SetRate plays so many bursts a second; "" is as fast as it goes.
func (p *player) SetRate(rate string) error {
	period, err := run.ParseRate(rate)
	if err != nil {
		return fmt.Errorf("rate %w", err)
	}
	p.change(func() { p.period = period })
	return nil
}

// seek goes to a burst.
func (p *player) seek(burst uint64) (err error) {
	p.change(func() {
		if burst < p.facts.First || burst > p.end {
			err = fmt.Errorf("seek to burst %d, want %d to %d", burst, p.facts.First, p.end)
			return
		}
		p.next = burst
		p.tap.jump(burst)
	})
	return err
}

// step plays some bursts of a player that is paused.
func (p *player) step(n uint64) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case !p.paused:
		return errors.New("the run is being played; pause it first")
	case n == 0 || n > p.end-p.next:
		return fmt.Errorf("a step of %d bursts, want 1 to the %d that are left", n, p.end-p.next)
	}
	return p.forward(p.next + n)
}

// Suspend and Close have nothing to do.
func (p *player) Suspend() error { return nil }
func (p *player) Close() error   { return nil }

// cursor is a place in recorded spikes.
type cursor struct {
	more  func() (runfolder.Chunk, error, bool)
	stop  func()
	chunk runfolder.Chunk
	row   int
	burst uint64 // the next one that it can give
}

// at gives the spikes of a burst. To go back it reads from the beginning.
func (c *cursor) at(f *runfolder.Folder, burst uint64) ([]uint32, error) {
	if c.more == nil || burst < c.burst {
		c.close()
		more, stop := iter.Pull2(f.Spikes())
		*c = cursor{stop: stop, more: more}
	}
	c.burst = burst + 1
	for {
		for n := len(c.chunk.Burst); c.row < n && c.chunk.Burst[c.row] < burst; {
			if c.chunk.Burst[n-1] < burst {
				c.row = n
				break
			}
			c.row++
		}
		if c.row < len(c.chunk.Burst) {
			break
		}
		chunk, err, there := c.more()
		if err != nil || !there {
			c.chunk, c.row = runfolder.Chunk{}, 0
			return nil, err
		}
		c.chunk, c.row = chunk, 0
	}
	from := c.row
	for c.row < len(c.chunk.Burst) && c.chunk.Burst[c.row] == burst {
		c.row++
	}
	fired := c.chunk.Neuron[from:c.row:c.row]
	if c.row == len(c.chunk.Burst) { // the burst may go on in the next chunk, whose memory is that of this one
		return c.rest(append([]uint32(nil), fired...), burst)
	}
	return fired, nil
}

// rest adds what further chunks have of a burst.
func (c *cursor) rest(fired []uint32, burst uint64) ([]uint32, error) {
	for {
		chunk, err, there := c.more()
		c.chunk, c.row = chunk, 0
		if err != nil || !there {
			c.chunk = runfolder.Chunk{}
			return fired, err
		}
		for c.row < len(chunk.Burst) && chunk.Burst[c.row] == burst {
			fired = append(fired, chunk.Neuron[c.row])
			c.row++
		}
		if c.row < len(chunk.Burst) {
			return fired, nil
		}
	}
}

func (c *cursor) close() {
	if c.stop != nil {
		c.stop()
	}
	*c = cursor{}
}
