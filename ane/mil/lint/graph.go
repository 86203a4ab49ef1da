package lint

import (
	"math"
	"slices"

	"github.com/anekit/anekit/ane/chip"
	"github.com/anekit/anekit/ane/mil"
	"github.com/anekit/anekit/internal/ops"
)

// each visits the statements that are no const.
func (r *run) each(visit func(n *ops.Node)) {
	for _, f := range r.funcs {
		for _, n := range f.Statements {
			if n.Op.Kind != "const" {
				visit(n)
			}
		}
	}
}

// runs reports whether an engine runs a statement, or keeps its result as a weight: compiling computes the others.
func runs(n *ops.Node) bool { return !n.Folded() || family(n) == ops.Constexprs }

func (r *run) placements() {
	for _, compiler := range r.Compilers {
		for _, on := range r.Chips {
			for _, f := range r.funcs {
				for _, reason := range ops.Place(f, on, compiler).Reasons {
					rule := byID(reason.Rule)
					if !r.wants(rule, compiler) {
						continue
					}
					severity := rule.Severity
					if !reason.Sure || reason.Remark {
						severity = min(severity, Warning)
					}
					if severity == Error && compiler == chip.CoreML {
						severity = Warning
						reason.Why += "; Core ML runs it on the CPU"
					}
					c := &check{run: r, rule: rule, compiler: compiler, chips: []chip.Chip{on}, source: reason.Source}
					c.report(severity, reason.Pos, reason.Instead, "%s", reason.Why)
				}
			}
		}
	}
}

func result(n *ops.Node) *ops.Value {
	if len(n.Out) == 0 {
		return nil
	}
	return n.Out[0]
}

// family is the family of the operator, 0 for one that the table does not have.
func family(n *ops.Node) ops.Family {
	if n.Def == nil {
		return 0
	}
	return n.Def.Family
}

// madeBy reports whether one of the operators computes a value.
func madeBy(v *ops.Value, kinds ...string) bool {
	return v != nil && v.Made != nil && slices.Contains(kinds, v.Made.Op.Kind)
}

// moves reports whether the operator copies elements without computing any.
func moves(n *ops.Node) bool {
	return n.Def != nil && (n.Def.Cost == ops.Moves || n.Def.Cost == ops.Free)
}

// literal returns the elements of a constant in the text, as they are written.
func literal(v *ops.Value) (list []float64) {
	switch {
	case v == nil || v.Literal == nil || v.Literal.Blob() != nil:
	case v.DType.Float():
		list, _ = v.Literal.Floats()
	case v.DType.Integer():
		whole, _ := v.Literal.Ints()
		for _, n := range whole {
			list = append(list, float64(n))
		}
	}
	return list
}

// number returns a single number of a constant; false if there is none.
func number(v *ops.Value) (float64, bool) {
	if v == nil || v.Elements() != 1 {
		return 0, false
	}
	list := literal(v)
	return append(list, 0)[0], len(list) == 1
}

// setting returns a number setting, its default if it is absent, NaN without one.
func setting(n *ops.Node, name string) float64 {
	if f, ok := number(n.Value(name)); ok {
		return f
	}
	if p := n.Def.Param(name); p != nil {
		if f, ok := p.Default.(float64); ok {
			return f
		}
	}
	return math.NaN()
}

// bareType returns the type that a literal without one should have: that of the other operands for a tensor, and of x
// for a number with a fraction.
func bareType(n *ops.Node, name string, v *mil.Value) mil.DType {
	guess, whole := v.BareType(), v.BareType() == mil.Int32
	if n.Def != nil && whole {
		if p := n.Def.Param(name); p != nil && p.Const && p.Kind != ops.Number {
			return guess
		}
	}
	if guess == mil.Bool {
		return guess
	}
	for _, a := range n.Op.Args {
		if o := n.Value(a.Name); o != nil && a.Name != name && !o.Folded {
			if o.DType.Float() || whole && o.DType.Integer() {
				return o.DType
			}
		}
	}
	return guess
}

func few(list []int) []int { return list[:min(len(list), 8)] }
