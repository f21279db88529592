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
	"burst/edgelist"
	"burst/genome"

	"github.com/spf13/cobra"
)

// exported is what `burst export connectome --json` prints.
type exported struct {
	Genome         string   `json:"genome"`
	Neurons        uint64   `json:"neurons"`
	Synapses       uint64   `json:"synapses"`
	ConnectomeHash string   `json:"connectome_hash"`
	Files          []string `json:"files"`
}

// connectomeExport are the flags of `burst export connectome`.
type connectomeExport struct {
	out, format string
	threads     int
	asJSON      bool
}

func newExportConnectomeCommand() *cobra.Command {
	var o connectomeExport
	cmd := &cobra.Command{
		Use:   "connectome GENOME",
		Short: "Write every synapse of a network to a CSV, Parquet or Arrow file",
		Long: "Builds the network and writes a row a synapse: source, target, weight, delay (bursts) and port, with neurons numbered\n" +
			"through the network. -o DIR writes a folder with the list and a genome.yaml that reads it and runs to the same digest;\n" +
			"-o FILE writes the list alone, in the format that its ending tells (" + strings.Join(genome.EdgeFormats(), ", ") + ").",
		Args:              genomeArgument,
		ValidArgsFunction: completeGenome,
		RunE:              func(cmd *cobra.Command, args []string) error { return exportConnectome(cmd, args[0], &o) },
	}
	f := cmd.Flags()
	f.StringVarP(&o.out, "out", "o", "", "folder or file to write, which must not exist yet (a folder may be empty)")
	f.StringVar(&o.format, "format", "parquet", "format of the list in a folder: csv, parquet, arrow or arrows")
	f.IntVar(&o.threads, "threads", 0, "threads to build with (default: all processors)")
	f.BoolVar(&o.asJSON, "json", false, "print what was written as JSON")
	return cmd
}

// listFormats are what --format takes.
func listFormats() []string { return []string{"csv", "parquet", "arrow", "arrows"} }

// exportConnectome builds the network and writes what -o asks for.
func exportConnectome(cmd *cobra.Command, arg string, o *connectomeExport) error {
	alone := slices.Contains(genome.EdgeFormats(), filepath.Ext(o.out))
	switch {
	case o.out == "":
		return usageError{errors.New("no -o given, a folder or a file to write wanted")}
	case alone && cmd.Flags().Changed("format"):
		return usageError{fmt.Errorf("--format beside %s, whose ending tells the format", o.out)}
	}
	if err := checkChoice("--format", o.format, listFormats()); err != nil {
		return err
	}
	g, err := loadGenome(cmd, arg)
	if err != nil {
		return err
	}
	if !alone {
		if err := emptyFolder(o.out); err != nil {
			return err
		}
	} else if _, err := os.Lstat(o.out); err == nil {
		return existsError(o.out)
	}
	c, err := connectome.Build(g, connectome.Options{Threads: o.threads})
	if err != nil {
		return err
	}
	e := exported{Genome: g.Name, Neurons: uint64(c.Neurons), Synapses: c.Synapses(), ConnectomeHash: fmt.Sprintf("%016x", c.Hash())}
	if alone {
		e.Files, err = []string{o.out}, writeList(c, o.out)
	} else {
		e.Files, err = writeFolder(g, c, o)
	}
	if err != nil {
		return err
	}
	return e.print(cmd, o, alone)
}

func (e *exported) print(cmd *cobra.Command, o *connectomeExport, alone bool) error {
	if o.asJSON {
		return printJSON(cmd, e)
	}
	w := cmd.OutOrStdout()
	fmt.Fprintf(w, "wrote %s synapses between %s neurons, connectome hash %s\n", count(e.Synapses), count(e.Neurons), e.ConnectomeHash)
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

// writeFolder writes the list, the files that the genome names beside edge lists, and the genome, which comes last.
func writeFolder(g *genome.Genome, c *connectome.Connectome, o *connectomeExport) ([]string, error) {
	list := "wiring." + o.format
	written := []string{filepath.Join(o.out, "genome.yaml"), filepath.Join(o.out, list)}
	if err := writeList(c, written[1]); err != nil {
		return nil, err
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
	text, err := g.Rewired(list, c.Scale)
	if err != nil {
		return nil, err
	}
	return written, writeNew(written[0], text)
}

// isList says that a file is a list of a projection, which the exported one replaces.
func isList(g *genome.Genome, name string) bool {
	return slices.ContainsFunc(g.Projections, func(p genome.Projection) bool { return p.File == name })
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

// writeList writes the synapses to a file that must not exist yet.
func writeList(c *connectome.Connectome, path string) error {
	return createNew(path, func(w io.Writer) error {
		list, err := edgelist.NewWriter(w, path)
		if err != nil {
			return err
		}
		return c.Export(list)
	})
}
