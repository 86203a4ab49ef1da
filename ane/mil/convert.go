package mil

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/anekit/anekit/internal/near"
)

// Dialect is one of the two forms of MIL text. Parse reads both, also mixed.
type Dialect uint8

// The dialects. Compilers for M1 and M2 were reported to need the old one.
const (
	// NewText is program(1.3) with the opset ios18 and plain scalars: int32(1).
	NewText Dialect = iota
	// OldText is program(1.0) with the opsets ios15 to ios17 and boxed scalars: tensor<int32, []>(1).
	OldText
)

// String returns new or old.
func (d Dialect) String() string {
	if d == OldText {
		return "old"
	}
	return "new"
}

// ParseDialect returns the Dialect that String calls s, and whether there is one.
func ParseDialect(s string) (d Dialect, ok bool) {
	if s == OldText.String() {
		return OldText, true
	}
	return NewText, s == NewText.String()
}

// Opsets of the dialects: ios16 is the one that M1 was reported to need.
const (
	oldestOpset = 15
	usualOpset  = 16 // of the old dialect
	newOpset    = 18
)

// Convert returns a copy of p wholly in the dialect d: the version, the opset of every function, and the spelling of
// every scalar type. The copy computes the same. p does not change.
//
// To the old dialect, a function takes the opset ios16, or ios17 if it calls an operator that ios16 lacks; ios15 to
// ios17 stay. To the new one, it takes ios18. Converting the returned tree back restores an Equal program if p was
// wholly in one dialect; the tree, not its text, remembers opsets other than those.
//
// The error is an ErrorList. It has the faults of Validate, except those of names, or the place of everything that d
// cannot express. The old dialect has no types narrower than a byte, no states and no operators of ios18. The new one
// lacks the forms of constexpr_* operators that ios18 replaced.
func Convert(p *Program, d Dialect) (*Program, error) { return convert("", p, d) }

// convert is Convert with the name of the file in faults.
func convert(file string, p *Program, d Dialect) (*Program, error) {
	if d > OldText {
		return nil, ErrorList{{File: file, Msg: fmt.Sprintf("dialect %d is not known", d), Hint: "give NewText or OldText"}}
	}
	if err := Validate(file, p); err != nil && !OnlyNames(err) {
		return nil, err
	}
	c := converter{to: d, faults: faults{file: file}}
	out := c.program(p)
	if err := c.faults.err(); err != nil {
		return nil, err
	}
	return out, nil
}

// converter copies a tree from one dialect to the other.
type converter struct {
	to     Dialect
	faults faults
	opset  int // the least that the function needs
}

func (c *converter) fail(pos Pos, msg, hint string) {
	c.faults.add(&Error{Pos: pos, Msg: msg, Hint: hint})
}

// each returns f of every item, nil of none.
func each[T, U any](items []T, f func(T) U) (list []U) {
	for _, item := range items {
		list = append(list, f(item))
	}
	return list
}

func (c *converter) program(p *Program) *Program {
	out := &Program{Pos: p.Pos, Version: "1.3", Attrs: c.args(p.Attrs, p.Pos), Funcs: each(p.Funcs, c.function)}
	if c.to == OldText {
		out.Version = "1.0"
	}
	return out
}

func (c *converter) function(f *Function) *Function {
	if c.opset = newOpset; c.to == OldText {
		c.opset = usualOpset
	}
	out := &Function{Pos: f.Pos, Name: f.Name, Attrs: c.args(f.Attrs, f.Pos), Results: slices.Clone(f.Results),
		Params: each(f.Params, c.variable)}
	out.Body = each(f.Body, c.statement)
	c.version(f, out)
	return out
}

func (c *converter) statement(op *Op) *Op {
	c.operator(op)
	return &Op{Pos: op.Pos, Kind: op.Kind, Opset: op.Opset, Args: c.args(op.Args, op.Pos),
		Attrs: c.args(op.Attrs, op.Pos), Results: each(op.Results, c.variable),
		Blocks: each(op.Blocks, func(b *Block) *Block {
			return &Block{Pos: b.Pos, Name: b.Name, Params: each(b.Params, c.variable),
				Body: each(b.Body, c.statement), Results: slices.Clone(b.Results)}
		})}
}

// opsetNumber returns the number of an opset: 18 for ios18 and for CoreML8, its name in
// other files of Core ML. It is 0 for every other name.
func opsetNumber(name string) int {
	for prefix, first := range map[string]int{"ios": 0, "CoreML": 10} {
		if digits, ok := strings.CutPrefix(name, prefix); ok {
			if n, err := strconv.Atoi(digits); err == nil && n > 0 && n < 1000 {
				return n + first
			}
		}
	}
	return 0
}

// KnownOpset reports whether the opset is one of Apple's, or may be one of the next years. If not, hint names the
// nearest one.
func (f *Function) KnownOpset() (known bool, hint string) {
	n := opsetNumber(f.Opset)
	if 13 <= n && n <= newOpset || 26 <= n && n < 36 { // Apple counts years since 2025
		return true, ""
	}
	hint = near.Hint(f.Opset, []string{"ios15", "ios16", "ios17", "ios18", "ios26", "CoreML5", "CoreML6", "CoreML7",
		"CoreML8"})
	return false, hint + "the opsets are ios15, ios16, ios17 and ios18"
}

// version sets the opset of the converted function out.
func (c *converter) version(f, out *Function) {
	n := opsetNumber(f.Opset)
	fits := n >= newOpset
	if c.to == OldText {
		fits = oldestOpset <= n && n < newOpset
	}
	known, hint := f.KnownOpset()
	if !known {
		c.fail(f.Pos, "function "+shorten(f.Name)+": "+quoteShort(f.Opset)+" is an opset of no dialect", hint)
	}
	if out.Opset = f.Opset; known && !fits {
		out.Opset, out.origin = cmp.Or(f.origin, "ios"+strconv.Itoa(c.opset)), f.Opset
	}
}

