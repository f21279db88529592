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
	var a arguments
	for _, image := range slices.Concat(kernels.Images(), kernels.Moving(), kernels.Lists(), kernels.Custom(), kernels.CustomLists()) {
		ptx := image.PTX()
		require.Contains(t, ptx, fmt.Sprintf("run_bursts_param_0[%d]", unsafe.Offsetof(run{}.waits)))
		for k, s := range [kernelCount]any{a.inject, a.firedRows, a.propagation, a.places, a.dynamics, a.listSums, a.listIDs} {
			require.Equal(t, declared(t, ptx, kernelNames[k]), sizes(reflect.TypeOf(s)), "%s in %s: sizes of the parameters, in order", kernelNames[k], image.Name)
		}
	}
	for _, image := range kernels.Large() {
		require.Equal(t, []uintptr{unsafe.Sizeof(run{})}, declared(t, image.PTX(), "run_bursts"))
	}
	require.Equal(t, []uintptr{unsafe.Offsetof(run{}.waits)}, declared(t, kernels.Outside()[1].PTX(), "cluster_bursts_lif"))
}

// TestLastingArguments holds those of launches that go on to what their kernels declare.
func TestLastingArguments(t *testing.T) {
	for _, image := range kernels.Lasting() {
		for _, model := range []string{"", "_feagi", "_lif", "_psc_exp"} {
			require.Equal(t, []uintptr{unsafe.Offsetof(run{}.waits), unsafe.Sizeof(calls{})}, declared(t, image.PTX(), "lasting_bursts"+model))
		}
	}
}

// declared are the sizes of the parameters that PTX declares for a kernel, sizes those of a struct's fields.
func declared(t *testing.T, ptx, kernel string) (list []uintptr) {
	t.Helper()
	bits := map[string]uintptr{".u64": 8, ".u32": 4}
	param := regexp.MustCompile(`\.param (?:\.align \d )?(\.\w+) \w+_param_\d+(?:\[(\d+)\])?`)
	_, rest, found := strings.Cut(ptx, ".entry "+kernel+"(")
	require.True(t, found, kernel)
	head, _, _ := strings.Cut(rest, "{")
	for _, m := range param.FindAllStringSubmatch(head, -1) {
		size := bits[m[1]]
		if n, err := strconv.Atoi(m[2]); err == nil { // a struct
			size = uintptr(n)
		}
		list = append(list, size)
	}
	return list
}

func sizes(args reflect.Type) (list []uintptr) {
	for f := range args.NumField() {
		list = append(list, args.Field(f).Type.Size())
	}
	return list
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
