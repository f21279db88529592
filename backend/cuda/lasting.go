package cuda

import (
	"math"
	"slices"
	"sync/atomic"
	"time"
	"unsafe"

	"burst/engine"
	"burst/internal/cuda/driver"
)

// lasting are launches of many bursts for a caller that acts between bursts (kernels/calls.cuh). Such a launch keeps running, and
// the host requests one burst after the other. It ends by itself some time after the last burst. So nothing on the device waits long for a
// host that has gone, and work that is queued behind the launch need not stop it.
type lasting struct {
	module  *driver.Module
	program // its kernel is nil where there are no such launches
	calls   calls
	spans   []span
	counts  []uint64 // scratch of request: of each block how many stimuli; 0 between
	used    []uint64 // and at most in this launch

	host           *driver.HostMemory
	requests, rest []uint64
	answers        []uint64
	further        []uint64
	next, over     *uint64

	on     bool      // a launch has more bursts to be called for, unless it is over
	number uint64    // the place of the next one in it
	most   uint64    // how many it has
	told   bool      // the newest burst has arrived as answers
	left   time.Time // when Step has returned last
}

// calls is the struct of that name in kernels/calls.cuh, field for field.
type calls struct {
	requests, rest, answers, further, next, over, halt driver.Ptr
	launch, room, patience                             uint64
}

// span is a run of neighbouring ports, up to end, whose neurons one block has; last: it has none after them.
type span struct {
	end, block uint32
	last       bool
}

// The constants of these names in kernels/calls.cuh.
const (
	requestWords, answerWords, mostAnswers = 16, 8, 512
	stopLasting, askingToEnd, lastingOver  = math.MaxUint64, 1, 2
)

// lastingBursts is how many bursts such a launch may have: their places take 8 bits. lastingPorts and lastingOwn are how many ports and how many
// neurons of a block words have bits for.
const lastingBursts, lastingPorts, lastingOwn = 1<<8 - 1, 1 << 24, 1 << 14

// lasts reports whether Steps may be bursts of one launch: if the caller has said that it will give stimuli, and the network's state stays
// in shared memory.
func (b *backend) lasts() bool {
	most := map[path]uint64{pathResident: lastingOwn, pathDelayed: lastingOwn, pathLocal: mostAnswers}[b.choice.path] // of a block's neurons
	return b.want.Stimuli && b.tune.linger > 0 && b.batch.shape.own < most && !b.listed() && !hasInstants(b.c) && b.c.Ports <= lastingPorts
}

// lastingLocal is the kernel of path local, which lies beside that for many bursts.
const lastingLocal = "lasting_local"

// load finds the kernel.
func (l *lasting) load(b *backend) (err error) {
	if b.choice.path == pathLocal {
		l.kernel, err = b.batch.module.Function(lastingLocal)
		return err
	}
	name := "lasting_bursts" + modelSuffix(b.c)
	if l.module, err = b.loadFrom(b.lastingImage.PTX(), b.lastingImage.Name, []string{name}, nil); err == nil {
		l.kernel, err = l.module.Function(name)
	}
	return err
}

// start loads the kernel and takes the mapped memory.
func (l *lasting) start(b *backend) error {
	if !b.lasts() {
		return nil
	}
	if err := l.load(b); err != nil {
		return err
	}
	x := &b.batch
	if fits, err := x.ready(l.kernel, b.sms); err != nil || !fits {
		l.kernel = nil // launches of one burst then
		return err
	}
	if err := l.allocate(b); err != nil {
		return err
	}
	l.most = min(x.shape.most, lastingBursts)
	l.params = driver.ParamsAt(append(x.args.of(b.choice.path), unsafe.Pointer(&l.calls)))
	return nil
}

// allocate takes the mapped memory by which host and blocks tell each other.
func (l *lasting) allocate(b *backend) error {
	s := &b.batch.shape
	var room uint64
	l.spans, room = b.dealPorts()
	l.counts, l.used = make([]uint64, s.blocks), make([]uint64, s.blocks)
	requests, answers, further, rest := s.blocks*requestWords, s.blocks*answerWords, s.blocks*furtherWords, s.blocks*room
	all := requests + answers + further + 2*wordsApart + rest
	var err error
	if l.host, err = b.ctx.AllocHost(int(8*all), true); err != nil {
		l.host = nil
		return err
	}
	base, err := l.host.DevicePtr()
	if err != nil {
		return err
	}
	words := unsafe.Slice((*uint64)(unsafe.Pointer(unsafe.SliceData(l.host.Bytes()))), all)
	at := func(n uint64) (driver.Ptr, []uint64) {
		list, from := words[:n:n], base
		words, base = words[n:], base+driver.Ptr(8*n)
		return from, list
	}
	var next, over []uint64
	c := &l.calls
	c.requests, l.requests = at(requests)
	c.answers, l.answers = at(answers)
	c.further, l.further = at(further)
	c.next, next = at(wordsApart)
	c.over, over = at(wordsApart)
	c.rest, l.rest = at(rest)
	l.next, l.over = &next[0], &over[0]
	c.halt, c.room, c.patience = b.plan.ptr[bufSync]+haltAt, room, uint64(b.tune.linger)
	return nil
}

