package kernbench

import (
	_ "embed" // the tables
	"slices"
	"strconv"
	"strings"

	"github.com/anekit/anekit/ane/fp16"
	"github.com/anekit/anekit/internal/engine/soft"
	"github.com/anekit/anekit/internal/engine/soft/peak"
	"github.com/anekit/anekit/internal/measure"
)

// The tables have a line for each program: its name, inputs, result and statements. Of kernels and chains follow the
// items, the floor and the target, of chains also the floor's name, and of shapes that are products the items. The
// first program of block is that of a transformer of the size of GPT-2 small; the others are its products alone.
var (
	//go:embed kernels.txt
	kernels string
	//go:embed fused.txt
	fused string
	//go:embed shapes.txt
	shapes string
	//go:embed block.txt
	block string
)

// many is the number of elements of large operators.
const many = 4096 * 4096

// lines calls each with the cells of every line of a table, with the number in the fifth and the program.
func lines(table string, each func(cells []string, items int, program string)) {
	for line := range strings.Lines(table) {
		cells := append(strings.Split(strings.TrimSpace(line), " | "), "")
		items, _ := strconv.Atoi(cells[4])
		each(cells, items, text(cells[1], lastName.ReplaceAllString(cells[3], "${1}"+cells[2]+" y =")))
	}
}

// Kernels are operators on 16 Mi elements, matrix products, convolutions and a block of a transformer. Their floors are
// copies, a loop over a table, the bare multiply-add loop, a read of the matrix, a matrix product, and of the block its
// products.
func Kernels() (all []measure.Case) {
	lines(kernels, func(l []string, items int, program string) {
		all = append(all, kernel(l[0], items, one(program), floor(l[5]), number(l[6])))
	})
	t := transformer()
	return append(all, kernel(blockName, tokens, programs(nil, nil, t[0]), programs(nil, nil, t[1:]...), 1/0.75))
}

// Fused are chains of elementwise operators, and products with what follows them, beside the same unfused, the least
// that memory or a table allows, and the products alone.
func Fused() (all []measure.Case) {
	lines(fused, func(l []string, items int, program string) {
		unfused := programs(nil, []soft.Option{soft.Workers(1), soft.Unfused()}, program)
		all = append(all, kernel(l[0], items, one(program), unfused, 1),
			kernel(l[0]+" beside "+l[7], items, one(program), floor(l[5]), number(l[6])))
	})
	t := transformer()[0]
	return append(all, kernel(blockName, tokens, programs(nil, nil, t), programs(nil, []soft.Option{soft.Unfused()}, t), 1))
}

// Shapes are operators on shapes that programs of networks have, each beside a copy of as many bytes as it reads and
// writes, or a product of as many products. A kernel that goes from one element to the next takes tens of copies.
func Shapes() (all []measure.Case) {
	lines(shapes, func(l []string, products int, program string) {
		if products > 0 {
			all = append(all, kernel(l[0], products, one(program), multiplies(products), 2))
			return
		}
		moved := size(l[2])
		for _, in := range strings.Split(l[1], ", ") {
			moved += size(in)
		}
		all = append(all, kernel(l[0], volume(l[2]), one(program), copies(moved/4), 5))
	})
	return all
}

// The block of a transformer has as many workers as processors.
const (
	blockName = "GPT-2 small block, 256 tokens"
	tokens    = 256
)

// transformer returns the program of the block, and those of its products.
func transformer() (texts []string) {
	lines(block, func(_ []string, _ int, program string) { texts = append(texts, program) })
	return texts
}

// floor is that of a cell: a kind, and a number or a program.
func floor(cell string) measure.Opener {
	kind, rest, _ := strings.Cut(cell, " ")
	switch kind {
	case "copy":
		return copies(int(number(rest)))
	case "products":
		return multiplies(int(number(rest)))
	case "table":
		return lookups(rest == "copy")
	case "read":
		return reads(1, 2*many)
	}
	inputs, body, _ := strings.Cut(rest, ": ")
	return one(text(inputs, body))
}

func number(cell string) float64 {
	n, _ := strconv.ParseFloat(cell, 64) // a test reads all tables
	return n
}

// copies moves n halves.
func copies(n int) measure.Opener {
	return measure.Bare(func() func() {
		x, y := slices.Repeat([]fp16.Bits{1}, n), slices.Repeat([]fp16.Bits{2}, n)
		return func() { copy(y, x) }
	})
}

// lookups looks 16 Mi halves up in a table, and copies them.
func lookups(alsoCopy bool) measure.Opener {
	return measure.Bare(func() func() {
		table := new([1 << 16]fp16.Bits)
		x, y := make([]fp16.Bits, many), slices.Repeat([]fp16.Bits{2}, many)
		for i := range x {
			x[i] = fp16.FromFloat32(float32(i*7919%4001-2000) / 1000)
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

// reads reads some bytes, in some goroutines.
func reads(workers, bytes int) measure.Opener {
	return measure.Bare(func() func() { return measure.Reads(workers, slices.Repeat([]byte{1}, bytes)) })
}

// multiplies is n products and sums of float32 in the first-level cache.
func multiplies(n int) measure.Opener { return measure.Bare(func() func() { return peak.Loop(n) }) }
