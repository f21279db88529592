package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"burst/genome"
	"burst/genomes"
	"burst/internal/durable"

	"github.com/spf13/cobra"
)

// example is one row of `burst examples --json`.
type example struct {
	Name   string `json:"name"`
	About  string `json:"about"`
	Bursts uint64 `json:"bursts"`
	Spikes uint64 `json:"spikes"`
	Digest string `json:"digest"`
}

func newExamplesCommand() *cobra.Command {
	var asJSON, write, force bool
	cmd := &cobra.Command{
		Use:               "examples [NAME]",
		Short:             "List the networks that come with burst, or print or write one",
		Example:           "  burst examples\n  burst examples quickstart\n  burst examples brunel-c --write",
		Args:              usage(cobra.MaximumNArgs(1)),
		ValidArgsFunction: completeGenome,
		RunE: func(cmd *cobra.Command, args []string) error {
			switch {
			case len(args) == 1 && write:
				return writeExample(cmd, args[0], force, asJSON)
			case len(args) == 1 && asJSON:
				return usageError{errors.New("--json lists the examples; with a name it wants --write")}
			case len(args) == 1:
				return printExample(cmd, args[0])
			case write:
				return usageError{errors.New("--write wants the name of an example (`burst examples` lists them)")}
			}
			return listExamples(cmd, asJSON)
		},
	}
	f := cmd.Flags()
	f.BoolVar(&asJSON, "json", false, "print the list as JSON")
	f.BoolVar(&write, "write", false, "write the example to NAME.yaml, and the files that it names beside it, instead of printing it")
	f.BoolVar(&force, "force", false, "with --write: replace existing files")
	return cmd
}

// readExample reads an example's genome; files are its own, NAME.yaml, and those that it names.
func readExample(name string) (g *genome.Genome, files []string, err error) {
	text, err := genomes.Text(name)
	if err != nil {
		message := fmt.Sprintf("no example %q", name)
		if near := genome.Nearest(name, genomes.Names()); near != "" {
			message += fmt.Sprintf(", did you mean %q?", near)
		}
		return nil, nil, usageError{fmt.Errorf("%s (`burst examples` lists them)", message)}
	}
	files = []string{name + ".yaml"}
	if g, err = genome.Parse(files[0], text, genomes.Open); err != nil {
		return nil, nil, err
	}
	for _, f := range g.Files {
		files = append(files, f.Path)
	}
	return g, files, nil
}

// printExample writes an example's genome to standard output, and says what it needs beside it.
func printExample(cmd *cobra.Command, name string) error {
	g, files, err := readExample(name)
	if err != nil {
		return err
	}
	if len(files) > 1 {
		fmt.Fprintf(cmd.ErrOrStderr(), "it names %s; `burst examples %s --write` writes all\n", strings.Join(files[1:], ", "), name)
	}
	_, err = cmd.OutOrStdout().Write(g.Text())
	return err
}

// writtenExample is what `burst examples NAME --write --json` prints.
type writtenExample struct {
	written
	Files []string `json:"files"` // all, the genome first
}

// writeExample writes an example's genome and the files that it names; they must be new unless force.
func writeExample(cmd *cobra.Command, name string, force, asJSON bool) error {
	_, files, err := readExample(name)
	if err != nil {
		return err
	}
	write := durable.Replace
	if !force {
		write = writeNew
		for _, f := range files { // before any is written
			if _, err := os.Lstat(f); err == nil {
				return fmt.Errorf("%w (--force replaces it)", existsError(f))
			}
		}
	}
	for _, f := range slices.Backward(files) { // the genome last: once it is there, it runs
		if err := copyShipped(f, write); err != nil {
			return err
		}
	}
	if asJSON {
		return printJSON(cmd, writtenExample{written{files[0]}, files})
	}
	for _, f := range files[1:] {
		fmt.Fprintf(cmd.OutOrStdout(), "wrote %s\n", f)
	}
	return tellWritten(cmd, files[0], false)
}

// copyShipped writes a file that came with burst to the working folder.
func copyShipped(name string, write func(path string, text []byte) error) error {
	r, err := genomes.Open(name)
	if err != nil {
		return err
	}
	defer r.Close()
	text, err := io.ReadAll(r)
	if err != nil {
		return err
	}
	return write(name, text)
}

// listExamples writes a line an example: its name and what its first comment says.
func listExamples(cmd *cobra.Command, asJSON bool) error {
	list := []example{}
	for _, name := range genomes.Names() {
		text, err := genomes.Text(name)
		if err != nil {
			return err
		}
		want, err := genomes.Expect(name)
		if err != nil {
			return err
		}
		line, _, _ := strings.Cut(string(text), "\n")
		list = append(list, example{Name: name, About: strings.TrimPrefix(line, "# "), Bursts: want.Bursts, Spikes: want.Spikes, Digest: fmt.Sprintf("%016x", want.Digest)})
	}
	if asJSON {
		return printJSON(cmd, list)
	}
	var kv []string
	for _, e := range list {
		kv = append(kv, e.Name, e.About)
	}
	if err := pairs(cmd.OutOrStdout(), kv...); err != nil {
		return err
	}
	_, err := fmt.Fprintln(cmd.OutOrStdout(), "\nRun one with `burst run NAME`, print it with `burst examples NAME`.")
	return err
}
