package connectome

import (
	"fmt"
	"math"
	"math/bits"
	"os"
	"path"
	"strconv"
	"strings"

	"burst/internal/plain"
)

// LimitError is the error for a genome that is too big. It is found before memory is allocated.
type LimitError struct {
	Field  string // the largest contribution, such as projections[2] or areas[0].size
	Unit   string // unit of Needed and Limit: bytes, neurons, ports or synapses
	Needed uint64 // MaxUint64 if it exceeds 64 bits
	Limit  uint64
	Bytes  uint64 // memory for building; MaxUint64 if it exceeds 64 bits

	fault error // the error with its position in the genome's text
}

// Error names the place, the size and the limit.
func (e *LimitError) Error() string {
	if e.fault != nil {
		return e.fault.Error()
	}
	return e.Field + ": " + e.message()
}

// Unwrap is the genome.Faults that points into the text.
func (e *LimitError) Unwrap() error { return e.fault }

func (e *LimitError) message() string {
	if e.Unit == "bytes" {
		return fmt.Sprintf("building needs %s, the limit is %s; make the network smaller or use a machine with more memory",
			bytesText(e.Needed), bytesText(e.Limit))
	}
	return fmt.Sprintf("the network needs %s %s (%s of memory), the limit is %d",
		atLeast(e.Needed), e.Unit, bytesText(e.Bytes), e.Limit)
}

func atLeast(n uint64) string {
	if n == math.MaxUint64 {
		return "more than 18446744073709551614"
	}
	return strconv.FormatUint(n, 10)
}

func bytesText(n uint64) string {
	if n < 1<<10 {
		return plain.Bytes(n)
	}
	return fmt.Sprintf("%s bytes (%s)", atLeast(n), plain.Bytes(n))
}

// add is a + b; MaxUint64 if that overflows.
func add(a, b uint64) uint64 {
	sum, carry := bits.Add64(a, b, 0)
	if carry != 0 {
		return math.MaxUint64
	}
	return sum
}

// mul is a·b; MaxUint64 if that overflows.
func mul(a, b uint64) uint64 {
	hi, lo := bits.Mul64(a, b)
	if hi != 0 {
		return math.MaxUint64
	}
	return lo
}

// assumedMemory is used if the system does not say how much memory is available.
const assumedMemory = 8 << 30

// AvailableMemory is the memory that this process may still allocate: MemAvailable, or the rest of its control group's limit
// if that is less.
func AvailableMemory() uint64 {
	least := uint64(math.MaxUint64)
	if text, err := os.ReadFile("/proc/meminfo"); err == nil {
		least = memAvailable(string(text))
	}
	if text, err := os.ReadFile("/proc/self/cgroup"); err == nil {
		least = min(least, groupLeft(string(text), readNumber))
	}
	if least == math.MaxUint64 {
		return assumedMemory
	}
	return least
}

// memAvailable finds MemAvailable in the text of /proc/meminfo; MaxUint64 when it is not there.
func memAvailable(text string) uint64 {
	for line := range strings.Lines(text) {
		f := strings.Fields(line)
		if len(f) < 2 || f[0] != "MemAvailable:" {
			continue
		}
		if kib, err := strconv.ParseUint(f[1], 10, 54); err == nil {
			return kib << 10
		}
	}
	return math.MaxUint64
}

// groupLeft is the least that any control group of /proc/self/cgroup's text leaves, versions 1 and 2.
func groupLeft(text string, read func(file string) (uint64, bool)) uint64 {
	least := uint64(math.MaxUint64)
	for line := range strings.Lines(text) {
		part := strings.SplitN(strings.TrimSpace(line), ":", 3)
		if len(part) != 3 {
			continue
		}
		root, limit, used := "/sys/fs/cgroup", "memory.max", "memory.current"
		if part[1] == "memory" {
			root, limit, used = "/sys/fs/cgroup/memory", "memory.limit_in_bytes", "memory.usage_in_bytes"
		} else if part[1] != "" {
			continue
		}
		for dir := path.Clean("/" + part[2]); ; dir = path.Dir(dir) {
			most, ok := read(path.Join(root, dir, limit))
			if now, known := read(path.Join(root, dir, used)); ok && known {
				least = min(least, most-min(most, now))
			}
			if dir == "/" {
				break
			}
		}
	}
	return least
}

// readNumber reads a file that holds one number; a group without a limit says "max", which is none.
func readNumber(file string) (uint64, bool) {
	text, err := os.ReadFile(file)
	if err != nil {
		return 0, false
	}
	n, err := strconv.ParseUint(strings.TrimSpace(string(text)), 10, 64)
	return n, err == nil
}
