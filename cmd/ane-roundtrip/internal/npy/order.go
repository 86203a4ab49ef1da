package npy

import "slices"

// ToC returns the array in C order: a itself if it is in C order, else a new Array. The new Array shares
// Data with a if both orders are the same, as for a single dimension; otherwise it owns a copy. ToC
// returns an *Error if the fields of a contradict each other.
func (a *Array) ToC() (*Array, error) {
	if err := a.check(); err != nil {
		return nil, err
	}
	if !a.Fortran {
		return a, nil
	}
	c := &Array{Kind: a.Kind, Swapped: a.Swapped, Shape: append([]int{}, a.Shape...), Data: a.Data}
	// Dimensions of 1 change no position. Without them at most 62 dimensions remain, since their
	// product is an int.
	var dims, strides []int
	stride := a.Kind.Size()
	for _, d := range a.Shape {
		if d != 1 {
			dims, strides = append(dims, d), append(strides, stride)
		}
		stride *= d
	}
	if len(dims) < 2 || len(a.Data) == 0 {
		return c, nil
	}
	c.Data = make([]byte, len(a.Data))
	gather(c.Data, a.Data, a.Kind.Size(), dims, strides)
	return c, nil
}

// gather copies the elements of src to dst in C order. dims are the dimensions of the array, strides the
// distance of neighbors along each in src. Strides and size are in bytes.
func gather(dst, src []byte, size int, dims, strides []int) {
	index := make([]int, len(dims))
	inner := len(dims) - 1
	at := 0
	for len(dst) > 0 {
		for i := range dims[inner] {
			from := at + i*strides[inner]
			copy(dst[:size], src[from:from+size])
			dst = dst[size:]
		}
		for d := inner - 1; d >= 0; d-- {
			index[d]++
			at += strides[d]
			if index[d] < dims[d] {
				break
			}
			at -= index[d] * strides[d]
			index[d] = 0
		}
	}
}

// swap reverses the bytes of every element.
func swap(data []byte, size int) {
	for ; len(data) >= size; data = data[size:] {
		slices.Reverse(data[:size])
	}
}
