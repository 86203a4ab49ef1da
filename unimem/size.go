package unimem

import (
	"fmt"
	"math"
)

// PageSize is the granule of every Block in bytes: the page of Apple silicon, a multiple of
// the page of every other supported machine.
const PageSize = 16 << 10

// roundSize rounds up to whole pages.
func roundSize(op string, size int) (int, error) {
	switch {
	case size == 0:
		return 0, fail(op, 0, ErrZeroSize, "ask for at least one byte")
	case size < 0:
		return 0, fail(op, size, ErrSize, "a size is a positive number of bytes")
	case size > math.MaxInt-2*PageSize: // heap memory needs one more page for alignment
		return 0, fail(op, size, ErrSize, "rounded up to whole pages it overflows")
	}
	return (size + PageSize - 1) &^ (PageSize - 1), nil
}

// checkSum is checkMemory for count pieces of each of the sizes, each rounded up to whole pages.
func checkSum(op string, count int, sizes ...int) error {
	sum := 0
	for _, size := range sizes {
		rounded, err := roundSize(op, size)
		if err != nil {
			return err
		}
		if rounded > (math.MaxInt-sum)/count {
			return fail(op, size, ErrSize, "rounded up to whole pages they overflow together")
		}
		sum += rounded * count
	}
	return checkMemory(op, sum)
}

// checkMemory refuses more memory than the machine has. Pages are allocated when touched, so
// without this check the kernel would kill the process at a later touch.
func checkMemory(op string, size int) error {
	total := process.memory()
	if uint64(size) <= total {
		return nil
	}
	return &Error{Op: op, Size: size, Err: ErrCreate, Cause: ErrSize,
		Hint: fmt.Sprintf("at most %d bytes: %s", total, memoryOf)}
}

// fallbackMemory is the largest size of a Block in bytes on a machine with an unknown amount
// of memory. It is low, because allocating too much on the Go heap ends the process.
const fallbackMemory = 1 << 30
