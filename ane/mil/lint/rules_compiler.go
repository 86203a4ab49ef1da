package lint

import (
	"math"
	"slices"

	"github.com/anekit/anekit/ane/chip"
	"github.com/anekit/anekit/ane/mil"
	"github.com/anekit/anekit/internal/ops"
)

// compilerRules are about faults of Apple's compiler itself.
func compilerRules() []Rule {
	return []Rule{
		{ID: "conv-chain", Severity: Error, each: true, Title: "A chain of 1x1 convolutions is longer than the " +
			"compiler " +
			"survives.",
			Reason: "From 387 layers the compiler for h18g overflows its stack (A1); programs that loaded " +
				"nevertheless hang " +
				"or run on the CPU and block every process's loads (A2).",
			Fix: "split the program", Source: "study 5.10, 15.4 (M)", check: checkChain},
		{ID: "elementwise-chain", Severity: Warning, each: true, Title: "A long chain of elementwise operations.",
			Reason: "The compile time of h18g grows with the power 3.5 to 3.8 of its length (B1): 128 layers 1.1 " +
				"s, 512 " +
				"three minutes.",
			Fix: "cache the compiled program, or use fewer operations", Source: "study 15.4 (M)",
			check: checkElementwise},
		{ID: "split-convs", Severity: Warning, each: true, Title: "A thousand products of slices, or more.",
			Reason: "The compiler for h18g writes gigabytes of swap for each layer (A3), and goes on after the " +
				"client " +
				"ended (A4).",
			Fix: "use fewer slices; end ANECompilerService after a client was killed", Source: "study 15.4 (M)",
			check: checkSplit},
		{ID: "joined-branches", Severity: Warning, each: true, Title: "Twelve branches or more join in one operation.",
			Reason: "The compiler for h13 takes some 9 s.", Fix: "join them in steps", Source: "guide, on M1 (M)",
			check: checkBranches},
		{ID: "reduce-times-zero", Severity: Error, each: true, placed: true,
			Title:  "The result of a reduction is multiplied by 0.",
			Reason: "ANECCompile() FAILED on M5.", Fix: "leave the product out", Source: "forge, on M5 (M)",
			check: checkZero},
		{ID: "fused-square", Severity: Warning, each: true, Title: "A square is summed over rows of an unlucky width.",
			Reason: "The fused form fails on M5 if the width modulo 128 is above 64: ANECCompile() FAILED.",
			Fix:    "pad the width to a multiple of 128", Source: "forge, on M5 (M)", check: checkSquare},
		{ID: "rounded-product", Severity: Warning, each: true, Title: "floor, ceil or round is multiplied by a scalar.",
			Reason: "On M5 the factor is lost.", Fix: "multiply by a tensor, or before rounding",
			Source: "forge, on M5 (M)",
			check:  checkRounded},
		{ID: "last-relu", Severity: Note, each: true, Compilers: []chip.Compiler{chip.CoreML},
			Title:  "A chain of 32 or 34 convolutions of 512 channels ends with relu.",
			Reason: "Core ML places the last relu on the CPU, for 100 us more (B7).", Fix: "inspect the compute plan",
			Source: "study 15.4 (M)", check: checkLastRelu},
	}
}

// pointwise reports whether a convolution has a kernel of 1x1.
func pointwise(s *stmt) bool {
	h, w, ok := kernel(s)
	return ok && h == 1 && w == 1
}

// chains returns for each value the length of the longest chain that ends there. counts says which statements
// count; a chain passes through those for which passes is true.
func (fn *function) chains(counts, passes func(*stmt) bool) map[*value]int {
	length := map[*value]int{}
	for _, s := range fn.stmts {
		longest, count := 0, counts(s)
		if !count && !passes(s) {
			continue
		}
		for _, v := range s.tensors() {
			longest = max(longest, length[v])
		}
		if count {
			longest++
		}
		for _, v := range s.out {
			length[v] = longest
		}
	}
	return length
}

// longest returns the end of the longest chain, the first of equal ones.
func (fn *function) longest(length map[*value]int) (end *value, n int) {
	for _, s := range fn.stmts {
		for _, v := range s.out {
			if length[v] > n {
				end, n = v, length[v]
			}
		}
	}
	return end, n
}

func isUnary(s *stmt) bool { return s.family() == ops.Unaries }

func checkChain(c *check) {
	limit := c.spec.Chain
	if !limit.Known() {
		return
	}
	for _, f := range c.funcs {
		end, n := f.longest(f.chains(pointwise, isUnary))
		switch {
		case n <= limit.Value:
		case c.on(chip.M6):
			c.error(end.at, "", "a chain of %d 1x1 convolutions, at most %d", n, limit.Value)
		default:
			c.warn(end.at, "", "a chain of %d 1x1 convolutions; %d were tried", n, limit.Value)
		}
	}
}

