// Package kernels holds burst's GPU code: CUDA C++ sources, and the PTX that clang compiled from them. Package backend/cuda launches it.
//
// A .cu file holds a kernel, whose comment gives the Go loop that it equals, or includes those of a unit. burst.cuh makes clang, nvcc,
// NVRTC and g++ accept the same sources. device.cuh holds what is written in PTX.
//
// # Kernels of a burst
//
// A single burst launches these, in this order:
//
//	inject                    adds stimuli and drives to the sums of the ports
//	fired_rows                lists the rows of synapses that are due
//	synaptic_propagation_fcl  adds their weights to the sums
//	neural_dynamics_fcl       updates the neurons and marks those that fire
//	list_sums, list_ids       list the marked neurons in ascending order
//
// Many bursts in one launch are computed by one of these:
//
//	run_bursts       for any network
//	resident_bursts  where the neurons' state fits the shared memory of the GPU
//	local_bursts     where weights change in a small network, whose blocks hold all that their neurons need
//	event_bursts     where neurons of lif_event are, which are looked at where they have an input
//	late_bursts_lif  where all delays of a network of lif are several bursts: blocks need not meet in each burst
//	sum_bursts_lif   the same where rows are long: blocks sum them in their shared memory, and do not meet
//	cluster_bursts   where rows are long, and the state or at least the sums fit the shared memory; its rows have a layout of their own, which deliver_places reads in single bursts
//
// # Units
//
// A unit is a source that is compiled by itself. A network loads only the units that it needs:
//
//	burst         the kernels of a burst
//	moving        the same, where drives or sources have factors
//	large         the same of path run alone, where sums or state are more than the second cache holds
//	outside       cluster_bursts alone, where the neurons' state stays in global memory
//	lists         the same, where a caller wants the fire candidate list of each of many bursts
//	custom        the same, with a place for models that a genome defines
//	custom_lists  the same as lists, for these networks
//	event         networks with neurons that change at inputs alone, many bursts in one launch
//	late          networks of lif without short delays, many bursts in one launch
//	lasting       resident_bursts for a caller that acts between bursts: a launch waits for the host; local has that of its path
//	learn         projections that learn
//	local         the same in small networks, many bursts in one launch
//	driven        areas with psp_max
//	build         building a network on the GPU
//	near          the same, where rules, weights or delays read where neurons lie
//	toolbox       kernels of general use (arithmetic, activations, a matrix product), with which backend/cuda/doctor tests a GPU
package kernels

import (
	"embed"
	"fmt"
	"slices"
	"strings"
	"sync"

	"burst/internal/ptxtext"

	"github.com/klauspost/compress/zstd"
)

// Sources holds the CUDA C++ files; burst.cu, moving.cu, lists.cu and custom.cu include all kernels of a burst, lasting.cu those of
// launches that wait for the host, event.cu that of neurons that change at inputs alone, learn.cu those of learning, driven.cu those of psp_max, build.cu and near.cu those that build networks, toolbox.cu all others.
//
//go:embed *.cu *.cuh
var Sources embed.FS

// ToolboxSources holds those of Sources that toolbox.cu includes: the only ones that the program carries.
//
//go:embed toolbox.cu toolbox.cuh burst.cuh device.cuh elementwise.cu activation.cu normalise.cu matrix_product.cu measure.cu transcendental.cuh
var ToolboxSources embed.FS

// packed holds every unit's PTX, compressed: as text it would be a fifth of the program. Numbers of registers are relative (package
// ptxtext). That for sm_75 is what differs from that for sm_90, which is some hundred bytes where neither has kernels of its own. That
// of a unit which alike names is what differs from the unit beside it.
//
//go:embed *.ptx.zst
var packed embed.FS

// alike has a line for each unit that is kept as what differs from another one: its name, and the other's.
//
//go:embed alike
var alike string

// bases are the lines of alike.
var bases = sync.OnceValue(func() map[string]string {
	list := map[string]string{}
	for line := range strings.Lines(alike) {
		unit, base, _ := strings.Cut(strings.TrimSpace(line), " ")
		list[unit] = base
	}
	return list
})

// Image is PTX for devices from one compute capability on.
type Image struct {
	Name       string
	Capability int // 10·major + minor, the lowest that runs it
	ISA        int // its PTX version, 10·major + minor
}

// PTX is the image's text. The first call takes some milliseconds to unpack it; it stays in memory, for the other backends of the process.
func (i Image) PTX() string { return texts()[i.Name]() }

// texts unpacks each image once, when it is asked for.
var texts = sync.OnceValue(func() map[string]func() string {
	files, err := packed.ReadDir(".")
	if err != nil {
		panic("BUG: " + err.Error())
	}
	list := map[string]func() string{}
	for _, f := range files {
		list[strings.TrimSuffix(f.Name(), ".zst")] = sync.OnceValue(func() string { return string(ptxtext.Absolute(unpack(f.Name()))) })
	}
	return list
})

