package tabular

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"sync"
)

// maxFaults is how many wrong rows are reported.
const maxFaults = 10

// Fault is what is wrong with a row.
type Fault struct {
	Row     uint64 // from 1, the header not counted
	Line    uint64 // of a CSV file, from 1; 0 for other formats
	Column  string // empty for the row as a whole
	Message string
}

// Error says where and what.
func (f Fault) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "row %d", f.Row)
	if f.Line > 0 {
		fmt.Fprintf(&b, " (line %d)", f.Line)
	}
	if f.Column != "" {
		b.WriteString(", column " + f.Column)
	}
	return b.String() + ": " + f.Message
}

// Faults are the first wrong rows of a list, in their order, at most 10.
type Faults []Fault

// Error gives a line a row.
func (f Faults) Error() string {
	lines := make([]string, len(f))
	for i := range f {
		lines[i] = f[i].Error()
	}
	return strings.Join(lines, "\n")
}

// collector keeps the first faults of a list whose pieces are read in any order.
type collector struct {
	mu    sync.Mutex
	found Faults
}

func (c *collector) add(f Fault) {
	c.mu.Lock()
	defer c.mu.Unlock()
	at, _ := slices.BinarySearchFunc(c.found, f, func(a, b Fault) int {
		return cmp.Or(cmp.Compare(a.Row, b.Row), cmp.Compare(a.Column, b.Column))
	})
	c.found = slices.Insert(c.found, at, f)
	c.found = c.found[:min(len(c.found), maxFaults)]
}

func (c *collector) list() Faults { return c.found }
