package burst_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// starts matches what starts a goroutine, as the Makefile's RACED does.
var starts = regexp.MustCompile(`\bgo (func|[a-z][A-Za-z.]*)\(|\.Go\(`)

// TestR29LeaksAreLookedFor: the tests of every package that starts goroutines look for those left behind, by goleak or by the TestMain
// of package cudatest, which does.
func TestR29LeaksAreLookedFor(t *testing.T) {
	out, err := exec.Command("go", "list", "-f", `{{.Dir}}|{{join .GoFiles " "}}|{{join .TestImports " "}} {{join .XTestImports " "}}`, "./...").Output()
	require.NoError(t, err)
	found := 0
	for line := range strings.Lines(string(out)) {
		part := strings.Split(strings.TrimSpace(line), "|")
		for _, file := range strings.Fields(part[1]) {
			text, err := os.ReadFile(filepath.Join(part[0], file))
			require.NoError(t, err)
			if !starts.Match(text) {
				continue
			}
			found++
			imports := strings.Fields(part[2])
			require.True(t, slices.Contains(imports, "go.uber.org/goleak") || slices.Contains(imports, "burst/internal/cuda/cudatest"),
				"%s/%s starts goroutines, and no test of the package looks for those left behind", part[0], file)
			break
		}
	}
	require.Greater(t, found, 10)
	t.Logf("R29: %d packages start goroutines, and the tests of each look for those left behind", found)
}
