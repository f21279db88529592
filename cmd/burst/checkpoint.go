package main

import (
	"encoding/hex"
	"errors"
	"fmt"

	"burst/checkpoint"
	"burst/engine"
	"burst/internal/plain"

	"github.com/spf13/cobra"
)

func newCheckpointCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "checkpoint",
		Short: "Show and check checkpoints",
		Args:  usage(cobra.NoArgs),
		RunE:  func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	var asJSON bool
	inspect := &cobra.Command{
		Use:   "inspect FILE",
		Short: "Check a checkpoint and show what it holds",
		Args:  usage(cobra.ExactArgs(1)),
		RunE:  func(cmd *cobra.Command, args []string) error { return inspectCheckpoint(cmd, args[0], asJSON) },
	}
	inspect.Flags().BoolVar(&asJSON, "json", false, "print it as JSON")
	verify := &cobra.Command{
		Use:   "verify FILE...",
		Short: "Check checkpoints; a damaged one gives status 7 and the name of its damaged section",
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
	MaxDelay   int           `json:"max_delay"` // bursts of fire queues: as far back as delays, rules of plasticity and memory areas look
	Queued     uint64        `json:"queued"`    // spikes in them, of 4 bytes each
	Digest     string        `json:"digest"`
	State      string        `json:"state"`                   // its hash
	Plastic    []learnt      `json:"plastic,omitempty"`       // projections whose weights change, in the genome's order
	Weights    string        `json:"weight_digest,omitempty"` // of all of them
	Memory     []keptFacts   `json:"memory,omitempty"`        // memory areas, in the genome's order
	Connectome string        `json:"connectome"`
	Genome     string        `json:"genome_sha256"`
	Seed       uint64        `json:"seed"`
	RunSeed    uint64        `json:"run_seed"`
	Version    string        `json:"version"`
	Format     int           `json:"format"`
	Recordings []recordingAt `json:"recordings"`
}

// learnt is a projection whose weights change.
type learnt struct {
	Synapses  uint64  `json:"synapses"`
	Variables int     `json:"variables"` // of a synapse, beside the weight
	Sources   int     `json:"sources"`
	Targets   int     `json:"targets"`
	Least     float32 `json:"least_weight"` // 0 without synapses
	Mean      float64 `json:"mean_weight"`
	Most      float32 `json:"largest_weight"`
}

func newLearnt(p *engine.Plastic) learnt {
	v := learnt{Synapses: uint64(len(p.Weight)), Variables: len(p.Synapse), Sources: len(p.PreLast), Targets: len(p.PostLast)}
	if v.Synapses == 0 {
		return v
	}
	v.Least, v.Most = p.Weight[0], p.Weight[0]
	for _, w := range p.Weight {
		v.Least, v.Most = min(v.Least, w), max(v.Most, w)
		v.Mean += float64(w)
	}
	v.Mean /= float64(v.Synapses)
	return v
}

// keptFacts is a memory area.
type keptFacts struct {
	Neurons  int    `json:"neurons"`
	Patterns int    `json:"patterns"`  // that it keeps
	LongTerm int    `json:"long_term"` // of these, for good
	Lost     uint64 `json:"lost"`      // bursts with a new pattern for which no neuron was free
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
		Burst: s.Number, Neurons: len(s.V), Variables: len(s.More), MaxDelay: len(s.Queues), Queued: s.Queued(), Digest: fmt.Sprintf("%016x", s.Digest), State: fmt.Sprintf("%016x", s.Hash()),
		Connectome: fmt.Sprintf("%016x", c.Connectome), Genome: hex.EncodeToString(c.Genome[:]), Seed: c.Seed, RunSeed: c.RunSeed, Version: c.Version,
		Format: int(c.Format()), Recordings: []recordingAt{},
	}
	for i := range s.Plastic {
		v.Plastic = append(v.Plastic, newLearnt(&s.Plastic[i]))
	}
	for i := range s.Memory {
		m := keptFacts{Neurons: len(s.Memory[i].Pattern), Lost: s.Memory[i].Lost}
		m.Patterns, m.LongTerm = s.Memory[i].Kept()
		v.Memory = append(v.Memory, m)
	}
	if v.Plastic != nil {
		v.Weights = fmt.Sprintf("%016x", s.WeightDigest())
	}
	for _, r := range c.Recordings {
		v.Recordings = append(v.Recordings, recordingAt{r.Table, r.Rows, r.Bytes, r.Burst})
	}
	if asJSON {
		return printJSON(cmd, v)
	}
	reach := "longest delay"
	if v.Plastic != nil || v.Memory != nil {
		reach = "fire queues of"
	}
	lines := []string{
		"next burst", count(v.Burst), "neurons", count(uint64(v.Neurons)), "further variables", fmt.Sprint(v.Variables), reach, fmt.Sprintf("%d bursts", v.MaxDelay), "queued spikes", fmt.Sprintf("%s, %s", count(v.Queued), plain.Bytes(engine.QueueBytes(v.MaxDelay, v.Queued))),
		"digest", v.Digest, "state", v.State, "connectome", v.Connectome, "genome SHA-256", v.Genome,
		"seeds", fmt.Sprintf("%d, run seed %d", v.Seed, v.RunSeed), "saved by", "burst " + v.Version,
	}
	if v.Plastic != nil {
		lines = append(lines, "weights", v.Weights)
	}
	for i, p := range v.Plastic {
		lines = append(lines, fmt.Sprintf("plastic %d", i), fmt.Sprintf("%s synapses from %s neurons onto %s, weights %.4g … %.4g, mean %.4g",
			count(p.Synapses), count(uint64(p.Sources)), count(uint64(p.Targets)), p.Least, p.Most, p.Mean))
	}
	for i, m := range v.Memory {
		lines = append(lines, fmt.Sprintf("memory %d", i), fmt.Sprintf("%s patterns in %s neurons, %s of them long-term, %s lost",
			count(uint64(m.Patterns)), count(uint64(m.Neurons)), count(uint64(m.LongTerm)), count(m.Lost)))
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
