package feagi_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"burst/genome"
	"burst/genome/feagi"
	"burst/internal/slow"

	"github.com/stretchr/testify/require"
)

// No text may stop the program: it becomes a genome whose own text is one as well, or faults with a place in it.
func FuzzImport(f *testing.F) {
	for _, name := range []string{"flat.json", "hierarchical.json"} {
		text, err := os.ReadFile(filepath.Join("testdata", name))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text, byte(0))
	}
	for _, text := range []string{
		"", "{", "[]", `{"blueprint": {"a": {"cortical_mapping_dst": {"a": [["tile", 2, -1, 1, 1, 1, 1, 1, 1]]}}}}`,
		`{"blueprint": {"m": {"is_mem_type": 1, "sub_group_id": "MEMORY", "cortical_mapping_dst": {"m": {"morphology_id": "memory"}}}}}`,
		one("nx-leak_c-f", "10", `["projector", [1,1,1], 1e300, true, 1, 1, 1, 9]`), one("cx-___bbx-i", `"3"`, `["0-0-0_to_all", 7, 1, 0]`),
		`{"neuron_morphologies": {"c": {"type": "composite", "parameters": {"src_seed": [1,1,1], "src_pattern": [[1,0],[2,1],[1,0]], "mapper_morphology": "v"}},
"v": {"parameters": {"vectors": [[0,0,0],[1,0,0],[2,0,0],[3,0,0],[4,0,0]]}}}, "blueprint": {"a": {"cortical_mapping_dst": {"a": [["c",[1,1,1],1,false]]}}}}`,
	} {
		f.Add([]byte(text), byte(7))
		f.Add([]byte(text), byte(0xe1))
	}
	f.Fuzz(func(t *testing.T, text []byte, choice byte) {
		o := feagi.Options{
			Dialect: []feagi.Dialect{feagi.Auto, feagi.Release, feagi.Rust, feagi.Python}[choice&3],
			Strict:  choice&4 != 0, NoClamp: choice&8 != 0, SkipMissing: choice&16 != 0, Unlearnable: choice&32 != 0, Window: choice >> 6,
		}
		g, made, r, err := feagi.Translate("fuzz.json", text, o)
		if err != nil {
			var faults genome.Faults
			if !errors.As(err, &faults) || len(faults) == 0 {
				t.Fatalf("error of type %T: %v", err, err)
			}
			lines := strings.Count(string(text), "\n") + 1
			for _, f := range faults {
				if f.Message == "" || f.Line < 1 || f.Line > lines {
					t.Fatalf("fault without place or message: %+v", f)
				}
			}
			return
		}
		again, err := genome.Parse("made.yaml", made, nil)
		if err != nil || len(again.Areas) != len(g.Areas) || len(again.Projections) != len(g.Projections) {
			t.Fatalf("%v\n%s", err, made)
		}
		var b strings.Builder
		if err := r.Write(&b); err != nil {
			t.Fatal(err)
		}
	})
}

// Texts made to exhaust the reader are refused, or read, within the memory promised.
func TestAttacks(t *testing.T) {
	slow.Short(t)
	var keys, areas, rules strings.Builder
	for i := range 400_000 {
		fmt.Fprintf(&keys, `,"k%d": 1`, i)
	}
	for i := range 20_000 {
		fmt.Fprintf(&areas, `,"é%d": {"cortical_name": "x", "cortical_mapping_dst": {"lost%d": [["p",[1,1,1],1,false]]}}`, rand.Int(), i)
		fmt.Fprintf(&rules, `,["big",[1,1,1],1,false]`)
	}
	big := `"big": {"type": "vectors", "parameters": {"vectors": [[1,1,1]` + strings.Repeat(",[1,1,1]", 100_000) + `]}}`
	for name, text := range map[string]string{
		"brackets":      strings.Repeat("[", 4<<20),
		"braces":        strings.Repeat(`{"a":`, 1<<20),
		"numbers":       "[1" + strings.Repeat(",1", 5<<20) + "]",
		"empty objects": "[{}" + strings.Repeat(",{}", 3<<20) + "]",
		"keys":          `{"blueprint": {"a": {"b": 1` + keys.String() + "}}}",
		"areas":         `{"blueprint": {"a": {}` + areas.String() + "}}",
		"rules of a long morphology": `{"neuron_morphologies": {` + big + `}, "blueprint": {"a": {"cortical_mapping_dst": {"a": [["big",[1,1,1],1,false]` +
			rules.String() + `]}}}}`,
		"a long name": `{"blueprint": {"` + strings.Repeat("x", 8<<20) + `": {"cortical_name": "` + strings.Repeat("é", 2<<20) + `"}}}`,
		"too long":    strings.Repeat(" ", 17<<20),
	} {
		t.Run(name, func(t *testing.T) {
			var before, after runtime.MemStats
			runtime.GC()
			runtime.ReadMemStats(&before)
			_, _, err := feagi.Import("attack.json", []byte(text), feagi.Options{})
			runtime.ReadMemStats(&after)
			require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(256<<20+100*len(text)), "%v", err)
		})
	}
}
