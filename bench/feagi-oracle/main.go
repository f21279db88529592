// Command feagi-oracle runs FEAGI's released server and burst on the same genomes under the same stimuli and compares synapses and
// spikes one by one. Its arguments are genomes, or folders of them.
package main

import (
	"cmp"
	"errors"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"burst/connectome"
	"burst/genome"
	"burst/genome/feagi"
)

// options of a comparison.
type options struct {
	folder  string
	bursts  int
	hz      float64
	seed    uint64
	dialect string
	guide   string
	trains  string
	pairs   string
	weights string
	kept    string
	gpu     string
	threads int
}

func main() {
	var o options
	flag.StringVar(&o.folder, "server", "", "folder that install.sh has filled")
	flag.IntVar(&o.bursts, "bursts", 1000, "bursts of a run")
	flag.Float64Var(&o.hz, "hz", 100, "bursts a second")
	flag.Uint64Var(&o.seed, "seed", 1, "of the stimuli")
	flag.StringVar(&o.dialect, "dialect", "release", "of burst's import")
	flag.StringVar(&o.guide, "guide", "", "write the table into this document, between its marks")
	flag.StringVar(&o.trains, "trains", "", "write what FEAGI fired into this folder, a file for each genome")
	flag.StringVar(&o.weights, "weights", "", "run slowly, and write who fires and all weights of every burst into this folder, a file for each genome")
	flag.StringVar(&o.pairs, "pairs", "", "compare synapses alone, and write what FEAGI connects into this folder, a file for each genome")
	fast := flag.Bool("speed", false, "time the genomes, and networks made for it, on FEAGI and burst")
	flag.StringVar(&o.gpu, "gpu", "", "with -speed: a file of times on a GPU, a line for each network with its name and the microseconds of a burst")
	flag.IntVar(&o.threads, "threads", 0, "with -speed: threads of burst's cpu backend; 0 is all processors")
	sheets := flag.String("networks", "", "write the genomes of the networks that -speed times into this folder, and do no more")
	laws := flag.String("laws", "", "write the genome of FEAGI's law, rule by rule, to this file, and do no more")
	wiring := flag.String("morphologies", "", "write the genome of FEAGI's morphologies to this file, and do no more")
	flag.StringVar(&o.kept, "kept", "", "run slowly, and write who fires and what memory areas keep in every burst into this folder, a file for each genome")
	memories := flag.String("memory", "", "write the genome of FEAGI's memory areas to this file, and do no more")
	pairs := flag.String("learning", "", "write the genome of FEAGI's plasticity to this file, and do no more")
	both := flag.String("driven-learning", "", "write the genome of areas whose potentials drive synapses that learn to this file, and do no more")
	drives := flag.String("driven", "", "write the genome of areas whose potentials drive their current to this file, and do no more")
	flag.Parse()
	rules := func() ([]byte, error) { return newLaws().text("laws", "FEAGI's law, rule by rule") }
	plastic := func() ([]byte, error) { return newLearning().text("learning", "FEAGI's plasticity, pair by pair") }
	currents := func() ([]byte, error) {
		return newDriven().text("driven", "Currents that follow the potential, case by case")
	}
	changing := func() ([]byte, error) {
		return newDrivenLearning().text("driven-learning", "Currents that follow the potential, by weights that learn")
	}
	remembering := func() ([]byte, error) { return newMemories().text("memory", "FEAGI's memory areas") }
	for file, make := range map[string]func() ([]byte, error){*laws: rules, *wiring: morphologies, *pairs: plastic, *drives: currents, *both: changing, *memories: remembering} {
		if file == "" {
			continue
		}
		text, err := make()
		if err == nil {
			err = os.WriteFile(file, append(text, '\n'), 0o644)
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, "feagi-oracle:", err)
			os.Exit(1)
		}
	}
	run := o.compare
	switch {
	case *sheets != "":
		run = func([]string) error { return writeNetworks(*sheets) }
	case *laws != "" || *wiring != "" || *pairs != "" || *drives != "" || *both != "" || *memories != "":
		return
	case *fast:
		run = o.speed
	}
	if err := run(flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, "feagi-oracle:", err)
		os.Exit(1)
	}
}

const heading = "\n| genome | dialect | synapses in FEAGI | in burst | spikes in %d bursts of FEAGI | of burst | differ |\n" +
	"| --- | --- | ---: | ---: | ---: | ---: | ---: |\n"

// compare prints a row for each genome and writes the table; a difference that has no name is an error.
func (o *options) compare(paths []string) error {
	s, err := start(o.folder)
	if err != nil {
		return err
	}
	defer s.stop()
	var table, reasons strings.Builder
	fmt.Fprintf(&table, heading, o.bursts)
	unnamed := 0
	for _, path := range paths {
		files := []string{path}
		if found, _ := filepath.Glob(filepath.Join(path, "*.json")); found != nil {
			files = found
		}
		for _, file := range files {
			row, why, n, err := o.one(s, file)
			if err != nil {
				text, _, _ := strings.Cut(err.Error(), "\n")
				why = "not compared: " + strings.TrimPrefix(text, file+":")
			}
			fmt.Print(row)
			table.WriteString(row)
			unnamed += n
			if why != "" {
				fmt.Printf("  %s: %s\n", filepath.Base(file), why)
				reasons.WriteString(wrapped("- " + filepath.Base(file) + ": " + why))
			}
		}
	}
	if o.guide != "" {
		err = o.write("release", table.String()+"\n"+reasons.String()+"\n")
	}
	if unnamed > 0 {
		err = errors.Join(err, fmt.Errorf("%d spikes differ for no known reason", unnamed))
	}
	return err
}

