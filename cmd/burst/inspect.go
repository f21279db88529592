package main

import (
	"bytes"
	"fmt"
	"io"
	"path/filepath"

	"burst/connectome"
	"burst/engine"
	"burst/genome"
	"burst/genome/brainmap"
	"burst/internal/plain"
	"burst/internal/quanta"
	"burst/record/manifest"
	"burst/run"

	"github.com/spf13/cobra"
)

// inspection is what `burst inspect --json` prints.
type inspection struct {
	Genome   string        `json:"genome"`
	Neurons  uint64        `json:"neurons"`
	Synapses uint64        `json:"synapses"`         // after merging
	ByRule   uint64        `json:"synapses_by_rule"` // before
	Plastic  uint64        `json:"plastic_synapses"` // of synapses: those whose weights change
	Learning []learning    `json:"learning,omitempty"`
	Rooms    []inspectRoom `json:"rooms,omitempty"` // of projections with overflow: fail
	MaxDelay int           `json:"max_delay"`       // bursts
	Areas    []inspectArea `json:"areas"`
	Sensors  []sensor      `json:"sensors"` // areas of group ipu that take input
	Bytes    inspectBytes  `json:"bytes"`
	Built    run.Builder   `json:"built"`           // who builds the network for a GPU, under run's default --build auto; for other backends the host does
	Cost     *cost         `json:"cost,omitempty"`  // with --cost
	Parts    []inspectPart `json:"parts,omitempty"` // with --parts

	queues int    // bursts that a state has fire queues of
	usual  uint64 // as Bytes.Queues, where neurons fire ten times a second
}

// learning is a projection whose weights change.
type learning struct {
	Projection int     `json:"projection"` // its place in the genome
	From       string  `json:"from"`
	To         string  `json:"to"`
	Rule       string  `json:"rule"`
	Low        float64 `json:"low"` // bounds of the weights
	High       float64 `json:"high"`
	Synapses   uint64  `json:"synapses"`
	Learnt     uint64  `json:"learnt"` // bytes of what the state holds of it
}

// learnings are those of a genome.
func learnings(g *genome.Genome, s *connectome.Sizes) (list []learning) {
	for _, x := range s.Learning {
		p := &g.Projections[x.Projection]
		list = append(list, learning{x.Projection, g.Areas[p.From].Name, g.Areas[p.To].Name, p.Learning.Rule.Name, p.Learning.Lo, p.Learning.Hi, x.Synapses, x.Learnt})
	}
	return list
}

// inspectOptions are the flags of `burst inspect`.
type inspectOptions struct {
	threads int
	gpus
	parts  int
	cost   bool
	bursts uint64
	svg    string
	json   bool
}

// inspectRoom is how far the weights of a projection may go before the run ends.
type inspectRoom struct {
	Projection int     `json:"projection"` // in the genome, from 0
	From       string  `json:"from"`
	To         string  `json:"to"`
	Lo         float32 `json:"low"`
	Hi         float32 `json:"high"`
	Cut        bool    `json:"cut"` // there is no room for the genome's own bounds
}

// rooms are those of a network.
func rooms(g *genome.Genome, s *connectome.Sizes) (list []inspectRoom) {
	for _, r := range s.Rooms {
		p := &g.Projections[r.Projection]
		list = append(list, inspectRoom{r.Projection, g.Areas[p.From].Name, g.Areas[p.To].Name, r.Lo, r.Hi, r.Cut})
	}
	return list
}

// roomLines tell rooms in words; successive projections of a pair of areas with the same room share a line.
func roomLines(rooms []inspectRoom) (list []string) {
	for i := 0; i < len(rooms); {
		r, last := rooms[i], rooms[i]
		for i++; i < len(rooms); i++ {
			next := rooms[i]
			if next.Projection -= last.Projection - r.Projection + 1; next != r {
				break
			}
			last = rooms[i]
		}
		which := fmt.Sprintf("projections[%d]", r.Projection)
		if last != r {
			which += fmt.Sprintf(" to [%d]", last.Projection)
		}
		what := "weights stay within %g…%g"
		if r.Cut {
			what = "weights within %g…%g; one that passes them ends the run"
		}
		list = append(list, fmt.Sprintf("%s, %s to %s: "+what, which, r.From, r.To, r.Lo, r.Hi))
	}
	return list
}

