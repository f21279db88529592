package main

import (
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"

	"burst/engine"
	"burst/internal/plain"
	"burst/run"

	"golang.org/x/term"
)

// progress writes to standard error how far a run is: a line that changes on a terminal, a new one every few seconds elsewhere.
type progress struct {
	w       io.Writer
	quiet   bool
	columns func() int      // of the terminal that w is; nil: of none, or of one that cannot write over a line
	said    map[string]bool // by once

	mu     sync.Mutex    // of w, said, shown, phased and told: a network that nobody waits for any more is still built, and tells of it
	shown  bool          // a line stands that the next one is written over
	phased chan struct{} // closed to end what tells of a phase; nil: of none

	timestep            float64 // ms of the network in a burst; 0: of several networks
	what                string  // before the bursts
	watched             bool    // watch has been called for a sweep
	total, done, spikes uint64
	start, told         time.Time
	before              uint64 // done at start
	begun               bool   // something has been told of the run
	toldDone, toldSpike uint64
}

// How often progress is told.
const (
	showEvery  = 200 * time.Millisecond // on a terminal
	lineEvery  = 5 * time.Second
	buildEvery = time.Second
	longPhase  = time.Second // a shorter one is not worth a word; told again every lineEvery
)

func newProgress(w io.Writer, quiet bool) *progress {
	return &progress{w: w, quiet: quiet, columns: terminal(w), said: map[string]bool{}, start: time.Now(), told: time.Now()}
}

// terminal tells how wide the terminal is that w is now; nil: it is none, or one that cannot write over a line.
func terminal(w io.Writer) func() int {
	if o, wrapped := w.(*output); wrapped {
		w = o.Writer
	}
	f, isFile := w.(*os.File)
	if !isFile || !term.IsTerminal(int(f.Fd())) || os.Getenv("TERM") == "dumb" {
		return nil
	}
	return func() int {
		if columns, _, err := term.GetSize(int(f.Fd())); err == nil && columns > 0 {
			return columns
		}
		return 80
	}
}

// status tells one thing in a line that the next one is written over, where that can be.
func (p *progress) status(text string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.columns == nil {
		fmt.Fprintln(p.w, text)
		return
	}
	p.shown = true
	fmt.Fprintf(p.w, "\r%s\x1b[K", within(text, p.columns()-1)) // what goes on in a second line cannot be written over
}

// within cuts a text that has more characters.
func within(text string, most int) string {
	if r := []rune(text); len(r) > most {
		return string(r[:max(0, most)])
	}
	return text
}

// line tells one thing.
func (p *progress) line(format string, args ...any) {
	if p.quiet {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.clear()
	fmt.Fprintf(p.w, format+"\n", args...)
}

// phase tells what is done, if that takes long, and ends the phase before; "" ends it alone.
func (p *progress) phase(doing string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.phased != nil {
		close(p.phased)
		p.phased = nil
	}
	p.clear() // what was shown is over
	if doing != "" && !p.quiet {
		p.phased = make(chan struct{})
		go p.tellPhase(doing, p.phased)
	}
}

// tellPhase tells now and then for how long a phase has lasted.
func (p *progress) tellPhase(doing string, ended <-chan struct{}) {
	began := time.Now()
	for wait := longPhase; ; wait = lineEvery {
		select {
		case <-time.After(wait):
			p.line("%s for %v%s", doing, time.Since(began).Round(time.Second), inMemory())
		case <-ended:
			return
		}
	}
}

// inMemory is the memory that this process has now, as the end of a line; "" where the system does not say.
func inMemory() string {
	text, err := os.ReadFile("/proc/self/statm") // in pages: all, then those in memory
	if err != nil {
		return ""
	}
	fields := strings.Fields(string(text))
	if len(fields) < 2 {
		return ""
	}
	pages, err := strconv.ParseUint(fields[1], 10, 64)
	if err != nil {
		return ""
	}
	return fmt.Sprintf(", %s in memory", plain.Bytes(pages*uint64(os.Getpagesize())))
}

// once prints a message only the first time, for runs of a sweep.
func (p *progress) once(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	p.mu.Lock()
	said := p.said[text]
	p.said[text] = true
	p.mu.Unlock()
	if !said {
		p.line("%s", text)
	}
}

// event prints an event of a run; messages that each run of a sweep would repeat are printed once.
func (p *progress) event(e run.Event) {
	switch e := e.(type) {
	case run.Began:
		p.phase(e.Phase)
	case run.Building:
		p.building(e.Done, e.Total)
	case run.Took, run.RecordsPart:
		p.once("%v", e)
	default:
		p.line("%v", e)
	}
}

// data writes a line of results; with JSON it goes to standard error, where it does not disturb the object.
func (p *progress) data(out io.Writer, json bool, format string, args ...any) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.clear()
	if json {
		out = p.w
	}
	fmt.Fprintf(out, format, args...)
}

