package cuda

import (
	"math"
	"sync/atomic"
	"time"
	"unsafe"

	"burst/engine"
	"burst/internal/cuda/driver"
)

// lasting are launches of many bursts for a caller that acts between bursts (kernels/lasting_bursts.cu). Such a launch keeps running, and
// the host requests one burst after the other. It ends by itself some time after the last burst. So nothing on the device waits long for a
// host that has gone, and work that is queued behind the launch need not stop it.
type lasting struct {
	module  *driver.Module
	program // its kernel is nil where there are no such launches
	calls   calls

	host *driver.HostMemory
	word *uint64 // calls for a burst: its place in the launch above the number of its stimuli; 0: none yet
	over *uint64 // not 0 once the launch has ended before its last burst

	on   bool      // a launch has more bursts to be called for, unless it is over
	next uint64    // the place of the next one in it
	left time.Time // when Step has returned last
}

// calls is the struct of that name in kernels/lasting_bursts.cu, field for field.
type calls struct {
	word, over, given driver.Ptr
	patience          uint64
}

// stopLasting is the word that ends a launch. mostCalled is how many stimuli a burst can be called for with: one block adds them.
const stopLasting, mostCalled = math.MaxUint64, 4096

// lasts reports whether Steps may be bursts of one launch: if the caller has said that it will give stimuli, and the network's state stays
// in shared memory.
func (b *backend) lasts() bool {
	p := b.choice.path
	return b.want.Stimuli && b.tune.linger > 0 && (p == pathResident || p == pathDelayed) && !b.listed() && !hasInstants(b.c)
}

// start loads the kernel.
func (l *lasting) start(b *backend) error {
	if !b.lasts() {
		return nil
	}
	name := "lasting_bursts" + modelSuffix(b.c)
	var err error
	if l.module, err = b.loadFrom(b.lastingImage.PTX(), b.lastingImage.Name, []string{name}, nil); err != nil {
		return err
	}
	if l.kernel, err = l.module.Function(name); err != nil {
		return err
	}
	x := &b.batch
	if err := l.kernel.AllowShared(x.shared); err != nil {
		return err
	}
	if fits, err := x.fits(l.kernel, b.sms); err != nil || !fits {
		l.kernel = nil // launches of one burst then
		return err
	}
	if l.host, err = b.ctx.AllocHost(16, true); err != nil {
		l.host = nil
		return err
	}
	base, err := l.host.DevicePtr()
	if err != nil {
		return err
	}
	m := unsafe.Pointer(unsafe.SliceData(l.host.Bytes()))
	l.word, l.over = (*uint64)(m), (*uint64)(unsafe.Add(m, 8))
	l.calls = calls{word: base, over: base + 8, given: b.input.given, patience: uint64(b.tune.linger)}
	l.params = driver.ParamsAt([]unsafe.Pointer{unsafe.Pointer(&x.args.run), unsafe.Pointer(&l.calls)})
	return nil
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
	if l.on && len(in) <= mostCalled {
		arrived, err := l.call(b, in)
		if arrived || err != nil {
			return err
		}
	}
	if err := l.end(b); err != nil {
		return err
	}
	x, bursts := &b.batch, uint64(1)
	e := &x.program
	if l.kernel != nil && time.Since(l.left) < b.tune.linger {
		e, bursts = &l.program, x.shape.most
		atomic.StoreUint64(l.word, 0)
		atomic.StoreUint64(l.over, 0)
	}
	if err := b.launchGiven(e, in, bursts); err != nil {
		return err
	}
	if err := b.poll(&x.done[0], b.number); err != nil {
		return err
	}
	l.on, l.next = bursts > 1, 1
	return nil
}

// call has the launch that goes on run its next burst, and says whether it has.
func (l *lasting) call(b *backend, in []engine.Stimulus) (arrived bool, err error) {
	done := &b.batch.done[0]
	copy(b.input.stimuli, in)
	atomic.StoreUint64(l.word, l.next<<32|uint64(len(in)))
	err = b.wait(func() bool {
		return atomic.LoadUint64(done) == b.number+1 || atomic.LoadUint64(l.over) != 0
	})
	if err != nil || atomic.LoadUint64(done) != b.number+1 {
		l.on = false
		return false, err
	}
	l.next++
	l.on = l.next < b.batch.shape.most
	return true, nil
}

// end ends the launch that goes on: before the device's memory is used otherwise, and before its words are used for another.
func (l *lasting) end(b *backend) error {
	if !l.on {
		return nil
	}
	l.on = false
	atomic.StoreUint64(l.word, stopLasting)
	return b.wait(func() bool { return atomic.LoadUint64(l.over) != 0 })
}
