package ops

import (
	"fmt"
	"slices"
	"strings"

	"github.com/anekit/anekit/ane/mil"
	"github.com/anekit/anekit/internal/element"
	"github.com/anekit/anekit/internal/near"
)

// Call is one operation while its rule checks it. Getters of settings return the
// default when the argument is absent, and record a fault when it does not fit. After
// the first fault the result of the rule is ignored: the rule may continue, but must
// not use the arguments as indexes.
type Call struct {
	def    *Def
	op     *mil.Op
	args   map[string]argument
	out    []*Value // the rule fills in the types
	attrs  any
	faults mil.ErrorList
	notes  []string
	open   bool // the results are not declared: the rule decides their number
}

// argument is a resolved operand.
type argument struct {
	pos    mil.Pos
	values []*Value
	listed bool // written in parentheses
}

// fail records a fault at the argument called name, or at the operator when name
// is empty or absent.
func (c *Call) fail(name, hint, format string, args ...any) {
	pos := c.op.Pos
	if a, ok := c.args[name]; ok {
		pos = a.pos
	}
	msg := c.def.Name + ": "
	if name != "" {
		msg += name + ": "
	}
	c.faults.Add(&mil.Error{Pos: pos, Msg: msg + fmt.Sprintf(format, args...), Hint: hint})
}

// failed reports whether the call has a fault.
func (c *Call) failed() bool { return len(c.faults) > 0 }

// suits checks the operand of an argument against its parameter p.
func (c *Call) suits(p *Param) {
	a := c.args[p.Name]
	switch {
	case p.Variadic != a.listed:
		how := "a single value"
		if p.Variadic {
			how = "a list (a, b)"
		}
		c.fail(p.Name, "see "+c.def.signature(), "takes %s", how)
	case p.State && !a.values[0].State:
		c.fail(p.Name, "declare a parameter state<tensor<fp16, [..]>> and name it here", "has to be a state")
	case !p.State && slices.ContainsFunc(a.values, func(v *Value) bool { return v.State }):
		c.fail(p.Name, "read it first: r = read_state(input = s)", "a state where a tensor is expected")
	case p.Const && slices.ContainsFunc(a.values, func(v *Value) bool { return !v.Const() }):
		why := ""
		if p.Sized {
			why = ": the shape of the result depends on it, and engines need static shapes"
		}
		c.fail(p.Name, "define it with const()", "has to be a constant%s", why)
	case p.Known && slices.ContainsFunc(a.values, func(v *Value) bool { return !v.known && !v.Const() }):
		c.fail(p.Name, "define it with const() or a constexpr operator", "has to be a constant")
	case !p.Const && !p.Deep && slices.ContainsFunc(a.values, func(v *Value) bool { return v.Rank() > MaxRank }):
		c.fail(p.Name, "merge axes", "rank %d, at most %d", a.values[0].Rank(), MaxRank)
	case !p.Const && slices.ContainsFunc(a.values, func(v *Value) bool { return v.DType == mil.String }):
		c.fail(p.Name, "pass a tensor", "a string where a tensor is expected")
	}
}

// complete reports missing arguments.
func (c *Call) complete() {
	for _, p := range c.def.Params {
		if c.op.Arg(p.Name) == nil && !p.Optional {
			c.fail("", "write "+c.def.signature(), "argument %s is missing", p.Name)
		}
	}
}

// tensor returns the tensor argument called name, or nil when it is absent.
func (c *Call) tensor(name string) *Value {
	a, ok := c.args[name]
	if !ok {
		return nil
	}
	return a.values[0]
}

// setting returns a constant's elements as float64, or nil when it is absent
// or does not fit. A bool is 0 or 1.
func (c *Call) setting(name string, ok func(mil.DType) bool, what, example string) []float64 {
	v := c.tensor(name)
	if v == nil {
		return nil
	}
	if !ok(v.DType) && !(v.bare && v.DType == mil.Int32 && ok(mil.FP32)) {
		c.fail(name, "write "+name+" = "+example, "%s where %s is expected", v.Type(), what)
		return nil
	}
	if v.Elements() > maxSetting {
		c.fail(name, fmt.Sprintf("settings have at most %d elements", maxSetting), "%s is too long for a setting",
			v.Type())
		return nil
	}
	v.weight.take(v)
	return v.Floats()
}

