package cpu

import (
	"fmt"
	"testing"

	"burst/backend/cpu/internal/vector"
	"burst/backend/reference"
	"burst/connectome"
	"burst/engine"
	"burst/engine/enginetest"
	"burst/internal/slow"
	"burst/internal/split"
)

// TestConformance runs the suite as programs open the backend, with a given number of workers, however small the network,
// and with the loops in Go.
func TestConformance(t *testing.T) {
	conform := func(t *testing.T, open enginetest.Open) { enginetest.Run(t, open, reference.Open) }
	t.Run("all processors", func(t *testing.T) {
		slow.Test(t)
		conform(t, func(c *connectome.Connectome, w engine.Want) (engine.Backend, error) {
			return Open(c, Options{Want: w})
		})
	})
	for _, workers := range []int{1, 2, 3, 8}[:slow.Times(0, 4)] {
		t.Run(fmt.Sprintf("%d workers", workers), func(t *testing.T) {
			conform(t, func(c *connectome.Connectome, w engine.Want) (engine.Backend, error) {
				return open(c, w, workers, vector.Best()), nil
			})
		})
	}
	t.Run("2 workers, handed over", func(t *testing.T) {
		conform(t, func(c *connectome.Connectome, w engine.Want) (engine.Backend, error) {
			return eager(open(c, w, 2, vector.Best())), nil
		})
	})
	t.Run("3 parts of the network of 2 threads", func(t *testing.T) {
		slow.Test(t) // package split has two parts
		conform(t, func(c *connectome.Connectome, w engine.Want) (engine.Backend, error) {
			var list []*connectome.Connectome
			for i := range 3 {
				list = append(list, c.Cut(connectome.Part{Index: i, Of: 3}))
			}
			return split.Local(list, w, func(c *connectome.Connectome, w engine.Want) (split.Part, error) {
				return open(c, w, 2, vector.Best()), nil
			})
		})
	})
	t.Run("plain loops", func(t *testing.T) {
		slow.Test(t) // package vector compares these with the others
		conform(t, func(c *connectome.Connectome, w engine.Want) (engine.Backend, error) {
			return open(c, w, 2, vector.Plain()), nil
		})
	})
}

// eager makes b use several goroutines however little work there is.
func eager(b *backend) *backend {
	b.pool.leastWork = 1
	return b
}
