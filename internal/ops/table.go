package ops

import (
	"cmp"
	"maps"
	"slices"

	"github.com/anekit/anekit/internal/near"
)

// Def is the row of one operator in the table: all that this module knows about it, except its kernel in the software
// engine. Rows are in the files of their families. table lists these files, with the Family and Cost of most rows.
//
//   - Analyze and Infer check a call by Params, then by the function infer, which computes types and shapes.
//   - ane/mil/build has a method for each row.
//   - Place says where a call runs on a chip and why, with the figures of package chip. support tells which compilers
//     take the operator, and the function limits which calls of it they take. Package lint has a rule for each
//     Reason.Rule and reports what Place answers; package cost asks it what Core ML runs on the CPU.
type Def struct {
	Name   string
	Since  int // number of the opset that brought the operator: 17 and 18, or 16 for all before
	Family Family
	Cost   Cost
	Params []*Param
	// Doc says what the operator does, for the comment of its method in ane/mil/build after the method's name, without
	// a period: "returns max(x, 0)". It is empty where the method is written by hand, because it has options.
	Doc string
	// Effect operators change a state. They run even if nothing uses their results.
	Effect bool
	// Error is the largest error of a function that the engine looks up in a table, as published for M6: "3.4e-3" or
	// "2.1 ulp".
	Error string

	support support
	limits  func(p *placing) // what keeps a call from the engine
	// infer checks the call and sets its result types and Attrs. x is the value of the first of Params, or its first.
	infer func(c *Call, x *Value)
}

// The columns that few rows have are set by these, as in unary("mod").refused("..").

func (d *Def) costs(c Cost) *Def                { d.Cost = c; return d }
func (d *Def) off(text string) *Def             { d.Error = text; return d }
func (d *Def) limited(by func(p *placing)) *Def { d.limits = by; return d }
func (d *Def) nowhere(instead string) *Def      { d.support = nowhere(instead); return d }
func (d *Def) contested(instead string) *Def    { d.support.contested = instead; return d }

// partly sets how far the compilers of the engine take an operator.
func (d *Def) partly(memory, e5 verdict, instead string) *Def {
	d.support = support{memory: memory, e5: e5, instead: instead}
	return d
}

// constexpr reports whether the operator makes a constant of constants.
func (d *Def) constexpr() bool { return d.Family == Constexprs }

// Lookup returns the operator called name, or nil. The Def is shared: do not change it.
func Lookup(name string) *Def { return table[name] }

// Names lists every operator, const included, in alphabetical order.
func Names() []string {
	return slices.Sorted(slices.Values(append(slices.Collect(maps.Keys(table)), "const")))
}

// Suggest is for a kind that Lookup does not know. surely reports that no other engine has it either: it is like one
// that Lookup knows, or no program for the Neural Engine can have it. hint says what to write instead.
func Suggest(kind string) (hint string, surely bool) {
	like := near.Hint(kind, Names())
	return like + "ane-roundtrip info --json lists all operators", like != ""
}

// table holds every operator except const, which Analyze reads itself. It is never changed after the program starts.
var table = func() map[string]*Def {
	t := map[string]*Def{}
	for _, f := range []struct {
		Family
		Cost
		defs []*Def
	}{
		{Unaries, Function, unaries}, {Binaries, Pass, binaries}, {Reductions, Pass, reductions}, {Norms, Twice, norms},
		{Products, Multiplies, products}, {Products, Multiplies, convolutions}, {Pools, Pass, pools},
		{Views, Free, views}, {Views, Free, buffers}, {Movements, Moves, moves}, {Slices, Moves, slicing}, {Indexing, Pass, indexing},
		{Detections, Moves, detections},
		{Sampling, Pass, resizes}, {Conversions, Pass, conversions}, {Generators, Pass, generators},
		{Recurrents, Pass, recurrents}, {States, Pass, states}, {Constexprs, Free, compressions},
		{Lists, Moves, lists}, {Controls, Free, controls},
	} {
		for _, d := range f.defs {
			d.Since, d.Family, d.Cost = max(d.Since, 16), cmp.Or(d.Family, f.Family), cmp.Or(d.Cost, f.Cost)
			t[d.Name] = d
		}
	}
	return t
}()
