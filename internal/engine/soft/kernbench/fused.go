package kernbench

import (
	"fmt"
	"strings"

	"github.com/anekit/anekit/internal/measure"
)

// Fused are chains of elementwise operators, and products with what follows them, beside the same unfused, the least
// that memory or a table allows, and the products alone.
func Fused() (all []measure.Case) {
	add := func(name, text string, items int, floor side, beside string, target float64) {
		all = append(all, kernel(name, items, one(text), unfused(1, text), 1),
			kernel(name+" beside "+beside, items, one(text), floor, target))
	}
	operands := whole + " x, " + whole + " z"
	add("chain of 6, arithmetic", text(operands, chain("mul(x = %s, y = fp16(1.5))", "add(x = %s, y = z)",
		"relu(x = %s)", "mul(x = %s, y = z)", "clip(x = %s, alpha = fp16(-1), beta = fp16(1))", "abs(x = %s)")), many,
		copies(many*3/2), "copy of 1.5 as many", 4)
	add("chain of 6, functions", text(operands, chain("sigmoid(x = %s)", "mul(x = %s, y = z)", "tanh(x = %s)",
		"add(x = %s, y = fp16(0.5))", "silu(x = %s)", "relu(x = %s)")), many, lookups(true), "table loop and copy", 3)
	const m, k, n = 256, 768, 768
	row := fmt.Sprintf("tensor<fp16, [%d, %d]>", m, n)
	dense := text(row+" x, "+row+" r", linear("p", "x", k, n)+row+" g = gelu(x = p, mode = string(\"EXACT\"));\n"+
		row+" y = add(x = g, y = r);")
	image := "tensor<fp16, [1, 64, 56, 56]>"
	windows := image + " x, tensor<fp16, [64, 64, 3, 3]> w"
	conv := image + ` %s = conv(x = x, weight = w, pad_type = string("same"));`
	convolved := text(windows+", tensor<fp16, [1, 64, 1, 1]> b", fmt.Sprintf(conv, "p")+image+" q = add(x = p, y = b);"+
		image+" y = relu(x = q);")
	high := "tensor<fp16, [65536, 256]>"
	operands = "tensor<fp16, [65536, 64]> x, tensor<fp16, [64, 256]> z"
	tall := high + " %s = matmul(x = x, y = z);"
	add("matmul 65536x64x256, bias, relu", text(operands+", tensor<fp16, [256]> b", fmt.Sprintf(tall, "p")+
		high+" q = add(x = p, y = b);"+high+" y = relu(x = q);"), 65536*64*256,
		one(text(operands, fmt.Sprintf(tall, "y"))), "the product alone", 1.1)
	add("linear 256x768x768, gelu, residual", dense, m*k*n, one(text(row+" x", linear("y", "x", k, n))),
		"the product alone", 1.1)
	add("conv 3x3, bias, relu", convolved, 64*64*9*56*56, one(text(windows, fmt.Sprintf(conv, "y"))),
		"the product alone", 1.1)
	whole, _ := block()
	return append(all, kernel(blockName, tokens, programs(0, nil, whole), unfused(0, whole), 1))
}

// chain applies calls one after another to x and makes y.
func chain(calls ...string) string {
	var b strings.Builder
	from := "x"
	for i, c := range calls {
		to := fmt.Sprintf("c%d", i)
		if i == len(calls)-1 {
			to = "y"
		}
		fmt.Fprintf(&b, whole+" %s = "+c+";\n", to, from)
		from = to
	}
	return b.String()
}
