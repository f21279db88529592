// Command mutants plants small mistakes (mutants) in packages, one at a time, and sees whether the package's own short tests notice:
// a < that becomes <=, a + that becomes -, a break that becomes continue. Gremlins lists what can be planted; a seeded sample of that
// is compiled beside the unchanged tree and run. It prints a table by package and the mutants that lived, and exits 1 when a package's
// mutation score is below 90 %, or when those that lived are not the ones that the list of survivors gives reasons for. The score is the
// share that tests kill of the mutants that can be killed: those are left out that the list calls equivalent, which change no result.
// Of a sample a tenth may be that.
//
//	make mutants
//	make mutants PACKAGES=engine SAMPLE=20 SEED=2
//	make mutants PACKAGES=record/manifest=record (with the tests of package record)
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
	"runtime"
	"slices"
	"strings"
	"sync"
	"text/tabwriter"
	"time"

	"golang.org/x/sync/errgroup"
)

// wanted is the least mutation score, mostEquivalent the largest share of a sample that may be left out of it.
const (
	wanted         = 0.9
	mostEquivalent = 0.1
)

// options are the command's.
type options struct {
	gremlins  []string // the command
	survivors string   // the list's file
	sample    int      // mutants a package
	seed      string
	workers   int      // mutants at a time
	packages  []string // folders, seen from the module's root
}

func main() {
	var o options
	gremlins := flag.String("gremlins", "gremlins", "command that runs gremlins")
	flag.StringVar(&o.survivors, "survivors", "bench/mutants/survivors.txt", "list of the mutants that may live, with reasons")
	flag.IntVar(&o.sample, "sample", 60, "mutants to draw from each package; listed survivors are tested as well")
	flag.StringVar(&o.seed, "seed", "1", "draws the sample")
	flag.IntVar(&o.workers, "workers", runtime.GOMAXPROCS(0), "mutants to try at a time")
	flag.Parse()
	o.gremlins = strings.Fields(*gremlins)
	for _, p := range flag.Args() {
		o.packages = append(o.packages, filepath.Clean(p))
	}
	if len(o.packages) == 0 || len(o.gremlins) == 0 || o.sample < 0 || o.workers < 1 {
		fmt.Fprintln(os.Stderr, "mutants: name packages, such as engine; -gremlins is a command, -sample at least 0, -workers at least 1")
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

// runPackage gives a package's line of the table and what is wrong with it. The package is a folder, or FOLDER=TESTS where the tests of
// another one are to notice.
func runPackage(o options, name, dir string, reasons map[string]string, out io.Writer) (row, []string, error) {
	start := time.Now()
	folder, tests, elsewhere := strings.Cut(name, "=")
	if !elsewhere {
		tests = folder
	}
	all, err := listMutants(o.gremlins, folder, filepath.Join(dir, "gremlins.json"))
	if err != nil {
		return row{}, nil, err
	}
	b, err := newBench(tests, dir)
	if err != nil {
		return row{}, nil, err
	}
	fmt.Fprintf(out, "%s: %d mutants, the fast tests take %.1f s, the others %.1f s\n", folder, len(all), b.passes[0].usual.Seconds(), b.passes[1].usual.Seconds())
	drawn, listed, err := test(o, b, draw(all, o.seed), reasons, out)
	if err != nil {
		return row{}, nil, err
	}
	r := count(folder, len(all), drawn)
	r.minutes = time.Since(start).Minutes()
	return r, append(r.complaints(), compare(o.survivors, folder, reasons, append(drawn, listed...))...), nil
}

// test plants the first sample mutants that compile, and of the others those that are listed.
func test(o options, b *bench, mutants []mutant, reasons map[string]string, out io.Writer) (drawn, listed []result, err error) {
	for len(drawn) < o.sample && len(mutants) > 0 {
		n := min(o.sample-len(drawn), len(mutants))
		more, err := tryAll(o, b, mutants[:n], reasons, out)
		if err != nil {
			return nil, nil, err
		}
		drawn, mutants = append(drawn, more...), mutants[n:]
	}
	mutants = slices.DeleteFunc(mutants, func(m mutant) bool { return reasons[m.key()] == "" })
	listed, err = tryAll(o, b, mutants, reasons, out)
	return drawn, listed, err
}

// tryAll plants mutants and gives what became of those that compile, in their order. It prints each that was not simply killed.
func tryAll(o options, b *bench, mutants []mutant, reasons map[string]string, out io.Writer) ([]result, error) {
	results := make([]result, len(mutants))
	var printing sync.Mutex
	var g errgroup.Group
	g.SetLimit(o.workers)
	for i, m := range mutants {
		g.Go(func() error {
			r, err := b.try(m)
			if err != nil {
				return err
			}
			if r.survived() && strings.HasPrefix(reasons[m.key()], "Equivalent:") {
				r.outcome = equivalent
			}
			if results[i] = r; r.survived() || r.outcome == timedOut {
				printing.Lock()
				defer printing.Unlock()
				fmt.Fprintf(out, "\n%s:%d %s %s\n%s\n", m.file, m.line, r.outcome, r.note, m.key())
			}
			return nil
		})
	}
	err := g.Wait()
	return slices.DeleteFunc(results, func(r result) bool { return r.outcome == notViable }), err
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

// score is the share that the tests noticed of the mutants that they can notice.
func (r row) score() float64 {
	return float64(r.byOutcome[killed]+r.byOutcome[timedOut]) / float64(r.sample-r.byOutcome[equivalent])
}

func (r row) complaints() (complaints []string) {
	if n := r.byOutcome[equivalent]; float64(n) > mostEquivalent*float64(r.sample) {
		complaints = append(complaints, fmt.Sprintf("%s: %d of the sample are listed as equivalent, at most %.0f %% of %d may be", r.folder, n, 100*mostEquivalent, r.sample))
	}
	if r.score() < wanted {
		complaints = append(complaints, fmt.Sprintf("%s: the mutation score is %.1f %%, wanted are %.0f %%", r.folder, 100*r.score(), 100*wanted))
	}
	return complaints
}

func printTable(out io.Writer, rows []row) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "\npackage\tmutants\tsample\tkilled\ttimed out\tequivalent\tlived\tnot covered\tscore %\tminutes\t")
	for _, r := range rows {
		score := "-"
		if r.sample > 0 {
			score = fmt.Sprintf("%.1f", 100*r.score())
		}
		fmt.Fprintf(w, "%s\t%d\t%d\t%d\t%d\t%d\t%d\t%d\t%s\t%.1f\t\n", r.folder, r.all, r.sample,
			r.byOutcome[killed], r.byOutcome[timedOut], r.byOutcome[equivalent], r.byOutcome[lived], r.byOutcome[notCovered], score, r.minutes)
	}
	return w.Flush()
}
