package cpu

import (
	"slices"

	"burst/backend/cpu/internal/vector"
	"burst/connectome"
	"burst/internal/formula"
)

// handler is a handler of a plastic projection as passes over chunks of synapses, targets or sources.
type handler struct {
	*evaluator
	own    [][]float32 // room of each variable
	f      *vector.Formula
	reads  []formula.Read
	decays []connectome.Table
}

func newHandler(h *connectome.Handler, f *vector.Formula) *handler {
	if h == nil {
		return nil
	}
	x := &handler{newRegisters(newRecipe(h.Program, false)), nil, f, h.Reads, h.Decays}
	x.own = lists(len(x.results), roomy)
	copy(x.numbers, x.own)
	for i, value := range h.Params {
		x.fill(len(x.results)+i, value)
	}
	return x
}

// from lets run read the k-th variable from a list; of on_pre that assigns it, out comes last.
func (h *handler) from(k int, list []float32) { h.numbers[k] = list }

// asksFor reports whether the handler, which may be nil, reads something.
func (h *handler) asksFor(kind formula.ReadKind) bool {
	return h != nil && slices.ContainsFunc(h.reads, func(r formula.Read) bool { return r.Kind == kind })
}

// input is the room of the k-th input.
func (h *handler) input(k int) []float32 { return h.numbers[h.inputs+k] }

// run executes the program for n entries.
func (h *handler) run(n uint32) {
	for i := range h.passes {
		h.do(h.f, &h.passes[i], n)
	}
	for i, s := range h.results {
		if s.op == storeEither {
			h.f.Select(h.own[i][:n], h.flags[s.a], h.numbers[s.b], h.numbers[s.c])
		}
	}
}

// made is the new value of the k-th variable, for reading only: it may be a constant, or the list of old ones.
func (h *handler) made(k int) []float32 {
	if s := h.results[k]; s.op != storeEither {
		return h.numbers[s.a]
	}
	return h.own[k]
}

// changes reports whether the handler assigns anything to the k-th variable.
func (h *handler) changes(k int) bool { return h.results[k].op == storeEither || h.results[k].a != k }

// handlerBytes is the memory of a handler's registers.
func handlerBytes(h *connectome.Handler) uint64 {
	if h == nil {
		return 0
	}
	r := newRecipe(h.Program, false)
	return 4 * (roomy*uint64(r.numbers) + chunk*uint64(r.flags))
}
