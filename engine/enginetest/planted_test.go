package enginetest

import (
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"burst/internal/slow"
)

// planted is a bug put into a copy of a source file; the conformance test of package must then fail.
type planted struct {
	bug     string
	backend string // whose conformance test runs
	file    string // from the module's root
	from    string // occurs exactly once
	to      string
}

// The backends' conformance tests: of the cpu backend, two parts are enough. The reference is its own oracle there, so
// that what fails it are the cases worked out by hand.
var conformance = map[string]string{
	"reference": "TestConformance",
	"cpu":       "TestConformance/2_workers",
	"cpu plain": "TestConformance/plain_loops", // assembly cannot be patched line by line; it is tested against these
	"cpu parts": "TestConformance/3_parts",
}

const (
	reference       = "backend/reference/reference.go"
	referenceModels = "backend/reference/models.go"
	referenceLearns = "backend/reference/plastic.go"
	plastic         = "connectome/plastic.go"
	plasticOrder    = "connectome/plastic_order.go"
	plasticStart    = "connectome/plastic_start.go"
	table           = "connectome/table.go"
	quantaRounding  = "internal/quanta/quanta.go"
	cpu             = "backend/cpu/cpu.go"
	cpuModels       = "backend/cpu/models.go"
	cpuPlain        = "backend/cpu/internal/vector/plain.go"
	cpuMarks        = "backend/cpu/marks.go"
	cpuFEAGI        = "backend/cpu/feagi.go"
	referenceEvent  = "backend/reference/event.go"
	cpuEvent        = "backend/cpu/event.go"
	cpuInputs       = "backend/cpu/internal/vector/event.go"
	cpuCurrents     = "backend/cpu/event_currents.go"
	cpuInject       = "backend/cpu/inject.go"
	cpuWindow       = "backend/cpu/window.go"
	cpuPropagate    = "backend/cpu/propagate.go"
	cpuSources      = "backend/cpu/sources.go"
	cpuRecipe       = "backend/cpu/recipe.go"
	cpuCustom       = "backend/cpu/custom.go"
	cpuFormula      = "backend/cpu/internal/vector/formula.go"
	cpuRing         = "backend/cpu/ring.go"
	cpuTurn         = "backend/cpu/turn.go"
	cpuBox          = "backend/cpu/box.go"
	cpuStill        = "backend/cpu/still.go"
	cpuBlock        = "backend/cpu/block.go"
	cpuHandle       = "backend/cpu/handle.go"
	cpuPending      = "backend/cpu/pending.go"
	cpuPosted       = "backend/cpu/posted.go"
	cpuShare        = "backend/cpu/share.go"
	cpuSynapses     = "backend/cpu/internal/vector/synapses.go"
	cpuDriven       = "backend/cpu/driven.go"
	driven          = "connectome/driven.go"
	splitBurst      = "internal/split/burst.go"
	splitState      = "internal/split/state.go"
	memoryArea      = "internal/memoryarea/memoryarea.go"
	referenceMemory = "backend/reference/memory.go"
	formulaRun      = "internal/formula/run.go"
	formulaCompile  = "internal/formula/compile.go"
)

