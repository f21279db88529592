// Command science runs the published networks that burst is held to and prints the table of docs/validation.md:
// published value, our value, tolerance, pass. It exits 1 when a value lies outside its tolerance.
//
//	go run ./bench/science > docs/validation.md
package main

import (
	"fmt"
	"io"
	"os"
)

// Check compares one number with what is published.
type Check struct {
	Case      string
	Quantity  string
	Published string // with its source, as printed
	Ours      float64
	Low, High float64 // accepted range
	Digits    int     // decimals to print
}

// Pass reports whether the value lies in the accepted range.
func (c Check) Pass() bool { return c.Low <= c.Ours && c.Ours <= c.High }

func main() {
	checks, err := all()
	if err == nil {
		err = write(os.Stdout, checks)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "science:", err)
		os.Exit(1)
	}
}

// all runs every case.
func all() ([]Check, error) {
	checks, err := firingCurve()
	if err != nil {
		return nil, err
	}
	for _, s := range brunelStates() {
		more, err := s.checks()
		if err != nil {
			return nil, fmt.Errorf("%s: %w", s.genome, err)
		}
		checks = append(checks, more...)
	}
	return checks, nil
}

// write prints the table and fails when a check does.
func write(w io.Writer, checks []Check) error {
	fmt.Fprint(w, "# Published results, and ours\n\nMade by `make science`; every row is also a test (`go test ./bench/science`).\n\n"+
		"| case | quantity | published | burst | accepted | pass |\n| --- | --- | --- | --- | --- | --- |\n")
	failed := 0
	for _, c := range checks {
		verdict := "yes"
		if !c.Pass() {
			verdict = "**no**"
			failed++
		}
		fmt.Fprintf(w, "| %s | %s | %s | %.*f | %.*f … %.*f | %s |\n", c.Case, c.Quantity, c.Published, c.Digits, c.Ours, c.Digits, c.Low, c.Digits, c.High, verdict)
	}
	fmt.Fprint(w, notes)
	if failed > 0 {
		return fmt.Errorf("%d of %d values are outside their tolerance", failed, len(checks))
	}
	return nil
}

const notes = `
Sources. f-I curve: closed form f = 1/(t_ref + tau ln(RI/(RI − threshold))), counted in steps of 0.1 ms with an exact
propagator; C 250 pF, tau 10 ms, threshold 15 mV above rest. At 1000 pA the exact count is 47.0004 steps, so that rounding
alone decides between 47 and 48. Brunel: N. Brunel, Journal of Computational Neuroscience 8:183 (2000), model A, 12,500
neurons; rates in Hz over all neurons after 0.2 s; CV of the inter-spike intervals, mean over neurons with at least two;
the peak of the population rate's spectrum (Welch, segments of 0.82 s). "Brian2" is Brian2 2.5.1 on the same network. With
delays of 15 steps burst delivers before the threshold test as NEST does; 16 steps give Brian2's order.
`
