package shapes

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/anekit/anekit/ane/mil"
	"github.com/anekit/anekit/internal/near"
)

// choice has the shapes that the inputs of a function take.
type choice struct {
	*fixing
	Flexible
	function *mil.Function
	shapes   map[string][]int
	named    map[string]int // lengths of axes by the names that stand for them
	missing  bool           // an input stays open
}

// inputs returns a copy of a function whose parameters have lengths.
func (x *fixing) inputs(p *mil.Program, f *mil.Function) *choice {
	clone := *f
	clone.Params = slices.Clone(f.Params)
	c := &choice{fixing: x, Flexible: Of(p, f), function: &clone, shapes: map[string][]int{}, named: map[string]int{}}
	c.fromCaller(f)
	c.fromEnumeration(f)
	for i := range clone.Params {
		if v := &clone.Params[i]; Symbolic(v.Type) {
			c.fromDefault(v)
			v.Type = closed(v.Type, c.shapes[v.Name])
		}
	}
	return c
}

// refuse reports a shape that an input cannot take.
func (c *choice) refuse(v mil.Var, shape []int, why string) {
	c.missing = true
	err := ErrOpen
	if _, ok := c.given[v.Name]; ok {
		err = ErrGiven
	}
	c.fail(v.Pos, err, why, "input %s cannot take the shape %s", near.Cut(v.Name), Text(shape))
}

