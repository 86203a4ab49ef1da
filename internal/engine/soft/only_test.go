package soft_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/ane/fp16"
	"github.com/anekit/anekit/internal/engine/soft"
	"github.com/anekit/anekit/internal/numerics"
)

// TestOnly: the element that Only names is that of the whole product, with any set of rules, and others are not
// computed.
func TestOnly(t *testing.T) {
	r := rand.New(rand.NewPCG(21, 22))
	const b, m, k, n = 2, 40, 24, 300
	x, y := signed(r, 0x4c00, 0x5800, b*m*k), signed(r, 0x4c00, 0x5800, k*n)
	product := fmt.Sprintf("program(1.3)\n{ func main<ios18>(tensor<fp16, [%[1]d, %[2]d, %[3]d]> x, "+
		"tensor<fp16, [%[3]d, %[4]d]> y) { tensor<fp16, [%[1]d, %[2]d, %[4]d]> z = matmul(x = x, y = y, "+
		"transpose_x = bool(false), transpose_y = bool(false))[name = string(\"z\")]; } -> (z); }", b, m, k, n)
	conv := convProgram{n: 2, in: 4, out: 6, h: 9, w: 50, kh: 3, kw: 3, groups: 2, stride: 1, dilation: 1, pad: 1,
		weight: signed(r, 0x4c00, 0x5800, 6*2*9)}
	image := signed(r, 0x4c00, 0x5800, 2*4*9*50)
	for _, rules := range []numerics.Rules{numerics.M1.Rules(), numerics.M6.Rules(), numerics.Range,
		numerics.ProductDropped | numerics.HalfAway} {
		for _, c := range []struct {
			text string
			in   [][]fp16.Bits
		}{{product, [][]fp16.Bits{x, y}}, {conv.text(), [][]fp16.Bits{image}}} {
			all := evaluateHalves(t, c.text, c.in, soft.Rules(rules))
			for range 12 {
				i := r.IntN(len(all))
				one := evaluateHalves(t, c.text, c.in, soft.Rules(rules), soft.Only(i))
				require.Equal(t, all[i], one[i], fmt.Sprint(rules, i))
				require.NotEqual(t, all, one)
			}
		}
	}
}
