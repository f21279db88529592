package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"burst/connectome"
	"burst/genome"
	"burst/genome/feagi"
	"burst/genomes"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// loadGenome reads a genome argument: a file, also one of FEAGI's, or else the name of a shipped example.
func loadGenome(cmd *cobra.Command, arg string) (*genome.Genome, error) {
	info, err := os.Stat(arg)
	switch {
	case err == nil && info.IsDir():
		return nil, notAGenome(arg)
	case err == nil:
		return loadFile(cmd, arg)
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	text, missing := genomes.Text(arg)
	if missing == nil {
		return genome.Parse(arg+".yaml", text, genomes.Open)
	}
	if near := genome.Nearest(arg, genomes.Names()); near != "" {
		return nil, fmt.Errorf("%w, and it is not the name of an example; did you mean %q?", err, near)
	}
	return nil, fmt.Errorf("%w, and it is not the name of an example (`burst examples` lists them)", err)
}

// warn writes a line for each warning about the genome.
func warn(cmd *cobra.Command, g *genome.Genome) {
	for _, line := range g.Warnings() {
		fmt.Fprintf(cmd.ErrOrStderr(), "warning: %s\n", line)
	}
}

// notAGenome says what to give in place of a folder.
func notAGenome(dir string) error {
	err := &fs.PathError{Op: "genome", Path: dir, Err: syscall.EISDIR}
	if inside := filepath.Join(dir, "genome.yaml"); isFile(inside) {
		return fmt.Errorf("%w, want a file; did you mean %q?", err, inside)
	}
	return fmt.Errorf("%w, want a file or the name of an example (`burst examples` lists them)", err)
}

func isFile(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}

// loadFile reads a genome of either format; what becomes of one of FEAGI's is said in a line.
func loadFile(cmd *cobra.Command, path string) (*genome.Genome, error) {
	text, err := genome.ReadText(path)
	if err != nil {
		return nil, err
	}
	if !feagi.Looks(text) {
		return genome.Load(path)
	}
	g, report, err := feagi.Import(path, text, feagi.Options{})
	if err != nil {
		return nil, err
	}
	given := func(flag string) bool { f := cmd.Flags().Lookup(flag); return f != nil && f.Changed }
	if quiet := cmd.Flags().Lookup("quiet"); quiet == nil || quiet.Value.String() != "true" {
		fmt.Fprintf(cmd.ErrOrStderr(), "%s (`burst import feagi %s` lists them)\n", report.Summary(), path)
		if !given("set") && !given("stimulate") {
			fmt.Fprint(cmd.ErrOrStderr(), stimulate(report, path))
		}
	}
	return g, nil
}

// stimulate says what fires without stimuli, where that is no more than power, and the command that makes more fire.
func stimulate(r *feagi.Report, path string) string {
	switch {
	case r.Feed != "":
		return fmt.Sprintf("%s; with a stimulus: burst run %s --stimulate %s\n", r.Quiet, quoted(path), quoted(r.Feed))
	case r.Quiet != "":
		return r.Quiet + "\n"
	case len(r.Sensors) > 0:
		return fmt.Sprintf("input reaches %d of %d areas without stimuli; `burst inspect %s` lists the sensors\n", len(r.Reached), len(r.Areas), quoted(path))
	}
	return ""
}

// nearestFlag is the flag of cmd closest to name.
func nearestFlag(cmd *cobra.Command, name string) string {
	var names []string
	cmd.Flags().VisitAll(func(f *pflag.Flag) { names = append(names, f.Name) })
	return genome.Nearest(name, names)
}

// completeGenome offers the shipped examples beside files.
func completeGenome(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	return genomes.Names(), cobra.ShellCompDirectiveDefault
}

// seeds are the flags that override a genome's seeds.
type seeds struct {
	seed, runSeed uint64
}

func (s *seeds) flags(cmd *cobra.Command) {
	cmd.Flags().Uint64Var(&s.seed, "seed", 0, "build with this seed instead of the genome's (run seed too, unless the genome has one of its own)")
	cmd.Flags().Uint64Var(&s.runSeed, "run-seed", 0, "seed of Poisson and normal input and of excitability")
}

// apply sets the seeds that were given.
func (s *seeds) apply(cmd *cobra.Command, g *genome.Genome) {
	if cmd.Flags().Changed("seed") {
		reseed(g, s.seed)
	}
	if cmd.Flags().Changed("run-seed") {
		g.RunSeed = s.runSeed
	}
}

// reseed gives g another seed, which is its run seed too unless it names one of its own.
func reseed(g *genome.Genome, seed uint64) {
	g.Seed = seed
	if !g.OwnRunSeed {
		g.RunSeed = seed
	}
}

// changes are the flags that change a genome's text.
type changes struct {
	set        []string
	stimulate  []string
	plasticity string
}

func (c *changes) flags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringArrayVar(&c.set, "set", nil, "PATH=VALUE sets a value of the genome, such as areas.L4E.params.tau=12ms; may be repeated")
	f.StringArrayVar(&c.stimulate, "stimulate", nil, "AREA=WHERE WHEN adds a stimulus, such as 'eye=all every 10' or 'eye=0,1,2 at 5 amount 3'; may be repeated")
	f.StringVar(&c.plasticity, "plasticity", "on", "off keeps all weights as they start: each rule of plasticity is replaced by the rule off (FEAGI's rules get the constant 0)")
	register(cmd, "plasticity", cobra.FixedCompletions(plasticityChoices(), cobra.ShellCompDirectiveNoFileComp))
}

// plasticityChoices are what --plasticity takes.
func plasticityChoices() []string { return []string{"on", "off"} }

// apply gives the genome with what the flags say; what the text as --set makes it does not allow are faults, as of any genome.
func (c *changes) apply(g *genome.Genome) (*genome.Genome, error) {
	if err := checkChoice("--plasticity", c.plasticity, plasticityChoices()); err != nil {
		return nil, err
	}
	if len(c.set) > 0 {
		made, err := g.With(c.set)
		var f genome.Faults
		switch {
		case errors.As(err, &f):
			return nil, err
		case err != nil:
			return nil, usageError{fmt.Errorf("--set %w", err)}
		}
		g = made
	}
	if c.plasticity == "off" {
		made, err := g.Frozen()
		if err != nil {
			return nil, err
		}
		g = made
	}
	if len(c.stimulate) == 0 {
		return g, nil
	}
	made, err := g.Stimulate(c.stimulate)
	if err != nil {
		return nil, usageError{fmt.Errorf("--stimulate %w", err)}
	}
	return made, nil
}

// words are the flags as they were given.
func (c *changes) words() (words []string) {
	for _, s := range c.set {
		words = append(words, "--set", quoted(s))
	}
	for _, s := range c.stimulate {
		words = append(words, "--stimulate", quoted(s))
	}
	if c.plasticity == "off" {
		words = append(words, "--plasticity off")
	}
	return words
}

// build makes the connectome within a limit of memory, with progress on p.
func build(g *genome.Genome, threads int, limit memoryLimit, p *progress) (*connectome.Connectome, error) {
	defer p.finish()
	return connectome.Build(g, connectome.Options{Threads: threads, MaxBytes: limit.apply(1), Progress: p.building})
}
