package main

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"burst/genome"
	"burst/genomes"
	"burst/record"

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
	f.BoolVar(&write, "write", false, "write the example to NAME.yaml instead of printing it")
	f.BoolVar(&force, "force", false, "with --write: replace a file that is there")
	return cmd
}

// exampleText is an example's genome.
func exampleText(name string) ([]byte, error) {
	text, err := genomes.Text(name)
	if err == nil {
		return text, nil
	}
	message := fmt.Sprintf("no example %q", name)
	if near := genome.Nearest(name, genomes.Names()); near != "" {
		message += fmt.Sprintf(", did you mean %q?", near)
	}
	return nil, usageError{fmt.Errorf("%s (`burst examples` lists them)", message)}
}

// printExample writes an example's genome to standard output.
func printExample(cmd *cobra.Command, name string) error {
	text, err := exampleText(name)
	if err != nil {
		return err
	}
	_, err = cmd.OutOrStdout().Write(text)
	return err
}

// writeExample writes an example's genome to a file, which must be new unless force.
func writeExample(cmd *cobra.Command, name string, force, asJSON bool) error {
	text, err := exampleText(name)
	if err != nil {
		return err
	}
	path := name + ".yaml"
	if force {
		err = record.WriteFile(path, text)
	} else if err = writeNew(path, text); errors.Is(err, fs.ErrExist) {
		err = fmt.Errorf("%w (--force replaces it)", err)
	}
	if err != nil {
		return err
	}
	return tellWritten(cmd, path, asJSON)
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
