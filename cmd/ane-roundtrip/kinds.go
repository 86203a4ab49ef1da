package main

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/ane/fp16"
	"github.com/anekit/anekit/ane/mil"
	"github.com/anekit/anekit/cmd/ane-roundtrip/internal/npy"
)

// kinds pairs the element types of tensors with those of .npy files.
var kinds = map[mil.DType]npy.Kind{
	mil.FP16: npy.Float16, mil.FP32: npy.Float32, mil.Bool: npy.Bool,
	mil.Int8: npy.Int8, mil.UInt8: npy.UInt8, mil.Int16: npy.Int16, mil.UInt16: npy.UInt16,
	mil.Int32: npy.Int32, mil.UInt32: npy.UInt32,
}

// elements returns the array's bytes as the tensor takes them: dense, row-major
// and of its own type. float32 and float64 are rounded for an fp16 tensor;
// overflow counts values that became infinite by that. Every other difference
// is refused.
func elements(a *npy.Array, l ane.Layout) (data []byte, overflow int, err error) {
	if !slices.Equal(a.Shape, l.Shape) {
		return nil, 0, fmt.Errorf("shape %v, input %s has %v; reshape the array", a.Shape, l.Name, l.Shape)
	}
	wide := a.Kind == npy.Float32 || a.Kind == npy.Float64
	if a.Kind != kinds[l.DType] && !(l.DType == mil.FP16 && wide) {
		return nil, 0, fmt.Errorf("%s, input %s is %s; save it with arr.astype('%s')", a.Kind, l.Name, l.DType, kinds[l.DType])
	}
	if a, err = a.ToC(); err != nil {
		return nil, 0, err
	}
	if a.Kind == kinds[l.DType] {
		return a.Data, 0, nil
	}
	data = make([]byte, 0, 2*l.Elements())
	for at := 0; at < len(a.Data); at += a.Kind.Size() {
		var f float64
		if a.Kind == npy.Float32 {
			f = float64(math.Float32frombits(binary.LittleEndian.Uint32(a.Data[at:])))
		} else {
			f = math.Float64frombits(binary.LittleEndian.Uint64(a.Data[at:]))
		}
		h := fp16.FromFloat64(f)
		if h.IsInf() && !math.IsInf(f, 0) {
			overflow++
		}
		data = binary.LittleEndian.AppendUint16(data, uint16(h))
	}
	return data, overflow, nil
}
