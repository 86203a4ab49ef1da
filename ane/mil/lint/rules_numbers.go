package lint

import (
	"math"
	"slices"

	"github.com/anekit/anekit/ane/chip"
	"github.com/anekit/anekit/ane/fp16"
	"github.com/anekit/anekit/ane/mil"
	"github.com/anekit/anekit/internal/numerics"
	"github.com/anekit/anekit/internal/ops"
)

// floats visits the floating-point literals of a function.
func floats(f *ops.Graph, visit func(v *mil.Value, elements []float64)) {
	for _, op := range f.Function.Body {
		walk(slices.Concat(op.Args, op.Attrs), func(_ string, o mil.Operand) {
			if v, ok := o.(*mil.Value); ok {
				if list, err := v.Floats(); err == nil {
					visit(v, list)
				}
			}
		})
	}
}

func checkLiterals(c *check, f *ops.Graph) {
	floats(f, func(v *mil.Value, elements []float64) {
		if v.Type.DType != mil.FP16 {
			return
		}
		for _, f := range elements {
			switch m := math.Abs(f); {
			case math.IsInf(f, 0) || math.IsNaN(f):
			case m >= largest:
				c.warn(v.Pos, "", "fp16(%g) becomes infinite", f)
				return
			case m > 0 && m <= 0x1p-25:
				c.warn(v.Pos, "use a number of at least 6e-8", "fp16(%g) becomes 0", f)
				return
			}
		}
	})
}

func checkNaN(c *check, f *ops.Graph) {
	endless := func(f float64) bool { return math.IsInf(f, 0) || math.IsNaN(f) }
	floats(f, func(v *mil.Value, elements []float64) {
		if slices.ContainsFunc(elements, endless) {
			c.warn(v.Pos, "", "a constant is infinite or not a number")
		}
	})
}

// leastEpsilon is the smallest epsilon that projects found safe.
const leastEpsilon = 0x1.0cp-17

func checkEpsilon(c *check, s *ops.Node) {
	if e, ok := number(s.Value("epsilon")); ok && e < leastEpsilon && s.Op.Kind != "log" {
		c.warn(s.Op.Arg("epsilon").Pos, "", "%s: epsilon %g is below 8.0e-6", s.Op.Kind, e)
		return
	}
	if s.Op.Kind != "add" || result(s) == nil {
		return
	}
	divides := slices.ContainsFunc(result(s).Uses, func(u *ops.Node) bool {
		e, _ := number(u.Value("y"))
		return u.Op.Kind == "rsqrt" || u.Op.Kind == "inverse" || u.Op.Kind == "log" || u.Op.Kind == "pow" && e < 0 ||
			u.Op.Kind == "real_div" && u.Value("y") == result(s)
	})
	for _, name := range []string{"x", "y"} {
		if e, ok := number(s.Value(name)); ok && divides && e > 0 && e < leastEpsilon {
			c.warn(s.Op.Arg(name).Pos, "", "epsilon %g is below 8.0e-6", e)
		}
	}
}

func checkInverse(c *check, s *ops.Node) {
	x, e := c.spanIn(s, "x"), setting(s, "epsilon")
	if e >= 0.9e-4 && !(x.lo > 0.01 || x.hi < -0.01) {
		c.note(s.Op.Pos, "", "inverse adds %g", e)
	}
}

func checkDomain(c *check, s *ops.Node) {
	x, e := c.spanIn(s, "x"), 0.0
	if s.Op.Kind != "sqrt" {
		e, _ = number(s.Value("epsilon"))
	}
	if x.lo+e < 0 || s.Op.Kind != "sqrt" && x.lo+e <= 0 {
		c.warn(s.Op.Pos, "", "%s of values from %g", s.Op.Kind, x.lo)
	}
}