// maxSetting is the largest number of elements of a setting, and of results of split.
const maxSetting = 1 << 16

// few formats a list for messages, cut after some numbers.
func few(list []int) string {
	if len(list) <= 10 {
		return fmt.Sprint(list)
	}
	return strings.TrimSuffix(fmt.Sprint(list[:10]), "]") + " ..]"
}

// ints returns an integer vector of n elements (any number when n < 0), def
// when absent. A scalar counts as a vector of one.
func (c *Call) ints(name string, n int, def []int) []int {
	what, example := "an integer vector", "tensor<int32, [2]>([1, 1])"
	switch {
	case n == 1:
		what, example = "one integer", "int32(1)"
	case n > 0:
		example = mil.TensorOf(mil.Int32, n).String() + "([..])"
	}
	fs := c.setting(name, mil.DType.Integer, what, example)
	if fs == nil {
		return def
	}
	if v := c.tensor(name); v.Rank() > 1 || n >= 0 && len(fs) != n {
		hint := "give a vector"
		switch {
		case n == 1:
			hint = "give one integer"
		case n == 0:
			hint = "a scalar has no axes; reshape it"
		case n > 0:
			hint = fmt.Sprintf("give a vector of %d", n)
		}
		c.fail(name, hint, "%s does not fit", v.Type())
		return def
	}
	out := make([]int, len(fs))
	for i, f := range fs {
		v, ok := toInt(f)
		if !ok {
			c.fail(name, "numbers go up to 2^53", "%.0f is out of range", f)
			return def
		}
		out[i] = v
	}
	return out
}

// list returns n single numbers of a variadic setting, or n truth values as 0 and 1.
func (c *Call) list(name string, n int, ok func(mil.DType) bool) []int {
	values := c.args[name].values
	if len(values) != n {
		c.fail(name, fmt.Sprintf("list %d", n), "%d values", len(values))
		return make([]int, n)
	}
	out := make([]int, n)
	for i, v := range values {
		if !ok(v.DType) || v.Elements() != 1 {
			c.fail(name, "list single numbers, or single truth values for a mask", "%s does not fit", v.Type())
			return out
		}
		v.weight.take(v)
		f, fits := toInt(v.Floats()[0])
		if !fits {
			c.fail(name, "numbers go up to 2^53", "%.0f is out of range", v.Floats()[0])
			return out
		}
		out[i] = f
	}
	return out
}

// integer returns a single integer.
func (c *Call) integer(name string, def int) int {
	return c.ints(name, 1, []int{def})[0]
}

// boolean returns a single truth value.
func (c *Call) boolean(name string, def bool) bool {
	fs := c.setting(name, isBool, "a truth value", "bool(false)")
	if len(fs) != 1 {
		if fs != nil {
			c.fail(name, "give one truth value", "%d truth values", len(fs))
		}
		return def
	}
	return fs[0] != 0
}

func isBool(d mil.DType) bool { return d == mil.Bool }

// booleans returns n truth values, all false when absent.
func (c *Call) booleans(name string, n int) []bool {
	fs := c.setting(name, isBool, "a vector of truth values", mil.TensorOf(mil.Bool, n).String()+"([..])")
	out := make([]bool, n)
	if fs != nil && len(fs) != n {
		c.fail(name, fmt.Sprintf("give %d, one for each axis", n), "%d truth values", len(fs))
		return out
	}
	for i, f := range fs {
		out[i] = f != 0
	}
	return out
}

// number returns a single floating-point number.
func (c *Call) number(name string, def float64) float64 {
	fs := c.setting(name, mil.DType.Float, "a floating-point number", "fp16(0.5)")
	if len(fs) != 1 {
		if fs != nil {
			c.fail(name, "give one number", "%d numbers", len(fs))
		}
		return def
	}
	return fs[0]
}

