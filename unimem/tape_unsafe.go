package unimem

import (
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
func (t *Tape) Take(size, align int) ([]byte, error) {
	p, err := t.bump(size, align)
	if err != nil {
		return nil, err
	}
	return unsafe.Slice((*byte)(p), size), nil
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

func (t *Tape) bump(size, align int) (unsafe.Pointer, error) {
	// The comparison with total also refuses negative sizes. That with limit refuses alignments that are not positive,
	// those of no address in the Tape, and every alignment for a Tape without memory. So nothing below overflows.
	beyond := uintptr(align) - 1
	if t == nil || uintptr(size) > t.total || beyond >= t.limit || uintptr(align)&beyond != 0 {
		if t != nil && t.several != nil { // its limit is 0
			b, err := t.several.take(size, align)
			return unsafe.Pointer(unsafe.SliceData(b)), err
		}
		return nil, t.refusal(size, align)
	}
	for {
		cur := t.cursor.Load()
		at := (cur + beyond) &^ beyond
		end := at + uintptr(size)
		if end > t.limit {
			return nil, t.refusal(size, align)
		}
		if t.cursor.CompareAndSwap(cur, end) {
			return unsafe.Add(t.base, at-t.addr), nil
		}
	}
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
	p, err := t.bump(int(size), int(align))
	return (*T)(p), err
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
	p, err := t.bump(int(size), int(align))
	if err != nil {
		return nil, err
	}
	return unsafe.Slice((*T)(p), n), nil
}
