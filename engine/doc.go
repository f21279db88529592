// Package engine holds the law of a burst, the Engine that programs use and the interface that backends implement.
//
// # The law of a burst
//
// Time. Burst t covers (t·dt, (t+1)·dt]; a spike of burst t has time (t+1)·dt. Bursts are t = 0…N−1 of a run;
// State.Number is the next one; fire queues before 0 are empty.
//
// Quanta. Every synaptic input is an int32 count of quanta; one quantum is 1/scale of the unit the genome uses
// (mV for lif, pA for lif_psc_exp, plain numbers for feagi and izhikevich). Amounts become quanta by rounding to nearest, ties away from zero.
//
// Ports. acc[port] is the int32 sum of a burst's inputs; neurons have one port each, those of lif_psc_exp two, sources
// none. Ports run area by area, all first ones of an area before its second ones; a weight or amount ≥ 0 goes to the first
// port, one < 0 to the last. Build proves that no acc can leave int32.
//
// In burst t:
//
//  1. Propagate. For each delay d in 1…D, for each neuron n in the fire queue of burst t−d, for each synapse of n with
//     delay d: acc[port] += weight. A neuron may reach itself, one burst later at the earliest.
//  2. Inject. For each stimulus of burst t: acc[port] += amount; likewise constant drives of feagi and custom areas and the events
//     of Poisson drives and the numbers of normal ones. (The constant drive of any other model is a term of its formula, not in acc.)
//  3. Candidates. The FCL is every port with acc ≠ 0, ascending. Inputs that cancel make no candidate.
//     input = float32(acc) / float32(scale), a correctly rounded division.
//  4. Update each neuron by its area's model, independently of every other (below).
//  5. Fire queue. The neurons that fired, ascending. Digest: d = xxHash64(seed d; t, n, ids), t and n as 8 bytes and
//     each id as 4 bytes, little-endian; every burst, empty ones too, starting from d = 0.
//  6. Learn. Reserved for plastic synapses.
//  7. acc is zero again.
//
// Every float32 operation rounds on its own; none is fused. docs/bits.md has the exact steps of exp, expm1 and log, how
// parameters become constants, the tables of drives and the layout of hashes, so that every bit can be worked out.
//
// # feagi
//
// Candidates only; a neuron that is no candidate does not change at all in this burst.
//
//	4a. r > 0: r −= 1; if that made r = 0 and fire_limit ≠ 0 and count ≥ fire_limit, count = 0. Done; the input is lost.
//	4b. V = input where accumulate is false, else V = V + input.
//	4c. If threshold ≤ V and (no threshold_limit or V ≤ threshold_limit):
//	    - fire_limit ≠ 0 and count ≥ fire_limit: count = 0; V = 0 where accumulate is false; done, no leak.
//	    - else, if excitability draws true, it fires: V = 0; count += 1 (saturating); r = refractory, plus snooze if
//	      fire_limit ≠ 0 and count ≥ fire_limit (saturating). Done.
//	4d. In every other case: if fire_limit ≠ 0, count = 0; V = V·(1 − leak); where leak_amount > 0 and V > 0,
//	    V = max(V − leak_amount, 0); and V = 0 where accumulate is false.
//
// Excitability draws a 32-bit x and fires when x < round(excitability·2^32). With draw: feagi it is FEAGI's hash
// (feagi-core, NN/src/utils.rs): h = pcg(neuron·2654435761 + b·1597334677) mod 2^32, b = t + 1,
// pcg(x): s = x·747796405 + 2891336453; w = ((s >> ((s >> 28) + 4)) ^ s)·277803737; (w >> 22) ^ w,
// fires when float32(h)/2^32 < excitability; ≥ 0.999 always fires, ≤ 0 never.
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
//	4c. I_ex = float32(P11ex·I_ex) + input of the first port; I_in = float32(P11in·I_in) + input of the second.
//	4d. V ≥ threshold: fires; V = reset; r = refractory.
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
//	                          shared u in the area, counted by first use in the order of parameters; words 0 and 1
//
// Initial values of further variables have the variable's number, from 1, as index high. A draw of a Poisson or normal
// drive stands for k where k of the drive's thresholds are ≤ it: k events, or the k-th entry of a table of amounts.
package engine
