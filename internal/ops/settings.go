package ops

import (
	"fmt"
	"slices"
	"strings"

	"github.com/anekit/anekit/ane/mil"
	"github.com/anekit/anekit/internal/element"
	"github.com/anekit/anekit/internal/near"
)

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

// few is a list in messages, cut after some numbers.
type few []int

func (f few) String() string {
	if len(f) <= 10 {
		return fmt.Sprint([]int(f))
	}
	return strings.TrimSuffix(fmt.Sprint([]int(f[:10])), "]") + " ..]"
}

// ints returns an integer vector of n elements (any number when n < 0). An absent one has the default in every element,
// 0 without a default; it is nil when n < 0. A scalar counts as a vector of one.
func (c *Call) ints(name string, n int) []int {
	var def []int
	if n >= 0 {
		def = slices.Repeat([]int{given(c, name, 0)}, n)
	}
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

// given returns the default of a setting, or def if it has none of that type.
func given[T any](c *Call, name string, def T) T {
	if p := c.def.Param(name); p != nil {
		if d, ok := p.Default.(T); ok {
			return d
		}
	}
	return def
}

// integer returns a single integer, 1 for a faulty one without a default.
func (c *Call) integer(name string) int {
	if c.tensor(name) == nil {
		return given(c, name, 1)
	}
	before := len(c.faults)
	if list := c.ints(name, 1); len(c.faults) == before {
		return list[0]
	}
	return given(c, name, 1)
}

// boolean returns a single truth value.
func (c *Call) boolean(name string) bool {
	fs := c.setting(name, isBool, "a truth value", "bool(false)")
	if len(fs) != 1 {
		c.failIf(fs != nil, name, "give one truth value", "%d truth values", len(fs))
		return given(c, name, false)
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
func (c *Call) number(name string) float64 {
	fs := c.setting(name, mil.DType.Float, "a floating-point number", "fp16(0.5)")
	if len(fs) != 1 {
		c.failIf(fs != nil, name, "give one number", "%d numbers", len(fs))
		return given(c, name, 0.0)
	}
	return fs[0]
}

// epsilon returns the setting of that name. Its default has the type of x, as if the program wrote it.
func (c *Call) epsilon() float64 {
	if x := c.tensor("x"); c.tensor("epsilon") == nil && slices.Contains(floats, x.DType) {
		var b [8]byte
		element.Store(x.DType, b[:], given(c, "epsilon", 0.0))
		return element.Load(x.DType, b[:])
	}
	return c.number("epsilon")
}

// word returns a string setting that must be one of the choices.
func (c *Call) word(name string) string {
	v, def, choices := c.tensor(name), given(c, name, ""), c.def.Param(name).Choices
	switch {
	case v == nil:
		return def
	case v.DType != mil.String || len(v.Text) != 1:
		c.fail(name, "give one of "+strings.Join(choices, ", "), "%s where a string is expected", v.Type())
		return def
	case !slices.Contains(choices, v.Text[0]):
		c.fail(name, near.Hint(v.Text[0], choices)+"choose one of "+strings.Join(choices, ", "), "%q is not known",
			v.Text[0])
		return def
	}
	return v.Text[0]
}

// dtype returns the type that a setting names.
func (c *Call) dtype(name string) mil.DType { return mil.ParseDType(c.word(name)) }

// axis returns a single axis of a value of the given rank, negative ones
// counted from the end.
func (c *Call) axis(name string, rank int) int {
	axis := given(c, name, 0)
	if c.tensor(name) != nil {
		axis = c.ints(name, 1)[0]
	}
	return c.wrap(name, axis, rank)
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
func (c *Call) axes(name string, rank int) []int {
	list := c.ints(name, -1)
	if c.tensor(name) == nil && given(c, name, "") == AllAxes {
		list = make([]int, rank)
		for i := range list {
			list[i] = i
		}
	}
	out := make([]int, len(list))
	for i, a := range list {
		out[i] = c.wrap(name, a, rank)
	}
	slices.Sort(out)
	c.failIf(len(slices.Compact(slices.Clone(out))) != len(out) && !c.failed(), name, "name every axis once",
		"an axis is listed twice in %s", few(list))
	return out
}
