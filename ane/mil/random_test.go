package mil

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/internal/effort"
)

// author writes random programs that Validate accepts, wholly in one dialect.
type author struct {
	r       *rand.Rand
	dialect Dialect
	names   []string
	count   int
}

func (a *author) pick(n int) int { return a.r.IntN(n) }

func (a *author) fresh() string {
	a.count++
	return []string{"v", "relu", "x_", "_", "Z"}[a.pick(5)] + strconv.Itoa(a.count)
}

// scalar returns an element type; the old dialect has none narrower than a byte.
func (a *author) scalar() DType {
	for {
		d := DType(1 + a.pick(int(UInt64)))
		if a.dialect == NewText || d.Bits() >= 8 || d == String {
			return d
		}
	}
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
		t := Type{Kind: Tensor, DType: a.scalar()}
		for range 1 + a.pick(5) {
			t.Dims = append(t.Dims, []Dim{{Size: a.pick(99)}, {Symbol: "?"}, {Symbol: "n"}}[a.pick(3)])
		}
		return t
	case n == 5:
		return DictOf(a.typ(depth+1), a.typ(depth+1))
	case n == 6:
		return Type{Kind: List, Dims: []Dim{{Size: a.pick(9)}}, Elems: []Type{a.typ(depth + 1)}}
	}
	t := Type{Kind: Tuple}
	for range 1 + a.pick(3) {
		t.Elems = append(t.Elems, a.typ(depth+1))
	}
	return t
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
		v := &Values{}
		for range a.pick(4) {
			v.Items = append(v.Items, a.operand(depth+1, attribute))
		}
		return v
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
	var args []Arg
	for i := range a.pick(4) {
		args = append(args, A(fmt.Sprintf("%s%d", []string{"x", "tensor", "axis"}[a.pick(3)], i),
			a.operand(depth, attribute)))
	}
	return args
}

// program returns a random program.
func (a *author) program() *Program {
	p := &Program{Version: "1.3", Attrs: a.args(0, true)}
	opset := "ios18"
	if a.dialect == OldText {
		p.Version, opset = "1.0", []string{"ios15", "ios16", "ios17", "CoreML6"}[a.pick(4)]
	}
	for i := range a.pick(4) {
		f := &Function{Name: fmt.Sprintf("f%d", i), Opset: opset}
		a.names = nil
		f.Attrs = a.args(0, true)
		for range 1 + a.pick(3) {
			f.Params = append(f.Params, V(a.typ(0), a.fresh()))
		}
		for _, v := range f.Params {
			a.names = append(a.names, v.Name)
		}
		for range a.pick(12) {
			op := &Op{Kind: []string{"const", "mul", "write_it", "constexpr_cast", "quantize"}[a.pick(5)],
				Args: a.args(0, false)}
			for i, attr := range a.args(0, true) {
				attr.Name = fmt.Sprintf("attr%d", i)
				op.Attrs = append(op.Attrs, attr)
			}
			for range a.pick(3) {
				op.Results = append(op.Results, V(a.typ(0), a.fresh()))
			}
			for _, v := range op.Results {
				a.names = append(a.names, v.Name)
			}
			f.Body = append(f.Body, op)
		}
		f.Results = []Ref{{Name: a.names[a.pick(len(a.names))]}}
		p.Funcs = append(p.Funcs, f)
		a.names = nil
	}
	return p
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

// TestRandomPrograms prints and parses random programs of both dialects, formats them, and
// converts them to the other dialect and back.
func TestRandomPrograms(t *testing.T) {
	moved, programs := 0, effort.Rounds(300, 75)
	for seed := range uint64(programs) {
		a := &author{r: rand.New(rand.NewPCG(seed, 11)), dialect: Dialect(seed % 2)}
		p := a.program()
		text := Print(p)
		require.NoError(t, Validate("p", p), "%s", text)
		q, err := Parse("p", text)
		require.NoError(t, err, "%s", text)
		require.True(t, Equal(p, q), "%s", text)
		out, err := Format("p", text)
		require.NoError(t, err)
		require.Equal(t, string(text), string(out))

		commented, n := a.comment(string(text))
		out, err = Format("p", []byte(commented))
		require.NoError(t, err, "%s", commented)
		require.Equal(t, n, strings.Count(string(out), "// c!"), "%s\n%s", commented, out)
		again, err := Format("p", out)
		require.NoError(t, err)
		require.Equal(t, string(out), string(again))

		kept, err := Convert(p, a.dialect)
		require.NoError(t, err)
		require.True(t, Equal(p, kept), "%s", text)
		other, err := Convert(p, 1-a.dialect)
		if err != nil { // the program has a type narrower than a byte
			require.Equal(t, NewText, a.dialect)
			continue
		}
		moved++
		require.NoError(t, Validate("p", other))
		twice, err := Convert(other, 1-a.dialect)
		require.NoError(t, err)
		require.True(t, Equal(twice, other), "%s", Print(other))
		q, err = Parse("p", Print(other))
		require.NoError(t, err, "%s", Print(other))
		require.True(t, Equal(other, q))
		back, err := Convert(other, a.dialect)
		require.NoError(t, err)
		require.True(t, Equal(p, back), "%s\n%s\n%s", text, Print(other), Print(back))
	}
	require.Greater(t, moved, programs/2)
}
