package lint_test

import (
	"fmt"
	"strings"

	"github.com/anekit/anekit/ane/chip"
	"github.com/anekit/anekit/ane/mil/lint"
)

const activation = `program(1.3)
[buildInfo = dict<string, string>({{"coremlc-version", "3505.4.1"}})]
{
    func main<ios18>(tensor<fp16, [1, 1024, 1, 64]> x) {
        tensor<fp16, [1, 1024, 1, 64]> y = gelu(x = x)[name = string("y")];
    } -> (y);
}
`

// A program is checked for one chip, and for inputs up to 1.
func ExampleText() {
	o := lint.Options{Chips: []chip.Chip{chip.M4}, Ranges: map[string]lint.Range{"x": {Low: -1, High: 1}}}
	for _, f := range lint.Text("gelu.mil", []byte(activation), o) {
		fmt.Println(&f)
		fmt.Println(f.Rule.Reason)
	}
	// Output:
	// gelu.mil:5:44: error: gelu without mode [gelu-mode]; write mode = string("EXACT")
	// The compiler answers ANECCompile() FAILED.
	// gelu.mil:5:44: note: gelu is a table: off by up to 6.2e-3; run --numerics computes it exactly [table-error]; compare within the stated error
	// Between the knots it is linear, so that it differs from the function by more than rounding.
}

func ExampleFix() {
	fixed, done := lint.Fix("gelu.mil", []byte(activation), lint.Options{Chips: []chip.Chip{chip.M4}})
	fmt.Println(len(done), done[0].Rule.ID)
	fmt.Println(strings.Split(string(fixed), "\n")[4][39:])
	// Output:
	// 1 gelu-mode
	// y = gelu(mode = string("EXACT"), x = x)[name = string("y")];
}
