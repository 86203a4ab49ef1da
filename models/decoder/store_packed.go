package decoder

import (
	"context"
	"encoding/binary"
	"math"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/anekit/anekit/ane/fp16"
	"github.com/anekit/anekit/ane/mil"
	"github.com/anekit/anekit/unimem/safetensors"
)

// dtype is the type of a constant of integers. MIL has none of 5 bits.
func (w *weight) dtype() mil.DType {
	return map[int]mil.DType{2: mil.UInt2, 3: mil.UInt3, 4: mil.UInt4, 5: mil.UInt6, 6: mil.UInt6, 8: mil.UInt8}[w.bits]
}

// integers returns rows of the packed integers: MLX and MIL pack alike, low bits first.
func (s *store) integers(w *weight, from, to int) (*elements, error) {
	if w.bits != 5 && to <= w.out {
		return lent(w.data, from, to, w.in*w.bits/8), nil
	}
	bits := w.dtype().Bits()
	e, err := s.blank(w.dtype(), (to-from)*w.in)
	if err != nil {
		return nil, err
	}
	data := w.data.Bytes()[from*w.in*w.bits/8:]
	for i := range (min(to, w.out) - from) * w.in {
		v, at := packed(data, i, w.bits), i*bits
		e.data[at/8] |= byte(v << (at % 8))
		if at%8+bits > 8 {
			e.data[at/8+1] |= byte(v >> (8 - at%8))
		}
	}
	return e, nil
}

// prepare makes the offsets of all packed weights, for the form Compact, on all processors. It finds scales and shifts
// that are not finite, and weights that have to be written another way.
func (s *store) prepare(ctx context.Context) error {
	var work []*weight
	for _, w := range s.folder.weights {
		if w.bits > 0 {
			work = append(work, w)
		}
	}
	slices.SortFunc(work, func(a, b *weight) int { return strings.Compare(a.name, b.name) })
	errs := make([]error, len(work))
	var next atomic.Int64
	var wait sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		wait.Go(func() {
			for i := int(next.Add(1)) - 1; i < len(work) && ctx.Err() == nil; i = int(next.Add(1)) - 1 {
				w := work[i]
				zeros, fine, err := s.offsets(w)
				errs[i] = err
				s.mu.Lock()
				s.zeros[w.name], s.dense[w.name] = zeros, !fine
				s.mu.Unlock()
			}
		})
	}
	wait.Wait()
	if err := ctx.Err(); err != nil {
		return &Error{Op: "load", Cause: err}
	}
	for _, err := range errs {
		if err != nil {
			return err // the first by name
		}
	}
	return nil
}

// offsets returns the offsets of a packed weight, -shift/scale as fp16. fine is false if scale * (integer - offset) is
// not the number that is meant: the scale of a group is nearly zero beside its numbers, and the offset too large.
func (s *store) offsets(w *weight) (e *elements, fine bool, err error) {
	groups := w.in / w.group
	n := w.out * groups
	if e, err = s.blank(mil.FP16, n); err != nil {
		return nil, false, err
	}
	fine = true
	top := float32(int(1)<<w.bits - 1)
	var scale, half, shift, zero [1024]float32
	var bits [1024]fp16.Bits
	for first := 0; first < n; first += len(scale) {
		m := min(len(scale), n-first)
		numbers(scale[:m], w.scales, first)
		numbers(shift[:m], w.shifts, first)
		fp16.Encode(bits[:m], scale[:m])
		fp16.Decode(half[:m], bits[:m])
		for i, h := range half[:m] {
			if math.Abs(float64(h)) > 65504 || h != h {
				return nil, false, notFinite(w.scales.Name(), first+i, scale[i])
			}
			if b := shift[i]; !(b <= 65504 && b >= -65504) {
				return nil, false, notFinite(w.shifts.Name(), first+i, b)
			}
			if zero[i] = 0; h != 0 {
				zero[i] = -shift[i] / h
			}
		}
		fp16.Encode(bits[:m], zero[:m])
		fp16.Decode(zero[:m], bits[:m])
		for i, o := range zero[:m] {
			low, high := shift[i], scale[i]*top+shift[i]
			limit := max(abs(low), abs(high)) / 1024
			if !(abs(-half[i]*o-low) <= limit && abs(half[i]*(top-o)-high) <= limit) {
				fine = false
			}
			binary.LittleEndian.PutUint16(e.data[2*(first+i):], uint16(bits[i]))
		}
	}
	return e, fine, nil
}

func abs(f float32) float32 { return float32(math.Abs(float64(f))) }

// steps returns the scales of rows of groups.
func (s *store) steps(w *weight, from, to int) (*elements, error) {
	groups := w.in / w.group
	rows := min(to, w.out) - from
	if w.scales.DType() == safetensors.F16 && w.scales.Aligned() && to <= w.out {
		return lent(w.scales, from, to, 2*groups), nil // offsets has checked them
	}
	e, err := s.blank(mil.FP16, (to-from)*groups)
	if err != nil {
		return nil, err
	}
	return e, store16(e.data, w.name+".scales", rows*groups,
		func(dst []float32, first int) { numbers(dst, w.scales, from*groups+first) })
}