// unpack is a packed file's text with relative numbers.
func unpack(name string) []byte {
	data, err := packed.ReadFile(name)
	if err != nil {
		panic("BUG: " + err.Error())
	}
	options := []zstd.DOption{zstd.WithDecoderConcurrency(1)}
	from, older := strings.CutSuffix(name, "_sm_75.ptx.zst")
	if !older {
		from = bases()[strings.TrimSuffix(name, "_sm_90.ptx.zst")]
	}
	if from != "" {
		options = append(options, zstd.WithDecoderDictRaw(0, unpack(from+"_sm_90.ptx.zst")))
	}
	r, err := zstd.NewReader(nil, options...)
	if err != nil {
		panic("BUG: " + err.Error())
	}
	defer r.Close()
	text, err := r.DecodeAll(data, nil)
	if err != nil {
		panic("BUG: kernels/" + name + ": " + err.Error())
	}
	return text
}

// Images lists the embedded PTX of a burst's kernels, by rising capability.
func Images() []Image { return unit("burst") }

// Moving lists the embedded PTX of a burst's kernels for networks in which drives or sources have factors, by rising capability.
func Moving() []Image { return unit("moving") }

// Large lists those for networks whose sums or state are more than the second cache holds, on path run, by rising capability.
func Large() []Image { return unit("large") }

// Outside lists that of cluster_bursts for networks whose state stays in global memory, by rising capability.
func Outside() []Image { return unit("outside") }

// Lists lists the embedded PTX of a burst's kernels for callers that want the fire candidate lists of launches of many bursts,
// by rising capability.
func Lists() []Image { return unit("lists") }

// Custom lists the embedded PTX of a burst's kernels with a place for the code of models that a genome defines, by rising
// capability. It has no kernels for one built-in model alone.
func Custom() []Image { return unit("custom") }

// CustomLists is Custom for callers of Lists.
func CustomLists() []Image { return unit("custom_lists") }

// Lasting lists the embedded PTX of the kernels of many bursts for callers that act between them, by rising capability.
func Lasting() []Image { return unit("lasting") }

// Event lists the embedded PTX of the kernel of many bursts for networks with neurons of lif_event or lif_psc_exp_event, by rising capability.
func Event() []Image { return unit("event") }

// Late lists the embedded PTX of the kernel of many bursts for networks whose delays are several bursts, by rising capability.
func Late() []Image { return unit("late") }

// Learn lists the embedded PTX of the kernels of projections that learn, with a place for the code of their rules, by rising capability.
func Learn() []Image { return unit("learn") }

// Local lists that of the kernel of many bursts for small networks that learn, with the same places, by rising capability.
func Local() []Image { return unit("local") }

// Driven lists the embedded PTX of the kernels of areas with psp_max, by rising capability.
func Driven() []Image { return unit("driven") }

// Build lists the embedded PTX of the kernels that build networks, by rising capability.
func Build() []Image { return unit("build") }

// Near lists that of those which build networks whose rules, weights or delays read where neurons lie, by rising capability.
func Near() []Image { return unit("near") }

// Toolbox lists the embedded PTX of the toolbox, by rising capability.
func Toolbox() []Image { return unit("toolbox") }

// All lists the embedded PTX of all units.
func All() []Image {
	return slices.Concat(Images(), Moving(), Large(), Outside(), Lists(), Lasting(), Event(), Late(), Custom(), CustomLists(), Learn(), Local(), Driven(), Build(), Near(), Toolbox())
}

// unit lists what build.sh makes of one source.
func unit(name string) []Image {
	return []Image{
		{Name: name + "_sm_75.ptx", Capability: 75, ISA: 63},
		{Name: name + "_sm_90.ptx", Capability: 90, ISA: 78},
	}
}

// Choose is the image for a device's compute capability and the newest PTX version that its driver takes, both as
// 10·major + minor, of images that lie by rising capability. The error says which of the two no image meets.
func Choose(images []Image, capability, isa int) (Image, error) {
	if lowest := images[0].Capability; capability < lowest {
		return Image{}, fmt.Errorf("compute capability %s, want %s (Turing) or newer", dotted(capability), dotted(lowest))
	}
	for i := len(images) - 1; i >= 0; i-- {
		if images[i].Capability <= capability && images[i].ISA <= isa {
			return images[i], nil
		}
	}
	return Image{}, fmt.Errorf("the driver takes PTX up to %s, want %s; update the NVIDIA driver", dotted(isa), dotted(images[0].ISA))
}

func dotted(v int) string { return fmt.Sprintf("%d.%d", v/10, v%10) }

// isas lists the PTX version that came with each CUDA version ("Release Notes" of NVIDIA's PTX ISA manual).
var isas = [...]struct{ cuda, isa int }{
	{10000, 63}, {10010, 64}, {10020, 65},
	{11000, 70}, {11010, 71}, {11020, 72}, {11030, 73}, {11040, 74}, {11050, 75}, {11060, 76}, {11070, 77}, {11080, 78},
	{12000, 80}, {12010, 81}, {12020, 82}, {12030, 83}, {12040, 84}, {12050, 85}, {12070, 86}, {12080, 87}, {12090, 88},
	{13000, 90}, {13010, 91},
}

// NewestCUDA is the newest CUDA version whose PTX version ISA knows exactly; newer drivers may take more than ISA says.
func NewestCUDA() int { return isas[len(isas)-1].cuda }

// ISA is the newest PTX version that a driver of a CUDA version (1000·major + 10·minor) surely takes; 0 before CUDA 10.
func ISA(cuda int) int {
	isa := 0
	for _, e := range isas {
		if e.cuda <= cuda {
			isa = e.isa
		}
	}
	return isa
}
