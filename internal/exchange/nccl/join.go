package nccl

import (
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"time"
	"unsafe"

	"burst/internal/clib"
	"burst/internal/exchange"
)

// agree exchanges the parts' devices, library versions and errors. They use NCCL only if no part has an error, all have the
// same version and each has a device of its own. All come to the same result.
func (x *Exchange) agree(where string, own error) error {
	report := where + "\n" + "0"
	if x.api != nil {
		report = fmt.Sprintf("%s\n%d", where, x.api.version)
	}
	if own != nil {
		report += "\n" + own.Error()
	}
	all, err := x.control.Allgather(exchange.TextWords(report))
	if err != nil {
		return err
	}
	reports := make([]string, len(all))
	for i, words := range all {
		reports[i] = exchange.WordsText(words)
	}
	if why := verdict(reports); why != "" {
		return unavailable("%s", why)
	}
	return nil
}

// verdict is why the parts with these reports cannot use NCCL, empty if they can.
func verdict(reports []string) string {
	devices, first := map[string]int{}, ""
	for i, report := range reports {
		fields := strings.SplitN(report, "\n", 3)
		if len(fields) == 3 {
			return fmt.Sprintf("part %d of %d: %s", i, len(reports), fields[2])
		}
		where, version := fields[0], fields[1]
		if j, taken := devices[where]; taken {
			return fmt.Sprintf("parts %d and %d share a GPU (%s), and NCCL wants one for each; give --devices 0,1,… or all", j, i, where[strings.LastIndexByte(where, ' ')+1:])
		}
		devices[where] = i
		if first == "" {
			first = version
		}
		if version != first {
			return fmt.Sprintf("part 0 has NCCL %s, part %d has %s; let %s name the same version everywhere", codeText(first), i, codeText(version), Library)
		}
	}
	return ""
}

// codeText is a version as people write it, of digits.
func codeText(digits string) string {
	v := 0
	fmt.Sscan(digits, &v)
	return versionText(v)
}

// join makes the communicator. NCCL cannot be told to stop trying, so it runs in another goroutine, while this one looks for
// failed parts. An error is one in all parts; it is ErrUnavailable if NCCL has released all their devices.
func (x *Exchange) join() error {
	id, err := x.identity()
	if err != nil {
		return err
	}
	if err = x.attempt(id); err != nil {
		_ = x.control.Leave(ownCause(err)) // the parts that are still trying see it
	}
	if told := exchange.Settle(x.control, ownCause(err)); told != nil || err == nil {
		err = told
	}
	if err == nil {
		return nil
	}
	x.end(err)
	_ = x.farewell() // in trouble, so never late
	stuck := uint64(0)
	if x.stuck {
		stuck = 1
	}
	if sum, wrong := exchange.Sum(x.control, stuck); sum > 0 || wrong != nil {
		return errors.Join(err, wrong)
	}
	return unavailable("%v", err)
}

// identity is the communicator's id, which part 0 makes.
func (x *Exchange) identity() (id uniqueID, err error) {
	if x.part.Index == 0 {
		err = x.api.check(getUniqueID, clib.Call(x.api.fn[getUniqueID], clib.Ptr(&id)), nil)
	}
	if err = exchange.Settle(x.control, err); err != nil {
		return id, unavailable("%v", err)
	}
	all, err := x.control.Allgather(idWords(&id))
	if err != nil {
		return id, err
	}
	copy(idWords(&id), all[0])
	return id, nil
}

func idWords(id *uniqueID) []uint32 {
	return unsafe.Slice((*uint32)(unsafe.Pointer(id)), len(id.Internal)/4)
}

// make makes the communicator and exchanges once, so that all connections exist.
func (x *Exchange) make(id uniqueID) error {
	r := callInitRank(x.api.fn[commInitRank], &x.comm, x.part.Of, id, x.part.Index)
	if err := x.settled(commInitRank, r); err != nil {
		return err
	}
	if err := x.room(x.part.Of * exchange.Shortest); err != nil {
		return err
	}
	return x.message(exchange.Shortest, 1)
}

// attempt runs make until another part has left or patience ends.
func (x *Exchange) attempt(id uniqueID) error {
	var stop atomic.Bool
	x.watch = func() error {
		if stop.Load() {
			return errStopped
		}
		return nil
	}
	made := make(chan error, 1)
	go func() { made <- x.inContext(func() error { return x.make(id) }) }()
	const look = 5 * time.Millisecond
	tick := time.NewTicker(look)
	defer tick.Stop()
	for began := time.Now(); ; {
		select {
		case err := <-made:
			return x.blame(err)
		case <-tick.C:
		}
		err := x.others()
		if err == nil && time.Since(began) > x.patience {
			err = fmt.Errorf("NCCL has not joined %d parts within %v; NCCL_DEBUG=INFO shows what it tries, NCCL_SOCKET_IFNAME names the network, --exchange mpi goes without it", x.part.Of, x.patience)
		}
		if err != nil {
			stop.Store(true)
			select {
			case <-made: // fails of the same
			case <-time.After(grace):
				x.stuck = true
			}
			return err
		}
	}
}

var errStopped = errors.New("told to stop")

// callInitRank calls ncclCommInitRank, which takes the id by value: on the stack on amd64, by a pointer to a copy on arm64.
func callInitRank(fn uintptr, comm *unsafe.Pointer, ranks int, id uniqueID, rank int) uintptr {
	var initRank func(comm *unsafe.Pointer, ranks int32, id uniqueID, rank int32) int32
	clib.Bind(&initRank, fn)
	return uintptr(initRank(comm, int32(ranks), id, int32(rank)))
}
