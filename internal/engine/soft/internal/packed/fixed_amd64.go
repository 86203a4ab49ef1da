package packed

import "golang.org/x/sys/cpu"

// stored is the float32s of a unit of a vector: three digits of each element, and what each lane is worth.
const stored = (3*unit + 4*lanes) / 4

// fixing are the arguments of fixUnits: units of a vector, and whether a group is 32, 64 or 128 columns: 0, 1 or 2.
// Each unit becomes stored float32s and four sums of groups.
type fixing struct {
	x           *float32
	to, sums    *float32
	units, join int
}

// fixUnits makes integers of a vector and returns the bits of the greatest magnitude in it.
//
//go:noescape
func fixUnits(f *fixing) (most uint32)

// countSteep returns by how much twice the small elements of 32 columns, as steep counts them, exceed all that are not
// 0, or 1: the most of any 32 columns. It reads x, units and join.
//
//go:noescape
func countSteep(f *fixing) (most int32)

// quickSteep is steep by assembly. It reports whether it has done it.
func quickSteep(w *Weights, x []float32) (is, done bool) {
	switch {
	case hasFixed256():
		return w.steep256(x), true
	case !hasFixed():
		return false, false
	}
	f := fixing{join: w.join(), units: w.Cols / unit}
	if f.units > 0 {
		f.x = &x[0]
		is = countSteep(&f) >= 0
	}
	if whole := f.units * unit; whole < w.Cols && !is {
		var last [unit]float32
		copy(last[:], x[whole:])
		is = countSteep(&fixing{x: &last[0], units: 1, join: f.join}) >= 0
	}
	return is, true
}

// fixes are the arguments of the kernels of integers.
type fixes struct {
	sums   *float32
	data   *byte
	digits *float32
	scale, // of each block
	product, // of scale and offset
	vector *float32 // for each sixteen blocks, the sums of the vector and the units of its integers
	rows, units int
	last        int     // a bit for each lane that the last unit has
	each        int     // units of a block
	blocks      int     // of a row
	more        float32 // of a scale, to add to its product
	flip        uint32  // the bits that make integers unsigned
}

// fixedFour32, fixedFour64 and fixedFourAll take a multiple of four rows, in blocks of 32 and 64 columns and of
// units.
//
//go:noescape
func fixedFour32(d *fixes)

//go:noescape
func fixedFour64(d *fixes)

//go:noescape
func fixedFourAll(d *fixes)

//go:noescape
func fixedOne32(d *fixes)

//go:noescape
func fixedOne64(d *fixes)

//go:noescape
func fixedOneAll(d *fixes)

// hasFixed reports whether this processor has the kernels of integers with AVX-512 VNNI.
func hasFixed() bool { return machine.kernel == avx512 && cpu.X86.HasAVX512VNNI }

// quickFix is fix by assembly. It reports whether it has done it.
func quickFix(w *Weights, v *Vector) bool {
	switch {
	case hasFixed256():
		w.fix256(v)
		return true
	case !hasFixed():
		return false
	}
	f := fixing{to: &v.digits[0], sums: &v.units[0], join: w.join()}
	var most uint32
	if f.units = w.Cols / unit; f.units > 0 {
		f.x = &v.x[0]
		most = fixUnits(&f)
	}
	if whole := f.units * unit; whole < w.Cols {
		var last [unit]float32
		copy(last[:], v.x[whole:])
		most = max(most, fixUnits(&fixing{&last[0], &v.digits[f.units*stored], &v.units[4*f.units], 1, f.join}))
	}
	if v.finite = most < 0xff<<23; !v.finite {
		return true
	}
	group := w.group()
	for g := range (w.Cols + group - 1) / group {
		w.addGroup(v, g, v.units[g*group/unit*4+g*group%unit/(unit/4)])
	}
	return true
}

// addGroup adds the sum of a group to that of its block, and sets the unit by which kernels multiply the block's scale.
func (w *Weights) addGroup(v *Vector, group int, sum float32) {
	at := group * w.group()
	block := at / w.Wide
	*v.sum(block) += sum
	each := &v.sums[block/lanes*2*lanes+lanes+block%lanes]
	if w.group() < unit {
		*each = v.digits[at/unit*stored+stored-lanes+at%unit/lane]
	} else {
		*each = 1 // the kernels take the units of each group
	}
}

// quickBounded is allBounded by assembly, which does not find all that are.
func (w *Weights) quickBounded(row, rows int, room []float32) bool {
	if !hasFixed() {
		return hasFixed256() && w.prepare256(room, row*w.blocks(), rows*w.blocks(), false)
	}
	_, is := w.prepare(room, row*w.blocks(), rows*w.blocks(), unknown, false)
	return is != wrong
}

// join is that of fixing.
func (w *Weights) join() int {
	switch w.group() {
	case unit / 4:
		return 0
	case unit / 2:
		return 1
	}
	return 2
}

// quickFixed is fixedDots by assembly. It reports whether it has done it.
func (w *Weights) quickFixed(sums []float32, v *Vector, room []float32, row int) bool {
	if !hasFixed() {
		return hasFixed256() && w.fixed256(sums, v, room, row)
	}
	blocks := w.blocks()
	parts, _ := w.prepare(room, row*blocks, len(sums)*blocks, exact, false)
	d := fixes{sums: &sums[0], data: &w.Data[row*w.Cols/2], digits: &v.digits[0], scale: parts.scale,
		product: parts.product, vector: &v.sums[0], units: w.units(), last: 0xffff,
		each: (w.Wide + unit - 1) / unit, blocks: blocks}
	if w.Cols%unit != 0 {
		d.last = 0xff
	}
	if w.Signed {
		d.more, d.flip = 8, 0x08080808
	}
	if d.rows = len(sums) &^ 3; d.rows > 0 {
		d.four(w.join())
	}
	if left := len(sums) % 4; left > 0 {
		from := len(sums) - left
		at := room[from*blocks:]
		d.rows, d.sums, d.data, d.scale = left, &sums[from], &w.Data[(row+from)*w.Cols/2], &at[0]
		d.product = &at[(len(sums)*blocks+15)/16*16]
		d.one(w.join())
	}
	return true
}

// four runs a kernel of four rows.
func (d *fixes) four(join int) {
	switch join {
	case 0:
		fixedFour32(d)
	case 1:
		fixedFour64(d)
	default:
		fixedFourAll(d)
	}
}

// one runs a kernel of one row.
func (d *fixes) one(join int) {
	switch join {
	case 0:
		fixedOne32(d)
	case 1:
		fixedOne64(d)
	default:
		fixedOneAll(d)
	}
}
