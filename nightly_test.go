package burst_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// nightly runs .ci/nightly with those steps, and gives what it writes and its status.
func nightly(t *testing.T, steps string, chosen ...string) (result string, status int) {
	t.Helper()
	dir := t.TempDir()
	file, out := filepath.Join(dir, "steps"), filepath.Join(dir, "results", "today.txt")
	require.NoError(t, os.WriteFile(file, []byte(steps), 0o600))
	cmd := exec.Command("bash", append([]string{".ci/nightly", file, out}, chosen...)...)
	text, err := cmd.CombinedOutput()
	if cmd.ProcessState == nil {
		require.NoError(t, err)
	}
	data, err := os.ReadFile(out)
	if err != nil {
		return string(text), cmd.ProcessState.ExitCode()
	}
	return string(data), cmd.ProcessState.ExitCode()
}

// TestNightlyWritesWhatHappened: each step with its outcome and figures, also behind one that fails.
func TestNightlyWritesWhatHappened(t *testing.T) {
	const steps = "# a remark\ngood|echo 3 of 3 && echo noise|of\nbad|echo broken; false|of\nlast|cat; echo 4 of 4|of\n"
	result, status := nightly(t, steps)
	require.Equal(t, 1, status)
	require.Regexp(t, `(?s)steps    all\n\ngood: passed after \d+ s\n    echo 3 of 3 && echo noise\n    3 of 3\n\nbad: FAILED after \d+ s\n    echo broken; false\n    \| broken\n\nlast: passed after \d+ s\n    cat; echo 4 of 4\n    4 of 4\n$`, result)
	result, status = nightly(t, steps, "last", "good")
	require.Zero(t, status)
	require.Contains(t, result, "steps    last good\n")
	require.NotContains(t, result, "\nbad")
	result, status = nightly(t, steps, "god")
	require.Equal(t, 2, status)
	require.Contains(t, result, "no step god, want some of good bad last")
}

// TestNightlySteps: what the steps name is there.
func TestNightlySteps(t *testing.T) {
	text, err := os.ReadFile(".ci/nightly.steps")
	require.NoError(t, err)
	makefile, err := os.ReadFile("Makefile")
	require.NoError(t, err)
	steps := 0
	for line := range strings.Lines(string(text)) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		steps++
		cells := strings.Split(strings.TrimSuffix(line, "\n"), "|")
		require.Len(t, cells, 3, "%q: a command or pattern with a bar is cut", line)
		words := strings.Fields(cells[1])
		if words[0] == "make" {
			for _, target := range words[1:] {
				require.Regexp(t, `(?m)^[a-z -]*\b`+regexp.QuoteMeta(strings.Split(target, "=")[0])+`\b.*(:|\?=)`, string(makefile), line)
			}
			continue
		}
		name := regexp.MustCompile(`(\./\S+) -run '\^(\w+)\$'`).FindStringSubmatch(cells[1])
		require.NotNil(t, name, line)
		found, err := exec.Command("grep", "-rl", "func "+name[2]+"(", name[1]).Output()
		require.NoError(t, err, "%s has no %s", name[1], name[2])
		require.NotEmpty(t, found)
	}
	require.Greater(t, steps, 5)
}