// wrapped breaks an item of a list into lines of at most 120 characters.
func wrapped(item string) string {
	var b strings.Builder
	column := 0
	for i, word := range strings.Fields(item) {
		n := len([]rune(word))
		switch {
		case i > 0 && column+1+n > 120:
			b.WriteString("\n  ")
			column = 2
		case i > 0:
			b.WriteByte(' ')
			column++
		}
		b.WriteString(word)
		column += n
	}
	return b.String() + "\n"
}

// one compares a genome; why says where the differences come from, and unnamed counts the spikes without a reason.
func (o *options) one(s *server, file string) (row, why string, unnamed int, err error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return "", "", 0, err
	}
	g, r, err := feagi.Import(file, text, feagi.Options{Dialect: feagi.Dialect(o.dialect), SkipMissing: true})
	if err != nil {
		return "", "", 0, err
	}
	if o.pairs != "" {
		return o.wiring(s, file, text, g, r)
	}
	if o.weights != "" {
		return "", "", 0, o.learnt(s, file, text, g, r)
	}
	if o.kept != "" {
		return "", "", 0, o.remembered(s, file, text, g, r)
	}
	var rec *recording
	for range 5 {
		if rec, err = record(s, text, g, r, o.bursts, o.hz, o.seed); !errors.Is(err, errForgotten) {
			break
		}
	}
	if err != nil {
		return "", "", 0, err
	}
	if g, err = rec.numbered(g); err != nil {
		return "", "", 0, err
	}
	p, err := play(g, rec, o.bursts)
	if err != nil {
		return "", "", 0, err
	}
	if o.trains != "" {
		name := strings.TrimSuffix(filepath.Base(file), ".json") + ".trains"
		if err := os.WriteFile(filepath.Join(o.trains, name), rec.trains(g), 0o644); err != nil {
			return "", "", 0, err
		}
	}
	v := judge(g, rec, p)
	return v.row(filepath.Base(file), string(r.Dialect)), v.why(), v.unnamed, nil
}

// write puts a table into the guide, between the marks with its name.
func (o *options) write(name, table string) error {
	doc, err := os.ReadFile(o.guide)
	if err != nil {
		return err
	}
	begin, end := "<!-- "+name+": begin -->\n", "<!-- "+name+": end -->\n"
	before, rest, ok := strings.Cut(string(doc), begin)
	_, after, ok2 := strings.Cut(rest, end)
	if !ok || !ok2 {
		return fmt.Errorf("%s lacks the marks of its table %s", o.guide, name)
	}
	return os.WriteFile(o.guide, []byte(before+begin+table+end+after), 0o644)
}

// wiring compares synapses alone, and writes those of FEAGI.
func (o *options) wiring(s *server, file string, text []byte, g *genome.Genome, r *feagi.Report) (row, why string, unnamed int, err error) {
	rec, err := load(s, text, g, r, 0)
	if err != nil {
		return "", "", 0, err
	}
	c, err := connectome.Build(g, connectome.Options{})
	if err != nil {
		return "", "", 0, err
	}
	theirs, ours, n := pairs(c, rec)
	name := strings.TrimSuffix(filepath.Base(file), ".json") + ".pairs"
	if err := os.WriteFile(filepath.Join(o.pairs, name), listed(g, theirs), 0o644); err != nil {
		return "", "", 0, err
	}
	for i := range g.Areas {
		a, b := within(theirs, i), within(ours, i)
		if x, y := without(a, b), without(b, a); x+y > 0 {
			why += fmt.Sprintf("\n    area %s: %d pairs in FEAGI, of which burst lacks %d; %d in burst, of which FEAGI lacks %d", g.Areas[i].Name, len(a), x, len(b), y)
		}
	}
	return fmt.Sprintf("%s: %d synapses in FEAGI, %d pairs; %d in burst\n", filepath.Base(file), n, len(theirs), c.Total()), why, 0, nil
}

// within are the pairs that leave an area.
func within(all map[pair]bool, area int) map[pair]bool {
	some := map[pair]bool{}
	for p := range all {
		if int(p.from>>32) == area {
			some[p] = true
		}
	}
	return some
}

// listed are pairs as text: a line for each source area, each target area and then the pairs by the neurons' places in their areas.
func listed(g *genome.Genome, all map[pair]bool) []byte {
	var b strings.Builder
	b.WriteString("# What FEAGI's released server connects: area, area, and the neurons of each synapse by their places in these.\n")
	for i := range g.Areas {
		some := slices.SortedFunc(maps.Keys(within(all, i)), func(p, q pair) int {
			return cmp.Or(cmp.Compare(p.to>>32, q.to>>32), cmp.Compare(p.from, q.from), cmp.Compare(p.to, q.to))
		})
		for k, p := range some {
			if k == 0 {
				fmt.Fprintf(&b, "%q", g.Areas[i].Name)
			}
			if k == 0 || p.to>>32 != some[k-1].to>>32 {
				fmt.Fprintf(&b, " %q", g.Areas[p.to>>32].Name)
			}
			fmt.Fprintf(&b, " %d>%d", uint32(p.from), uint32(p.to))
		}
		if len(some) > 0 {
			b.WriteByte('\n')
		}
	}
	return []byte(b.String())
}
