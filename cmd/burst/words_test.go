package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"burst/internal/cuda/driver"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// machineText is what libraries and the system say and this program does not.
var machineText = regexp.MustCompile(`no such file|file does not exist|file exists|is a directory|not a directory|permission denied|file already exists|strconv\.|invalid syntax|value out of range|` +
	`invalid argument "|for "--|time: |missing unit|unexpected EOF|parsing "|: json: |: png: |: parquet: |: arrow|yaml: line|\.burst-|%!|[0-9]e-[0-9]+ [KMG]iB|\b(stat|open|openat|statat|lstat|mkdir|read|fdopendir) [^ ]+:`)

// TestNoMachineText: whatever is wrong is said in this program's words.
func TestNoMachineText(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	write := func(name, text string) string {
		require.NoError(t, os.MkdirAll(filepath.Dir(name), 0o755))
		require.NoError(t, os.WriteFile(name, []byte(text), 0o600))
		return name
	}
	code, _, stderr := call("run", "quickstart", "--bursts", "3", "--quiet", "--out", "ran")
	require.Zero(t, code, stderr)
	const area = "burst: v1\nareas: [{name: a, neurons: 3, model: lif%s}]\n"
	genomeOf := func(name, params, more string) string {
		return write(name, strings.Replace(area, "%s", params, 1)+more)
	}
	write("folder/x", "")
	write("bad.png", "no picture")
	write("bad.csv", "source,target\n1,x\n")
	write("quote.csv", "Vs\n1\n\"2\n")
	write("short.csv", "V\n1\n99999999999999999999999e999\nx\n")
	write("bad.parquet", "no parquet")
	write("bad.checkpoint", "no checkpoint")
	image := "stimuli: [{area: a, at: 1, image: %s}]\n"
	edges := "projections: [{rule: edges, from: a, to: a, file: %s}]\n"
	column := ", params: {tau: \"column(%s, %s)\"}"
	fill := func(text string, words ...string) string {
		for _, w := range words {
			text = strings.Replace(text, "%s", w, 1)
		}
		return text
	}
	for _, args := range [][]string{
		{"run", "nope.yaml"}, {"run", ""}, {"run", "folder"}, {"run", "folder/x/y.yaml"}, {"run", strings.Repeat("x", 300)}, {"validate", "nope.yaml"}, {"validate", "folder"}, {"inspect", "nope"}, {"verify", "nope"},
		{"run", "quickstart", "--duration", "5"}, {"run", "quickstart", "--duration", "x"}, {"run", "quickstart", "--duration", "1e99s"}, {"run", "quickstart", "--bursts", "x"}, {"run", "quickstart", "--bursts", "-1"},
		{"run", "quickstart", "--bursts", "99999999999999999999"}, {"run", "quickstart", "--threads", "x"}, {"run", "quickstart", "--max-memory", "20"}, {"run", "quickstart", "--max-memory", "20k"},
		{"run", "quickstart", "--max-memory", "50kB"}, {"run", "quickstart", "--rate", "x"}, {"run", "quickstart", "--checkpoint-every", "0"}, {"run", "quickstart", "--checkpoint-every", "x"}, {"run", "quickstart", "--digest", "x"},
		{"run", "quickstart", "--seeds", "x..y"}, {"run", "quickstart", "--seed", "x"}, {"run", "quickstart", "--json=x"}, {"run", "quickstart", "--from", "nope"}, {"run", "quickstart", "--from", "bad.checkpoint"}, {"run", "quickstart", "--from", "folder"},
		{"run", "quickstart", "--out", "folder"}, {"run", "quickstart", "--out", "folder/x"}, {"run", "quickstart", "--out", "folder/x/y"}, {"run", "quickstart", "--record", "spikes=x[a..b]"}, {"run", "quickstart", "--devices", "x"}, {"run", "quickstart", "--set", "areas.0.neurons=x"},
		{"verify", "quickstart", "--threads", "1,x"}, {"bench", "quickstart", "--threads", "x"}, {"bench", "nope"}, {"resume", "nope"}, {"resume", "folder"}, {"replay", "nope"}, {"replay", "folder/x"}, {"diff", "nope", "ran"}, {"stats", "nope"},
		{"stats", "ran", "--from", "x"}, {"report", "nope"}, {"plot", "nope"}, {"plot", "ran", "--out", "nope"}, {"export", "nope", "-o", "x.csv"}, {"export", "ran", "-o", "nope/x.csv"}, {"export", "ran", "-o", "folder/x/y.csv"}, {"export", "ran", "--table", "fcl", "-o", "x.csv"},
		{"export", "bad.parquet", "-o", "x.csv"}, {"export", "connectome", "quickstart", "-o", "folder"}, {"export", "connectome", "quickstart", "-o", "folder/x/y"}, {"checkpoint", "inspect", "nope"}, {"checkpoint", "verify", "nope", "bad.checkpoint", "folder"},
		{"init", "folder/x"}, {"init", "nope/x.yaml"}, {"inspect", "quickstart", "--map", "nope/x.svg"}, {"man", "folder/x"}, {"man", "folder/x/y"}, {"examples", "nope"}, {"import", "feagi", "nope.json"}, {"schema", "--output", "x"},
		{"run", genomeOf("image.yaml", ", size: [3, 1, 1]", fill(image, "nope.png"))},
		{"validate", genomeOf("no-image.yaml", "", fill(image, "nope.png"))}, {"validate", genomeOf("bad-image.yaml", "", fill(image, "bad.png"))}, {"validate", genomeOf("folder-image.yaml", "", fill(image, "folder"))},
		{"validate", genomeOf("no-edges.yaml", "", fill(edges, "nope.csv"))}, {"validate", genomeOf("bad-edges.yaml", "", fill(edges, "bad.csv"))}, {"validate", genomeOf("bad-parquet.yaml", "", fill(edges, "bad.parquet"))}, {"validate", genomeOf("below.yaml", "", fill(edges, "bad.csv/x.csv"))},
		{"validate", genomeOf("no-column.yaml", fill(column, "nope.csv", "V"), "")}, {"validate", genomeOf("quoted-column.yaml", fill(column, "quote.csv", "Vs"), "")}, {"validate", genomeOf("short-column.yaml", fill(column, "short.csv", "V"), "")},
		{"validate", genomeOf("number.yaml", "", "seed: 1e999\nbursts: 99999999999999999999\ntimestep: 1e999 ms\n")}, {"validate", genomeOf("syntax.yaml", "", "seed: [1\n")},
	} {
		code, _, stderr := call(args...)
		require.NotZero(t, code, "%q", args)
		require.NotEmpty(t, stderr, "%q", args)
		assert.NotRegexp(t, machineText, stderr, "%q", args)
	}
}

