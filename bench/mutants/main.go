// Command mutants plants small mistakes (mutants) in packages, one at a time, and sees whether the package's own short tests notice:
// a < that becomes <=, a + that becomes -, a break that becomes continue. Gremlins lists what can be planted; a seeded sample of that
// is compiled beside the unchanged tree and run. It prints a table by package and the mutants that lived, and exits 1 when fewer than
// 90 % of a package's sample were killed, or when those that lived are not the ones that the list of survivors gives reasons for.
//
//	make mutants
//	make mutants PACKAGES=engine SAMPLE=20 SEED=2
//	make mutants SAMPLE=0 (the listed survivors alone)
//
// It runs on Linux, where the tests' time and memory can be limited. The tree must not change meanwhile.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"text/tabwriter"
	"time"
)

// wanted is the share of a sample that must be killed.
const wanted = 0.9

// options are the command's.
type options struct {
	gremlins  []string // the command
	survivors string   // the list's file
	sample    int      // mutants a package
	seed      string
	packages  []string // folders, seen from the module's root
}

func main() {
	var o options
	gremlins := flag.String("gremlins", "gremlins", "command that runs gremlins")
	flag.StringVar(&o.survivors, "survivors", "bench/mutants/survivors.txt", "list of the mutants that may live, with reasons")
	flag.IntVar(&o.sample, "sample", 60, "mutants to draw from each package; listed survivors are tested as well")
	flag.StringVar(&o.seed, "seed", "1", "draws the sample")
	flag.Parse()
	o.gremlins = strings.Fields(*gremlins)
	for _, p := range flag.Args() {
		o.packages = append(o.packages, filepath.Clean(p))
	}
	if len(o.packages) == 0 || len(o.gremlins) == 0 || o.sample < 0 {
		fmt.Fprintln(os.Stderr, "mutants: name packages, such as engine; -gremlins is a command, -sample at least 0")
		os.Exit(2)
	}
	complaints, err := run(o, os.Stdout)
	for _, c := range complaints {
		fmt.Fprintln(os.Stderr, "mutants:", c)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "mutants:", err)
		os.Exit(2)
	}
	if len(complaints) > 0 {
		os.Exit(1)
	}
}

// run tests the packages one after the other, up to one that cannot be, and gives what is wrong with them.
func run(o options, out io.Writer) (complaints []string, err error) {
	text, err := os.ReadFile(o.survivors)
	if err != nil {
		return nil, err
	}
	reasons, err := parseSurvivors(o.survivors, string(text))
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "mutants")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	var rows []row
	for _, folder := range o.packages {
		var r row
		var more []string
		if r, more, err = runPackage(o, folder, dir, reasons, out); err != nil {
			break
		}
		rows, complaints = append(rows, r), append(complaints, more...)
	}
	return complaints, errors.Join(printTable(out, rows), err)
}

// runPackage gives a package's line of the table and what is wrong with it.
func runPackage(o options, folder, dir string, reasons map[string]string, out io.Writer) (row, []string, error) {
	start := time.Now()
	all, err := listMutants(o.gremlins, folder, filepath.Join(dir, "gremlins.json"))
	if err != nil {
		return row{}, nil, err
	}
	b, err := newBench(folder, dir)
	if err != nil {
		return row{}, nil, err
	}
	fmt.Fprintf(out, "%s: %d mutants, tests take %.1f s\n", folder, len(all), b.usual.Seconds())
	drawn, listed, err := test(b, draw(all, o.seed), o.sample, reasons, out)
	if err != nil {
		return row{}, nil, err
	}
	r := count(folder, len(all), drawn)
	r.minutes = time.Since(start).Minutes()
	return r, append(r.complaints(), compare(o.survivors, folder, reasons, append(drawn, listed...))...), nil
}

// test plants the first sample mutants that compile, and of the others those that are listed. It prints each that was not simply killed.
func test(b *bench, mutants []mutant, sample int, reasons map[string]string, out io.Writer) (drawn, listed []result, err error) {
	for _, m := range mutants {
		isListed := reasons[m.key()] != ""
		if len(drawn) == sample && !isListed {
			continue
		}
		r, err := b.try(m)
		if err != nil {
			return nil, nil, err
		}
		switch {
		case r.outcome == notViable:
		case len(drawn) < sample:
			drawn = append(drawn, r)
		default:
			listed = append(listed, r)
		}
		if r.outcome != killed && r.outcome != notViable {
			fmt.Fprintf(out, "\n%s:%d %s %s\n%s\n", m.file, m.line, r.outcome, r.note, m.key())
		}
	}
	return drawn, listed, nil
}

// row is a package's line of the table.
type row struct {
	folder      string
	all, sample int
	byOutcome   map[outcome]int
	minutes     float64
}

func count(folder string, all int, drawn []result) row {
	r := row{folder: folder, all: all, sample: len(drawn), byOutcome: map[outcome]int{}}
	for _, d := range drawn {
		r.byOutcome[d.outcome]++
	}
	return r
}

// share is that of the sample which the tests noticed.
func (r row) share() float64 {
	return float64(r.byOutcome[killed]+r.byOutcome[timedOut]) / float64(r.sample)
}

func (r row) complaints() []string {
	if r.sample == 0 || r.share() >= wanted {
		return nil
	}
	return []string{fmt.Sprintf("%s: %.0f %% of the sample were killed, wanted are %.0f %%", r.folder, 100*r.share(), 100*wanted)}
}

func printTable(out io.Writer, rows []row) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "\npackage\tmutants\tsample\tkilled\ttimed out\tlived\tnot covered\tkilled %\tminutes\t")
	for _, r := range rows {
		share := "-"
		if r.sample > 0 {
			share = fmt.Sprintf("%.1f", 100*r.share())
		}
		fmt.Fprintf(w, "%s\t%d\t%d\t%d\t%d\t%d\t%d\t%s\t%.1f\t\n", r.folder, r.all, r.sample,
			r.byOutcome[killed], r.byOutcome[timedOut], r.byOutcome[lived], r.byOutcome[notCovered], share, r.minutes)
	}
	return w.Flush()
}
