package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"strconv"
	"strings"

	"burst/internal/exchange/mpi"
	"burst/internal/plain"
	"burst/record/manifest"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// execute runs the command line and returns the exit status.
func execute(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel() // ends what waits for signals
	out := &output{Writer: stdout}
	root := newRootCommand()
	root.SetArgs(args)
	root.SetOut(out)
	root.SetErr(stderr)
	unknown := checkHelp(root)
	err := cmp.Or(root.ExecuteContext(ctx), unknown(), out.err)
	var called usageError
	if again := errors.As(err, &called) && !mpi.Leads(os.Getenv); err != nil && err.Error() != "" && !again {
		fmt.Fprintln(stderr, "burst:", plain.Text(err))
	}
	return exitCode(err)
}

// checkHelp makes help fail for an unknown command. The returned function gives that error after help has run.
func checkHelp(root *cobra.Command) (unknown func() error) {
	var wrong error
	show := root.HelpFunc()
	root.SetHelpFunc(func(cmd *cobra.Command, args []string) {
		if names := cmd.Flags().Args(); cmd.HasSubCommands() && len(names) > 0 {
			if wrong = cmd.ValidateArgs(names); cmd == root {
				wrong = usageError{unknownCommand(root, names[0])}
			}
		}
		if wrong == nil {
			show(cmd, args)
		}
	})
	root.InitDefaultHelpCmd()
	help, _, _ := root.Find([]string{"help"})
	help.Run, help.RunE = nil, func(_ *cobra.Command, args []string) error {
		cmd, rest, err := root.Find(args)
		if err == nil && len(rest) > 0 {
			err = unknownCommand(cmd, rest[0])
		}
		if err != nil {
			return usageError{err}
		}
		return cmd.Help()
	}
	return func() error { return wrong }
}

// output is where results go. It remembers a failed write, so that commands need not check every line.
type output struct {
	io.Writer
	err error // the first
}

func (o *output) Write(b []byte) (int, error) {
	n, err := o.Writer.Write(b)
	if o.err == nil {
		o.err = err
	}
	return n, err
}

// file is the regular file that results go to, or nil.
func (o *output) file() *os.File {
	f, ok := o.Writer.(*os.File)
	if !ok {
		return nil
	}
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return nil
	}
	return f
}

// newRootCommand is the whole command tree.
func newRootCommand() *cobra.Command {
	var version bool
	root := &cobra.Command{
		Use:   "burst",
		Short: "Simulate spiking networks, with the same bits on every machine",
		Long: "burst builds a network from a genome (YAML) and runs it in equal time steps, called bursts: neurons that fired send\n" +
			"input to their targets, the targets are updated, and those that reach their threshold fire.\n\n" +
			"  burst examples           list the networks that come with burst\n" +
			"  burst run quickstart     run one\n" +
			"  burst init my.yaml       write a network of your own to start from",
		SilenceErrors:              true,
		SilenceUsage:               true,
		SuggestionsMinimumDistance: 2,
		Args:                       cobra.ArbitraryArgs,
		PersistentPreRunE: func(cmd *cobra.Command, _ []string) error {
			if err := checkAlone(cmd); err != nil {
				return err
			}
			if err := cmd.ValidateFlagGroups(); err != nil {
				return usageError{fmt.Errorf("%w\nusage: %s", err, cmd.UseLine())}
			}
			return checkNumbers(cmd.Flags())
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				return usageError{unknownCommand(cmd, args[0])}
			}
			if version {
				_, err := fmt.Fprintln(cmd.OutOrStdout(), readBuild())
				return err
			}
			return cmd.Help()
		},
	}
	// cobra would print it by a template, of which report.go says what it costs.
	root.Flags().BoolVarP(&version, "version", "v", false, "version for burst")
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error { return usageError{suggestFlag(cmd, err)} })
	root.AddCommand(
		newRunCommand(), newValidateCommand(), newInspectCommand(), newVerifyCommand(), newBenchCommand(),
		newPlotCommand(), newReportCommand(), newStatsCommand(), newDiffCommand(),
		newServeCommand(), newViewCommand(), newReplayCommand(), newResumeCommand(), newCheckpointCommand(), newExportCommand(), newImportCommand(),
		newDevicesCommand(), newDoctorCommand(), newExamplesCommand(), newInitCommand(), newSchemaCommand(), newVersionCommand(), newManCommand(), newExitCodesTopic(),
	)
	return root
}

