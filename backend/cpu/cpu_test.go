package cpu

import (
	"fmt"
	"testing"

	"burst/backend/cpu/vector"
	"burst/backend/reference"
	"burst/backend/split"
	"burst/connectome"
	"burst/engine"
	"burst/engine/enginetest"
)

// TestConformance runs the suite as programs open the backend, with a given number of parts, however small the network,
// and with the loops in Go.
func TestConformance(t *testing.T) {
	t.Run("all processors", func(t *testing.T) {
		enginetest.Run(t, func(c *connectome.Connectome, w engine.Want) (engine.Backend, error) {
			return Open(c, Options{Want: w})
		}, reference.Open)
	})
	for _, parts := range []int{1, 2, 3, 8} {
		t.Run(fmt.Sprintf("%d parts", parts), func(t *testing.T) {
			enginetest.Run(t, func(c *connectome.Connectome, w engine.Want) (engine.Backend, error) {
				return open(c, w, parts, vector.Best()), nil
			}, reference.Open)
		})
	}
	t.Run("2 parts, handed over", func(t *testing.T) {
		enginetest.Run(t, func(c *connectome.Connectome, w engine.Want) (engine.Backend, error) {
			return eager(open(c, w, 2, vector.Best())), nil
		}, reference.Open)
	})
	t.Run("3 parts of the network of 2 threads", func(t *testing.T) {
		enginetest.Run(t, func(c *connectome.Connectome, w engine.Want) (engine.Backend, error) {
			var list []*connectome.Connectome
			for i := range 3 {
				list = append(list, c.Cut(connectome.Part{Index: i, Of: 3}))
			}
			return split.Local(list, w, func(c *connectome.Connectome, w engine.Want) (split.Part, error) {
				return open(c, w, 2, vector.Best()), nil
			})
		}, reference.Open)
	})
	t.Run("plain loops", func(t *testing.T) {
		enginetest.Run(t, func(c *connectome.Connectome, w engine.Want) (engine.Backend, error) {
			return open(c, w, 2, vector.Plain()), nil
		}, reference.Open)
	})
}

// eager makes b hand its parts over however little work they are.
func eager(b *backend) *backend {
	b.pool.worth = 1
	return b
}
