// Package enginetest is the conformance suite that every backend runs: cases worked out by hand, edges, laws that hold
// whatever a network computes, and random networks compared with an oracle. Its first failure is the clearest: cases come
// before edges, edges before laws, laws before random networks.
package enginetest

import (
	"testing"

	"burst/connectome"
	"burst/engine"
)

// Open opens the backend under test for a connectome in the state before burst 0.
type Open func(c *connectome.Connectome, w engine.Want) (engine.Backend, error)

// Run holds the backend that open makes to the law of package engine. oracle opens the backend to compare random
// networks with (burst/backend/reference; for the reference itself they only prove that it is repeatable).
// With -short there are fewer laws' networks and random ones.
func Run(t *testing.T, open, oracle Open) {
	t.Run("Cases", func(t *testing.T) { runCases(t, open) })
	t.Run("Edges", func(t *testing.T) { runEdges(t, open, oracle) })
	t.Run("Laws", func(t *testing.T) { runLaws(t, open) })
	t.Run("Random", func(t *testing.T) { runRandom(t, open, oracle) })
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