// building receives the builder's progress.
func (p *progress) building(done, total uint64) {
	if p.quiet || total == 0 || !p.due(buildEvery) {
		return
	}
	p.phase("") // the share tells more
	p.status(fmt.Sprintf("building: %3.0f %%%s", 100*float64(done)/float64(total), inMemory()))
}

// due reports whether something was told so long ago, and takes it that it is told again now.
func (p *progress) due(every time.Duration) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := time.Now()
	if now.Sub(p.told) < every {
		return false
	}
	p.told = now
	return true
}

// watch begins the progress of a run of total bursts, of which some are done already; timestep is in ms, 0: none to speak of.
func (p *progress) watch(done, total uint64, timestep float64) {
	p.phase("")
	p.timestep = timestep
	p.done, p.before, p.toldDone, p.total, p.start, p.told = done, done, done, total, time.Now(), time.Now()
}

// Record counts a burst; the clock is read once a burst, the terminal written to a few times a second.
func (p *progress) Record(b *engine.Burst) error {
	if p.phased != nil { // the run was opened anew after a fault
		p.phase("")
	}
	p.done++
	p.spikes += uint64(len(b.Fired))
	p.show()
	return nil
}

// show tells how far it is, where it is time to.
func (p *progress) show() {
	if p.quiet {
		return
	}
	now := time.Now()
	since := now.Sub(p.told)
	first := !p.begun && since >= time.Second // the first word comes within a second or so
	if !first && since < lineEvery && (p.columns == nil || since < showEvery) {
		return
	}
	left := ""
	if p.done > p.before { // a sweep may be building yet
		left = fmt.Sprintf(", %v left", time.Duration(float64(p.total-p.done)/float64(p.done-p.before)*float64(now.Sub(p.start))).Round(time.Second))
	}
	share := ""
	if p.total > 0 {
		share = fmt.Sprintf(" (%.0f %%)", 100*float64(p.done)/float64(p.total))
	}
	rate := func(n uint64) string { return count(uint64(float64(n) / since.Seconds())) }
	p.status(fmt.Sprintf("%sburst %d of %d%s%s, %s bursts/s, %s spikes/s%s%s", p.what, p.done, p.total, share, left,
		rate(p.done-p.toldDone), rate(p.spikes-p.toldSpike), p.realTime(since), inMemory()))
	p.begun = true
	p.told, p.toldDone, p.toldSpike = now, p.done, p.spikes
}

// realTime is the network's time by the clock's since something was told last, as a part of a line; "" for a sweep, whose networks
// may have any timestep.
func (p *progress) realTime(since time.Duration) string {
	if p.timestep == 0 {
		return ""
	}
	return fmt.Sprintf(", %s × real time", times(float64(p.done-p.toldDone)*p.timestep/1e3/since.Seconds()))
}

// clear makes room for a line where another is shown; p.mu is held.
func (p *progress) clear() {
	if p.shown {
		io.WriteString(p.w, "\r\x1b[K") // an error only means that the terminal is gone
		p.shown = false
	}
}

// finish takes away what is shown.
func (p *progress) finish() {
	p.phase("")
	p.mu.Lock()
	defer p.mu.Unlock()
	p.clear()
}