// TestUnknownCommandWithHelp: help for a command that there is not is a usage error, also where another one has parts.
func TestUnknownCommandWithHelp(t *testing.T) {
	for _, args := range []string{"frobnicate --help", "frobnicate -h", "--help frobnicate", "help frobnicate", "checkpoint frobnicate --help", "help checkpoint frobnicate", "import frobnicate --help"} {
		code, stdout, stderr := call(strings.Fields(args)...)
		assert.Equal(t, exitUsage, code, args)
		assert.Contains(t, stderr, `"frobnicate"`, args)
		assert.Empty(t, stdout, args)
	}
	for _, args := range []string{"--help", "help", "run --help", "run frobnicate --help", "help run", "checkpoint --help", "help checkpoint verify", "help exit-codes", "export --help", "export connectome -h"} {
		code, stdout, stderr := call(strings.Fields(args)...)
		assert.Zero(t, code, "%s: %s", args, stderr)
		assert.NotEmpty(t, stdout, args)
		assert.Empty(t, stderr, args)
	}
}

// TestChoices: what is no choice of a flag is told the nearest one, whatever its letters, and by other names of the same thing.
func TestChoices(t *testing.T) {
	for _, c := range [][3]string{
		{"run quickstart --backend", "gpu", "cuda"}, {"run quickstart --backend", "GPU", "cuda"}, {"run quickstart --backend", "nvidia", "cuda"}, {"run quickstart --backend", "NVIDIA", "cuda"}, {"run quickstart --backend", "CPU", "cpu"},
		{"run quickstart --backend", "Auto", "auto"}, {"run quickstart --backend", "CUDA", "cuda"}, {"verify quickstart --backends", "gpu,cpu", "cuda"}, {"bench quickstart --backend", "gpu", "cuda"}, {"bench --suite", "QUICK", "quick"},
		{"run quickstart --exchange", "NCCL", "nccl"}, {"run quickstart --on-device-fault", "Retry", "retry"}, {"export nowhere -o x.csv --table", "Spikes", "spikes"}, {"plot nowhere --format", "PNG", "png"},
		{"export connectome quickstart -o nowhere --format", "CSV", "csv"}, {"import feagi nowhere --dialect", "Python", "python"}, {"schema --output", "Run", "run"},
	} {
		code, _, stderr := call(append(strings.Fields(c[0]), c[1])...)
		assert.Equal(t, exitUsage, code, "%v", c)
		assert.Contains(t, stderr, `did you mean "`+c[2]+`"?`, "%v", c)
	}
	code, _, stderr := call("export", "nowhere", "-o", "x.CSV")
	assert.Equal(t, exitUsage, code)
	assert.Contains(t, stderr, `did you mean ".csv"?`)
}

