package cost_test

import (
	"fmt"

	"github.com/anekit/anekit/ane/chip"
	"github.com/anekit/anekit/ane/cost"
	"github.com/anekit/anekit/ane/mil"
)

func ExampleOf() {
	p, err := mil.Parse("scale.mil", []byte(`program(1.3)
{
    func main<ios18>(tensor<fp16, [1, 64, 64, 64]> x) {
        tensor<fp16, [1, 64, 64, 64]> y = mul(x = x, y = fp16(2));
    } -> (y);
}`))
	if err != nil {
		fmt.Println(err)
		return
	}
	e, err := cost.Of(p, cost.Options{Chip: chip.M6})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, op := range e.Ops {
		fmt.Println(op)
	}
	fmt.Printf("a call: %.0f us, bound by %v; the CPU would be quicker: %v\n", e.Call.Value, e.Bound, e.CPU)
	// Output:
	// y mul: 4.6 us (inferred), bound by pe
	// a call: 220 us, bound by dispatch; the CPU would be quicker: true
}