// fromCaller takes the given shapes. Those that do not fit a function which the caller did not choose are left out.
func (c *choice) fromCaller(f *mil.Function) {
	for _, v := range f.Params {
		shape, ok := c.given[v.Name]
		if !ok {
			continue
		}
		why := c.misfit(v, shape)
		if why == "" {
			why = c.outside(v.Name, shape)
		}
		switch {
		case why == "":
			c.take(v, shape, given)
		case f == c.chosen:
			c.refuse(v, shape, why)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(c.given)) {
		if f == c.chosen && !slices.ContainsFunc(f.Params, func(v mil.Var) bool { return v.Name == name }) {
			c.missing = true
			c.fail(f.Pos, ErrGiven, near.Choices(name, "give --shape for one of", names(f.Params)),
				"function %s has no input %s, which is to take the shape %s", near.Cut(f.Name), near.Cut(name),
				Text(c.given[name]))
		}
	}
}

func names(params []mil.Var) (all []string) {
	for _, v := range params {
		all = append(all, v.Name)
	}
	return all
}

// fromEnumeration lets the other inputs take their shapes of the enumeration that the given ones are of. It takes the
// default where that is one.
func (c *choice) fromEnumeration(f *mil.Function) {
	agrees := func(e map[string][]int) bool {
		for name, shape := range c.shapes {
			if s, ok := e[name]; ok && !slices.Equal(s, shape) {
				return false
			}
		}
		return true
	}
	if len(c.shapes) == 0 || len(c.Enumerated) == 0 || c.Default != nil && agrees(c.Default) {
		return
	}
	i := slices.IndexFunc(c.Enumerated, agrees)
	for _, v := range f.Params {
		taken, ok := c.shapes[v.Name]
		switch {
		case i < 0 && ok:
			c.refuse(v, taken, "the shapes of several inputs are of one enumeration: "+c.enumerations(v.Name))
			return
		case i >= 0 && !ok && Symbolic(v.Type):
			if shape := c.Enumerated[i][v.Name]; shape != nil && c.misfit(v, shape) == "" {
				c.take(v, shape, "which the program lists with those given")
			}
		}
	}
}

// fromDefault gives an open input that has no shape yet its default.
func (c *choice) fromDefault(v *mil.Var) {
	if _, ok := c.shapes[v.Name]; ok {
		return
	}
	from := "the default of the program"
	shape, ok := c.Default[v.Name]
	if !ok {
		from = "the default of the model"
		shape, ok = c.defaults[v.Name]
	}
	if !ok {
		from = "by the names of its axes"
		shape = make([]int, len(tensor(v.Type).Dims))
	}
	shape = slices.Clone(shape)
	for i, d := range tensor(v.Type).Dims {
		switch n, bound := c.named[d.Symbol]; {
		case i >= len(shape):
		case bound:
			shape[i] = n
		case !ok && d.Known():
			shape[i] = d.Size
		case !ok:
			c.missing = true
			c.fail(v.Pos, ErrOpen, c.usage(*v), "input %s has no default length for axis %d of %s", near.Cut(v.Name), i,
				near.Cut(v.Type.String()))
			return
		}
	}
	why := c.misfit(*v, shape)
	if why == "" && !slices.Equal(shape, c.Default[v.Name]) {
		why = c.outside(v.Name, shape)
	}
	if why != "" {
		c.refuse(*v, shape, why)
		return
	}
	c.take(*v, shape, from)
}

// take records the shape of an input.
func (c *choice) take(v mil.Var, shape []int, from string) {
	c.shapes[v.Name] = shape
	for i, d := range tensor(v.Type).Dims {
		if d.Symbol != "?" && !d.Known() {
			c.named[d.Symbol] = shape[i]
		}
	}
	if Symbolic(v.Type) {
		c.taken = append(c.taken, Taken{c.function.Name, v.Name, shape, from, v.At})
	}
}

// misfit says what to give in place of a shape that the type of an input does not allow; it is empty if it fits.
func (c *choice) misfit(v mil.Var, shape []int) string {
	t, named := tensor(v.Type), maps.Clone(c.named)
	fits := len(shape) == len(t.Dims)
	for i := 0; i < len(t.Dims) && fits; i++ {
		d := t.Dims[i]
		n, bound := named[d.Symbol]
		if d.Known() {
			n, bound = d.Size, true
		}
		if fits = shape[i] > 0 && (!bound || n == shape[i]); d.Symbol != "?" {
			named[d.Symbol] = shape[i]
		}
	}
	if fits {
		return ""
	}
	return fmt.Sprintf("its type is %s: %s", near.Cut(v.Type.String()), c.usage(v))
}

// usage says how to write the flag for an input.
func (c *choice) usage(v mil.Var) string {
	var axes []string
	letter, lettered := 'N', false
	for _, d := range tensor(v.Type).Dims {
		switch n, bound := c.named[d.Symbol]; {
		case d.Known():
			axes = append(axes, d.String())
		case bound:
			axes = append(axes, fmt.Sprint(n))
		case d.Symbol != "?":
			axes, lettered = append(axes, d.Symbol), true
		default:
			axes, lettered = append(axes, string(letter)), true
			if letter++; letter > 'Z' {
				letter = 'A'
			}
		}
	}
	text := fmt.Sprintf("give --shape %s=%s", near.Cut(v.Name), strings.Join(axes, ","))
	if lettered {
		text += " with numbers for the letters"
	}
	return text
}

// outside says what to give in place of a shape that the ranges or the enumerations of an input do not have; it is
// empty if they have it.
func (c *choice) outside(name string, shape []int) string {
	for i, r := range c.Ranges[name] {
		switch {
		case i >= len(shape) || shape[i] >= r[0] && (r[1] < 0 || shape[i] <= r[1]):
		case r[1] < 0:
			return fmt.Sprintf("axis %d is at least %d: give --shape %s within that", i, r[0], near.Cut(name))
		default:
			return fmt.Sprintf("axis %d is from %d to %d: give --shape %s within that", i, r[0], r[1], near.Cut(name))
		}
	}
	same := func(e map[string][]int) bool { return slices.Equal(e[name], shape) }
	if c.listed(name) && !slices.ContainsFunc(c.Enumerated, same) && !same(c.Default) {
		return c.enumerations(name)
	}
	return ""
}

// enumerations lists the shapes of an input, as the flag takes them.
func (c *choice) enumerations(name string) string {
	var all []string
	for _, e := range c.Enumerated {
		if shape := e[name]; shape != nil {
			all = append(all, name+"="+strings.Join(words(shape), ","))
		}
	}
	all = slices.Compact(all)
	if len(all) > 10 {
		all = append(all[:10], "..")
	}
	return "give --shape " + strings.Join(all, " or ")
}

// closed returns the type of a tensor, or of a state of one, with the lengths of a shape.
func closed(t mil.Type, shape []int) mil.Type {
	inner := tensor(t)
	if len(shape) != len(inner.Dims) {
		return t
	}
	inner = mil.TensorOf(inner.DType, shape...)
	if t.Kind == mil.State {
		return mil.StateOf(inner)
	}
	return inner
}
