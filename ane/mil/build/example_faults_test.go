package build_test

import (
	"errors"
	"fmt"
	"path/filepath"

	"github.com/anekit/anekit/ane/mil"
	"github.com/anekit/anekit/ane/mil/build"
)

// Program returns all faults at once, each with the line of its call.
func ExampleBuilder_Program() {
	b := build.New()
	f := b.Func("main")
	x := f.Input("x", build.FP16, 1, 64, 1, 32)
	y := f.Softmax(x, 4)
	f.Output("y", f.Relu(y)) // y is already faulty: no second fault
	f.Output("const", f.Reshape(x, 1, 32, 32))
	_, err := b.Program()
	var faults mil.ErrorList
	if errors.As(err, &faults) {
		for _, e := range faults {
			e.File = filepath.Base(e.File)
			fmt.Printf("%s:%v: %s\n\t%s\n", e.File, e.Pos, e.Msg, e.Hint)
		}
	}
	// Output:
	// example_faults_test.go:17: softmax: axis: axis 4 of a tensor of rank 4
	// 	choose from -4 to 3
	// example_faults_test.go:19: reshape: shape: [1 32 32] does not have the 2048 elements of x[1 64 1 32]
	// 	make the number of elements equal
	// example_faults_test.go:19: output "const" is not a name
	// 	a name is ASCII letters, digits and _, does not start with a digit and is not a reserved word
}
