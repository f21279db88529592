package main

import (
	"encoding/json"
	"flag"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/spf13/cobra"
	"github.com/stretchr/testify/require"

	"burst/genome"
	"burst/genomes"
	"burst/internal/cuda/driver"
	"burst/run"
)

var update = flag.Bool("update", false, "rewrite the golden outputs in testdata/json")

// stoppedAtOnce makes the folder of a run of quickstart that was stopped before its first burst.
func stoppedAtOnce(t *testing.T, folder string, bursts uint64, record ...string) {
	t.Helper()
	text, err := genomes.Text("quickstart")
	require.NoError(t, err)
	g, err := genome.Parse("quickstart.yaml", text, nil)
	require.NoError(t, err)
	r, err := run.New(t.Context(), g, run.Options{Backend: "cpu", Bursts: bursts, Folder: folder, Record: record})
	require.NoError(t, err)
	require.NoError(t, r.Prepare())
	require.NoError(t, r.Close())
}

// TestJSONOfEveryCommand holds what each command prints with --json to its schema, and to a golden file in which figures
// that differ from run to run are replaced by words.
func TestJSONOfEveryCommand(t *testing.T) {
	for _, v := range []string{driver.LibraryVariable, driver.NVRTCVariable, driver.NVMLVariable} {
		t.Setenv(v, "none.so") // the same output on machines with and without a GPU
	}
	golden, err := filepath.Abs("testdata/json")
	require.NoError(t, err)
	t.Chdir(t.TempDir())
	t.Setenv("CUDA_VISIBLE_DEVICES", "")
	t.Setenv(asBurst, "1") // of the processes that bench starts
	require.NoError(t, os.WriteFile("bad.yaml", []byte("burst: v1\nareas:\n  - {name: a, neurons: 3, leek: 1}\n"), 0o600))
	code, _, stderr := call("run", "quickstart", "--out", "saved", "--bursts", "40", "--checkpoint-every", "20", "--quiet", "--backend", "cpu")
	require.Zero(t, code, stderr)
	stoppedAtOnce(t, "stopped", 40, "spikes=cortex[500..511],motor")
	common := []string{"--backend", "cpu", "--threads", "2", "--json"}
	run := func(args ...string) []string { return append(args, common...) }
	calls := []struct {
		name string
		code int
		args []string
	}{
		{"run", 0, run("run", "quickstart", "--out", "one")},
		{"run-sweep", 0, run("run", "quickstart", "--out", "many", "--seeds", "3..5", "--bursts", "40")},
		{"resume", 0, append([]string{"resume", "stopped"}, common...)},
		{"resume-complete", 0, []string{"resume", "stopped", "--json"}},
		{"replay", 0, run("replay", "one")},
		{"examples-write", 0, []string{"examples", "quickstart", "--write", "--json"}},
		{"export", 0, []string{"export", "one", "-o", "one.csv", "--json"}},
		{"export-connectome", 0, []string{"export", "connectome", "quickstart", "-o", "wired", "--json"}},
		{"init", 0, []string{"init", "--json"}},
		{"plot", 0, []string{"plot", "one", "--json"}},
		{"report", 0, []string{"report", "one", "--json"}},
		{"stats", 0, []string{"stats", "one", "--json"}},
		{"diff", exitAssertion, []string{"diff", "many/seed-3", "many/seed-5", "--json"}},
		{"checkpoint-inspect", 0, []string{"checkpoint", "inspect", "saved/checkpoints/00000000000000000040.checkpoint", "--json"}},
		{"checkpoint-verify", exitDamaged, []string{"checkpoint", "verify", "bad.yaml", "saved/checkpoints/00000000000000000040.checkpoint", "--json"}},
		{"verify", 0, []string{"verify", "quickstart", "--bursts", "20", "--json"}},
		{"validate", exitGenome, []string{"validate", "quickstart", "bad.yaml", "--json"}},
		{"inspect", 0, []string{"inspect", "quickstart", "--threads", "2", "--json"}},
		{"inspect-cost", 0, []string{"inspect", "quickstart", "--cost", "--threads", "2", "--json"}},
		{"bench-start", 0, []string{"bench", "quickstart", "--suite", "start", "--bursts", "20", "--threads", "2", "--json"}},
		{"bench", 0, []string{"bench", "quickstart", "--bursts", "20", "--threads", "2", "--json"}},
		{"devices", 0, []string{"devices", "--json"}},
		{"doctor", 0, []string{"doctor", "--quick", "--json"}},
		{"examples", 0, []string{"examples", "--json"}},
		{"version", 0, []string{"version", "--json"}},
	}
	tested := map[string]bool{}
	for _, c := range calls {
		code, stdout, stderr := call(c.args...)
		require.Equal(t, c.code, code, "%v\n%s", c.args, stderr)
		tested[c.name] = true
		schema, err := outputSchema(strings.TrimSuffix(c.name, "-cost"))
		require.NoError(t, err)
		require.NoError(t, conforms(schema, stdout), "%v\n%s", c.args, stdout)
		var v any
		require.NoError(t, json.Unmarshal([]byte(stdout), &v))
		if list, isList := v.([]any); isList && c.name == "examples" {
			v = slices.DeleteFunc(list, func(e any) bool { return e.(map[string]any)["name"] != "quickstart" })
		}
		text, err := json.MarshalIndent(steady(v, ""), "", "  ")
		require.NoError(t, err)
		text = append(text, '\n')
		path := filepath.Join(golden, c.name+".json")
		if *update {
			require.NoError(t, os.WriteFile(path, text, 0o644))
		}
		want, err := os.ReadFile(path)
		require.NoError(t, err)
		require.Equal(t, string(want), string(text), "%s: `go test ./cmd/burst -run JSON -update` rewrites it", path)
	}
	for name := range outputs() {
		require.True(t, tested[name], "no test of the output %q", name)
	}
}