// furtherWords are the words of a block's answer that do not lie beside those of the other blocks.
const furtherWords = mostAnswers/4 - answerWords

// wordsApart keeps words that host and device write apart, by lines of caches.
const wordsApart = 16

// dealPorts are the spans of all ports, ascending, after empty ones of blocks without ports, and how many ports a block has at most.
func (b *backend) dealPorts() (list []span, most uint64) {
	own := b.batch.shape.own
	each := make([]uint64, b.batch.shape.blocks)
	for i := range b.c.Areas {
		a := &b.c.Areas[i]
		first, end := uint64(a.Neurons.First), uint64(a.Neurons.End())
		port := uint64(a.Ports.First)
		for range a.PortsEach() {
			for n := first; n < end; {
				block := n / own
				until := min(end, (block+1)*own)
				port += until - n
				each[block] += until - n
				list = append(list, span{end: uint32(port), block: uint32(block)})
				n = until
			}
		}
	}
	for block, ports := range each {
		if ports == 0 {
			list = slices.Insert(list, 0, span{block: uint32(block)})
		}
	}
	seen := make([]bool, len(each))
	for i := range slices.Backward(list) {
		s := &list[i]
		s.last, seen[s.block] = !seen[s.block], true
	}
	return list, slices.Max(append(each, 0))
}

func (l *lasting) free() error {
	if l.params != nil {
		l.params.Release()
	}
	return freeHost(&l.host)
}

// step runs the next burst, in the launch that is running or in a new one, which keeps running if Steps follow each other. The burst
// arrives at the first place of the mapped memory.
func (l *lasting) step(b *backend, in []engine.Stimulus) error {
	if l.on {
		called, err := l.call(b, in)
		if called || err != nil {
			return err
		}
	}
	if err := l.end(b); err != nil {
		return err
	}
	x := &b.batch
	if l.told = l.kernel != nil && time.Since(l.left) < b.tune.linger; !l.told {
		if err := b.launchGiven(&x.program, in, 1); err != nil {
			return err
		}
		return b.poll(&x.done[0], b.number)
	}
	l.forget()
	atomic.StoreUint64(l.next, 0)
	atomic.StoreUint64(l.over, 0)
	l.calls.launch++
	if err := b.launchGiven(&l.program, in, l.most); err != nil {
		return err
	}
	l.number = 0
	return l.hear(b)
}

// call has the launch that goes on run its next burst, and says whether it has.
func (l *lasting) call(b *backend, in []engine.Stimulus) (called bool, err error) {
	atomic.StoreUint64(l.next, l.number)
	if atomic.LoadUint64(l.over) != 0 {
		if err := b.wait(func() bool { return atomic.LoadUint64(l.over) != askingToEnd }); err != nil {
			l.on = false
			return false, err
		}
		if l.on = atomic.LoadUint64(l.over) != lastingOver; !l.on {
			return false, nil
		}
	}
	l.request(in)
	return true, l.hear(b)
}

// request asks for the next burst of the launch. Each block finds its stimuli in its request, and further ones in its room of rest. It is
// told how many they are when they are all there, and takes them while the host goes on with those of others.
func (l *lasting) request(in []engine.Stimulus) {
	place, room := l.number<<24, l.calls.room
	for _, s := range l.spans {
		count := l.counts[s.block]
		request := (*[requestWords]uint64)(l.requests[uint64(s.block)*requestWords:])
		for ; count < requestWords-1 && len(in) > 0 && in[0].Port < s.end; in = in[1:] {
			count++
			request[count] = place | wordOf(in[0])
		}
		if count >= requestWords-1 {
			rest := l.rest[uint64(s.block)*room:][:room]
			n := fill(rest[count+1-requestWords:], in, place, s.end)
			in, count = in[n:], count+uint64(n)
		}
		l.counts[s.block] = count
		if s.last {
			request[0] = place | count
			l.used[s.block], l.counts[s.block] = max(l.used[s.block], count), 0
		}
	}
}

