package mil

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// author writes programs that Validate accepts, wholly in one dialect.
type author struct {
	t       *rapid.T
	dialect Dialect
	narrow  bool // types narrower than a byte occur
	names   []string
	count   int
}

func (a *author) pick(n int) int { return rapid.IntRange(0, n-1).Draw(a.t, "choice") }

// some makes least to most elements, each of which shrinking can leave out.
func some[V any](a *author, least, most int, one func(i int) V) []V {
	i := 0
	return rapid.SliceOfN(rapid.Custom(func(t *rapid.T) V {
		outer := a.t
		a.t = t
		defer func() { a.t = outer }()
		i++
		return one(i - 1)
	}), least, most).Draw(a.t, "list")
}

func (a *author) fresh() string {
	a.count++
	return []string{"v", "relu", "x_", "_", "Z"}[a.pick(5)] + strconv.Itoa(a.count)
}

// scalar returns an element type; the old dialect has none narrower than a byte.
func (a *author) scalar() DType {
	var all []DType
	for d := DType(1); d <= UInt64; d++ {
		if a.narrow || d.Bits() >= 8 || d == String {
			all = append(all, d)
		}
	}
	return rapid.SampledFrom(all).Draw(a.t, "type")
}

func (a *author) box(t Type) Type {
	if a.dialect == OldText {
		return t.boxed()
	}
	return t
}

// typ returns the type of a variable, of an attribute or of an element of one.
func (a *author) typ(depth int) Type {
	switch n := a.pick(8); {
	case n < 3 || depth > 3:
		return a.box(ScalarOf(a.scalar()))
	case n < 5:
		return Type{Kind: Tensor, DType: a.scalar(), Dims: some(a, 1, 5, func(int) Dim {
			return []Dim{{Size: a.pick(99)}, {Symbol: "?"}, {Symbol: "n"}}[a.pick(3)]
		})}
	case n == 5:
		return Type{Kind: Dict, Elems: []Type{a.typ(depth + 1), a.typ(depth + 1)}}
	case n == 6 && a.dialect == NewText && depth == 0 && a.pick(2) == 0:
		t := Type{Kind: TensorBuffer, DType: a.scalar(), Dims: []Dim{{Size: 3}, {Symbol: "?"}}, Buffer: &Buffer{}}
		if a.pick(2) == 0 {
			t.Buffer = &Buffer{Strides: []int{a.pick(99), 0}, Interleave: []int{1, 1 + a.pick(4)}}
		}
		return t
	case n == 6:
		return Type{Kind: List, Dims: []Dim{{Size: a.pick(9)}}, Elems: []Type{a.typ(depth + 1)}}
	}
	return Type{Kind: Tuple, Elems: some(a, 1, 3, func(int) Type { return a.typ(depth + 1) })}
}

// leaf returns a literal of the element type d.
func (a *author) leaf(d DType) Literal {
	switch {
	case d == Bool:
		return BoolLit{Value: a.pick(2) == 0}
	case d == String:
		return StringLit{Value: []string{"", "é\n\"\\", "\x00\xff\x7f", "// no comment", "a\tb"}[a.pick(5)]}
	case d.Float():
		return Number{Text: []string{"0", "-1.5", "inf", "-inf", "nan", "1e-3", "0x1.4cccccccccccdp-1", "-0x1.388p+13",
			"0x.8p0"}[a.pick(8)]}
	}
	return Number{Text: strconv.Itoa(a.pick(2))}
}

