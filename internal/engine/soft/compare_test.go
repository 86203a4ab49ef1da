package soft_test

import (
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/anekit/anekit/ane/mil"
	"github.com/anekit/anekit/internal/effort"
)

// ratio is x / y as an exact fraction, nil if it has none.
func ratio(x, y float64) *big.Rat {
	if math.IsInf(x, 0) || math.IsInf(y, 0) || x != x || y != y || y == 0 {
		return nil
	}
	return new(big.Rat).Quo(new(big.Rat).SetFloat64(x), new(big.Rat).SetFloat64(y))
}

// floorRef rounds an exact fraction down.
func floorRef(q *big.Rat) *big.Int {
	whole, rest := new(big.Int).QuoRem(q.Num(), q.Denom(), new(big.Int))
	if rest.Sign() < 0 {
		whole.Sub(whole, big.NewInt(1))
	}
	return whole
}

func floorDivRef(x, y float64) float64 {
	q := ratio(x, y)
	if q == nil {
		return math.Floor(x / y)
	}
	f, _ := new(big.Float).SetInt(floorRef(q)).Float64()
	if f == 0 {
		return math.Copysign(0, x/y)
	}
	return f
}

func modRef(x, y float64) float64 {
	q := ratio(x, y)
	if q == nil {
		switch {
		case !math.IsInf(y, 0) || math.IsInf(x, 0) || x != x:
			return math.NaN()
		case x == 0:
			return math.Copysign(0, y)
		case (x < 0) != (y < 0):
			return y
		}
		return x
	}
	whole := new(big.Rat).SetInt(floorRef(q))
	rest := new(big.Rat).Sub(new(big.Rat).SetFloat64(x), whole.Mul(whole, new(big.Rat).SetFloat64(y)))
	if rest.Sign() == 0 {
		return math.Copysign(0, y)
	}
	f, _ := rest.Float64()
	return f
}

var divisions = map[string]func(x, y float64) float64{"floor_div": floorDivRef, "mod": modRef}

func TestDivisions(t *testing.T) {
	for op, f := range divisions {
		for _, d := range []mil.DType{mil.FP16, mil.FP32} {
			t.Run(op+"/"+d.String(), func(t *testing.T) {
				r := seeded(t)
				for k := range effort.Cases(30) {
					x, y, out := broadcastPair(r)
					a, b := fill(r, d, x...), fill(r, d, y...)
					switch k % 3 {
					case 0:
						a, b = special(r, d, x...), special(r, d, y...)
					case 1: // whole multiples, where a quotient may round to the next whole number
						for i := range b.v {
							b.v[i] = load(d, store(d, float64(1+r.IntN(50))/10))
						}
						for i := range a.v {
							a.v[i] = load(d, store(d, float64(r.IntN(1000)-500)*b.v[r.IntN(len(b.v))]))
						}
					}
					binaryCase(r, op, a, b, out, f).exact(t)
				}
			})
		}
	}
}

func TestIntDivisions(t *testing.T) {
	floats := map[string]func(x, y float64) float64{
		"real_div":  func(x, y float64) float64 { return math.Trunc(x / y) },
		"floor_div": func(x, y float64) float64 { return math.Floor(x / y) },
		"mod":       func(x, y float64) float64 { return x - y*math.Floor(x/y) },
	}
	for op, f := range floats {
		r := seeded(t)
		for range 20 {
			x, y, out := broadcastPair(r)
			a, b := fill(r, mil.Int32, x...), fill(r, mil.Int32, y...)
			for i := range b.v {
				if r.IntN(4) == 0 {
					b.v[i] = float64(r.IntN(5) - 2)
				}
			}
			binaryCase(r, op, a, b, out, func(x, y float64) float64 {
				switch {
				case y == 0:
					return 0
				case x == math.MinInt32 && y == -1 && op != "mod": // wraps around
					return x
				}
				return f(x, y) + 0
			}).exact(t)
		}
	}
	x := nd{mil.Int32, []int{9, 1}, []float64{-3, -2, -1, 0, 1, 2, 3, 46341, -46341}}
	y := nd{mil.Int32, []int{1, 7}, []float64{-2, -1, 0, 1, 2, 3, 31}}
	binaryCase(seeded(t), "pow", x, y, []int{9, 7}, func(x, y float64) float64 {
		if y < 0 {
			if x == 0 {
				return 0
			}
			return math.Trunc(math.Pow(x, y)) + 0
		}
		p := big.NewInt(0).Exp(big.NewInt(int64(x)), big.NewInt(int64(y)), nil)
		return float64(int32(new(big.Int).And(p, big.NewInt(math.MaxUint32)).Uint64()))
	}).exact(t)
}

