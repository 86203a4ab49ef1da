package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/ane/fp16"
	"github.com/anekit/anekit/internal/engine/soft"
	"github.com/anekit/anekit/internal/engine/soft/peak"
)

// benchCase is a kernel and its floor.
type benchCase struct {
	name, text string
	items      int // elements, or products
	floor      floorMaker
	floorName  string
	target     float64 // the most that the kernel may take, in floors
	workers    int     // 0: as many as processors
	weights    ane.Weights
}

// floorMaker returns the floor and what ends it.
type floorMaker func(ctx context.Context) (run func(), done func() error, err error)

func nothing() error { return nil }

const (
	side  = 4096
	many  = side * side // 16 Mi elements
	whole = "tensor<fp16, [4096, 4096]>"
)

// text returns a program of one statement, or of several.
func text(inputs, body string) string {
	return "program(1.3)\n{ func main<ios18>(" + inputs + ") { " + body + " } -> (y); }"
}

func cases() []benchCase {
	var all []benchCase
	add := func(c benchCase) { all = append(all, c) }
	one := func(name, op string, floor floorMaker, floorName string, target float64) {
		add(benchCase{name, text(whole+" x", whole+" y = "+op+";"), many, floor, floorName, target, 1, nil})
	}
	two := func(name, op string) {
		add(benchCase{name, text(whole+" x, "+whole+" z", whole+" y = "+op+"(x = x, y = z);"), many,
			copies(many * 3 / 2), "copy of 3/2 as many", 2, 1, nil})
	}
	reduced := func(name, op string, axis int) {
		shape := "[4096, 1]"
		if axis == 0 {
			shape = "[1, 4096]"
		}
		add(benchCase{name, text(whole+" x", fmt.Sprintf(
			"tensor<fp16, %s> y = %s(x = x, axes = tensor<int32, [1]>([%d]), keep_dims = bool(true));", shape, op, axis)),
			many, copies(many), "copy", 2, 1, nil})
	}
	one("relu", "relu(x = x)", copies(many), "copy", 2)
	one("abs", "abs(x = x)", copies(many), "copy", 2)
	one("clip", "clip(x = x, alpha = fp16(-1), beta = fp16(1))", copies(many), "copy", 2)
	two("add", "add")
	two("mul", "mul")
	two("real_div", "real_div")
	two("maximum", "maximum")
	one("transpose", "transpose(x = x, perm = tensor<int32, [2]>([1, 0]))", copies(many), "copy", 2)
	reduced("reduce_sum, last axis", "reduce_sum", 1)
	reduced("reduce_sum, first axis", "reduce_sum", 0)
	reduced("reduce_max, last axis", "reduce_max", 1)
	reduced("reduce_max, first axis", "reduce_max", 0)
	for _, op := range []string{"sigmoid", "tanh", "silu", "exp"} {
		one(op, op+"(x = x)", lookups(false), "table loop", 1.2)
	}
	one("gelu", `gelu(x = x, mode = string("EXACT"))`, lookups(false), "table loop", 1.2)
	one("softmax", "softmax(x = x)", lookups(true), "table loop and copy", 1.5)
	one("layer_norm", "layer_norm(x = x, axes = tensor<int32, [1]>([1]), epsilon = fp16(0.00001))", copies(many),
		"copy", 3)
	for _, n := range []int{256, 512, 1024, 2048} {
		add(benchCase{fmt.Sprintf("matmul %d", n), product(n, n, n, ""), n * n * n, multiplies(n * n * n),
			"bare multiply-add loop", 1 / 0.9, 1, nil})
	}
	const k = side
	add(benchCase{"row x matrix", product(1, k, k, ""), k * k, reads(), "read of the matrix", 1 / 0.8, 1, nil})
	add(benchCase{"row x transposed matrix", product(1, k, k, ", transpose_y = bool(true)"), k * k, reads(),
		"read of the matrix", 1 / 0.8, 1, nil})
	add(benchCase{"matrix x column", product(k, k, 1, ""), k * k, reads(), "read of the matrix", 1 / 0.8, 1, nil})
	add(benchCase{"4 rows x matrix", product(4, k, k, ""), 4 * k * k, reads(), "read of the matrix", 2, 1, nil})
	for _, m := range []int{8, 16} {
		add(benchCase{fmt.Sprintf("%d rows x matrix", m), product(m, k, k, ""), m * k * k,
			multiplies(m * k * k), "bare multiply-add loop", 2, 1, nil})
	}
	for _, kernel := range []int{1, 3} {
		products := 64 * 64 * kernel * kernel * 56 * 56
		add(benchCase{fmt.Sprintf("conv %dx%d, 64x56x56", kernel, kernel), text(fmt.Sprintf(
			"tensor<fp16, [1, 64, 56, 56]> x, tensor<fp16, [64, 64, %[1]d, %[1]d]> w", kernel),
			`tensor<fp16, [1, 64, 56, 56]> y = conv(x = x, weight = w, pad_type = string("same"));`), products,
			programs(1, product(64, 64*kernel*kernel, 56*56, "")), "matmul of as many products", 1 / 0.8, 1, nil})
	}
	add(block())
	return append(all, fusedCases()...)
}

