package unimem

import (
	"fmt"
	"math"
)

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
