package soft_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/anekit/anekit/internal/engine/soft"
	"github.com/anekit/anekit/internal/numerics"
)

// TestFusedStores: sums that convolutions add to and limit as they store them are those of single steps, to the bit.
// Inputs have NaNs, infinities and zeros of both signs.
func TestFusedStores(t *testing.T) {
	for i, c := range []struct{ x, w, shape, settings string }{
		{"[2, 9, 7, 7]", "[24, 9, 1, 1]", "[2, 24, 7, 7]", ""},                        // planes of few columns
		{"[1, 9, 24, 24]", "[17, 9, 1, 1]", "[1, 17, 24, 24]", ""},                    // tiles that are parts of rows
		{"[2, 4, 19, 29]", "[40, 2, 3, 3]", "[2, 40, 19, 29]", "groups = int32(2), "}, // rectangles
		{"[1, 3, 5, 300]", "[16, 3, 1, 3]", "[1, 16, 5, 300]", ""},                    // parts of lines
		{"[1, 3, 3, 2]", "[16, 3, 1, 1]", "[1, 16, 3, 2]", ""},                        // less than a vector
		{"[2, 40, 7, 7]", "[40, 1, 3, 3]", "[2, 40, 7, 7]", "groups = int32(40), "},
		{"[1, 4, 50, 130]", "[4, 1, 5, 5]", "[1, 4, 50, 130]", "groups = int32(4), "},
		{"[1, 12, 15, 9]", "[24, 1, 3, 3]", "[1, 24, 8, 5]", "groups = int32(12), strides = tensor<int32, [2]>([2, 2]), "},
	} {
		for k, steps := range [][]string{
			{"add(x = %s, y = b)", "clip(x = %s, alpha = fp16(0), beta = fp16(6))"},
			{"add(x = %s, y = b)", "relu(x = %s)", "add(x = %s, y = r)"},
			{"add(x = %s, y = b)", "add(x = %s, y = b)", "relu6(x = %s)"},
			{"add(x = %s, y = fp16(0.5))", "abs(x = %s)"},
			{"clip(x = %s, alpha = fp16(-1), beta = fp16(-0.0))", "add(x = %s, y = b)"},
			{"clip(x = %s, alpha = fp16(-0.0), beta = fp16(0))", "relu(x = %s)"},
			{"add(x = b, y = %s)", "relu(x = %s)"},
		} {
			var body strings.Builder
			at := "p"
			for n, step := range steps {
				to := fmt.Sprint("s", n)
				fmt.Fprintf(&body, "tensor<fp16, %s> %s = %s;\n", c.shape, to, fmt.Sprintf(step, at))
				at = to
			}
			outputs := strings.Split(strings.Trim(c.shape, "[]"), ", ")[1]
			text := fmt.Sprintf("program(1.3)\n{\nfunc main<ios18>(tensor<fp16, %s> x, tensor<fp16, %s> w, "+
				"tensor<fp16, [1, %s, 1, 1]> b, tensor<fp16, %[4]s> r) {\ntensor<fp16, %[4]s> p = conv(x = x, weight = w, "+
				"%spad_type = string(\"same\"));\n%s} -> (%s);\n}\n",
				c.x, c.w, outputs, c.shape, c.settings, body.String(), at)
			mode := numerics.Reference
			if (i+k)%6 == 5 {
				mode = numerics.M1
			}
			for seed := range uint64(3) {
				requireUnfused(t, text, seed, soft.Numerics(mode))
			}
		}
	}
}
