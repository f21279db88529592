package burst_test

import (
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// layers orders the packages; a package imports only from layers above its own line in this list.
var layers = [][]string{
	{"internal/arrowframe", "internal/clib", "internal/durable", "internal/exact", "internal/exact/gen", "internal/pages", "internal/weights", "kernels"},
	{"internal/formula"},
	{"genome", "genomes"},
	{"genome/feagi", "genome/brainmap", "edgelist"},
	{"connectome"},
	{"engine", "exchange", "backend/cuda/driver", "backend/cpu/vector", "backend/cpu/vector/gen"},
	{"backend/cuda/cudatest", "backend/cuda/executor", "exchange/mpi", "exchange/nccl"},
	{"exchange/nccl/nccltest"},
	{"engine/enginetest", "backend/reference", "backend/cpu", "backend/cuda", "backend/split", "record", "checkpoint"},
	{"backend", "backend/cuda/doctor"},
	{"record/stats"},
	{"record/picture"},
	{"bench"},
	{"bench/science", "bench/peers"},
	{"cmd/burst"},
}

// owners names the packages that alone may import a library.
var owners = map[string][]string{
	"gopkg.in/yaml.v3":             {"genome"},
	"github.com/spf13/cobra":       {"cmd/burst"},
	"gonum.org/v1/gonum":           {"record", "record/stats", "bench", "bench/science", "backend/cuda/doctor"},
	"gonum.org/v1/plot":            {"record/picture", "genome/brainmap"},
	"github.com/ebitengine/purego": {"internal/clib"},
	"github.com/apache/arrow-go":   {"edgelist", "record"},
	"github.com/gofrs/flock":       {"record", "backend/cuda/cudatest"},
	"github.com/mmcloughlin/avo":   {"backend/cpu/vector/gen", "internal/exact/gen"},
	"go.uber.org/goleak":           {"backend/cuda/cudatest"},
	"github.com/stretchr/testify":  {"engine/enginetest", "backend/cuda/cudatest", "exchange/nccl/nccltest"}, // packages of tests
}

// TestImportsPointDownward keeps the flow genome -> connectome -> engine -> backends -> command one-way.
func TestImportsPointDownward(t *testing.T) {
	out, err := exec.Command("go", "list", "-f", `{{.ImportPath}} {{join .Imports " "}}`, "./...").Output()
	require.NoError(t, err)
	level := map[string]int{}
	for i, names := range layers {
		for _, n := range names {
			level[n] = i + 1
		}
	}
	seen := 0
	for line := range strings.Lines(string(out)) {
		fields := strings.Fields(line)
		name := strings.TrimPrefix(fields[0], "burst/")
		if name == "burst" {
			continue // this directory holds only tests
		}
		seen++
		require.Contains(t, level, name, "give package %s a layer", name)
		for _, imp := range fields[1:] {
			if p, ours := strings.CutPrefix(imp, "burst/"); ours {
				require.Less(t, level[p], level[name], "%s imports %s, which is not below it", name, p)
			}
			for lib, users := range owners {
				if imp == lib || strings.HasPrefix(imp, lib+"/") {
					require.True(t, slices.Contains(users, name), "%s imports %s, which only %v may", name, imp, users)
				}
			}
		}
	}
	require.Greater(t, seen, 8)
}
