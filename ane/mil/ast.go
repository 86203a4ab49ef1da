package mil

import (
	"iter"
	"slices"
)

// Program is a MIL program as its text describes it, before a compiler sees it.
type Program struct {
	Pos     Pos
	Version string // the number as written, "1.3"
	Attrs   []Arg  // buildInfo and others
	Funcs   []*Function
}

// Tree returns p. With it a Program is an ane.Program, as what embeds one is.
func (p *Program) Tree() *Program { return p }

// Func returns the function called name, or nil.
func (p *Program) Func(name string) *Function {
	if i := slices.IndexFunc(p.Funcs, func(f *Function) bool { return f.Name == name }); i >= 0 {
		return p.Funcs[i]
	}
	return nil
}

// Select returns the function called name. An empty name selects main, or the first function of a program without main,
// which is procedure 0 of the compiled program. Select returns nil when there is no such function.
func (p *Program) Select(name string) *Function {
	if name != "" {
		return p.Func(name)
	}
	if f := p.Func("main"); f != nil || len(p.Funcs) == 0 {
		return f
	}
	return p.Funcs[0]
}

// Function is one procedure of a program.
type Function struct {
	Pos     Pos
	Name    string
	Opset   string // "ios18"
	Params  []Var
	Attrs   []Arg
	Body    []*Op
	Results []Ref // names of the values that the function returns

	origin string // the opset from which Convert moved the function
}

// Ops returns every statement in the order of the text: after one with blocks those in the blocks.
func (f *Function) Ops() iter.Seq[*Op] {
	return func(yield func(*Op) bool) { eachOp(f.Body, yield) }
}

func eachOp(body []*Op, yield func(*Op) bool) bool {
	for _, op := range body {
		if op == nil {
			continue
		}
		if !yield(op) {
			return false
		}
		for _, b := range op.Blocks {
			if b != nil && !eachOp(b.Body, yield) {
				return false
			}
		}
	}
	return true
}

// Var declares a value: a parameter of a function or of a block, or a result of an Op.
type Var struct {
	Pos  Pos // of the type
	At   Pos // of the name
	Type Type
	Name string
}

// Op is one statement of a body.
type Op struct {
	Pos     Pos // of the operator's name
	Kind    string
	Opset   string // "ios17" of tensor_buffer_to_tensor<ios17>(..); mostly empty
	Results []Var
	Args    []Arg
	Attrs   []Arg    // in brackets after the arguments; the attribute name is the label
	Blocks  []*Block // of cond: true, false; of while_loop: condition, body
}

// Block is a body inside a statement. It sees every name that is defined above the statement, and its own. A name of
// its own ends with it, so that other blocks may have the same.
type Block struct {
	Pos     Pos
	Name    string // if empty, Print writes block0, block1 ..
	Params  []Var
	Body    []*Op
	Results []Ref
}

// Arg returns the argument called name, or nil.
func (o *Op) Arg(name string) *Arg { return find(o.Args, name) }

// Attr returns the attribute called name, or nil.
func (o *Op) Attr(name string) *Arg { return find(o.Attrs, name) }

func find(args []Arg, name string) *Arg {
	if i := slices.IndexFunc(args, func(a Arg) bool { return a.Name == name }); i >= 0 {
		return &args[i]
	}
	return nil
}

// Arg is a named operand.
type Arg struct {
	Pos   Pos // of the name
	Name  string
	Value Operand
}

// Operand is what an argument holds: a Ref, a Value, a Values or a Nested.
type Operand interface {
	Start() Pos
	operand()
}

// Ref names a value that is defined above.
type Ref struct {
	Pos  Pos
	Name string
}

// Value is a typed literal: fp16(0.5), tensor<int32, [2]>([1, 1]). A number or a truth
// value without a type, as in axis = 1, is a Value with the zero Type; see Bare.
type Value struct {
	Pos     Pos
	Type    Type
	Literal Literal
}

// Values is a parenthesized list of operands: values = (a, b).
type Values struct {
	Pos   Pos
	Items []Operand
}

// Nested is a const written in place of an operand. Parse reads it and Print
// writes it again; a Builder never produces it.
type Nested struct {
	Pos   Pos
	Args  []Arg
	Attrs []Arg
}

// Literal is the content of a Value: Number, BoolLit, StringLit, *Value, Blob, ListLit, DictLit or TupleLit.
type Literal interface {
	literal() Pos // of the first character
}

// Number is a numeric literal as written: decimal, C99 hexadecimal float, inf or nan, with an optional minus sign.
type Number struct {
	Pos  Pos
	Text string
}

// BoolLit is true or false.
type BoolLit struct {
	Pos   Pos
	Value bool
}

// StringLit is a string, unquoted.
type StringLit struct {
	Pos   Pos
	Value string
}

// Blob names an entry of a weight file.
type Blob struct {
	Pos    Pos
	Path   *Value // string
	Offset *Value // uint64: where the entry's metadata starts, in bytes
}

// ListLit is a bracketed list: a tensor, row-major, nested or flat.
type ListLit struct {
	Pos   Pos
	Items []Literal
}

// DictLit is a list of pairs.
type DictLit struct {
	Pos   Pos
	Pairs []Pair
}

// Pair is one entry of a DictLit.
type Pair struct{ Key, Value Literal }

// TupleLit is a parenthesized list of literals.
type TupleLit struct {
	Pos   Pos
	Items []Literal
}

// Start returns the position of the operand's first character.
func (r Ref) Start() Pos { return r.Pos }

// Start returns the position of the operand's first character.
func (v *Value) Start() Pos { return v.Pos }

// Start returns the position of the opening parenthesis.
func (v *Values) Start() Pos { return v.Pos }

// Start returns the position of the word const.
func (n *Nested) Start() Pos { return n.Pos }

func (Ref) operand()     {}
func (*Value) operand()  {}
func (*Values) operand() {}
func (*Nested) operand() {}

func (n Number) literal() Pos    { return n.Pos }
func (b BoolLit) literal() Pos   { return b.Pos }
func (s StringLit) literal() Pos { return s.Pos }
func (v *Value) literal() Pos    { return v.Pos }
func (b *Blob) literal() Pos     { return b.Pos }
func (l *ListLit) literal() Pos  { return l.Pos }
func (d *DictLit) literal() Pos  { return d.Pos }
func (t *TupleLit) literal() Pos { return t.Pos }
