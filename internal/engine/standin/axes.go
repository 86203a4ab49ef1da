package standin

import "slices"

// swapped is the order of a shape of five axes with the channels second and the depth
// third.
var swapped = [...]int{axisN, axisC, axisD, axisH, axisW}

// axesOf returns the axes of a tensor in the order of a shape. Axes of length 1 may
// have any position, but rank 4 is N C H W, and only rank 5 may have the channels
// before the depth. ok is false if the lengths do not match the shape.
func axesOf(shape []int, lengths [len(order)]int64) (axes []int, ok bool) {
	if len(shape) == len(order4) {
		for i, at := range order4 {
			if lengths[at] != int64(shape[i]) {
				return nil, false
			}
		}
		return order5[:], lengths[axisD] == 1
	}
	var want []int64
	for _, n := range shape {
		if n != 1 {
			want = append(want, int64(n))
		}
	}
	for _, axes := range [...][len(order)]int{order5, swapped} {
		var have []int64
		for _, at := range axes {
			if lengths[at] != 1 {
				have = append(have, lengths[at])
			}
		}
		if slices.Equal(want, have) {
			return axes[:], true
		}
		if len(shape) < len(order) {
			break
		}
	}
	return nil, false
}