// epsilon returns the setting of that name. Its default has the type of x, as if the program wrote it.
func (c *Call) epsilon(def float64) float64 {
	if x := c.tensor("x"); x != nil && slices.Contains(floats, x.DType) {
		var b [8]byte
		element.Store(x.DType, b[:], def)
		def = element.Load(x.DType, b[:])
	}
	return c.number("epsilon", def)
}

// word returns a string setting that must be one of choices.
func (c *Call) word(name, def string, choices ...string) string {
	v := c.tensor(name)
	if v == nil {
		return def
	}
	if v.DType != mil.String || len(v.Text) != 1 {
		c.fail(name, "give one of "+strings.Join(choices, ", "), "%s where a string is expected", v.Type())
		return def
	}
	if !slices.Contains(choices, v.Text[0]) {
		c.fail(name, near.Hint(v.Text[0], choices)+"choose one of "+strings.Join(choices, ", "), "%q is not known",
			v.Text[0])
		return def
	}
	return v.Text[0]
}

// axis returns a single axis of a value of the given rank, negative ones
// counted from the end.
func (c *Call) axis(name string, rank, def int) int {
	return c.wrap(name, c.integer(name, def), rank)
}

// wrap converts a possibly negative axis to 0..rank-1.
func (c *Call) wrap(name string, a, rank int) int {
	if a < -rank || a >= rank {
		hint := "a scalar has no axes; reshape it"
		if rank > 0 {
			hint = fmt.Sprintf("choose from %d to %d", -rank, rank-1)
		}
		c.fail(name, hint, "axis %d of a tensor of rank %d", a, rank)
		return 0
	}
	return (a + rank) % max(rank, 1)
}

// axes returns a list of different axes in ascending order.
func (c *Call) axes(name string, rank int, def []int) []int {
	list := c.ints(name, -1, def)
	out := make([]int, len(list))
	for i, a := range list {
		out[i] = c.wrap(name, a, rank)
	}
	slices.Sort(out)
	if len(slices.Compact(slices.Clone(out))) != len(out) && !c.failed() {
		c.fail(name, "name every axis once", "an axis is listed twice in %s", few(list))
	}
	return out
}

// needs refuses operands of types outside the list.
func (c *Call) needs(name string, types ...mil.DType) {
	a := c.args[name]
	for _, v := range a.values {
		if !slices.Contains(types, v.DType) {
			hint := "convert it with cast first"
			c.fail(name, hint, "%s is not handled for type %s", v.Name, v.DType)
			return
		}
	}
}

// sameType refuses operands of different element types.
func (c *Call) sameType(a, b string) {
	x, y := c.tensor(a), c.tensor(b)
	if x != nil && y != nil && x.DType != y.DType {
		c.fail(b, "convert one with cast", "%s is %s but %s is %s", b, y.DType, a, x.DType)
	}
}

// gives sets the type of the only result.
func (c *Call) gives(d mil.DType, shape []int) { c.results([]mil.DType{d}, [][]int{shape}) }

// results sets the types of all results.
func (c *Call) results(types []mil.DType, shapes [][]int) {
	if c.failed() {
		return
	}
	if !c.open && len(c.op.Results) != len(types) {
		hint := "declare every result"
		if len(types) == 0 {
			hint = "write the statement alone, without a result"
		}
		c.fail("", hint, "results: %d expected, %d declared", len(types), len(c.op.Results))
		return
	}
	for i, d := range types {
		if len(shapes[i]) > MaxRank {
			c.fail("", "merge axes with reshape", "result of rank %d, at most %d", len(shapes[i]), MaxRank)
			return
		}
		if !sensible(shapes[i]) {
			c.fail("", "results have 1 to 2^31 elements", "result of shape %v is empty or too large", shapes[i])
			return
		}
		c.out = append(c.out, &Value{DType: d, Shape: shapes[i]})
	}
}

// Types that families of operators take.
var (
	floats   = []mil.DType{mil.FP16, mil.FP32}
	numerics = []mil.DType{mil.FP16, mil.FP32, mil.Int32}
	storable = []mil.DType{mil.FP16, mil.FP32, mil.Bool, mil.Int8, mil.UInt8, mil.Int16, mil.UInt16, mil.Int32,
		mil.UInt32}
)
