package main

import (
	"fmt"
	"os"
	"slices"
	"strings"

	"burst/genome"
	"burst/record"
	"burst/record/picture"

	"github.com/spf13/cobra"
)

// plotOptions are the flags of `burst plot`.
type plotOptions struct {
	window
	wanted map[string]*bool
	format string
	out    string
	json   bool
}

// plotted is what `burst plot --json` prints.
type plotted struct {
	Folder string   `json:"folder"`
	Files  []string `json:"files"`
}

func newPlotCommand() *cobra.Command {
	o := plotOptions{wanted: map[string]*bool{}}
	cmd := &cobra.Command{
		Use:   "plot FOLDER",
		Short: "Draw pictures of a run",
		Long: "Draws the pictures that are asked for, or all that the run has recorded enough for, and writes them into its folder\n" +
			"(or --out). On standard output it names the files.",
		Example:           "  burst plot runs/quickstart-1\n  burst plot runs/brunel-c-1 --raster --isi --format svg --from 2000 --until 4000",
		Args:              folderArgument,
		ValidArgsFunction: completeFolder,
		RunE:              func(cmd *cobra.Command, args []string) error { return o.run(cmd, args[0]) },
	}
	f := cmd.Flags()
	about := map[string]string{
		"raster": "every spike as a dot", "rates": "the rate of each area over time", "isi": "interspike intervals, with their CV",
		"rate-histogram": "how many neurons have which rate", "matrix": "synapses from area to area", "potentials": "recorded potentials",
	}
	for _, name := range picture.Names() {
		o.wanted[name] = f.Bool(name, false, "draw "+about[name])
	}
	f.StringVar(&o.format, "format", "png", strings.Join(picture.Formats(), " or "))
	register(cmd, "format", cobra.FixedCompletions(picture.Formats(), cobra.ShellCompDirectiveNoFileComp))
	f.StringVarP(&o.out, "out", "o", "", "write into this folder instead, which must be there")
	f.BoolVar(&o.json, "json", false, "name the files as JSON")
	o.window.flags(cmd)
	return cmd
}

func (o *plotOptions) run(cmd *cobra.Command, dir string) error {
	if !slices.Contains(picture.Formats(), o.format) {
		text := fmt.Sprintf("--format %q, want %s", o.format, strings.Join(picture.Formats(), " or "))
		if near := genome.Nearest(o.format, picture.Formats()); near != "" {
			text += fmt.Sprintf("; did you mean %q?", near)
		}
		return usageError{fmt.Errorf("%s", text)}
	}
	f, err := lookInto(cmd, dir)
	if err != nil {
		return err
	}
	if err := o.window.check(f); err != nil {
		return err
	}
	var names []string
	for _, name := range picture.Names() {
		if *o.wanted[name] {
			names = append(names, name)
		}
	}
	if names == nil {
		if names, err = available(cmd, f); err != nil {
			return err
		}
	}
	out := o.out
	if out == "" {
		out = dir
	} else if _, err := os.Stat(out); err != nil {
		return err
	}
	files, err := picture.Write(f, out, names, o.format, picture.Options{From: o.from, Until: o.until, Areas: o.areas})
	if err != nil {
		return err
	}
	if o.json {
		return printJSON(cmd, plotted{Folder: dir, Files: files})
	}
	for _, path := range files {
		if _, err := fmt.Fprintln(cmd.OutOrStdout(), path); err != nil {
			return err
		}
	}
	return nil
}

// available lists the pictures that can be drawn of a run, and says which one cannot though it is there.
func available(cmd *cobra.Command, f *record.Folder) ([]string, error) {
	names, left, err := picture.Available(f)
	if left != "" {
		fmt.Fprintln(cmd.ErrOrStderr(), left)
	}
	return names, err
}
