package packed

import "math"

// fix makes integers of a vector, unless it is steep, or an element is infinite or not a number.
func (w *Weights) fix(v *Vector, room []float32) {
	n := w.units()
	v.digits, v.units, v.sums = room[:n*unit], room[n*unit:][:4*n], room[n*(unit+4):w.fixedRoom()]
	clear(v.sums)
	if bits() > 0 {
		v.finite = w.fixKernel(v)
	} else {
		v.finite = w.fixPortable(v)
	}
}

// fixPortable is fix in Go.
func (w *Weights) fixPortable(v *Vector) bool {
	group := w.group()
	for g := 0; g*group < w.Cols; g++ {
		x := v.x[g*group : min((g+1)*group, w.Cols)]
		var most uint32
		for _, f := range x {
			most = max(most, magnitude(f))
		}
		if most >= 0xff<<23 || isSteep(x, most) {
			return false
		}
		one, each := fixedUnit(most)
		total := int32(0)
		for i, f := range x {
			n := float32(math.RoundToEven(float64(f * one)))
			v.digits[g*group+i] = n
			total += int32(n)
		}
		v.units[g] = each
		*v.sum(g * group / w.Wide) += float32(float32(total) * each)
	}
	return true
}

// magnitude is the bits of a number without its sign.
func magnitude(f float32) uint32 { return math.Float32bits(f) &^ (1 << 31) }

// isSteep reports whether a group of a vector is steep. Then in some 32 columns at least half of the elements that are
// not 0 are less than 2^-12 of the power of two in the greatest. Their integers would have few bits, and a row may be 0
// where the vector is great.
func isSteep(x []float32, most uint32) bool {
	bound := (max(most>>23, 103) - 12) << 23
	for ; len(x) > 0; x = x[32:] {
		small, all := 0, 0
		for _, f := range x[:32] {
			n := magnitude(f)
			if n != 0 {
				all++
			}
			if n-1 < bound-1 { // not 0
				small++
			}
		}
		if 2*small >= max(all, 1) {
			return true
		}
	}
	return false
}

// fixedUnit returns the unit of integers that stand for numbers up to one with the bits most, and its inverse. It is
// that of 2^-24, the least half, if most is less.
func fixedUnit(most uint32) (inverse, unit float32) {
	e := max(most>>23, 103)
	return math.Float32frombits((127 + 127 + places - 1 - e) << 23), math.Float32frombits((e - places + 1) << 23)
}

// fixKernel is fix by assembly.
func (w *Weights) fixKernel(v *Vector) bool {
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
			return false
		}
	}
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

// sum is the sum of the vector's elements in a block.
func (v *Vector) sum(block int) *float32 { return &v.sums[block/lanes*2*lanes+block%lanes] }