// replaced lists the operators of ios16 that ios18 gave another form, and the argument that only the form of ios16 has.
var replaced = map[string]string{"constexpr_lut_to_dense": "shape", "constexpr_sparse_to_dense": "shape"}

const (
	asInput    = "feed the state as an input, and return it as an output"
	recompress = "compress the weights in a form of ios16, such as constexpr_affine_dequantize"
)

// since lists the operators that ios16 lacks, the opset that brought each, and what a program of the old dialect has in
// place of one of ios18.
var since = map[string]struct {
	opset   int
	instead string
}{
	"quantize": {17, ""}, "dequantize": {17, ""}, "reshape_like": {17, ""}, "resize": {17, ""},
	"tensor_buffer_to_tensor": {17, ""}, "tensor_to_tensor_buffer": {17, ""},
	"constexpr_blockwise_shift_scale": {18, recompress}, "constexpr_sparse_blockwise_shift_scale": {18, recompress},
	"constexpr_lut_to_sparse":      {18, recompress},
	"scaled_dot_product_attention": {18, "write matmul, mul, softmax and matmul"},
	"slice_update":                 {18, "write slices and concat"}, "write_state": {18, asInput},
	"read_state": {18, asInput}, "coreml_update_state": {18, asInput},
}

// operator checks that the dialect has op, and notes the opset that it needs.
func (c *converter) operator(op *Op) {
	if name, ok := replaced[op.Kind]; ok {
		old := op.Arg(name) != nil || op.Attr(name) != nil
		switch {
		case old && c.to == NewText:
			c.fail(op.Pos, op.Kind+" with "+name+" is the form of ios16, which ios18 replaced",
				"compress the weights again for ios18, or keep the old dialect")
		case !old && c.to == OldText:
			c.fail(op.Pos, op.Kind+" without "+name+" is the form of ios18", "compress the weights again for ios16")
		}
	}
	if c.to != OldText {
		return
	}
	need := since[op.Kind]
	need.opset = max(need.opset, opsetNumber(op.Opset))
	if need.opset < newOpset {
		c.opset = max(c.opset, need.opset)
		return
	}
	c.fail(op.Pos, op.Kind+" is an operator of ios18; the old dialect has none of that name", need.instead)
}

func (c *converter) variable(v Var) Var {
	v.Type = c.typ(v.Type, v.Pos)
	return v
}

// typ spells t in the dialect.
func (c *converter) typ(t Type, pos Pos) Type {
	if bits := t.DType.Bits(); c.to == OldText && bits > 0 && bits < 8 {
		c.fail(pos, t.DType.String()+" is a type of ios18; the old dialect has none narrower than a byte",
			"store it as int8 or uint8")
	}
	out := Type{Kind: t.Kind, DType: t.DType, Dims: slices.Clone(t.Dims)}
	switch {
	case t.Kind == State:
		if c.to == OldText {
			c.fail(pos, "states are types of ios18; the old dialect has none", asInput)
		}
		out.Elems = slices.Clone(t.Elems)
		return out
	case t.Kind == TensorBuffer:
		if out.Buffer = t.Buffer; c.to == OldText {
			c.fail(pos, "tensor_buffer is in no known text of the old dialect", "declare a tensor")
		}
	case c.to == OldText:
		out = out.boxed()
	case t.Kind == Tensor && len(t.Dims) == 0:
		out = ScalarOf(t.DType)
	}
	out.Elems = each(t.Elems, func(e Type) Type { return c.typ(e, pos) })
	return out
}

// args converts named operands. Values without a place are reported at pos.
func (c *converter) args(args []Arg, pos Pos) []Arg {
	return each(args, func(a Arg) Arg {
		if a.Pos.Known() {
			pos = a.Pos
		}
		return Arg{Pos: a.Pos, Name: a.Name, Value: converted(c, a.Value, pos)}
	})
}

// converted converts an operand or a literal of a valid tree.
func converted[T any](c *converter, n T, pos Pos) T { return c.node(n, pos).(T) }

func (c *converter) node(n any, pos Pos) any {
	literal := func(l Literal) Literal { return converted(c, l, pos) }
	switch n := n.(type) {
	case *Value:
		if n.Bare() {
			return &Value{Pos: n.Pos, Literal: n.Literal}
		}
		if n.Pos.Known() {
			pos = n.Pos
		}
		return &Value{Pos: n.Pos, Type: c.typ(n.Type, pos), Literal: literal(n.Literal)}
	case *Values:
		return &Values{Pos: n.Pos, Items: each(n.Items, func(o Operand) Operand { return converted(c, o, pos) })}
	case *Nested:
		return &Nested{Pos: n.Pos, Args: c.args(n.Args, pos), Attrs: c.args(n.Attrs, pos)}
	case *Blob:
		return &Blob{Pos: n.Pos, Path: converted(c, n.Path, pos), Offset: converted(c, n.Offset, pos)}
	case *ListLit:
		return &ListLit{Pos: n.Pos, Items: each(n.Items, literal)}
	case *TupleLit:
		return &TupleLit{Pos: n.Pos, Items: each(n.Items, literal)}
	case *DictLit:
		return &DictLit{Pos: n.Pos, Pairs: each(n.Pairs, func(p Pair) Pair {
			return Pair{literal(p.Key), literal(p.Value)}
		})}
	}
	return n
}
