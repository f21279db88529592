package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"burst/genome"
	"burst/record/runfolder"
	"burst/record/stats"

	"github.com/spf13/cobra"
)

// window are the flags that choose a part of a run.
type window struct {
	first, end  instant
	from, until uint64 // those in bursts
	areas       []string
}

// instant is a burst, or how much simulated time there is before it.
type instant struct {
	burst uint64
	time  time.Duration // 0: burst says it
}

func (m *instant) Set(text string) error {
	if n, err := strconv.ParseUint(text, 10, 64); err == nil {
		*m = instant{burst: n}
		return nil
	}
	d, err := time.ParseDuration(text)
	if err != nil || d < 0 {
		return errors.New("want a burst such as 2000, or simulated time such as 200ms")
	}
	*m = instant{time: d}
	return nil
}

func (m *instant) String() string {
	if m.time != 0 {
		return m.time.String()
	}
	return strconv.FormatUint(m.burst, 10)
}

func (m *instant) Type() string { return "burst or time" }

// bursts is the burst, in a run with that time step.
func (m *instant) bursts(flag string, timestep float64) (uint64, error) {
	if m.time != 0 {
		return wholeBursts(flag, m.time, timestep)
	}
	return m.burst, nil
}

func (w *window) flags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.Var(&w.first, "from", "the first burst to look at, or the simulated time before it, such as 200ms")
	f.Var(&w.end, "until", "the burst after the last one to look at, or the simulated time until there (default, and 0: the run's end)")
	f.StringSliceVar(&w.areas, "areas", nil, "look only at these areas, as in A,B")
	register(cmd, "areas", completeArea)
}

// check returns mistakes in the flags as usage errors, before anything is drawn or counted.
func (w *window) check(f *runfolder.Folder) error {
	if _, err := stats.Select(f.Manifest.Areas, w.areas); err != nil {
		return usageError{fmt.Errorf("--areas: %w", err)}
	}
	var err error
	if w.from, err = w.first.bursts("--from", f.Manifest.Timestep); err != nil {
		return err
	}
	if w.until, err = w.end.bursts("--until", f.Manifest.Timestep); err != nil {
		return err
	}
	_, _, err = stats.Window(f, w.from, w.until)
	if none := (*stats.WindowError)(nil); errors.As(err, &none) {
		return usageError{fmt.Errorf("--from, --until: %w", err)}
	}
	return err
}

// lookInto opens a run folder for reading, and prints which parts of it cannot be checked.
func lookInto(cmd *cobra.Command, dir string) (*runfolder.Folder, error) {
	f, err := openFolder(dir)
	if err != nil {
		return nil, err
	}
	if text := f.Unchecked(); text != "" {
		fmt.Fprintln(cmd.ErrOrStderr(), text)
	}
	return f, nil
}

// openFolder opens a run folder; one that is not there gets the nearest name beside it.
func openFolder(dir string) (*runfolder.Folder, error) {
	f, err := runfolder.Open(dir)
	if err == nil {
		return f, nil
	}
	if _, missing := os.Stat(dir); os.IsNotExist(missing) {
		if near := genome.Nearest(filepath.Base(dir), foldersIn(filepath.Dir(dir))); near != "" {
			return nil, fmt.Errorf("%w; did you mean %q?", err, filepath.Join(filepath.Dir(dir), near))
		}
	}
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
		return nil, fmt.Errorf("%w (%s)", err, wantFolder)
	}
	return nil, err
}

// wantFolder is the end of errors about arguments that should be a run folder.
const wantFolder = "want the folder that `burst run` names at its end, such as runs/quickstart-1"

// foldersIn lists the run folders in a folder.
func foldersIn(dir string) []string {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil
	}
	var names []string
	for _, e := range entries {
		if _, err := os.Stat(filepath.Join(dir, e.Name(), "manifest.json")); err == nil {
			names = append(names, e.Name())
		}
	}
	return names
}

// completeFolder offers run folders, those of runs/ first.
func completeFolder(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	var list []string
	for _, name := range foldersIn("runs") {
		list = append(list, filepath.Join("runs", name))
	}
	return append(list, foldersIn(".")...), cobra.ShellCompDirectiveFilterDirs
}

// completeArea offers the areas of the run folder or genome that the command line names already.
func completeArea(cmd *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	return areasOf(cmd, args), cobra.ShellCompDirectiveNoFileComp
}

// completeRecord offers the tables of --record, then after "TABLE=" the areas of the genome, one after another.
func completeRecord(cmd *cobra.Command, args []string, word string) ([]string, cobra.ShellCompDirective) {
	const more = cobra.ShellCompDirectiveNoSpace | cobra.ShellCompDirectiveNoFileComp
	if !strings.Contains(word, "=") {
		var names []string
		for _, name := range runfolder.Tables() {
			names = append(names, name+"=")
		}
		return names, more
	}
	done := word[:strings.LastIndexAny(word, "=,")+1]
	list := []string{}
	if strings.HasSuffix(done, "=") {
		list = append(list, done+"all", done+"none")
	}
	if strings.HasPrefix(word, "histograms=") {
		return list, more
	}
	for _, name := range areasOf(cmd, args) {
		list = append(list, done+name)
	}
	return list, more
}

// areasOf lists the areas of the first argument; none when it is neither a run folder nor a genome.
func areasOf(cmd *cobra.Command, args []string) []string {
	var names []string
	if len(args) == 0 {
		return nil
	}
	if f, err := runfolder.Open(args[0]); err == nil {
		for _, a := range f.Manifest.Areas {
			names = append(names, a.Name)
		}
		return names
	}
	g, err := loadGenome(cmd, args[0])
	if err != nil {
		return nil
	}
	for i := range g.Areas {
		names = append(names, g.Areas[i].Name)
	}
	return names
}

// completion offers the values of a flag.
type completion = func(cmd *cobra.Command, args []string, word string) ([]string, cobra.ShellCompDirective)

// register adds a completion to a flag, which must exist.
func register(cmd *cobra.Command, flag string, c completion) {
	if err := cmd.RegisterFlagCompletionFunc(flag, c); err != nil {
		panic("BUG: " + err.Error())
	}
}

// folderArgument is the one argument of commands that read a run.
func folderArgument(cmd *cobra.Command, args []string) error {
	if len(args) != 1 {
		return usageError{fmt.Errorf("%d run folders given, want one, such as runs/quickstart-1\nusage: %s", len(args), cmd.UseLine())}
	}
	return nil
}
