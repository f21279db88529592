package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"burst/connectome"
	"burst/genome"
	"burst/run"

	"github.com/spf13/cobra"
)

// exported is what `burst export connectome --json` prints.
type exported struct {
	Genome         string   `json:"genome"`
	Neurons        uint64   `json:"neurons"`
	Synapses       uint64   `json:"synapses"`
	ConnectomeHash string   `json:"connectome_hash"`
	WeightsFrom    string   `json:"weights_from,omitempty"`  // the checkpoint whose weights were written
	WeightsBurst   uint64   `json:"weights_burst,omitempty"` // bursts after which they were so
	Files          []string `json:"files"`
}

// connectomeExport are the flags of `burst export connectome`.
type connectomeExport struct {
	out, format string
	weights     string // --weights-from
	threads     int
	asJSON      bool
}

func newExportConnectomeCommand() *cobra.Command {
	var o connectomeExport
	cmd := &cobra.Command{
		Use:   "connectome GENOME|FOLDER",
		Short: "Write every synapse of a network to a CSV, Parquet or Arrow file",
		Long: "Builds the network and writes a row for each synapse: source, target, weight, delay (bursts) and port. Neurons are\n" +
			"numbered through the network. -o DIR writes a folder with the list and a genome.yaml that reads it and runs to the same digest;\n" +
			"-o FILE writes the list alone, in the format of its ending (" + strings.Join(genome.EdgeFormats(), ", ") + ").\n" +
			"Of a run folder it writes the run's network with the weights that it has learnt; with --weights-from, of any genome of that\n" +
			"network. In a folder a projection that learns has a list of its own, from which it can go on learning.",
		Example:           "  burst export connectome quickstart -o wiring.csv\n  burst export connectome runs/stdp-song-1 -o learnt",
		Args:              genomeArgument,
		ValidArgsFunction: completeGenome,
		RunE:              func(cmd *cobra.Command, args []string) error { return exportConnectome(cmd, args[0], &o) },
	}
	f := cmd.Flags()
	f.StringVarP(&o.out, "out", "o", "", "folder or file to write; it must not exist yet (a folder may be empty)")
	f.StringVar(&o.format, "format", "parquet", "format of the list in a folder: csv, parquet, arrow or arrows")
	f.StringVar(&o.weights, "weights-from", "", "write the weights that a run has learnt: its folder, or a checkpoint in it")
	f.IntVar(&o.threads, "threads", 0, "threads to build with (default: all processors)")
	f.BoolVar(&o.asJSON, "json", false, "print what was written as JSON")
	return cmd
}

// listFormats are what --format takes.
func listFormats() []string { return []string{"csv", "parquet", "arrow", "arrows"} }

// exportConnectome builds the network and writes it to a list or a folder, as -o says.
func exportConnectome(cmd *cobra.Command, arg string, o *connectomeExport) error {
	alone := slices.Contains(genome.EdgeFormats(), filepath.Ext(o.out))
	switch {
	case o.out == "":
		return usageError{errors.New("no -o given, want a folder or a file to write")}
	case alone && cmd.Flags().Changed("format"):
		return usageError{fmt.Errorf("--format cannot stand beside %s, whose ending sets the format", o.out)}
	}
	if err := checkChoice("--format", o.format, listFormats()); err != nil {
		return err
	}
	g, err := o.load(cmd, arg)
	if err != nil {
		return err
	}
	if !alone {
		if err := o.rewirable(g); err != nil {
			return err
		}
		if err := emptyFolder(o.out); err != nil {
			return err
		}
	} else if _, err := os.Lstat(o.out); err == nil {
		return existsError(o.out)
	}
	var learnt *run.Learnt
	if o.weights != "" {
		if learnt, err = openLearnt(cmd, o.weights); err != nil {
			return err
		}
	}
	c, err := connectome.Build(g, connectome.Options{Threads: o.threads})
	if err != nil {
		return err
	}
	id := c.Hash()
	e := exported{Genome: g.Name, Neurons: uint64(c.Neurons), Synapses: c.Total(), ConnectomeHash: fmt.Sprintf("%016x", id)}
	var weights func(projection int) []float32
	if learnt != nil {
		if err := learnt.Fits(c, c.Wiring(id)); err != nil {
			return usageError{fmt.Errorf("--weights-from %w", err)}
		}
		weights, e.WeightsFrom, e.WeightsBurst = learnt.Of, learnt.Path, learnt.Saved.State.Number
	}
	if alone {
		e.Files = []string{o.out}
		err = createNew(o.out, func(w io.Writer) error { return c.Export(w, o.out, weights) })
	} else {
		e.Files, err = o.writeFolder(g, c, weights)
	}
	if err != nil {
		return err
	}
	return e.print(cmd, o, alone)
}