// value returns a typed literal: a scalar, a flat or nested tensor, or a weight.
func (a *author) value() *Value {
	d := a.scalar()
	if d == Int1 {
		d = UInt1
	}
	switch a.pick(5) {
	case 0:
		return &Value{Type: a.box(ScalarOf(d)), Literal: a.leaf(d)}
	case 1:
		return &Value{Type: TensorOf(d, 1), Literal: a.leaf(d)}
	case 2:
		v := BlobValue(TensorOf(d, 1+a.pick(9)), "@model_path/w.bin", 64)
		blob := v.Literal.(*Blob)
		blob.Path.Type, blob.Offset.Type = a.box(blob.Path.Type), a.box(blob.Offset.Type)
		return v
	}
	n, m := a.pick(4), 1+a.pick(3)
	flat, nested := &ListLit{}, &ListLit{}
	for range n {
		row := &ListLit{}
		for range m {
			l := a.leaf(d)
			if a.pick(9) == 0 {
				l = &Value{Type: a.box(ScalarOf(d)), Literal: l}
			}
			row.Items = append(row.Items, l)
		}
		nested.Items, flat.Items = append(nested.Items, row), append(flat.Items, row.Items...)
	}
	v := &Value{Type: TensorOf(d, n, m), Literal: flat}
	if a.pick(2) == 0 && n > 0 {
		v.Literal = nested
	}
	return v
}

// operand returns an operand of an argument, or of an attribute, which has a type.
func (a *author) operand(depth int, attribute bool) Operand {
	switch n := a.pick(9); {
	case n < 3 && len(a.names) > 0:
		return Ref{Name: a.names[a.pick(len(a.names))]}
	case n == 3 && depth < 4:
		return &Values{Items: some(a, 0, 3, func(int) Operand { return a.operand(depth+1, attribute) })}
	case n == 4 && depth < 4:
		return &Nested{Args: a.args(depth+1, false), Attrs: a.args(depth+1, true)}
	case n == 5 && !attribute:
		return &Value{Literal: a.leaf([]DType{Bool, FP16, Int32}[a.pick(3)])}
	case n == 6:
		t := a.typ(0)
		for t.Kind == Scalar || t.Kind == Tensor {
			t = a.typ(0)
		}
		return &Value{Type: t, Literal: &TupleLit{Items: []Literal{a.value(), &DictLit{Pairs: []Pair{{a.leaf(String),
			&ListLit{Items: []Literal{a.leaf(Bool)}}}}}}}}
	}
	return a.value()
}

func (a *author) args(depth int, attribute bool) []Arg {
	return some(a, 0, 3, func(i int) Arg {
		return A(fmt.Sprintf("%s%d", []string{"x", "tensor", "axis"}[a.pick(3)], i), a.operand(depth, attribute))
	})
}

// program returns a program.
func (a *author) program() *Program {
	p := &Program{Version: "1.3", Attrs: a.args(0, true)}
	opset := "ios18"
	if a.dialect == OldText {
		p.Version, opset = "1.0", []string{"ios15", "ios16", "ios17", "CoreML6"}[a.pick(4)]
	}
	p.Funcs = some(a, 0, 3, func(i int) *Function { return a.function(fmt.Sprintf("f%d", i), opset) })
	return p
}

func (a *author) function(name, opset string) *Function {
	a.names = nil
	defer func() { a.names = nil }()
	f := &Function{Name: name, Opset: opset, Attrs: a.args(0, true), Params: a.variables(1, 3)}
	a.define(f.Params)
	f.Body = some(a, 0, 11, func(int) *Op { return a.statement(0) })
	f.Results = []Ref{{Name: a.names[a.pick(len(a.names))]}}
	return f
}

// variables makes parameters or results, and define adds them to the names in use.
func (a *author) variables(least, most int) []Var {
	return some(a, least, most, func(int) Var { return V(a.typ(0), a.fresh()) })
}

func (a *author) define(list []Var) {
	for _, v := range list {
		a.names = append(a.names, v.Name)
	}
}