// bugs lists what the suite must catch, in the reference and in the fast backend.
func bugs() []planted {
	return []planted{
		{"feagi leaks before the input", "reference", referenceModels, "*v += input", "*v = float32(*v*keep) + input"},
		{"feagi leaks before the input", "cpu", cpuFEAGI, "v = g.v[i] + input", "v = float32(g.v[i]*f.keep) + input"},
		{"lif_event decays burst by burst", "reference", referenceEvent, "if b.acc[a.Ports.First+i] == 0 {", "if b.acc[a.Ports.First+i] == 0 {\n\t\t*v, *age = float32(*v*a.DecayOver(*age)[connectome.FactorV]), 0"},
		{"lif_event sees inputs that cancel", "reference", referenceEvent, "if b.acc[a.Ports.First+i] == 0 {", "if *v < threshold && b.acc[a.Ports.First+i] == 0 {"},
		{"lif_event ages while it is refractory", "reference", referenceEvent, "*r--\n\t\t*age = 0\n\t\treturn", "*r--\n\t\t*age++\n\t\treturn"},
		{"lif_event counts ages beyond 16 bits", "reference", referenceEvent, "uint16(min(uint32(*age)+1, connectome.MostAge)) // 4b\n\tif", "uint16(uint32(*age)+1)\n\tif"},
		{"lif_event threshold is exclusive", "reference", referenceEvent, "*v >= threshold", "*v > threshold"},
		{"lif_event takes an input in its last silent burst", "cpu plain", cpuInputs, "age <= 0", "age < 0"},
		{"lif_event is silent a burst longer", "cpu plain", cpuInputs, "now+k.Refractory", "now+1+k.Refractory"},
		{"lif_event reads beyond its table's end", "cpu plain", cpuInputs, "decay[min(int(age), len(decay)-1)]", "decay[min(int(age), len(decay)-2)]"},
		{"lif_event does not renew ages", "cpu", cpuEvent, "e.renew(t)", "e.renew(t + 1<<31)"},
		{"lif_event's state is a burst old", "cpu", cpuEvent, "agesOf(c.Last, t-1)", "agesOf(c.Last, t)"},
		{"lif_event's potential does not fade", "cpu", cpuEvent, "return e.area.Reads(k, x)", "return x.V + 0*e.area.Reads(k, x)"},
		{"lif_psc_exp_event threshold is exclusive", "reference", referenceEvent, "fires := x >= threshold", "fires := x > threshold"},
		{"lif_psc_exp_event fires at inputs alone", "reference", referenceEvent, "fires := x >= threshold", "fires := candidate && x >= threshold"},
		{"lif_psc_exp_event holds its currents through the silence", "reference", referenceEvent, "*ex, *in = float32(*ex*ahead[connectome.FactorEx]), float32(*in*ahead[connectome.FactorIn])", "_ = ahead"},
		{"lif_psc_exp_event takes inputs of the silence as they are", "reference", referenceEvent, "b.input(a, i, 1) * ahead[connectome.FactorIn]", "b.input(a, i, 1)"},
		{"lif_psc_exp_event forgets an input beside a spike", "cpu", cpuCurrents, "float32(c.ex*row[connectome.FactorEx]) + ex", "float32(c.ex*row[connectome.FactorEx]) + ex*float32(1-len(g.fired)&1)"},
		{"lif_psc_exp_event is alert for a burst alone", "cpu", cpuCurrents, "e.set(block, bit, e.mayFire(c, int(age), k[0]))", "e.set(block, bit, candidate && e.mayFire(c, int(age), k[0]))"},
		{"lif_psc_exp_event is not alert to inputs of the silence", "cpu", cpuCurrents, "e.set(block, bit, e.mayFire(c, 0, k[0]))", "_ = bit"},
		{"lif_psc_exp_event overlooks what currents do later", "cpu", cpuCurrents, "list[i].later[k] = max(list[i].later[k], x)", "_, _ = k, x"},
		{"lif_psc_exp_event takes inhibition for longer than it lasts", "cpu", cpuCurrents, "bound[k] = s.least[k]", "bound[k] = s.most[k]"},
		{"lif_psc_exp_event takes a slow current for a fast one", "cpu", cpuCurrents, "s < 0.9*tau", "s != tau"},
		{"lif_psc_exp_event overlooks the current of weights below 0", "cpu", cpuCurrents, "rise += c.in * e.whole[1]", "rise += 0"},
		{"lif_psc_exp_event sleeps after its state is written", "cpu", cpuCurrents, "e.alert[i/64] |= 1 << (i % 64)", "e.alert[i/64] = 0"},
		{"lif_psc_exp_event does not renew ages", "cpu", cpuCurrents, "e.renew(t)", "e.renew(t + 1<<31)"},
		{"lif_psc_exp_event's state is a burst old", "cpu", cpuCurrents, "agesOf(c.last, t-1)", "agesOf(c.last, t)"},
		{"lif_psc_exp_event's variables do not fade", "cpu", cpuCurrents, "return e.area.Reads(k, x)", "return x.Ex + 0*e.area.Reads(k, x)"},
		{"lif leaks after the input", "reference", referenceModels, "*v = *v + (float32(em1**v) + drive) + input", "*v += input; *v = *v + (float32(em1**v) + drive)"},
		{"lif leaks after the input", "cpu plain", cpuPlain, "old + (float32(em1*old) + term) + float32(sum)/scale", "old + float32(sum)/scale + (float32(em1*(old+float32(sum)/scale)) + term)"},
		{"feagi refractory fixed at 3", "reference", referenceModels, "*r = refractory\n\t\t\tif", "*r = 3\n\t\t\tif"},
		{"feagi refractory fixed at 3", "cpu", cpuFEAGI, "g.r[i] = f.refractory", "g.r[i] = 3"},
		{"lif refractory fixed at 3", "reference", referenceModels, "*r = refractory\n\t\treturn true\n\t}\n\treturn false\n}\n\n// pscExp", "*r = 3 + 0*refractory\n\t\treturn true\n\t}\n\treturn false\n}\n\n// pscExp"},
		{"lif refractory fixed at 3", "cpu", cpuModels, "Reset: k[2], Refractory: uint32(k[3]),\n\t}\n\tw.b.kernels.LIF", "Reset: k[2], Refractory: min(uint32(k[3]), 3),\n\t}\n\tw.b.kernels.LIF"},
		{"excitability draws half the range", "reference", referenceModels, "uint64(x) < a.Chance.Const", "uint64(x>>1) < a.Chance.Const"},
		{"excitability draws half the range", "cpu", cpuFEAGI, "uint64(n), t)[0])", "uint64(n), t)[0]>>1)"},
		{"Poisson draws half the range", "reference", reference, "uint64(n/4), t)[n%4])", "uint64(n/4), t)[n%4]>>1)"},
		{"Poisson draws half the range", "cpu plain", cpuPlain, "thresholds[k] <= x", "thresholds[k] <= x>>1"},
		{"lif multiply-add is fused", "reference", referenceModels, "(float32(em1**v) + drive)", "float32(math.FMA(float64(em1), float64(*v), float64(drive)))"},
		{"lif multiply-add is fused", "cpu plain", cpuPlain, "(float32(em1*old) + term)", "float32(math.FMA(float64(em1), float64(old), float64(term)))"},
		{"feagi multiply-add is fused", "reference", referenceModels, "max(*v-leakAmount, 0)", "max(float32(math.FMA(float64(kept), float64(keep), -float64(leakAmount))), 0)"},
		{"feagi multiply-add is fused", "cpu", cpuFEAGI, "v = max(v-f.leakAmount, 0)", "v = max(float32(math.FMA(float64(whole), float64(f.keep), -float64(f.leakAmount))), 0)"},
		{"the last delay's slot is skipped", "reference", reference, "d <= b.c.MaxDelay", "d < b.c.MaxDelay"},
		{"what is left of a row comes a burst late", "cpu", cpuPropagate, "at := int(f.Due)", "at := int(f.Due) + 1"},
		{"the fire queue is not sorted", "reference", reference, "fired = append(fired, a.Neurons.First+i)", "fired = append([]uint32{a.Neurons.First + i}, fired...)"},
		{"the fire queue is not sorted", "cpu", cpuBox, "out.Fired = append(out.Fired, boxes[k].fires(i)...)", "out.Fired = append(append([]uint32(nil), boxes[k].fires(i)...), out.Fired...)"},
		{"a zero sum is in the FCL", "reference", reference, "if sum != 0 {", "{"},
		{"a zero sum is updated", "reference", referenceModels, "if !candidate {", "if !candidate && false {"},
		{"a zero sum is a candidate", "cpu", cpuMarks, "if sums[i&63] != 0 {", "if sums[i&63] != 0 || true {"},
		{"fire_limit is off by one", "reference", referenceModels, "*count >= fireLimit", "*count > fireLimit"},
		{"fire_limit is off by one", "cpu", cpuFEAGI, "if f.fireLimit != 0 && g.count[i] >= f.fireLimit {\n\t\t\tg.count[i] = 0\n\t\t\tg.v[i]", "if f.fireLimit != 0 && g.count[i] > f.fireLimit {\n\t\t\tg.count[i] = 0\n\t\t\tg.v[i]"},
		{"threshold_limit is exclusive", "reference", referenceModels, "*v <= limit", "*v < limit"},
		{"threshold_limit is exclusive", "cpu", cpuFEAGI, "v <= f.limit", "v < f.limit"},
		{"threshold is exclusive", "reference", referenceModels, "threshold <= *v", "threshold < *v"},
		{"threshold is exclusive", "cpu plain", cpuPlain, "if x >= threshold", "if x > threshold"},
		{"snooze wraps around", "reference", referenceModels, "uint16(min(uint32(refractory)+uint32(snooze), math.MaxUint16))", "refractory + snooze"},
		{"snooze wraps around", "cpu", cpuFEAGI, "uint16(min(uint32(f.refractory)+uint32(f.snooze), math.MaxUint16))", "f.refractory + f.snooze"},
		{"count wraps around", "reference", referenceModels, "uint16(min(uint32(*count)+1, math.MaxUint16))", "*count + 1"},
		{"count wraps around", "cpu", cpuFEAGI, "g.v[i] = 0\n\tif g.count[i] < math.MaxUint16 {", "g.v[i] = 0\n\tif math.MaxUint16 > 0 {"},
		{"input is a product with 1/scale", "reference", reference, "+i]) / float32(b.c.Scale)", "+i]) * (1 / float32(b.c.Scale))"},
		{"input is a product with 1/scale", "cpu plain", cpuPlain, "term) + float32(sum)/scale", "term) + float32(float32(sum)*(1/scale))"},
		{"the burst's upper half is not drawn from", "reference", referenceModels, "exact.Excitability, uint64(n), t)", "exact.Excitability, uint64(n), t&(1<<32-1))"},
		{"a neighbour's value is delivered", "reference", reference, "p.In(b.c, b.state)", "engine.Probe{max(p.Neuron, 1) - 1, p.Variable}.In(b.c, b.state)"},
		{"a neighbour's value is delivered", "cpu", cpuBox, "return p.from[p.index]", "return p.from[max(p.index, 1)-1]"},
		{"another variable is delivered", "reference", reference, "p.In(b.c, b.state)", "engine.Probe{p.Neuron, p.Variable / 2}.In(b.c, b.state)"},
		{"another variable is delivered", "cpu", cpuBox, "from: g.more[p.Variable-1]", "from: g.more[0]"},
		{"values are those before the burst", "reference", reference, "out.Fired = b.update(t, out.Fired)\n", "old := b.state.Clone()\n\tout.Fired = b.update(t, out.Fired)\n\tdefer func() {\n\t\tfor i, p := range b.want.Values {\n\t\t\tout.Values[i] = p.In(b.c, old)\n\t\t}\n\t}()\n"},
		{"the drive's place is not drawn from", "cpu", cpuInject, "[3]uint32{place, uint32(t)", "[3]uint32{0, uint32(t)"},
		{"drives are rounded one by one", "reference", "connectome/drive.go", "sum += now.addend(i)", "sum = float64(float32(sum) + float32(now.addend(i)))"},
		{"a factor is a burst late", "reference", "connectome/moving.go", "d.Moving.Factor.In(t)", "d.Moving.Factor.In(max(t, 1)-1)"},
		{"a factor does not wake neurons", "cpu", cpuModels, "d.Moving != nil && d.Active(t)", "d.Moving != nil && d.Active(t) && t == 0"},
		{"a neuron has its neighbour's numbers of a drive", "reference", "connectome/own.go", "r := o.Rows[i]", "r := o.Rows[max(i, 1)-1]"},
		{"a neuron has its neighbour's numbers of a drive", "cpu", cpuInject, "own(d, table, first+uint32(i), x)", "own(d, table, 0*first+uint32(i), x)"},
		{"a parameter is the neighbour's in its column", "reference", "connectome/constants.go", "return s.Each[n], true", "return s.Each[max(n, 1)-1], true"},
		{"a potential is the neighbour's in its column", "reference", "connectome/initial.go", "from.Value.Each[first+uint32(n)]", "from.Value.Each[max(first+uint32(n), 1)-1]"},
		{"a formula reads the source's column at the target", "reference", "connectome/metric.go", "[][]uint32{sources, targets}", "[][]uint32{sources, sources}"},
		{"own amounts below 0 go with the others", "cpu", cpuInject, "amount := own(d, table, first+uint32(i), x); amount > 0", "amount := own(d, table, first+uint32(i), x); amount != 0"},
		{"sources do not see their factor", "reference", referenceModels, "a.Below(i, t)", "a.Chance.At(i)"},
		{"sources do not see their factor", "cpu", cpuSources, "if a.Factor != nil {", "if a.Factor != nil && t == 0 {"},
		{"rates below 0 are not 0", "reference", "connectome/moving.go", "m.Amount * max(f, 0)", "m.Amount * max(f, -f)"},
		{"currents decay before they act", "reference", referenceModels, "float32(p21ex**ex)", "float32(p21ex*float32(p11ex**ex))"},
		{"currents decay before they act", "cpu plain", cpuPlain, "float32(k.P21Ex*oldEx)", "float32(k.P21Ex*float32(k.P11Ex*oldEx))"},
		{"currents rest while the neuron is refractory", "reference", referenceModels, "*r--\n\t} else {", "*r--\n\t\treturn false\n\t} else {"},
		{"inhibition goes to the first port", "reference", "connectome/model.go", "i += neurons.Count", "i += 0"},
		{"inhibition goes to the first port", "cpu", cpuInject, "at += g.split", "at += 0"},
		{"a drive misses the port that it names", "reference", "connectome/model.go", "i += uint32(port-1) * neurons.Count", "i += uint32(min(port-1, 1)) * neurons.Count"},
		{"a drive misses the port that it names", "cpu", cpuInject, "at += uint32(d.Port-1) * g.run", "at += uint32(min(d.Port-1, 1)) * g.run"},
		{"what a drive draws below 0 leaves the port that it names", "cpu", cpuInject, "\tcase d.Port > 0:\n", "\tcase d.Port > 0 && !negative:\n"},
		{"a model reads its third port from the first", "reference", reference, "b.acc[a.Ports.First+k*a.Neurons.Count+i]", "b.acc[a.Ports.First+k%2*a.Neurons.Count+i]"},
		{"a model reads its third port from the second", "cpu", cpuCustom, "at := g.slot + port*g.run", "at := g.slot + min(port, 1)*g.run"},
		{"candidates of a third port are lost", "cpu", cpuBox, "range b.c.Areas[i].PortsEach()", "range min(b.c.Areas[i].PortsEach(), 2)"},
		{"stimuli of a third port are lost", "cpu", cpuInject, "range g.area.PortsEach()", "range min(g.area.PortsEach(), 2)"},
		{"what learns goes to the first port", "cpu", cpuShare, "s.slot, s.ahead = g.slot+p.Port*g.run, g.portsAhead(p.Port)", "s.slot, s.ahead = g.slot, g.portsAhead(p.Port)"},
		{"a third port is forgotten in parts", "cpu parts", "backend/cpu/walk.go", "s.shift, s.slot = g.portsAhead(port), g.slot+port*g.run-g.lo", "s.shift, s.slot = g.portsAhead(port), g.slot+min(port, 1)*g.run-g.lo"},
		{"one full step for v", "reference", referenceModels, "for range 2 {", "for range 1 {"},
		{"u follows the old v", "cpu", cpuModels, "u = u + float32(adt*(float32(b*v)-u))", "u = u + float32(adt*(float32(b*oldV)-u))"},
		{"a source fires once too long", "reference", referenceModels, "a.From <= t && t < a.Until", "a.From <= t && t <= a.Until"},
		{"a source fires once too long", "cpu", cpuSources, "t < g.area.From || t >= g.area.Until", "t < g.area.From || t > g.area.Until"},
		{"a spike list is one burst late", "cpu", cpuSources, "t := spikes.At(k) - from\n", "t := spikes.At(k) - from + 1\n"},
		{"normal drive shares draws with Poisson drive", "cpu", cpuInject, "purpose = exact.NoiseDrive", "purpose = exact.PoissonDrive"},
		{"a marked block is not woken", "cpu", cpuModels, "g.live[h.block] = 1", "_ = g.live[h.block]"},
		{"a neighbouring refractory neuron is quiet", "cpu plain", cpuPlain, "now ^ held | silent | uint32(sum)", "now ^ held | uint32(sum)"},
		{"a custom model fires while refractory", "reference", formulaCompile, "fired := c.b.apply(And, over.ref, c.b.apply(Not, quiet.ref))", "fired := over.ref"},
		{"a custom reset sees the state before the update", "reference", formulaCompile, "\tmaps.Copy(locals, c.assignments(InReset", "\tfor k, l := range c.source.State {\n\t\tc.scope[l.Name] = binding{value{ref: c.b.load(State, k)}, aState}\n\t}\n\tmaps.Copy(locals, c.assignments(InReset"},
		{"min gives the first of two that do not compare", "reference", formulaRun, "if a < b {\n\t\t\treturn a\n\t\t}\n\t\treturn b", "if b < a {\n\t\t\treturn b\n\t\t}\n\t\treturn a"},
		{"custom multiply-add is fused", "cpu plain", cpuFormula, "float32(a[i]*b[i]) + c[i]", "float32(math.FMA(float64(a[i]), float64(b[i]), float64(c[i])))"},
		{"min gives the first of two that do not compare", "cpu plain", cpuFormula, "if a[i] < x {\n\t\t\tx = a[i]", "if !(x < a[i]) {\n\t\t\tx = a[i]"},
		{"a register is freed before its value is read", "cpu", cpuRecipe, "l.uses[v] == 0 {", "l.uses[v] <= 1 {"},
		{"a variable is stored before another reads it", "cpu", cpuRecipe, "int(in.K) != k", "k > 999"},
		{"a custom neuron's parameters are its neighbour's", "cpu", cpuCustom, "each[first+lo : first+hi]", "each[lo : hi+0*first]"},
		{"a refractory custom neuron is quiet", "cpu plain", cpuFormula, "touch(live, i, is|uint32(r[i]))", "touch(live, i, is)"},
		{"flights of long delays begin too early", "cpu", cpuPropagate, "w.listRows(b.queues.before(w.now+uint64(later), delay))", "w.listRows(b.queues.before(w.now, 1))"},
		{"flights are lost when a state is written", "cpu", cpuPropagate, "if delay >= age {", "if delay > age {"},
		{"pre events come before post events", "reference", referenceLearns, "\t\tif e.post {\n\t\t\tl.handle(l.p.OnPost, e) // 1a\n\t\t}\n\t\tif e.pre {\n\t\t\tl.deliver(k, l.handle(l.p.OnPre, e)) // 1b\n\t\t}\n", "\t\tif e.pre {\n\t\t\tl.deliver(k, l.handle(l.p.OnPre, e)) // 1b\n\t\t}\n\t\tif e.post {\n\t\t\tl.handle(l.p.OnPost, e) // 1a\n\t\t}\n"},
		{"a trace is raised before it is read", "reference", referenceLearns, "\tend := e.t\n", "\tend := e.t + 1\n"},
		{"a trace decays twice", "reference", referenceLearns, "float32(x * table.At(t-(last-1+delay)))", "float32(float32(x*table.At(t-(last-1+delay))) * table.At(t-(last-1+delay)))"},
		{"a weight is not clamped from below", "reference", referenceLearns, "\tcase w < l.p.Lo:\n\t\tw = l.p.Below", "\tcase w < l.p.Lo:"},
		{"a weight is not clamped from above", "reference", referenceLearns, "\tcase l.p.Hi < w:\n\t\tw = l.p.Above", "\tcase l.p.Hi < w:"},
		{"a weight that may fail is clamped", "reference", referenceLearns, "\t\tw = l.p.Above", "\t\tw = l.p.Hi"},
		{"a weight that may fail is clamped", "cpu", cpuWindow, "\t\tw = s.l.p.Above", "\t\tw = s.l.p.Hi"},
		{"a share is not divided", "cpu", cpuWindow, "p.Delivers(connectome.Quanta(x, scale), i, amplitude, scale)", "int64(connectome.Quanta(x, scale)) + 0*int64(i+uint32(amplitude))"},
		{"a share is rounded down", "reference", plastic, "\treturn (q + by - 1) / by", "\treturn q / by"},
		{"a share below 0 is rounded up", "reference", plastic, "return -((-q + by - 1) / by)", "return -(-q / by)"},
		{"a weight may be −0", "reference", referenceLearns, "\treturn w + 0", "\treturn w"},
		{"an age is one burst too long", "reference", referenceLearns, "float32(min(t-(last-1+delay), formula.MaxAge))", "float32(min(t+1-(last-1+delay), formula.MaxAge))"},
		{"what leaves the queues is forgotten", "reference", referenceLearns, "if l.p.To.Has(n) && l.p.When == nil {", "if l.p.To.Has(n) && l.p.When != nil {"},
		{"what is delivered is not clamped", "reference", referenceLearns, "\tcase high < out:\n\t\tout = high", "\tcase high < out:"},
		{"what is delivered has the lower bound", "reference", referenceLearns, "low, high := min(l.p.Lo, 0), max(l.p.Hi, 0)", "low, high := l.p.Lo, max(l.p.Hi, 0)"},
		{"a sweep does not see its burst", "reference", referenceLearns, "\tif e.sweep {\n\t\tend++\n\t}", "\tif e.sweep {\n\t\tend += 0\n\t}"},
		{"a modulator counts bursts", "reference", referenceLearns, "x, last = raised(&m.Trace, x, last, s, float32(m.Amount*float32(n))), s+1", "x, last = raised(&m.Trace, x, last, s, m.Amount), s+1"},
		{"a source's variables are those before the spike", "reference", referenceLearns, "for s := l.b.oldest(); s <= e.t-e.delay; s++ {", "for s := l.b.oldest(); s < e.t-e.delay; s++ {"},
		{"a trace that is set adds", "reference", referenceLearns, "\tcase trace.Set:\n\t\treturn amount\n", "\tcase trace.Set && last == 0:\n\t\treturn amount\n"},
		{"a post event ignores the dendritic delay", "reference", referenceLearns, "return l.b.fired(l.p.To.First+j, t-uint64(l.p.Lag))", "return l.b.fired(l.p.To.First+j, t-1)"},
		{"a window looks at this burst", "reference", referenceLearns, "if t >= d+back && l.b.fired(n, t-d-back) {", "if t >= d+back && l.b.fired(n, t-back) {"},
		{"FEAGI's spike carries the new weight", "reference", referenceLearns, "if l.p.Window.Kind == genome.WindowRelease && l.b.fired(i, t-d) {\n\t\t\tl.deliver(k, *w)", "if l.p.Window.Kind == genome.WindowRelease && l.b.fired(i, t-d) {\n\t\t\tl.deliver(k, *w+l.p.Window.Up)"},
		{"FEAGI learns before its window has been", "reference", referenceLearns, "\t\tcase past < l.p.Window.Bursts:\n\t\tcase source > 0", "\t\tcase source > 0"},
		{"FEAGI learns before its window has been", "cpu", cpuWindow, "case findsTargets(w) && burst+1 < uint64(w.Bursts), ", "case "},
		{"an event that a synapse still lacks is lost", "cpu", cpuRing, "return r.own[j] == perSlot && uint32(", "return r.own[j] > perSlot && uint32("},
		{"a saved slot is never found again", "cpu", cpuRing, "if number-r.first >= r.next-r.first {", "if number-r.first >= r.next-r.first || true {"},
		{"rows that a turn has visited have their events twice", "cpu", cpuTurn, "i < u.row {\n\t\treturn u.cut", "i < u.row {\n\t\treturn s.ring.done"},
		{"a visit applies events of after the cut", "cpu", cpuTurn, "s.begin(settles, t-1, u.cut)", "s.begin(settles, t-1, t)"},
		{"a turn passes rows over whose source fired before it", "cpu", cpuTurn, "s.t); m.last < cut {\n\t\t\tfrom, to", "s.t); m.last == 0 {\n\t\t\tfrom, to"},
		{"events before the cut are dropped too early", "cpu", cpuTurn, "p.ring.drop(u.cut, p.ring.events-u.events)", "p.ring.drop(t, 0)"},
		{"a rule that sets a variable counts as still", "cpu", cpuStill, "values[r].variable != k+1 {", "k == 0 && values[r].variable != k+1 {"},
		{"traces count as faded at once", "cpu", cpuStill, "faded = max(faded, p.Pre[k].Table.Until)", "faded = min(faded, p.Pre[k].Table.Until)"},
		{"what turns have applied is applied again at a spike", "cpu", cpuBlock, "after := max(m.last, s.had(i)) - s.ring.epoch", "after := max(m.last, s.ring.done) - s.ring.epoch"},
		{"a synapse without an event runs on_post", "cpu", cpuHandle, "s.broken = k.BoundSome(e.weight[:n], made, counts, p.Lo, p.Hi)", "s.broken = k.Bound(e.weight[:n], made, p.Lo, p.Hi)"},
		{"the second event comes first", "cpu", cpuPending, "at -= round - 1\n", "at -= s.left[q] - round\n"},
		{"lanes of a saved slot are taken for the target's", "cpu", cpuPending, "\t\t\t\te.lanes[q] = uint32(s.ring.slots[at/perSlot][0])\n", ""},
		{"the head's trace is not the target's", "cpu", cpuPosted, "p.ring.heads[j][1] = math.Float32bits(x)", "p.ring.heads[j][1] |= math.Float32bits(x)"},
		{"a target's spike of this burst is its last one", "cpu plain", cpuSynapses, "if lane == then {", "if lane == then+1 {"},
		{"half rounds to 0", "cpu plain", cpuSynapses, "whole + int32(2*(w-float32(whole)))", "whole + int32(1.5*(w-float32(whole)))"},
		{"pending events of a burst are those of it and later", "cpu plain", cpuSynapses, "above := uint64(after[i]) * 0x1_0000_0001", "above := uint64(after[i]-0x1_0001*min(1, after[i])) * 0x1_0000_0001"},
		{"a source in the window has its synapse lowered twice", "cpu", cpuWindow, "if !has(source.any, x.source) {", "{"},
		{"an amplitude is that of another burst", "reference", reference, "\t\tcopy(list[1:], list)\n", ""},
		{"an amplitude arrives a burst late", "reference", reference, "b.drives(x, d+1)", "b.drives(x, d)"},
		{"an amplitude arrives a burst early", "cpu", cpuDriven, "w.deliverDriven(x, uint8(d+1))", "w.deliverDriven(x, uint8(d+2))"},
		{"an amplitude is what is left of the potential", "reference", referenceModels, "b.amplitude(a, n, *v)\n\t\t\t*v = 0\n", "*v = 0\n\t\t\tb.amplitude(a, n, *v)\n"},
		{"an amplitude is the input alone", "cpu", cpuDriven, "\t\t\tif f.accumulate {\n\t\t\t\tv =", "\t\t\tif f.accumulate && f.drives == false {\n\t\t\t\tv ="},
		{"amplitudes are lost when a state is written", "cpu", cpu, "append(b.amplitudes, slices.Clone(list))", "append(b.amplitudes, list[:0])"},
		{"amplitudes stay out of the state that is read", "cpu", cpu, "append(s.Amplitudes[i][:0], list...)", "append(s.Amplitudes[i][:0], list[:0]...)"},
		{"an amplitude is below 0", "reference", driven, "\tif v <= 0 {\n\t\treturn 0, true", "\tif v <= 0 {\n\t\treturn int32(float64(v) * float64(scale)), true"},
		{"a weight that learns keeps out of the amplitude", "cpu", cpuWindow, "amplitude = s.w.b.amplitudeOf", "_ = s.w.b.amplitudeOf"},
		{"a weight that learns takes the amplitude of another burst", "cpu", cpuDriven, "b.amplitudes[b.number-burst-1]", "b.amplitudes[0]"},
		{"what is delivered has no sign", "reference", driven, "\tif product < 0 {\n\t\treturn -int64(size)", "\tif product < 0 {\n\t\treturn int64(size)"},
		{"an amplitude has no bound", "reference", driven, "if !(whole <= float64(most)) {", "if whole != whole {"},
		{"an amplitude has no bound", "cpu", cpuDriven, "\t\t\tif f.wrong != nil {", "\t\t\tif f.wrong != nil && b.number > 1<<60 {"},
		{"a part has its own amplitudes alone", "cpu parts", splitBurst, "m.amplitudes = append(m.amplitudes, amplitudesOf(words[1:end])...)", "if i == m.x.Part().Index {\n\t\t\tm.amplitudes = append(m.amplitudes, amplitudesOf(words[1:end])...)\n\t\t}"},
		{"amplitudes of parts are in the parts' order", "cpu parts", splitBurst, "return cmp.Compare(a.Neuron, b.Neuron)", "return cmp.Compare(a.Neuron, b.Neuron) * 0"},
		{"other parts start without amplitudes", "cpu parts", splitState, "s.Amplitudes[d] = amplitudesOf(words)", "s.Amplitudes[d] = amplitudesOf(words)[:0]"},
		{"an amplitude is not divided", "cpu", cpuDriven, "rows.DivideOf(x.Neuron)", "0*rows.DivideOf(x.Neuron)"},
		{"a driven share is rounded down", "reference", driven, "size = (size + among - 1) / among", "size = size / among"},
		{"what is delivered is not lifted", "cpu", cpuDriven, "w.groups[area].area.Lift(", "int64("},
		{"ties round to 0", "reference", quantaRounding, "if a-whole >= 0.5 {", "if a-whole > 0.5 {"},
		{"weights are in the order of rows", "reference", plasticOrder, "places[k] = place })", "places[k] = k + 0*place })"},
		{"what variables start from is drawn a place late", "reference", plasticStart, "s.fill(lo, list[lo:hi], 0)", "s.fill(lo+1, list[lo:hi], 0)"},
		{"all variables draw alike", "reference", plasticStart, "p.Projection|k<<variableShift", "p.Projection|k<<variableShift*0"},
		{"variables draw as weights do", "reference", plasticStart, "newSampler(*p.Drawn[k], seed, exact.SynapseDraw", "newSampler(*p.Drawn[k], seed, exact.WeightDraw"},
		{"a part draws by its own places", "cpu parts", plasticStart, "s.at(*at)", "s.at(lo)"},
		{"a table ends too early", "reference", table, "math.Floor(150*math.Ln2*min(tau, MaxTau))", "math.Floor(90*math.Ln2*min(tau, MaxTau))"},
		{"long-term is more than long_term", "reference", referenceMemory, "if left >= uint32(a.Constant(\"long_term\").Const) {", "if left > uint32(a.Constant(\"long_term\").Const) {"},
		{"long-term is more than long_term", "cpu", memoryArea, "if left >= m.forGood {", "if left > m.forGood {"},
		{"long-term memory ages", "reference", referenceMemory, "*left > 0 && s.LongTerm[i] == 0 &&", "*left > 0 &&"},
		{"long-term memory ages", "cpu", memoryArea, "left == 0 || longTerm[i] != 0 ||", "left == 0 || longTerm[i] > 1 ||"},
		{"long-term memory grows", "reference", referenceMemory, "if s.LongTerm[i] == 0 {", "if s.LongTerm[i] <= 1 {"},
		{"long-term memory grows", "cpu", memoryArea, "if s.LongTerm[i] == 0 {", "if s.LongTerm[i] <= 1 {"},
		{"memory ages after it has detected", "reference", referenceMemory, "if !spares {\n\t\tforget(s, none) // 4b\n\t}", "spares = true"},
		{"memory ages after it has detected", "cpu", memoryArea, "if !m.spares {\n\t\tm.age(none) // 4b\n\t}", "m.spares = true"},
		{"what is seen is not spared", "reference", referenceMemory, "if spares {\n\t\tforget(s, fires)", "if spares {\n\t\tforget(s, none)"},
		{"what is seen is not spared", "cpu", memoryArea, "m.age(recalled)", "m.age(none)"},
		{"a pattern is newest burst first", "reference", referenceMemory, "for d := depth; d >= 1; d-- {", "for d := uint32(1); d <= depth; d++ {"},
		{"a pattern is newest burst first", "cpu", memoryArea, "for d := m.depth; d >= 1; d-- {", "for d := 1; d <= m.depth; d++ {"},
		{"a pattern has no counts", "reference", referenceMemory, "uint32(len(ids)/4))", "0*uint32(len(ids)/4))"},
		{"a pattern has no counts", "cpu", memoryArea, "uint32(hi-lo))", "0*uint32(hi-lo))"},
		{"a pattern has ids counted in its area", "reference", referenceMemory, "AppendUint32(ids, n)", "AppendUint32(ids, n-neurons.First)"},
		{"a pattern has ids counted in its area", "cpu", memoryArea, "AppendUint32(text, n)", "AppendUint32(text, n-from.First)"},
		{"silence is a pattern", "reference", referenceMemory, "found = found || len(ids) > 0", "found = true"},
		{"silence is a pattern", "cpu", memoryArea, "found = found || lo < hi", "found = true"},
		{"a pattern may begin before burst 0", "reference", referenceMemory, "if t < uint64(depth) {", "if t == 0 {"},
		{"a pattern may begin before burst 0", "cpu", memoryArea, "if t >= uint64(m.depth) {", "if t >= 1 {"},
		{"a dead pattern is still known", "cpu", memoryArea, "delete(m.known, s.Pattern[i])", "_ = m.known"},
		{"a dead pattern keeps its hash", "reference", referenceMemory, "if *left--; *left == 0 {\n\t\t\t\ts.Pattern[i] = 0", "if *left--; *left == 0 {\n\t\t\t\ts.Pattern[i] += 0"},
		{"a new pattern takes a neuron that was never used", "cpu", memoryArea, "i := slices.Index(s.Lifespan[:m.used], 0)\n\tif i < 0 {", "i := slices.Index(s.Lifespan[:m.used], 0)\n\tif i < 0 || m.used < len(s.Lifespan) {"},
		{"lost patterns are not counted", "reference", referenceMemory, "s.Lost++", "s.Lost += 0"},
		{"lost patterns are not counted", "cpu", memoryArea, "s.Lost++", "s.Lost += 0"},
		{"a written state is not known", "cpu", memoryArea, "m.used, m.known[s.Pattern[i]] = i+1, uint32(i)", "m.used = i + 1"},
	}
}

