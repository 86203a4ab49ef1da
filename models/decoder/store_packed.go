package decoder

import (
	"context"
	"maps"
	"math"
	"slices"
	"sync/atomic"

	"github.com/anekit/anekit/ane/fp16"
	"github.com/anekit/anekit/ane/mil"
	"github.com/anekit/anekit/internal/errtext"
	"github.com/anekit/anekit/unimem"
	"github.com/anekit/anekit/unimem/safetensors"
)

// dtype is the type of a constant of integers. MIL has none of 5 bits.
func (w *weight) dtype() mil.DType {
	return map[int]mil.DType{2: mil.UInt2, 3: mil.UInt3, 4: mil.UInt4, 5: mil.UInt6, 6: mil.UInt6, 8: mil.UInt8}[w.bits]
}

// integers returns the packed integers: MLX and MIL pack alike, low bits first.
func (s *store) integers(w *weight) (*elements, error) {
	data := w.data.Bytes()
	if w.bits != 5 {
		return &elements{data, true}, nil
	}
	bits := w.dtype().Bits()
	e, err := s.blank(w.dtype(), w.out*w.in)
	if err != nil {
		return nil, err
	}
	for i := range w.out * w.in {
		v, at := packed(data, i, w.bits), i*bits
		e.data[at/8] |= byte(v << (at % 8))
		if at%8+bits > 8 {
			e.data[at/8+1] |= byte(v >> (8 - at%8))
		}
	}
	return e, nil
}

// prepare makes the offsets of all packed weights, for the form Compact. It finds scales and shifts that are not
// finite, and weights that have to be written another way.
func (s *store) prepare(ctx context.Context) error {
	for _, name := range slices.Sorted(maps.Keys(s.folder.weights)) {
		w := s.folder.weights[name]
		if w.bits == 0 {
			continue
		}
		if err := ctx.Err(); err != nil {
			return &Error{Base: errtext.Base{Op: "load", Cause: err}}
		}
		zeros, fine, err := s.offsets(w)
		if err != nil {
			return err
		}
		if s.dense[name] = !fine; fine {
			all := request{module: name, kind: offsets, rows: extent{0, w.out}, columns: extent{0, w.in}}
			s.made[all] = zeros
		}
	}
	return nil
}

// offsets returns the offsets of a packed weight, -shift/scale as fp16. fine is false if scale * (integer - offset) is
// not the number that is meant. The scale of a group is then nearly zero beside its numbers, and the offset too large.
func (s *store) offsets(w *weight) (e *elements, fine bool, err error) {
	m := flat(w.scales, w.out, w.in/w.group)
	if e, err = s.blank(mil.FP16, m.out*m.in); err != nil {
		return nil, false, err
	}
	var coarse atomic.Bool
	top := float32(int(1)<<w.bits - 1)
	// Of scales that are halves an offset that is finite errs by 2^-11 of itself, or by 2^-25, which is near.
	stored := w.scales.DType() == safetensors.F16
	err = m.each(extent{0, m.out}, extent{0, m.in}, func(i int, row []float32) error {
		var some [3][1 << 10]float32
		var bits [1 << 10]fp16.Bits
		for first, end := i*m.in, (i+1)*m.in; first < end; {
			n := min(len(row), len(bits))
			scale, half, shift, zero := row[:n], some[0][:n], some[1][:n], some[2][:n]
			if stored {
				half = scale
			} else {
				fp16.Encode(bits[:], scale)
				fp16.Decode(half, bits[:n])
			}
			numbers(shift, w.shifts, first)
			if err := finite(w.shifts.Name(), first, shift); err != nil {
				return err
			}
			fine := divide(zero, shift, half)
			to, _ := unimem.View[fp16.Bits](e.data[2*first:][:2*n])
			_, all := fp16.EncodeFinite(to, zero)
			if fine = fine && all; !stored {
				fp16.Decode(zero, to)
				fine = near(scale, half, shift, zero, top)
			}
			if !fine {
				coarse.Store(true)
			}
			first, row = first+n, row[n:]
		}
		return nil
	})
	return e, !coarse.Load(), err
}

// divide sets zero to -shift/scale, or to 0 where the scale is 0. It reports whether the shift is 0 too, wherever that is.
func divide(zero, shift, scale []float32) bool {
	fine := true
	for g, s := range scale {
		if zero[g] = 0; s != 0 {
			zero[g] = -shift[g] / s
		} else if shift[g] != 0 {
			fine = false
		}
	}
	return fine
}

// near reports whether half * (integer - zero) is scale * integer + shift, for the integers 0 and top of each group, up
// to 1/1024 of the greater. It compares magnitudes as bits, whose order is that of the numbers; NaN is the greatest.
func near(scale, half, shift, zero []float32, top float32) bool {
	fine := true
	for g, o := range zero {
		low, high := shift[g], scale[g]*top+shift[g]
		most := max(math.Float32bits(abs(low)), math.Float32bits(abs(high)))
		off := max(math.Float32bits(abs(half[g]*o+low)), math.Float32bits(abs(half[g]*(top-o)-high)))
		if off > math.Float32bits(math.Float32frombits(most)/1024) {
			fine = false
		}
	}
	return fine
}
