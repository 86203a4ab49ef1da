package guestcode

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// ErrCut: a binary that ends too early, or whose lengths do not fit.
var ErrCut = errors.New("the binary is cut off or malformed")

// Reader reads a binary. After an error every call returns zeros.
type Reader struct {
	Rest []byte // what is not yet read
	Err  error  // the first error
}

// Fail ends the reading, by ErrCut unless there is an error.
func (r *Reader) Fail() { r.Refuse("%w", ErrCut) }

// Refuse ends the reading, by an error of a format unless there is one.
func (r *Reader) Refuse(format string, args ...any) {
	if r.Err == nil {
		r.Err = fmt.Errorf(format, args...)
	}
	r.Rest = nil
}

// Take returns the next n bytes.
func (r *Reader) Take(n int) []byte {
	if n < 0 || n > len(r.Rest) {
		r.Fail()
		return nil
	}
	b := r.Rest[:n:n]
	r.Rest = r.Rest[n:]
	return b
}

// Byte returns the next byte.
func (r *Reader) Byte() byte {
	if b := r.Take(1); len(b) == 1 {
		return b[0]
	}
	return 0
}

// Peek returns the next byte and does not take it.
func (r *Reader) Peek() byte {
	if len(r.Rest) == 0 {
		r.Fail()
		return 0
	}
	return r.Rest[0]
}

// Number reads an unsigned number of at most 32 bits.
func (r *Reader) Number() int {
	n, used := binary.Uvarint(r.Rest)
	if used <= 0 || used > 5 || n > 1<<32-1 {
		r.Fail()
		return 0
	}
	r.Rest = r.Rest[used:]
	return int(n)
}

// Count reads the number of items that follow, each of a byte at least.
func (r *Reader) Count() int {
	n := r.Number()
	if n > len(r.Rest) {
		r.Fail()
		return 0
	}
	return n
}

// List reads a list whose items item reads.
func (r *Reader) List(item func()) {
	for range r.Count() {
		if item(); r.Err != nil {
			return
		}
	}
}

// Text reads a length and as many bytes.
func (r *Reader) Text() []byte { return r.Take(r.Number()) }

// Signed skips a signed number of at most 64 bits.
func (r *Reader) Signed() {
	for range 10 {
		if r.Byte()&0x80 == 0 {
			return
		}
	}
	r.Fail()
}

// Constant skips a constant expression and its end.
func (r *Reader) Constant() {
	for r.Err == nil {
		switch op := r.Byte(); op {
		case 0x0b:
			return
		case 0x23, 0xd2: // global.get, ref.func
			r.Number()
		case 0x41, 0x42, 0xd0: // i32.const, i64.const, ref.null
			r.Signed()
		case 0x43:
			r.Take(4)
		case 0x44:
			r.Take(8)
		case 0x6a, 0x6b, 0x6c, 0x7c, 0x7d, 0x7e: // add, sub and mul
		case 0xfd: // v128.const
			if r.Number() != 12 {
				r.Fail()
			}
			r.Take(16)
		default:
			r.Fail()
		}
	}
}

// Type skips the type of a value.
func (r *Reader) Type() {
	if b := r.Byte(); b == 0x63 || b == 0x64 { // references to a type
		r.Signed()
	}
}
