package packed

import "golang.org/x/sys/cpu"

// stored is the float32s of a unit of a vector: three digits of each element, and what each lane is worth.
const stored = (3*unit + 4*lanes) / 4

// fixedBits is the bits of the vectors that the kernels of integers use, of which 512 need AVX-512 VNNI; 0 without.
func fixedBits() int {
	if bits() == 512 && !cpu.X86.HasAVX512VNNI {
		return 256
	}
	return bits()
}

// quickFix is fix by assembly. It reports whether it has done it.
func quickFix(w *Weights, v *Vector) bool {
	if bits() == 0 {
		return false
	}
	clear(v.digits[(w.units()-1)*stored:]) // what half a unit lacks
	group := w.group()
	whole := w.Cols / group * group // the rest is half a unit
	for _, part := range [][2]int{{0, whole}, {whole, w.Cols}} {
		n := part[1] - part[0]
		if n == 0 {
			continue
		}
		f := fixing{x: &v.x[part[0]], to: &v.digits[part[0]/unit*stored], sums: &v.units[part[0]/group],
			groups: max(n/group, 1), each: min(group, n) / (unit / 4)}
		if most, steep := fixGroups(fixedBits(), &f); steep || most >= 0xff<<23 {
			return true
		}
	}
	v.finite = true
	for g, sum := range v.units[:(w.Cols+group-1)/group] {
		w.addGroup(v, g, sum)
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
	if bits() == 0 {
		return false
	}
	_, is := w.prepare(room, row*w.blocks(), rows*w.blocks(), unknown, false, 0)
	return is != wrong
}

// quickFixed is fixedDots by assembly. It reports whether it has done it.
func (w *Weights) quickFixed(sums []float32, v *Vector, room []float32, row int) bool {
	if bits() == 0 {
		return false
	}
	blocks, n := w.blocks(), len(sums)
	d := fixes{digits: &v.digits[0], vector: &v.sums[0], units: w.units(), last: 0xffff,
		each: (w.Wide + unit - 1) / unit, blocks: blocks, line: w.Cols / 2, stride: 4 * blocks}
	if w.Cols%unit != 0 {
		d.last = 0xff
	}
	more := float32(0)
	if w.Signed {
		more, d.flip = 8, 0x88888888
	}
	w.prepare(room, row*blocks, n*blocks, exact, false, more)
	once := 1 // rows
	if fixedBits() == 512 {
		once = 4
	}
	for from := 0; from < n; once = 1 {
		d.rows = (n - from) / once * once
		if d.rows > 0 {
			at := room[from*blocks:]
			d.sums, d.data, d.scale = &sums[from], &w.Data[(row+from)*w.Cols/2], &at[0]
			d.product = &at[(n*blocks+15)/16*16]
			fixedRows(fixedBits(), w.group(), once, &d)
		}
		from = n / once * once
	}
	return true
}
