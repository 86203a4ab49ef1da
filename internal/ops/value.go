package ops

import (
	"encoding/binary"
	"slices"

	"github.com/anekit/anekit/ane/mil"
	"github.com/anekit/anekit/internal/element"
	"github.com/anekit/anekit/internal/remark"
)

// Limits of a single value.
const (
	// MaxRank is the largest rank. Beyond it Apple's compiler reports "Cannot reshape a tensor of rank > 5".
	MaxRank = 5
	// maxConstant is that of constants, and of what compiling computes from them alone. A lookup table has two axes more
	// than the weight.
	maxConstant = MaxRank + 2
	// MaxElements keeps every byte offset within an int and refuses shapes that
	// fit no machine with a Neural Engine: 2^31 elements are 4 GiB of fp16.
	MaxElements = 1 << 31
)

// Value is a tensor of the graph: an input, a constant or the result of a Node.
type Value struct {
	Name  string
	Pos   mil.Pos
	DType mil.DType
	Shape []int
	Data  []byte // the dense little-endian elements of a constant, else nil; see element.Size
	// Stored has integers of 2 to 7 bits as a weight file has them, without gaps from the low bits up, where
	// AnalyzeStored made the Graph: then Data is nil.
	Stored []byte
	Text   []string // the elements of a string constant
	// State marks a state parameter. DType and Shape are those of the tensor that it holds.
	State bool
	// Folded marks a value that is known when compiling, though perhaps not here: a constant, or computed from
	// constants alone.
	Folded bool
	Made   *Node   // that computes it, nil for a parameter and a constant
	Uses   []*Node // that take it as an operand or setting, in the order of the text
	// Open marks a value of a Survey that is no tensor, or has an axis without a length: Shape is nil.
	Open bool
	// Returned marks an output, in a Survey.
	Returned bool
	// Literal is a constant as the program writes it, in a Survey.
	Literal *mil.Value
	// Written is the type in the text of a value that engines hold in another form: of a list, or a label or dictionary
	// of classify; else nil.
	Written *mil.Type

	listed  bool    // a list: its first axis is the length
	from    *Value  // that a loop variable has before the first iteration
	input   bool    // a parameter of the function
	vague   bool    // of a Survey: rules do not take it
	bare    bool    // a number without a type: a setting may take it as float too
	known   bool    // a constant, perhaps without Data, or the result of a constexpr operator
	final   bool    // settle has looked at it
	guessed bool    // of a Survey: a faulty statement declares it, or one that settle looked at for it
	weight  *Weight // the weight that it was read from, or nil
}

// Const reports whether the value is known when compiling.
func (v *Value) Const() bool { return v.Data != nil || v.Text != nil || v.Stored != nil }

// Rank is the number of axes.
func (v *Value) Rank() int { return len(v.Shape) }

// Elements is the number of elements.
func (v *Value) Elements() int { return Volume(v.Shape) }

// Type returns the value's type as MIL spells it.
func (v *Value) Type() mil.Type {
	switch {
	case v.Written != nil:
		return *v.Written
	case v.listed:
		return v.list()
	case v.State:
		return mil.StateOf(mil.TensorOf(v.DType, v.Shape...))
	case v.Rank() == 0:
		return mil.ScalarOf(v.DType)
	}
	return mil.TensorOf(v.DType, v.Shape...)
}

// has reports whether t is the type of the value, or leaves lengths of it open.
func (v *Value) has(t mil.Type) bool { return fits(v.Type(), t) }

// fits reports whether a type is t, or one that t leaves open.
func fits(own, t mil.Type) bool {
	if own.Kind != t.Kind || own.DType != t.DType || len(own.Dims) != len(t.Dims) || own.Kind != mil.Tensor &&
		own.Kind != mil.List {
		return own.Same(t)
	}
	for i, d := range t.Dims {
		if d.Known() && own.Dims[i].Known() && d != own.Dims[i] {
			return false
		}
	}
	return slices.EqualFunc(own.Elems, t.Elems, fits)
}

// Bytes is the size of the packed elements; 2^50 stands for more.
func (v *Value) Bytes() int { return (times(max(v.DType.Bits(), 1), v.Shape...) + 7) / 8 }

// Surface is the size of a surface for the value, without padding at its end: each row takes a multiple of 64 bytes.
func (v *Value) Surface() int {
	if v.Rank() == 0 {
		return 64
	}
	row := times(max(v.DType.Bits(), 8), v.Shape[v.Rank()-1]) / 8
	return times((row+63)/64*64, v.Shape[:v.Rank()-1]...)
}

// times multiplies; 2^50 stands for more.
func times(n int, shape ...int) int {
	product := float64(n)
	for _, d := range shape {
		product *= float64(max(d, 0))
	}
	return int(min(product, 1<<50))
}

// Volume returns the product of the axis lengths of a shape, 1 for a scalar.
func Volume(shape []int) int {
	n := 1
	for _, d := range shape {
		n *= d
	}
	return n
}

// sensible reports whether every axis is at least 1 and the volume at most MaxElements.
func sensible(shape []int) bool { return times(1, shape...) >= 1 && times(1, shape...) <= MaxElements }

// Graph is one function, resolved: every name looked up, every type inferred.
type Graph struct {
	Function *mil.Function
	Inputs   []*Value
	Outputs  []*Value
	// States are the state parameters in the order of the text; Inputs has the others. An
	// engine keeps a state from one evaluation to the next, all zero at first. Nodes read
	// and write it in their order: an operator that takes a state has it among its In.
	States []*Value
	Nodes  []*Node
	// Notes are remarks that are not faults: what a real engine may refuse or compute differently.
	Notes  []string
	notes  remark.Notes // which makes them
	ranges []string     // those on numbers out of the range of their type
	// Parameters are Inputs and States in the order of the text.
	Parameters []*Value
	// A Survey has Faults, Statements and Values: what Analyze would refuse, all statements, and the values by name.
	// Constants and faulty statements are in Statements, not in Nodes.
	Faults     mil.ErrorList
	Statements []*Node
	Values     map[string]*Value
	// Weights are the constants that were read from files, in the order of the text;
	// those of the other functions follow.
	Weights []*Weight
}

// Floats returns the elements of a constant, converted exactly to float64. It returns
// nil for strings and for values that are not constant.
func (v *Value) Floats() []float64 {
	if v.Data == nil {
		return nil
	}
	size := element.Size(v.DType)
	out := make([]float64, v.Elements())
	for i := range out {
		out[i] = element.Load(v.DType, v.Data[i*size:])
	}
	return out
}

// same is a number that stands for itself.
func same(f float64) float64 { return f }

// encode packs the numbers that stand for the items of a list as elements of a type.
func encode[T any](d mil.DType, list []T, number func(T) float64) []byte {
	size := element.Size(d)
	out := make([]byte, len(list)*size)
	for i, x := range list {
		element.Store(d, out[i*size:], number(x))
	}
	return out
}

// encodeInts writes numbers, already checked against the type's range, as elements of an integer type.
func encodeInts(d mil.DType, is []int64) []byte {
	size := element.Size(d)
	out := make([]byte, 0, len(is)*size+8)
	for _, n := range is {
		out = binary.LittleEndian.AppendUint64(out, uint64(n))[:len(out)+size]
	}
	return out
}
