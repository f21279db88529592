package serve

import (
	"time"

	"burst/live/wire"
)

// viewer is what a client to view is shown. The client's mu guards it.
type viewer struct {
	each     time.Duration // between pictures
	last     time.Time     // of a picture
	pictures [][]byte      // to be written
	unseen   []uint64      // the bursts of pictures that were not yet seen
	since    time.Time     // the first of them was sent, or the one before it seen
	pending  *seen         // what has fired meanwhile; nil: nothing
}

func (v *viewer) begin(each float64) {
	if each == 0 {
		each = picturesEach
	}
	v.each = time.Duration(float64(time.Second) / each)
}

// seen takes an acknowledgement.
func (c *client) seen(h wire.Header, _ []byte) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	for i, burst := range c.unseen {
		if burst == h.Burst {
			c.unseen, c.since = c.unseen[i+1:], time.Now()
			return nil
		}
	}
	return nil // of one that was acknowledged with a later one
}

// pictures shows viewers what fires, until the server ends.
func (s *Server) pictures() {
	ticks := time.NewTicker(time.Second / picturesEach)
	defer ticks.Stop()
	p := painter{areas: s.tap.areas, timestep: s.tap.timestep}
	now := newSeen(s.facts.Connectome.Neurons, len(p.areas))
	for {
		select {
		case <-ticks.C:
		case <-s.ctx.Done():
			return
		}
		if s.tap.take(&now) { // before viewers are listed: one that is new is shown every burst from its hello on
			s.show(&p, &now, s.viewers())
		}
	}
}

// viewers lists the clients to view.
func (s *Server) viewers() (list []*client) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for c := range s.clients {
		if c.role == wire.RoleView {
			list = append(list, c)
		}
	}
	return list
}

// show gives viewers a picture. Those who are up to date share one.
func (s *Server) show(p *painter, now *seen, list []*client) {
	var shared []byte
	at := time.Now()
	for _, c := range list {
		c.mu.Lock()
		free := len(c.unseen) < mostUnseen
		due := free && at.Sub(c.last) >= c.each-time.Second/picturesEach/2
		switch {
		case !free && at.Sub(c.since) >= viewerPatience:
			c.mu.Unlock()
			c.leave(wire.Refused, "no picture was acknowledged for 120 s")
			continue
		case c.pending == nil && now.bursts == 0:
		case c.pending == nil && due:
			if shared == nil {
				shared = p.paint(now)
			}
			c.show(shared, now.next, at)
		default:
			if c.pending == nil {
				x := newSeen(s.facts.Connectome.Neurons, len(p.areas))
				c.pending = &x
			}
			c.pending.add(now)
			if due {
				c.show(p.paint(c.pending), c.pending.next, at)
				c.pending = nil
			}
		}
		c.mu.Unlock()
	}
}

// show has a picture written.
func (c *client) show(b []byte, next uint64, at time.Time) {
	if len(c.unseen) == 0 {
		c.since = at
	}
	if r := c.s.tap.raster(c); r != nil {
		c.pictures = append(c.pictures, r)
	}
	c.pictures, c.unseen, c.last = append(c.pictures, b), append(c.unseen, next), at
	c.rouse()
}