type inspectArea struct {
	Name        string          `json:"name"`
	Aliases     []string        `json:"aliases"`
	Reached     bool            `json:"reached"` // input, or a source of its own, reaches it as the genome stands
	Group       string          `json:"group"`   // "" when it has none
	Devices     uint64          `json:"devices"` // 0 when the genome does not say
	Model       string          `json:"model"`
	Size        [3]uint64       `json:"size"`
	PerVoxel    uint64          `json:"neurons_per_voxel"`
	Space       *manifest.Space `json:"space,omitempty"`   // positions of the neurons
	PSPMax      float64         `json:"psp_max,omitempty"` // above 0: potentials up to this drive what its spikes deliver
	Ports       []inspectPort   `json:"ports"`             // what its neurons receive through; none of sources
	Neurons     uint64          `json:"neurons"`
	InSynapses  uint64          `json:"in_synapses"`
	OutSynapses uint64          `json:"out_synapses"`
}

// sensor is an area that gets its input from outside of the network.
type sensor struct {
	Area     string    `json:"area"`
	Voxels   [3]uint64 `json:"voxels"`
	Stimulus string    `json:"stimulus"` // what makes all of it fire, for burst run --stimulate
}

// inspectBytes is the memory a network takes.
type inspectBytes struct {
	Host   uint64 `json:"host"`   // connectome and the reference's state; the cpu backend copies synapses, which --cost adds
	Device uint64 `json:"device"` // the same arrays on a GPU, without its output buffers and the events that synapses wait for
	Learnt uint64 `json:"learnt"` // of host: what the state holds of projections whose weights change
	Kept   uint64 `json:"kept"`   // of host: what memory areas keep
	Peak   uint64 `json:"peak"`   // on the host while building
	Queues uint64 `json:"queues"` // of each copy of the state: fire queues as far back as delays, plasticity and memory areas look, if all neurons fire in all bursts
}

func newInspectCommand() *cobra.Command {
	var o inspectOptions
	cmd := &cobra.Command{
		Use:   "inspect GENOME",
		Short: "Show areas, neurons, synapses and memory, without building",
		Long: "Computes the size of the network, also of one that this machine cannot build, up to 1 TiB. With --cost it builds the\n" +
			"network and runs its first bursts on each backend of this machine, for about a second each, to estimate memory and time\n" +
			"of the whole run. With --parts N it shows what each of N processes would hold; --cost then builds one part after the\n" +
			"other, and never the whole.",
		Example:           "  burst inspect brunel-c\n  burst inspect brunel-c --cost --bursts 100000",
		Args:              genomeArgument,
		ValidArgsFunction: completeGenome,
		RunE:              func(cmd *cobra.Command, args []string) error { return o.run(cmd, args[0]) },
	}
	f := cmd.Flags()
	f.BoolVar(&o.json, "json", false, "print the sizes as JSON")
	f.IntVar(&o.threads, "threads", 0, "threads to count, build and run with (default: all processors)")
	o.gpus.flags(cmd)
	f.BoolVar(&o.cost, "cost", false, "build the network and run its first bursts to estimate memory and time of a run")
	f.Uint64Var(&o.bursts, "bursts", 0, fmt.Sprintf("with --cost: the length of the run (default: the genome's, else %d)", defaultBursts))
	f.IntVar(&o.parts, "parts", 0, "show what each of this many processes would hold")
	f.StringVar(&o.svg, "map", "", "draw areas and projections into this SVG file, which must not exist")
	return cmd
}

// stateBytes is what the backends keep of a neuron: V, refractory countdown, fire count and the sum of its port.
const stateBytes = 4 + 2 + 2 + 4

