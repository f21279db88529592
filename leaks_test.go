package burst_test

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// starts matches what starts a goroutine, as the Makefile's RACED does.
var starts = regexp.MustCompile(`\bgo (func|[a-z][A-Za-z.]*)\(|\.Go\(`)

// TestR29LeaksAreLookedFor: the tests of every package that starts goroutines look for those left behind, by goleak or by the TestMain
// of package cudatest, which does.
func TestR29LeaksAreLookedFor(t *testing.T) {
	found := 0
	for _, p := range packages(t) {
		for _, file := range p.GoFiles {
			text, err := os.ReadFile(filepath.Join(p.Dir, file))
			require.NoError(t, err)
			if !starts.Match(text) {
				continue
			}
			found++
			imports := slices.Concat(p.TestImports, p.XTestImports)
			require.True(t, slices.Contains(imports, "go.uber.org/goleak") || slices.Contains(imports, "burst/internal/cuda/cudatest"),
				"%s/%s starts goroutines, and no test of the package looks for those left behind", p.Dir, file)
			break
		}
	}
	require.Greater(t, found, 10)
	t.Logf("R29: %d packages start goroutines, and the tests of each look for those left behind", found)
}
