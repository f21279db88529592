// Package engine holds the law of a burst, the Engine that programs use and the interface that backends implement.
//
// # The law of a burst
//
// Time. Burst t covers (t·dt, (t+1)·dt]; a spike of burst t has time (t+1)·dt. Bursts are t = 0…N−1 of a run;
// State.Number is the next one; fire queues before 0 are empty.
//
// Quanta. Every synaptic input is an int32 count of quanta; one quantum is 1/scale of the unit the genome uses
// (mV for lif and lif_event, pA for lif_psc_exp and lif_psc_exp_event, plain numbers for feagi and izhikevich). Amounts become quanta by rounding to nearest, ties away from zero.
//
// Ports. acc[port] is the int32 sum of a burst's inputs; neurons have one port each, those of lif_psc_exp and lif_psc_exp_event two, those of a
// genome's own models 1 to 16, sources none. Ports run area by area, all first ones of an area before its second ones, and
// so on. A weight or amount goes to the port that the genome names. Where it names none there are at most two, of which the
// first takes what is ≥ 0 and the last what is < 0. Build proves of each port that no acc can leave int32.
//
// In burst t:
//
//  1. Propagate. For each delay d in 1…D, for each neuron n in the fire queue of burst t−d, for each synapse of n with
//     delay d: acc[port] += weight. A neuron may reach itself, one burst later at the earliest.
//     Plastic projections deliver, and learn, in steps 1a to 1c (section plasticity). Synapses of areas with psp_max deliver in
//     step 1d (section psp_max).
//  2. Inject. For each stimulus of burst t: acc[port] += amount; likewise constant drives of feagi and custom areas and the events
//     of Poisson drives and the numbers of normal ones. (The constant drive of any other model is a term of its formula, not in acc.)
//     Drives with a factor: section factors. Neurons may have rates, weights, means and sds of their own, from columns.
//  3. Candidates. The FCL is every port with acc ≠ 0, ascending. Inputs that cancel make no candidate.
//     input = float32(acc) / float32(scale), a correctly rounded division.
//  4. Update each neuron by its area's model, independently of every other (below).
//  5. Fire queue. The neurons that fired, ascending. Digest: d = xxHash64(seed d; t, n, ids), t and n as 8 bytes and
//     each id as 4 bytes, little-endian; every burst, empty ones too, starting from d = 0.
//  6. Sweep. Plastic projections whose rule has a sweep change all their weights (section plasticity).
//  7. acc is zero again.
//
// Every float32 operation rounds on its own; none is fused. docs/bits.md has the exact steps of exp, expm1 and log, how
// parameters become constants, the tables of drives and the layout of hashes, so that every bit can be worked out.
//
// # feagi
//
// Candidates only; a neuron that is no candidate does not change at all in this burst, but for 4a with always_recover.
//
//	4a. r > 0, with always_recover whether candidate or not: r −= 1; if that made r = 0 and fire_limit ≠ 0 and
//	    count ≥ fire_limit, count = 0. Done; the input is lost.
//	4b. V = input where accumulate is false, else V = V + input, with rectify V + max(input, 0).
//	4c. If threshold ≤ V and (no threshold_limit or V ≤ threshold_limit):
//	    - fire_limit ≠ 0 and count ≥ fire_limit: count = 0; V = 0 where accumulate is false; done, no leak.
//	    - else, if excitability draws true, it fires: V = 0; count += 1 (saturating); r = refractory, plus snooze if
//	      fire_limit ≠ 0 and count ≥ fire_limit (saturating). Done.
//	4d. In every other case: if fire_limit ≠ 0, count = 0; V = V·(1 − leak); where leak_amount > 0 and V > 0,
//	    V = max(V − leak_amount, 0); and V = 0 where accumulate is false.
//
// With rectify inputs that are 0 or cancel make a candidate too. So that acc shows them, an amount of q quanta for such an
// area, be it a weight, a drive's or a stimulus, is sent as q·M, less 1 where q ≤ 0. M is the area's constant rectify, a
// power of two above the number of amounts ≤ 0 that can reach a neuron in one burst: the synapses whose weights may be ≤ 0,
// an event of each Poisson threshold, one of each other drive, one of each of the genome's stimuli and one of the callers'.
// The input is then float32(⌈acc/M⌉) / float32(scale). leak may be above 1: V·(1 − leak) changes sign.
//
// Excitability draws a 32-bit x and fires when x < round(excitability·2^32). With draw: feagi it is FEAGI's hash
// (feagi-core, NN/src/utils.rs): h = pcg(neuron·2654435761 + b·1597334677) mod 2^32, b = t + 1,
// pcg(x): s = x·747796405 + 2891336453; w = ((s >> ((s >> 28) + 4)) ^ s)·277803737; (w >> 22) ^ w,
// fires when float32(h)/2^32 < excitability; ≥ 0.999 always fires, ≤ 0 never.
//
// # psp_max
//
// In a feagi area with psp_max the psp of a spike is the potential at which it was fired. Its amplitude a is V of step 4c, before V
// becomes 0, in quanta: V·scale to nearest, ties away from zero, but at least 1 where V > 0, and 0 where V ≤ 0. A spike whose a is
// more than psp_max in quanta ends the run; the error names neuron and burst, which is not delivered.
//
//	1d. For each delay d, for each neuron of such an area in the fire queue of burst t−d, for each synapse of it with delay d:
//	    acc[port] += q, lifted where the target's area rectifies. With the weight w, a factor in quanta, q has the sign of w·a and the
//	    size |w·a|/scale to nearest, ties away from zero, but at least 1 where w·a is not 0. With divide_psp the size is
//	    |w·a|/(scale·K), rounded up; K is the number of synapses of the source before any are merged. The port is w's.
//	    A plastic synapse of such an area delivers so too, in step 1b, with w = q(out); its rule is one of FEAGI's.
//
// M counts such a synapse if its weight may be ≤ 0 or some threshold of the source's area is. Of merged synapses the weights are
// added. Burst.Amplitudes and State.Amplitudes have the amplitudes beside the fire queues of the last min(D, 255) bursts.
//
// # lif
//
// Every neuron, every burst (delta synapses; Brunel 2000, eq. 1). V is held relative to rest; em1 = expm1(−dt/tau).
//
//	4a. r > 0: r −= 1, V stays at reset, the input is lost. Done.
//	4b. V = V + (float32(em1·V) + drive) + input, with drive = −em1·R·I, or −em1·U for a drive given as the
//	    depolarisation U = R·I in mV; the active drives are summed in float64 and rounded once.
//	4c. V ≥ threshold: fires; V = reset; r = refractory.
//
// # lif_psc_exp
//
// Every neuron, every burst (exponential currents, integrated exactly: Rotter and Diesmann 1999, eq. 17; the order of
// NEST's iaf_psc_exp). V is held relative to rest, I_ex and I_in in pA; em1 = expm1(−dt/tau), P11 = exp(−dt/tau_syn),
// P21 = β/C·exp(−dt/tau_syn)·expm1(dt/β) with β = tau·tau_syn/(tau − tau_syn), or −β/C·exp(−dt/tau)·expm1(−dt/β) where
// dt/β > 700, or dt/C·exp(−dt/tau) where |tau − tau_syn| < 1e-9·tau; all worked out in float64 and rounded once.
//
//	4a. r > 0: r −= 1 and V is held; else
//	4b. V = V + float32(em1·V) + float32(P21ex·I_ex) + float32(P21in·I_in) + drive, added left to right, with
//	    drive = −em1·tau/C·I; the active drives are summed in float64 and rounded once.
//	4c. I_ex = float32(P11ex·I_ex) + input of port ex, the first; I_in = float32(P11in·I_in) + input of in.
//	4d. V ≥ threshold: fires; V = reset; r = refractory.
//
// # lif_event
//
// lif, computed at inputs alone (the exact solution between events: Morrison et al. 2007). V is held relative to V∞ = rest + the
// depolarisations of all constant drives, U or tau/C·I, added in float64; V∞ < threshold, so that no neuron fires without an input. V stays
// what the last input has left, count is the bursts since then, and V reads V·P[count], one product, which changes nothing in the state.
//
//	4a. r > 0: r −= 1; count = 0; V stays at reset, the input is lost. Done.
//	4b. count = min(count + 1, 65535). No candidate: done, whatever V is.
//	4c. V = float32(V·P[count]) + input; count = 0.
//	4d. V ≥ threshold: fires; V = reset; r = refractory.
//
// P[a] is that of traces (section plasticity) with tau/dt rounded to float32 and at most 4096, and 0 for a = 65535.
// Before burst 0 count is 0. Events of Poisson drives, amounts of normal ones and stimuli are inputs, as spikes are.
//
// # lif_psc_exp_event
//
// lif_psc_exp, rounded at inputs and spikes alone. V is held relative to V∞ as in lif_event, but V∞ may be above threshold. V and the
// currents are what the last input or spike has left, count is the bursts since then. With s for ex and in, P11s[a] is P[a] of tau_syn and
// P21s[a] the P21 of lif_psc_exp for a·dt in place of dt, of time constants and C in units of dt, rounded to float32 and at most 4096. Both are 0,
// as P[a] is, from the first a on for which all three P[a] are. V reads x of 4b, I_s reads I_s·P11s[count]/P11s[r], or 0 where P11s[r] is 0.
//
//	4a. r > 0: r −= 1; count = 0; V stays at reset; of a candidate I_s = I_s + float32(input s·P11s[r]), so that currents are held as they
//	    will be at the end of the silence. Done.
//	4b. count = min(count + 1, 65535); x = float32(V·P[count]) + (float32(I_ex·P21ex[count]) + float32(I_in·P21in[count])).
//	4c. A candidate at either port, or x ≥ threshold: V = x; I_s = float32(I_s·P11s[count]) + input s; count = 0.
//	4d. x ≥ threshold: fires; V = reset; r = refractory; I_s = float32(I_s·P11s[r]).
//
// # izhikevich
//
// Every neuron, every burst (Izhikevich 2003, eqs. 1-3 and the paper's script). V is v in mV, dt in ms.
//
//	4a. I = input + drive.
//	4b. Twice: V = V + float32(dt/2·s) with s = float32(float32(0.04·V)·V) + float32(5·V) + 140 − u + I, left to right.
//	4c. u = u + float32(a·dt·(float32(b·V) − u)), a·dt one constant.
//	4d. V ≥ threshold: fires; V = c; u = u + d.
//
// Before burst 0 u is float32(b·V) unless the genome gives it.
//
// # custom
//
// Every neuron, every burst, by the program that burst/internal/formula makes of the model's expressions, where the meaning
// of every instruction stands. V is the first state variable, as the model holds it. Constant drives are injected (step 2).
//
//	4a. The flag refractory is r > 0.
//	4b. The statements of update in order, each of which sees what those before it made; then, where threshold is true and
//	    refractory is not, it fires: the statements of reset, in order.
//	4c. r = refractory's bursts where it fired; else r −= 1 where r > 0.
//
// Before burst 0 variables are drawn, or worked out in float32 by the model's expressions from the parameters and the
// variables before them.
//
// # poisson and spike_list
//
// Sources, without ports. A poisson neuron fires in bursts from ≤ t < until when its 32-bit draw is below
// round(rate·dt·2^32); a spike_list neuron fires in the bursts that are listed for it.
//
// # factors
//
// A drive, or a poisson area, may have a factor: a float64 f(t) that depends on the number t of the burst alone, so that nothing
// of it is in the state. With s = t·dt in ms:
//
//	steps  the value of the last entry whose burst is ≤ t; 0 before the first one. Of a file with a row every n bursts: row ⌊t/n⌋, 0 after
//	       the last one
//	ramp   as steps at and after the last entry and before the first; between entries (a, x) and (b, y): x + (y − x)·((t − a)/(b − a))
//	sine   offset + amplitude·sin((c − ⌊c⌋)·2π), the c cycles being frequency·s/1000 + phase/360
//	pulse  value where t ≥ start and (t − start) mod every < width (a single pulse: t − start < width), else base
//
// limited to the least and the largest value in the lists and 0, to offset ± |amplitude|, or to value and base. In burst t
//
//	constant, injected  the quanta of amount·f
//	constant, a term    f·term, a float64, takes part in the sum of terms
//	Poisson             thresholds of the mean mean·max(f, 0), but no more of them than at the largest f
//	normal              amounts with the mean mean·f and the deviation sd·f
//	a poisson area      fires below min(round(below·max(f, 0)), 2^32), with the below of the rate without a factor
//
// What drives can add at most in a burst is what they add at the least or the largest f.
//
// # memory
//
// Sources, without ports; FEAGI's memory areas (feagi-core, plasticity, pattern_detector and memory_neuron_array). A neuron is free, or
// it keeps a pattern: its hash, the bursts that it has left (its lifespan), and whether it is long-term. All are free before burst 0.
// With D the temporal_depth, in burst t:
//
//	4a. Long-term. Each neuron with long_term or more bursts left becomes long-term. It stays so, with the lifespan that it has.
//	4b. Age. Each other neuron that keeps a pattern: lifespan −= 1; at 0 it is free. With spare_seen this comes last, and not for
//	    the neuron that fires.
//	4c. Detect. Where t ≥ D and a neuron of the areas upstream fired in a burst t−D…t−1, the pattern is xxHash64, seed 0, of
//	    these bursts, oldest first, and in each of the areas, in their order: how many fired, then their ids, ascending, as in
//	    step 5 each number as 4 bytes, little-endian. Equal hashes are equal patterns.
//	4d. Recall. A neuron of the area that keeps the pattern fires; unless it is long-term, lifespan += lifespan_growth. Otherwise the
//	    lowest free neuron keeps it from now on, with the given lifespan, and fires. Where none is free nobody fires, and
//	    State.Memory counts the burst as one with a lost pattern.
//
// So what fired in burst t−1 makes a neuron fire in burst t, whatever the depth. FEAGI does this in a thread of its own, after burst t−1,
// and forces the neuron to fire in the next burst, or in a later one where the thread is late.
//
// # plasticity
//
// A plastic projection has synapses whose weights w are float32 numbers in the weight's unit. w is float32(quanta)/float32(scale)
// before burst 0. A spike of the source in burst s is a pre event of a synapse of delay d in burst s+d, the one that delivers it. A
// spike of the target in burst u is a post event in burst u+L, with L = max(1, 2·back), back the dendritic share of the delay in
// bursts. L = 1 is the order of GeNN and Brian2, L = 2·d that of NEST, whose whole delay is dendritic. In burst t, for each synapse:
//
//	1a. Post. With a post event: the rule's on_post, then clamp.
//	1b. Pre. With a pre event: on_pre, then clamp; then acc[port] += q(out), out being w unless on_pre assigns it.
//	1c. Traces. Those of its source and target take the events of burst t.
//	6.  Sweep. Where (t+1) mod n = 0, with every n bursts: the rule's every, then clamp.
//
// Handlers are programs of burst/internal/formula: float32, each operation rounded, none fused. clamp: w = lo where w < lo, else hi
// where hi < w; and −0 becomes 0. out is clamped to [min(lo, 0), max(hi, 0)]. q(x) = round(x·float32(scale)), the product in float32,
// ties away from zero; for an area that rectifies it is sent lifted, as all amounts are. The port is the first one, or the last one
// where hi ≤ 0 and lo < 0, or the one that the genome names. A w that is NaN stays NaN, delivers 0 and ends the run; an out that is NaN makes w NaN.
//
// A trace has a value x and the burst s of its last event. It reads x·P[t−s] in burst t, one product, and 0 before any event. In
// burst t an event makes it amount, where the rule says set, else x·P[t−s] + amount. P[a] is float32(exp(−a·dt/tau)), worked out in
// float64, for a < ⌊150·ln 2·tau/dt⌋+1 and 0 from there on; with tau/dt > 4096 it is the product P[a − a mod 256]·P[a mod 256] of two
// such numbers. What a handler reads in 1a and 1b tells of events before burst t; in step 6 of those up to burst t. age_pre and
// age_post are the bursts since the last such event, at most 2^24, which also stands for none. A modulator is a trace of the whole
// projection: k > 0 spikes of its area in burst s are one event of amount·k in burst s + delay.
//
// Variables of a synapse start from the rule's number, or from what the projection gives: a number, or a draw of each synapse (purpose
// 12 below) by its place in the order of the state, which is by port, source, delay and initial weight; rounded to float32 once.
//
// Variables of a source change by on_source, once for each of its spikes; on_pre reads them as they are after the spike that is
// delivered. decay(tau) there is P at the bursts since the source's last spike, 0 for its first one and for tau = 0. Variables of the
// target stand as the burst before left them (in step 6 as this burst leaves them). A rule with a condition (when) has L = 1: the
// post events of burst t are where the condition holds for the target's variables as the burst before left them. total, in step 6, is
// the sum of q(w) over the projection's synapses onto the target before the sweep, in int64, as float32(sum)/float32(scale).
//
// FEAGI's rules have no handlers. With A and B, the numbers of bursts t−d−W+1 … t−d, before burst 0 none, in which the source and the
// target fired, and n ≤ W the number of those that there have been. The steps up and down are ⌊constant⌋·⌊ltp⌋ and ⌊constant⌋·⌊ltd⌋
// times the psp, 0 where that is negative; of feagi-python, whose weights hold the psp, constant·ltp and constant·ltd as they are.
//
//	feagi           n = W and A + B > 0: A > 0 and B > 0: w += up; else w −= down. Delivered is the w from before this burst's step.
//	feagi-february  n = W and A + B > 0: A = B = W: w += up; else w −= down. Delivered is the w after it, as below.
//	feagi-python    n > 0 and A = n: B = n: w += up; else w −= down.
//
// Of weights below 0 the first two change the size. Then clamp. Where the source's area divides its psp (divide_psp), what is delivered
// is |q(w)|/K, rounded up, with the sign of q(w); K is the number of synapses of the source before any are merged.
//
// overflow: fail, of FEAGI's rules alone, is for bounds without a ceiling. The scale is found as if such weights stayed as they are; an
// automatic one is then halved, down to 2^10, while all that the network starts with stays whole quanta and nothing is divided.
// Each synapse keeps what the largest of its projection delivers at first. What all inputs then leave of 2^30 quanta at a port is
// divided by the number of synapses onto it that may fail. What a synapse delivers may grow by the least such share over the targets
// of its projection; with the least K that gives what its weights may come to. A bound beyond that is cut to it, and in
// place of clamp a weight that passes a bound which has been cut becomes NaN. So the run ends, and the error names synapse and burst.
//
// State.Plastic holds what the fire queues do not tell: the traces, source variables and bursts after the last spike that has left
// the queues. The readers step on through the spikes that are in the queues.
//
// # Randomness
//
// A draw is a function: Philox4x32-10 (Salmon et al. 2011) with key = (seed low, seed high) and counter =
// (index low, index high, burst low, purpose<<24 | burst high 24 bits). Draws of the connectome put the projection (or
// area) in place of burst low and the attempt in place of burst high. Purposes, the seed each uses, its index and words:
//
//	1 wiring        seed      row or target of the rule, and the draw within it; see connectome/doc.go
//	2 weight        seed      the synapse's ordinal in its projection; words 0 and 1
//	3 delay         seed      as weight
//	4 initial V     seed      neuron; words 0 and 1
//	5 Poisson drive run_seed  index low = neuron div 4, high = place of the drive in its area; word = neuron mod 4
//	6 excitability  run_seed  neuron; word 0
//	7 attractivity  seed      as weight
//	8 normal drive  run_seed  as Poisson drive
//	9 poisson       run_seed  index low = neuron div 4; word = neuron mod 4
//	10 parameter    seed      index low = neuron, high = place of the parameter in its model, or 65536 + the number of the
//	                          shared u in the area, counted by first use in the order of parameters, or 131072 + the place
//	                          of a constant drive in its area; words 0 and 1
//	11 formula      run_seed  index low = neuron div 4, high = number of the call of random or normal in its model's update,
//	                          threshold and reset, in the order of the text, from 0; word = neuron mod 4
//	12 synapse      seed      place of the synapse in State.Plastic, by target; words 0 and 1; in place of burst low
//	                          projection + 2^28·the variable's place among the synapse's variables of the rule, from 0
//
// Initial values of further variables have the variable's number, from 1, as index high. A draw of a Poisson or normal
// drive stands for k where k of the drive's thresholds are ≤ it: k events, or the k-th entry of a table of amounts.
package engine
