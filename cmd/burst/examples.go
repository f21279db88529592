package main

import (
	"fmt"
	"strings"

	"burst/genome"
	"burst/genomes"

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
	var asJSON bool
	cmd := &cobra.Command{
		Use:               "examples [NAME]",
		Short:             "List the networks that come with burst, or print one",
		Args:              usage(cobra.MaximumNArgs(1)),
		ValidArgsFunction: completeGenome,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 1 {
				return printExample(cmd, args[0])
			}
			return listExamples(cmd, asJSON)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the list as JSON")
	return cmd
}

// printExample writes an example's genome.
func printExample(cmd *cobra.Command, name string) error {
	text, err := genomes.Text(name)
	if err != nil {
		message := fmt.Sprintf("no example %q", name)
		if near := genome.Nearest(name, genomes.Names()); near != "" {
			message += fmt.Sprintf(", did you mean %q?", near)
		}
		return usageError{fmt.Errorf("%s (`burst examples` lists them)", message)}
	}
	_, err = cmd.OutOrStdout().Write(text)
	return err
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
