// Command science runs published networks and prints docs/validation.md: published value, value of a formula or another
// program, our value, accepted range, pass. It exits 1 when a value lies outside its range.
//
//	go run ./bench/science > docs/validation.md
//	go run ./bench/science -only microcircuit -backend cuda -seconds 10
package main

import (
	"flag"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"
)

// Check compares one number with what others found.
type Check struct {
	Case      string
	Quantity  string
	Published string // number in the publication; empty where it has none
	Computed  string // number of a formula or another program, with its name; empty where there is none
	Ours      float64
	Low, High float64 // accepted range
	Digits    int     // decimals to print
}

// Pass reports whether the value lies in the accepted range.
func (c Check) Pass() bool { return c.Low <= c.Ours && c.Ours <= c.High }

// named is a case with its name.
type named struct {
	name string
	run  func(options) ([]Check, error)
	long bool // takes minutes or gigabytes
}

// cases lists what can be run, in the order of the table.
func cases() []named {
	all := []named{
		{name: "f-i-lif", run: func(o options) ([]Check, error) { return firingCurve(o, "lif") }},
		{name: "f-i-psc", run: func(o options) ([]Check, error) { return firingCurve(o, "lif_psc_exp") }},
		{name: "siegert", run: poissonInput},
		{name: "izhikevich", run: izhikevich2003},
		{name: "cuba", run: vogelsAbbott},
		{name: "coba", run: func(o options) ([]Check, error) {
			return conductances(o, "brette-coba", "Brette 2007, COBA", 2, elsewhere{6, "NEST", [][2]float64{{19.65, 0.89}, {1.66, 0.021}, {19.13, 0.32}, {1.668, 0.024}}})
		}},
		{name: "hodgkin-huxley", run: func(o options) ([]Check, error) {
			return conductances(o, "brette-cobahh", "Brette 2007, COBAHH", 1, elsewhere{8, "NEST", [][2]float64{{44.05, 2.43}, {2.379, 0.044}, {43.21, 1.04}, {2.367, 0.046}}})
		}},
		{name: "working-memory", run: workingMemory},
		{name: "decision", run: decision},
		{name: "gif", run: gifCurve},
		{name: "synchrony", run: synchrony},
		{name: "clusters", run: clusters},
	}
	for _, s := range brunelStates() {
		all = append(all, named{name: s.genome, run: s.checks})
	}
	all = append(all, named{name: "brunel-plane", run: brunelPlane})
	return slices.Concat(all, quickLearning(), slowLearning(), learningNetworks(), []named{{name: "wave", run: wave}, {name: "microcircuit", run: microcircuit, long: true}})
}

// options are the command's.
type options struct {
	backend string
	seconds float64 // of the microcircuit, after 0.5 s
	many    bool    // as many runs of a network with other seeds as docs/validation.md has
}

// runs is how many runs with other seeds there are.
func (o options) runs(few int) int {
	if o.many {
		return 8
	}
	return few
}

func main() {
	o := options{many: true}
	flag.StringVar(&o.backend, "backend", "cpu", "cpu or cuda")
	flag.Float64Var(&o.seconds, "seconds", 2, "length of the microcircuit's run, after 0.5 s that are left out")
	only := flag.String("only", "", "run the cases whose names begin so")
	models := flag.String("models", "", "instead, draw the f-I curve and the potentials of each model that is written as formulas into this folder")
	flag.Parse()
	if err := answer(o, *only, *models); err != nil {
		fmt.Fprintln(os.Stderr, "science:", err)
		os.Exit(1)
	}
}

// answer draws the models where models names a folder, else it runs the cases and prints their table.
func answer(o options, only, models string) error {
	if models != "" {
		return drawModels(o, models)
	}
	checks, err := all(o, only)
	if err != nil {
		return err
	}
	return write(os.Stdout, checks, strings.Join(os.Args[1:], " "), time.Now())
}

