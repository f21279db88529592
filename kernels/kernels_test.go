package kernels

import (
	"crypto/sha256"
	_ "embed"
	"fmt"
	"io/fs"
	"math/big"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"burst/internal/slow"

	"github.com/stretchr/testify/require"
)

//go:embed SHA256SUMS
var sums string

// TestChecksums fails when a source was edited and the PTX not rebuilt, or the other way round.
func TestChecksums(t *testing.T) {
	images := map[string]string{}
	for _, i := range All() {
		images[i.Name] = i.PTX()
	}
	listed := 0
	for line := range strings.Lines(sums) {
		want, name, ok := strings.Cut(strings.TrimSpace(line), "  ")
		require.True(t, ok, "SHA256SUMS: %q", line)
		text, ptx := images[name]
		if !ptx {
			b, err := fs.ReadFile(Sources, name)
			require.NoError(t, err, "SHA256SUMS names %s; run make kernels", name)
			text = string(b)
		}
		require.Equal(t, want, fmt.Sprintf("%x", sha256.Sum256([]byte(text))), "%s changed since make kernels", name)
		listed++
	}
	sources, err := fs.ReadDir(Sources, ".")
	require.NoError(t, err)
	require.Equal(t, len(sources)+len(images), listed, "SHA256SUMS lists other files than there are; run make kernels")
}

// TestPTX checks what the committed PTX promises: every kernel under its name, and floats rounded one operation at a time.
func TestPTX(t *testing.T) {
	names := []string{"inject", "fired_rows", "synaptic_propagation_fcl", "deliver_places", "neural_dynamics_fcl", "list_sums", "list_ids", "run_bursts"}
	kernels := map[bool]int{false: len(names) + 10, true: len(names) + 4}
	for _, i := range slices.Concat(Images(), Moving(), Lists(), Custom(), CustomLists()) {
		custom := strings.HasPrefix(i.Name, "custom")
		t.Run(i.Name, func(t *testing.T) {
			ptx := i.PTX()
			for _, n := range names {
				require.Contains(t, ptx, ".visible .entry "+n+"(")
				_, err := fs.Stat(Sources, n+".cu")
				require.NoError(t, err, "a kernel's file bears its name")
			}
			clusters := 0
			if !custom && !strings.HasPrefix(i.Name, "lists") {
				clusters = 4 // cluster_bursts, and for one model
			}
			require.Equal(t, kernels[custom]+clusters, strings.Count(ptx, ".entry"), "catch_up, queue_rows, cut_rows and the kernels of one model stand beside run_bursts and resident_bursts")
			require.Equal(t, custom, strings.Contains(ptx, "custom_update"), "only one unit has a place for models of the genome's own")
			unmeant := regexp.MustCompile(`fma\.rn\.f32 .*// meant`).ReplaceAllString(ptx, "")
			require.NotEqual(t, unmeant, ptx, "the input's quotient is made of fused operations")
			require.NotRegexp(t, `fma\.|mad\.f|\.ftz|\.approx|\.full`, unmeant, "each other float operation rounds on its own, denormals kept")
			require.Contains(t, ptx, "rcp.rn.f32", "the reciprocal of the scale is correctly rounded")
			require.NotContains(t, ptx, ".local", "no kernel spills to local memory")
			require.Contains(t, ptx, fmt.Sprintf(".version %s\n", dotted(i.ISA)))
			require.Contains(t, ptx, fmt.Sprintf(".target sm_%d\n", i.Capability))
		})
	}
}

// TestLearn checks the unit of networks that learn likewise; handlers have their numbers in local memory.
func TestLearn(t *testing.T) {
	for _, i := range Learn() {
		ptx := i.PTX()
		require.Equal(t, 16, strings.Count(ptx, ".visible .entry learn_"))
		unmeant := regexp.MustCompile(`fma\.rn\.f32 .*// meant`).ReplaceAllString(ptx, "")
		require.NotRegexp(t, `fma\.|mad\.f|\.ftz|\.approx|\.full`, unmeant, "each other float operation rounds on its own, denormals kept")
		require.Contains(t, ptx, fmt.Sprintf(".version %s\n", dotted(i.ISA)))
		require.Contains(t, ptx, fmt.Sprintf(".target sm_%d\n", i.Capability))
	}
}

