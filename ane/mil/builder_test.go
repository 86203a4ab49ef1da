package mil

import (
	"math"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// reference builds each of the programs of testdata/canonical that a builder
// can express, call by call.
var reference = map[string]func(b *Builder){
	"identity": func(b *Builder) {
		f := b.Func("main")
		x := f.Input("x", FP16, 1, 64, 1, 32)
		one := f.Const("one", FP16Scalar(1))
		f.Output(f.Op("mul", TensorOf(FP16, 1, 64, 1, 32), "y", A("x", x), A("y", one)))
	},
	"add": func(b *Builder) {
		f := b.Func("main")
		x, y := f.Input("a", FP16, 1, 64, 1, 64), f.Input("b", FP16, 1, 64, 1, 64)
		f.Output(f.Op("add", TensorOf(FP16, 1, 64, 1, 64), "c", A("x", x), A("y", y)))
	},
	"conv": func(b *Builder) {
		f := b.Func("main")
		x := f.Input("x", FP16, 1, 64, 1, 64)
		w := f.Blob("w", TensorOf(FP16, 32, 64, 1, 1), "@model_path/weights/w.bin", 64)
		pt := f.Const("pt", StringScalar("valid"))
		st := f.Const("st", Int32s(1, 1))
		pd := f.Const("pd", Int32s(0, 0, 0, 0))
		dl := f.Const("dl", Int32s(1, 1))
		gr := f.Const("gr", Int32Scalar(1))
		f.Output(f.Op("conv", TensorOf(FP16, 1, 32, 1, 64), "y", A("dilations", dl), A("groups", gr),
			A("pad", pd), A("pad_type", pt), A("strides", st), A("weight", w), A("x", x)))
	},
	"matmul": func(b *Builder) {
		f := b.Func("main")
		x, y := f.Input("a", FP16, 1, 1, 64, 64), f.Input("b", FP16, 1, 1, 64, 64)
		no := f.Const("no", BoolScalar(false))
		f.Output(f.Op("matmul", TensorOf(FP16, 1, 1, 64, 64), "y", A("transpose_x", no), A("transpose_y", no),
			A("x", x), A("y", y)))
	},
	"softmax": func(b *Builder) {
		f := b.Func("main")
		x := f.Input("x", FP16, 1, 128, 1, 32)
		ax := f.Const("ax", Int32Scalar(1))
		f.Output(f.Op("softmax", TensorOf(FP16, 1, 128, 1, 32), "y", A("axis", ax), A("x", x)))
	},
	"cast": func(b *Builder) {
		f := b.Func("main")
		x := f.Input("x", FP32, 1, 64, 1, 16)
		h, s := f.Const("h", StringScalar("fp16")), f.Const("f", StringScalar("fp32"))
		k := f.Const("k", FP16Scalar(0.5))
		xh := f.Op("cast", TensorOf(FP16, 1, 64, 1, 16), "xh", A("dtype", h), A("x", x))
		yh := f.Op("mul", TensorOf(FP16, 1, 64, 1, 16), "yh", A("x", xh), A("y", k))
		f.Output(f.Op("cast", TensorOf(FP32, 1, 64, 1, 16), "y", A("dtype", s), A("x", yh)))
	},
	"old": func(b *Builder) {
		OldDialect()(b)
		f := b.Func("main")
		x := f.Input("x", FP16, 1, 64, 1, 32)
		half := f.Const("half", FP16Scalar(0.5))
		f.Blob("w", TensorOf(FP16, 64, 1, 1, 1), "@model_path/weights/w.bin", 64)
		h := f.Op("mul", TensorOf(FP16, 1, 64, 1, 32), "h", A("x", x), A("y", half))
		f.Output(f.Op("concat", TensorOf(FP16, 1, 128, 1, 32), "y",
			A("axis", Int32Scalar(1)), A("interleave", BoolScalar(false)), A("values", Refs(h, x))))
	},
}

// TestBuilderReference builds the reference programs and compares with their
// text, byte by byte.
func TestBuilderReference(t *testing.T) {
	for name, build := range reference {
		t.Run(name, func(t *testing.T) {
			b := NewBuilder()
			build(b)
			p, err := b.Program()
			require.NoError(t, err)
			src := read(t, filepath.Join("testdata", "canonical", name+".mil"))
			require.Equal(t, string(src), string(Print(p)))
			q, err := Parse(name, src)
			require.NoError(t, err)
			require.True(t, Equal(p, q))
		})
	}
}

// TestBuilderForms builds forms that the reference programs do not contain.
func TestBuilderForms(t *testing.T) {
	b := NewBuilder(Opset("ios17"))
	f := b.Func("main")
	s := f.InputOf("s", Type{Kind: State, Elems: []Type{TensorOf(FP16, 2)}})
	f.Const("w", Floats(TensorOf(FP16, 2, 2), []float64{0.1, -2500, math.Inf(-1), math.NaN()}))
	f.Const("m", BoolVec(true, false))
	f.Const("i", Ints(TensorOf(UInt8, 2), []int{0, 255}))
	r := f.Ops("split", []Var{V(TensorOf(FP16, 1), "a"), V(TensorOf(FP16, 1), "b")},
		A("x", s), A("axis", IntScalar(Int32, -1)), A("e", FP32Scalar(0x1p-1022)))
	require.Empty(t, f.Ops("write_state", nil, A("data", r[1]), A("input", s)))
	f.Output(r...)
	p, err := b.Program()
	require.NoError(t, err)
	const want = `    func main<ios17>(state<tensor<fp16, [2]>> s) {
        tensor<fp16, [2, 2]> w = const()[name = string("w"), val = tensor<fp16, [2, 2]>([0x1.999999999999ap-4, -0x1.388p+11, -inf, nan])];
        tensor<bool, [2]> m = const()[name = string("m"), val = tensor<bool, [2]>([true, false])];
        tensor<uint8, [2]> i = const()[name = string("i"), val = tensor<uint8, [2]>([0, 255])];
        tensor<fp16, [1]> a, tensor<fp16, [1]> b = split(x = s, axis = int32(-1), e = fp32(0x1p-1022))[name = string("a")];
        write_state(data = b, input = s);
    } -> (a, b);
`
	require.Contains(t, string(Print(p)), want)
	q, err := Parse("f", Print(p))
	require.NoError(t, err)
	require.True(t, Equal(p, q))

	// A later call does not change a returned program.
	f.Op("relu", TensorOf(FP16, 2), "late", A("x", s))
	require.True(t, Equal(p, q))
}

func TestBuilderFaults(t *testing.T) {
	b := NewBuilder()
	f := b.Func("main")
	x := f.Input("x", FP16, 4)
	f.Input("tensor", FP16, 4)
	f.Input("1st", FP16, 4)
	f.Input("neg", FP16, -4)
	f.Const("x", FP16Scalar(1))
	f.Const("none", nil)
	f.Const("short", Ints(TensorOf(Int32, 3), []int{1, 2}))
	f.Const("wide", IntScalar(Int8, 128))
	f.Const("mixed", Ints(TensorOf(FP16, 1), []int{1}))
	f.Const("wrong", Ints(TensorOf(Bool, 1), []int{1}))
	f.Op("mul", TensorOf(FP16, 4), "true", A("x", x), A("x", x), A("y", nil), A("a b", x))
	f.Op("", TensorOf(FP16, 4), "op", A("x", Ref{Name: "nowhere"}))
	f.Op("list", Type{Kind: Dict}, "dict_", A("x", (*Value)(nil)), A("y", &Value{Type: ScalarOf(FP16)}),
		A("z", &Value{Type: ScalarOf(FP16), Literal: Number{Text: "0x1"}}))
	b.Func("none")
	_, err := b.Program()
	var list ErrorList
	require.ErrorAs(t, err, &list)
	for _, want := range []string{
		`function main: parameter "tensor" is a reserved word`,
		`function main: value name "1st" is not a name`,
		`dimension "-4" is neither`,
		`value "x" is defined twice`,
		`constant "none" has no value`,
		`list of 2 where tensor<int32, [3]> needs 3`,
		`128 is out of range`,
		`expected true or false, found number 1`,
		`value name "true" is not a name`,
		`argument "x" is given twice`,
		`argument without an operand`,
		`argument "a b" is not a name`,
		`operator "" is not a name`,
		`"nowhere" is not defined`,
		`operator "list" is not a name`,
		`type "dict<>" does not fit its kind`,
		`a literal is missing`,
		`malformed number "0x1"`,
		`function "none" has no results`,
		`function "main" has no results`,
	} {
		require.ErrorContains(t, err, want)
	}
	require.Len(t, list, 21) // two of them: the absent operands y of mul and x of list
	again := list.Error()
	_, err = b.Program()
	require.EqualError(t, err, again, "faults are not collected twice")
}

// TestMalformedTrees prints, compares and validates trees that no text can produce.
func TestMalformedTrees(t *testing.T) {
	ring := &Values{}
	ring.Items = []Operand{ring}
	loop := &ListLit{}
	loop.Items = []Literal{loop, loop}
	knot := Type{Kind: Tuple, Elems: make([]Type, 1)}
	knot.Elems[0].Kind, knot.Elems[0].Elems = Tuple, knot.Elems
	turn := &Value{Type: ScalarOf(FP16)}
	turn.Literal = turn
	program := func(o Operand) *Program {
		return &Program{Version: "1.3", Funcs: []*Function{{Name: "f", Opset: "ios18",
			Params: []Var{{Name: "x", Type: ScalarOf(FP16)}},
			Body:   []*Op{{Kind: "k", Args: []Arg{{Name: "a", Value: o}}}}, Results: []Ref{{Name: "x"}}}}}
	}
	for name, o := range map[string]Operand{
		"nil": nil, "nil value": (*Value)(nil), "nil values": (*Values)(nil), "nil const": (*Nested)(nil),
		"ring": ring, "typed ring": turn, "knot": &Value{Type: knot, Literal: Number{Text: "1"}},
		"nil literal": &Value{Type: ScalarOf(FP16), Literal: (*ListLit)(nil)},
		"nil blob":    &Value{Type: ScalarOf(FP16), Literal: (*Blob)(nil)},
		"empty blob":  &Value{Type: ScalarOf(FP16), Literal: &Blob{}},
		"nil in list": &Value{Type: TensorOf(FP16, 1), Literal: &ListLit{Items: []Literal{nil}}},
		"no type":     &Value{Literal: StringLit{Value: "1"}},
		"odd type":    &Value{Type: Type{Kind: 99, DType: 99}, Literal: Number{Text: "1"}},
	} {
		t.Run(name, func(t *testing.T) {
			p := program(o)
			require.Error(t, Validate("", p))
			Print(p)
			Equal(p, program(o))
			if v, ok := o.(*Value); ok {
				_, err := v.Floats()
				require.Error(t, err)
				v.Check()
			}
		})
	}
	require.Error(t, Validate("", nil))
	require.Error(t, Validate("", &Program{Funcs: []*Function{nil, {Body: []*Op{nil}}}}))
	require.Empty(t, Print(nil))
	require.True(t, Equal(nil, nil))
	require.False(t, Equal(nil, &Program{}))
	require.ErrorContains(t, Validate("", program(&Value{Type: TensorOf(FP16, 2), Literal: loop})), "nested too deep")
}
