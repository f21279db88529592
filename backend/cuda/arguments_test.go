package cuda

import (
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"

	"burst/kernels"
)

// TestArguments holds the argument structs to the parameters that the compiled kernels declare: as many, of these sizes.
func TestArguments(t *testing.T) {
	bits := map[string]uintptr{".u64": 8, ".u32": 4}
	param := regexp.MustCompile(`\.param (?:\.align \d )?(\.\w+) \w+_param_\d+(?:\[(\d+)\])?`)
	var a arguments
	for _, image := range slices.Concat(kernels.Images(), kernels.Lists(), kernels.Custom()) {
		require.Contains(t, image.PTX, fmt.Sprintf("run_bursts_param_0[%d]", unsafe.Sizeof(run{})))
		for k, s := range [kernelCount]any{a.inject, a.firedRows, a.propagation, a.places, a.dynamics, a.listSums, a.listIDs} {
			_, rest, found := strings.Cut(image.PTX, ".entry "+kernelNames[k]+"(")
			require.True(t, found, "%s in %s", kernelNames[k], image.Name)
			head, _, _ := strings.Cut(rest, "{")
			var declared, given []uintptr
			for _, m := range param.FindAllStringSubmatch(head, -1) {
				size := bits[m[1]]
				if n, err := strconv.Atoi(m[2]); err == nil { // a struct
					size = uintptr(n)
				}
				declared = append(declared, size)
			}
			for f := range reflect.TypeOf(s).NumField() {
				given = append(given, reflect.TypeOf(s).Field(f).Type.Size())
			}
			require.Equal(t, declared, given, "%s in %s: sizes of the parameters, in order", kernelNames[k], image.Name)
		}
	}
}

// TestTrees checks the size of a tree of sums against its definition, level by level.
func TestTrees(t *testing.T) {
	for _, c := range []struct{ leaves, nodes uint64 }{
		{0, 0}, {1, 1}, {32, 1}, {33, 2}, {1024, 32}, {1025, 33 + 2}, {32768, 1024 + 32}, {32769, 1025 + 33 + 2},
		{1 << 32, 1<<27 + 1<<22 + 1<<17 + 1<<12 + 1<<7 + 4},
	} {
		require.Equal(t, c.nodes, nodes(c.leaves), "%d leaves", c.leaves)
	}
}