// statement returns a statement, with blocks of statements that go at most three deep.
func (a *author) statement(depth int) *Op {
	op := &Op{Kind: []string{"const", "mul", "write_it", "constexpr_cast", "quantize"}[a.pick(5)],
		Args: a.args(0, false), Attrs: a.args(0, true)}
	if a.pick(5) == 0 && op.Kind != "const" {
		op.Opset = "ios17"
	}
	for i := range op.Attrs {
		op.Attrs[i].Name = fmt.Sprintf("attr%d", i)
	}
	if a.pick(4) == 0 && depth < 3 {
		op.Blocks = some(a, 1, 2, func(i int) *Block {
			outer := len(a.names)
			defer func() { a.names = a.names[:outer] }()
			b := &Block{Name: fmt.Sprintf("body%d", i), Params: a.variables(0, 2)}
			a.define(b.Params)
			b.Body = some(a, 0, 3, func(int) *Op { return a.statement(depth + 1) })
			b.Results = some(a, 0, 2, func(int) Ref { return Ref{Name: a.names[a.pick(len(a.names))]} })
			return b
		})
	}
	op.Results = a.variables(0, 2)
	a.define(op.Results)
	return op
}

// comment puts comments and line breaks before some tokens of a text, and returns how many
// comments.
func (a *author) comment(text string) (string, int) {
	var out strings.Builder
	s := newScanner(text, func(Pos, string, string) {})
	var tok token
	done, n := 0, 0
	for {
		s.space()
		start := s.off
		if s.next(&tok); tok.kind == tokEOF {
			break
		}
		out.WriteString(text[done:start])
		done = start
		switch a.pick(12) {
		case 0:
			out.WriteString(" // c! (\"[\n")
			n++
		case 1:
			out.WriteString("\n\n\t// c!\r\n // c!\n\n")
			n += 2
		case 2:
			out.WriteString("\n")
		}
	}
	out.WriteString(text[done:])
	return out.String(), n
}

// written is a program, and its text with comments.
type written struct {
	*Program
	dialect   Dialect
	narrow    bool
	commented string
	comments  int
}

func (w written) GoString() string {
	return fmt.Sprintf("%s\ncommented:\n%s", Print(w.Program), w.commented)
}

// TestRandomPrograms prints and parses programs of both dialects, formats them, and converts them to the other dialect
// and back.
func TestRandomPrograms(t *testing.T) {
	programs := rapid.Custom(func(t *rapid.T) (w written) {
		a := &author{t: t, dialect: rapid.SampledFrom([]Dialect{NewText, OldText}).Draw(t, "dialect")}
		a.narrow = a.dialect == NewText && rapid.Bool().Draw(t, "narrow")
		w = written{Program: a.program(), dialect: a.dialect, narrow: a.narrow}
		w.commented, w.comments = a.comment(string(Print(w.Program)))
		return w
	})
	rapid.Check(t, func(t *rapid.T) {
		w := programs.Draw(t, "program")
		p, text := w.Program, Print(w.Program)
		require.NoError(t, Validate("p", p))
		q, err := Parse("p", text)
		require.NoError(t, err)
		require.True(t, Equal(p, q))
		out, err := Format("p", text)
		require.NoError(t, err)
		require.Equal(t, string(text), string(out))

		out, err = Format("p", []byte(w.commented))
		require.NoError(t, err)
		require.Equal(t, w.comments, strings.Count(string(out), "// c!"), "%s", out)
		again, err := Format("p", out)
		require.NoError(t, err)
		require.Equal(t, string(out), string(again))

		kept, err := Convert(p, w.dialect)
		require.NoError(t, err)
		require.True(t, Equal(p, kept))
		other, err := Convert(p, 1-w.dialect)
		if err != nil && (w.narrow || strings.Contains(string(text), "tensor_buffer")) { // the old dialect lacks them
			return
		}
		require.NoError(t, err)
		require.NoError(t, Validate("p", other))
		twice, err := Convert(other, 1-w.dialect)
		require.NoError(t, err)
		require.True(t, Equal(twice, other), "%s", Print(other))
		q, err = Parse("p", Print(other))
		require.NoError(t, err, "%s", Print(other))
		require.True(t, Equal(other, q))
		back, err := Convert(other, w.dialect)
		require.NoError(t, err)
		require.True(t, Equal(p, back), "%s\n%s", Print(other), Print(back))
	})
}