// product is a matrix product m x k x n.
func product(m, k, n int, settings string) string {
	y := fmt.Sprintf("[%d, %d]", k, n)
	if settings != "" {
		y = fmt.Sprintf("[%d, %d]", n, k)
	}
	return text(fmt.Sprintf("tensor<fp16, [%d, %d]> x, tensor<fp16, %s> z", m, k, y),
		fmt.Sprintf("tensor<fp16, [%d, %d]> y = matmul(x = x, y = z%s);", m, n, settings))
}

// copies moves n halves.
func copies(n int) floorMaker {
	return func(context.Context) (func(), func() error, error) {
		x, y := make([]fp16.Bits, n), make([]fp16.Bits, n)
		for i := range x {
			x[i], y[i] = 1, 2
		}
		return func() { copy(y, x) }, nothing, nil
	}
}

// lookups looks 16 Mi halves up in a table, and copies them.
func lookups(alsoCopy bool) floorMaker {
	return func(context.Context) (func(), func() error, error) {
		table := new([1 << 16]fp16.Bits)
		x, y := make([]fp16.Bits, many), make([]fp16.Bits, many)
		for i := range x {
			x[i], y[i] = fp16.FromFloat32(float32(i*7919%4001-2000)/1000), 2
		}
		return func() {
			for i, h := range x {
				y[i] = table[h]
			}
			if alsoCopy {
				copy(y, x)
			}
		}, nothing, nil
	}
}

// reads adds the words of as many bytes as 16 Mi halves.
func reads() floorMaker {
	return func(context.Context) (func(), func() error, error) {
		x := make([]uint64, many/4)
		for i := range x {
			x[i] = uint64(i)
		}
		var total uint64
		return func() { total += sumOf(x) }, func() error {
			if total == 0 {
				return errors.New("the words add up to 0")
			}
			return nil
		}, nil
	}
}

// multiplies is n products and sums of float32 in the first-level cache.
func multiplies(n int) floorMaker {
	return func(context.Context) (func(), func() error, error) { return peak.Loop(n), nothing, nil }
}

// programs runs programs one after another.
func programs(workers int, texts ...string) floorMaker {
	return func(ctx context.Context) (func(), func() error, error) { return run(ctx, workers, nil, texts...) }
}

// run opens programs, and returns what runs them and what closes them.
func run(ctx context.Context, workers int, opts []soft.Option, texts ...string) (func(), func() error, error) {
	var list []*program
	for _, t := range texts {
		p, err := open(ctx, t, nil, workers, opts...)
		if err != nil {
			return nil, nil, err
		}
		list = append(list, p)
	}
	var first error
	each := func(f func(p *program) error) {
		for _, p := range list {
			if err := f(p); err != nil && first == nil {
				first = err
			}
		}
	}
	return func() { each(func(p *program) error { return p.run(ctx) }) }, func() error {
		each(func(p *program) error { return p.close(ctx) })
		return first
	}, nil
}