// run prints what Measure finds.
func (o *inspectOptions) run(cmd *cobra.Command, arg string) error {
	if err := o.gpus.check("cost", "cuda"); err != nil {
		return err
	}
	if end := filepath.Ext(o.svg); o.svg != "" && end != ".svg" {
		return usageError{fmt.Errorf("--map %s ends with %q, want .svg", o.svg, end)}
	}
	g, err := loadGenome(cmd, arg)
	if err != nil {
		return err
	}
	p := newProgress(cmd.ErrOrStderr(), false)
	p.phase("counting synapses")
	s, err := connectome.Measure(g, connectome.Options{Threads: o.threads})
	p.phase("")
	if err != nil {
		return err
	}
	v := inspection{
		Genome: g.Name, Neurons: s.Neurons, Synapses: s.Synapses, ByRule: s.ByRule, Plastic: s.Plastic, Learning: learnings(g, s), MaxDelay: s.MaxDelay, Areas: []inspectArea{}, Sensors: sensors(g),
		Built: run.BuiltBy(&s.Outlook),
		Bytes: inspectBytes{Host: s.Bytes + s.Learnt + stateBytes*s.Neurons, Device: s.Bytes + s.Learnt + stateBytes*s.Neurons, Learnt: s.Learnt, Peak: s.Peak},
	}
	v.Bytes.Kept = kept(g)
	v.Bytes.Queues = engine.QueueBytes(s.Queues, s.Neurons*uint64(s.Queues))
	v.queues, v.usual = s.Queues, engine.QueueBytes(s.Queues, uint64(float64(s.Neurons)*float64(s.Queues)*g.Timestep/100))
	v.Bytes.Host += v.Bytes.Kept
	v.Rooms = rooms(g, s)
	reached := g.Reached()
	for i, a := range s.Areas {
		area := &g.Areas[i]
		v.Areas = append(v.Areas, inspectArea{
			Name: a.Name, Aliases: append([]string{}, area.Aliases...), Reached: reached[i], Group: area.Group, Devices: area.Devices, Model: area.Model.Name, Size: area.Size, PerVoxel: area.PerVoxel, Space: boxOf(area.Space), PSPMax: area.PSPMax, Ports: portsOf(area.Model),
			Neurons: a.Neurons, InSynapses: a.InSynapses, OutSynapses: a.OutSynapses,
		})
	}
	if o.svg != "" {
		var b bytes.Buffer
		if err := brainmap.Draw(&b, g); err != nil {
			return err
		}
		if err := writeNew(o.svg, b.Bytes()); err != nil {
			return err
		}
		fmt.Fprintf(cmd.ErrOrStderr(), "wrote %s\n", o.svg)
	}
	if o.parts > 0 {
		if v.Parts, err = o.inspectParts(cmd, g); err != nil {
			return err
		}
	} else if o.cost {
		bursts, err := (&runOptions{bursts: o.bursts}).length(g)
		if err != nil {
			return err
		}
		if v.Cost, err = estimate(cmd, g, bursts, o.threads, &o.gpus); err != nil {
			return err
		}
	}
	if o.json {
		return printJSON(cmd, v)
	}
	if err := v.print(cmd); err != nil {
		return err
	}
	switch {
	case v.Parts != nil:
		return printParts(cmd, v.Parts)
	case v.Cost != nil:
		return v.Cost.print(cmd)
	}
	return nil
}

// kept is the size of what memory areas keep.
func kept(g *genome.Genome) (bytes uint64) {
	for i := range g.Areas {
		if a := &g.Areas[i]; a.Model.Has("upstream") {
			bytes += engine.MemoryBytesEach * a.Neurons()
		}
	}
	return bytes
}