// TestTellsWhatItWrote: a command that writes a file says which.
func TestTellsWhatItWrote(t *testing.T) {
	t.Chdir(t.TempDir())
	code, _, stderr := call("run", "quickstart", "--bursts", "3", "--quiet", "--out", "ran")
	require.Zero(t, code, stderr)
	for args, want := range map[string]string{
		"export ran -o s.csv": "wrote s.csv\n", "man pages": "wrote the man pages into pages\n", "inspect quickstart --map m.svg": "wrote m.svg\n", "init n.yaml": "wrote n.yaml\n",
	} {
		code, stdout, stderr := call(strings.Fields(args)...)
		require.Zero(t, code, "%s: %s", args, stderr)
		assert.Contains(t, stdout+stderr, want, args)
	}
}

// TestLimitText: a limit of less than a microsecond is no 0.
func TestLimitText(t *testing.T) {
	assert.Equal(t, "18 % of 0.41 µs", limitText(0.18, 0.41))
	assert.Equal(t, "18 % of 4.1 µs", limitText(0.18, 4.1))
	assert.Equal(t, "81 % of 1234 µs", limitText(0.81, 1234.2))
}

// TestPrintedRun: the run that docs/results.md prints is the one that the program prints, but for times.
func TestPrintedRun(t *testing.T) {
	text, err := os.ReadFile("../../docs/results.md")
	require.NoError(t, err)
	_, printed, found := strings.Cut(string(text), "to a motor area.\n\n```\n")
	require.True(t, found)
	printed, _, _ = strings.Cut(printed, "```")
	t.Chdir(t.TempDir())
	t.Setenv(driver.LibraryVariable, "nowhere")
	code, stdout, stderr := call("run", "quickstart")
	require.Zero(t, code, stderr)
	want, got := strings.Split(printed, "\n"), strings.Split(strings.SplitAfter(stderr, "\n")[0]+stdout, "\n")
	require.Len(t, got, len(want))
	for i := range want {
		key, _, _ := strings.Cut(want[i], " ")
		switch key {
		case "spikes", "time", "besides", "burst", "backend": // and how many a second, and on how many threads
			assert.Equal(t, key, strings.Fields(got[i])[0])
		default:
			assert.Equal(t, want[i], strings.TrimRight(got[i], " "))
		}
	}
}
