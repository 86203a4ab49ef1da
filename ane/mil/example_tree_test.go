package mil_test

import (
	"errors"
	"fmt"

	"github.com/anekit/anekit/ane/mil"
)

// text is a program with most elements of MIL text.
const text = `program(1.3)
[buildInfo = dict<string, string>({{"tool", "anekit"}})]
{
    func main<ios18>(tensor<fp16, [1, 4]> x) {
        tensor<fp16, [4, 4]> w = const()[val = tensor<fp16, [4, 4]>(BLOBFILE(path = string("@model_path/w.bin"),
            offset = uint64(64)))];
        tensor<fp16, [1, 4]> a = matmul(x = x, y = w, transpose_y = bool(true));
        tensor<fp16, [1, 8]> y = concat(values = (x, a), axis = const()[val = int32(1)], interleave = bool(false));
    } -> (y);
}
`

// tree parses text.
func tree() *mil.Program {
	p, err := mil.Parse("model.mil", []byte(text))
	if err != nil {
		panic(err)
	}
	return p
}

func ExampleProgram() {
	p := tree()
	fmt.Println(p.Version, len(p.Funcs), p.Select("").Name)
	// Output: 1.3 1 main
}

func ExampleFunction() {
	f := tree().Func("main")
	fmt.Println(f.Opset, len(f.Params), len(f.Body), f.Results[0].Name)
	// Output: ios18 1 3 y
}

func ExampleVar() {
	x := tree().Func("main").Params[0]
	fmt.Println(x.Name, x.Type)
	// Output: x tensor<fp16, [1, 4]>
}

func ExampleOp() {
	for _, op := range tree().Func("main").Body {
		fmt.Println(op.Pos, op.Kind, op.Results[0].Name)
	}
	// Output:
	// 5:34 const w
	// 7:34 matmul a
	// 8:34 concat y
}

func ExampleArg() {
	op := tree().Func("main").Body[1]
	for _, a := range op.Args {
		fmt.Printf("%s: %T\n", a.Name, a.Value)
	}
	// Output:
	// x: mil.Ref
	// y: mil.Ref
	// transpose_y: *mil.Value
}

// An operand is a name, a literal, a list of operands, or a const in place.
func ExampleOperand() {
	for _, a := range tree().Func("main").Body[2].Args {
		switch o := a.Value.(type) {
		case mil.Ref:
			fmt.Println(a.Name, "is the value", o.Name)
		case *mil.Value:
			fmt.Println(a.Name, "is a literal of type", o.Type)
		case *mil.Values:
			fmt.Println(a.Name, "has", len(o.Items), "operands")
		case *mil.Nested:
			fmt.Println(a.Name, "is a const in place")
		}
	}
	// Output:
	// values has 2 operands
	// axis is a const in place
	// interleave is a literal of type bool
}

func ExampleRef() {
	y := tree().Func("main").Results[0]
	fmt.Println(y.Name, y.Start())
	// Output: y 9:11
}

func ExampleValues() {
	values := mil.Refs(mil.Ref{Name: "a"}, mil.Ref{Name: "b"})
	fmt.Println(len(values.Items))
	// Output: 2
}

func ExampleNested() {
	axis := tree().Func("main").Body[2].Arg("axis").Value.(*mil.Nested)
	n, err := axis.Attrs[0].Value.(*mil.Value).Ints()
	fmt.Println(n, err)
	// Output: [1] <nil>
}

func ExampleValue() {
	v := mil.Int32s(1, 2, 3)
	n, err := v.Ints()
	fmt.Println(v.Type, n, err)
	// Output: tensor<int32, [3]> [1 2 3] <nil>
}

func ExampleBlob() {
	for _, b := range tree().Blobs() {
		fmt.Println(b.Entry())
	}
	// Output: @model_path/w.bin 64 <nil>
}

// A literal is what a Value holds, as written.
func ExampleLiteral() {
	for _, v := range []*mil.Value{mil.FP16Scalar(0.5), mil.BoolScalar(true), mil.StringScalar("same"),
		mil.Int32s(1, 2)} {
		fmt.Printf("%s: %T\n", v.Type, v.Literal)
	}
	// Output:
	// fp16: mil.Number
	// bool: mil.BoolLit
	// string: mil.StringLit
	// tensor<int32, [2]>: *mil.ListLit
}

func ExampleNumber() {
	fmt.Println(mil.FP16Scalar(0.1).Literal.(mil.Number).Text)
	// Output: 0x1.999999999999ap-4
}

func ExampleBoolLit() {
	fmt.Println(mil.BoolScalar(true).Literal.(mil.BoolLit).Value)
	// Output: true
}

func ExampleStringLit() {
	fmt.Println(mil.StringScalar("valid").Literal.(mil.StringLit).Value)
	// Output: valid
}

func ExampleListLit() {
	list := mil.Int32s(4, 5).Literal.(*mil.ListLit)
	fmt.Println(len(list.Items))
	// Output: 2
}