// print writes the sizes for people.
func (v *inspection) print(cmd *cobra.Command) error {
	w := cmd.OutOrStdout()
	rows := [][]string{{"area", "group", "model", "size", "neurons", "in synapses", "out synapses"}}
	for _, a := range v.Areas {
		size := fmt.Sprintf("%d × %d × %d", a.Size[0], a.Size[1], a.Size[2])
		if a.PerVoxel != 1 {
			size += fmt.Sprintf(" × %d", a.PerVoxel)
		}
		rows = append(rows, []string{a.Name, a.Group, a.Model, size, count(a.Neurons), count(a.InSynapses), count(a.OutSynapses)})
	}
	rows = append(rows, []string{"all", "", "", "", count(v.Neurons), count(v.Synapses), count(v.Synapses)})
	if err := table(w, rows); err != nil {
		return err
	}
	fmt.Fprintln(w)
	if err := v.printSensors(w); err != nil {
		return err
	}
	if err := v.printLearning(w); err != nil {
		return err
	}
	var facts []string
	if v.ByRule != v.Synapses {
		facts = append(facts, "merged", fmt.Sprintf("%s synapses of the rules into %s", count(v.ByRule), count(v.Synapses)))
	}
	if v.Plastic > 0 {
		facts = append(facts, "plastic", fmt.Sprintf("%s of the synapses, whose state takes %s", count(v.Plastic), plain.Bytes(v.Bytes.Learnt)))
	}
	if v.Bytes.Kept > 0 {
		facts = append(facts, "memory areas", "keep "+plain.Bytes(v.Bytes.Kept)+" on the host")
	}
	for i := range v.Areas {
		if a := &v.Areas[i]; a.Space != nil {
			facts = append(facts, "space", a.Name+": "+spaceText(a.Space))
		}
	}
	for i := range v.Areas {
		if a := &v.Areas[i]; a.PSPMax > 0 {
			facts = append(facts, "psp_max", fmt.Sprintf("%s: potentials up to %g drive what its spikes deliver", a.Name, a.PSPMax))
		}
	}
	facts = append(facts, v.portFacts()...)
	for _, room := range roomLines(v.Rooms) {
		facts = append(facts, "room", room)
	}
	if v.queues > quanta.MaxApart {
		facts = append(facts, "fire queues", fmt.Sprintf("%d bursts, 4 bytes a spike: %s at 10 Hz, at most %s, in each copy of the state", v.queues, plain.Bytes(v.usual), plain.Bytes(v.Bytes.Queues)))
	}
	facts = append(facts,
		"longest delay", fmt.Sprintf("%d bursts", v.MaxDelay),
		"memory", fmt.Sprintf("%s on the host, %s on a GPU; %s while building (--cost measures each backend)", plain.Bytes(v.Bytes.Host), plain.Bytes(v.Bytes.Device), plain.Bytes(v.Bytes.Peak)))
	by := "by the host, also for a GPU: "
	if v.Built.Where == "device" {
		by = "by the host for the CPU, by the GPU for a GPU: "
	}
	facts = append(facts, "built", by+v.Built.Why+" (--build auto)")
	if has := connectome.AvailableMemory(); v.Bytes.Peak > has {
		facts = append(facts, "", fmt.Sprintf("this machine has %s available, too little to build it; --parts N shows what each of N processes would take", plain.Bytes(has)))
	}
	return pairs(w, facts...)
}

// boxOf is where an area lies, without the places of its neurons.
func boxOf(s *genome.Space) *manifest.Space {
	box := manifest.SpaceOf(s)
	if box != nil {
		box.Each = nil
	}
	return box
}

// spaceText is where an area lies.
func spaceText(s *manifest.Space) string {
	text := fmt.Sprintf("%g × %g × %g um", s.Extent[0], s.Extent[1], s.Extent[2])
	if s.Center != [3]float64{} {
		text += fmt.Sprintf(" around (%.15g, %.15g, %.15g) um", s.Center[0], s.Center[1], s.Center[2])
	}
	if s.Periodic {
		text += ", periodic"
	}
	return text
}

// printLearning writes the projections whose weights change.
func (v *inspection) printLearning(w io.Writer) error {
	if len(v.Learning) == 0 {
		return nil
	}
	rows := [][]string{{"learns", "rule", "bounds", "synapses", "state"}}
	for _, l := range v.Learning {
		rows = append(rows, []string{fmt.Sprintf("projections[%d], %s to %s", l.Projection, l.From, l.To), l.Rule, fmt.Sprintf("%g … %g", l.Low, l.High), count(l.Synapses), plain.Bytes(l.Learnt)})
	}
	if err := table(w, rows); err != nil {
		return err
	}
	_, err := fmt.Fprintln(w)
	return err
}

// sensors are those of a genome; one of a model other than feagi needs an amount that the user knows.
func sensors(g *genome.Genome) []sensor {
	list := []sensor{}
	for _, i := range g.Sensors() {
		a := &g.Areas[i]
		s := sensor{a.Name, a.Size, a.Call() + "=all every 10"}
		if a.Model.Name != genome.Models()[0].Name {
			s.Stimulus += " amount X"
		}
		list = append(list, s)
	}
	return list
}

// printSensors writes which areas input reaches, and how to stimulate the sensors.
func (v *inspection) printSensors(w io.Writer) error {
	if len(v.Sensors) == 0 {
		return nil
	}
	reached := 0
	for i := range v.Areas {
		if v.Areas[i].Reached {
			reached++
		}
	}
	fmt.Fprintf(w, "input reaches %d of %d areas as the genome stands\n\n", reached, len(v.Areas))
	rows := [][]string{{"sensor", "voxels", "makes it fire, with burst run"}}
	for _, s := range v.Sensors {
		rows = append(rows, []string{s.Area, fmt.Sprintf("%d × %d × %d", s.Voxels[0], s.Voxels[1], s.Voxels[2]), "--stimulate " + quoted(s.Stimulus)})
	}
	if err := table(w, rows); err != nil {
		return err
	}
	_, err := fmt.Fprintln(w)
	return err
}
