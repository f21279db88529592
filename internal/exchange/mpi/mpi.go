// Package mpi joins parts that are processes, on one host or many, through the MPI library that mpirun or srun belongs to. The
// library is found at run time. It has one of two binary interfaces: Open MPI's, with addresses as handles, or that of MPICH
// and its relatives, with numbers. The parts exchange words by MPI_Allgather. A part that leaves sends a message to each of the
// others.
package mpi

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"burst/connectome"
	"burst/internal/clib"
	"burst/internal/exchange"
)

// Library is the environment variable that names the library to load in place of those found by name.
const Library = "BURST_MPI"

// noSignals keeps UCX, which MPI libraries may use, from taking the signals of faults away from Go.
const noSignals = "UCX_ERROR_SIGNALS"

// Launched is the number of processes that a launcher has started, this one included; 1 without a launcher. get is os.Getenv.
func Launched(get func(string) string) int {
	sizes := []string{"OMPI_COMM_WORLD_SIZE", "PMI_SIZE"}
	if get("PMIX_RANK") != "" {
		sizes = append(sizes, "SLURM_STEP_NUM_TASKS", "SLURM_NTASKS")
	}
	for _, name := range sizes {
		if n, err := strconv.Atoi(get(name)); err == nil && n > 0 {
			return n
		}
	}
	return 1
}

// Leads reports whether this process is the first one, by the launcher's variables.
func Leads(get func(string) string) bool {
	for _, name := range []string{"OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK"} {
		if rank := get(name); rank != "" {
			return rank == "0"
		}
	}
	return true
}

// The functions that are called.
const (
	initThread = iota
	commRank
	commSize
	allgather
	allgatherv
	abort
	finalize
	libraryVersion
	isend
	requestFree
	iprobe
	recv
	commSplitType
	commFree
	functions
)

var names = [functions]string{
	"MPI_Init_thread", "MPI_Comm_rank", "MPI_Comm_size", "MPI_Allgather", "MPI_Allgatherv", "MPI_Abort", "MPI_Finalize", "MPI_Get_library_version",
	"MPI_Isend", "MPI_Request_free", "MPI_Iprobe", "MPI_Recv", "MPI_Comm_split_type", "MPI_Comm_free",
}

// Handles and numbers of the two interfaces, and the level of threads: any, one at a time.
const (
	mpichWorld    = 0x44000000
	mpichUnsigned = 0x4c000406
	mpichNoInfo   = 0x1c000000
	mpichShared   = 1
	mpichAny      = -2
	openShared    = 0
	openAny       = -1
	serialized    = 2
)

// round is the total number of words, over all parts, of each further message.
const round = 1 << 26

// World is this process's end of the connection.
type World struct {
	fn          [functions]uintptr
	comm, words uintptr // MPI_COMM_WORLD, MPI_UNSIGNED
	any         uintptr // MPI_ANY_SOURCE
	shared      uintptr // MPI_COMM_TYPE_SHARED
	noInfo      uintptr // MPI_INFO_NULL
	part        connectome.Part
	host        []int
	version     string
	last        lastWords

	length     exchange.Length // of the first message
	send, recv []uint32
	all        [][]uint32
	long       [][]uint32 // of the parts that gave more than fits
	counts     []int32
	places     []int32
}

// Connect joins the processes of one launcher. Its errors name the libraries that were tried.
func Connect() (*World, error) {
	w := &World{}
	if _, set := os.LookupEnv(noSignals); !set {
		if err := os.Setenv(noSignals, ""); err != nil {
			return nil, err
		}
	}
	if err := w.load(candidates(os.Getenv)); err != nil {
		return nil, fmt.Errorf("the process was started as one of several, but no MPI library can be used: %w\n"+
			"install the one that the launcher belongs to (Debian: openmpi-bin, or mpich), or name it: %s=/path/to/libmpi.so", err, Library)
	}
	var provided, rank, size int32
	if rc := call(w.fn[initThread], clib.Int(0), clib.Int(0), clib.Int(serialized), clib.Ptr(&provided)); rc != 0 || provided < serialized {
		return nil, fmt.Errorf("%s: MPI_Init_thread returned %d and level %d of threads, want 0 and at least %d", w.version, rc, provided, serialized)
	}
	call(w.fn[commRank], clib.Int(w.comm), clib.Ptr(&rank))
	call(w.fn[commSize], clib.Int(w.comm), clib.Ptr(&size))
	if want := Launched(os.Getenv); int(size) != want {
		return nil, fmt.Errorf("%s sees %d processes where the launcher has started %d: it is not the launcher's library; name that one: %s=/path/to/libmpi.so",
			w.version, size, want, Library)
	}
	w.part = connectome.Part{Index: int(rank), Of: int(size)}
	w.all, w.long = make([][]uint32, size), make([][]uint32, size)
	w.counts, w.places = make([]int32, size), make([]int32, size)
	if err := w.meetHost(); err != nil {
		return nil, err
	}
	return w, nil
}

// candidates are the libraries to try: the user's, else those of the launcher's family first.
func candidates(get func(string) string) []string {
	if name := get(Library); name != "" {
		return []string{name}
	}
	open, mpich := []string{"libmpi.so.40", "libmpi.so.80"}, []string{"libmpich.so.12", "libmpi.so.12"}
	if get("PMI_SIZE") != "" && get("OMPI_COMM_WORLD_SIZE") == "" {
		open, mpich = mpich, open
	}
	return append(append(open, "libmpi.so"), mpich...)
}

