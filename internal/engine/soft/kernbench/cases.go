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

// The tables have a line for each program: its name, inputs, result and statements, its items, floor and target, and of
// chains the floor's name. The first program of block is that of a transformer of the size of GPT-2 small; the others
// are its products alone.
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

// line is a line of a table.
type line struct {
	name, program string
	items         int
	floor         measure.Opener
	target        float64
	beside        string
}

// lines reads a table. A test reads all of them.
func lines(table string) (all []line) {
	for text := range strings.Lines(table) {
		cells := append(strings.Split(strings.TrimSpace(text), " | "), "", "", "", "")
		l := line{name: cells[0], beside: cells[7], program: program(cells[1], cells[2], cells[3]), floor: floor(cells[5])}
		l.items, _ = strconv.Atoi(cells[4])
		l.target, _ = strconv.ParseFloat(cells[6], 64)
		all = append(all, l)
	}
	return all
}

// besideFloors are the lines of a table with one worker.
func besideFloors(table string) (all []measure.Case) {
	for _, l := range lines(table) {
		all = append(all, kernel(l.name, l.items, one(l.program), l.floor, l.target))
	}
	return all
}

// Kernels are operators on 16 Mi elements, matrix products, convolutions and a block of a transformer. Their floors are
// copies, a loop over a table, the bare multiply-add loop, a read of the matrix, a matrix product, and of the block its
// products.
func Kernels() []measure.Case {
	t := transformer()
	return append(besideFloors(kernels), kernel(blockName, tokens, programs(nil, nil, t[0]), programs(nil, nil, t[1:]...),
		1/0.75))
}

// Shapes are operators on shapes from programs of networks. Each is beside a copy of as many bytes as it reads and
// writes, or a product of as many products. A kernel that goes from one element to the next takes tens of copies.
func Shapes() []measure.Case { return besideFloors(shapes) }

// Fused are chains of elementwise operators, and products with what follows them. Each is beside the same unfused, the
// least that memory or a table allows, and the products alone.
func Fused() (all []measure.Case) {
	for _, l := range lines(fused) {
		unfused := programs(nil, []soft.Option{soft.Workers(1), soft.Unfused()}, l.program)
		all = append(all, kernel(l.name, l.items, one(l.program), unfused, 1),
			kernel(l.name+" beside "+l.beside, l.items, one(l.program), l.floor, l.target))
	}
	t := transformer()[0]
	return append(all, kernel(blockName, tokens, programs(nil, nil, t), programs(nil, []soft.Option{soft.Unfused()}, t), 1))
}

// The block of a transformer has as many workers as processors.
const (
	blockName = "GPT-2 small block, 256 tokens"
	tokens    = 256
)

// transformer returns the program of the block, and those of its products.
func transformer() (texts []string) {
	for _, l := range lines(block) {
		texts = append(texts, l.program)
	}
	return texts
}

// floor is that of a cell: a kind, and a number or a program.
func floor(cell string) measure.Opener {
	kind, rest, _ := strings.Cut(cell, " ")
	n, _ := strconv.Atoi(rest)
	switch kind {
	case "copy":
		return copies(n)
	case "products":
		return multiplies(n)
	case "table":
		return lookups(rest == "copy")
	case "read":
		return reads(1, 2*many)
	}
	inputs, body, _ := strings.Cut(rest, ": ")
	return one(text(inputs, body))
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