// TestLasting checks the unit of launches that wait for the host likewise.
func TestLasting(t *testing.T) {
	for _, i := range Lasting() {
		ptx := i.PTX()
		require.Equal(t, 4, strings.Count(ptx, ".visible .entry lasting_bursts"))
		unmeant := regexp.MustCompile(`fma\.rn\.f32 .*// meant`).ReplaceAllString(ptx, "")
		require.NotRegexp(t, `fma\.|mad\.f|\.ftz|\.approx|\.full`, unmeant, "each other float operation rounds on its own, denormals kept")
		require.NotContains(t, ptx, ".local", "no kernel spills to local memory")
		require.Contains(t, ptx, fmt.Sprintf(".version %s\n", dotted(i.ISA)))
		require.Contains(t, ptx, fmt.Sprintf(".target sm_%d\n", i.Capability))
	}
}

// TestEvent checks the unit of neurons that change at inputs alone likewise.
func TestEvent(t *testing.T) {
	for _, i := range Event() {
		ptx := i.PTX()
		require.Equal(t, 1, strings.Count(ptx, ".visible .entry event_bursts("))
		unmeant := regexp.MustCompile(`fma\.rn\.f32 .*// meant`).ReplaceAllString(ptx, "")
		require.NotRegexp(t, `fma\.|mad\.f|\.ftz|\.approx|\.full`, unmeant, "each other float operation rounds on its own, denormals kept")
		require.NotContains(t, ptx, ".local", "no kernel spills to local memory")
		require.Contains(t, ptx, fmt.Sprintf(".version %s\n", dotted(i.ISA)))
		require.Contains(t, ptx, fmt.Sprintf(".target sm_%d\n", i.Capability))
	}
}

// TestDriven checks the unit of areas with psp_max likewise.
func TestDriven(t *testing.T) {
	for _, i := range Driven() {
		ptx := i.PTX()
		require.Equal(t, 3, strings.Count(ptx, ".visible .entry"))
		unmeant := regexp.MustCompile(`fma\.rn\.f32 .*// meant`).ReplaceAllString(ptx, "")
		require.NotRegexp(t, `fma\.|mad\.f|\.ftz|\.approx|\.full`, unmeant, "each other float operation rounds on its own, denormals kept")
		require.NotContains(t, ptx, ".local", "no kernel spills to local memory")
		require.Contains(t, ptx, fmt.Sprintf(".version %s\n", dotted(i.ISA)))
		require.Contains(t, ptx, fmt.Sprintf(".target sm_%d\n", i.Capability))
	}
}

// TestToolbox checks the other unit: fused where the source says so, but no approximation, no flushed denormals, no spills, and
// shared memory read in wide pieces.
func TestToolbox(t *testing.T) {
	for _, i := range Toolbox() {
		t.Run(i.Name, func(t *testing.T) {
			ptx := i.PTX()
			require.Equal(t, 34, strings.Count(ptx, ".visible .entry"))
			require.NotRegexp(t, `\.ftz|\.approx|\.full`, ptx, "host and device compute the same bits")
			require.NotContains(t, ptx, ".local", "no kernel spills to local memory")
			_, product, found := strings.Cut(ptx, ".entry matrix_product_128(")
			require.True(t, found)
			require.Contains(t, product, "ld.shared.v4.f32")
			require.Equal(t, 16*64, strings.Count(product, "fma.rn.f32"), "16 steps of 8 by 8 sums, unrolled")
			require.Contains(t, ptx, fmt.Sprintf(".version %s\n", dotted(i.ISA)))
			require.Contains(t, ptx, fmt.Sprintf(".target sm_%d\n", i.Capability))
		})
	}
}

// TestRebuild compiles the sources anew; the committed PTX must be what they say.
func TestRebuild(t *testing.T) {
	slow.Test(t)
	if _, err := exec.LookPath("clang-19"); err != nil {
		require.Empty(t, os.Getenv("CI"), "CI must have clang-19")
		t.Skip("SKIPPED: no clang-19 on this machine, so the PTX was not rebuilt and compared")
	}
	out := t.TempDir()
	log, err := exec.Command("bash", "build.sh", out).CombinedOutput()
	require.NoError(t, err, "%s", log)
	comment := regexp.MustCompile(`(?m)//.*$`) // registers' and blocks' names are the same; only the compiler's remarks may differ
	for _, i := range All() {
		b, err := os.ReadFile(filepath.Join(out, i.Name))
		require.NoError(t, err)
		if comment.ReplaceAllString(string(b), "") != comment.ReplaceAllString(i.PTX(), "") {
			t.Errorf("%s is not what clang-19 makes of the sources; run make kernels", i.Name)
		}
	}
}

