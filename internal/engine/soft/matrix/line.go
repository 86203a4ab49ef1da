package matrix

import "github.com/anekit/anekit/internal/engine/soft/run"

// Line writes a part of an output line of a convolution from the line of x of length elements at base. dst[0] is element
// at of that line, or in a transposed convolution of its elements with zeros between them. Those outside are 0.
func Line(v *run.Vec, dst, spare []float32, base, at, length, stride int, transposed bool) {
	up, down := 1, 1
	var x, first, n int // the first element inside, its place in dst, and how many there are
	if transposed {
		up, x = stride, max((at+stride-1)/stride, 0)
		first = x*up - at
		n = min((len(dst)-first+up-1)/up, length-x)
	} else {
		down, first = stride, max((stride-1-at)/stride, 0)
		x = at + first*down
		n = min(len(dst)-first, (length-x+down-1)/down)
	}
	if n <= 0 {
		clear(dst)
		return
	}
	clear(dst[:first])
	clear(dst[first+(n-1)*up+1:])
	dst, spare = dst[first:][:(n-1)*up+1], spare[:(n-1)*down+1]
	switch {
	case up == down:
		v.Load(dst, base+x)
	case transposed:
		clear(dst)
		v.Load(spare, base+x)
		for i, v := range spare {
			dst[i*up] = v
		}
	default:
		v.Load(spare, base+x)
		Every(dst, spare, down)
	}
}

// Flat reads a run of a plane of x, size elements in lines of some width at base: the elements down lines below and
// right columns beside those from place n0 on. Elements of another line and those outside are 0.
func Flat(x *run.Vec, dst []float32, base, size, width, n0, down, right int) {
	load(x, dst, base, n0+down*width+right, size)
	clearBeyond(dst, n0, width, width, right)
}

// clearBeyond clears what is no column of a line of pitch elements once it is moved by some columns. view are places from
// one on, in lines of some width.
func clearBeyond(view []float32, from, width, pitch, by int) {
	begin, end := max(pitch-by, 0), width
	if by < 0 {
		begin, end = 0, min(-by, width)
	}
	for line := -((from%width + width) % width); line < len(view) && begin < end; line += width {
		for i := max(line+begin, 0); i < min(line+end, len(view)); i++ {
			view[i] = 0
		}
	}
}

// load reads elements from at on of size elements at base, and 0 for those outside.
func load(x *run.Vec, dst []float32, base, at, size int) {
	lo := min(max(-at, 0), len(dst))
	hi := max(min(size-at, len(dst)), lo)
	clear(dst[:lo])
	clear(dst[hi:])
	if lo < hi {
		x.Load(dst[lo:hi], base+at+lo)
	}
}

// Every sets dst to the elements of src from the first on that are a step apart.
func Every[T any](dst, src []T, step int) {
	if step == 2 {
		for ; len(dst) >= 4 && len(src) >= 7; dst, src = dst[4:], src[min(8, len(src)):] {
			dst[0], dst[1], dst[2], dst[3] = src[0], src[2], src[4], src[6]
		}
	}
	at := 0
	for i := range dst {
		dst[i] = src[at]
		at += step
	}
}
