package ops

import (
	"slices"
	"strings"

	"github.com/anekit/anekit/ane/mil"
	"github.com/anekit/anekit/internal/near"
)

// Param is one argument of an operator.
type Param struct {
	Name     string
	Kind     Kind
	Types    []mil.DType // of the elements of a tensor; none: that of the first argument; of an integer setting, see of
	Optional bool
	// Default is what an absent setting means: an int, float64, bool or string; for Ints and Bools the element of each
	// axis, or AllAxes. It is nil where the setting has none, or where it depends on other arguments.
	Default any
	Choices []string // of a Word
	// Const arguments are settings: the compiler needs their value. All others are tensors, constant or not.
	Const bool
	// Sized settings decide the shape of the result.
	Sized bool
	// Spelled settings are those that published programs write even with their default.
	Spelled bool
	// Variadic arguments hold a list of tensors, or of settings.
	Variadic bool
	// Loose lists may be written as their only value.
	Loose bool
	// Like arguments give their type alone: Node.In does not have them.
	Like bool
	// Known arguments are tensors that are constant, or that operators called constexpr_ compute.
	Known bool
	// Deep arguments have as many axes as a constant.
	Deep bool
	// State arguments are state parameters of the function.
	State bool
	// Any arguments have a type that the rule decides about.
	Any bool

	buffered    bool   // a tensor_buffer
	least, most int    // ranks of a tensor that may not have every rank
	form, wrong string // how to write it, and what is wrong with another one, where %v stands for its shape
}

// Kind says what an argument holds.
type Kind uint8

// The kinds.
const (
	Tensor  Kind = iota
	Int          // a whole number
	Ints         // a vector of them
	Bool         // a truth value
	Bools        // a vector of them
	Number       // a floating-point number
	Word         // a string
	Element      // a single element of any type
)

// AllAxes is the Default of a list of axes that names all of them.
const AllAxes = "all axes"

// tensor, setting and or are not inlined: their copies in all rows would be 90 KB of every program.
//
//go:noinline
func tensor(name string, types ...mil.DType) *Param { return &Param{Name: name, Types: types} }
func known(name string, types ...mil.DType) *Param  { return tensor(name, types...).known() }

//go:noinline
func setting(name string, k Kind) *Param { return &Param{Name: name, Kind: k, Const: true} }
func integer(name string) *Param         { return setting(name, Int) }
func integers(name string) *Param        { return setting(name, Ints) }
func boolean(name string) *Param         { return setting(name, Bool) }
func booleans(name string) *Param        { return setting(name, Bools) }
func number(name string) *Param          { return setting(name, Number) }

// word is a string setting; the rule checks one without choices.
func word(name string, choices ...string) *Param { return setting(name, Word).among(choices) }

// types is a word that names one of the element types.
func types(name string, list ...mil.DType) *Param {
	var names []string
	for _, d := range list {
		names = append(names, d.String())
	}
	return word(name, names...)
}

//go:noinline
func (p *Param) or(def any) *Param { p.Optional, p.Default = true, def; return p }

// of sets the type in which build writes an integer setting, where that is not int32.
func (p *Param) of(d mil.DType) *Param         { p.Types = []mil.DType{d}; return p }
func (p *Param) among(choices []string) *Param { p.Choices = choices; return p }
func (p *Param) known() *Param                 { p.Known = true; return p }
func (p *Param) optional() *Param              { p.Optional = true; return p }
func (p *Param) spelled() *Param               { p.Spelled = true; return p }
func (p *Param) sized() *Param                 { p.Sized = true; return p }
func (p *Param) deep() *Param                  { p.Deep = true; return p }
func (p *Param) variadic() *Param              { p.Variadic = true; return p }
func (p *Param) loosely() *Param               { p.Loose = true; return p }
func (p *Param) like() *Param                  { p.Like = true; return p }
func (p *Param) state() *Param                 { p.State = true; return p }
func (p *Param) buffer() *Param                { p.buffered = true; return p }
func (p *Param) any() *Param                   { p.Any = true; return p }

// ranks bounds the rank of a tensor.
//
//go:noinline
func (p *Param) ranks(least, most int, form, wrong string) *Param {
	p.least, p.most, p.form, p.wrong = least, most, form, wrong
	return p
}

// Written returns the default of a setting as a program writes it, for x of a rank: an int, float64, bool or string, or
// an []int or []bool. Lists have an element for each axis of x, for each spatial axis where a window slides, or a pair
// of paddings for each of those. It is nil where the setting has none.
func (d *Def) Written(p *Param, rank int) any {
	n := rank
	if d.Family == Products || d.Family == Pools {
		n = max(n-2, 1)
	}
	if p.Name == "pad" {
		n *= 2
	}
	switch one := p.Default; {
	case one == AllAxes:
		return every(n)
	case p.Kind == Ints && one != nil:
		return slices.Repeat([]int{one.(int)}, n)
	case p.Kind == Bools && one != nil:
		return slices.Repeat([]bool{one.(bool)}, n)
	}
	return p.Default
}

// every lists all axes of a tensor.
func every(rank int) []int {
	axes := make([]int, rank)
	for i := range axes {
		axes[i] = i
	}
	return axes
}

// Param returns the parameter called name, or nil.
func (d *Def) Param(name string) *Param {
	if i := slices.IndexFunc(d.Params, func(p *Param) bool { return p.Name == name }); i >= 0 {
		return d.Params[i]
	}
	return nil
}

// signature lists the argument names for messages, optional ones with "?".
func (d *Def) signature() string {
	var names []string
	for _, p := range d.Params {
		n := p.Name
		if p.Optional {
			n += "?"
		}
		names = append(names, n)
	}
	return d.Name + "(" + strings.Join(names, ", ") + ")"
}

// nearest is the hint of an argument that the operator does not have.
func (d *Def) nearest(name string) string {
	var names []string
	for _, p := range d.Params {
		names = append(names, p.Name)
	}
	return near.Hint(name, names) + "write " + d.signature()
}

// Types that families of operators take.
var (
	floats   = []mil.DType{mil.FP16, mil.FP32}
	numerics = []mil.DType{mil.FP16, mil.FP32, mil.Int32}
	storable = []mil.DType{mil.FP16, mil.FP32, mil.Bool, mil.Int8, mil.UInt8, mil.Int16, mil.UInt16, mil.Int32,
		mil.UInt32}
	truths = []mil.DType{mil.Bool}
	// tiny are the integers below 8 bits. Only constants have them.
	tiny = []mil.DType{mil.Int1, mil.Int2, mil.Int3, mil.Int4, mil.Int6, mil.UInt1, mil.UInt2, mil.UInt3, mil.UInt4,
		mil.UInt6}
	indexes   = []mil.DType{mil.Int32, mil.Int16, mil.UInt16, mil.Int8, mil.UInt8}
	byteTypes = []mil.DType{mil.Int8, mil.UInt8} // of quantized elements
)
