package packed

import "github.com/anekit/anekit/ane/fp16"

const (
	chunk = Lanes
	// magic and most are the arguments of split: the unit of high is 2^-11 for a scale of 1 to 2, so that products of
	// integers of 9 bits with scales of 11 bits are multiples of it and fit into 24 bits beside an offset of 10 bits.
	magic = 1.5 * (1 << 12)
	most  = 1<<10 - 1
)

// kernel is the bits of the integers as the assembly reads them: 2, 4, or 8; 0 for none.
func (w *Weights) kernel() int {
	if machine.kernel != avx512 || w.Encode != nil || w.Decode != nil || w.High != 1 || w.Wide%chunk != 0 {
		return 0
	}
	switch b := w.width(); b {
	case 2, 4, 8:
		return b
	}
	return 0
}

// padded is the scales of some rows, up to a multiple of 16.
func (w *Weights) padded(rows int) int { return (rows*(w.Cols/w.Wide) + 15) / 16 * 16 }

// room is the float32s that the kernels need for rows: scales, offsets, and what split makes of them.
func (w *Weights) room(rows int) int {
	if w.kernel() == 0 {
		return 0
	}
	return 5 * w.padded(min(rows, batch))
}

// prepare sets the scales and offsets of d for rows from row on. It reports whether the kernels can take them, and
// whether all numbers before rounding are exact.
func (w *Weights) prepare(d *dots, room []float32, row, rows int) (ok, exact bool) {
	n, blocks := w.padded(rows), w.Cols/w.Wide
	scale, offset, high, under, over := room[:n], room[n:2*n], room[2*n:3*n], room[3*n:4*n], room[4*n:5*n]
	from, used := row*blocks, rows*blocks
	fp16.Decode(scale[:used], w.Scale[from:from+used])
	clear(scale[used:])
	switch {
	case w.OffsetHalf != nil:
		fp16.Decode(offset[:used], w.OffsetHalf[from:from+used])
		clear(offset[used:])
	case w.OffsetSingle != nil:
		copy(offset[:used], w.OffsetSingle[from:from+used])
		clear(offset[used:])
	case w.OffsetByte == nil:
		clear(offset)
		exact = true
	default:
		for i, b := range w.OffsetByte[from : from+used] {
			offset[i] = float32(b)
			if w.Signed {
				offset[i] = float32(int8(b))
			}
		}
		clear(offset[used:])
		exact = true
	}
	unit := float32(magic)
	if exact {
		unit = 0 // high is the whole product
	}
	if split(&high[0], &under[0], &over[0], &scale[0], &offset[0], n/16, unit, most) {
		return false, false
	}
	d.scale, d.high, d.under, d.over = &scale[0], &high[0], &under[0], &over[0]
	d.rows, d.blocks, d.each = rows, blocks, w.Wide/chunk
	return true, exact
}

// numbers has the number of each index of four bits.
func (w *Weights) numbers() (table [16]float32) {
	for i := range table {
		table[i] = float32(w.number(i & (1<<w.Bits - 1)))
	}
	return table
}

// quick is Dots by assembly, for at most batch rows. It reports whether it has done it.
func (w *Weights) quick(sums, x, room []float32, row int) bool {
	kernel := w.kernel()
	if kernel == 0 {
		return false
	}
	d := dots{sums: &sums[0], x: &x[0]}
	ok, exact := w.prepare(&d, room, row, len(sums))
	if !ok {
		return false
	}
	data := w.Data[row*w.Cols/8*kernel:][:len(sums)*w.Cols/8*kernel]
	d.data = &data[0]
	var numbers [16]float32
	if kernel < 8 {
		numbers = w.numbers()
		d.numbers = &numbers
	} else {
		d.numbers = &numbers
	}
	switch {
	case kernel == 2 && exact:
		dotsExact2(&d)
	case kernel == 2:
		dotsOdd2(&d)
	case kernel == 4 && exact:
		dotsExact4(&d)
	case kernel == 4:
		dotsOdd4(&d)
	case exact:
		dotsExact8(&d, w.Signed)
	default:
		dotsOdd8(&d, w.Signed)
	}
	return true
}

// arrange is Arrange for quick: step t of a chunk reads, in lane l, the element whose integer the shift of that step
// brings into the low bits of the lane.
func (w *Weights) arrange(x []float32) {
	kernel := w.kernel()
	if kernel == 0 {
		return
	}
	var old [chunk]float32
	for ; len(x) >= chunk; x = x[chunk:] {
		copy(old[:], x)
		for t := range 4 {
			for l := range 16 {
				x[16*t+l] = old[place(kernel, t, l)]
			}
		}
	}
}

// restore is the inverse of arrange.
func (w *Weights) restore(x, arranged []float32) {
	copy(x, arranged)
	kernel := w.kernel()
	if kernel == 0 {
		return
	}
	for at := 0; at+chunk <= len(x); at += chunk {
		for t := range 4 {
			for l := range 16 {
				x[at+place(kernel, t, l)] = arranged[at+16*t+l]
			}
		}
	}
}

// place is the element of a chunk in lane l of step t.
func place(kernel, t, l int) int {
	switch kernel {
	case 2:
		return 16*(l%4) + 4*(l/4) + t
	case 4:
		return 8*(l%8) + 4*(l/8) + t
	}
	return 4*l + t
}

// floats is Floats by assembly. It reports whether it has done it.
func (w *Weights) floats([]float32, int, int) bool { return false }
