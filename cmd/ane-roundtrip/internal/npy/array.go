package npy

import (
	"fmt"
	"math"
)

// Array is the content of one .npy file.
type Array struct {
	Kind Kind
	// Shape has one entry a dimension; it is empty for a scalar. A dimension
	// of 0 makes an empty array.
	Shape []int
	// Fortran means that the first index varies fastest in Data, not the last.
	Fortran bool
	// Swapped means that the file was big-endian. Write ignores it.
	Swapped bool
	// Data holds the elements in the order of the file, little-endian and without
	// gaps. The Array owns it.
	Data []byte
}

// dataSize returns the number of bytes of an array, and an error if a dimension is negative or the
// size overflows int. For the overflow a dimension of 0 counts as 1, so that no product of some of the
// dimensions overflows later.
func dataSize(kind Kind, shape []int) (int, error) {
	size, empty := kind.Size(), false
	for i, d := range shape {
		switch {
		case d < 0:
			return 0, &Error{What: fmt.Sprintf("dimension %d of the shape is %d", i, d),
				Fix: "use dimensions of 0 or more"}
		case d == 0:
			empty = true
		case size > math.MaxInt/d:
			return 0, &Error{What: fmt.Sprintf("dimension %d of the shape (%d) makes the array larger than memory "+
				"can be", i, d), Fix: "save a smaller array"}
		default:
			size *= d
		}
	}
	if empty {
		return 0, nil
	}
	return size, nil
}

// shapeText formats a shape for a message, with at most 8 dimensions.
func shapeText(shape []int) string {
	if len(shape) > 8 {
		return fmt.Sprintf("%v and %d more", shape[:8], len(shape)-8)
	}
	return fmt.Sprint(shape)
}

// check returns an error if the fields of a contradict each other.
func (a *Array) check() error {
	if a == nil {
		return &Error{What: "no array (nil)", Fix: "pass an Array"}
	}
	if a.Kind.Size() == 0 {
		return &Error{What: fmt.Sprintf("the array has the unknown kind %d", a.Kind),
			Fix: "set Kind to one of the constants of this package"}
	}
	want, err := dataSize(a.Kind, a.Shape)
	if err != nil {
		return err
	}
	if want != len(a.Data) {
		return &Error{
			What: fmt.Sprintf("the array has %d bytes of data, its shape %s of %s takes %d", len(a.Data),
				shapeText(a.Shape), a.Kind, want),
			Fix: "make Shape, Kind and Data agree",
		}
	}
	return nil
}