// all runs every case whose name begins with only.
func all(o options, only string) ([]Check, error) {
	var checks []Check
	for _, c := range cases() {
		if !strings.HasPrefix(c.name, only) {
			continue
		}
		more, err := c.run(o)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", c.name, err)
		}
		checks = append(checks, more...)
	}
	return checks, nil
}

// write prints the table and fails when a check does.
func write(w io.Writer, checks []Check, arguments string, date time.Time) error {
	fmt.Fprintf(w, "# Published results, and ours\n\nWritten by `%s` on %s. Every row is also a test (`go test ./bench/science -long`).\n\n"+
		"*Published* are numbers of the publication. *Computed elsewhere* are numbers of a formula or of another program, where\n"+
		"the publication has none, or beside them. *Accepted* is the range in which a value must lie.\n\n"+
		"| case | quantity | published | computed elsewhere | burst | accepted | pass |\n| --- | --- | --- | --- | --- | --- | --- |\n",
		strings.TrimSpace("go run ./bench/science "+arguments), date.Format(time.DateOnly))
	failed := 0
	for _, c := range checks {
		verdict := "yes"
		if !c.Pass() {
			verdict = "**no**"
			failed++
		}
		fmt.Fprintf(w, "| %s | %s | %s | %s | %.*f | %.*f … %.*f | %s |\n", c.Case, c.Quantity, c.Published, c.Computed, c.Digits, c.Ours, c.Digits, c.Low, c.Digits, c.High, verdict)
	}
	fmt.Fprint(w, notes)
	if failed > 0 {
		return fmt.Errorf("%d of %d values are outside their tolerance", failed, len(checks))
	}
	return nil
}