var comparisonRefs = map[string]func(x, y float64) bool{
	"greater":       func(x, y float64) bool { return x > y },
	"greater_equal": func(x, y float64) bool { return x >= y },
	"less":          func(x, y float64) bool { return x < y },
	"less_equal":    func(x, y float64) bool { return x <= y },
	"equal":         func(x, y float64) bool { return x == y },
	"not_equal":     func(x, y float64) bool { return !(x == y) },
}

// truthCase is binaryCase with a bool result.
func truthCase(r *rand.Rand, op string, x, y nd, out []int, f func(x, y float64) bool) operation {
	o := binaryCase(r, op, x, y, out, func(x, y float64) float64 {
		if f(x, y) {
			return 1
		}
		return 0
	})
	o.want[0].d = mil.Bool
	return o
}

func TestComparisons(t *testing.T) {
	for op, f := range comparisonRefs {
		for _, d := range []mil.DType{mil.FP16, mil.FP32, mil.Int32} {
			t.Run(op+"/"+d.String(), func(t *testing.T) {
				r := seeded(t)
				for k := range effort.Cases(30) {
					x, y, out := broadcastPair(r)
					a, b := fill(r, d, x...), fill(r, d, y...)
					if k%2 == 0 && d != mil.Int32 {
						a, b = special(r, d, x...), special(r, d, y...)
					}
					for i := range b.v { // equal pairs
						if r.IntN(3) == 0 {
							b.v[i] = a.v[r.IntN(len(a.v))]
						}
					}
					truthCase(r, op, a, b, out, f).exact(t)
				}
			})
		}
	}
}

func TestLogic(t *testing.T) {
	for op, f := range map[string]func(x, y float64) bool{
		"logical_and": func(x, y float64) bool { return x*y == 1 },
		"logical_or":  func(x, y float64) bool { return x+y > 0 },
		"logical_xor": func(x, y float64) bool { return x+y == 1 },
	} {
		r := seeded(t)
		for range 30 {
			x, y, out := broadcastPair(r)
			truthCase(r, op, fill(r, mil.Bool, x...), fill(r, mil.Bool, y...), out, f).exact(t)
		}
	}
}

// TestSelect broadcasts three operands of every type, each along other axes.
func TestSelect(t *testing.T) {
	perType(t, func(t *rapid.T, d mil.DType) {
		out := shapeOf(t, 0, 5, 1500)
		var shapes [3][]int
		for k := range shapes {
			s := slices.Clone(out)
			for i := range s {
				if oneIn(t, 3, "broadcasts") {
					s[i] = 1
				}
			}
			shapes[k] = s[number(t, 0, len(s)/2, "missing axes"):]
		}
		rank := max(len(shapes[0]), len(shapes[1]), len(shapes[2]))
		out = make([]int, rank)
		for i := range out {
			out[i] = 1
			for _, s := range shapes {
				if j := i - rank + len(s); j >= 0 {
					out[i] = max(out[i], s[j])
				}
			}
		}
		cond, a, b := drawn(t, mil.Bool, shapes[0]...), drawn(t, d, shapes[1]...), drawn(t, d, shapes[2]...)
		want := zeros(d, out...)
		each(out, func(i []int) {
			if cond.pick(i) != 0 {
				want.set(a.pick(i), i...)
			} else {
				want.set(b.pick(i), i...)
			}
		})
		operation{op: "select", in: []operand{{"cond", cond, constant(t)}, {"a", a, constant(t)},
			{"b", b, constant(t)}}, want: []nd{want}}.exact(t)
	})
}

// TestCompareOneWithMany: one integer on either side is compared with each of the other side.
func TestCompareOneWithMany(t *testing.T) {
	one := nd{mil.Int32, []int{2, 1}, []float64{3, -3}}
	many := nd{mil.Int32, []int{2, 5}, []float64{2, 3, 4, -3, 5, 3, -4, -3, -2, 0}}
	for op, holds := range map[string]func(x, y float64) bool{
		"greater": func(x, y float64) bool { return x > y }, "greater_equal": func(x, y float64) bool { return x >= y },
		"less": func(x, y float64) bool { return x < y }, "less_equal": func(x, y float64) bool { return x <= y },
		"equal": func(x, y float64) bool { return x == y }, "not_equal": func(x, y float64) bool { return x != y },
	} {
		left, right := zeros(mil.Bool, 2, 5), zeros(mil.Bool, 2, 5)
		for i, f := range many.v {
			if holds(one.v[i/5], f) {
				left.v[i] = 1
			}
			if holds(f, one.v[i/5]) {
				right.v[i] = 1
			}
		}
		operation{op: op, in: []operand{{"x", one, false}, {"y", many, false}}, want: []nd{left}}.exact(t)
		operation{op: op, in: []operand{{"x", many, false}, {"y", one, false}}, want: []nd{right}}.exact(t)
	}
}