func checkElementwise(c *check) {
	if !c.on(chip.M6) {
		return
	}
	for _, f := range c.funcs {
		length := f.chains(func(s *stmt) bool { return isUnary(s) || s.family() == ops.Binaries },
			func(*stmt) bool { return false })
		if end, n := f.longest(length); n >= 128 {
			seconds := 1.13 * math.Pow(float64(n)/128, 3.6)
			c.warn(end.at, "", "a chain of %d elementwise operations compiles in some %.0f s", n, seconds)
		}
	}
}

func checkSplit(c *check) {
	if !c.on(chip.M6) {
		return
	}
	sliced := func(v *value) bool {
		return v != nil && v.made != nil && slices.Contains([]string{"split", "slice_by_index", "slice_by_size"},
			v.made.Kind)
	}
	for _, f := range c.funcs {
		n, last := 0, (*stmt)(nil)
		for _, s := range f.stmts {
			if slices.Contains([]string{"conv", "matmul", "einsum"}, s.Kind) && slices.ContainsFunc(s.tensors(),
				sliced) {
				n, last = n+1, s
			}
		}
		if n >= 1000 {
			c.warn(last.Pos, "", "%d products of slices", n)
		}
	}
}

func checkBranches(c *check) {
	if !c.on(chip.M1) {
		return
	}
	c.each(func(_ *function, s *stmt) {
		made := map[*stmt]bool{}
		for _, v := range s.tensors() {
			if v.made != nil && !v.folded {
				made[v.made] = true
			}
		}
		if len(made) >= 12 {
			c.warn(s.Pos, "", "%s joins %d branches", s.Kind, len(made))
		}
	})
}

func reduces(v *value) bool {
	return v != nil && v.made != nil && v.made.family() == ops.Reductions
}

func checkZero(c *check) {
	c.kinds(func(s *stmt) {
		for _, pair := range [][2]string{{"x", "y"}, {"y", "x"}} {
			if f, ok := s.in(pair[1]).number(); ok && f == 0 && reduces(s.in(pair[0])) {
				if c.on(chip.M5) {
					c.error(s.Pos, "", "a reduction is multiplied by 0")
				} else {
					c.warn(s.Pos, "", "a reduction is multiplied by 0: ANECCompile() FAILED on M5")
				}
				return
			}
		}
	}, "mul")
}

func checkSquare(c *check) {
	if !c.on(chip.M5) {
		return
	}
	c.each(func(_ *function, s *stmt) {
		if s.Kind != "reduce_sum" && s.Kind != "reduce_mean" && s.Kind != "reduce_sum_square" {
			return
		}
		x := s.in("x")
		if x == nil || len(x.shape) == 0 {
			return
		}
		squares := s.Kind == "reduce_sum_square"
		if m := x.made; m != nil {
			squares = squares || m.Kind == "square" || m.Kind == "mul" && m.in("x") != nil && m.in("x") == m.in("y")
		}
		if w := x.shape[len(x.shape)-1]; squares && w%128 > 64 {
			c.warn(s.Pos, "", "a sum of squares of width %d, %d modulo 128", w, w%128)
		}
	})
}

func checkRounded(c *check) {
	if !c.on(chip.M5) {
		return
	}
	c.kinds(func(s *stmt) {
		for _, pair := range [][2]string{{"x", "y"}, {"y", "x"}} {
			x := s.in(pair[0])
			if f, ok := s.in(pair[1]).number(); ok && f != 1 && x != nil && x.made != nil &&
				slices.Contains([]string{"floor", "ceil", "round"}, x.made.Kind) {
				c.warn(s.Pos, "", "%s is multiplied by %g", x.made.Kind, f)
				return
			}
		}
	}, "mul")
}

func checkLastRelu(c *check) {
	if !c.on(chip.M6) {
		return
	}
	for _, f := range c.funcs {
		wide := func(s *stmt) bool {
			out := s.result()
			return pointwise(s) && out != nil && len(out.shape) == 4 && out.shape[1] == 512 && out.dtype == mil.FP16
		}
		length := f.chains(wide, func(s *stmt) bool { return s.Kind == "relu" })
		for _, v := range f.outputs {
			if n := length[v]; v.made != nil && v.made.Kind == "relu" && (n == 32 || n == 34) {
				c.note(v.made.Pos, "", "a chain of %d convolutions of 512 channels ends with relu", n)
			}
		}
	}
}
