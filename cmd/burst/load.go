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
		return nil, fmt.Errorf("%w, and no example has that name; did you mean %q?", err, near)
	}
	return nil, fmt.Errorf("%w, and no example has that name (`burst examples` lists them)", err)
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
	quiet, set := cmd.Flags().Lookup("quiet"), cmd.Flags().Lookup("set")
	if quiet == nil || quiet.Value.String() != "true" {
		fmt.Fprintf(cmd.ErrOrStderr(), "%s (`burst import feagi %s` lists them)\n", report.Summary(), path)
		if report.Quiet != "" && (set == nil || !set.Changed) {
			fmt.Fprint(cmd.ErrOrStderr(), stimulate(report, path))
		}
	}
	return g, nil
}

// stimulate says that nothing more than power can fire, and the command that changes it.
func stimulate(r *feagi.Report, path string) string {
	if r.Feed == "" {
		return r.Quiet + "\n"
	}
	return fmt.Sprintf("%s; with a stimulus: burst run %s --set %s\n", r.Quiet, quoted(path), quoted(r.Feed))
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
	cmd.Flags().Uint64Var(&s.runSeed, "run-seed", 0, "draw Poisson input and excitability with this seed")
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

// applySettings gives the genome with what --set says; what the new text does not allow are faults, as of any genome.
func applySettings(g *genome.Genome, settings []string) (*genome.Genome, error) {
	if len(settings) == 0 {
		return g, nil
	}
	made, err := g.With(settings)
	var f genome.Faults
	if err != nil && !errors.As(err, &f) {
		return nil, usageError{fmt.Errorf("--set %w", err)}
	}
	return made, err
}

// build makes the connectome within a limit of memory, with progress on p.
func build(g *genome.Genome, threads int, limit memoryLimit, p *progress) (*connectome.Connectome, error) {
	return connectome.Build(g, connectome.Options{Threads: threads, MaxBytes: limit.apply(1), Progress: p.building})
}
