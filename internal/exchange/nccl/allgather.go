package nccl

import (
	"unsafe"

	"burst/internal/clib"
	"burst/internal/cuda/driver"
)

// Device and page-locked memory for messages, in words: at first, and the most for a message of all parts.
const (
	least = 1 << 14
	most  = 1 << 22
)

// look is how often the device is asked before NCCL and the parts are.
const look = 64

// Allgather sends one message of the same length from each part. Its first word is the number of words that the part gives.
// Words that do not fit follow in further messages, as many for each part as the one with most words needs.
func (x *Exchange) Allgather(own []uint32) ([][]uint32, error) {
	if x.fault != nil {
		return nil, x.fault
	}
	if err := x.inContext(func() error { return x.allgather(own) }); err != nil {
		x.end(x.blame(err))
		return nil, x.fault
	}
	return x.all, nil
}

// inContext calls do with the part's device as the current one.
func (x *Exchange) inContext(do func() error) error {
	if err := x.ctx.Enter(); err != nil {
		return err
	}
	defer x.ctx.Leave()
	return do()
}

func (x *Exchange) allgather(own []uint32) error {
	k := x.length.Words()
	if err := x.room(k * x.part.Of); err != nil {
		return err
	}
	mine := x.words[k*x.part.Index:][:k]
	mine[0] = uint32(len(own))
	n := copy(mine[1:], own)
	if err := x.message(k, 1+n); err != nil {
		return err
	}
	longest := 0
	for i := range x.all {
		words := x.words[k*i:][:k]
		x.counts[i] = int(words[0])
		longest = max(longest, x.counts[i])
		x.all[i] = words[1:min(1+x.counts[i], k)]
	}
	x.length.Adapt(longest)
	if longest < k {
		return nil
	}
	return x.allgatherRest(own, k-1, longest)
}

// allgatherRest exchanges the words that did not fit in the first message, which had room for had words of each part.
func (x *Exchange) allgatherRest(own []uint32, had, longest int) error {
	for i, words := range x.all {
		x.long[i] = append(x.long[i][:0], words...)
	}
	for each := max(1, most/x.part.Of); had < longest; had += each {
		k := min(each, longest-had)
		if err := x.room(k * x.part.Of); err != nil {
			return err
		}
		n := copy(x.words[k*x.part.Index:][:k], own[min(had, len(own)):])
		if err := x.message(k, n); err != nil {
			return err
		}
		for i := range x.long {
			x.long[i] = append(x.long[i], x.words[k*i:][:min(k, max(0, x.counts[i]-had))]...)
		}
	}
	copy(x.all, x.long)
	return nil
}

// message exchanges k words of each part, each at its place in words. This part sends the first n of its own.
func (x *Exchange) message(k, n int) error {
	const word = 4 // bytes
	at := k * x.part.Index
	if n > 0 {
		if err := x.stream.Upload(x.device+driver.Ptr(word*at), unsafe.Pointer(&x.words[at]), uint64(word*n)); err != nil {
			return err
		}
	}
	r := clib.Call(x.api.fn[allGather], clib.Int(x.device+driver.Ptr(word*at)), clib.Int(x.device), clib.Int(k), clib.Int(uint32Type), clib.Int(uintptr(x.comm)), clib.Int(x.stream.Handle()))
	if err := x.settled(allGather, r); err != nil {
		return err
	}
	if err := x.stream.Download(unsafe.Pointer(&x.words[0]), x.device, uint64(word*k*x.part.Of)); err != nil {
		return err
	}
	return x.wait()
}

// wait returns when the stream is done, NCCL has failed, or a part has left that should take part.
func (x *Exchange) wait() error {
	for asked := 1; ; asked++ {
		if done, err := x.stream.Done(); done || err != nil {
			return err
		}
		if asked%look != 0 {
			continue
		}
		if err := x.state(); err != nil && !busy(err) {
			return err
		}
		if err := x.watch(); err != nil {
			return err
		}
	}
}
