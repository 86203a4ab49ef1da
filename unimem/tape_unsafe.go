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
	inlined(func() {
		if b = t.TryTake(size, align); b == nil {
			b, err = t.take(size, align)
		}
	})
	return
}

// maxQuick is more than size and alignment of a span that TryTake takes: an address in use, or that of a closed Tape,
// does not wrap around when both are added.
const maxQuick = 1 << (28 + 16*(^uintptr(0)>>63))

// TryTake is Take without its errors. It returns nil where Take returns an error, for a Tape of several Blocks, for
// more than 16 TiB, and where another goroutine takes at the same moment: call Take then.
func (t *Tape) TryTake(size, align int) (b []byte) {
	if t != nil && uint(size|(align-1)) < maxQuick && align&(align-1) == 0 {
		cur := t.cursor.Load()
		at := (cur + uintptr(align-1)) & uintptr(-align)
		if at+uintptr(size) < t.limit && t.cursor.CompareAndSwap(cur, at+uintptr(size)) {
			b = (*[maxQuick]byte)(unsafe.Add(t.base, at-t.addr))[:size:size]
		}
	}
	return
}

// take is Take for all cases.
func (t *Tape) take(size, align int) ([]byte, error) {
	if t != nil && t.several != nil {
		return t.several.take(size, align)
	}
	for beyond := uintptr(align) - 1; !t.closed(); {
		// What wraps around is above total: the padding for an alignment of no address, and nothing else.
		cur := t.cursor.Load()
		from := (cur+beyond)&^beyond - t.addr
		switch {
		case align <= 0 || uintptr(align)&beyond != 0:
			return nil, ErrInvalidAlignment
		case size < 0:
			return nil, ErrSize
		case size > math.MaxInt-int(t.total):
			return nil, errOverflow
		case from > t.total || uintptr(size) > t.total-from:
			if cur&closedBit == 0 {
				return nil, ErrTapeFull
			}
		case t.cursor.CompareAndSwap(cur, t.addr+from+uintptr(size)):
			return unsafe.Slice((*byte)(unsafe.Add(t.base, from)), size), nil
		}
	}
	return nil, ErrClosed
}

// quick is TryTake with less to look at: size is less than half of the address space, and align that of a type.
func (t *Tape) quick(size, align uintptr) unsafe.Pointer {
	cur := t.cursor.Load()
	at := (cur + align - 1) &^ (align - 1)
	if at+size >= t.limit || !t.cursor.CompareAndSwap(cur, at+size) {
		return nil
	}
	return unsafe.Add(t.base, at-t.addr)
}

// TakeOne returns memory for one T, aligned for it and not zeroed. Errors are those of Take, ErrPointerType and
// ErrBoolType.
func TakeOne[T any](t *Tape) (one *T, err error) {
	inlined(func() {
		if process.types.has((*T)(nil)) && t != nil {
			one = (*T)(t.quick(unsafe.Sizeof(*one), unsafe.Alignof(*one)))
		}
		if one == nil {
			one, err = takeOne[T](t)
		}
	})
	return
}

// takeOne is TakeOne for all cases.
func takeOne[T any](t *Tape) (*T, error) {
	s, err := TakeSlice[T](t, 1)
	return unsafe.SliceData(s), err
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
