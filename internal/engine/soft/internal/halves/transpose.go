package halves

// Transpose writes the rows x cols elements of src, whose rows are from elements apart, as columns of dst, whose rows
// are to elements apart: dst[c*to+r] = src[r*from+c].
func Transpose[T uint8 | uint16 | uint32](dst, src []T, rows, cols, to, from int) {
	d, isHalf := any(dst).([]uint16)
	if !isHalf || machine.kernel == portable {
		transposePortable(dst, src, rows, cols, to, from)
		return
	}
	s, _ := any(src).([]uint16)
	transposeHalves(d, s, rows, cols, to, from)
}

// tile is the rows and columns of a tile: a row of halves is a line of the caches.
const tile = 32

func transposeHalves(dst, src []uint16, rows, cols, to, from int) {
	down, across := rows/tile*tile, cols/tile*tile
	var room [tile * tile]uint16
	for r := 0; r < down; r += tile {
		for c := 0; c < across; c += tile {
			d, s := dst[c*to+r:], src[r*from+c:]
			_, _ = d[(tile-1)*to+tile-1], s[(tile-1)*from+tile-1]
			tileVector(&d[0], &s[0], &room[0], 2*to, 2*from)
		}
	}
	if across < cols {
		transposePortable(dst[across*to:], src[across:], rows, cols-across, to, from)
	}
	if down < rows && across > 0 {
		transposePortable(dst[down:], src[down*from:], rows-down, across, to, from)
	}
}

// transposePortable goes along squares, so that the lines of both sides stay in a cache.
func transposePortable[T uint8 | uint16 | uint32](dst, src []T, rows, cols, to, from int) {
	const side = 16
	for r0 := 0; r0 < rows; r0 += side {
		r1 := min(r0+side, rows)
		for c0 := 0; c0 < cols; c0 += side {
			for c := c0; c < min(c0+side, cols); c++ {
				line := dst[c*to+r0 : c*to+r1]
				at := r0*from + c
				for i := range line {
					line[i] = src[at]
					at += from
				}
			}
		}
	}
}
