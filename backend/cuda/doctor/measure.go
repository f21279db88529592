package doctor

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"burst/internal/cuda/driver"
	"burst/internal/cuda/executor"
)

// effort is how much is measured; the zero value measures nothing.
type effort struct {
	sizes    []int         // of the square matrices
	host     int           // of the one that the processor multiplies, too; one of sizes
	bytes    int           // of a copy, at most an eighth of the free memory
	counters int           // that atomics scatter over, a power of two
	launches int           // in a row
	rounds   int           // of a barrier
	least    time.Duration // that a timed batch takes
}

var full = effort{sizes: []int{256, 1024, 4096}, host: 1024, bytes: 256 << 20, counters: 1 << 20, launches: 1000, rounds: 1000, least: 30 * time.Millisecond}

// batches of a measurement, of which the median counts.
const batches = 5

// measure measures what a user wants to compare with the product's data sheet, and gives verdicts.
func (p *patient) measure() {
	if len(p.effort.sizes) == 0 {
		return
	}
	for _, m := range []struct {
		name string
		run  func() error
	}{
		{"matrix product speed", p.measureProducts}, {"copies", p.measureCopies}, {"device memory", p.measureDeviceCopy},
		{"launches", p.measureLaunches}, {"atomics", p.measureAtomics}, {"grid barrier", p.measureBarrier},
	} {
		if err := m.run(); err != nil {
			var wrong *wrongResult
			p.fail(m.name, errors.As(err, &wrong) || driver.Sticky(err), err)
			if driver.Sticky(err) {
				return
			}
		}
	}
}

func (p *patient) note(name string, value float64, unit string) {
	p.device.Measures = append(p.device.Measures, Measure{Name: name, Value: value, Unit: unit})
}

// time is the device's time of one of what queue queues: the median of batches that are long enough to time, after one that
// warms up.
func (p *patient) time(queue func() error) (time.Duration, error) {
	count := 1
	took, err := p.batch(count, queue)
	for err == nil && took < p.effort.least && count < 1<<16 {
		count *= 2
		took, err = p.batch(count, queue)
	}
	list := []time.Duration{}
	for range batches {
		if err != nil {
			return 0, err
		}
		took, err = p.batch(count, queue)
		list = append(list, took)
	}
	slices.Sort(list)
	return max(list[batches/2]/time.Duration(count), 1), err
}

// batch is the device's time of count in a row.
func (p *patient) batch(count int, queue func() error) (took time.Duration, err error) {
	start, err := p.stream.Record()
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, start.Close()) }()
	for range count {
		if err := queue(); err != nil {
			return 0, err
		}
	}
	end, err := p.stream.Record()
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, end.Close()) }()
	if err := p.stream.Synchronize(); err != nil {
		return 0, err
	}
	return end.Since(start)
}

// buffers takes some of one size; free gives them back.
func (p *patient) buffers(n int, bytes uint64) (list []*executor.Buffer, free func() error, err error) {
	for range n {
		b, err := p.exec.Alloc(p.stream, bytes)
		if err != nil {
			return nil, nil, errors.Join(err, freeAll(p.stream, list))
		}
		list = append(list, b)
	}
	return list, func() error { return freeAll(p.stream, list) }, nil
}

func freeAll(s *executor.Stream, list []*executor.Buffer) error {
	var errs []error
	for _, b := range list {
		errs = append(errs, b.Free(s))
	}
	return errors.Join(errs...)
}

// copySize is what the effort asks for, if memory allows, in whole MiB when there is so much.
func (p *patient) copySize() (int, error) {
	free, _, err := p.exec.MemoryInfo()
	return int(min(uint64(p.effort.bytes), free/8)), err
}

// gigabytes is a rate in 10^9 bytes a second.
func gigabytes(bytes int, took time.Duration) float64 { return float64(bytes) / took.Seconds() / 1e9 }

// measureCopies copies both ways, from page-locked and from ordinary memory.
func (p *patient) measureCopies() (err error) {
	bytes, err := p.copySize()
	if err != nil {
		return err
	}
	list, free, err := p.buffers(1, uint64(bytes))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, free()) }()
	pinned, err := p.exec.Pin(bytes)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, pinned.Free()) }()
	slowest := 0.0
	for _, c := range []struct {
		name string
		host []byte
	}{{"pinned", executor.PinnedSlice[byte](pinned)}, {"pageable", make([]byte, bytes)}} {
		up, upErr := p.time(func() error { return executor.Upload(p.stream, list[0], c.host) })
		down, downErr := p.time(func() error { return executor.Download(p.stream, c.host, list[0]) })
		if err := errors.Join(upErr, downErr); err != nil {
			return err
		}
		p.note("copy to the device, "+c.name, gigabytes(bytes, up), "GB/s")
		p.note("copy from the device, "+c.name, gigabytes(bytes, down), "GB/s")
		if c.name == "pinned" {
			slowest = min(gigabytes(bytes, up), gigabytes(bytes, down))
		}
	}
	p.judgeLink(slowest)
	return nil
}

