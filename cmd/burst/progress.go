package main

import (
	"burst/internal/plain"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"

	"burst/engine"
	"burst/run"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"
)

// progress writes to standard error how far a run is: a bar on a terminal, a line every few seconds elsewhere.
type progress struct {
	w     io.Writer
	quiet bool
	tty   bool
	bar   *progressbar.ProgressBar
	said  map[string]bool // by once

	mu     sync.Mutex    // of w while a phase is waited for
	phased chan struct{} // closed to end what tells of a phase; nil: of none

	timestep            float64 // ms of the network in a burst; 0: of several networks
	what                string  // before the bursts
	watched             bool    // watch has been called for a sweep
	total, done, spikes uint64
	start, told         time.Time
	begun               bool // something has been told of the run
	toldDone, toldSpike uint64
}

// How often progress is told.
const (
	barEvery   = 200 * time.Millisecond
	lineEvery  = 5 * time.Second
	buildEvery = time.Second
	longPhase  = time.Second // a shorter one is not worth a word; told again every lineEvery
)

func newProgress(w io.Writer, quiet bool) *progress {
	f, isFile := w.(*os.File)
	return &progress{w: w, quiet: quiet, tty: isFile && term.IsTerminal(int(f.Fd())), said: map[string]bool{}, start: time.Now(), told: time.Now()}
}

// line tells one thing, above the bar if there is one.
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
	if p.phased != nil {
		close(p.phased)
		p.phased = nil
	}
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
	if !p.said[text] {
		p.said[text] = true
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
	p.clear()
	if json {
		out = p.w
	}
	fmt.Fprintf(out, format, args...)
}

// building receives the builder's progress.
func (p *progress) building(done, total uint64) {
	if p.quiet || total == 0 || time.Since(p.told) < buildEvery {
		return
	}
	p.phase("") // the share tells more
	p.told = time.Now()
	end := "\n"
	if p.tty {
		end = "\r"
	}
	fmt.Fprintf(p.w, "building: %3.0f %%%s%s", 100*float64(done)/float64(total), inMemory(), end)
}

// watch begins the progress of a run of total bursts, of which some are done already; timestep is in ms, 0: none to speak of.
func (p *progress) watch(done, total uint64, timestep float64) {
	p.phase("")
	p.timestep = timestep
	p.done, p.toldDone, p.total, p.start, p.told = done, done, total, time.Now(), time.Now()
	if p.tty && !p.quiet {
		p.bar = progressbar.NewOptions64(int64(total), progressbar.OptionSetWriter(p.w), progressbar.OptionSetWidth(24),
			progressbar.OptionThrottle(barEvery), progressbar.OptionShowCount(), progressbar.OptionShowIts(), progressbar.OptionSetItsString("bursts"),
			progressbar.OptionSetPredictTime(true), progressbar.OptionClearOnFinish(), progressbar.OptionUseANSICodes(true))
	}
}

// Record counts a burst; the clock is read once a burst, the terminal written to a few times a second.
func (p *progress) Record(b *engine.Burst) error {
	if p.phased != nil { // the run was opened anew after a fault
		p.phase("")
	}
	p.done++
	p.spikes += uint64(len(b.Fired))
	return p.show()
}

// show tells how far it is, where it is time to.
func (p *progress) show() error {
	if p.quiet {
		return nil
	}
	now := time.Now()
	since := now.Sub(p.told)
	if p.bar != nil && since >= barEvery {
		rate := float64(p.spikes-p.toldSpike) / since.Seconds()
		p.bar.Describe(fmt.Sprintf("%s%s spikes/s%s%s", p.what, count(uint64(rate)), p.realTime(since), inMemory()))
		p.tell(now)
		return p.bar.Set64(int64(p.done))
	}
	first := !p.begun && since >= time.Second // the first word comes within a second or so
	if p.bar == nil && (first || since >= lineEvery) {
		perSecond := float64(p.done-p.toldDone) / since.Seconds()
		left := ""
		if perSecond > 0 { // a sweep may be building yet
			left = fmt.Sprintf(", %v left", time.Duration(float64(p.total-p.done)/perSecond*float64(time.Second)).Round(time.Second))
		}
		fmt.Fprintf(p.w, "%sburst %d of %d, %.0f bursts/s, %s spikes/s%s%s%s\n", p.what, p.done, p.total, perSecond,
			count(uint64(float64(p.spikes-p.toldSpike)/since.Seconds())), p.realTime(since), inMemory(), left)
		p.tell(now)
	}
	return nil
}

// realTime is the network's time by the clock's since something was told last, as a part of a line; "" for a sweep, whose networks
// may have any timestep.
func (p *progress) realTime(since time.Duration) string {
	if p.timestep == 0 {
		return ""
	}
	return fmt.Sprintf(", %s × real time", times(float64(p.done-p.toldDone)*p.timestep/1e3/since.Seconds()))
}

// tell remembers that a message was printed.
func (p *progress) tell(now time.Time) {
	p.begun = true
	p.told, p.toldDone, p.toldSpike = now, p.done, p.spikes
}

// clear makes room for a line where the bar stands.
func (p *progress) clear() {
	if p.bar != nil {
		p.bar.Clear() // an error only means that the terminal is gone
	}
}

// finish takes the bar away.
func (p *progress) finish() {
	p.phase("")
	if p.bar != nil {
		p.bar.Finish() // as in clear
		p.bar = nil
	}
}