// preparation is what a planted bug, known by a part of its text, needs at another place of its file.
var preparation = map[string][2]string{
	"float64(kept)":  {"*v = float32(*v * keep)", "kept := *v\n\t*v = float32(*v * keep)"},
	"float64(whole)": {"v = float32(v * f.keep)", "whole := v\n\tv = float32(v * f.keep)"},
}

// TestPlantedBugsHaveAPlace: the text that a bug replaces is in its file, once.
func TestPlantedBugsHaveAPlace(t *testing.T) {
	for _, p := range bugs() {
		text, err := os.ReadFile(filepath.Join("../..", p.file))
		if err != nil {
			t.Fatal(err)
		}
		if n := strings.Count(string(text), p.from); n != 1 {
			t.Errorf("%s: %q is there %d times, want once", p.file, p.from, n)
		}
	}
}

// TestPlantedBugsAreCaught compiles the backends' tests once, with every bug in them and a variable of the environment to
// choose one, and wants each bug to fail the suite; without a bug it must pass, or failures would prove nothing.
func TestPlantedBugsAreCaught(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles the backends and runs their suite some seventy times; runs without -short")
	}
	slow.Test(t)
	if _, err := exec.LookPath("go"); err != nil {
		t.Skip("needs the go command:", err)
	}
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	bugs := bugs()
	programs := compile(t, root, bugs)
	for backend := range conformance {
		t.Run("no bug/"+backend, func(t *testing.T) {
			t.Parallel()
			if out, err := runSuite(t, root, programs, backend, noBug); err != nil {
				t.Fatalf("the suite fails without any bug: %v\n%s", err, out)
			}
		})
	}
	for i, p := range bugs {
		t.Run(p.bug+"/"+p.backend, func(t *testing.T) {
			t.Parallel()
			out, err := runSuite(t, root, programs, p.backend, 1+i)
			if err == nil {
				t.Fatalf("%s: the suite passes with %q in place of %q", p.file, p.to, p.from)
			}
			if !strings.Contains(out, "--- FAIL: TestConformance") {
				t.Fatalf("%s: the suite did not run: %v\n%s", p.file, err, out)
			}
		})
	}
}