// load takes the first library that has everything.
func (w *World) load(list []string) error {
	var wrong []error
	for _, name := range list {
		library, err := clib.Open(name, true)
		if err == nil {
			err = w.bind(library)
		}
		if err == nil {
			return nil
		}
		wrong = append(wrong, fmt.Errorf("%s: %w", filepath.Base(name), err))
	}
	return errors.Join(wrong...)
}

// bind finds the functions and the handles of a library.
func (w *World) bind(library uintptr) error {
	for i, name := range names {
		if w.fn[i] = clib.Lookup(library, name); w.fn[i] == 0 {
			return fmt.Errorf("no function %s", name)
		}
	}
	text, n := make([]byte, 1<<14), int32(0)
	if rc := call(w.fn[libraryVersion], clib.Ptr(&text[0]), clib.Ptr(&n)); rc != 0 || n < 0 || int(n) > len(text) {
		return fmt.Errorf("MPI_Get_library_version returned %d", rc)
	}
	w.version, _, _ = strings.Cut(string(text[:n]), "\n")
	if world := clib.Lookup(library, "ompi_mpi_comm_world"); world != 0 {
		w.any, w.shared, w.comm = openAny&0xffffffff, openShared, world
		for _, s := range []struct {
			name   string
			handle *uintptr
		}{{"ompi_mpi_unsigned", &w.words}, {"ompi_mpi_info_null", &w.noInfo}} {
			if *s.handle = clib.Lookup(library, s.name); *s.handle == 0 {
				return fmt.Errorf("no symbol %s", s.name)
			}
		}
		return nil
	}
	if clib.Lookup(library, "MPIR_Err_return_comm") == 0 && !strings.Contains(w.version, "MPICH") && !strings.Contains(w.version, "Intel") {
		return fmt.Errorf("%q is neither Open MPI nor of MPICH's family", w.version)
	}
	w.comm, w.words, w.any = mpichWorld, mpichUnsigned, mpichAny&0xffffffff
	w.shared, w.noInfo = mpichShared, mpichNoInfo
	return nil
}

// Part is which part of the network this process has, and how many there are: its rank and the number of processes.
func (w *World) Part() connectome.Part { return w.part }

// Version is the library's.
func (w *World) Version() string { return w.version }

// Allgather sends one message of the same length from each part. Its first word is the number of words that the part gives.
// Words that do not fit follow in further messages.
func (w *World) Allgather(own []uint32) ([][]uint32, error) {
	k := w.length.Words()
	w.send, w.recv = sized(w.send, k), sized(w.recv, k*w.part.Of)
	w.send[0] = uint32(len(own))
	copy(w.send[1:], own)
	if rc := call(w.fn[allgather], clib.Ptr(&w.send[0]), clib.Int(k), clib.Int(w.words), clib.Ptr(&w.recv[0]), clib.Int(k), clib.Int(w.words), clib.Int(w.comm)); rc != 0 {
		return nil, refused("MPI_Allgather", rc)
	}
	most := 0
	for i := range w.all {
		words := w.recv[i*k:][:k]
		n := int(words[0])
		most = max(most, n)
		w.all[i] = words[1:min(1+n, k)]
	}
	var err error
	if most > k-1 {
		err = w.allgatherRest(own, most)
	}
	w.length.Adapt(most)
	return w.all, err
}

// allgatherRest exchanges the words that did not fit in the first message.
func (w *World) allgatherRest(own []uint32, most int) error {
	k := w.length.Words()
	have := k - 1
	left := make([]int, len(w.all))
	for i := range w.all {
		left[i] = max(0, int(w.recv[i*k])-have)
		w.long[i] = append(w.long[i][:0], w.all[i]...)
	}
	own = own[min(have, len(own)):]
	each := max(1, round/len(w.all))
	for done := 0; done < most-have; done += each {
		total := int32(0)
		for i := range left {
			w.counts[i], w.places[i] = int32(min(each, left[i])), total
			left[i] -= int(w.counts[i])
			total += w.counts[i]
		}
		mine := int(w.counts[w.part.Index])
		w.send = sized(w.send, max(1, mine))
		copy(w.send, own[:mine])
		own = own[mine:]
		rest := sized(w.recv, int(total)) // the first message is in long by now
		w.recv = rest
		if rc := call(w.fn[allgatherv], clib.Ptr(&w.send[0]), clib.Int(mine), clib.Int(w.words), clib.Ptr(&rest[0]), clib.Ptr(&w.counts[0]), clib.Ptr(&w.places[0]), clib.Int(w.words), clib.Int(w.comm)); rc != 0 {
			return refused("MPI_Allgatherv", rc)
		}
		for i := range w.long {
			w.long[i] = append(w.long[i], rest[w.places[i]:][:w.counts[i]]...)
		}
	}
	copy(w.all, w.long)
	return nil
}

// sized is s with n words of undefined content.
func sized(s []uint32, n int) []uint32 {
	if cap(s) < n {
		return make([]uint32, n, n+n/4)
	}
	return s[:n]
}

// Abort ends all processes, this one too.
func (w *World) Abort(error) { call(w.fn[abort], clib.Int(w.comm), clib.Int(1)) }

// Close leaves MPI. A process that ends without it ends all others.
func (w *World) Close() error {
	return refused("MPI_Finalize", call(w.fn[finalize]))
}

// refused is the error of a function that did not return MPI_SUCCESS, nil if it did.
func refused(function string, rc int32) error {
	if rc == 0 {
		return nil
	}
	return fmt.Errorf("%s returned %d", function, rc)
}

// call calls a function of MPI and returns its error code.
func call(fn uintptr, args ...clib.Arg) int32 { return int32(clib.Call(fn, args...)) }
