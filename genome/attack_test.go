package genome

import (
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"burst/internal/slow"
)

// attack is a text made to exhaust its reader.
type attack struct {
	name, text string
	line       int // where the fault must be, 0: anywhere
}

func attacks() []attack {
	bomb := "a: &a [x,x,x,x,x,x,x,x,x]\n"
	for c := 'b'; c <= 'i'; c++ {
		bomb += fmt.Sprintf("%c: &%c [%s]\n", c, c, strings.TrimSuffix(strings.Repeat(fmt.Sprintf("*%c,", c-1), 9), ","))
	}
	var keys, areas strings.Builder
	for i := range 1_000_000 {
		fmt.Fprintf(&keys, "k%d: 1\n", i)
	}
	areas.WriteString("burst: v1\nareas:\n")
	for i := range 12_000 {
		fmt.Fprintf(&areas, "  - {nme: a%d, size: [1, 1, 1], treshold: 1.0, leak: 7}\n", i)
	}
	good := "burst: v1\nareas: [{name: a, neurons: 3}]\n"
	return []attack{
		{"aliases 9 to the 9th", bomb, 1},
		{"a million brackets", strings.Repeat("[", 1_000_000), 1},
		{"brackets on lines", strings.Repeat("[\n", 50_000), 0},
		{"braces", strings.Repeat("{a: ", 250_000), 1},
		{"dashes", strings.Repeat("- ", 500_000), 1},
		{"question marks", strings.Repeat("? ", 500_000), 1},
		{"10 MB of one scalar", "burst: " + strings.Repeat("x", 10_000_000), 1},
		{"10 MB of one quote", "burst: \"" + strings.Repeat("x\n  ", 2_500_000), 0},
		{"10 MB of commas", "burst: [" + strings.Repeat("1,", 5_000_000), 1},
		{"a million keys", keys.String(), 0},
		{"12,000 areas of mistakes", areas.String(), 3},
		{"10 MB of comments", strings.Repeat("#\n", 5_000_000), 0},
		{"merge loop", good + "record: &r\n  <<: *r\n", 3},
		{"binary tag", "burst: !!binary djE=\nareas: [{name: a, neurons: 3}]\n", 1},
		{"tag of its own", "burst: v1\nareas: !go/exec [{name: a, neurons: 3}]\n", 2},
		{"UTF-16", "\xff\xfeb\x00u\x00r\x00s\x00t\x00", 1},
		{"NUL", good + "name: a\x00b\n", 3},
		{"the same key twice", good + "seed: 1\nseed: 2\n", 4},
		{"two documents", good + "---\n" + good, 3},
		{"17 MiB", strings.Repeat("# comment\n", 1_782_580), 1},
	}
}

// Every attack must be refused, within the memory promised, at a line of the text.
func TestAttacks(t *testing.T) {
	for _, a := range attacks() {
		t.Run(a.name, func(t *testing.T) {
			text := []byte(a.text)
			start := time.Now()
			var err error
			spent := allocated(func() { _, err = Parse("attack.yaml", text, nil) })
			took := time.Since(start)
			var faults Faults
			if !errors.As(err, &faults) {
				t.Fatalf("not refused: %v", err)
			}
			if f := faults[0]; f.Line < 1 || f.Column < 1 || a.line != 0 && f.Line != a.line {
				t.Errorf("at %d:%d, want line %d: %s", f.Line, f.Column, a.line, f.Message)
			}
			if took > 5*time.Minute { // some take two seconds, many more on a crowded machine; what exhausts the reader takes for ever
				t.Errorf("refused after %v", took)
			}
			if most := uint64(64<<20 + 50*len(text)); spent > most {
				t.Errorf("%d bytes allocated, want at most %d", spent, most)
			}
			if n := len(err.Error()); n > 2<<20 {
				t.Errorf("a report of %d bytes", n)
			}
			t.Logf("%d bytes, %v, %d bytes allocated, %d faults: %d:%d %s", len(text), took.Round(time.Millisecond), spent,
				len(faults), faults[0].Line, faults[0].Column, faults[0].Message)
		})
	}
	t.Logf("R19: %d attack files refused, each at its line, within 64 MiB and 50 bytes a byte of text", len(attacks()))
}

