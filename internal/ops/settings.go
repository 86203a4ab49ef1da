package ops

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/anekit/anekit/ane/mil"
	"github.com/anekit/anekit/internal/element"
	"github.com/anekit/anekit/internal/near"
)

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

// forms say how settings of the kinds are written. The message wrong has the type and the number of elements.
var forms = [...]struct {
	accepts                   func(mil.DType) bool
	what, example, fix, wrong string
}{
	Int:     {mil.DType.Integer, "one integer", "int32(1)", "give one integer", misfit},
	Ints:    {mil.DType.Integer, "an integer vector", "tensor<int32, [2]>([1, 1])", "give a vector", misfit},
	Bool:    {isBool, "a truth value", "bool(false)", "give one truth value", "%[2]d truth values"},
	Bools:   {isBool, "a vector of truth values", "", "", "%[2]d truth values"},
	Number:  {mil.DType.Float, "a floating-point number", "fp16(0.5)", "give one number", "%[2]d numbers"},
	Element: {isNumber, "a number", "fp32(2)", "give one number", "%[2]d numbers"},
	square:  {mil.DType.Integer, "a matrix of integers", "tensor<int32, [2, 2]>([[0, 0], [0, 0]])", "", ""},
}

const (
	misfit = "%[1]s does not fit"
	square = Element + 1 // a kind of Ints
)

func isBool(d mil.DType) bool   { return d == mil.Bool }
func isNumber(d mil.DType) bool { return d.Float() || d.Integer() }

// elements returns the elements of a setting of a kind, n of them or, if n < 0, any number. An absent one has its
// default in every element, else 0; it is nil when n < 0. A truth value is 0 or 1.
func (c *Call) elements(name string, k Kind, n int) []float64 {
	if k == Ints && n == 1 {
		k = Int
	}
	v, f := c.Value(name), forms[k]
	if v == nil {
		return slices.Repeat([]float64{asNumber(c.preset(name))}, max(n, 0))
	}
	switch {
	case k == Bools:
		f.example, f.fix = mil.TensorOf(mil.Bool, n).String()+"([..])", fmt.Sprintf("give %d, one for each axis", n)
	case k == Ints && n > 0:
		f.example, f.fix = mil.TensorOf(mil.Int32, n).String()+"([..])", fmt.Sprintf("give a vector of %d", n)
	case k == Ints && n == 0:
		f.fix = "a scalar has no axes; reshape it"
	}
	switch {
	case !f.accepts(v.DType) && !(v.bare && v.DType == mil.Int32 && f.accepts(mil.FP32)):
		c.refuse(name, "write "+name+" = "+f.example, "%s where %s is expected", v.Type(), f.what)
	case v.Elements() > maxSetting:
		c.refuse(name, fmt.Sprintf("settings have at most %d elements", maxSetting), "%s is too long for a setting",
			v.Type())
	case v.Rank() > 1 && f.wrong == misfit || n >= 0 && v.Elements() != n:
		c.refuse(name, f.fix, f.wrong, v.Type(), v.Elements())
	}
	return v.take()
}

// preset returns the default of a setting, nil if it has none or if the operator has no such setting.
func (c *Call) preset(name string) any {
	if p := c.Def.Param(name); p != nil {
		return p.Default
	}
	return nil
}

// asNumber returns a default as a number, 0 without one.
func asNumber(preset any) float64 {
	switch d := preset.(type) {
	case int:
		return float64(d)
	case float64:
		return d
	case bool:
		return truth(d)
	}
	return 0
}

// truth is a truth value as a number.
func truth(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

// whole converts numbers to integers.
func (c *Call) whole(name string, list []float64) (out []int) {
	for _, f := range list {
		c.refuseIf(f != math.Trunc(f) || math.Abs(f) > 1<<53, name, "numbers go up to 2^53", "%.0f is out of range", f)
		out = append(out, int(f))
	}
	return out
}

// ints returns an integer vector of n elements, any number when n < 0; see elements. A scalar counts as a vector of
// one.
func (c *Call) ints(name string, n int) []int { return c.whole(name, c.elements(name, Ints, n)) }

// integer, boolean and number return settings of one element.
func (c *Call) integer(name string) int    { return c.whole(name, c.elements(name, Int, 1))[0] }
func (c *Call) boolean(name string) bool   { return c.elements(name, Bool, 1)[0] != 0 }
func (c *Call) number(name string) float64 { return c.elements(name, Number, 1)[0] }

// booleans returns n truth values.
func (c *Call) booleans(name string, n int) []bool {
	out := make([]bool, n)
	for i, f := range c.elements(name, Bools, n) {
		out[i] = f != 0
	}
	return out
}

// list returns n single numbers of a variadic setting, or n truth values as 0 and 1.
func (c *Call) list(name string, n int, ok func(mil.DType) bool) []int {
	values := c.List(name)
	c.refuseIf(len(values) != n, name, fmt.Sprintf("list %d", n), "%d values", len(values))
	var all []float64
	for _, v := range values {
		c.refuseIf(!ok(v.DType) || v.Elements() != 1, name, "list single numbers, or single truth values for a mask",
			"%s does not fit", v.Type())
		all = append(all, v.take()...)
	}
	return c.whole(name, all)
}

// epsilon returns the setting of that name. Its default has the type of x, as if the program wrote it.
func (c *Call) epsilon() float64 {
	e := c.number("epsilon")
	if x := c.Value("x"); c.Value("epsilon") == nil {
		return element.Load(x.DType, encode(x.DType, []float64{e}, same))
	}
	return e
}

// word returns a string setting that must be one of the choices.
func (c *Call) word(name string) string {
	v := c.Value(name)
	if v == nil {
		preset, _ := c.preset(name).(string)
		return preset
	}
	switch choices := c.Def.Param(name).Choices; {
	case v.DType != mil.String || len(v.Text) != 1:
		c.refuse(name, "give one of "+strings.Join(choices, ", "), "%s where a string is expected", v.Type())
	case !slices.Contains(choices, v.Text[0]):
		c.refuse(name, near.Choices(v.Text[0], "choose one of", choices), "%q is not known", v.Text[0])
	}
	return v.Text[0]
}

// dtype returns the type that a setting names.
func (c *Call) dtype(name string) mil.DType { return mil.ParseDType(c.word(name)) }

// axis returns a single axis of a value of the given rank, negative ones counted from the end.
func (c *Call) axis(name string, rank int) int { return c.wrap(name, c.integer(name), rank) }

// wrap converts a possibly negative axis to 0..rank-1.
func (c *Call) wrap(name string, a, rank int) int {
	if a < -rank || a >= rank {
		hint := "a scalar has no axes; reshape it"
		if rank > 0 {
			hint = fmt.Sprintf("choose from %d to %d", -rank, rank-1)
		}
		c.refuse(name, hint, "axis %d of a tensor of rank %d", a, rank)
	}
	return (a + rank) % max(rank, 1)
}

// axes returns a list of different axes in ascending order.
func (c *Call) axes(name string, rank int) []int {
	list := c.ints(name, -1)
	if c.Value(name) == nil && c.preset(name) == AllAxes {
		list = every(rank)
	}
	out := make([]int, len(list))
	for i, a := range list {
		out[i] = c.wrap(name, a, rank)
	}
	slices.Sort(out)
	c.refuseIf(len(slices.Compact(slices.Clone(out))) != len(out), name, "name every axis once",
		"an axis is listed twice in %s", few(list))
	return out
}