const (
	chosen = "BURST_PLANTED_BUG" // the variable of the environment with the number of the bug to run with; the first is 1
	noBug  = 0
)

// compile compiles the tests of both backends with all bugs, by go test's overlay, and returns the programs' folder.
func compile(t *testing.T, root string, bugs []planted) string {
	folder := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(folder, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	replace := map[string]string{}
	for _, p := range bugs {
		path := filepath.Join(root, p.file)
		if replace[path] != "" {
			continue
		}
		text, name := plant(t, root, p.file, bugs)
		replace[path] = write(fmt.Sprintf("%d.go", len(replace)), text)
		replace[filepath.Join(filepath.Dir(path), "planted.go")] = write("planted_"+name+".go", fmt.Sprintf(
			"package %s\n\nimport (\n\t\"os\"\n\t\"strconv\"\n)\n\nvar plantedBug, _ = strconv.Atoi(os.Getenv(%q))\n", name, chosen))
	}
	list, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), "go", "test", "-c", "-overlay", write("overlay.json", string(list)), "-vet=off",
		"-o", folder, "./backend/reference", "./backend/cpu")
	cmd.Dir = root
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("the planted bugs do not compile: %v\n%s", err, out)
	}
	return folder
}

// plant is the text of a file with its bugs, and its package's name. A function with a bug begins with its whole body as it
// is with the bug, under the condition that the bug is the chosen one.
func plant(t *testing.T, root, file string, bugs []planted) (text, name string) {
	read, err := os.ReadFile(filepath.Join(root, file))
	if err != nil {
		t.Fatal(err)
	}
	text = string(read)
	functions, name := parse(t, file, text)
	for i, p := range bugs {
		if p.file != file {
			continue
		}
		patched, _ := parse(t, file, p.patch(t, text))
		var differ []int
		for k := range patched {
			if len(patched) == len(functions) && patched[k].body != functions[k].body {
				differ = append(differ, k)
			}
		}
		if len(differ) != 1 {
			t.Fatalf("%s: %q changes %d functions, want one", file, p.bug, len(differ))
		}
		f := &functions[differ[0]]
		f.head += fmt.Sprintf("\nif plantedBug == %d {%s\n%s}", 1+i, patched[differ[0]].body, f.leave)
	}
	for _, f := range slices.Backward(functions) {
		text = text[:f.begin] + f.head + text[f.begin:]
	}
	return text, name
}

