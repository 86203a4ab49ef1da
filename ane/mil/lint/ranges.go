package lint

import (
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

// event reports what the analysis of ranges finds for a rule.
func (r *run) event(rule string, pos mil.Pos, format string, args ...any) {
	for _, compiler := range r.Compilers {
		c := &check{run: r, rule: byID(rule), compiler: compiler, chips: r.Chips}
		if r.wants(c.rule, compiler) {
			c.warn(pos, "", format, args...)
		}
	}
}

// ranges computes the span of every value, in the order of the statements.
func (r *run) ranges() {
	for _, f := range r.funcs {
		for _, v := range f.Parameters {
			if given, ok := r.Ranges[v.Name]; ok {
				r.spans[v] = between(given.Low, given.High)
			}
		}
	}
	r.each(r.spread)
}

// spread computes the spans of the results of a statement, and records overflow.
func (r *run) spread(n *ops.Node) {
	out := result(n)
	if out == nil {
		return
	}
	got := r.spanAfter(n)
	if out.DType == mil.FP16 && got.most() >= largest && family(n) != ops.Constexprs {
		r.event("fp16-overflow", n.Op.Pos, "%s may reach %.6g, beyond 65504", n.Op.Kind, got.most())
		got = unknown // what follows would only repeat it
	}
	for _, v := range n.Out {
		r.spans[v] = got
	}
}

// summed reports whether the rows of a value along the last axis add up to at most 1.
func summed(v *ops.Value) bool {
	if !madeBy(v, "softmax") || v.Rank() == 0 {
		return false
	}
	axis := v.Made.Int("axis", -1)
	return axis == -1 || axis == v.Rank()-1
}

func (r *run) span(v *ops.Value) span {
	if v == nil {
		return unknown
	}
	s, known := r.spans[v]
	if !known {
		if s = unknown; v.Literal != nil {
			s = spanOf(r.elements(v))
		}
		r.spans[v] = s
	}
	if v.DType == mil.Bool {
		return s.within(0, 1)
	}
	return s
}

func (r *run) spanIn(n *ops.Node, name string) span { return r.span(n.Value(name)) }

// bounded has the spans of functions whatever their operands are.
var bounded = map[string]span{
	"sigmoid_hard": {0, 1}, "softmax": {0, 1}, "atan": {-math.Pi / 2, math.Pi / 2},
	"tanh": {-1, 1}, "erf": {-1, 1}, "softsign": {-1, 1}, "sin": {-1, 1}, "cos": {-1, 1}, "sign": {-1, 1},
}

// spanAfter returns the span of the results of a statement.
func (r *run) spanAfter(n *ops.Node) span {
	x, y := r.spanIn(n, "x"), r.spanIn(n, "y")
	if s, ok := bounded[n.Op.Kind]; ok {
		return s
	}
	if family(n) == ops.Reductions {
		return reduced(n, x)
	}
	switch n.Op.Kind {
	case "conv", "conv_transpose", "linear", "matmul":
		return r.product(n)
	case "scaled_dot_product_attention":
		return r.spanIn(n, "value")
	case "add":
		return x.plus(y)
	case "sub":
		return x.minus(y)
	case "mul":
		if v := n.Value("x"); v != nil && v == n.Value("y") {
			return x.square()
		}
		return x.times(y)
	case "real_div", "floor_div":
		return x.over(y)
	case "maximum":
		return between(max(x.lo, y.lo), max(x.hi, y.hi))
	case "minimum":
		return between(min(x.lo, y.lo), min(x.hi, y.hi))
	case "pow":
		return power(x, n)
	case "select":
		return r.spanIn(n, "a").join(r.spanIn(n, "b"))
	case "concat", "stack":
		return r.joined(n)
	case "clip":
		return x.within(setting(n, "alpha"), setting(n, "beta"))
	case "slice_update":
		return x.join(r.spanIn(n, "update"))
	case "space_to_batch":
		return x.join(between(0, 0))
	case "pad":
		border := setting(n, "constant_val")
		return x.join(between(border, border))
	case "max_pool", "avg_pool":
		return x
	}
	if moves(n) {
		return x
	}
	return elementwise(n, x)
}

// joined returns the span of the operands of a list.
func (r *run) joined(n *ops.Node) span {
	all := unknown
	for i, v := range n.List("values") {
		s := r.span(v)
		if i > 0 {
			s = s.join(all)
		}
		all = s
	}
	return all
}

func power(x span, n *ops.Node) span {
	e, ok := number(n.Value("y"))
	switch {
	case ok && e == 2:
		return x.square()
	case ok && x.lo > 0:
		a, b := math.Pow(x.lo, e), math.Pow(x.hi, e)
		return between(min(a, b), max(a, b))
	}
	return unknown
}

// foldedElements returns how many elements a reduction adds to one.
func foldedElements(n *ops.Node) float64 {
	v, out := n.Value("x"), result(n)
	if v == nil || out == nil || v.Open || out.Open || out.Elements() == 0 {
		return 0
	}
	return float64(v.Elements()) / float64(out.Elements())
}

func reduced(n *ops.Node, x span) span {
	k := foldedElements(n)
	if k < 1 {
		return unknown
	}
	switch n.Op.Kind {
	case "reduce_sum":
		return between(min(x.lo*k, x.lo), max(x.hi*k, x.hi))
	case "reduce_l1_norm":
		return between(0, x.most()*k)
	case "reduce_sum_square":
		return between(0, x.most()*x.most()*k)
	case "reduce_l2_norm":
		return between(0, x.most()*math.Sqrt(k))
	case "reduce_max", "reduce_min", "reduce_mean":
		return x
	}
	return unknown
}

func logistic(x float64) float64 { return 1 / (1 + math.Exp(-x)) }

func relu(x float64) float64 { return max(x, 0) }

// elementwise returns the span of a function of single elements.
func elementwise(n *ops.Node, x span) span {
	switch n.Op.Kind {
	case "relu":
		return x.monotone(relu)
	case "relu6":
		return x.within(0, 6)
	case "sigmoid":
		return x.within(-100, 100).monotone(logistic)
	case "silu", "gelu":
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
		return x.monotone(relu).monotone(math.Sqrt)
	case "round", "floor", "ceil":
		return between(math.Floor(x.lo), math.Ceil(x.hi))
	case "rsqrt":
		if e := setting(n, "epsilon"); x.lo+e > 0 {
			return between(1/math.Sqrt(x.hi+e), 1/math.Sqrt(x.lo+e))
		}
	case "inverse":
		e := setting(n, "epsilon")
		return between(1, 1).over(x.plus(between(e, e)))
	case "log":
		if e := setting(n, "epsilon"); x.lo+e > 0 {
			return between(math.Log(x.lo+e), math.Log(x.hi+e))
		}
	case "leaky_relu":
		a := setting(n, "alpha")
		return x.monotone(relu).join(x.within(math.Inf(-1), 0).times(between(a, a)))
	case "layer_norm":
		if v := n.Value("x"); v != nil && !v.Open && n.Value("gamma") == nil && n.Value("beta") == nil {
			most := math.Sqrt(float64(v.Elements()))
			return between(-most, most)
		}
	}
	return unknown
}

// product returns the span of a sum of products, and records overflow of the register and products that vanish.
func (r *run) product(n *ops.Node) span {
	x, right := n.Value("x"), n.Value("y")
	if n.Op.Kind != "matmul" {
		right = n.Value("weight")
	}
	k := n.Inner()
	if n.Op.Kind == "conv_transpose" && right != nil {
		if k = right.Elements(); right.Rank() > 1 {
			k /= max(1, right.Shape[1])
		}
	}
	xs, w := r.span(x), r.span(right)
	if !xs.known() || !w.known() || k == 0 {
		return unknown
	}
	list := r.elements(right)
	sum := xs.most() * w.most() * float64(k)
	if rows := rowSum(n, right, list, k); rows >= 0 {
		sum = xs.most() * rows
	}
	if n.Op.Kind == "matmul" && summed(x) && !n.Flag("transpose_x") {
		sum = w.most()
	}
	if !runs(n) { // compiling computes it, without the register
		return between(-sum, sum)
	}
	r.vanishing(n, xs, w, list)
	bias := r.spanIn(n, "bias")
	if bias.known() {
		sum += bias.most()
	}
	if k > 1 && sum >= register {
		r.event("accumulator-overflow", n.Op.Pos, "%s may sum up to %.6g; from 32768 the result is "+
			"infinite, on an M3 Ultra 0", n.Op.Kind, sum)
		return unknown
	}
	lo := -sum
	if xs.lo >= 0 && w.lo >= 0 && !(bias.lo < 0) {
		lo = 0
	}
	return between(lo, sum)
}

// rowSum returns the largest sum of magnitudes that one output of a product multiplies; -1 if it is not known.
func rowSum(n *ops.Node, w *ops.Value, list []float64, k int) float64 {
	apart := 1 // elements of a row are that far apart
	switch {
	case list == nil || k < 1 || len(list)%k != 0, n.Op.Kind == "conv_transpose":
		return -1
	case n.Op.Kind == "matmul" && !n.Flag("transpose_y"):
		if len(w.Shape) < 2 {
			return -1
		}
		apart = w.Shape[len(w.Shape)-1]
	}
	most, sums := 0.0, make([]float64, apart)
	for ; len(list) >= k*apart; list = list[k*apart:] {
		clear(sums)
		for i := 0; i < k*apart; i += apart {
			for row, f := range list[i : i+apart] {
				sums[row] += math.Abs(f)
			}
		}
		most = max(most, slices.Max(sums))
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
func (r *run) vanishing(n *ops.Node, x, w span, list []float64) {
	if x.most() == 0 || w.most() == 0 {
		return
	}
	at := exponent(x.most())
	if at+exponent(w.most()) <= -17 {
		r.event("vanishing-products", n.Op.Pos, "every product of %s is 0: magnitudes up to %.3g times %.3g",
			n.Op.Kind, x.most(), w.most())
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
		r.event("vanishing-products", n.Op.Pos, "%d %% of the products of %s are 0: the weights are too small "+
			"for inputs up to %.3g", gone*100/all, n.Op.Kind, x.most())
	}
}
