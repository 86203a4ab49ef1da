package unimem

import (
	"fmt"
	"math"
)

// PageSize is the granule of every Block in bytes: the page of Apple silicon, a multiple of
// the pages of every other machine this package runs on.
const PageSize = 16 << 10

// roundSize rounds up to whole pages.
func roundSize(op string, size int) (int, error) {
	switch {
	case size == 0:
		return 0, &Error{Op: op, Err: ErrZeroSize, Hint: "ask for at least one byte"}
	case size < 0:
		return 0, &Error{Op: op, Size: size, Err: ErrSize, Hint: "a size is a positive number of bytes"}
	case size > math.MaxInt-2*PageSize: // heap memory is aligned by one page more
		return 0, &Error{Op: op, Size: size, Err: ErrSize, Hint: "rounded up to whole pages it overflows"}
	}
	return (size + PageSize - 1) &^ (PageSize - 1), nil
}

// checkMemory refuses what the machine could never back. Pages are lazy, so without this
// the mistake would surface as a killed process at some later touch.
func checkMemory(op string, size int) error {
	total := process.memory()
	if uint64(size) <= total {
		return nil
	}
	return &Error{Op: op, Size: size, Err: ErrCreate, Cause: ErrSize,
		Hint: fmt.Sprintf("at most %d bytes: %s", total, memoryOf)}
}