// TestWhoTakesJSON: every command that prints results takes --json; docs/pictures.md names those that do not.
func TestWhoTakesJSON(t *testing.T) {
	var without []string
	var walk func(c *cobra.Command)
	walk = func(c *cobra.Command) {
		f := c.Flags().Lookup("json")
		if c.Runnable() && c.Name() != "burst" && (f == nil || f.Value.Type() != "bool") {
			without = append(without, c.CommandPath())
		}
		for _, sub := range c.Commands() {
			walk(sub)
		}
	}
	walk(newRootCommand()) // completion and help are cobra's, which adds them when it runs
	require.ElementsMatch(t, []string{"burst checkpoint", "burst import", "burst import feagi", "burst man", "burst schema", "burst serve", "burst view"}, without)
	text, err := os.ReadFile("../../docs/pictures.md")
	require.NoError(t, err)
	require.Contains(t, strings.Join(strings.Fields(string(text)), " "),
		"takes `--json`; `completion`, `help`, `man`, `schema`, `serve` and `view` do not, nor do `checkpoint` and `import` by themselves, and `import feagi --json FILE`")
}

// conforms holds a text to a schema, and shows that the schema can fail: the text without any one of its fields does not.
func conforms(schema []byte, text string) error {
	var s jsonschema.Schema
	if err := json.Unmarshal(schema, &s); err != nil {
		return err
	}
	resolved, err := s.Resolve(nil)
	if err != nil {
		return err
	}
	var v any
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		return err
	}
	return resolved.Validate(v)
}

// TestSchemaRefuses shows that a schema can fail.
func TestSchemaRefuses(t *testing.T) {
	schema, err := outputSchema("plot")
	require.NoError(t, err)
	require.NoError(t, conforms(schema, `{"folder": "a", "files": [], "more": 1}`), "later versions may add fields")
	for _, text := range []string{`{"folder": "a"}`, `{"folder": "a", "files": [3]}`, `{"folder": null, "files": []}`, `[]`} {
		require.Error(t, conforms(schema, text), text)
	}
	_, err = outputSchema("stat")
	require.ErrorContains(t, err, `did you mean "stats"?`)
}

// steady replaces figures that differ between runs, machines and versions by a word for their type.
func steady(v any, key string) any {
	unsteady := []string{"connectome", "connectome_hash", "latency_us", "build_s", "run_s", "open_s", "read_s", "wait_s", "write_s", "plan_s", "upload_s", "draw_s", "burst_us", "limit_us", "share_of_limit", "event_ns", "real_time_factor", "device", "go", "revision", "modified", "system", "version",
		"unavailable", "peak", "host_bytes", "measured_us", "total_s", "cpu_s", "probe", "available", "backend_note", "command", "started"}
	if slices.Contains(unsteady, key) {
		return kind(v)
	}
	switch v := v.(type) {
	case float64: // the last bits may differ where processors fuse
		x, err := strconv.ParseFloat(strconv.FormatFloat(v, 'g', 9, 64), 64)
		if err != nil {
			panic("BUG: " + err.Error())
		}
		return x
	case []any:
		for i := range v {
			v[i] = steady(v[i], key)
		}
	case map[string]any:
		for _, k := range slices.Sorted(maps.Keys(v)) {
			v[k] = steady(v[k], k)
		}
		_, isReport := v["file"]
		_, isFile := v["sha256"]
		if (isReport || isFile) && v["bytes"] != nil {
			v["bytes"] = kind(v["bytes"])
		}
		if isFile {
			v["sha256"] = kind(v["sha256"])
		}
		if host, isManifest := v["host"].(map[string]any); isManifest {
			v["host"] = kind(host)
		}
	}
	return v
}

// kind names a value's type.
func kind(v any) any {
	switch v := v.(type) {
	case bool:
		return "a boolean"
	case float64:
		return "a number"
	case string:
		return "a string"
	case []any:
		return "a list"
	case map[string]any:
		for k := range v {
			v[k] = kind(v[k])
		}
	}
	return v
}
