package safetensors

import (
	"context"
	"fmt"
	"math"
	"runtime"

	"github.com/anekit/anekit/ane/fp16"
	"github.com/anekit/anekit/internal/errtext"
	"github.com/anekit/anekit/unimem"
)

// View returns the tensor's elements as values of T, of the size of its type (float32 for F32,
// fp16.Bits or uint16 for F16 and BF16, and so on). It copies nothing: the view is valid as long as
// Bytes. Errors: ErrMisaligned, ErrClosed, ErrDType (T has another size, or the elements are
// packed below 8 bits), and those of unimem.View.
func View[T any](t Tensor) ([]T, error) {
	b := t.Bytes()
	switch {
	case b == nil:
		return nil, t.fail("view", ErrClosed, "")
	case !t.Aligned():
		return nil, &Error{Base: errtext.Base{Op: "view", Err: ErrMisaligned,
			Detail: fmt.Sprintf("%v does not start at a multiple of %d bytes", t.DType(), t.DType().Size()),
			Hint:   "move it with CopyTo, or align the file with ane-roundtrip weights repack"}, File: t.File(),
			Tensor: t.Name(), Offset: t.Offset()}
	}
	v, err := unimem.View[T](b)
	if err != nil {
		return nil, t.fail("view", err, "")
	}
	if len(b) > 0 && len(v)*t.DType().Bits() != len(b)*8 {
		return nil, t.fail("view", ErrDType, fmt.Sprintf("%v has %d bits, the view's type %d", t.DType(),
			t.DType().Bits(),
			len(b)*8/len(v)))
	}
	return v, nil
}

// guard calls f with the tensor's bytes. A file that becomes shorter during f is ErrChanged.
func (t Tensor) guard(op string, f func(b []byte) error) error {
	if t.record == nil {
		return t.fail(op, ErrName, "the zero Tensor")
	}
	blk := t.shard.block
	if err := blk.Retain(); err != nil {
		return t.fail(op, ErrClosed, "")
	}
	defer blk.Release()
	b := t.Bytes()
	if b == nil {
		return t.fail(op, ErrClosed, "")
	}
	err := unimem.Guard(func() error { return f(b) }, blk)
	if err != nil {
		return named(err, op, t.File())
	}
	return nil
}

// CopyTo copies the tensor's bytes to dst, which may be longer, and returns the number of bytes
// copied. It is the way to a misaligned tensor. Errors: ErrShape (dst is shorter), ErrClosed, ErrChanged.
func (t Tensor) CopyTo(dst []byte) (int, error) {
	if int64(len(dst)) < t.Size() {
		return 0, t.fail("copy", ErrShape, fmt.Sprintf("the tensor has %d bytes, the destination %d", t.Size(),
			len(dst)))
	}
	n := 0
	err := t.guard("copy", func(b []byte) error { n = copy(dst, b); return nil })
	if err != nil {
		return 0, err
	}
	return n, nil
}

// halfBytes is the length of the tensor as fp16.
func (t Tensor) halfBytes() (int64, error) {
	switch t.DType() {
	case F16, BF16:
		return t.Size(), nil
	case F32:
		return t.Size() / 2, nil
	}
	return 0, t.fail("convert", ErrDType, t.DType().String()+", not F16, BF16 or F32")
}