func checkSoftplus(c *check, s *ops.Node) {
	x := c.spanIn(s, "x")
	if s.Op.Kind == "reduce_log_sum_exp" {
		rules := numerics.M4.Rules() // one table of exp for all chips
		one, _ := rules.Unary("exp", fp16.FromFloat64(x.hi), 0)
		if k := foldedElements(s); x.known() && k*float64(rules.Value(one)) > 65536 {
			c.source = "measured for 32 elements: right at 7.6289, 0 at 7.6328"
			c.warn(s.Op.Pos, "subtract the maximum first, and add it to the result",
				"%s of %g values up to %g: 0 once the exponentials add up to more than 65536", s.Op.Kind, k, x.hi)
		}
		return
	}
	if end := c.spec.SoftplusEnd; x.hi >= end.Value {
		c.source = end.Source + ": " + end.Degree.String()
		c.warn(s.Op.Pos, "", "softplus of values up to %g: 0 from %g", x.hi, end.Value)
	}
}

// checkTables also tells which operators the chip modes of run do not compute as the chip does.
func checkTables(c *check) {
	told := map[string]bool{}
	left := func(op string) bool {
		return slices.ContainsFunc(c.chips, func(on chip.Chip) bool {
			m, err := numerics.Of(on)
			return err == nil && m.Rules().Leaves(op)
		})
	}
	c.each(func(s *ops.Node) {
		op := s.Op.Kind
		if s.Def == nil || told[op] || !runs(s) {
			return
		}
		told[op] = true
		const exact = "run --numerics computes it exactly"
		switch left := left(op); {
		case s.Def.Error != "" && left:
			c.note(s.Op.Pos, "", "%s is a table: off by up to %s; %s", op, s.Def.Error, exact)
		case s.Def.Error != "":
			c.note(s.Op.Pos, "", "%s is a table: off by up to %s", op, s.Def.Error)
		case left:
			c.source = "no source has its tables or steps"
			c.note(s.Op.Pos, "", "%s: how the chip computes it is not published; %s", op, exact)
		}
	})
}

func checkGeluModes(c *check, s *ops.Node) {
	if s.Word("mode") == "TANH_APPROXIMATION" {
		c.note(s.Op.Pos, "", "gelu with TANH_APPROXIMATION is EXACT here")
	}
}

// offsetSlice reports whether a statement takes elements of the last axis from after its start.
func offsetSlice(s *ops.Node) bool {
	x := s.Value("x")
	if x == nil || len(x.Shape) == 0 {
		return false
	}
	switch s.Op.Kind {
	case "slice_by_index":
		m := s.Value("begin_mask")
		if m != nil && m.DType == mil.Bool && len(m.Data) == len(x.Shape) && m.Data[len(m.Data)-1] == 1 {
			return false
		}
	case "slice_by_size":
	case "split":
		axis := s.Int("axis", 0)
		return axis == len(x.Shape)-1 || axis == -1
	default:
		return false
	}
	begin, ok := s.Ints("begin")
	return ok && len(begin) == len(x.Shape) && begin[len(begin)-1] != 0
}

func checkSlice(c *check, s *ops.Node) {
	if c.spec.ExactSlice.Value || !offsetSlice(s) {
		return
	}
	switch x := c.spanIn(s, "x"); {
	case x.most() > 4094:
		c.error(s.Op.Pos, "", "%s of values up to %g: above 4094 they become infinite", s.Op.Kind, x.most())
	case !x.known():
		c.warn(s.Op.Pos, "", "%s: values above 4094 become infinite", s.Op.Kind)
	}
}

func checkShuffle(c *check, s *ops.Node) {
	n := 0
	for _, v := range s.Operands() {
		if v.Made != nil && offsetSlice(v.Made) {
			n++
		}
	}
	if n > 1 && !c.spec.ExactSlice.Value {
		c.warn(s.Op.Pos, "", "concat of %d slices of the last axis", n)
	}
}

func checkRound(c *check, s *ops.Node) {
	switch x := c.spanIn(s, "x"); {
	case x.has(1024, 2047) || x.has(-2047, -1024):
		c.warn(s.Op.Pos, "", "round of values from %g to %g", x.lo, x.hi)
	case !x.known():
		c.note(s.Op.Pos, "", "round of values from 1024 to 2047 is off by one")
	}
}
