package lint

import (
	"fmt"
	"math"
	"slices"

	"github.com/anekit/anekit/ane/mil"
	"github.com/anekit/anekit/internal/ops"
)

// Limits of numbers.
const (
	register = 32768.0 // sums of products of this magnitude become infinite
	largest  = 65520.0 // fp16 rounds this magnitude to infinity
)

// event is what the analysis of ranges found for a rule.
type event struct {
	rule     string
	severity Severity
	pos      mil.Pos
	message  string
}

func (fn *function) event(rule string, s Severity, pos mil.Pos, format string, args ...any) {
	fn.events = append(fn.events, event{rule: rule, severity: s, pos: pos, message: fmt.Sprintf(format, args...)})
}

// reports returns the check of a rule that the analysis of ranges decides.
func reports(rule string) func(c *check) {
	return func(c *check) {
		for _, f := range c.funcs {
			for _, e := range f.events {
				if e.rule == rule {
					c.report(e.severity, e.pos, "", "%s", e.message)
				}
			}
		}
	}
}

// ranges computes the span of every value, in the order of the statements.
func (r *run) ranges(f *function) {
	for _, v := range f.inputs {
		if given, ok := r.Ranges[v.name]; ok {
			v.span = between(given.Low, given.High)
		} else if v.dtype == mil.Bool {
			v.span = between(0, 1)
		}
	}
	for _, s := range f.stmts {
		if s.Kind == "const" {
			if v := s.result(); v != nil && v.lit != nil {
				v.span = spanOf(r.files.elements(v))
			}
			continue
		}
		for _, a := range s.args {
			for _, v := range a.values {
				if v.lit != nil && v.made == nil && !v.span.ok {
					v.span = spanOf(r.files.elements(v))
				}
			}
		}
		r.spread(f, s)
	}
}

// spread computes the spans of the results of a statement, and records overflow.
func (r *run) spread(f *function, s *stmt) {
	out := s.result()
	if out == nil {
		return
	}
	got := r.spanAfter(f, s)
	if got.ok && out.dtype == mil.FP16 && got.most() >= largest && !s.constexpr() {
		f.event("fp16-overflow", Warning, s.Pos, "%s may reach %.6g, beyond 65504", s.Kind, got.most())
		got = span{} // what follows would only repeat it
	}
	for _, v := range s.out {
		v.span = got
	}
	out.summed = s.Kind == "softmax" && len(out.shape) > 0 &&
		(s.integer("axis", -1) == -1 || s.integer("axis", -1) == len(out.shape)-1)
}

// in returns the span of an argument.
func (s *stmt) spanIn(name string) span {
	if v := s.in(name); v != nil {
		return v.span
	}
	return span{}
}

// alpha returns a number setting.
func (s *stmt) alpha(name string, def float64) float64 {
	if f, ok := s.in(name).number(); ok {
		return f
	}
	return def
}

// spanAfter returns the span of the results of a statement.
func (r *run) spanAfter(f *function, s *stmt) span {
	x, y := s.spanIn("x"), s.spanIn("y")
	if s.family() == ops.Reductions {
		return reduced(s, x)
	}
	switch s.Kind {
	case "conv", "conv_transpose", "linear", "matmul":
		return r.product(f, s)
	case "scaled_dot_product_attention":
		return s.spanIn("value")
	case "add":
		return x.plus(y)
	case "sub":
		return x.minus(y)
	case "mul":
		if v := s.in("x"); v != nil && v == s.in("y") {
			return x.square()
		}
		return x.times(y)
	case "real_div", "floor_div":
		return x.over(y)
	case "maximum":
		if x.ok && y.ok {
			return between(max(x.lo, y.lo), max(x.hi, y.hi))
		}
		return span{}
	case "minimum":
		if x.ok && y.ok {
			return between(min(x.lo, y.lo), min(x.hi, y.hi))
		}
		return span{}
	case "pow":
		return power(x, s)
	case "select":
		return s.spanIn("a").join(s.spanIn("b"))
	case "concat", "stack":
		return joined(s)
	case "clip":
		return x.within(s.alpha("alpha", math.Inf(-1)), s.alpha("beta", math.Inf(1)))
	case "quantize", "dequantize", "cast":
		if s.Kind == "cast" {
			return x
		}
		return span{}
	case "slice_update":
		return x.join(s.spanIn("update"))
	case "space_to_batch":
		return x.join(between(0, 0))
	case "max_pool", "avg_pool":
		return x
	case "pad":
		return x.join(between(s.alpha("constant_val", 0), s.alpha("constant_val", 0)))
	}
	if s.moves() {
		return x
	}
	return elementwise(s, x)
}