func ExampleDictLit() {
	info := tree().Attrs[0].Value.(*mil.Value)
	fmt.Println(info.Type, len(info.Literal.(*mil.DictLit).Pairs))
	// Output: dict<string, string> 1
}

func ExamplePair() {
	p := tree().Attrs[0].Value.(*mil.Value).Literal.(*mil.DictLit).Pairs[0]
	fmt.Println(p.Key.(mil.StringLit).Value, p.Value.(mil.StringLit).Value)
	// Output: tool anekit
}

func ExampleTupleLit() {
	pair := mil.Value{
		Type:    mil.Type{Kind: mil.Tuple, Elems: []mil.Type{mil.ScalarOf(mil.Bool), mil.ScalarOf(mil.Bool)}},
		Literal: &mil.TupleLit{Items: []mil.Literal{mil.BoolLit{Value: true}, mil.BoolLit{}}},
	}
	fmt.Println(pair.Type, pair.Check())
	// Output: tuple<bool, bool> <nil>
}

func ExampleType() {
	t := mil.TensorOf(mil.FP16, 1, 64, 1, 32)
	n, fixed := t.Elements()
	fmt.Println(t, n, fixed)
	// Output: tensor<fp16, [1, 64, 1, 32]> 2048 true
}

func ExampleKind() {
	fmt.Println(mil.ScalarOf(mil.FP16).Kind == mil.Scalar, mil.TensorOf(mil.FP16).Kind == mil.Tensor)
	// Output: true true
}

func ExampleDim() {
	fmt.Println(mil.Dim{Size: 64}, mil.Dim{Symbol: "?"}.Known())
	// Output: 64 false
}

func ExampleDType() {
	d := mil.ParseDType("fp16")
	fmt.Println(d, d.Size(), d.Float())
	// Output: fp16 2 true
}

func ExamplePos() {
	fmt.Println(mil.Pos{Line: 4, Col: 46}, mil.Pos{}.Known())
	// Output: 4:46 false
}

func ExampleError() {
	_, err := mil.Parse("model.mil", []byte("program(1.3)\n{\n    funk main<ios18>() {} -> ();\n}\n"))
	var fault *mil.Error
	if errors.As(err, &fault) {
		fmt.Println(fault.File, fault.Pos.Line)
	}
	// Output: model.mil 3
}

func ExampleErrorList() {
	_, err := mil.Parse("model.mil", []byte(`program(1.3)
{
    func main<ios18>(tensor<fp16, [4]> x) {
        tensor<fp16, [4]> x = relu(x = a);
    } -> (y);
}
`))
	var faults mil.ErrorList
	if errors.As(err, &faults) {
		fmt.Println(len(faults), mil.OnlyNames(err))
	}
	// Output: 3 true
}

func ExampleOption() {
	b := mil.NewBuilder(mil.Opset("ios17"))
	f := b.Func("main")
	f.Output(f.Input("x", mil.FP16, 1, 64, 1, 32))
	p, err := b.Program()
	fmt.Println(p.Func("main").Opset, err)
	// Output: ios17 <nil>
}

func ExampleFuncBuilder() {
	b := mil.NewBuilder()
	f := b.Func("main")
	t := mil.TensorOf(mil.FP16, 1, 64, 1, 16)
	x := f.Input("x", mil.FP16, 1, 64, 1, 32)
	parts := f.Ops("split", []mil.Var{mil.V(t, "left"), mil.V(t, "right")},
		mil.A("x", x), mil.A("num_splits", mil.Int32Scalar(2)), mil.A("axis", mil.Int32Scalar(3)))
	f.Output(parts...)
	p, err := b.Program()
	fmt.Println(len(p.Func("main").Results), err)
	// Output: 2 <nil>
}

func ExampleDialect() {
	old, err := mil.Convert(tree(), mil.OldText)
	if err != nil {
		panic(err)
	}
	d, ok := mil.ParseDialect("old")
	fmt.Println(old.Version, old.Funcs[0].Opset, d == mil.OldText, ok)
	// Output: 1.0 ios16 true true
}

func ExampleBlock() {
	p, err := mil.Parse("model.mil", []byte(`program(1.3) { func main<ios18>(bool p, fp16 x) {
		fp16 y = cond(pred = p) yes() { fp16 a = add(x = x, y = x); } -> (a) no() {} -> (x);
	} -> (y); }`))
	if err != nil {
		panic(err)
	}
	for _, b := range p.Func("main").Body[0].Blocks {
		fmt.Println(b.Name, len(b.Body), b.Results[0].Name)
	}
	// Output:
	// yes 1 a
	// no 0 x
}

func ExampleBuffer() {
	t := mil.TensorOf(mil.FP16, 1, 64, 1, 40)
	t.Kind, t.Buffer = mil.TensorBuffer, &mil.Buffer{Strides: []int{4096, 64, 64, 1}}
	fmt.Println(t)
	// Output: tensor_buffer<fp16, shape=[1, 64, 1, 40], strides=[4096, 64, 64, 1]>
}
