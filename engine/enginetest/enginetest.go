// Package enginetest is the conformance suite that every backend runs: cases computed by hand, networks at the limits, laws that
// hold for every network, and random networks compared with the reference. They run in this order, so that the first
// failure is the clearest.
package enginetest

import (
	"iter"
	"testing"

	"burst/connectome"
	"burst/engine"
	"burst/internal/slow"
)

// Open opens the backend under test for a connectome in the state before burst 0.
type Open func(c *connectome.Connectome, w engine.Want) (engine.Backend, error)

// Run tests the backend that open opens against the law of package engine. oracle opens the backend that random networks are
// compared with: burst/backend/reference. (For the reference itself this only shows that it is repeatable.) With BURST_SLOW=1 in
// the environment and without -short there are two to five times as many networks.
func Run(t *testing.T, open, oracle Open) {
	run(t, open, oracle, func(*textCase) bool { return true })
	t.Run("Plastic", func(t *testing.T) { runPlastic(t, open, oracle) })
	t.Run("PlasticDelays", func(t *testing.T) { runPlasticDelays(t, open, oracle) })
	t.Run("DrivenLearning", func(t *testing.T) { runDriven(t, open, oracle, 5, RandomDrivenLearning) })
}

// RunStatic is Run without networks that learn, for backends that refuse these.
func RunStatic(t *testing.T, open, oracle Open) {
	run(t, open, oracle, func(c *textCase) bool { return len(c.net.Plastic) == 0 })
}

func run(t *testing.T, open, oracle Open, wanted func(*textCase) bool) {
	t.Run("Cases", func(t *testing.T) { runCases(t, open, wanted) })
	t.Run("Edges", func(t *testing.T) { runEdges(t, open, oracle) })
	t.Run("Laws", func(t *testing.T) { runLaws(t, open, oracle) })
	t.Run("Random", func(t *testing.T) { runRandom(t, open, oracle) })
	t.Run("Memory", func(t *testing.T) { RunMemory(t, open, oracle) })
	t.Run("Written", func(t *testing.T) { runWritten(t, open, oracle) })
	t.Run("Columns", func(t *testing.T) { runColumns(t, open, oracle) })
	t.Run("Event", func(t *testing.T) { runEvent(t, open, oracle) })
	t.Run("Delays", func(t *testing.T) { runDelays(t, open, oracle) })
	t.Run("Driven", func(t *testing.T) { runDriven(t, open, oracle, 7, RandomDriven) })
}

// inner says that this is the inner loop, which has a third of the few random networks of a kind, and no less than one.
func inner() bool { return testing.Short() && !slow.Asked() }

// seeds are the random networks of a kind that are tested: all, or few, which find every planted bug.
func seeds(all, few uint64) iter.Seq[uint64] {
	count, step := few, uint64(1)
	if slow.Full() {
		count = all
	} else if inner() {
		step = 3
	}
	return func(yield func(uint64) bool) {
		for seed := uint64(0); seed < count && yield(seed); seed += step {
		}
	}
}

// start opens a backend that is closed when the test ends.
func start(t testing.TB, open Open, c *connectome.Connectome, w engine.Want) engine.Backend {
	t.Helper()
	b, err := open(c, w)
	if err != nil {
		t.Fatalf("open: %v", err)
	}
	t.Cleanup(func() {
		if err := b.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	return b
}

// step is one burst; out is the backend's to reuse.
func step(t testing.TB, b engine.Backend, in []engine.Stimulus, out *engine.Burst) {
	t.Helper()
	if err := b.Step(in, out); err != nil {
		t.Fatalf("step: %v", err)
	}
}

// read is a copy of the state.
func read(t testing.TB, b engine.Backend) *engine.State {
	t.Helper()
	s := &engine.State{}
	if err := b.ReadState(s); err != nil {
		t.Fatalf("read state: %v", err)
	}
	return s
}

// write replaces the state.
func write(t testing.TB, b engine.Backend, s *engine.State) {
	t.Helper()
	if err := b.WriteState(s); err != nil {
		t.Fatalf("write state: %v", err)
	}
}