// fill fills words with the first stimuli, those of ports below end, and says how many they are. Ports ascend.
func fill(words []uint64, in []engine.Stimulus, place uint64, end uint32) (n int) {
	for ; n+4 <= len(in) && in[n+3].Port < end; n += 4 {
		to, from := (*[4]uint64)(words[n:]), (*[4]engine.Stimulus)(in[n:])
		to[0], to[1], to[2], to[3] = place|wordOf(from[0]), place|wordOf(from[1]), place|wordOf(from[2]), place|wordOf(from[3])
	}
	for ; n < len(in) && in[n].Port < end; n++ {
		words[n] = place | wordOf(in[n])
	}
	return n
}

// wordOf is a stimulus in a request, without its place, as it lies in memory.
func wordOf(s engine.Stimulus) uint64 { return uint64(uint32(s.Amount))<<32 | uint64(s.Port) }

// forget clears all words, so that none of a launch before is taken for one of the next, whose places are the same.
func (l *lasting) forget() {
	clear(l.requests)
	clear(l.answers)
	clear(l.further)
	for block, count := range l.used {
		if count >= requestWords {
			clear(l.rest[uint64(block)*l.calls.room:][:count+1-requestWords])
		}
	}
	clear(l.used)
}

// hear waits for the answers of all blocks to the burst that was asked for, and makes it the newest one.
func (l *lasting) hear(b *backend) error {
	x := &b.batch
	l.on, x.stamp = false, 0
	place, own := l.number+1, x.args.run.blockNeurons
	fired := x.history[len(x.history)-1][:0]
	for block := range uint32(len(l.counts)) {
		answer := (*[answerWords]uint64)(l.answers[block*answerWords:])
		words, late := [atOnce]uint64{}, uint64(0)
		for i := range words {
			words[i] = atomic.LoadUint64(&answer[i])
			late |= words[i]>>56 ^ place
		}
		if late != 0 {
			for i := range words {
				if err := b.answered(&answer[i], &words[i], place); err != nil {
					return err
				}
			}
		}
		count, first := int(numberIn(words[0], 0)), block*own
		if count >= mostAnswers {
			fired = slices.Grow(fired, count)[:len(fired)+count]
			x.decode(fired[len(fired)-count:], block, x.wordsIn(uint64(block))[:own/32])
			continue
		}
		fired = slices.Grow(fired, 4*atOnce+count)
		to := (*[4*atOnce - 1]uint32)(fired[len(fired):cap(fired)])
		to[0], to[1], to[2] = first+numberIn(words[0], 1), first+numberIn(words[0], 2), first+numberIn(words[0], 3)
		for i, word := range words[1:] {
			putFour(to[4*i+3:], word, first)
		}
		if count >= 4*atOnce {
			if err := l.hearRest(b, block, fired[len(fired):][:count]); err != nil {
				return err
			}
		}
		fired = fired[:len(fired)+count]
	}
	x.keep(b, fired, 0)
	l.number++
	l.on = l.number < l.most
	return nil
}

// atOnce is how many words of an answer are unpacked whether all are used or not.
const atOnce = 4

// hearRest fills list, who of the block fires, behind what words at once have given.
func (l *lasting) hearRest(b *backend, block uint32, list []uint32) error {
	first := block * b.batch.args.run.blockNeurons
	for i := atOnce; 4*i <= len(list); i++ {
		from := &l.answers[int(block)*answerWords+i%answerWords]
		if i >= answerWords {
			from = &l.further[int(block)*furtherWords+i-answerWords]
		}
		word := atomic.LoadUint64(from)
		if word>>56 != l.number+1 { // most are there: to ask so costs less than a call
			if err := b.answered(from, &word, l.number+1); err != nil {
				return err
			}
		}
		for k := range min(4, len(list)-4*i+1) {
			list[4*i-1+k] = first + numberIn(word, k)
		}
	}
	return nil
}

// numberIn is the k-th number of a word of an answer, and putFour are all four, of a block with that first neuron.
func numberIn(word uint64, k int) uint32 { return uint32(word>>(14*k)) & (lastingOwn - 1) }

func putFour(to []uint32, word uint64, first uint32) {
	_ = to[3]
	to[0], to[1], to[2], to[3] = first+numberIn(word, 0), first+numberIn(word, 1), first+numberIn(word, 2), first+numberIn(word, 3)
}

// answered waits until a word of an answer is that for the burst at a place of the launch, and gives it.
func (b *backend) answered(from, to *uint64, place uint64) error {
	return b.wait(func() bool {
		*to = atomic.LoadUint64(from)
		return *to>>56 == place
	})
}

// end ends the launch that goes on: before the device's memory is used otherwise, and before its words are used for another.
func (l *lasting) end(b *backend) error {
	if !l.on {
		return nil
	}
	l.on = false
	chief := len(l.counts) - 1
	atomic.StoreUint64(&l.requests[chief*requestWords], stopLasting)
	return b.wait(func() bool { return atomic.LoadUint64(l.over) == lastingOver })
}
