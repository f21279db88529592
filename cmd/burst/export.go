package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"burst/record/runfolder"

	"github.com/spf13/cobra"
)

// exportOptions are the flags of `burst export`.
type exportOptions struct {
	to      string
	table   string
	columns []string
	runs    bool
	json    bool
}

func newExportCommand() *cobra.Command {
	var o exportOptions
	formats := strings.Join(runfolder.Formats(), ", ")
	cmd := &cobra.Command{
		Use:   "export FOLDER|FILE -o FILE",
		Short: "Write a recording in another format: " + formats,
		Long: "export reads a run folder, or a .parquet or .arrows file of one, and writes its rows. The ending of the output's name\n" +
			"is the format: " + formats + ". Of a run in progress it writes what is on disk.",
		Example: "  burst export runs/quickstart-1 -o spikes.npz\n  burst export runs/quickstart-1 --table potentials -o v.csv\n" +
			"  burst export runs/quickstart-1 --columns burst,neuron -o spikes.npz",
		Args:              usage(cobra.ExactArgs(1)),
		ValidArgsFunction: completeFolder,
		RunE:              func(cmd *cobra.Command, args []string) error { return o.run(cmd, args[0]) },
	}
	f := cmd.Flags()
	f.StringVarP(&o.to, "output", "o", "", "the file to write; an existing file is replaced")
	f.StringVar(&o.table, "table", "spikes", "which recording of a run folder: "+strings.Join(runfolder.Tables(), ", "))
	f.StringSliceVar(&o.columns, "columns", nil, "the columns to write, in this order, such as burst,neuron (default: all)")
	f.BoolVar(&o.runs, "runs", false, "for programs, in place of -o: write NPZ to standard output, which must be a file; the arrays bursts and counts (of rows) replace burst")
	f.BoolVar(&o.json, "json", false, "name the file as JSON")
	cmd.MarkFlagsMutuallyExclusive("runs", "output")
	cmd.MarkFlagsMutuallyExclusive("runs", "columns")
	cmd.MarkFlagsMutuallyExclusive("runs", "json")
	register(cmd, "table", cobra.FixedCompletions(runfolder.Tables(), cobra.ShellCompDirectiveNoFileComp))
	cmd.AddCommand(newExportConnectomeCommand())
	return cmd
}

// run is the command.
func (o *exportOptions) run(cmd *cobra.Command, from string) error {
	if err := o.check(); err != nil {
		return err
	}
	r, err := o.open(cmd, from)
	if err != nil {
		return err
	}
	if o.runs {
		return exportRuns(cmd, r)
	}
	for i, name := range o.columns {
		if err := checkChoice("--columns", name, r.Columns()); err != nil {
			return err
		}
		if slices.Contains(o.columns[:i], name) {
			return usageError{fmt.Errorf("--columns has %q twice", name)}
		}
	}
	if err := runfolder.Export(o.to, r, o.columns...); err != nil {
		return err
	}
	if o.json {
		return printJSON(cmd, written{o.to})
	}
	_, err = fmt.Fprintf(cmd.OutOrStdout(), "wrote %s\n", o.to)
	return err
}

// check refuses an output that Export does not write, and a table that burst does not record.
func (o *exportOptions) check() error {
	if o.runs {
		return checkChoice("--table", o.table, runfolder.Tables())
	}
	if o.to == "" {
		return usageError{fmt.Errorf("no output given, want -o FILE that ends with one of %s", strings.Join(runfolder.Formats(), ", "))}
	}
	return errors.Join(checkChoice("-o "+o.to+" ends with", filepath.Ext(o.to), runfolder.Formats()), checkChoice("--table", o.table, runfolder.Tables()))
}

// exportRuns writes to standard output.
func exportRuns(cmd *cobra.Command, r runfolder.Recording) error {
	f := cmd.OutOrStdout().(*output).file()
	if f == nil {
		return usageError{errors.New("--runs writes to standard output, which is no file, want: --runs > FILE.npz")}
	}
	return runfolder.ExportRuns(f, r)
}

// open finds the recording.
func (o *exportOptions) open(cmd *cobra.Command, from string) (runfolder.Recording, error) {
	info, err := os.Stat(from)
	if err != nil {
		return runfolder.Recording{}, err
	}
	if !info.IsDir() {
		return openRecording(cmd, from)
	}
	f, err := lookInto(cmd, from)
	if err != nil {
		return runfolder.Recording{}, err
	}
	return f.Recording(o.table)
}

// openRecording opens a file by itself: as the manifest beside it says, if that names it.
func openRecording(cmd *cobra.Command, path string) (runfolder.Recording, error) {
	if filepath.Ext(path) == ".parquet" {
		err := fs.ErrNotExist
		if f, failed := runfolder.Open(filepath.Dir(path)); failed == nil {
			err = f.Check(filepath.Base(path))
		}
		if errors.Is(err, fs.ErrNotExist) {
			fmt.Fprintf(cmd.ErrOrStderr(), "%s is read by itself: there is no manifest beside it to check it against\n", path)
		} else if err != nil {
			return runfolder.Recording{}, err
		}
	}
	return runfolder.OpenRecording(path)
}