// load reads the genome, or that of a run folder, whose weights are meant then.
func (o *connectomeExport) load(cmd *cobra.Command, arg string) (*genome.Genome, error) {
	if !isFile(filepath.Join(arg, "manifest.json")) {
		return loadGenome(cmd, arg)
	}
	f, err := lookInto(cmd, arg)
	if err != nil {
		return nil, err
	}
	if len(f.Manifest.Learning) > 0 && o.weights == "" {
		o.weights = arg
	}
	return f.Genome()
}

// rewirable refuses a genome whose projections that learn cannot each have a list.
func (o *connectomeExport) rewirable(g *genome.Genome) error {
	for i := range g.Projections {
		if l := g.Projections[i].Learning; l != nil && l.Back > 0 {
			return usageError{fmt.Errorf("-o %s is a folder, and projections[%d] has back: %g bursts, which a projection with an edge list cannot have; want a file, such as -o %[1]s.csv", o.out, i, l.Back)}
		}
	}
	return nil
}

func (e *exported) print(cmd *cobra.Command, o *connectomeExport, alone bool) error {
	if o.asJSON {
		return printJSON(cmd, e)
	}
	w := cmd.OutOrStdout()
	fmt.Fprintf(w, "wrote %s synapses between %s neurons, connectome hash %s\n", count(e.Synapses), count(e.Neurons), e.ConnectomeHash)
	if e.WeightsFrom != "" {
		fmt.Fprintf(w, "with the weights after %s bursts, from %s\n", count(e.WeightsBurst), e.WeightsFrom)
	}
	for _, f := range e.Files {
		fmt.Fprintln(w, f)
	}
	if !alone {
		fmt.Fprintf(w, "now: burst run %s\n", e.Files[0])
	}
	return nil
}

func existsError(path string) error {
	return fmt.Errorf("%s exists already and is left as it is: %w", path, fs.ErrExist)
}

// emptyFolder makes a folder, or takes one that is empty.
func emptyFolder(dir string) error {
	entries, err := os.ReadDir(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return os.MkdirAll(dir, 0o755)
	case err == nil && len(entries) > 0:
		return existsError(dir)
	}
	return err
}

// writeFolder writes the lists, the files that the genome names beside edge lists, and the genome, which comes last.
func (o *connectomeExport) writeFolder(g *genome.Genome, c *connectome.Connectome, learnt func(int) []float32) ([]string, error) {
	written := []string{filepath.Join(o.out, "genome.yaml")}
	write := func(name string, list func(w io.Writer, name string) error) error {
		path := filepath.Join(o.out, name)
		written = append(written, path)
		return createNew(path, func(w io.Writer) error { return list(w, path) })
	}
	list, plastic := "wiring."+o.format, map[int]string{}
	if c.Synapses() == 0 && len(c.Plastic) > 0 {
		list = ""
	} else if err := write(list, c.ExportStatic); err != nil {
		return nil, err
	}
	for i := range c.Plastic {
		name := fmt.Sprintf("plastic-%d.%s", c.Plastic[i].Projection, o.format)
		plastic[c.Plastic[i].Projection] = name
		if err := write(name, func(w io.Writer, name string) error { return c.ExportPlastic(w, name, i, learnt) }); err != nil {
			return nil, err
		}
	}
	for _, file := range g.Files {
		name := file.Path
		if isList(g, name) {
			continue
		}
		path := filepath.Join(o.out, filepath.FromSlash(name))
		if err := copyNamed(g, name, path); err != nil {
			return nil, err
		}
		written = append(written, path)
	}
	text, err := g.Rewired(list, plastic, c.Scale)
	if err != nil {
		return nil, err
	}
	return written, writeNew(written[0], text)
}

// isList reports whether a file is an edge list or a table of projections, which the exported list replaces.
func isList(g *genome.Genome, name string) bool {
	return slices.ContainsFunc(g.Projections, func(p genome.Projection) bool { return p.File == name || p.Table == name })
}

func copyNamed(g *genome.Genome, name, path string) error {
	r, err := g.Open(name)
	if err != nil {
		return err
	}
	defer r.Close()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return createNew(path, func(w io.Writer) error {
		_, err := io.Copy(w, r)
		return err
	})
}
