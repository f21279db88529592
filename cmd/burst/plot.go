package main

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"burst/record/picture"
	"burst/record/runfolder"

	"github.com/spf13/cobra"
)

// plotOptions are the flags of `burst plot`.
type plotOptions struct {
	window
	wanted map[string]*bool
	format string
	frames int
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
		Long: "Draws the chosen pictures, or all for which enough was recorded, into the folder of the run or the one that -o names.\n" +
			"A single picture may also go to a file, as in --raster -o spikes.png. The names of the files are printed.",
		Example:           "  burst plot runs/quickstart-1\n  burst plot runs/brunel-c-1 --raster --isi --format svg --from 2000 --until 4000\n  burst plot runs/quickstart-1 --raster -o spikes.png",
		Args:              folderArgument,
		ValidArgsFunction: completeFolder,
		RunE:              func(cmd *cobra.Command, args []string) error { return o.run(cmd, args[0]) },
	}
	f := cmd.Flags()
	about := map[string]string{
		"raster": "every spike as a dot", "rates": "the rate of each area over time", "isi": "interspike intervals, with their CV",
		"rate-histogram": "how many neurons have which rate", "matrix": "synapses from area to area", "potentials": "recorded potentials", "variables": "recorded state variables and inputs",
		"weights": "all pictures of weights for which enough was recorded, of these first their histogram over time", "weight-traces": "weights of recorded synapses", "weight-matrix": "these before and after, from sources to targets",
		"map": "where in space neurons fire, in frames over time",
	}
	for _, name := range picture.Names() {
		o.wanted[name] = f.Bool(name, false, "draw "+about[name])
	}
	f.IntVar(&o.frames, "frames", 8, "stretches of time that --map shows, 1 to 64")
	f.StringVar(&o.format, "format", "png", strings.Join(picture.Formats(), " or "))
	register(cmd, "format", cobra.FixedCompletions(picture.Formats(), cobra.ShellCompDirectiveNoFileComp))
	f.StringVarP(&o.out, "out", "o", "", "write into this folder, which must exist; or, for one picture, to this file")
	f.BoolVar(&o.json, "json", false, "name the files as JSON")
	o.window.flags(cmd)
	return cmd
}

func (o *plotOptions) run(cmd *cobra.Command, dir string) error {
	if err := checkChoice("--format", o.format, picture.Formats()); err != nil {
		return err
	}
	if o.frames < 1 || o.frames > 64 {
		return usageError{fmt.Errorf("--frames: expects a number from 1 to 64, found %d", o.frames)}
	}
	f, err := lookInto(cmd, dir)
	if err != nil {
		return err
	}
	if err := o.window.check(f); err != nil {
		return err
	}
	names, err := o.names(cmd, f)
	if err != nil {
		return err
	}
	path, err := o.target(cmd, dir, names)
	if err != nil {
		return err
	}
	files, err := picture.Write(f, names, o.format, picture.Options{From: o.from, Until: o.until, Areas: o.areas, Frames: o.frames}, path)
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

// names lists the pictures that are asked for, or all that there can be.
func (o *plotOptions) names(cmd *cobra.Command, f *runfolder.Folder) ([]string, error) {
	var names []string
	for _, name := range picture.Names() {
		if *o.wanted[name] {
			names = append(names, name)
		}
	}
	switch {
	case names == nil:
		return available(cmd, f)
	case *o.wanted["weights"] && !slices.Contains(picture.Formats(), strings.TrimPrefix(filepath.Ext(o.out), ".")): // a file takes one
		for _, name := range []string{"weight-traces", "weight-matrix"} {
			if !slices.Contains(names, name) && slices.Contains(f.Tables(), "weights") {
				names = append(names, name)
			}
		}
	}
	return names, nil
}

// target says into which file each picture goes. An -o that ends like a picture, and is no folder, is the file of the only one.
func (o *plotOptions) target(cmd *cobra.Command, dir string, names []string) (func(string) string, error) {
	if o.out == "" {
		return picture.Into(dir, o.format), nil
	}
	info, err := os.Stat(o.out)
	if err == nil && info.IsDir() {
		return picture.Into(o.out, o.format), nil
	}
	end := strings.TrimPrefix(filepath.Ext(o.out), ".")
	switch {
	case !slices.Contains(picture.Formats(), end):
		if err == nil {
			err = &fs.PathError{Op: "plot", Path: o.out, Err: fmt.Errorf("is not a folder; want one, or a file that ends in .%s", strings.Join(picture.Formats(), " or ."))}
		}
		return nil, err
	case len(names) != 1:
		return nil, usageError{fmt.Errorf("-o %s is one file, but there are %d pictures (%s); choose one of them, such as --%s, or give -o a folder that exists", o.out, len(names), strings.Join(names, ", "), picture.Names()[0])}
	case cmd.Flags().Changed("format") && o.format != end:
		return nil, usageError{fmt.Errorf("-o %s ends in .%s, --format says %s; leave out --format", o.out, end, o.format)}
	}
	o.format = end
	return func(string) string { return o.out }, nil
}

// available lists the pictures that can be drawn of a run, and says which one cannot though it is there.
func available(cmd *cobra.Command, f *runfolder.Folder) ([]string, error) {
	names, left, err := picture.Available(f)
	if left != "" {
		fmt.Fprintln(cmd.ErrOrStderr(), left)
	}
	return names, err
}
