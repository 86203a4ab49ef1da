package lint

import (
	"math"
	"slices"

	"github.com/anekit/anekit/ane/chip"
	"github.com/anekit/anekit/ane/mil"
	"github.com/anekit/anekit/internal/ops"
)

// numberRules are about what the engine computes differently.
func numberRules() []Rule {
	return []Rule{
		{ID: "accumulator-overflow", Severity: Warning, Title: "A sum of products can reach 32768.",
			Reason: "The register of products ends there: the result is infinite, even if later products bring " +
				"the sum back; on an M3 Ultra it is 0.",
			Fix:    "scale the weights or the input down, and the result up again",
			Source: "study 8.2, on M4 and M6 (M); guide, on M1 (M); forge, on M5 (M)",
			check:  reports("accumulator-overflow")},
		{ID: "vanishing-products", Severity: Warning, Title: "Products are too small for the register.",
			Reason: "A product whose exponents add up to -17 or less is dropped.",
			Fix:    "scale the weights up, and the result down",
			Source: "study 8.2, on M4 and M6 (M)", check: reports("vanishing-products")},
		{ID: "fp16-overflow", Severity: Warning, Title: "A value can leave the range of fp16.",
			Reason: "Values beyond 65504 become infinite.", Fix: "scale it down", Source: "study 8, guide (M)",
			check: reports("fp16-overflow")},
		{ID: "literal-range", Severity: Warning, Title: "A number does not fit its type.",
			Reason: "It becomes infinite, or 0.", Fix: "write a number that the type holds: up to 65504 for fp16",
			Source: "IEEE 754 (D)", check: checkLiterals},
		{ID: "nan-number", Severity: Warning, Title: "A constant is infinite or not a number.",
			Reason: "The engine decodes the exponent of infinity as a number: inf is 65536, NaN 98304, and inf - " +
				"inf is 0.",
			Fix: "write -10000 in masks", Source: "study 8, on M6 (M)", check: checkNaN},
		{ID: "small-epsilon", Severity: Warning, Title: "An epsilon is below 8.0e-6.",
			Reason: "It is subnormal in fp16, or 0, and the division by it overflows.",
			Fix:    "use 0x1.0cp-17 or more; 1e-3 is safer for mean squares", Source: "libane, ironmill (M)",
			check: checkEpsilon},
		{ID: "inverse-epsilon", Severity: Note, Title: "inverse adds 1e-4 or more.",
			Reason: "The result is wrong by 1 % for inputs of 0.01.", Fix: "use real_div", Source: "study 8, on M6 (M)",
			check: checkInverse},
		{ID: "domain", Severity: Warning, Title: "log, sqrt or rsqrt of values that can be 0 or less.",
			Reason: "No NaN leaves the engine: the root of a negative number is 0, log(0) is -45440.",
			Fix:    "clip the input", Source: "guide (M)", check: checkDomain},
		{ID: "softplus-zero", Severity: Warning, Title: "softplus of values from 11.09.",
			Reason: "It is computed as log(1 + exp(x)), and gives 0 there.", Fix: "clip the input, or use relu",
			Source: "forge, on M5 (M)", check: checkSoftplus},
		{ID: "table-error", Severity: Note, Title: "A function is read from a table of 33 knots.",
			Reason: "Between the knots it is linear, so that it differs from the function by more than rounding.",
			Fix:    "compare within the stated error", Source: "study 8, on M6 (M)", check: checkTables},
		{ID: "gelu-modes", Severity: Note, each: true, Title: "gelu names TANH_APPROXIMATION.",
			Reason: "M6 computes EXACT and TANH_APPROXIMATION from one table, bit for bit alike.", Fix: "name EXACT",
			Source: "study 8, on M6 (M)", check: checkGeluModes},
		{ID: "slice-scale", Severity: Error, each: true, Title: "A slice of the last axis starts after 0 on M1 or M2.",
			Reason: "The elements are scaled by 16 on the way: magnitudes above 4094 become infinite.",
			Fix:    "slice another axis, or scale the values down", Source: "guide, on M1 and M2 (M)",
			check: checkSlice},
		{ID: "slice-shuffle", Severity: Warning, each: true, Title: "concat of two slices of the last axis on M1 " +
			"or M2.",
			Reason: "The elements may be shuffled.", Fix: "slice another axis", Source: "guide, on M1 and M2 (M)",
			check: checkShuffle},
		{ID: "round-offset", Severity: Warning, each: true, Title: "round of values from 1024 to 2047 on M5.",
			Reason: "The result is off by one: 0.5 is added in fp16.", Fix: "keep magnitudes below 1024",
			Source: "forge, on M5 (M)",
			check:  checkRound},
	}
}

// constants visits the constants with elements in the text: those of statements and those within arguments.
func (r *run) constants(visit func(pos mil.Pos, v *value)) {
	for _, f := range r.funcs {
		for _, s := range f.stmts {
			if s.Kind == "const" {
				if v := s.result(); v != nil && v.lit != nil && v.lit.Blob() == nil {
					visit(v.lit.Pos, v)
				}
				continue
			}
			for _, a := range s.args {
				for _, v := range a.values {
					if v.made == nil && v.lit != nil && v.lit.Blob() == nil {
						visit(a.source.Start(), v)
					}
				}
			}
		}
	}
}

func checkLiterals(c *check) {
	c.constants(func(pos mil.Pos, v *value) {
		if v.dtype != mil.FP16 {
			return
		}
		for _, f := range literal(v) {
			switch m := math.Abs(f); {
			case math.IsInf(f, 0) || math.IsNaN(f):
			case m >= largest:
				c.warn(pos, "", "fp16(%g) becomes infinite", f)
				return
			case m > 0 && m <= 0x1p-25:
				c.warn(pos, "use a number of at least 6e-8", "fp16(%g) becomes 0", f)
				return
			}
		}
	})
}