// Float16To converts the tensor to fp16 in dst, dense and row-major, and returns the number of bytes written. It rounds
// F32 and BF16 to the nearest half, on several goroutines, and copies F16. dst begins at a multiple of 2 bytes and may
// be longer.
//
// It returns ErrRange, and the number of bytes, after it has converted a tensor with finite elements beyond fp16, which
// become infinite, or with NaN. Detail counts them. A caller that wants them ignores ErrRange. Elements that are
// infinite stay so.
//
// Errors: ErrRange, ErrDType for other types, ErrShape (dst is shorter), ErrClosed, ErrChanged, and
// unimem.ErrInvalidAlignment for dst at an odd address.
func (t Tensor) Float16To(dst []byte) (int, error) {
	n, err := t.halfBytes()
	if err != nil {
		return 0, err
	}
	if int64(len(dst)) < n {
		return 0, t.fail("convert", ErrShape, fmt.Sprintf("%d bytes of halves, the destination has %d", n, len(dst)))
	}
	halves, err := unimem.View[fp16.Bits](dst[:n])
	if err != nil {
		return 0, t.fail("convert", err, "")
	}
	if t.DType() == F16 {
		return t.CopyTo(dst)
	}
	parts := make([]lost, max(1, (len(halves)+share-1)/share))
	size := t.DType().Size()
	err = each(context.Background(), runtime.GOMAXPROCS(0), len(parts), func(i int) error {
		from, to := i*share, min((i+1)*share, len(halves))
		return t.guard("convert", func(b []byte) error {
			dst, b := halves[from:to], b[from*size:to*size]
			if t.DType() == BF16 {
				parts[i] = toHalves(dst, b, fp16.EncodeBrain, func(h fp16.Brain) float32 {
					return math.Float32frombits(uint32(h) << 16)
				})
			} else {
				parts[i] = toHalves(dst, b, fp16.EncodeFinite, func(f float32) float32 { return f })
			}
			return nil
		})
	})
	if err != nil {
		return 0, err
	}
	var all lost
	for i, l := range parts {
		if l.infinite+l.nan > 0 && all.infinite+all.nan == 0 {
			all.first, all.value = i*share+l.first, l.value
		}
		all.infinite, all.nan = all.infinite+l.infinite, all.nan+l.nan
	}
	if all.infinite+all.nan > 0 {
		return int(n), &Error{Base: errtext.Base{Op: "convert", Err: ErrRange,
			Detail: fmt.Sprintf("elements that become infinite: %d, NaN: %d, of %d; the first, at index %d, is %g",
				all.infinite, all.nan, len(halves), all.first, all.value),
			Hint: "clip or scale the tensor, or keep its type"}, File: t.File(), Tensor: t.Name(), Offset: t.Offset()}
	}
	return int(n), nil
}

// lost are the elements that fp16 does not hold: finite ones beyond its range, and NaN.
type lost struct {
	infinite, nan int
	first         int // the index of the first of them
	value         float32
}

// A goroutine converts a share of the elements. It converts step elements at a time and looks at them while they are in
// the cache.
const (
	share = 1 << 20
	step  = 1 << 12
)

// toHalves converts elements at any address; those at no multiple of their size through a buffer.
func toHalves[T fp16.Brain | float32](
	dst []fp16.Bits, b []byte, encode func([]fp16.Bits, []T) (int, bool), value func(T) float32,
) (l lost) {
	src, err := unimem.View[T](b)
	var room []T
	if err != nil {
		room = make([]T, step)
	}
	for at := 0; at < len(dst); at += step {
		n := min(step, len(dst)-at)
		part := room[:min(n, len(room))]
		if err != nil {
			b = b[copy(rawBytes(part), b):]
		} else {
			part = src[at : at+n]
		}
		if _, fine := encode(dst[at:], part); fine {
			continue
		}
		for i, x := range part {
			v := value(x)
			switch {
			case v != v:
				l.nan++
			case math.IsInf(float64(dst[at+i].Float32()), 0) && !math.IsInf(float64(v), 0):
				l.infinite++
			default:
				continue
			}
			if l.infinite+l.nan == 1 {
				l.first, l.value = at+i, v
			}
		}
	}
	return l
}

// Check reads the whole File: it faults in every page, so that disk errors and files that have
// become shorter are found (ErrChanged). Headers were checked by Open. If sum is not nil it is
// called with every tensor's name and bytes, on several goroutines, such as for checksums; its error ends
// the check. The tensors of Align have to be zero: other bytes there are ErrHole.
func (f *File) Check(ctx context.Context, sum func(name string, data []byte) error) error {
	if f == nil || f.closed.Load() {
		return &Error{Base: errtext.Base{Op: "check", Err: ErrClosed}, Offset: -1}
	}
	if ctx == nil {
		ctx = context.Background()
	}
	return each(ctx, runtime.GOMAXPROCS(0), len(f.order), func(i int) error {
		t := f.tensor(i)
		return t.guard("check", func(b []byte) error {
			switch {
			case padding(t.Name()):
				for j, c := range b {
					if c != 0 {
						return &Error{Base: errtext.Base{Op: "check", Err: ErrHole, Detail: "padding that is not zero"},
							File: t.File(), Tensor: t.Name(), Offset: t.Offset() + int64(j)}
					}
				}
			case sum != nil:
				return sum(t.Name(), b)
			default:
				runtime.KeepAlive(look(b)) // otherwise the compiler may remove the reads
			}
			return nil
		})
	})
}

// look reads a byte of every page.
func look(b []byte) (all byte) {
	for i := 0; i < len(b); i += block {
		all |= b[i]
	}
	if len(b) > 0 {
		all |= b[len(b)-1]
	}
	return all
}
