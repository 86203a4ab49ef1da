package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/anekit/anekit/internal/engine/soft"
)

// fusedCases are chains of elementwise operators, and products with what follows them, beside the same unfused, the
// least that memory or a table allows, and the products alone.
func fusedCases() (all []benchCase) {
	for _, c := range []struct {
		name, body string
		floor      floorMaker
		floorName  string
		target     float64
	}{
		{"arithmetic", chain("mul(x = %s, y = fp16(1.5))", "add(x = %s, y = z)", "relu(x = %s)",
			"mul(x = %s, y = z)", "clip(x = %s, alpha = fp16(-1), beta = fp16(1))", "abs(x = %s)"),
			copies(many * 3 / 2), "copy of 3/2 as many", 4},
		{"functions", chain("sigmoid(x = %s)", "mul(x = %s, y = z)", "tanh(x = %s)", "add(x = %s, y = fp16(0.5))",
			"silu(x = %s)", "relu(x = %s)"), lookups(true), "table loop and copy", 3},
	} {
		t := text(whole+" x, "+whole+" z", c.body)
		one := benchCase{name: "fused: chain of 6, " + c.name, text: t, items: many, workers: 1}
		beside := one
		one.floor, one.floorName, one.target = unfused(1, t), "the same unfused", 1
		beside.floor, beside.floorName, beside.target = c.floor, c.floorName, c.target
		all = append(all, one, beside)
	}
	const m, k, n = 256, 768, 768
	row := fmt.Sprintf("tensor<fp16, [%d, %d]>", m, n)
	dense := text(row+" x, "+row+" r", linear("p", "x", k, n)+row+" g = gelu(x = p, mode = string(\"EXACT\"));\n"+
		row+" y = add(x = g, y = r);")
	image := "tensor<fp16, [1, 64, 56, 56]>"
	windows := image + " x, tensor<fp16, [64, 64, 3, 3]> w"
	conv := image + ` %s = conv(x = x, weight = w, pad_type = string("same"));`
	convolved := text(windows+", tensor<fp16, [1, 64, 1, 1]> b", fmt.Sprintf(conv, "p")+image+" q = add(x = p, y = b);"+
		image+" y = relu(x = q);")
	high, operands := "tensor<fp16, [65536, 256]>", "tensor<fp16, [65536, 64]> x, tensor<fp16, [64, 256]> z"
	tall := high + " %s = matmul(x = x, y = z);"
	for _, c := range []struct {
		name, text, alone string
		items             int
	}{
		{"matmul 65536x64x256, bias, relu", text(operands+", tensor<fp16, [256]> b", fmt.Sprintf(tall, "p")+
			high+" q = add(x = p, y = b);"+high+" y = relu(x = q);"), text(operands, fmt.Sprintf(tall, "y")),
			65536 * 64 * 256},
		{"linear 256x768x768, gelu, residual", dense, text(row+" x", linear("y", "x", k, n)), m * k * n},
		{"conv 3x3, bias, relu", convolved, text(windows, fmt.Sprintf(conv, "y")), 64 * 64 * 9 * 56 * 56},
	} {
		one := benchCase{name: "fused: " + c.name, text: c.text, items: c.items, workers: 1}
		beside := one
		one.floor, one.floorName, one.target = unfused(1, c.text), "the same unfused", 1
		beside.floor, beside.floorName, beside.target = programs(1, c.alone), "the product alone", 1.1
		all = append(all, one, beside)
	}
	b := block()
	b.name, b.floor, b.floorName, b.target = "fused: "+b.name, unfused(0, b.text), "the same unfused", 1
	return append(all, b)
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

// unfused runs a program with each operator as a step of its own.
func unfused(workers int, text string) floorMaker {
	return func(ctx context.Context) (func(), func() error, error) {
		return run(ctx, workers, []soft.Option{soft.Unfused()}, text)
	}
}
