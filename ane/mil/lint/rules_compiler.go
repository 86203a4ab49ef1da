package lint

import (
	"math"
	"slices"

	"github.com/anekit/anekit/ane/chip"
	"github.com/anekit/anekit/internal/ops"
)

// pointwise reports whether a convolution has a kernel of 1x1.
func pointwise(s *ops.Node) bool {
	h, w, ok := s.Kernel()
	return ok && h == 1 && w == 1
}

// chain returns the end and the length of the longest chain, the first of equal ones. counts says which statements
// count; a chain passes through those for which passes is true.
func chain(f *ops.Graph, counts, passes func(*ops.Node) bool) (end *ops.Value, n int) {
	length := map[*ops.Value]int{} // of the longest chain that ends there
	for _, s := range f.Statements {
		longest, count := 0, counts(s)
		if !count && !passes(s) || s.Folded() {
			continue
		}
		for _, v := range s.Operands() {
			longest = max(longest, length[v])
		}
		if count {
			longest++
		}
		for _, v := range s.Out {
			if length[v] = longest; longest > n {
				end, n = v, longest
			}
		}
	}
	return end, n
}

func isUnary(s *ops.Node) bool { return family(s) == ops.Unaries }

func checkChain(c *check, f *ops.Graph) {
	limit := c.spec.Chain
	end, n := chain(f, pointwise, isUnary)
	switch {
	case !limit.Known() || n <= limit.Value:
	case c.on(chip.M6):
		c.error(end.Pos, "", "a chain of %d 1x1 convolutions, at most %d", n, limit.Value)
	default:
		c.warn(end.Pos, "", "a chain of %d 1x1 convolutions; %d were tried", n, limit.Value)
	}
}

func checkElementwise(c *check, f *ops.Graph) {
	end, n := chain(f, func(s *ops.Node) bool { return isUnary(s) || family(s) == ops.Binaries },
		func(*ops.Node) bool { return false })
	if n >= 128 {
		seconds := 1.13 * math.Pow(float64(n)/128, 3.6)
		c.warn(end.Pos, "", "a chain of %d elementwise operations compiles in some %.0f s", n, seconds)
	}
}

func checkSplit(c *check, f *ops.Graph) {
	sliced := func(v *ops.Value) bool { return madeBy(v, "split", "slice_by_index", "slice_by_size") }
	n, last := 0, (*ops.Node)(nil)
	for _, s := range f.Statements {
		if slices.Contains([]string{"conv", "matmul", "einsum"}, s.Op.Kind) &&
			slices.ContainsFunc(s.Operands(), sliced) {
			n, last = n+1, s
		}
	}
	if n >= 1000 {
		c.warn(last.Op.Pos, "", "%d products of slices", n)
	}
}

func checkBranches(c *check, s *ops.Node) {
	made := map[*ops.Node]bool{}
	for _, v := range s.Operands() {
		if v.Made != nil && !v.Folded {
			made[v.Made] = true
		}
	}
	if len(made) >= 12 {
		c.warn(s.Op.Pos, "", "%s joins %d branches", s.Op.Kind, len(made))
	}
}

func checkSquare(c *check, s *ops.Node) {
	x := s.Value("x")
	if x == nil || len(x.Shape) == 0 {
		return
	}
	squares := s.Op.Kind == "reduce_sum_square" || madeBy(x, "square") ||
		madeBy(x, "mul") && x.Made.Value("x") != nil && x.Made.Value("x") == x.Made.Value("y")
	if w := x.Shape[len(x.Shape)-1]; squares && w%128 > 64 {
		c.warn(s.Op.Pos, "", "a sum of squares of width %d, %d modulo 128", w, w%128)
	}
}

func checkRounded(c *check, s *ops.Node) {
	for _, pair := range [][2]string{{"x", "y"}, {"y", "x"}} {
		x := s.Value(pair[0])
		if f, ok := number(s.Value(pair[1])); ok && f != 1 && madeBy(x, "floor", "ceil", "round") {
			c.warn(s.Op.Pos, "", "%s is multiplied by %g", x.Made.Op.Kind, f)
			return
		}
	}
}
