package run

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"burst/backend/cuda"
	"burst/connectome"
	"burst/engine"
	"burst/genome"
)

// GPUs says which GPUs the cuda backend uses. The zero value means the first one, or one for each process if there are several.
type GPUs struct {
	List []int // these, numbered as by the driver; several share the network, and several processes take them by turns
	All  bool  // or as many of all as are worth it

	Build  BuildOn
	Beside int // runs that use one GPU at once, this one included, each a part of it; 0: one
}

// BuildOn says who builds a network for the backends cuda and auto in one process; for all others the host does. The network is the same. A
// GPU mostly keeps the synapses that it has made: Facts.Connectome then has none.
type BuildOn string

// Who builds.
const (
	OnHost   BuildOn = ""       // the processors
	OnDevice BuildOn = "device" // the GPUs. A projection that they do not build is an error
	OnEither BuildOn = "auto"   // the GPUs, where that is worth it and they can, else the host
)

// Builder says who has built a network, and why.
type Builder struct {
	Where string `json:"where"` // device or host
	Why   string `json:"why"`
}

func (b Builder) String() string { return b.Where + ": " + b.Why }

// worthBuilding is the number of synapses from which on GPUs build a network under OnEither. With fewer, the host is ready before a GPU has
// loaded its kernels.
const worthBuilding = 2_000_000

// BuiltBy says who builds a network for GPUs of one process under OnEither, as far as is known before it is tried: a GPU may have no room.
func BuiltBy(seen *connectome.Outlook) Builder {
	switch {
	case seen.Lacks != "":
		return Builder{"host", lacking + seen.Lacks}
	case seen.Least < worthBuilding:
		return Builder{"host", fmt.Sprintf("%d synapses, want at least %d", seen.Least, worthBuilding)}
	}
	return Builder{"device", fmt.Sprintf("%d synapses or more, worth it from %d on", seen.Least, worthBuilding)}
}

// lacking begins the reason why a GPU does not build a network.
const lacking = "a GPU does not build "

// notOnDevice says why the host is to build a network that GPUs have refused with err; empty: it is not, or there is another error.
func (o *Options) notOnDevice(err error) string {
	lacks, room := new(connectome.MakerError), new(cuda.RoomError)
	switch {
	case o.GPUs.Build == OnEither && errors.As(err, &lacks):
		return lacking + lacks.What
	case errors.As(err, &room) && (o.GPUs.Build == OnEither || o.Backend == "auto"):
		return fmt.Sprintf("the GPU has %d bytes free and building needs %d", room.Free, room.Need)
	}
	return ""
}

// Parts plans a network in parts if the named backend uses several GPUs, or if o.Maker builds, and lists these GPUs. If one GPU takes the
// whole network, there are no parts (a Maker has one), and the list has at most that GPU.
func (g GPUs) Parts(n *genome.Genome, on string, o connectome.Options) (*connectome.Parts, []int, error) {
	switch {
	case on != "cuda" && on != "auto":
		return nil, nil, nil
	case g.All && whole(n) && o.Maker == nil:
		return nil, nil, nil
	case g.All:
		return spread(n, o)
	case len(g.List) < 2 && o.Maker == nil:
		return nil, g.List, nil
	}
	list, err := g.Every()
	if err != nil {
		return nil, nil, err
	}
	parts, err := connectome.NewParts(n, len(list), o)
	return parts, list, err
}

// whole reports whether several GPUs cannot share the network, because a projection learns or its source area has psp_max.
func whole(n *genome.Genome) bool {
	return slices.ContainsFunc(n.Projections, func(p genome.Projection) bool {
		return p.Learning != nil || p.From >= 0 && n.Areas[p.From].PSPMax > 0
	})
}

// spread is Parts for as many of all GPUs as are worth it.
func spread(n *genome.Genome, o connectome.Options) (*connectome.Parts, []int, error) {
	found, err := cuda.Devices()
	if errors.Is(err, engine.ErrUnavailable) {
		return nil, nil, nil // opening says why, or takes another backend
	}
	usable := len(indexes(found))
	if err != nil || usable == 0 {
		return nil, nil, err
	}
	parts, err := connectome.NewParts(n, usable, o)
	if err != nil {
		return nil, nil, err
	}
	list := cuda.Spread(parts.Head(), parts.Least(connectome.Part{}), found)
	if len(list) == 1 && o.Maker == nil {
		return nil, list, nil
	}
	return parts, list, parts.Into(len(list))
}

// Every lists the GPUs, all that can be used for All.
func (g GPUs) Every() ([]int, error) {
	switch {
	case g.All:
		found, err := cuda.Devices()
		return indexes(found), err
	case len(g.List) == 0:
		return []int{0}, nil
	}
	return g.List, nil
}

// Wake starts the GPUs' driver in the background if the named backend uses it, and returns at once. Starting takes a tenth of a second for
// each GPU, in which a genome can be read. If the process uses the first one alone, it sees no others from then on.
func Wake(backend string, first bool) {
	if backend != "cuda" && backend != "auto" {
		return
	}
	if first {
		seeFirst("/proc/driver/nvidia/gpus")
	}
	go cuda.Visible() // whose errors are told when GPUs are needed
}

// seeFirst has the driver start the first alone of several GPUs, of each of which the folder has an entry.
func seeFirst(folder string) {
	const visible = "CUDA_VISIBLE_DEVICES"
	if found, err := os.ReadDir(folder); err != nil || len(found) < 2 {
		return
	}
	first, set := os.LookupEnv(visible)
	if first, _, _ = strings.Cut(first, ","); !set {
		first = "0"
	}
	os.Setenv(visible, first)
}

// maker builds a network where the options want it built by GPUs; nil: the host builds it, which it also does where auto finds none.
func (o *Options) maker() (*cuda.Maker, error) {
	if o.GPUs.Build == OnHost || o.Peers != nil || o.Backend != "cuda" && o.Backend != "auto" {
		return nil, nil
	}
	list, err := o.GPUs.Every()
	if err == nil {
		_, err = cuda.Visible() // without a GPU the network would be planned once for it and again for the CPU
	}
	if err == nil && len(list) == 0 {
		err = fmt.Errorf("%w: no GPU can be used to build the network; `burst devices` says why", engine.ErrUnavailable)
	}
	if (o.Backend == "auto" || o.GPUs.Build == OnEither) && errors.Is(err, engine.ErrUnavailable) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return cuda.NewMaker(list), nil
}

// indexes are those of the devices that can be used.
func indexes(found []cuda.DeviceInfo) []int {
	var list []int
	for _, d := range found {
		if d.Usable {
			list = append(list, d.Index)
		}
	}
	return list
}

// named reports whether the caller chose certain GPUs.
func (g GPUs) named() bool { return g.All || len(g.List) > 0 }

// turn is the GPU of one of several processes, which are dealt the GPUs in turn.
func (g GPUs) turn(process int) (int, error) {
	list, err := g.Every()
	if errors.Is(err, engine.ErrUnavailable) || err == nil && len(list) == 0 {
		return 0, nil // opening says why, or takes another backend
	}
	if err != nil {
		return 0, err
	}
	return list[process%len(list)], nil
}
