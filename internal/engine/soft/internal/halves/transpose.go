package halves

// Transpose writes the rows x cols elements of src as columns of dst: dst[c*to+r] = src[r*from+c]. Rows of src are from
// elements apart, rows of dst to elements.
func Transpose[T uint8 | uint16 | uint32](dst, src []T, rows, cols, to, from int) {
	if d, isHalf := any(dst).([]uint16); isHalf {
		s, _ := any(src).([]uint16)
		transposeHalves(d, s, nil, rows, cols, to, from, false)
		return
	}
	transposePortable(dst, src, rows, cols, to, from)
}

// TransposePast is Transpose for a piece of a result that is larger than the caches: it goes past them where the
// machine can. next is the piece of the source that comes after it, as large and as far between rows, or nil. The
// source is quickest in pieces of FetchCols columns.
func TransposePast(dst, src, next []uint16, rows, cols, to, from int) {
	transposeHalves(dst, src, next, rows, cols, to, from, true)
}

const (
	tile = 32 // the rows and columns of a tile: a row of halves is a line of the caches

	FetchCols = tile * tile // one tile fetches as many elements of a row of the next piece
)

// transposeHalves goes along the rows of dst, whose lines are written in order, with past beside the caches.
func transposeHalves(dst, src, next []uint16, rows, cols, to, from int, past bool) {
	if !Vectors() {
		transposePortable(dst, src, rows, cols, to, from)
		return
	}
	down, across, row := rows/tile*tile, cols/tile*tile, 0
	var room [tile * tile]uint16
	for c := 0; c < across; c += tile {
		for r := 0; r < down; r += tile {
			d, s, fetch := dst[c*to+r:], src[r*from+c:], &room[0]
			_, _ = d[(tile-1)*to+tile-1], s[(tile-1)*from+tile-1]
			if row+FetchCols <= len(next) {
				fetch = &next[row]
				row += from
			}
			tileVector(&d[0], &s[0], &room[0], fetch, 2*to, 2*from, past)
		}
	}
	if past {
		fence()
	}
	if across < cols {
		transposePortable(dst[across*to:], src[across:], rows, cols-across, to, from)
	}
	if down < rows && across > 0 {
		transposePortable(dst[down:], src[down*from:], rows-down, across, to, from)
	}
}

// transposePortable goes along strips of the longer side, so that the lines of both sides stay in a cache. Strips are
// narrow unless the matrix has few rows or columns.
func transposePortable[T uint8 | uint16 | uint32](dst, src []T, rows, cols, to, from int) {
	strip := 16
	if rows < strip || cols < strip {
		strip = 512
	}
	if rows < cols {
		for c0 := 0; c0 < cols; c0 += strip {
			n := min(strip, cols-c0)
			for r := range rows {
				at := c0*to + r
				for _, v := range src[r*from+c0:][:n] {
					dst[at] = v
					at += to
				}
			}
		}
		return
	}
	for r0 := 0; r0 < rows; r0 += strip {
		n := min(strip, rows-r0)
		for c := range cols {
			at, out := r0*from+c, dst[c*to+r0:][:n]
			for i := range out {
				out[i] = src[at]
				at += from
			}
		}
	}
}
