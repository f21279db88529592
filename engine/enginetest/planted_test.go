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
	"cpu":       "TestConformance/2_parts",
	"cpu plain": "TestConformance/plain_loops", // assembly cannot be patched line by line; it is tested against these
}

const (
	reference       = "backend/reference/reference.go"
	referenceModels = "backend/reference/models.go"
	cpu             = "backend/cpu/cpu.go"
	cpuModels       = "backend/cpu/models.go"
	cpuPlain        = "backend/cpu/vector/plain.go"
	cpuMarks        = "backend/cpu/marks.go"
	cpuFEAGI        = "backend/cpu/feagi.go"
	cpuInject       = "backend/cpu/inject.go"
	cpuPropagate    = "backend/cpu/propagate.go"
	cpuSources      = "backend/cpu/sources.go"
	cpuRecipe       = "backend/cpu/recipe.go"
	cpuCustom       = "backend/cpu/custom.go"
	cpuFormula      = "backend/cpu/vector/formula.go"
	formulaRun      = "internal/formula/run.go"
	formulaCompile  = "internal/formula/compile.go"
)

// bugs lists what the suite must catch, in the reference and in the fast backend.
func bugs() []planted {
	return []planted{
		{"feagi leaks before the input", "reference", referenceModels, "*v += input", "*v = float32(*v*p.Keep) + input"},
		{"feagi leaks before the input", "cpu", cpuFEAGI, "v = b.v[i] + input", "v = float32(b.v[i]*f.Keep) + input"},
		{"lif leaks after the input", "reference", referenceModels, "*v = *v + (float32(p.EM1**v) + drive) + input", "*v += input; *v = *v + (float32(p.EM1**v) + drive)"},
		{"lif leaks after the input", "cpu plain", cpuPlain, "old + (float32(em1*old) + term) + float32(sum)/scale", "old + float32(sum)/scale + (float32(em1*(old+float32(sum)/scale)) + term)"},
		{"feagi refractory fixed at 3", "reference", referenceModels, "*r = p.Refractory\n\t\t\tif", "*r = 3\n\t\t\tif"},
		{"feagi refractory fixed at 3", "cpu", cpuFEAGI, "b.r[i] = f.Refractory", "b.r[i] = 3"},
		{"lif refractory fixed at 3", "reference", referenceModels, "*r = p.Refractory\n\t\treturn true\n\t}\n\treturn false\n}\n\n// pscExp", "*r = 3\n\t\treturn true\n\t}\n\treturn false\n}\n\n// pscExp"},
		{"lif refractory fixed at 3", "cpu", cpuModels, "Reset: k.Reset, Refractory: uint32(k.Refractory),\n\t}\n\tp.b.kernels.LIF", "Reset: k.Reset, Refractory: min(uint32(k.Refractory), 3),\n\t}\n\tp.b.kernels.LIF"},
		{"excitability draws half the range", "reference", referenceModels, "uint64(x) <", "uint64(x>>1) <"},
		{"excitability draws half the range", "cpu", cpuFEAGI, "uint64(n), t)[0])", "uint64(n), t)[0]>>1)"},
		{"Poisson draws half the range", "reference", reference, "uint64(n/4), t)[n%4])", "uint64(n/4), t)[n%4]>>1)"},
		{"Poisson draws half the range", "cpu plain", cpuPlain, "thresholds[k] <= x", "thresholds[k] <= x>>1"},
		{"lif multiply-add is fused", "reference", referenceModels, "(float32(p.EM1**v) + drive)", "float32(math.FMA(float64(p.EM1), float64(*v), float64(drive)))"},
		{"lif multiply-add is fused", "cpu plain", cpuPlain, "(float32(em1*old) + term)", "float32(math.FMA(float64(em1), float64(old), float64(term)))"},
		{"feagi multiply-add is fused", "reference", referenceModels, "max(*v-p.LeakAmount, 0)", "max(float32(math.FMA(float64(kept), float64(p.Keep), -float64(p.LeakAmount))), 0)"},
		{"feagi multiply-add is fused", "cpu", cpuFEAGI, "v = max(v-f.LeakAmount, 0)", "v = max(float32(math.FMA(float64(whole), float64(f.Keep), -float64(f.LeakAmount))), 0)"},
		{"the last delay's slot is skipped", "reference", reference, "d <= b.c.MaxDelay", "d < b.c.MaxDelay"},
		{"the last delay's slot is skipped", "cpu", cpuPropagate, "flight{next, f.end}", "flight{next, next.To}"},
		{"the fire queue is not sorted", "reference", reference, "fired = append(fired, a.Neurons.First+i)", "fired = append([]uint32{a.Neurons.First + i}, fired...)"},
		{"the fire queue is not sorted", "cpu", cpu, "out.Fired = append(out.Fired, g.fired...)", "out.Fired = append(g.fired[:len(g.fired):len(g.fired)], out.Fired...)"},
		{"a zero sum is in the FCL", "reference", reference, "if sum != 0 {", "{"},
		{"a zero sum is updated", "reference", reference, "return b.acc[a.Ports.First+i] != 0 && b.feagi", "return b.feagi"},
		{"a zero sum is a candidate", "cpu", cpuMarks, "if sums[i&63] != 0 {", "if sums[i&63] != 0 || true {"},
		{"fire_limit is off by one", "reference", referenceModels, "*count >= p.FireLimit", "*count > p.FireLimit"},
		{"fire_limit is off by one", "cpu", cpuFEAGI, "if f.FireLimit != 0 && b.count[i] >= f.FireLimit {\n\t\t\tb.count[i] = 0\n\t\t\tb.v[i]", "if f.FireLimit != 0 && b.count[i] > f.FireLimit {\n\t\t\tb.count[i] = 0\n\t\t\tb.v[i]"},
		{"threshold_limit is exclusive", "reference", referenceModels, "*v <= p.ThresholdLimit", "*v < p.ThresholdLimit"},
		{"threshold_limit is exclusive", "cpu", cpuFEAGI, "v <= f.ThresholdLimit", "v < f.ThresholdLimit"},
		{"threshold is exclusive", "reference", referenceModels, "p.Threshold.At(i) <= *v", "p.Threshold.At(i) < *v"},
		{"threshold is exclusive", "cpu plain", cpuPlain, "if x >= threshold", "if x > threshold"},
		{"snooze wraps around", "reference", referenceModels, "uint16(min(uint32(p.Refractory)+uint32(p.Snooze), math.MaxUint16))", "p.Refractory + p.Snooze"},
		{"snooze wraps around", "cpu", cpuFEAGI, "uint16(min(uint32(f.Refractory)+uint32(f.Snooze), math.MaxUint16))", "f.Refractory + f.Snooze"},
		{"count wraps around", "reference", referenceModels, "uint16(min(uint32(*count)+1, math.MaxUint16))", "*count + 1"},
		{"count wraps around", "cpu", cpuFEAGI, "b.v[i] = 0\n\tif b.count[i] < math.MaxUint16 {", "b.v[i] = 0\n\tif math.MaxUint16 > 0 {"},
		{"input is a product with 1/scale", "reference", reference, "+i]) / float32(b.c.Scale)", "+i]) * (1 / float32(b.c.Scale))"},
		{"input is a product with 1/scale", "cpu plain", cpuPlain, "term) + float32(sum)/scale", "term) + float32(float32(sum)*(1/scale))"},
		{"the burst's upper half is not drawn from", "reference", referenceModels, "exact.Excitability, uint64(n), t)", "exact.Excitability, uint64(n), t&(1<<32-1))"},
		{"a neighbour's potential is delivered", "reference", reference, "out.Potentials, b.state.V[n]", "out.Potentials, b.state.V[max(n, 1)-1]"},
		{"a neighbour's potential is delivered", "cpu", cpu, "v = b.v[b.own.Count(n)]", "v = b.v[max(b.own.Count(n), 1)-1]"},
		{"the drive's place is not drawn from", "cpu", cpuInject, "[3]uint32{place, uint32(t)", "[3]uint32{0, uint32(t)"},
		{"drives are rounded one by one", "reference", "connectome/drive.go", "default:\n\t\t\tsum += d.Term", "default:\n\t\t\tsum = float64(float32(sum) + float32(d.Term))"},
		{"currents decay before they act", "reference", referenceModels, "float32(p.P21Ex**ex)", "float32(p.P21Ex*float32(p.P11Ex**ex))"},
		{"currents decay before they act", "cpu plain", cpuPlain, "float32(k.P21Ex*oldEx)", "float32(k.P21Ex*float32(k.P11Ex*oldEx))"},
		{"currents rest while the neuron is refractory", "reference", referenceModels, "*r--\n\t} else {", "*r--\n\t\treturn false\n\t} else {"},
		{"inhibition goes to the first port", "reference", "connectome/model.go", "i += a.Neurons.Count", "i += 0"},
		{"inhibition goes to the first port", "cpu", cpuInject, "at += g.split", "at += 0"},
		{"one full step for v", "reference", referenceModels, "for range 2 {", "for range 1 {"},
		{"u follows the old v", "cpu", cpuModels, "u = u + float32(k.ADt*(float32(k.B*v)-u))", "u = u + float32(k.ADt*(float32(k.B*oldV)-u))"},
		{"a source fires once too long", "reference", reference, "s.From <= t && t < s.Until", "s.From <= t && t <= s.Until"},
		{"a source fires once too long", "cpu", cpuSources, "s.From <= t && t < s.Until", "s.From <= t && t <= s.Until"},
		{"a spike list is one burst late", "cpu", cpuSources, "l.burst != p.b.number", "l.burst != p.b.number+1"},
		{"normal drive shares draws with Poisson drive", "cpu", cpuInject, "purpose = exact.NoiseDrive", "purpose = exact.PoissonDrive"},
		{"a marked block is not woken", "cpu", cpuModels, "g.live[h.block] = 1", "_ = g.live[h.block]"},
		{"a neighbouring refractory neuron is quiet", "cpu plain", cpuPlain, "now ^ held | silent | uint32(sum)", "now ^ held | uint32(sum)"},
		{"a custom model fires while refractory", "reference", formulaCompile, "fired := c.b.apply(And, over.ref, c.b.apply(Not, quiet.ref))", "fired := over.ref"},
		{"a custom reset sees the state before the update", "reference", formulaCompile, "\tmaps.Copy(locals, c.assignments(InReset", "\tfor k, l := range c.source.State {\n\t\tc.scope[l.Name] = binding{value{ref: c.b.load(State, k)}, aState}\n\t}\n\tmaps.Copy(locals, c.assignments(InReset"},
		{"min gives the first of two that do not compare", "reference", formulaRun, "if a < b {\n\t\t\treturn a\n\t\t}\n\t\treturn b", "if b < a {\n\t\t\treturn b\n\t\t}\n\t\treturn a"},
		{"custom multiply-add is fused", "cpu plain", cpuFormula, "float32(a[i]*b[i]) + c[i]", "float32(math.FMA(float64(a[i]), float64(b[i]), float64(c[i])))"},
		{"min gives the first of two that do not compare", "cpu plain", cpuFormula, "if a[i] < x {\n\t\t\tx = a[i]", "if !(x < a[i]) {\n\t\t\tx = a[i]"},
		{"a value's place is given back before it is read", "cpu", cpuRecipe, "l.uses[v] == 0 {", "l.uses[v] <= 1 {"},
		{"a variable is stored before another reads it", "cpu", cpuRecipe, "int(in.K) != k", "k > 999"},
		{"a custom neuron's parameters are its neighbour's", "cpu", cpuCustom, "each[first+lo : first+hi]", "each[lo : hi+0*first]"},
		{"a refractory custom neuron is quiet", "cpu plain", cpuFormula, "touch(live, i, is|uint32(r[i]))", "touch(live, i, is)"},
		{"flights of long delays begin too early", "cpu", cpuPropagate, "p.listRows(p.b.queues[least-1])", "p.listRows(p.b.queues[0])"},
		{"flights are lost when a state is written", "cpu", cpuPropagate, "if delay >= age {", "if delay > age {"},
	}
}

// preparation is what a planted bug, known by a part of its text, needs at another place of its file.
var preparation = map[string][2]string{
	"float64(kept)":  {"*v = float32(*v * p.Keep)", "kept := *v\n\t*v = float32(*v * p.Keep)"},
	"float64(whole)": {"v = float32(v * f.Keep)", "whole := v\n\tv = float32(v * f.Keep)"},
}

// TestPlantedBugsAreCaught compiles the backends' tests once, with every bug in them and a variable of the environment to
// choose one, and wants each bug to fail the suite; without a bug it must pass, or failures would prove nothing.
func TestPlantedBugsAreCaught(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles the backends and runs their suite some seventy times; runs without -short")
	}
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
