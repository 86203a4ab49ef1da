package kernbench

import (
	_ "embed" // the tables
	"fmt"
	"runtime"
	"strconv"
	"strings"
	"sync"

	"github.com/anekit/anekit/ane/fp16"
	"github.com/anekit/anekit/internal/engine/soft/peak"
	"github.com/anekit/anekit/internal/measure"
)

const (
	many  = 4096 * 4096 // 16 Mi elements
	whole = "tensor<fp16, [4096, 4096]>"
)

// text returns a program of one statement, or of several.
func text(inputs, body string) string {
	return "program(1.3)\n{ func main<ios18>(" + inputs + ") { " + body + " } -> (y); }"
}

// kernels and shapes have a line for each case: its name, inputs, result and statements, then the items, floor and
// target of kernels, and the products of shapes that are products.
//
//go:embed kernels.txt
var kernels string

//go:embed shapes.txt
var shapes string

// lines are the cells of a table.
func lines(table string) (all [][]string) {
	for line := range strings.Lines(table) {
		all = append(all, strings.Split(strings.TrimSpace(line), " | "))
	}
	return all
}

// Kernels are operators on 16 Mi elements, matrix products, convolutions and a block of a transformer. Their floors are
// copies, a loop over a table, the bare multiply-add loop, a read of the matrix, a matrix product, and of the block its
// products.
func Kernels() (all []measure.Case) {
	for _, l := range lines(kernels) {
		items, _ := strconv.Atoi(l[4])
		kind, number, _ := strings.Cut(l[5], " ")
		n, _ := strconv.Atoi(number)
		floor := map[string]func() side{
			"copy":     func() side { return copies(n) },
			"table":    func() side { return lookups(number == "copy") },
			"products": func() side { return multiplies(n) },
			"read":     func() side { return reads(1, 2*many) },
			"matmul":   func() side { return one(product(64, n, 56*56)) },
		}[kind]()
		target, _ := strconv.ParseFloat(l[6], 64)
		all = append(all, kernel(l[0], items, one(program(l)), floor, target))
	}
	text, floor := block()
	return append(all, kernel(blockName, tokens, programs(0, nil, text), floor, 1/0.75))
}

// Shapes are operators on shapes that programs of networks have, each beside a copy of as many bytes as it reads and
// writes, or a product of as many products. A kernel that goes from one element to the next takes tens of copies.
func Shapes() (all []measure.Case) {
	for _, l := range lines(shapes) {
		if len(l) > 4 {
			n, _ := strconv.Atoi(l[4])
			all = append(all, kernel(l[0], n, one(program(l)), multiplies(n), 2))
			continue
		}
		moved := size(l[2])
		for _, in := range strings.Split(l[1], ", ") {
			moved += size(in)
		}
		all = append(all, kernel(l[0], volume(l[2]), one(program(l)), copies(moved/4), 5))
	}
	return all
}

// product is a matrix product m x k x n.
func product(m, k, n int) string {
	return text(spelled(fmt.Sprintf("h[%d,%d] x, h[%d,%d] z", m, k, k, n)),
		spelled(fmt.Sprintf("h[%d,%d] y = matmul(x = x, y = z);", m, n)))
}

// copies moves n halves.
func copies(n int) side {
	return bare(func() func() {
		x, y := make([]fp16.Bits, n), make([]fp16.Bits, n)
		for i := range x {
			x[i], y[i] = 1, 2
		}
		return func() { copy(y, x) }
	})
}

// lookups looks 16 Mi halves up in a table, and copies them.
func lookups(alsoCopy bool) side {
	return bare(func() func() {
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
		}
	})
}

// reads adds the words of some bytes, in some goroutines.
func reads(workers, bytes int) side {
	return bare(func() func() {
		x := make([]uint64, bytes/8)
		for i := range x {
			x[i] = uint64(i)
		}
		return func() {
			var all sync.WaitGroup
			for i := range workers {
				all.Go(func() { runtime.KeepAlive(sumOf(x[len(x)*i/workers : len(x)*(i+1)/workers])) })
			}
			all.Wait()
		}
	})
}

// sumOf adds words.
func sumOf(x []uint64) uint64 {
	var a, b, c, d uint64
	for at := 0; at+8 <= len(x); at += 8 {
		w := (*[8]uint64)(x[at:])
		a, b, c, d = a+w[0]+w[4], b+w[1]+w[5], c+w[2]+w[6], d+w[3]+w[7]
	}
	return a + b + c + d
}

// multiplies is n products and sums of float32 in the first-level cache.
func multiplies(n int) side { return bare(func() func() { return peak.Loop(n) }) }
