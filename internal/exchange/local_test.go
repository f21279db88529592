package exchange

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"burst/connectome"
)

// onParts runs every part of an exchange and gives their errors.
func onParts(parts int, run func(x Exchange) error) []error {
	faults := make([]error, parts)
	var wg sync.WaitGroup
	for i, x := range Local(parts) {
		wg.Go(func() { faults[i] = run(x) })
	}
	wg.Wait()
	return faults
}

// What a part is given stays as it is until it gathers again, however far ahead the others are and whatever they do with
// what they gave.
func TestAllgather(t *testing.T) {
	for _, parts := range []int{1, 2, 5} {
		faults := onParts(parts, func(x Exchange) error {
			own := make([]uint32, 300)
			for turn := range uint32(500) {
				n := int(turn*7+uint32(x.Part().Index)*13) % 300
				for i := range own {
					own[i] = turn<<8 | uint32(x.Part().Index)
				}
				all, err := x.Allgather(own[:n])
				if err != nil {
					return err
				}
				clear(own)
				for i, words := range all {
					want := slices.Repeat([]uint32{turn<<8 | uint32(i)}, int(turn*7+uint32(i)*13)%300)
					if !slices.Equal(words, want) {
						return fmt.Errorf("turn %d: part %d gave %d words, want %d of %d", turn, i, len(words), len(want), turn<<8|uint32(i))
					}
				}
			}
			return nil
		})
		require.NoError(t, errors.Join(faults...), "%d parts", parts)
	}
}

// A part that ends, or aborts, lets those fail that wait for it and those that come later.
func TestAbort(t *testing.T) {
	for name, end := range map[string]func(x Exchange) error{
		"part 1 of 3: enough": func(x Exchange) error {
			x.Abort(errors.New("enough"))
			return nil
		},
		"part 1 of 3: a part of the network has ended": func(x Exchange) error { return x.Close() },
	} {
		faults := onParts(3, func(x Exchange) error {
			if x.Part().Index == 1 {
				return end(x)
			}
			_, err := x.Allgather([]uint32{1})
			_, again := x.Allgather([]uint32{2})
			if err == nil || again == nil {
				return nil
			}
			return err
		})
		require.NoError(t, faults[1])
		for _, i := range []int{0, 2} {
			var p *PartError
			require.ErrorAs(t, faults[i], &p)
			assert.Equal(t, connectome.Part{Index: 1, Of: 3}, p.Part)
			assert.EqualError(t, faults[i], name)
		}
	}
}

// All parts come to one verdict: that of the first that has an error.
func TestSettle(t *testing.T) {
	own := map[int]error{1: errors.New("größer als 4 words of text"), 2: errors.New("later")}
	faults := onParts(4, func(x Exchange) error { return Settle(x, own[x.Part().Index]) })
	assert.Same(t, own[1], faults[1])
	for _, i := range []int{0, 2, 3} {
		assert.EqualError(t, faults[i], "part 1 of 4: größer als 4 words of text")
	}
	assert.NoError(t, errors.Join(onParts(3, func(x Exchange) error { return Settle(x, nil) })...))
	faults = onParts(2, func(x Exchange) error { return Settle(x, map[int]error{1: errors.New("")}[x.Part().Index]) })
	assert.EqualError(t, faults[0], "part 1 of 2: ", "an error without words is one")
}

func TestSum(t *testing.T) {
	assert.NoError(t, errors.Join(onParts(3, func(x Exchange) error {
		sum, err := Sum(x, 1<<63+1<<32+uint64(x.Part().Index))
		if want := uint64(1<<63 + 3<<32 + 3); sum != want {
			return fmt.Errorf("%x, want %x", sum, want)
		}
		return err
	})...))
}
