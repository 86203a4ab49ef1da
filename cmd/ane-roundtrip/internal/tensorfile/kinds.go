package tensorfile

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/ane/mil"
	"github.com/anekit/anekit/ane/mil/element"
	"github.com/anekit/anekit/cmd/ane-roundtrip/internal/cli"
	"github.com/anekit/anekit/cmd/ane-roundtrip/internal/npy"
)

// acceptFor accepts the arrays that elements can convert to a tensor: of the type of the tensor, or
// of another floating-point type for a floating-point tensor; of a shape that sameElements accepts.
func acceptFor(side string, l ane.Layout) npy.Accept {
	return func(from mil.DType, shape []int) *npy.Error {
		if e := sameElements(side, l, shape); e != nil {
			return e
		}
		if from != l.DType && !(from.Float() && l.DType.Float()) {
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
	switch {
	case from == mil.Bool:
		return fix
	case to == mil.Bool:
		return fix + ", if its numbers are 0 and 1"
	case to.Float() && (from.Float() || from.Bits() <= digits(to)):
		return fix
	case to.Float():
		return fmt.Sprintf("%s, if its numbers are at most %d in magnitude: %s rounds greater ones", fix,
			int64(1)<<digits(to), to)
	case from.Float():
		return fix + ", if its numbers are whole and in the range of " + to.String()
	}
	if from.Bits() < to.Bits() && (from.Unsigned() || !to.Unsigned()) {
		return fix
	}
	return fix + ", if its numbers are in the range of " + to.String()
}

// digits are the bits of the significands of a floating-point type.
func digits(d mil.DType) int {
	switch d {
	case mil.FP16:
		return 11
	case mil.FP32:
		return 24
	}
	return 53
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
	text := strings.Trim(strings.ReplaceAll(fmt.Sprint(l.Shape), " ", ", "), "[]")
	fix := fmt.Sprintf("save it with arr.reshape(%s)", text)
	if slices.Equal(slices.Sorted(slices.Values(squeezed(shape))), slices.Sorted(slices.Values(squeezed(l.Shape)))) {
		fix = fmt.Sprintf("transpose it or, if its elements are in the right order, save it with arr.reshape(%s)",
			text)
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
	infinite, zero := lost{what: "beyond the range of %s became infinite"}, lost{what: "too small for %s became 0"}
	data = make([]byte, l.PackedBytes())
	for i := range l.Elements() {
		v := element.Load(a.Type, a.Data[i*a.Type.Size():])
		to := data[i*l.DType.Size():]
		element.Store(l.DType, to, v)
		switch got := element.Load(l.DType, to); {
		case math.IsInf(got, 0) && !math.IsInf(v, 0):
			infinite.add(v, i)
		case got == 0 && v != 0:
			zero.add(v, i)
		}
	}
	return data, append(append(notes, infinite.note(l)...), zero.note(l)...)
}

// lost counts values that a conversion made infinite or 0.
type lost struct {
	what  string // a format with the type
	count int
	first float64
	at    int // index of first
}

func (c *lost) add(v float64, at int) {
	if c.count == 0 {
		c.first, c.at = v, at
	}
	c.count++
}

// note returns a note if there are such values.
func (c *lost) note(l ane.Layout) []string {
	if c.count == 0 {
		return nil
	}
	return []string{fmt.Sprintf("%s %s, first %.6g at index %v", cli.Counted(c.count, "value", "values"),
		fmt.Sprintf(c.what, l.DType), c.first, indexOf(c.at, l.Shape))}
}
