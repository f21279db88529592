package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
)

// startRounds is how often each process is measured.
const startRounds = 3

// start is a command line whose whole process is measured.
type start struct {
	name   string
	bursts int
	record string // "": nothing, and no folder
}

// starts are the processes of the suite: the smallest one, with and without its folder, building, and recording.
func starts() []start {
	return []start{
		{"quickstart", 240, ""}, {"quickstart", 240, "spikes=all"}, {"brunel-c", 1, ""}, {"potjans-diesmann-10", 1, ""},
		{"burst-100k", 3000, ""}, {"burst-100k", 3000, "spikes=all"}, {"burst-1m", 300, ""}, {"burst-1m", 300, "spikes=all"},
	}
}

// startResult is one process of the suite: of its rounds the one with the median time.
type startResult struct {
	Command []string `json:"command"` // its arguments
	Rounds  int      `json:"rounds"`
	Total   float64  `json:"total_s"` // from the start of the process to its end
	CPU     float64  `json:"cpu_s"`   // of all its threads
	phases
	Bursts uint64 `json:"bursts"`
	Spikes uint64 `json:"spikes"`
	Digest string `json:"digest"`
}

// starting runs the suite.
func (o *benchOptions) starting(cmd *cobra.Command, names []string) error {
	chosen := starts()
	for _, name := range names {
		if !slices.ContainsFunc(chosen, func(s start) bool { return s.name == name }) {
			var all []string
			for _, s := range chosen {
				all = append(all, s.name)
			}
			return usageError{fmt.Errorf("network %q, want one of %s", name, strings.Join(slices.Compact(all), ", "))}
		}
	}
	results := []startResult{}
	rows := [][]string{{"run", "total (s)", "processor (s)", "read", "plan", "build", "upload", "open", "run", "wait", "write", "draw", "spikes", "digest"}}
	for _, s := range chosen {
		if len(names) > 0 && !slices.Contains(names, s.name) {
			continue
		}
		for _, threads := range o.threads {
			r, err := o.whole(cmd, s, threads)
			if err != nil {
				return err
			}
			results = append(results, r)
			fmt.Fprintf(cmd.ErrOrStderr(), "%s: %.3f s\n", strings.Join(r.Command, " "), r.Total)
			rows = append(rows, startRow(&r))
		}
	}
	if o.json {
		return printJSON(cmd, results)
	}
	return table(cmd.OutOrStdout(), rows)
}

func startRow(r *startResult) []string {
	row := []string{strings.Join(r.Command, " ")}
	for _, x := range []float64{r.Total, r.CPU, r.Read, r.Plan, r.Build, r.Upload, r.Open, r.Run, r.Wait, r.Write, r.Draw} {
		row = append(row, fmt.Sprintf("%.3f", x))
	}
	return append(row, count(r.Spikes), r.Digest)
}

// whole measures one process.
func (o *benchOptions) whole(cmd *cobra.Command, s start, threads int) (startResult, error) {
	bursts := cmp.Or(o.bursts, s.bursts)
	args := []string{"run", s.name, "--bursts", strconv.Itoa(bursts), "--backend", o.backend, "--threads", strconv.Itoa(threads)}
	if o.backend == "cuda" {
		args = append(args, o.gpus.arguments()...)
	}
	if s.record != "" {
		args = append(args, "--record", s.record)
	}
	dir, err := os.MkdirTemp("", "burst-start-")
	if err != nil {
		return startResult{}, err
	}
	defer os.RemoveAll(dir)
	var rounds []startResult
	for i := range startRounds {
		out := filepath.Join(dir, strconv.Itoa(i))
		where := []string{"--no-out"}
		if s.record != "" {
			where = []string{"--out", out}
		}
		r, err := timed(cmd, append(slices.Clone(args), where...))
		if err != nil {
			return startResult{}, err
		}
		r.Command, r.Rounds = args, startRounds
		rounds = append(rounds, r)
		if err := os.RemoveAll(out); err != nil {
			return startResult{}, err
		}
	}
	slices.SortFunc(rounds, func(a, b startResult) int { return cmp.Compare(a.Total, b.Total) })
	return rounds[len(rounds)/2], nil
}

// timed runs this program to its end.
func timed(cmd *cobra.Command, args []string) (startResult, error) {
	self, err := os.Executable()
	if err != nil {
		return startResult{}, err
	}
	c := exec.CommandContext(cmd.Context(), self, append(args, "--json")...)
	var said strings.Builder
	c.Stderr = &said
	begun := time.Now()
	out, err := c.Output()
	total := time.Since(begun)
	if err != nil {
		return startResult{}, fmt.Errorf("burst %s: %w\n%s", strings.Join(args, " "), err, said.String())
	}
	var res result
	if err := json.Unmarshal(out, &res); err != nil {
		return startResult{}, fmt.Errorf("burst %s: %w", strings.Join(args, " "), err)
	}
	return startResult{
		Total: total.Seconds(), CPU: (c.ProcessState.UserTime() + c.ProcessState.SystemTime()).Seconds(), phases: res.phases,
		Bursts: res.Bursts, Spikes: res.Spikes, Digest: res.Digest,
	}, nil
}
