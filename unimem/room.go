package unimem

import (
	"fmt"
	"math"
	"runtime"
	"runtime/debug"
)

// roomChecked is the size in bytes from which memory of the Go heap is checked against limits.
// A smaller Block is like any allocation of the program.
const roomChecked = 1 << 20

// heapExtra is what a Block of the Go heap takes besides its bytes: to begin at a page, and for the Block itself.
const heapExtra = PageSize + 512

// room is what a limit of this process leaves, in bytes.
type room struct {
	limit string // its name
	free  uint64
	hint  string // how to raise it
}

// checkRoom refuses memory of the Go heap beyond a limit, as far as limits can be known: an allocation that the system
// refuses ends the process. Before it refuses, it collects garbage, which counts as used.
func checkRoom(op string, size int) error {
	if size < roomChecked || shortage(size) == nil {
		return nil
	}
	debug.FreeOSMemory()
	short := shortage(size)
	if short == nil {
		return nil
	}
	return because(op, size, ErrCreate, exhausted(fmt.Errorf("%s leaves %d bytes", short.limit, short.free)),
		"close idle Blocks, open a smaller one, or "+short.hint)
}

// unlimited is the room of no limit.
func unlimited() room { return room{free: math.MaxUint64} }

// shortage returns the limit that leaves least, if that is less than size. The limits are those of the system, and
// GOMEMLIMIT, beyond which the collector would run all the time.
func shortage(size int) *room {
	least := unlimited()
	if limit := uint64(debug.SetMemoryLimit(-1)); limit < math.MaxInt64 { // a negative limit changes nothing
		least = room{limit: "the memory limit of the Go runtime", free: limit - min(heapHeld(), limit),
			hint: "raise GOMEMLIMIT"}
	}
	if r := systemRoom(size); r.free < least.free {
		least = r
	}
	if least.free >= uint64(size) {
		return nil
	}
	return &least
}

// heapHeld is what the Go runtime uses, in bytes, also of memory that was never touched, which the system does not
// count. It stops the world for some 20 us, where package runtime/metrics would take 60 us of every start.
func heapHeld() uint64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.Sys - min(m.HeapIdle, m.Sys)
}

// PageSize is the granule of every Block in bytes: the page of Apple silicon, a multiple of
// the page of every other supported machine.
const PageSize = 16 << 10

func checkSize(op string, size int) error {
	switch {
	case size == 0:
		return fail(op, 0, ErrZeroSize, "ask for at least one byte")
	case size < 0:
		return fail(op, size, ErrSize, "a size is a positive number of bytes")
	}
	return nil
}

// roundSizes returns the sum of count pieces of each of the sizes, each rounded up to whole pages. It refuses more than
// the machine has: pages are allocated when touched, so without this check the kernel would kill the process at a later
// touch.
func roundSizes(op string, count int, sizes ...int) (sum int, err error) {
	for _, size := range sizes {
		if err := checkSize(op, size); err != nil {
			return 0, err
		}
		most := (math.MaxInt-sum)/count - 2*PageSize // heap memory needs one more page for alignment
		if size > most {
			return 0, fail(op, size, ErrSize, "rounded up to whole pages it overflows")
		}
		sum += (size + PageSize - 1) &^ (PageSize - 1) * count
	}
	if total := process.memory(); uint64(sum) > total {
		return 0, because(op, sum, ErrCreate, ErrSize, fmt.Sprintf("at most %d bytes: %s", total, memoryOf))
	}
	return sum, nil
}

// fallbackMemory is the largest size of a Block in bytes on a machine with an unknown amount
// of memory. It is low, because allocating too much on the Go heap ends the process.
const fallbackMemory = 1 << 30
