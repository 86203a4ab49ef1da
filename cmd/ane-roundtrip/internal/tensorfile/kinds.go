package tensorfile

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/ane/mil"
	"github.com/anekit/anekit/cmd/ane-roundtrip/internal/cli"
	"github.com/anekit/anekit/cmd/ane-roundtrip/internal/npy"
	"github.com/anekit/anekit/internal/element"
)

// acceptFor accepts the arrays that elements can convert to a tensor, where that loses only precision. A tensor of
// floats takes every type, one of integers those whose range it has. The shape is one that sameElements accepts.
func acceptFor(side string, l ane.Layout) npy.Accept {
	return func(from mil.DType, shape []int) *npy.Error {
		if e := sameElements(side, l, shape); e != nil {
			return e
		}
		lo, hi := from.Range() // zeros for bool
		least, most := l.DType.Range()
		within := l.DType.Integer() && !from.Float() && lo >= least && max(hi, 1) <= most
		if from != l.DType && !l.DType.Float() && !within {
			return &npy.Error{What: fmt.Sprintf("%s, %s %s is %s", npy.Name(from), side, l.Name, l.DType),
				Fix: convert(from, l.DType)}
		}
		return nil
	}
}

// convert is the remedy for an array of the wrong type. NumPy converts silently, also numbers that the other type does
// not have.
func convert(from, to mil.DType) string {
	fix := fmt.Sprintf("save it with arr.astype('%s')", npy.Name(to))
	digits := map[mil.DType]int{mil.BF16: 8, mil.FP16: 11, mil.FP32: 24, mil.FP64: 53}[to] // of the significand
	lo, hi := from.Range()                                                                 // zeros if from is bool
	least, most := to.Range()
	if to.Float() {
		least, most = -1<<digits, 1<<digits
	}
	switch {
	case from.Float() && to.Float(), !from.Float() && lo >= least && hi <= most:
		return fix
	case to == mil.Bool:
		return fix + ", if its numbers are 0 and 1"
	case to.Float():
		return fmt.Sprintf("%s, if its numbers are at most %d in magnitude: %s rounds greater ones", fix, most, to)
	case from.Float():
		return fix + ", if its numbers are whole and in the range of " + to.String()
	}
	return fix + ", if its numbers are in the range of " + to.String()
}

// sameElements compares shapes. It accepts shapes that differ only in axes of length 1, and a flat
// array; for any other shape the user has to reshape or transpose the array.
func sameElements(side string, l ane.Layout, shape []int) *npy.Error {
	n := 1
	for _, d := range shape {
		n *= d // npy has checked that it fits
	}
	if want := l.Elements(); n != want {
		return &npy.Error{What: fmt.Sprintf("%d elements of shape %v, %s %s has %d of shape %v", n, shape, side, l.Name,
			want, l.Shape),
			Fix: fmt.Sprintf("give an array of %d elements", want)}
	}
	if len(shape) == 1 || slices.Equal(squeezed(shape), squeezed(l.Shape)) {
		return nil
	}
	fix := fmt.Sprintf("save it with arr.reshape(%s)",
		strings.Trim(strings.ReplaceAll(fmt.Sprint(l.Shape), " ", ", "), "[]"))
	if slices.Equal(slices.Sorted(slices.Values(squeezed(shape))), slices.Sorted(slices.Values(squeezed(l.Shape)))) {
		fix = "transpose it or, if its elements are in the right order, " + fix
	}
	return &npy.Error{What: fmt.Sprintf("shape %v, %s %s has %v, as many elements along other axes", shape, side,
		l.Name, l.Shape), Fix: fix}
}

// squeezed returns a shape without axes of length 1.
func squeezed(shape []int) []int {
	return slices.DeleteFunc(slices.Clone(shape), func(d int) bool { return d == 1 })
}

// elements returns the bytes of an array, dense, row-major and of the type of the tensor. The notes
// name the conversions.
func elements(a *npy.Array, l ane.Layout) (data []byte, notes []string) {
	if a.Raw {
		notes = append(notes, "read type V2, which NumPy writes for the bfloat16 of ml_dtypes, as bfloat16")
	}
	if a.Swapped {
		notes = append(notes, "converted big-endian numbers to little-endian")
	}
	if !slices.Equal(a.Shape, l.Shape) {
		notes = append(notes, fmt.Sprintf("read shape %v as %v", a.Shape, l.Shape))
	}
	if a.Fortran && len(squeezed(a.Shape)) > 1 {
		notes = append(notes, "converted Fortran order to C order")
	}
	if a.Type == l.DType {
		return a.Data, notes
	}
	notes = append(notes, fmt.Sprintf("converted %s to %s", npy.Name(a.Type), l.DType))
	data = make([]byte, l.PackedBytes())
	lost := [...]struct {
		count, first int // the latter is an index
		what         string
	}{{what: "beyond the range of %s became infinite"}, {what: "too small for %s became 0"}, {what: "rounded to %s"}}
	from, to := a.Type.Size(), l.DType.Size()
	for i := range l.Elements() {
		v := element.Load(a.Type, a.Data[i*from:])
		element.Store(l.DType, data[i*to:], v)
		got := element.Load(l.DType, data[i*to:])
		infinite := math.IsInf(got, 0) && !math.IsInf(v, 0)
		for which, is := range [...]bool{infinite, got == 0 && v != 0, !a.Type.Float() && got != v && !infinite} {
			if c := &lost[which]; is {
				if c.count++; c.count == 1 {
					c.first = i
				}
			}
		}
	}
	for _, c := range lost {
		if c.count > 0 {
			notes = append(notes, fmt.Sprintf("%s "+c.what+", first %.6g at index %v", cli.Counted(c.count, "value",
				"values"), l.DType, element.Load(a.Type, a.Data[c.first*from:]), indexOf(c.first, l.Shape)))
		}
	}
	return data, notes
}
