package main

import (
	"errors"
	"fmt"

	"burst/backend"
	"burst/connectome"
	"burst/engine"
	"burst/genome"

	"github.com/spf13/cobra"
)

// verifyOptions are the flags of `burst verify`.
type verifyOptions struct {
	seeds
	backends []string
	bursts   uint64
	threads  []int
	parts    []int
	gpus
	every uint64
	json  bool
}

func newVerifyCommand() *cobra.Command {
	var o verifyOptions
	cmd := &cobra.Command{
		Use:   "verify GENOME --backends a,b",
		Short: "Run backends side by side and show the first difference",
		Long: "Runs the first backend beside each of the others, and the cpu backend with each number of threads. Compares fire\n" +
			"candidate lists and fire queues in every burst and the whole state now and then. Ends with status 8 if they differ.",
		Example:           "  burst verify quickstart --backends reference,cpu --threads 1,2,3,8\n  burst verify quickstart --parts 1,2,5",
		Args:              genomeArgument,
		ValidArgsFunction: completeGenome,
		RunE:              func(cmd *cobra.Command, args []string) error { return o.run(cmd, args[0]) },
	}
	f := cmd.Flags()
	f.StringSliceVar(&o.backends, "backends", []string{"reference", "cpu"}, "the first is compared with each of the others")
	f.Uint64Var(&o.bursts, "bursts", 0, fmt.Sprintf("how many bursts to run (default: the genome's, else %d)", defaultBursts))
	f.IntSliceVar(&o.threads, "threads", []int{0}, "numbers of threads of the cpu backend; 0 is all processors")
	o.gpus.flags(cmd)
	f.IntSliceVar(&o.parts, "parts", []int{1}, "numbers of parts that the cpu backend splits the network into; 1 is the whole")
	f.Uint64Var(&o.every, "state-every", 100, "compare the whole state after every so many bursts")
	f.BoolVar(&o.json, "json", false, "print the verdict as JSON")
	register(cmd, "backends", cobra.FixedCompletions(backend.Names(), cobra.ShellCompDirectiveNoFileComp))
	o.seeds.flags(cmd)
	return cmd
}

// verification is what `burst verify --json` prints.
type verification struct {
	Genome     string      `json:"genome"`
	Equal      bool        `json:"equal"`
	Bursts     uint64      `json:"bursts"`
	Digest     string      `json:"digest,omitempty"`        // of the fire queues, when equal
	Weights    string      `json:"weight_digest,omitempty"` // likewise, of a network whose weights change
	Spikes     uint64      `json:"spikes"`
	Compared   []string    `json:"compared"`
	Difference *difference `json:"first_difference"`
}

// difference is an engine.Difference with the area named.
type difference struct {
	Burst  uint64 `json:"burst"`
	Neuron uint32 `json:"neuron"`
	Area   string `json:"area"`
	Index  uint32 `json:"index"` // of the neuron in its area
	Field  string `json:"field"`
	A      string `json:"a"`
	B      string `json:"b"`
	Names  string `json:"backends"`
}

// contender is one side of a comparison.
type contender struct {
	name    string
	threads int
	parts   int // of the cpu backend
}

func (c contender) String() string {
	if c.threads > 0 {
		c.name = fmt.Sprintf("%s with %d threads", c.name, c.threads)
	}
	if c.parts > 1 {
		c.name = fmt.Sprintf("%s in %d parts", c.name, c.parts)
	}
	return c.name
}

