package cpu

import (
	"slices"
	"time"
)

// tuner finds, while bursts run, how many threads are best. It compares as many as there may be with half of them, in turn, and goes on
// with half of these for as long as fewer are faster. More threads than cores, or than there is work for, only get in each other's way.
// What it finds changes when bursts end, never what they compute.
type tuner struct {
	most   int    // threads
	tried  [2]int // compared now: more and fewer; 0: none
	trial  int    // of the comparison, even ones with more
	bursts int    // of the trial
	took   time.Duration
	times  [2][trialRounds]time.Duration // of a burst, in the trials of each
	warm   int                           // bursts before the first trial
	ended  bool
}

const (
	trialBursts = 32
	trialRounds = 6  // of both; the faster half counts, as a machine may be busy and a network more active at times
	coldBursts  = 64 // before the first trial
	trialGain   = 16 // fewer threads must be faster by one in so many
)

// compares says that the times of bursts count now.
func (t *tuner) compares() bool { return !t.ended && t.tried[0] > 0 }

// threads is how many to use where the work is enough for so many.
func (t *tuner) threads(enough int) int {
	enough = min(enough, t.most)
	switch {
	case t.ended || enough < 2 && t.tried[0] == 0 || t.warm < coldBursts:
		return enough
	case t.tried[0] == 0:
		t.tried = [2]int{enough, enough / 2}
	}
	return min(enough, t.tried[t.trial%2])
}

// begin is the time before bursts, if it counts: to look at the clock takes long where bursts are short.
func (t *tuner) begin() time.Time {
	if !t.compares() {
		return time.Time{}
	}
	return time.Now()
}

// end is called after so many bursts, with the time before them. In courses it includes who receives them, in which threads differ.
func (t *tuner) end(bursts int, begun time.Time) {
	took := time.Duration(0)
	if t.compares() {
		took = time.Since(begun)
	}
	t.ran(bursts, took)
}

// ran takes the time of bursts that ran.
func (t *tuner) ran(bursts int, took time.Duration) {
	if t.warm < coldBursts {
		t.warm += bursts
	}
	if !t.compares() {
		return
	}
	t.bursts, t.took = t.bursts+bursts, t.took+took
	if t.bursts < trialBursts {
		return
	}
	t.times[t.trial%2][t.trial/2] = t.took / time.Duration(t.bursts)
	t.bursts, t.took = 0, 0
	if t.trial++; t.trial < 2*trialRounds {
		return
	}
	t.trial = 0
	more, fewer := fasterHalf(t.times[0]), fasterHalf(t.times[1])
	if fewer >= more-more/trialGain {
		t.ended = true
		return
	}
	t.most = t.tried[1]
	t.tried = [2]int{t.most, t.most / 2}
	t.ended = t.most == 1
}

// fasterHalf is the sum of the smaller half of times.
func fasterHalf(times [trialRounds]time.Duration) (sum time.Duration) {
	slices.Sort(times[:])
	for _, x := range times[:trialRounds/2] {
		sum += x
	}
	return sum
}
