package cpu

import (
	"slices"
	"time"
)

// tuner finds, while bursts run, how many threads are best. It compares as many as there may be with the next smaller number, in turn, and
// goes on with that one for as long as fewer are faster. More threads than cores, or than there is work for, only get in each other's way.
// What it finds changes when bursts end, never what they compute.
type tuner struct {
	workers int    // which threads share
	most    int    // threads
	tried   [2]int // compared now: more and fewer; 0: none
	cold    int    // bursts of the trial that do not count
	bursts  int    // that do
	took    time.Duration
	times   [2][]time.Duration // of a burst, in the trials of each
	warm    int                // bursts before the first trial
	small   bool               // there was work for one thread only
	ended   bool
}

const (
	trialCold   = 16 // bursts after which threads are awake and caches have what they need
	trialBursts = 32
	coldBursts  = 64 // before the first trial
	trialGain   = 20 // fewer threads must be faster by one part in so many
)

// verdicts: after so many trials of each number a difference of one part in so many is enough; in the end any is. Of the trials the faster
// half counts, as a machine may be busy and a network more active at times.
var verdicts = []struct{ trials, part int }{{6, 4}, {10, 8}, {16, 1 << 30}}

func newTuner(workers int) tuner { return tuner{workers: workers, most: workers, ended: true} }

// afresh has found what t has, and makes its own comparisons.
func (t *tuner) afresh() tuner {
	return tuner{workers: t.workers, most: t.most, warm: t.warm, ended: t.ended}
}

// compares says that the times of bursts count now.
func (t *tuner) compares() bool { return !t.ended && t.tried[0] > 0 }

// settled says that no comparison is going on, nor will begin while there is no more work.
func (t *tuner) settled() bool { return t.ended || t.warm >= coldBursts && t.tried[0] == 0 && t.small }

// even is the least number of threads of which none has more workers than with so many: the others would only wait for it.
func (t *tuner) even(threads int) int {
	each := (t.workers + threads - 1) / threads
	return (t.workers + each - 1) / each
}

// threads is how many to use where the work is enough for so many.
func (t *tuner) threads(enough int) int {
	enough = t.even(min(enough, t.most))
	t.small = enough < 2
	switch {
	case t.ended || t.small && t.tried[0] == 0 || t.warm < coldBursts:
		return enough
	case t.tried[0] == 0:
		t.try(enough)
	}
	return min(enough, t.tried[t.trying()])
}

// try compares so many threads with the next smaller number.
func (t *tuner) try(threads int) {
	t.most, t.tried = threads, [2]int{threads, t.even(max(1, threads-1))}
	t.times = [2][]time.Duration{}
}

// trying is which of those tried it is the turn of. Every other pair of trials begins with fewer, as a network's activity may have the period of
// a pair.
func (t *tuner) trying() int {
	switch more, fewer := len(t.times[0]), len(t.times[1]); {
	case more > fewer:
		return 1
	case more < fewer:
		return 0
	default:
		return more % 2
	}
}

// course is how many bursts may run before the number of threads is chosen again.
func (t *tuner) course() int {
	switch {
	case !t.compares():
		return mostCourse
	case t.cold < trialCold:
		return trialCold - t.cold
	}
	return trialBursts - t.bursts
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
	switch {
	case t.warm < coldBursts:
		t.warm += bursts
		return
	case !t.compares():
		return
	case t.cold < trialCold:
		t.cold += bursts
		return
	}
	t.bursts, t.took = t.bursts+bursts, t.took+took
	if t.bursts < trialBursts {
		return
	}
	k := t.trying()
	t.times[k] = append(t.times[k], t.took/time.Duration(t.bursts))
	t.cold, t.bursts, t.took = 0, 0, 0
	if len(t.times[0]) == len(t.times[1]) {
		t.judge()
	}
}

// judge ends the comparison if it is clear by now which number is faster.
func (t *tuner) judge() {
	trials := len(t.times[0])
	more, fewer := fasterHalf(t.times[0]), fasterHalf(t.times[1])
	i := slices.IndexFunc(verdicts, func(v struct{ trials, part int }) bool { return v.trials == trials })
	if i < 0 || max(more, fewer)-min(more, fewer) < more/time.Duration(verdicts[i].part) {
		return
	}
	if fewer >= more-more/trialGain {
		t.ended = true
		return
	}
	t.try(t.tried[1])
	t.ended = t.most == 1
}

// fasterHalf is the sum of the smaller half of times.
func fasterHalf(times []time.Duration) (sum time.Duration) {
	for _, x := range slices.Sorted(slices.Values(times))[:len(times)/2] {
		sum += x
	}
	return sum
}
