package mil_test

import (
	"fmt"

	"github.com/anekit/anekit/ane/mil"
)

func ExampleBuilder() {
	b := mil.NewBuilder(mil.Opset("ios18"))
	f := b.Func("main")
	x := f.Input("x", mil.FP16, 1, 64, 1, 32)
	half := f.Const("half", mil.FP16Scalar(0.5))
	y := f.Op("mul", mil.TensorOf(mil.FP16, 1, 64, 1, 32), "y", mil.A("x", x), mil.A("y", half))
	f.Output(y)
	p, err := b.Program()
	if err != nil {
		fmt.Println(err)
		return
	}
	p.Attrs = nil // buildInfo is long
	fmt.Print(string(mil.Print(p)))
	// Output:
	// program(1.3)
	// {
	//     func main<ios18>(tensor<fp16, [1, 64, 1, 32]> x) {
	//         fp16 half = const()[name = string("half"), val = fp16(0x1p-1)];
	//         tensor<fp16, [1, 64, 1, 32]> y = mul(x = x, y = half)[name = string("y")];
	//     } -> (y);
	// }
}

func ExampleParse() {
	_, err := mil.Parse("a.mil", []byte(`program(1.3)
{
    func main<ios18>(tensor<fp16, [4]> x) {
        tensor<fp16, [4]> y = softmax(axis = [0], x = x);
        tensor<fp16, [4]> z = add(x = y, y = w);
    } -> (z);
}
`))
	fmt.Println(err)
	// Output:
	// a.mil:4:46: a bracketed list has no type; write axis = tensor<int32, [1]>([0])
	// a.mil:5:46: "w" is not defined; define it in a statement above, or make it a parameter
}