// function is a function of a file; begin is its body's offset, behind the brace.
type function struct {
	begin int
	body  string
	leave string // what ends a body that may reach its end
	head  string // what is to be put before the body
}

// parse lists the functions of a file in their order.
func parse(t *testing.T, file, text string) (functions []function, name string) {
	parsed, err := parser.ParseFile(token.NewFileSet(), file, text, 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range parsed.Decls {
		if f, ok := d.(*ast.FuncDecl); ok && f.Body != nil {
			begin, end := int(f.Body.Lbrace-parsed.FileStart)+1, int(f.Body.Rbrace-parsed.FileStart)
			one := function{begin: begin, body: text[begin:end]}
			if f.Type.Results == nil {
				one.leave = "return\n"
			}
			functions = append(functions, one)
		}
	}
	return functions, parsed.Name.Name
}

// patch is a file's text with the bug in it.
func (p *planted) patch(t *testing.T, text string) string {
	patched := p.replace(t, text, p.from, p.to)
	for mark, also := range preparation {
		if strings.Contains(p.to, mark) {
			patched = p.replace(t, patched, also[0], also[1])
		}
	}
	return patched
}

func (p *planted) replace(t *testing.T, text, from, to string) string {
	if n := strings.Count(text, from); n != 1 {
		t.Fatalf("%s: %q occurs %d times, want once; keep this test in step with the code", p.file, from, n)
	}
	return strings.Replace(text, from, to, 1)
}

// runSuite runs a backend's conformance test with a bug until it fails.
func runSuite(t *testing.T, root, programs, backend string, bug int) (string, error) {
	name := strings.Fields(backend)[0]
	cmd := exec.CommandContext(t.Context(), filepath.Join(programs, name+".test"),
		"-test.short", "-test.failfast", "-test.run", conformance[backend])
	cmd.Dir = filepath.Join(root, "backend", name)
	cmd.Env = append(os.Environ(), fmt.Sprintf("%s=%d", chosen, bug))
	out, err := cmd.CombinedOutput()
	return string(out), err
}