// TestPeersAreNotAddedTo: links between devices need not carry atomic operations, so no kernel has any for the whole system.
func TestPeersAreNotAddedTo(t *testing.T) {
	atomic := regexp.MustCompile(`\b(?:red|atom)\.\S*`)
	for _, i := range All() {
		all := atomic.FindAllString(i.PTX(), -1)
		require.NotEmpty(t, all, i.Name)
		for _, op := range all {
			require.NotContains(t, op, ".sys", i.Name)
		}
	}
}

func TestChoose(t *testing.T) {
	for _, c := range []struct {
		name             string
		capability, cuda int
		want, err, why   string
	}{
		{name: "Turing", capability: 75, cuda: 11040, want: "burst_sm_75.ptx", why: "the floor"},
		{name: "Ada", capability: 89, cuda: 13000, want: "burst_sm_75.ptx", why: "sm_90 code does not run on 8.9"},
		{name: "Hopper", capability: 90, cuda: 13000, want: "burst_sm_90.ptx", why: "its own target"},
		{name: "Hopper, old driver", capability: 90, cuda: 11070, want: "burst_sm_75.ptx", why: "CUDA 11.7 ends at PTX 7.7, sm_90 needs 7.8"},
		{name: "Blackwell", capability: 120, cuda: 12080, want: "burst_sm_90.ptx", why: "PTX runs on newer devices"},
		{name: "a driver of the future", capability: 75, cuda: 15030, want: "burst_sm_75.ptx", why: "newer drivers take older PTX"},
		{name: "Pascal", capability: 61, cuda: 12040, err: "compute capability 6.1, want 7.5", why: "below the floor"},
		{name: "CUDA 9", capability: 75, cuda: 9020, err: "the driver takes PTX up to 0.0, want 6.3", why: "not in the table"},
	} {
		t.Run(c.name, func(t *testing.T) {
			i, err := Choose(Images(), c.capability, ISA(c.cuda))
			if c.err != "" {
				require.ErrorContains(t, err, c.err, c.why)
				return
			}
			require.NoError(t, err, c.why)
			require.Equal(t, c.want, i.Name, c.why)
		})
	}
}

// TestQuotient repeats what the kernels do for a port's sum in the genome's unit: the quotient that IEEE division gives, for scales
// and sums of every kind.
func TestQuotient(t *testing.T) {
	fused := func(a, b, c float32) float32 { // exact in float64 but for the last rounding, which big does once
		x := new(big.Float).SetPrec(120).Mul(big.NewFloat(float64(a)), big.NewFloat(float64(b)))
		r, _ := x.Add(x, big.NewFloat(float64(c))).Float32()
		return r
	}
	r := rand.New(rand.NewPCG(3, 9))
	for _, scale := range []float32{1, 3, 700, 1000, 100000, 999983, 1<<23 - 1, 1<<23 + 1, 1<<24 - 1, 1 << 24} {
		inverse := 1 / scale
		for range 2000 {
			x := float32(int32(r.Uint32()) >> r.IntN(31))
			q := float32(x * inverse)
			q = fused(fused(-q, scale, x), inverse, q)
			q = fused(fused(-q, scale, x), inverse, q)
			require.Equal(t, x/scale, q, "%v/%v", x, scale)
		}
	}
}

// TestToolboxSources holds the list of embedded sources to what toolbox.cu includes.
func TestToolboxSources(t *testing.T) {
	include := regexp.MustCompile(`(?m)^#include "([^"]+)"`)
	want := map[string]bool{"toolbox.cu": true}
	for open := []string{"toolbox.cu"}; len(open) > 0; open = open[1:] {
		text, err := ToolboxSources.ReadFile(open[0])
		require.NoError(t, err)
		for _, m := range include.FindAllStringSubmatch(string(text), -1) {
			if name := m[1]; name != "primitives.h" && !want[name] { // the host's stand-in has that one
				want[name] = true
				open = append(open, name)
			}
		}
	}
	entries, err := ToolboxSources.ReadDir(".")
	require.NoError(t, err)
	for _, e := range entries {
		require.True(t, want[e.Name()], "%s is not included", e.Name())
	}
	require.Len(t, entries, len(want))
}
