package unimem

import (
	"math"
	"math/bits"
	"unsafe"
)

// pointer keeps heap memory alive.
type pointer = unsafe.Pointer

func pointerTo(mem []byte) pointer { return unsafe.Pointer(unsafe.SliceData(mem)) }

// Take returns size bytes at an address that is a multiple of align, with cap equal to len.
// Size 0 gives an empty span. Bytes that were freed by Clear are not zeroed.
//
// Errors: ErrTapeFull (also matches ErrSize if the size overflows), ErrInvalidAlignment (align is not a power of two),
// ErrSize (negative), ErrClosed; all are bare sentinels.
func (t *Tape) Take(size, align int) (b []byte, err error) {
	if err = ErrClosed; t != nil && t.take != nil {
		b, err = t.take(t, size, align)
	}
	return
}

// maxSpan is more than any span has, so that the compiler knows a span for a slice of an array of so many bytes.
const maxSpan = 1 << (30 + 16*(^uintptr(0)>>63))

// takeOfOne is Take of a Tape of one Block. It calls nothing: the exchange waits for the stores of a frame.
func takeOfOne(t *Tape, size, align int) ([]byte, error) {
	beyond := uintptr(align) - 1
	for uintptr(align)&beyond == 0 {
		cur := t.cursor.Load()
		// What wraps around is above total: the padding for an alignment that is not positive or of no address, a size
		// that is negative.
		at := (cur + beyond) &^ beyond
		from, n := at-t.addr, uintptr(size)
		if from > t.total || n > t.total-from || n > maxSpan {
			break
		}
		if t.cursor.CompareAndSwap(cur, at+n) {
			return (*[maxSpan]byte)(unsafe.Add(t.base, from))[:n:n], nil
		}
	}
	switch {
	case t.life.closed():
		return nil, ErrClosed
	case align <= 0 || uintptr(align)&beyond != 0:
		return nil, ErrInvalidAlignment
	case size < 0:
		return nil, ErrSize
	case size > math.MaxInt-int(t.total):
		return nil, errOverflow
	}
	return nil, ErrTapeFull
}

// TryTake is Take without its errors, and short enough to be inlined. It returns nil where Take returns an error, for a
// Tape of several Blocks, and where another goroutine takes at the same moment: call Take then.
func (t *Tape) TryTake(size, align int) (b []byte) {
	if t != nil && align&(align-1) == 0 {
		// What wraps around is above total: the padding at-cur for an alignment that is not positive or of no address, a
		// size that is negative. The bits of padding and size together are at most their sum: they refuse nothing that fits.
		cur := t.cursor.Load()
		at := (cur + uintptr(align-1)) & uintptr(-align)
		if at-cur|uintptr(size) <= t.total && at+uintptr(size) <= t.limit && t.cursor.CompareAndSwap(cur, at+uintptr(size)) {
			b = unsafe.Slice((*byte)(unsafe.Add(t.base, at-t.addr)), size)
		}
	}
	return
}

// quick is TryTake with less to look at: size is at most half of the address space, and align the alignment of a type.
func (t *Tape) quick(size, align uintptr) unsafe.Pointer {
	cur := t.cursor.Load()
	at := (cur + align - 1) &^ (align - 1)
	if at+size > t.limit || !t.cursor.CompareAndSwap(cur, at+size) {
		return nil
	}
	return unsafe.Add(t.base, at-t.addr)
}

// TakeOne returns memory for one T, aligned for it and not zeroed. Errors are those of Take, ErrPointerType and
// ErrBoolType.
func TakeOne[T any](t *Tape) (*T, error) {
	if !process.types.has((*T)(nil)) {
		if err := process.types.learn((*T)(nil)); err != nil {
			return nil, err
		}
	}
	size, align := unsafe.Sizeof(*(*T)(nil)), unsafe.Alignof(*(*T)(nil))
	if t != nil {
		if p := t.quick(size, align); p != nil {
			return (*T)(p), nil
		}
	}
	b, err := t.Take(int(size), int(align))
	return (*T)(unsafe.Pointer(unsafe.SliceData(b))), err
}

// TakeSlice returns memory for n values of T, aligned for them and not zeroed, with cap equal to len. It is Take and
// View in one call. Errors are those of Take, ErrPointerType, ErrBoolType, and ErrSize if n is negative or the size
// overflows.
func TakeSlice[T any](t *Tape, n int) ([]T, error) {
	if !process.types.has((*T)(nil)) {
		if err := process.types.learn((*T)(nil)); err != nil {
			return nil, err
		}
	}
	over, size := bits.Mul(uint(n), uint(unsafe.Sizeof(*(*T)(nil))))
	if n < 0 || over != 0 || int(size) < 0 {
		return nil, ErrSize
	}
	align := unsafe.Alignof(*(*T)(nil))
	if t != nil && uintptr(size) <= t.total {
		if p := t.quick(uintptr(size), align); p != nil {
			return unsafe.Slice((*T)(p), n), nil
		}
	}
	b, err := t.Take(int(size), int(align))
	if err != nil {
		return nil, err
	}
	return unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(b))), n), nil
}