func checkNaN(c *check) {
	c.constants(func(pos mil.Pos, v *value) {
		if v.dtype.Float() && slices.ContainsFunc(literal(v), func(f float64) bool {
			return math.IsInf(f, 0) ||
				math.IsNaN(f)
		}) {
			c.warn(pos, "", "a constant is infinite or not a number")
		}
	})
}

// leastEpsilon is the smallest epsilon that projects found safe.
const leastEpsilon = 0x1.0cp-17

func checkEpsilon(c *check) {
	c.each(func(_ *function, s *stmt) {
		if e, ok := s.in("epsilon").number(); ok && e < leastEpsilon && s.Kind != "log" {
			c.warn(s.arg("epsilon").pos, "", "%s: epsilon %g is below 8.0e-6", s.Kind, e)
			return
		}
		if s.Kind != "add" || s.result() == nil {
			return
		}
		divides := slices.ContainsFunc(s.result().users, func(u *stmt) bool {
			e, _ := u.in("y").number()
			return u.Kind == "rsqrt" || u.Kind == "inverse" || u.Kind == "log" || u.Kind == "pow" && e < 0 ||
				u.Kind == "real_div" && u.in("y") == s.result()
		})
		for _, name := range []string{"x", "y"} {
			if e, ok := s.in(name).number(); ok && divides && e > 0 && e < leastEpsilon {
				c.warn(s.arg(name).pos, "", "epsilon %g is below 8.0e-6", e)
			}
		}
	})
}

func checkInverse(c *check) {
	c.kinds(func(s *stmt) {
		x := s.spanIn("x")
		if s.alpha("epsilon", 1e-4) >= 0.9e-4 && !(x.ok && (x.lo > 0.01 || x.hi < -0.01)) {
			c.note(s.Pos, "", "inverse adds %g", s.alpha("epsilon", 1e-4))
		}
	}, "inverse")
}

func checkDomain(c *check) {
	c.kinds(func(s *stmt) {
		x, e := s.spanIn("x"), 0.0
		if s.Kind != "sqrt" {
			e, _ = s.in("epsilon").number()
		}
		if x.ok && (x.lo+e < 0 || s.Kind != "sqrt" && x.lo+e <= 0) {
			c.warn(s.Pos, "", "%s of values from %g", s.Kind, x.lo)
		}
	}, "log", "sqrt", "rsqrt")
}

func checkSoftplus(c *check) {
	c.kinds(func(s *stmt) {
		if x := s.spanIn("x"); x.ok && x.hi >= 11.09 {
			c.warn(s.Pos, "", "softplus of values up to %g", x.hi)
		}
	}, "softplus")
}

func checkTables(c *check) {
	told := map[string]bool{}
	c.each(func(_ *function, s *stmt) {
		if d := ops.Lookup(s.Kind); d != nil && d.Error != "" && !told[s.Kind] {
			told[s.Kind] = true
			c.note(s.Pos, "", "%s is a table: off by up to %s", s.Kind, d.Error)
		}
	})
}

func checkGeluModes(c *check) {
	if !c.on(chip.M6) {
		return
	}
	c.kinds(func(s *stmt) {
		if s.word("mode") == "TANH_APPROXIMATION" {
			c.note(s.Pos, "", "gelu with TANH_APPROXIMATION is EXACT here")
		}
	}, "gelu")
}

// offsetSlice reports whether a statement takes elements of the last axis from after its start.
func offsetSlice(s *stmt) bool {
	x := s.in("x")
	if x == nil || len(x.shape) == 0 {
		return false
	}
	switch s.Kind {
	case "slice_by_index":
		if m := s.in("begin_mask"); m != nil && m.lit != nil && m.dtype == mil.Bool {
			if list, err := m.lit.Bools(); err == nil && len(list) == len(x.shape) && list[len(list)-1] {
				return false
			}
		}
	case "slice_by_size":
	case "split":
		axis := s.integer("axis", 0)
		return axis == len(x.shape)-1 || axis == -1
	default:
		return false
	}
	begin, ok := s.ints("begin")
	return ok && len(begin) == len(x.shape) && begin[len(begin)-1] != 0
}

func checkSlice(c *check) {
	if c.spec.ExactSlice.Value {
		return
	}
	c.kinds(func(s *stmt) {
		if !offsetSlice(s) {
			return
		}
		switch x := s.spanIn("x"); {
		case x.ok && x.most() > 4094:
			c.error(s.Pos, "", "%s of values up to %g: above 4094 they become infinite", s.Kind, x.most())
		case !x.ok:
			c.warn(s.Pos, "", "%s: values above 4094 become infinite", s.Kind)
		}
	}, "slice_by_index", "slice_by_size", "split")
}

func checkShuffle(c *check) {
	if c.spec.ExactSlice.Value {
		return
	}
	c.kinds(func(s *stmt) {
		n := 0
		for _, v := range s.tensors() {
			if v.made != nil && offsetSlice(v.made) {
				n++
			}
		}
		if n > 1 {
			c.warn(s.Pos, "", "concat of %d slices of the last axis", n)
		}
	}, "concat")
}

func checkRound(c *check) {
	if !c.on(chip.M5) {
		return
	}
	c.kinds(func(s *stmt) {
		switch x := s.spanIn("x"); {
		case x.ok && !x.has(1024, 2047) && !x.has(-2047, -1024):
		case x.ok:
			c.warn(s.Pos, "", "round of values from %g to %g", x.lo, x.hi)
		default:
			c.note(s.Pos, "", "round of values from 1024 to 2047 is off by one")
		}
	}, "round")
}