// allocated is the number of bytes that f allocates, freed ones included: more than it ever holds at once.
func allocated(f func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

// Texts that are dense with values must stay within the memory promised, refused or not.
func TestDenseTexts(t *testing.T) {
	for _, piece := range []string{"1,", "a,", "[],", "{},", "a: 1,", "\"\",", "1, #c\n"} {
		for _, size := range []int{1_000_000, 100_000}[:slow.Times(1, 2)] {
			for _, around := range []string{"[]", "{}"} {
				text := []byte("burst: " + around[:1] + strings.Repeat(piece, size/len(piece)) + around[1:])
				spent := allocated(func() { _, _ = Parse("dense.yaml", text, nil) })
				if most := uint64(64<<20 + 50*len(text)); spent > most {
					t.Errorf("%d times %q in %q: %d bytes allocated, want at most %d", size/len(piece), piece, around, spent, most)
				}
			}
		}
	}
	for _, piece := range []string{"-\n", "- #\n", "- - 1\n", "- {name: a,neurons: 1}\n", "- {}\n"} {
		for _, size := range []int{1_000_000, 100_000, 4_000_000}[:slow.Times(1, 3)] {
			text := []byte("burst: v1\nareas:\n" + strings.Repeat(piece, size/len(piece)))
			spent := allocated(func() { _, _ = Parse("dense.yaml", text, nil) })
			if most := uint64(64<<20 + 50*len(text)); spent > most {
				t.Errorf("%d times %q: %d bytes allocated, want at most %d", size/len(piece), piece, spent, most)
			}
		}
	}
}

// seeds are texts from which the mutations start: small ones, which together hold every part of the format.
func seeds() []string {
	const area = "burst: v1\nareas: [{name: a, neurons: 3}]\n"
	return []string{
		area,
		"burst: v1\nname: x\nseed: 4\nrun_seed: 5\ntimestep: 0.1 ms\nscale: auto\nbursts: 9 ms\nareas:\n  - name: a\n    size: [2, 3, 1]\n",
		"burst: v1\nareas:\n  - name: a\n    neurons: 3\n    leak: 0.1\n    fire_limit: 3\n    draw: feagi\n    accumulate: true\n",
		"burst: v1\nareas:\n- {name: a, size: [2, 3, 1], neurons_per_voxel: 2, position: [1, 2, 3], threshold_gradient: [0.1, 0, 0]}\n",
		"burst: v1\nareas: [{name: b, neurons: 7, model: lif, params: {tau: 9 ms, C: 2 pF, refractory: 3 ms}, init: {V: \"normal(5 mV, 2 mV) > 0 mV\"}}]\n",
		"burst: v1\nareas:\n- name: a\n  neurons: 3\n  drive: [{constant: 1.5, from: 3, until: 9 ms}, {poisson: {rate: 5 Hz, weight: 0.1}}]\n",
		area + "projections: [{from: a, to: a, rule: one_to_one, weight: 2, delay: 3 ms}]\n",
		area + "projections:\n  - from: a\n    to: a\n    rule: fixed_indegree\n    indegree: 2\n    weight: \"clip(lognormal(1, 2), 0, 3)\"\n",
		area + "projections: [{from: a, to: a, rule: vectors, vectors: [[1, 0, -1]], weight: 'uniform(1, 2)'}]\n",
		area + "projections: [{from: a, to: a, rule: patterns, patterns: [[[\"*\", \"?\", 0], [0, \"!\", 0]]], weight: 3}]\n",
		area + "stimuli: [{area: a, at: 2, neurons: [0, 2], amount: 5}, {area: a, every: 3, image: x.png}]\n",
		area + "record: {spikes: [a], potentials: [{area: a, neurons: [0]}], fcl: true} # all\n",
		area + "record: &r\n  <<: *r\n",
		"burst: !!binary djE=\n---\nname: |\n  x\n",
	}
}

// check asserts what holds for every text: an answer, and faults that have a place, in order.
func check(t *testing.T, text []byte) bool {
	t.Helper()
	g, err := Parse("fuzz.yaml", text, nil)
	if (g == nil) == (err == nil) {
		t.Errorf("genome %v and error %v for\n%s", g, err, text)
		return false
	}
	if err == nil {
		return true
	}
	var faults Faults
	if !errors.As(err, &faults) || len(faults) == 0 {
		t.Errorf("no faults: %v for\n%s", err, text)
		return false
	}
	for i, f := range faults {
		if f.Line < 1 || f.Column < 1 || f.Message == "" || i > 0 && f.Line < faults[i-1].Line {
			t.Errorf("fault %d without place, message or order: %+v for\n%s", i, f, text)
			return false
		}
	}
	_ = err.Error()
	return true
}

// mutate changes a few bytes, pieces or lines of a text.
func mutate(r *rand.Rand, text []byte) []byte {
	pieces := []string{"[", "]", "{", "}", "\"", "'", ":", ": ", ",", "- ", "\n", "\t", " ", "#", "&a ", "*a", "<<: ", "!!str ", "|\n", ">", "? ",
		"1e39", ".nan", "-1", "99999999999999999999", "normal(1, 2)", " > 0", "ms", "mV", "\x00", "\xff", "é", "---\n", "%YAML 1.1\n", "\\", "0"}
	out := append([]byte(nil), text...)
	for range 1 + r.IntN(4) {
		at := r.IntN(len(out) + 1)
		end := min(len(out), at+r.IntN(12))
		switch r.IntN(4) {
		case 0:
			out = append(out[:at:at], out[end:]...)
		case 1:
			out = append(out[:at:at], append([]byte(pieces[r.IntN(len(pieces))]), out[at:]...)...)
		case 2:
			out = append(out[:at:at], append(append([]byte(nil), out[at:end]...), out[at:]...)...)
		default:
			if at < len(out) {
				out[at] = byte(r.IntN(256))
			}
		}
	}
	return out
}

var mutations = flag.Int("mutations", 20_000, "mutated texts that TestMutations reads")

// Mutated texts, the same in every run: no panic, a place for every fault, memory within bounds.
func TestMutations(t *testing.T) {
	rounds := *mutations / slow.Times(4, 1)
	if testing.Short() {
		rounds /= 10
	}
	start := time.Now()
	workers := runtime.GOMAXPROCS(0)
	var wg sync.WaitGroup
	for w := range workers {
		wg.Go(func() { mutated(t, uint64(w), rounds/workers) })
	}
	wg.Wait()
	t.Logf("R18: %d mutated texts in %v: no panic, none that hangs; `make nightly` tries 1.8 million more", rounds, time.Since(start).Round(time.Millisecond))
}

// mutated reads texts made from one seed.
func mutated(t *testing.T, seed uint64, rounds int) {
	r := rand.New(rand.NewPCG(20_07_19, seed))
	texts := append(seeds(), base)
	for i := range rounds {
		text := mutate(r, []byte(texts[r.IntN(len(texts))]))
		if i%64 != 0 { // reading the memory statistics stops all workers
			if !check(t, text) {
				return
			}
			continue
		}
		most := uint64(64<<20 + 50*len(text))
		if spent := allocated(func() { check(t, text) }); spent > most {
			t.Errorf("round %d: %d bytes allocated for %d, want at most %d:\n%s", i, spent, len(text), most, text)
			return
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, text := range seeds() {
		f.Add([]byte(text))
	}
	f.Add([]byte(base))
	f.Add([]byte(learns))
	f.Fuzz(func(t *testing.T, text []byte) { check(t, text) })
}