// joined returns the span of the operands of a list.
func joined(s *stmt) (all span) {
	a := s.arg("values")
	if a == nil {
		return span{}
	}
	for i, v := range a.values {
		if i == 0 {
			all = v.span
		}
		all = all.join(v.span)
	}
	return all
}

func power(x span, s *stmt) span {
	e, ok := s.in("y").number()
	switch {
	case !ok || !x.ok:
		return span{}
	case e == 2:
		return x.square()
	case x.lo > 0:
		a, b := math.Pow(x.lo, e), math.Pow(x.hi, e)
		return between(min(a, b), max(a, b))
	}
	return span{}
}

// folded returns how many elements a reduction adds to one.
func foldedElements(s *stmt) float64 {
	v, out := s.in("x"), s.result()
	if v == nil || out == nil || out.elements() == 0 {
		return 0
	}
	return float64(v.elements()) / float64(out.elements())
}

func reduced(s *stmt, x span) span {
	n := foldedElements(s)
	if !x.ok || n < 1 {
		return span{}
	}
	switch s.Kind {
	case "reduce_sum":
		return between(min(x.lo*n, x.lo), max(x.hi*n, x.hi))
	case "reduce_l1_norm":
		return between(0, x.most()*n)
	case "reduce_sum_square":
		return between(0, x.most()*x.most()*n)
	case "reduce_l2_norm":
		return between(0, x.most()*math.Sqrt(n))
	case "reduce_max", "reduce_min", "reduce_mean":
		return x
	}
	return span{}
}

func logistic(x float64) float64 { return 1 / (1 + math.Exp(-x)) }

func relu(x float64) float64 { return max(x, 0) }

// elementwise returns the span of a function of single elements.
func elementwise(s *stmt, x span) span {
	switch s.Kind {
	case "relu":
		return x.monotone(relu)
	case "relu6":
		return x.within(0, 6)
	case "sigmoid":
		return x.within(-100, 100).monotone(logistic)
	case "sigmoid_hard", "softmax", "equal", "not_equal", "greater", "greater_equal", "less", "less_equal",
		"logical_not":
		return between(0, 1)
	case "tanh", "erf", "softsign", "sin", "cos", "sign":
		return between(-1, 1)
	case "atan":
		return between(-math.Pi/2, math.Pi/2)
	case "silu", "gelu":
		if !x.ok {
			return span{}
		}
		return between(-0.28, max(x.hi, 0))
	case "abs":
		return x.abs()
	case "square":
		return x.square()
	case "exp":
		return x.monotone(math.Exp)
	case "exp2":
		return x.monotone(math.Exp2)
	case "sqrt":
		return x.within(0, math.Inf(1)).monotone(func(f float64) float64 { return math.Sqrt(f) })
	case "round", "floor", "ceil":
		if !x.ok {
			return span{}
		}
		return between(math.Floor(x.lo), math.Ceil(x.hi))
	case "rsqrt":
		if e := s.alpha("epsilon", 1e-12); x.ok && x.lo+e > 0 {
			return between(1/math.Sqrt(x.hi+e), 1/math.Sqrt(x.lo+e))
		}
	case "inverse":
		return between(1, 1).over(x.plus(between(s.alpha("epsilon", 1e-4), s.alpha("epsilon", 1e-4))))
	case "log":
		if e := s.alpha("epsilon", 1e-45); x.ok && x.lo+e > 0 {
			return between(math.Log(x.lo+e), math.Log(x.hi+e))
		}
	case "leaky_relu":
		a := s.alpha("alpha", 0)
		return x.monotone(relu).join(x.within(math.Inf(-1), 0).times(between(a, a)))
	case "layer_norm":
		if v := s.in("x"); v != nil && s.in("gamma") == nil && s.in("beta") == nil && v.elements() > 0 {
			return between(-math.Sqrt(float64(v.elements())), math.Sqrt(float64(v.elements())))
		}
	}
	return span{}
}

