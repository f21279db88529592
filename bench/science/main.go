// Command science runs the published networks that burst is held to and prints the table of docs/validation.md:
// published value, our value, tolerance, pass. It exits 1 when a value lies outside its tolerance.
//
//	go run ./bench/science > docs/validation.md
//	go run ./bench/science -only microcircuit -backend cuda -seconds 10
package main

import (
	"flag"
	"fmt"
	"io"
	"os"
	"strings"
	"time"
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

// cases lists what can be run, in the order of the table.
func cases() []struct {
	name string
	run  func(options) ([]Check, error)
} {
	type list = []struct {
		name string
		run  func(options) ([]Check, error)
	}
	all := list{
		{"f-i-lif", func(o options) ([]Check, error) { return firingCurve(o, "lif") }},
		{"f-i-psc", func(o options) ([]Check, error) { return firingCurve(o, "lif_psc_exp") }},
		{"siegert", poissonInput},
		{"izhikevich", izhikevich2003},
		{"cuba", vogelsAbbott},
	}
	for _, s := range brunelStates() {
		all = append(all, list{{s.genome, s.checks}}...)
	}
	return append(all, list{{"microcircuit", microcircuit}}...)
}

// options are the command's.
type options struct {
	backend string
	seconds float64 // of the microcircuit, after 0.5 s
}

func main() {
	o := options{}
	flag.StringVar(&o.backend, "backend", "cpu", "cpu or cuda")
	flag.Float64Var(&o.seconds, "seconds", 2, "length of the microcircuit's run, after 0.5 s that are left out")
	only := flag.String("only", "", "run the cases whose names begin so")
	flag.Parse()
	checks, err := all(o, *only)
	if err == nil {
		err = write(os.Stdout, checks, strings.Join(os.Args[1:], " "))
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "science:", err)
		os.Exit(1)
	}
}

// all runs every case whose name begins with only.
func all(o options, only string) ([]Check, error) {
	var checks []Check
	for _, c := range cases() {
		if !strings.HasPrefix(c.name, only) {
			continue
		}
		more, err := c.run(o)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", c.name, err)
		}
		checks = append(checks, more...)
	}
	return checks, nil
}

// write prints the table and fails when a check does.
func write(w io.Writer, checks []Check, arguments string) error {
	fmt.Fprintf(w, "# Published results, and ours\n\nMade by `%s` on %s; every row is also a test (`go test ./bench/science -long`).\n\n"+
		"| case | quantity | published | burst | accepted | pass |\n| --- | --- | --- | --- | --- | --- |\n",
		strings.TrimSpace("go run ./bench/science "+arguments), time.Now().Format(time.DateOnly))
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
delays of 15 steps burst delivers before the threshold test as NEST does; 16 steps give Brian2's order. Poisson-driven lif:
A. Siegert, Physical Review 81:617 (1951), tau 20 ms, threshold 20, reset 10, refractory 2 ms, events of 0.15 mV; 5 s after
0.2 s, 1,000 neurons a rate. The formula is of diffusion, events of finite size fire about 1 % less. Izhikevich: E. Izhikevich,
IEEE Transactions on Neural Networks 14:1569 (2003), against 100 runs of the paper's script in NumPy; accepted are 2 standard
deviations of a single run. Vogels-Abbott: R. Brette et al., Journal of Computational Neuroscience 23:349 (2007), current-based,
2 s after 0.2 s. Microcircuit: T. Potjans and M. Diesmann, Cerebral Cortex 24:785 (2014), 77,169 neurons and 298,880,968
synapses; published are the mean rates of the PyNEST reference implementation (INM-6/microcircuit-PD14-model) over 15 min.
`