// checkNumbers refuses what no command can mean: fewer than no threads, a device below 0, a run of no bursts or of more
// than can be counted; and so many threads or parts that they alone would use up memory or hours.
func checkNumbers(flags *pflag.FlagSet) error {
	const most = 4096
	ranges := map[string][2]int64{"threads": {0, most}, "parts": {1, most}, "device": {0, math.MaxInt64}, "bursts": {1, manifest.MostBursts}}
	var wrong error
	flags.Visit(func(f *pflag.Flag) {
		if f.Name == "duration" && f.Value.String() == "0s" {
			wrong = usageError{errors.New("--duration 0s, want one burst or more")}
		}
		limits, limited := ranges[f.Name]
		if !limited {
			return
		}
		for _, text := range strings.Split(strings.Trim(f.Value.String(), "[]"), ",") {
			n, _ := strconv.ParseInt(text, 10, 64) // a number beyond int64 is its end here
			switch {
			case n < limits[0]:
				wrong = usageError{fmt.Errorf("--%s %s, want %d or more", f.Name, text, limits[0])}
			case n > limits[1]:
				wrong = usageError{fmt.Errorf("--%s %s, want at most %d", f.Name, text, limits[1])}
			}
		}
	})
	return wrong
}

// usageError is a mistake in how burst was called.
type usageError struct{ error }

// usage checks the number of arguments as cobra does, with the exit status of a usage error.
func usage(check cobra.PositionalArgs) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if err := check(cmd, args); err != nil {
			return usageError{fmt.Errorf("%w\nusage: %s", err, cmd.UseLine())}
		}
		return nil
	}
}

// genomeArgument is the one argument of commands that read a genome.
func genomeArgument(cmd *cobra.Command, args []string) error {
	if len(args) != 1 {
		return usageError{fmt.Errorf("%d genomes given, want one: a file or one of the names that `burst examples` lists\nusage: %s", len(args), cmd.UseLine())}
	}
	return nil
}

func unknownCommand(cmd *cobra.Command, name string) error {
	text := fmt.Sprintf("no command %q", name)
	if near := cmd.SuggestionsFor(name); len(near) > 0 {
		text += fmt.Sprintf(", did you mean %q?", near[0])
	}
	return errors.New(text + " (`burst help` lists the commands)")
}

// suggestFlag adds the nearest flag to an error about an unknown one, and to an error about a value what is wanted.
func suggestFlag(cmd *cobra.Command, err error) error {
	var value *pflag.InvalidValueError
	if errors.As(err, &value) {
		return fmt.Errorf("--%s %q, %s", value.GetFlag().Name, value.GetValue(), wanted(value))
	}
	if !strings.HasPrefix(err.Error(), "unknown ") {
		return err
	}
	if _, name, found := strings.Cut(err.Error(), "unknown flag: --"); found {
		if near := nearestFlag(cmd, name); near != "" {
			return fmt.Errorf("%w, did you mean --%s?", err, near)
		}
	}
	return fmt.Errorf("%w (`%s --help` lists the flags)", err, cmd.CommandPath())
}

// wanted says what a flag takes; flags of this program's own say so themselves.
func wanted(value *pflag.InvalidValueError) string {
	f, cause := value.GetFlag(), value.Unwrap()
	var number *strconv.NumError
	switch {
	case f.Value.Type() == "bool":
		return "want true or false, or nothing"
	case f.Value.Type() == "duration":
		return "want a time with its unit, such as 500ms or 2s"
	case errors.As(cause, &number):
		return "want " + wantedNumber(f, number.Err)
	}
	return plain.Text(cause)
}

// wantedNumber says what a flag takes that refused a number.
func wantedNumber(f *pflag.Flag, why error) string {
	kind := f.Value.Type()
	switch {
	case strings.HasPrefix(kind, "float"):
		return "a number"
	case strings.HasSuffix(kind, "Slice"):
		return "whole numbers with commas between them, such as 1,2,4"
	case errors.Is(why, strconv.ErrRange) && strings.HasPrefix(kind, "uint"):
		return "a whole number of at most 64 bits"
	case errors.Is(why, strconv.ErrRange):
		return "a whole number of at most 63 bits"
	case strings.HasPrefix(kind, "uint"):
		return "a whole number that is not negative"
	}
	return "a whole number"
}
