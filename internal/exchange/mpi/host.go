package mpi

import "burst/internal/clib"

// Host lists the parts whose processes run on this one's host, this part too, ascending.
func (w *World) Host() []int { return w.host }

// meetHost finds them: the processes that could share memory with this one, in the order of all.
func (w *World) meetHost() error {
	var comm uint64 // a number of 32 bits in MPICH's interface
	var size int32
	if rc := call(w.fn[commSplitType], clib.Int(w.comm), clib.Int(w.shared), clib.Int(0), clib.Int(w.noInfo), clib.Ptr(&comm)); rc != 0 {
		return refused("MPI_Comm_split_type", rc)
	}
	if rc := call(w.fn[commSize], clib.Int(comm), clib.Ptr(&size)); rc != 0 {
		return refused("MPI_Comm_size", rc)
	}
	own, all := uint32(w.part.Index), make([]uint32, size)
	if rc := call(w.fn[allgather], clib.Ptr(&own), clib.Int(1), clib.Int(w.words), clib.Ptr(&all[0]), clib.Int(1), clib.Int(w.words), clib.Int(comm)); rc != 0 {
		return refused("MPI_Allgather", rc)
	}
	w.host = make([]int, size)
	for i, part := range all {
		w.host[i] = int(part)
	}
	return refused("MPI_Comm_free", call(w.fn[commFree], clib.Ptr(&comm)))
}