func (o *verifyOptions) run(cmd *cobra.Command, arg string) error {
	sides, err := o.contenders()
	if err := errors.Join(err, o.gpus.check("backends", o.backends...)); err != nil {
		return err
	}
	g, err := loadGenome(cmd, arg)
	if err != nil {
		return err
	}
	o.seeds.apply(cmd, g)
	n, err := (&runOptions{bursts: o.bursts}).length(g)
	if err != nil {
		return err
	}
	c, err := build(g, 0, 0, newProgress(cmd.ErrOrStderr(), o.json))
	if err != nil {
		return err
	}
	v := verification{Genome: g.Name, Equal: true, Bursts: n, Compared: []string{}}
	for _, s := range sides[1:] {
		pair := fmt.Sprintf("%v and %v", sides[0], s)
		v.Compared = append(v.Compared, pair)
		d, end, err := o.compare(g, c, sides[0], s, n)
		if err != nil {
			return err
		}
		if d != nil {
			d.Locate(c)
			a := &c.Areas[c.AreaOf(d.Neuron)]
			v.Equal, v.Digest, v.Weights = false, "", ""
			v.Difference = &difference{Burst: d.Burst, Neuron: d.Neuron, Area: a.Name, Index: d.Neuron - a.Neurons.First, Field: d.Field, A: d.A, B: d.B, Names: pair}
			break
		}
		v.Digest, v.Weights, v.Spikes = end.Digest, end.Weights, end.Spikes
	}
	return v.print(cmd, o.json)
}

// contenders lists the sides; the cpu backend stands once for each number of threads.
func (o *verifyOptions) contenders() ([]contender, error) {
	var list []contender
	for _, name := range o.backends {
		if err := checkBackend(name); err != nil {
			return nil, err
		}
		if name != "cpu" {
			list = append(list, contender{name: name})
			continue
		}
		for _, t := range o.threads {
			for _, parts := range o.parts {
				list = append(list, contender{name, t, parts})
			}
		}
	}
	if len(list) < 2 {
		return nil, usageError{fmt.Errorf("nothing to compare %v with; name two backends or several numbers of threads or parts", o.backends)}
	}
	return list, nil
}

// compare runs two sides. Of a verification digests and spikes are filled in, those of the second.
func (o *verifyOptions) compare(g *genome.Genome, c *connectome.Connectome, first, second contender, n uint64) (*engine.Difference, *verification, error) {
	open := func(s contender) (engine.Backend, error) {
		parts, devices, err := o.gpus.chosen().Parts(g, s.name, connectome.Options{})
		if err != nil {
			return nil, err
		}
		options := backend.Options{Threads: s.threads, Devices: devices, Parts: s.parts, Want: engine.Want{FCL: true}}
		if parts == nil {
			return backend.Open(s.name, c, options)
		}
		b, _, err := backend.OpenParts(parts, options)
		return b, err
	}
	a, err := open(first)
	if err != nil {
		return nil, nil, err
	}
	defer a.Close()
	b, err := open(second)
	if err != nil {
		return nil, nil, err
	}
	defer b.Close()
	digest := engine.NewDigest(b)
	d, err := engine.Compare(a, digest, n, engine.NewFeed(c, nil).Next, o.every)
	end := &verification{Digest: fmt.Sprintf("%016x", digest.Sum()), Spikes: digest.Spikes()}
	if err != nil || len(c.Plastic) == 0 {
		return d, end, err
	}
	var s engine.State
	err = b.ReadState(&s)
	end.Weights = fmt.Sprintf("%016x", s.WeightDigest())
	return d, end, err
}

// print writes the verdict; a difference is an assertionError.
func (v *verification) print(cmd *cobra.Command, asJSON bool) error {
	if asJSON {
		if err := printJSON(cmd, v); err != nil {
			return err
		}
	}
	if d := v.Difference; d != nil {
		err := fmt.Errorf("%s: %s differ first in burst %d at neuron %d of area %q (id %d): %s is %s in one and %s in the other",
			v.Genome, d.Names, d.Burst, d.Index, d.Area, d.Neuron, d.Field, d.A, d.B)
		return assertionError{err}
	}
	if asJSON {
		return nil
	}
	w := cmd.OutOrStdout()
	for _, pair := range v.Compared {
		fmt.Fprintf(w, "%s: %s are equal over %s bursts\n", v.Genome, pair, count(v.Bursts))
	}
	weights := ""
	if v.Weights != "" {
		weights = ", weights " + v.Weights
	}
	_, err := fmt.Fprintf(w, "%s spikes, digest %s%s\n", count(v.Spikes), v.Digest, weights)
	return err
}
