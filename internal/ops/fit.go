package ops

import (
	"slices"

	"github.com/anekit/anekit/ane/chip"
	"github.com/anekit/anekit/ane/mil"
	"github.com/anekit/anekit/internal/near"
)

// value places an input or a result: a tensor of the engine, or a surface.
func (p *placing) value(v *Value) {
	p.pos, p.here = v.Pos, OnEngine
	name, what := near.Cut(v.Name), near.Cut(v.Name)
	if v.input {
		what = "input " + name
	}
	if v.State {
		p.state(what + " is a state")
	}
	if v.input && narrow(v.DType) {
		p.refuse("int4-operand", ironmill, "%s is %v", what, v.DType)
	}
	if !v.Open { // lint tells once what compilers do with open axes
		p.sizes(v, name)
		if v.input {
			p.surface(v, what)
		} else if v.Returned && v.Literal == nil {
			p.surface(v, "output "+name)
		}
	}
	p.of[v] = max(p.of[v], p.here)
}

// sizes adds the limits of any tensor that the engine computes or is given. Constants have limits of their own: those
// of the operators that take them.
func (p *placing) sizes(v *Value, name string) {
	if v.Folded {
		return
	}
	s := p.spec
	p.most(v.Rank(), s.Rank, "rank", "%s has rank %d", name, v.Rank())
	for i, n := range v.Shape {
		limit := s.Axis
		if i == v.Rank()-3 {
			limit = s.Channels
		}
		p.most(n, limit, "axis-length", "%s: axis %d has length %d", name, i, n)
	}
}

// unfit are the types that no surface of a compiler has, beside whole numbers of less than 8 bits, and those that
// no published program has.
var unfit = map[chip.Compiler]struct{ refused, doubtful []mil.DType }{
	chip.InMemory: {
		[]mil.DType{mil.Int8, mil.Int32, mil.UInt32, mil.Int64, mil.UInt64, mil.FP64, mil.BF16, mil.String},
		[]mil.DType{mil.UInt8, mil.Int16, mil.UInt16},
	},
	chip.E5: {refused: []mil.DType{mil.FP32, mil.Int32, mil.UInt32, mil.Bool, mil.Int64, mil.UInt64, mil.FP64, mil.BF16,
		mil.String}},
	chip.CoreML: {refused: []mil.DType{mil.Int32, mil.UInt32, mil.Int64, mil.UInt64, mil.FP64, mil.String}},
}

// surface adds what keeps an input or output from a surface.
func (p *placing) surface(v *Value, what string) {
	switch types := unfit[p.via]; {
	case p.via == chip.CoreML: // takes it; what computes with it has a reason of its own
	case v.Written != nil && !v.buffered(): // a list, a label or a dictionary
		p.doubt("io-type", "inferred: surfaces hold tensors, not tried", "%s is %v", what, v.Type())
	case slices.Contains(types.refused, v.DType) || v.DType.Bits() < 8 && v.DType.Integer():
		p.refuse("io-type", tried[p.via].Source, "%s is %v, which the %v compiler does not take", what, v.DType, p.via)
	case slices.Contains(types.doubtful, v.DType):
		p.doubt("io-type", tried[p.via].Source, "%s is %v, which no published program for the %v compiler has", what,
			v.DType, p.via)
	}
	if n, most := int64(v.Surface()), p.spec.SurfaceBytes; n > most.Value {
		p.refuse("large-surface", cited(most), "%s needs %d bytes, at most %d", what, n, most.Value)
	}
}