// product returns the span of a sum of products, and records overflow of the register and products that vanish.
func (r *run) product(f *function, s *stmt) span {
	x, right := s.in("x"), s.in("y")
	if s.Kind != "matmul" {
		right = s.in("weight")
	}
	k := inner(s)
	if s.Kind == "conv_transpose" && right != nil {
		k = right.elements() / max(1, last(right.shape[min(1, len(right.shape)):], 1))
	}
	if x == nil || right == nil || !x.span.ok || k == 0 {
		return span{}
	}
	list := r.files.elements(right)
	w := right.span
	if !w.ok && right.made != nil && right.made.constexpr() {
		return span{}
	}
	if !w.ok {
		return span{}
	}
	sum := x.span.most() * w.most() * float64(k)
	if rows := rowSum(s, right, list, k); rows >= 0 {
		sum = x.span.most() * rows
	}
	if s.Kind == "matmul" && x.summed && !s.flag("transpose_x") {
		sum = w.most()
	}
	r.vanishing(f, s, x.span, w, list)
	bias := s.spanIn("bias")
	if bias.ok {
		sum += bias.most()
	}
	if k > 1 && sum >= register {
		f.event("accumulator-overflow", Warning, s.Pos, "%s may sum up to %.6g; from 32768 the result is infinite, on an M3 Ultra 0",
			s.Kind,
			sum)
		return span{}
	}
	lo := -sum
	if x.span.lo >= 0 && w.lo >= 0 && (!bias.ok || bias.lo >= 0) {
		lo = 0
	}
	return between(lo, sum)
}

// last returns the first element of a list, or def.
func last(list []int, def int) int {
	if len(list) == 0 {
		return def
	}
	return list[0]
}

// rowSum returns the largest sum of magnitudes that one output of a product multiplies; -1 if it is not known.
func rowSum(s *stmt, w *value, list []float64, k int) float64 {
	if list == nil || k < 1 || len(list)%k != 0 {
		return -1
	}
	most := 0.0
	switch {
	case s.Kind == "conv", s.Kind == "linear", s.Kind == "matmul" && s.flag("transpose_y"):
		for i := 0; i < len(list); i += k {
			sum := 0.0
			for _, f := range list[i : i+k] {
				sum += math.Abs(f)
			}
			most = max(most, sum)
		}
	case s.Kind == "matmul" && len(w.shape) >= 2:
		n := w.shape[len(w.shape)-1]
		for base := 0; base+k*n <= len(list); base += k * n {
			sums := make([]float64, n)
			for i, f := range list[base : base+k*n] {
				sums[i%n] += math.Abs(f)
			}
			most = max(most, slices.Max(sums))
		}
	default:
		return -1
	}
	return most
}

// exponent returns the exponent that the engine decodes: that of 2^-14 for subnormal numbers.
func exponent(f float64) int {
	if f == 0 {
		return -1000
	}
	_, e := math.Frexp(math.Abs(f))
	return max(e-1, -14)
}

// vanishing records products that the exponent rule drops.
func (r *run) vanishing(f *function, s *stmt, x, w span, list []float64) {
	if x.most() == 0 || w.most() == 0 {
		return
	}
	at := exponent(x.most())
	if at+exponent(w.most()) <= -17 {
		f.event("vanishing-products", Warning, s.Pos, "every product of %s is 0: magnitudes up to %.3g times %.3g",
			s.Kind,
			x.most(), w.most())
		return
	}
	gone, all := 0, 0
	for _, v := range list {
		if v != 0 {
			all++
			if at+exponent(v) <= -17 {
				gone++
			}
		}
	}
	if all > 0 && gone*2 > all {
		f.event("vanishing-products", Warning, s.Pos, "%d %% of the products of %s are 0: the weights are too "+
			"small for "+
			"inputs "+
			"up to %.3g", gone*100/all, s.Kind, x.most())
	}
}