// judgeLink compares pinned copies with what the PCIe link can carry.
func (p *patient) judgeLink(slowest float64) {
	perLane := map[int]float64{1: 0.25, 2: 0.5, 3: 0.985, 4: 1.969, 5: 3.938, 6: 7.563} // GB/s one way
	h := p.device.Health
	if h == nil || h.LinkGenerationMax == nil || h.LinkWidthMax == nil || perLane[*h.LinkGenerationMax] == 0 {
		p.found(p.prefix+"copies", false, "%.3g GB/s pinned, the slower way", slowest)
		return
	}
	link := perLane[*h.LinkGenerationMax] * float64(*h.LinkWidthMax)
	if slowest < link/2 {
		p.wrong(p.prefix+"copies", false, fmt.Sprintf("%.3g GB/s pinned, the PCIe link carries %.3g", slowest, link),
			"look for other traffic (nvidia-smi dmon -s t), and run burst on the processor that the GPU hangs on (nvidia-smi topo -m, numactl)")
		return
	}
	p.found(p.prefix+"copies", false, "%.3g GB/s pinned, of %.3g that the PCIe link carries", slowest, link)
}

// measureDeviceCopy counts each byte read and written.
func (p *patient) measureDeviceCopy() (err error) {
	bytes, err := p.copySize()
	if err != nil {
		return err
	}
	list, free, err := p.buffers(2, uint64(bytes))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, free()) }()
	took, err := p.time(func() error { return p.stream.Copy(list[0], list[1], uint64(bytes)) })
	if err != nil {
		return err
	}
	p.note("device memory, read and written", gigabytes(2*bytes, took), "GB/s")
	return nil
}

// measureLaunches times empty kernels in a row, and one at a time with waiting for it.
func (p *patient) measureLaunches() (err error) {
	k, err := p.module.Kernel("idle")
	if err != nil {
		return err
	}
	list, free, err := p.buffers(1, 4)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, free()) }()
	launch := func() error { return k.Launch(p.stream, executor.Threads(32, 32), list[0]) }
	took, err := p.batch(p.effort.launches, launch)
	if err != nil {
		return err
	}
	p.note("launch, in a row", float64(took.Nanoseconds())/1e3/float64(p.effort.launches), "µs")
	var alone []time.Duration
	for range p.effort.launches {
		start := time.Now()
		if err := errors.Join(launch(), p.stream.Synchronize()); err != nil {
			return err
		}
		alone = append(alone, time.Since(start))
	}
	slices.Sort(alone)
	p.note("launch and wait", float64(alone[len(alone)/2].Nanoseconds())/1e3, "µs")
	return nil
}

// measureAtomics counts additions to scattered counters, and that none is lost.
func (p *patient) measureAtomics() (err error) {
	const each = 64
	k, err := p.module.Kernel("atomic_adds")
	if err != nil {
		return err
	}
	list, free, err := p.buffers(1, uint64(4*p.effort.counters))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, free()) }()
	g := executor.Grid{Blocks: [3]uint32{uint32(8 * p.sms)}, Block: [3]uint32{256}}
	launches := 0
	if err := p.stream.Fill(list[0], 0); err != nil {
		return err
	}
	took, err := p.time(func() error {
		launches++
		return k.Launch(p.stream, g, list[0], uint32(p.effort.counters-1), uint32(each))
	})
	if err != nil {
		return err
	}
	counters := make([]uint32, p.effort.counters)
	if err := errors.Join(executor.Download(p.stream, counters, list[0]), p.stream.Synchronize()); err != nil {
		return err
	}
	one := uint64(8*p.sms*256) * each
	sum := uint64(0)
	for _, c := range counters {
		sum += uint64(c)
	}
	if want := uint64(launches) * one; sum%(1<<32) != want%(1<<32) {
		return &wrongResult{fmt.Sprintf("the counters' sum is %d, want %d", sum, want)}
	}
	p.note("atomic additions, scattered", float64(one)/took.Seconds()/1e9, "G/s")
	return nil
}

// measureBarrier times blocks that wait for each other, and checks that they do.
func (p *patient) measureBarrier() (err error) {
	if p.device.SingleSteps != "" {
		return nil
	}
	k, err := p.module.Kernel("grid_barriers")
	if err != nil {
		return err
	}
	list, free, err := p.buffers(3, uint64(4*p.sms))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, free()) }()
	g := executor.Grid{Blocks: [3]uint32{uint32(p.sms)}, Block: [3]uint32{256}, Cooperative: true}
	var times [batches]time.Duration
	for i := range times {
		if err := errors.Join(p.stream.Fill(list[0], 0), p.stream.Fill(list[1], 0), p.stream.Fill(list[2], 0)); err != nil {
			return err
		}
		if times[i], err = p.batch(1, func() error { return k.Launch(p.stream, g, list[0], list[1], list[2], uint32(p.effort.rounds)) }); err != nil {
			return err
		}
		var arrived, late [1]uint32
		if err := errors.Join(executor.Download(p.stream, arrived[:], list[0]), executor.Download(p.stream, late[:], list[2]), p.stream.Synchronize()); err != nil {
			return err
		}
		if want := uint32(p.sms * p.effort.rounds); arrived[0] != want || late[0] != 0 {
			return &wrongResult{fmt.Sprintf("%d arrivals at barriers, want %d; %d blocks went on too early", arrived[0], want, late[0])}
		}
	}
	slices.Sort(times[:])
	p.note("grid barrier", float64(times[batches/2].Nanoseconds())/1e3/float64(p.effort.rounds), "µs")
	return nil
}
