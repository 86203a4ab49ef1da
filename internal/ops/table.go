package ops

import (
	"maps"
	"slices"
	"strings"

	"github.com/anekit/anekit/internal/near"
)

// Def describes one operator.
type Def struct {
	Name   string
	Params []Param
	// Many allows any number of results; otherwise there is exactly one.
	Many bool
	// Effect operators change a state. They run even if nothing uses their results.
	Effect bool
	// infer checks the call and sets its result types and Attrs.
	infer func(c *Call)
}

// Param is one argument of an operator.
type Param struct {
	Name     string
	Optional bool
	// Const arguments are settings: the compiler needs their value.
	// All others are tensors, constant or not.
	Const bool
	// Sized settings decide the shape of the result.
	Sized bool
	// Variadic arguments hold a list of tensors, or of settings.
	Variadic bool
	// Like arguments give their type alone: Node.In does not have them.
	Like bool
	// Known arguments are tensors that are constant, or that operators called constexpr_ compute.
	Known bool
	// Deep arguments have up to two axes more than MaxRank.
	Deep bool
	// State arguments are state parameters of the function.
	State bool
}

func tensor(name string) Param   { return Param{Name: name} }
func perhaps(name string) Param  { return Param{Name: name, Optional: true} }
func setting(name string) Param  { return Param{Name: name, Const: true} }
func sized(name string) Param    { return Param{Name: name, Const: true, Sized: true} }
func option(name string) Param   { return Param{Name: name, Const: true, Optional: true} }
func variadic(name string) Param { return Param{Name: name, Variadic: true} }
func like(name string) Param     { return Param{Name: name, Like: true} }
func likes(name string) Param    { return Param{Name: name, Like: true, Variadic: true} }
func settings(name string) Param { return Param{Name: name, Const: true, Variadic: true} }
func state(name string) Param    { return Param{Name: name, State: true} }

func known(name string) Param { return Param{Name: name, Known: true} }

func (p Param) optional() Param { p.Optional = true; return p }
func (p Param) deep() Param     { p.Deep = true; return p }

// constexpr reports whether the operator makes a constant of constants.
func (d *Def) constexpr() bool { return strings.HasPrefix(d.Name, "constexpr_") }

// param returns the parameter called name, or nil.
func (d *Def) param(name string) *Param {
	for i := range d.Params {
		if d.Params[i].Name == name {
			return &d.Params[i]
		}
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

// names lists the arguments.
func (d *Def) names() []string {
	var names []string
	for _, p := range d.Params {
		names = append(names, p.Name)
	}
	return names
}

// Lookup returns the operator called name, or nil. The Def is shared: do not
// change it.
func Lookup(name string) *Def { return table[name] }

// Names lists every operator, const included, in alphabetical order.
func Names() []string {
	return slices.Sorted(slices.Values(append(slices.Collect(maps.Keys(table)), "const")))
}

// Suggest reports whether kind, which Lookup does not know, is surely no operator of another engine either: it is
// like one that Lookup knows, or no program for the Neural Engine can have it. hint says what to write instead.
func Suggest(kind string) (hint string, surely bool) {
	return unknownHint(kind), unsupported[kind] != "" || near.Word(kind, Names()) != ""
}

// unknownHint suggests the operator that kind resembles, and names the command that lists all.
func unknownHint(kind string) string {
	if why := unsupported[kind]; why != "" {
		return why
	}
	return near.Hint(kind, Names()) + "ane-roundtrip info --json lists all operators"
}

// table holds every operator except const, which Analyze reads itself. It is
// never changed after the program starts.
var table = func() map[string]*Def {
	t := map[string]*Def{}
	for _, family := range [][]Def{
		elementwise, activations, reductions, products, convolutions, pools, norms, views, joins, slicing, casts,
		moves, generators, states, functions, parametrics, comparisons, resizes, recurrents,
		quantization, compressions,
		indexing, randoms,
	} {
		for i := range family {
			t[family[i].Name] = &family[i]
		}
	}
	return t
}()
