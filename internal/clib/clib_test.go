//go:build !nocuda && (linux || darwin)

package clib

import (
	"fmt"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
)

// TestOpenSaysWhy loads what is not there from many goroutines, which change threads between calls: each must hear of its own failure.
func TestOpenSaysWhy(t *testing.T) {
	var all sync.WaitGroup
	for i := range 16 {
		all.Go(func() {
			name := fmt.Sprintf("/nowhere/lib%d.so", i)
			for range 300 {
				if _, err := Open(name, i%2 == 0); !assert.ErrorContains(t, err, name) {
					return
				}
			}
		})
	}
	all.Wait()
}
