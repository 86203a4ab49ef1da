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
	"github.com/anekit/anekit/internal/quotient"
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
	count := w.out * w.in / w.group
	if e, err = s.blank(mil.FP16, count); err != nil {
		return nil, false, err
	}
	made, err := unimem.View[fp16.Bits](e.data)
	if err != nil {
		return nil, false, err
	}
	scales, shifts := halvesOf(w.scales), halvesOf(w.shifts)
	var coarse atomic.Bool
	err = spread(count, 1, func(from, end int) error {
		for to := 0; from < end; from = to {
			to = min(from+someOffsets, end)
			// Of scales that are halves an offset that is finite errs by 2^-11 of itself, or by 2^-25, which is near.
			if scales != nil && shifts != nil && quotient.Negated(made[from:to], shifts[from:to], scales[from:to]) {
				continue
			}
			fine, err := w.offsets(made[from:to], from)
			if err != nil {
				return err
			}
			if !fine {
				coarse.Store(true)
			}
		}
		return nil
	})
	return e, !coarse.Load(), err
}

// halvesOf returns the elements of a tensor of halves at an even address, else nil.
func halvesOf(t safetensors.Tensor) []fp16.Bits {
	if t.DType() != safetensors.F16 {
		return nil
	}
	view, _ := safetensors.View[fp16.Bits](t)
	return view
}

// someOffsets is how many offsets are made at a time.
const someOffsets = 1 << 10

// offsets makes some offsets, at most someOffsets, from the one at index first on, whatever type scales and shifts have.
func (w *weight) offsets(made []fp16.Bits, first int) (fine bool, err error) {
	var some [4][someOffsets]float32
	n := len(made)
	scale, half, shift, zero := some[0][:n], some[1][:n], some[2][:n], some[3][:n]
	for _, part := range []struct {
		to []float32
		of safetensors.Tensor
	}{{scale, w.scales}, {shift, w.shifts}} {
		numbers(part.to, part.of, first)
		if err := finite(part.of.Name(), first, part.to); err != nil {
			return false, err
		}
	}
	fp16.Round(half, scale)
	fine = divide(zero, shift, half)
	if _, all := fp16.EncodeFinite(made, zero); !all {
		return false, nil
	}
	if w.scales.DType() == safetensors.F16 {
		return fine, nil
	}
	fp16.Decode(zero, made)
	return near(scale, half, shift, zero, float32(int(1)<<w.bits-1)), nil
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
