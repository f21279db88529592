package executor

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"burst/kernels"
)

// TooNewError is PTX of a version that the driver does not take.
type TooNewError struct {
	PTX    int // version of the code, 10·major + minor
	Driver int // newest version that the driver takes, 10·major + minor
	CUDA   int // version that the driver speaks, 1000·major + 10·minor
}

func (e *TooNewError) Error() string {
	return fmt.Sprintf("the code is PTX %s, the driver (CUDA %s) takes PTX up to %s; update the NVIDIA driver, or compile with CUDA %s or older"+
		" (clang: -Xclang -target-feature -Xclang +ptx%d)",
		dotted(e.PTX), cudaText(e.CUDA), dotted(e.Driver), cudaText(e.CUDA), e.Driver)
}

// TargetError is PTX for devices newer than the one at hand.
type TargetError struct {
	Target, Capability int // 10·major + minor
}

func (e *TargetError) Error() string {
	return fmt.Sprintf("the code is for compute capability %s and newer, the device has %s; compile with --gpu-architecture=compute_%d",
		dotted(e.Target), dotted(e.Capability), e.Capability)
}

func dotted(v int) string   { return fmt.Sprintf("%d.%d", v/10, v%10) }
func cudaText(v int) string { return fmt.Sprintf("%d.%d", v/1000, v%1000/10) }

// parameter is one that the PTX declares for a kernel.
type parameter struct {
	kind string // as u64, f32; b8 for structs
	size int    // bytes
}

// header is what PTX says of itself before any code.
type header struct {
	version, target int // 10·major + minor
	kernels         map[string][]parameter
}

var (
	versionLine = regexp.MustCompile(`(?m)^\s*\.version\s+(\d+)\.(\d+)`)
	targetLine  = regexp.MustCompile(`(?m)^\s*\.target\s+sm_(\d+)`)
	entryStart  = regexp.MustCompile(`\.entry\s+([\w$]+)\s*(\(([^)]*)\))?`)
	paramForm   = regexp.MustCompile(`^\.param\s+(?:\.align\s+\d+\s+)?\.([a-z])(\d+)\s+(?:\.ptr\s+(?:\.\w+\s+)?(?:\.align\s+\d+\s+)?)?[\w$%]+\s*(?:\[(\d+)\])?$`)
	remarks     = regexp.MustCompile(`(?s)//[^\n]*|/\*.*?\*/`)
)

// parsePTX reads version, target and the kernels' parameters.
func parsePTX(ptx []byte) (header, error) {
	text := remarks.ReplaceAllString(string(ptx), "")
	h := header{kernels: map[string][]parameter{}}
	v, t := versionLine.FindStringSubmatch(text), targetLine.FindStringSubmatch(text)
	if v == nil || t == nil {
		return h, fmt.Errorf("no .version and .target in %d bytes of code; want PTX as NVRTC, nvcc -ptx or clang -S make it", len(ptx))
	}
	h.version = 10*number(v[1]) + number(v[2])
	h.target = number(t[1])
	for _, e := range entryStart.FindAllStringSubmatch(text, -1) {
		list := []parameter{}
		for p := range strings.SplitSeq(e[3], ",") {
			if p = strings.TrimSpace(p); p == "" {
				continue
			}
			f := paramForm.FindStringSubmatch(p)
			if f == nil {
				return h, fmt.Errorf("kernel %s: parameter %q has an unknown form", e[1], p)
			}
			one := parameter{kind: f[1] + f[2], size: number(f[2]) / 8}
			if f[3] != "" {
				one.size *= number(f[3])
				one.kind = "b8"
			}
			list = append(list, one)
		}
		h.kernels[e[1]] = list
	}
	return h, nil
}

// number is the value of digits that a pattern has matched.
func number(digits string) int {
	n, err := strconv.Atoi(digits)
	if err != nil {
		return 1 << 30 // more digits than an int holds; nothing takes such a version or size
	}
	return n
}

// check says before the driver sees it whether driver and device can take the PTX.
func (h header) check(cuda, capability int) error {
	if isa, known := kernels.ISA(cuda), cuda <= kernels.NewestCUDA(); known && h.version > isa {
		return &TooNewError{PTX: h.version, Driver: isa, CUDA: cuda}
	}
	if h.target > capability {
		return &TargetError{Target: h.target, Capability: capability}
	}
	return nil
}
