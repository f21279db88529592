package burst_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"burst/internal/slow"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Four times as many projections are four times as much work, in parsing, checking, planning, building and proving: by the coverage
// counters of both packages no block of code runs more than eight times as often. Eight leaves room for sorting; a walk over all projections for
// each would run sixteen times as often.
func TestWorkIsLinearInProjections(t *testing.T) {
	slow.Test(t)
	dir := t.TempDir()
	binary := filepath.Join(dir, "many.test")
	tool := exec.Command("go", "test", "-c", "-o", binary, "-vet=off", "-covermode=count", "-coverpkg=burst/genome,burst/connectome", "./connectome")
	out, err := tool.CombinedOutput()
	require.NoError(t, err, "%s", out)
	const n = 500
	few, many := runsOfBlocks(t, binary, dir, n), runsOfBlocks(t, binary, dir, 4*n)
	largest := 0.0
	for at, runs := range many {
		if runs > 4*n { // once a projection
			assert.LessOrEqual(t, float64(runs), 8*float64(max(few[at], 1)), "%s runs %d times for %d projections, %d times for %d", at, few[at], n, runs, 4*n)
			largest = max(largest, float64(runs)/float64(max(few[at], 1)))
		}
	}
	require.Greater(t, len(many), 1000, "the counters work")
	t.Logf("%d blocks of code; the most that one runs more often is %.2f times", len(many), largest)
}

// runsOfBlocks is how often each block of code runs for so many projections.
func runsOfBlocks(t *testing.T, binary, dir string, n int) map[string]int {
	profile := filepath.Join(dir, strconv.Itoa(n))
	out, err := exec.Command(binary, "-test.run=^TestManyProjections$", "-test.coverprofile="+profile, "-projections="+strconv.Itoa(n)).CombinedOutput()
	require.NoError(t, err, "%s", out)
	text, err := os.ReadFile(profile)
	require.NoError(t, err)
	runs := map[string]int{}
	for line := range strings.Lines(string(text)) {
		if f := strings.Fields(line); len(f) == 3 {
			count, err := strconv.Atoi(f[2])
			require.NoError(t, err)
			runs[f[0]] += count
		}
	}
	return runs
}