const notes = `
## Sources

- **f-I curve**: the closed form f = 1/(t_ref + tau ln(RI/(RI − threshold))), counted in steps of 0.1 ms with an exact
  propagator. C is 250 pF, tau 10 ms, threshold 15 mV above rest. At 1000 pA the exact count is 47.0004 steps, so
  rounding alone decides between 47 and 48.
- **Poisson-driven lif**: A. Siegert, Physical Review 81:617 (1951). tau is 20 ms, threshold 20, reset 10, refractory
  2 ms, events of 0.15 mV; 5 s after 0.2 s, 1,000 neurons for each rate. The formula is for diffusion; with events of
  finite size neurons fire about 1 % less.
- **Izhikevich 2003**: E. Izhikevich, IEEE Transactions on Neural Networks 14:1569 (2003). Computed: 100 runs of the
  paper's script in NumPy, mean and standard deviation. Accepted are two standard deviations of a single run.
- **Vogels-Abbott CUBA**: R. Brette et al., Journal of Computational Neuroscience 23:349 (2007), current-based; 2 s
  after 0.2 s.
- **Brette 2007, COBA, COBAHH**: R. Brette et al., as above, benchmarks 1 and 3; 2 s after 0.2 s. NEST is version 3.10.0
  on networks of the same description (testdata/nest_networks.py), six seeds of COBA, eight of COBAHH. Accepted are
  intervals in which means of as many runs as ours lie by NEST's scatter (Student's t), with 95 % all four of a network
  together.
- **Brunel and Wang 2001**: N. Brunel, X.-J. Wang, Journal of Computational Neuroscience 11:63 (2001), the example
  working-memory; rates of the group that is cued from 1 s to 1.5 s, the four other groups, the rest and inhibitory
  cells, from 0.5 s to 1 s and from 2 s to 3 s. NEST as above, with iaf_bw_2001, eight seeds; accepted as above, all
  eight rates together. For the rate of the other groups after the cue, 32 further seeds of ours, 9 to 40, give 1.95 Hz,
  and NEST's eight give 1.89 Hz, both with a standard error of 0.04 Hz.
- **Wang 2002**: X.-J. Wang, Neuron 36:955 (2002), the cells of working-memory with GABA of 5 ms
  (testdata/decision.yaml): motion with a coherence of 51.2 % from 1 s on, whose rates have no noise of their own; rates
  from 0.5 s to 1 s and from 1.5 s to 2 s. NEST as above, 108 seeds; accepted as above. A wins in every run, but comes
  to its rate later in some, so that many runs are needed to compare: in the motion 232 of ours (seeds 9 to 48, 101 to
  164, 201 to 328) have A at 33.69 and B at 1.71 Hz, 112 of NEST's at 33.84 and 1.67 Hz (p is 0.15 and more by ranks,
  for all four rates). A is below 32 Hz in 17 % of ours and 14 % of NEST's.
- **f-I curve, gif**: NEST as above, gif_psc_exp with the neuron of S. Mensi et al. (2012); 8,000 neurons there and
  here, from 0.5 s to 2 s. Accepted is 0.5 %.
- **Brunel 2000**: N. Brunel, Journal of Computational Neuroscience 8:183 (2000), model A, 12,500 neurons. Rates are
  over all neurons after 0.2 s, CVs of the intervals means over neurons with at least two. The oscillation is the peak
  of the population rate's spectrum (Welch, segments of 0.82 s). State A is fully synchronous. With delays of 15 steps
  burst delivers before the threshold test, as NEST does; 16 steps give Brian2's order. Figure 2 is one sweep over g and
  the external rate (docs/sweeps.md), 0.4 s after 0.2 s, E alone; accepted ratios of Golomb's chi in bins of 2 ms are
  ours.
- **Plasticity, tables**: the formulas of the rules in double precision on given spikes, those of NEST's test of
  stdp_synapse (21 weights), of P. Sjöström et al., Neuron 32:1149 (2001) (60 pairs at 0.1, 10, 20, 40 and 50 Hz, so
  many ms from source to target), and regular trains (u·x at spikes 1 to 10 and in the limit; times in ms). Shown is
  the largest deviation from the table in units of what is accepted, which stands in brackets.
- **NEST's trains**: spikes of NEST's test of stdp_synapse through eight synapses of NEST 3.10 and our rules: 20 weights
  as they are sent.
- **Clopath**: the six trains of NEST's test of clopath_synapse, after C. Clopath et al., Nature Neuroscience 13:344
  (2010), figure 2; all weights that NEST 3.10 sends there. The neuron is written out in the genome, with NEST's lag of
  4 ms. A step is two evaluations here, what NEST's adaptive solver takes there.
- **Plasticity, equilibria**: where potentiation and depression balance while source and target fire independently of
  each other: 100 pairs at 300 Hz for 150 s; vogels: ten neurons under 400 inputs. Accepted are three standard errors.
  Steps see no pairs within a step, which shifts a balance of two time constants by some per cent.
- **Song 2000**: S. Song, K. Miller and L. Abbott, Nature Neuroscience 3:919 (2000), with the numbers of Brian2's
  example "STDP": weights become bimodal. 200 s; Brian2 (2.9.0): three runs of that example. Accepted are two standard
  deviations of its rate, and of shares of 1,000 weights.
- **Izhikevich 2006, spnet**: E. Izhikevich, Neural Computation 18:245 (2006). C: the author's script in plain C, four
  runs of 200 s. Accepted are a rhythm of 2 to 7 Hz, two standard deviations of a run's rates, and three points of
  shares.
- **Izhikevich 2007, daspnet**: E. Izhikevich, Cerebral Cortex 17:2443 (2007), figure 1. It runs until the synapse has
  come to the top, for an hour at most. Six runs of the author's script in plain C needed 1105 to 2773 s, three with the
  example's normal noise 676 to 1176 s; the others' weights from 300 s to 900 s stand beside ours.
- **Vogels 2011**: T. Vogels et al., Science 334:1569 (2011). Brian2 (2.9.0): two runs of its example with what the
  file of ours changes; F. Zenke, one of the authors, adapted that example from the paper, rho_0 is 3 Hz there, as in
  his program of the network (Auryn, sim_isp_orig). No published number was found for the rate that this network
  settles at. E stays above 3 Hz, in Brian2 as here; accepted are 10 %. Time and steps do not change that: after these
  20 s E fires at 3.97 Hz during 60 s with Brian2's eta of 0.01, at 3.99 Hz during 100 s with 0.001. (Brian2's example
  as it is fires at 7.6 Hz between 10 and 15 s, at 5.9 Hz between 25 and 30 s, and goes on falling.) In 120 s of the
  example E settles at 3.83 to 3.91 Hz in each 10 s from 40 s on, 90 % of the neurons between 3.57 and 4.27 Hz. Weights
  at their bound of 0 are not why: they are 1.0 % of all, and the neurons with the most of them, 5 to 10 %, fire at
  3.88 Hz. The rule's equation rho_0 = alpha/(2·tau) is for spikes that know nothing of each other. Here each of some
  40 inhibitory synapses of a neuron keeps it from firing just after a spike: weighted by the rule's window, 12,000
  connected pairs coincide 0.80 times as often in 60 s as independent ones would, pairs without a synapse 1.01 times.
  So a neuron with fewer and stronger inhibitory synapses fires more: at 4.18 Hz with 25 to 29 of them, 3.69 with 50 to
  54. *The rate that the rule sees* is that of independent spikes with the potentiation of the real ones, between 10
  and 20 s: it has come to rho_0, and accepted are 10 %. With rho 2.25 Hz in the file E itself fires at 3.1 Hz from 20
  to 40 s, with a CV of 0.97. Zenke's program counts conductances in units of the leak, 10 nS, so that its weights are
  3 and 30 nS, ten times those of Brian2's example, those onto E from 30 to at most 300, and delays 0.8 ms. That
  network is farther from 3 Hz: 5.7 Hz between 50 and 60 s with the example's eta, 5.0 with ten times that, a CV of
  1.3. Its delay alone, onto E from 3 nS on, changes nothing (3.85 Hz). The authors' printed program of one neuron
  (ModelDB 143751) misses its own alpha/(2·tau) too, which is 6.25 Hz: written anew in NumPy, one seed, it settles at
  5.1 ± 0.3 Hz in 101 rounds of 1.5 s. Why it does was not looked into.
- **Tsodyks 1998**: M. Tsodyks, K. Pawelzik, H. Markram, Neural Computation 10:821 (1998), with the numbers of figure
  1. The closed form is 1/√(U·tau_fac·tau_rec); 20.8 Hz is best by the formulas, among intervals of whole 4 ms.
- **Tsodyks, Uziel, Markram 2000**: Journal of Neuroscience 20:RC50 (2000), 500 neurons whose synapses depress or
  facilitate, each with U, tau_rec and tau_fac of its own; background currents spread over 1 mV, as in Brian2's example
  of it. Population bursts are bins of 1 ms with more than 20 spikes, at least 50 ms apart, 10 s after 1 s. NEST is
  version 3.10.0 with tsodyks_synapse, six seeds; accepted as for COBA, all three together.
- **Litwin-Kumar and Doiron 2012**: A. Litwin-Kumar, B. Doiron, Nature Neuroscience 15:1498 (2012), 4,000 excitatory
  neurons in 50 clusters and 1,000 inhibitory ones, with the numbers of the authors' program; 1.5 s after 0.5 s.
  Clusters are counted in steps of 0.1 s. C is testdata/clusters.c, that program written anew in double precision, eight
  seeds; accepted as for COBA, all four together.
- **Bressloff 2000, wave**: a solitary pulse along integrate-and-fire neurons whose connections fall with exp(−d/σ), as
  in P. Bressloff, Journal of Mathematical Biology 40:169 (2000), who finds the faster of two solutions stable. Synapses
  act at once, delays grow with distance. The closed form is worked out for dense connections (bench/science/wave.go);
  with 400 synapses a neuron, drawn at random, the pulse is 1 to 2 % faster. Accepted are 3 %.
- **Microcircuit**: T. Potjans and M. Diesmann, Cerebral Cortex 24:785 (2014), 77,169 neurons and 298,880,968
  synapses. Published are the mean rates of the PyNEST reference implementation (INM-6/microcircuit-PD14-model) over
  15 minutes. The activity is irregular: CVs from 0.6 to 1 are accepted.

## The microcircuit beside NEST

Three distributions in each population, as S. van Albada et al., Frontiers in Neuroscience 12:291 (2018), J. Knight and
T. Nowotny, the same 12:941 (2018), and B. Golosio et al., Frontiers in Computational Neuroscience 15:627620 (2021)
compare simulators: the rates of all neurons, the CVs of intervals of neurons with at least two, and the correlations of
all pairs of 200 neurons in bins of 2 ms, after 0.5 s. This makes them, with NEST 3.10 from PyPI on the network that
the genome describes:

    make bench-microcircuit SCALE=10

**A tenth** (potjans-diesmann-10), ten seeds of each simulator, 10 s. Rates are means of populations ± standard
deviation over seeds. Then follow mean Kolmogorov-Smirnov distances of two runs: between burst and NEST, and
among NEST's own. p is the share of ways to deal the 20 runs to two simulators that part them at least as far, by
distances of a quantity or by its means; of 24 each, the least of a population is shown.

| population | rate (Hz), burst | NEST | rates | CVs | correlations | least p, of means |
| --- | --- | --- | --- | --- | --- | --- |
| L23E | 0.473 ± 0.018 | 0.469 ± 0.007 | 0.027, 0.022 | 0.037, 0.040 | 0.049, 0.045 | 0.38, 0.10 |
| L23I | 2.107 ± 0.033 | 2.110 ± 0.026 | 0.040, 0.042 | 0.051, 0.051 | 0.043, 0.050 | 0.30, 0.47 |
| L4E | 3.966 ± 0.039 | 3.971 ± 0.025 | 0.021, 0.022 | 0.025, 0.026 | 0.038, 0.034 | 0.55, 0.47 |
| L4I | 5.012 ± 0.024 | 5.011 ± 0.015 | 0.038, 0.040 | 0.056, 0.058 | 0.031, 0.030 | 0.28, 0.20 |
| L5E | 6.612 ± 0.210 | 6.662 ± 0.171 | 0.055, 0.058 | 0.057, 0.051 | 0.032, 0.032 | 0.15, 0.26 |
| L5I | 7.780 ± 0.043 | 7.796 ± 0.038 | 0.090, 0.102 | 0.110, 0.116 | 0.028, 0.026 | 0.65, 0.34 |
| L6E | 0.847 ± 0.020 | 0.855 ± 0.024 | 0.029, 0.030 | 0.037, 0.037 | 0.061, 0.069 | 0.23, 0.67 |
| L6I | 7.007 ± 0.035 | 7.007 ± 0.026 | 0.051, 0.056 | 0.071, 0.071 | 0.023, 0.015 | 0.03, 0.11 |

With the distances of all populations added, p is 0.95 for rates, 0.77 for CVs and 0.80 for correlations. Of 48 values
of p two or three are below 0.05 by chance, and here one is. Mistakes planted in burst, four runs each against NEST's
ten: inhibitory weights 5 % too small give p = 0.0007 for rates and 0.0014 for CVs, halved delays 0.0007 for
correlations. Weights 1 % too small are seen by means alone (L4I: 5.05 and 5.01 Hz, p = 0.001). Weights without spread,
and a refractory time of 1.9 ms, are not told apart by four runs. A mistake in the comparison itself, which took up to 7
neurons of a population for those of the next, was found by means (p < 0.001 in L6I) and not by distances (0.05).

**The whole microcircuit**, without SCALE, with ten seeds of burst and one of NEST, which built its network for 97 s and
was stopped after 5.5 s ([speed](performance.md#cpu)). Mean Kolmogorov-Smirnov distances of two runs: between NEST's and
burst's, and among burst's, since one run of NEST has none.

| population | rate (Hz), burst | NEST | rates | CVs | correlations |
| --- | --- | --- | --- | --- | --- |
| L23E | 0.931 ± 0.017 | 0.893 | 0.022, 0.012 | 0.012, 0.011 | 0.070, 0.059 |
| L23I | 3.000 ± 0.011 | 2.978 | 0.014, 0.011 | 0.014, 0.016 | 0.035, 0.046 |
| L4E | 4.381 ± 0.017 | 4.400 | 0.007, 0.008 | 0.009, 0.009 | 0.035, 0.042 |
| L4I | 5.879 ± 0.008 | 5.882 | 0.014, 0.014 | 0.013, 0.017 | 0.029, 0.034 |
| L5E | 7.586 ± 0.126 | 7.707 | 0.022, 0.023 | 0.016, 0.017 | 0.046, 0.038 |
| L5I | 8.645 ± 0.011 | 8.647 | 0.030, 0.029 | 0.045, 0.035 | 0.022, 0.027 |
| L6E | 1.096 ± 0.015 | 1.116 | 0.012, 0.012 | 0.012, 0.012 | 0.081, 0.078 |
| L6I | 7.838 ± 0.012 | 7.846 | 0.015, 0.018 | 0.022, 0.023 | 0.033, 0.033 |

With the distances of all populations added, NEST's run is no farther off than runs of burst are: 3 of 11 runs are at
least as far for rates and for CVs, 5 for correlations. The largest difference is the rate of L23E, published as 0.903
Hz. Spikes of a population in bins of 2 ms vary less in NEST's run: variance over mean is 12.3 in L23I and 63.7 in L4E,
14.7 ± 0.8 and 69.4 ± 1.9 here. In a tenth of the network they are equal (2.53 ± 0.15 and 2.54 ± 0.12, 4.58 ± 0.21 and
4.72 ± 0.19). Whether the whole network differs, or this one seed, is open: it takes more runs of NEST.

## The multi-area model

M. Schmidt et al., PLOS Computational Biology 14:e1006359 (2018), the visual cortex of a macaque in 254 populations. Its
numbers have a licence of their own, so it has no row above; this runs it from your copy of the model, with 0.006 of the
neurons and of the in-degrees (24,655 neurons, 865,334 synapses), and prints rates and CVs of all populations:

    python python/examples/multi_area_model.py multi-area-model --state ground --scale 0.006 -o mam
    burst run mam/multi-area-model.yaml --duration 2s --seeds 1..5 --settle 500ms --record spikes=none

Five seeds here and five of NEST 3.10.0, each of which draws a network, from 0.5 s to 2 s. All neurons together, mean ±
standard deviation over seeds:

| state | burst (Hz) | NEST (Hz) | of 254 populations, t-tests below 5 % | below 1 % |
| --- | --- | --- | --- | --- |
| ground | 16.13 ± 0.27 | 16.25 ± 0.21 | 11, by chance 13 | 3, by chance 3 |
| metastable | 19.93 ± 0.46 | 20.31 ± 0.49 | 14, by chance 13 | 4, by chance 3 |

At full size (4,129,924 neurons, 24,126,516,728 synapses, two H200, one seed, 0.5 to 2 s) the ground state is that of
the mean-field theory of the model's own code (Theory.integrate_siegert): 2.629 Hz in all, 2.606 by theory; E 2.337
and 2.315, I 3.785 and 3.763. Over the 254 populations the median difference is 0.05 Hz, the largest 0.39 (TH-5E, 3.18
and 2.79), the correlation 0.9994. The metastable state is not stationary, as the theory assumes: the network fires
at 5.55 Hz, the theory finds 2.46. Mean rates of areas lie between 1.2 Hz (CITd) and 14.6 (MIP), in the ground state
between 2.0 and 3.6, and activity travels from area to area
([picture](performance.md#several-h200-gpus-of-one-host)).

The backends reference and cpu give equal digests of the first 50 ms of all ten runs. CVs of neurons with at least ten
intervals, of one seed, are those of NEST within 0.03 in the mean over populations.

"Brian2" is version 2.5.1 on the same network. "C" is a plain C program with the same equations.
`
