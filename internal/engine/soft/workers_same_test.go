package soft_test

import (
	"fmt"
	"runtime"
	"testing"

	"github.com/anekit/anekit/ane/fp16"
	"github.com/anekit/anekit/internal/effort"
	"github.com/anekit/anekit/internal/engine/soft"
	"github.com/anekit/anekit/internal/numerics"
)

// Several workers give the bits of one: each piece of a step begins anywhere.
func TestWorkersChangeNoBit(t *testing.T) {
	before := runtime.GOMAXPROCS(4)
	defer runtime.GOMAXPROCS(before)
	r := seeded(t)
	const batch, in, n, rows = 5, 40, 40, 160
	h := fmt.Sprintf("initial_h = tensor<fp16, [5, 80]>(%[1]s), initial_c = tensor<fp16, [5, 80]>(%[1]s)",
		repeatedList(400))
	weights := ""
	for _, w := range []struct {
		name string
		cols int
	}{{"weight_ih", in}, {"weight_hh", n}, {"weight_ih_back", in}, {"weight_hh_back", n}} {
		weights += fmt.Sprintf(", %s = %s", w.name, halvesOf(fmt.Sprintf("[%d, %d]", rows, w.cols),
			signed(r, 0x2000, 0x3400, rows*w.cols)))
	}
	lstm := func(sequence bool, steps int) string {
		return fmt.Sprintf("tensor<fp16, [%d, 5, 80]> y, tensor<fp16, [5, 80]> a, tensor<fp16, [5, 80]> b = lstm(x "+
			"= x, %s%s, "+
			"direction = string(\"bidirectional\"), output_sequence = bool(%t));", steps, h, weights, sequence)
	}
	for _, c := range []struct{ x, body string }{
		{"[3, 5, 40]", lstm(true, 3)},
		{"[3, 5, 40]", lstm(false, 1)},
		{"[2, 40000]", `tensor<fp32, [2, 40000]> a = cast(x = x, dtype = string("fp32"));
			tensor<bool, [2, 40000]> g = greater(x = a, y = tensor<fp32, [2, 1]>([0.5, -0.5]));
			tensor<bool, [2, 40000]> l = less(x = tensor<fp32, [2, 1]>([0.75, -0.75]), y = a);
			tensor<fp32, [2, 40000]> s = add(x = tensor<fp32, [2, 1]>([2, 3]), y = a);
			tensor<fp32, [2, 40000]> p = pow(x = s, y = tensor<fp32, [2, 1]>([2, 3]));
			tensor<fp32, [2, 40000]> m = select(cond = g, a = p, b = s);
			tensor<fp32, [2, 40000]> o = select(cond = l, a = m, b = a);
			tensor<fp16, [2, 40000]> y = cast(x = o, dtype = string("fp16"));`},
		{"[1, 3, 40000]", `tensor<fp32, [1, 3, 40000]> a = cast(x = x, dtype = string("fp32"));
			tensor<fp32, [1, 3, 40000]> b = batch_norm(x = a, mean = tensor<fp32, [3]>([1, 2, 3]),
				variance = tensor<fp32, [3]>([1, 2, 3]), gamma = tensor<fp32, [3]>([3, 1, 2]),
				beta = tensor<fp32, [3]>([4, 5, 6]));
			tensor<fp16, [1, 3, 40000]> y = cast(x = b, dtype = string("fp16"));`},
		{"[1, 3, 40000]", `tensor<fp16, [1, 3, 40000]> y = batch_norm(x = x, mean = tensor<fp16, [3]>([1, 2, 3]),
				variance = tensor<fp16, [3]>([1, 2, 3]), gamma = tensor<fp16, [3]>([3, 1, 2]),
				beta = tensor<fp16, [3]>([4, 5, 6]));`},
		{"[1, 2, 3, 1]",
			`tensor<fp16, [1, 2, 90, 1000]> y = resize_nearest_neighbor(x = x, target_size_height = int32(90),
				target_size_width = int32(1000));`},
	} {
		shape := c.x
		elements := 1
		var dims [4]int
		k, _ := fmt.Sscanf(shape, "[%d, %d, %d, %d]", &dims[0], &dims[1], &dims[2], &dims[3])
		for _, d := range dims[:k] {
			elements *= d
		}
		out := c.body
		for _, rules := range []numerics.Rules{0, numerics.M6.Rules()} {
			text := "program(1.3)\n{ func main<ios18>(tensor<fp16, " + shape + "> x) { " + out + " } -> (y); }"
			x := signed(r, 0x3000, 0x4400, elements)
			want := evaluateHalves(t, text, [][]fp16.Bits{x}, soft.Rules(rules), soft.Workers(1))
			for _, workers := range []int{2, 3, 4} {
				if workers != 3 && !effort.Full() {
					continue
				}
				requireHalves(t, want, evaluateHalves(t, text, [][]fp16.Bits{x}, soft.Rules(rules),
					soft.Workers(workers)),
					fmt.Sprintf("%d workers, %s, %.40s", workers, rules, c.body))
			}
		}
	}
}

// repeatedList is a list of n numbers.
func repeatedList(n int) string {
	s := []byte("[0.125")
	for i := range n - 1 {
		s = append(s, []string{", 0.5", ", -0.25", ", 0.75"}[i%3]...)
	}
	return string(s) + "]"
}
