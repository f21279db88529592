package engine

import (
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
)

// Latency summarises the time of many bursts, in microseconds.
type Latency struct {
	P50 float64 `json:"p50"`
	P90 float64 `json:"p90"`
	P99 float64 `json:"p99"`
	Max float64 `json:"max"`
}

// latency counts burst times in nanoseconds, three significant figures from 1 ns to 10 minutes.
type latency struct{ h *hdrhistogram.Histogram }

func newLatency() latency {
	return latency{hdrhistogram.New(1, int64(10*time.Minute), 3)}
}

// add counts one burst; one longer than the histogram's range counts as its end, and one whose clock went back as no time.
func (l latency) add(d time.Duration) {
	if l.h.RecordValue(int64(max(d, 0))) != nil {
		l.h.RecordValue(l.h.HighestTrackableValue())
	}
}

func (l latency) summary() Latency {
	us := func(ns int64) float64 { return float64(ns) / 1e3 }
	return Latency{
		P50: us(l.h.ValueAtQuantile(50)), P90: us(l.h.ValueAtQuantile(90)), P99: us(l.h.ValueAtQuantile(99)), Max: us(l.h.Max()),
	}
}
