// Package live runs a network that takes part in the world: programs give it input while it runs, read what fires, and any such
// session can be replayed to the same digest, on any backend.
//
// # Who waits for whom
//
//	feeder ──Set──▶ ┌───────┐  newest value   ┌───────────┐ ──▶ outputs   (since they were last read)
//	feeder ──Set──▶ │ inbox │ ──────────────▶ │  burst t  │ ──▶ recorders (in order; the run waits for them)
//	driver ──Step──▶└───────┘  before burst t └───────────┘
//	                               │ log: one write before the burst
//	                               ▼
//	                         FOLDER/inputs
//
// Feeders never wait for a burst, and a burst never waits for a feeder. A session has four modes:
//
//   - lock-step: a driver calls Step, which runs bursts on the driver's goroutine with what the call brings, and waits for nobody;
//   - real-time: Run holds the rate of the options; a burst that starts late is counted, none is left out;
//   - free: Run without a rate;
//   - paused: after Pause, or while nobody calls Step or Run.
//
// # Inputs
//
// A Feeder binds Inputs: neurons or voxels of an area, and the largest amount that it will give to any of them. Bind proves that
// all that is bound, at its largest, fits beside the genome's own stimuli; so what is accepted later never depends on who came
// first. A value beyond the bound is refused to its sender. Amounts are float32 in the genome's unit and become quanta by the law's
// rounding. The newest value that a burst finds counts; different inputs add, in any order. A value is held until another one comes,
// unless its input is Once, or HoldFor says how many bursts it counts. It ends when its feeder closes.
//
// # The log
//
// All that changes what the network computes is in the log of the run's folder at its burst: inputs, stimuli that are switched, and
// each Set, Reset and Restore. Bursts are counted on through these; the neurons' state begins a new segment, and so the digest goes on
// over all segments. The log survives the end of the process at any moment. A loss of power may cost its last second.
package live
