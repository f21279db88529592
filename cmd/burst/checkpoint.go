package main

import (
	"encoding/hex"
	"errors"
	"fmt"

	"burst/checkpoint"
	"burst/internal/plain"

	"github.com/spf13/cobra"
)

func newCheckpointCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "checkpoint",
		Short: "Look at checkpoints and prove them",
		Args:  usage(cobra.NoArgs),
		RunE:  func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	var asJSON bool
	inspect := &cobra.Command{
		Use:   "inspect FILE",
		Short: "Show what a checkpoint holds, after proving it",
		Args:  usage(cobra.ExactArgs(1)),
		RunE:  func(cmd *cobra.Command, args []string) error { return inspectCheckpoint(cmd, args[0], asJSON) },
	}
	inspect.Flags().BoolVar(&asJSON, "json", false, "print it as JSON")
	verify := &cobra.Command{
		Use:   "verify FILE...",
		Short: "Prove that checkpoints are whole: status 7 and the section where one is not",
		Args:  usage(cobra.MinimumNArgs(1)),
		RunE:  func(cmd *cobra.Command, args []string) error { return verifyCheckpoints(cmd, args, asJSON) },
	}
	verify.Flags().BoolVar(&asJSON, "json", false, "print it as JSON")
	cmd.AddCommand(inspect, verify)
	return cmd
}

// checkpointFacts is what `burst checkpoint inspect --json` prints.
type checkpointFacts struct {
	Burst      uint64        `json:"burst"` // the next one
	Neurons    int           `json:"neurons"`
	Variables  int           `json:"variables"` // beside V
	MaxDelay   int           `json:"max_delay"`
	Digest     string        `json:"digest"`
	State      string        `json:"state"` // its hash
	Connectome string        `json:"connectome"`
	Genome     string        `json:"genome_sha256"`
	Seed       uint64        `json:"seed"`
	RunSeed    uint64        `json:"run_seed"`
	Version    string        `json:"version"`
	Format     int           `json:"format"`
	Recordings []recordingAt `json:"recordings"`
}

// recordingAt is how far a recording was.
type recordingAt struct {
	Table string `json:"table"`
	Rows  uint64 `json:"rows"`
	Bytes int64  `json:"bytes"` // of the stream
	Burst uint64 `json:"burst"` // of the last row
}

func inspectCheckpoint(cmd *cobra.Command, path string, asJSON bool) error {
	c, err := checkpoint.Read(diskOf(cmd.Context()), path)
	if err != nil {
		return err
	}
	s := &c.State
	v := checkpointFacts{
		Burst: s.Number, Neurons: len(s.V), Variables: len(s.More), MaxDelay: len(s.Queues), Digest: fmt.Sprintf("%016x", s.Digest), State: fmt.Sprintf("%016x", s.Hash()),
		Connectome: fmt.Sprintf("%016x", c.Connectome), Genome: hex.EncodeToString(c.Genome[:]), Seed: c.Seed, RunSeed: c.RunSeed, Version: c.Version,
		Format: checkpoint.Format, Recordings: []recordingAt{},
	}
	for _, r := range c.Recordings {
		v.Recordings = append(v.Recordings, recordingAt{r.Table, r.Rows, r.Bytes, r.Burst})
	}
	if asJSON {
		return printJSON(cmd, v)
	}
	lines := []string{
		"next burst", count(v.Burst), "neurons", count(uint64(v.Neurons)), "further variables", fmt.Sprint(v.Variables), "longest delay", fmt.Sprintf("%d bursts", v.MaxDelay),
		"digest", v.Digest, "state", v.State, "connectome", v.Connectome, "genome SHA-256", v.Genome,
		"seeds", fmt.Sprintf("%d, run seed %d", v.Seed, v.RunSeed), "saved by", "burst " + v.Version,
	}
	for _, r := range v.Recordings {
		lines = append(lines, r.Table, fmt.Sprintf("%s rows, %s bytes", count(r.Rows), count(uint64(r.Bytes))))
	}
	return pairs(cmd.OutOrStdout(), lines...)
}

// proved is what `burst checkpoint verify --json` says of a file.
type proved struct {
	Path  string `json:"path"`
	Whole bool   `json:"whole"`
	Burst uint64 `json:"burst"`           // the next one
	Cause string `json:"cause,omitempty"` // why it is not whole
}

// verifyCheckpoints looks at all files; its error tells of those that are not whole.
func verifyCheckpoints(cmd *cobra.Command, paths []string, asJSON bool) error {
	list, faults := make([]proved, len(paths)), make([]error, len(paths))
	for i, path := range paths {
		list[i].Path = path
		c, err := checkpoint.Read(diskOf(cmd.Context()), path)
		if faults[i] = err; err != nil {
			list[i].Cause = plain.Text(err)
			continue
		}
		list[i].Whole, list[i].Burst = true, c.State.Number
		if asJSON {
			continue
		}
		if _, err := fmt.Fprintf(cmd.OutOrStdout(), "%s: whole, next burst %d\n", path, c.State.Number); err != nil {
			return err
		}
	}
	if asJSON {
		faults = append(faults, printJSON(cmd, list))
	}
	return errors.Join(faults...)
}
