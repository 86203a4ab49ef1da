// Package kernels has the compute kernels of packages vulkan and metal as SPIR-V, beside the GLSL text that they are
// compiled from:
//
//	glslangValidator -V -g0 --target-env vulkan1.1 -o product.spv product.comp
//
// A test compiles the texts again and compares.
package kernels

import (
	_ "embed"
	"encoding/binary"
)

//go:embed product.comp
var productText string

//go:embed product.spv
var productCode []byte

//go:embed scale.comp
var scaleText string

//go:embed scale.spv
var scaleCode []byte

//go:embed linear.comp
var linearText string

//go:embed linear.spv
var linearCode []byte

// Kernel is a compute kernel with the entry point "main". Its storage buffers are the bindings 0, 1, .. of set 0.
type Kernel struct {
	Name    string
	Text    string // GLSL
	Code    []byte // SPIR-V; the caller must not change it
	Buffers int    // storage buffers
	Push    int    // bytes of push constants
	Group   [3]int // invocations of a group along x, y and z
	Needs   Needs
}

// Needs checks what a caller that is not trusted asks of a kernel: its constants, and the lengths of its ranges in bytes.
// It returns the bytes that each range needs, and the invocations along x and y; ok is false if the constants are wrong.
type Needs func(push []byte, lengths []int) (bytes []int, x, y int, ok bool)

// most bounds each number of a push constant, so that no product of two overflows.
const most = 1 << 24

// constants reads n push constants, all of which are at most most.
func constants(push []byte, n int) (all []int, ok bool) {
	if len(push) < 4*n {
		return nil, false
	}
	for i := range n {
		v := binary.LittleEndian.Uint32(push[4*i:])
		if v > most {
			return nil, false
		}
		all = append(all, int(v))
	}
	return all, true
}

func productNeeds(push []byte, _ []int) (bytes []int, x, y int, ok bool) {
	c, ok := constants(push, 1)
	if !ok || c[0] == 0 {
		return nil, 0, 0, false
	}
	n := c[0]
	return []int{4 * n * n, 4 * n * n, 4 * n * n}, n, n, true
}

func scaleNeeds(push []byte, _ []int) (bytes []int, x, y int, ok bool) {
	c, ok := constants(push, 1)
	if !ok || c[0] == 0 {
		return nil, 0, 0, false
	}
	const enough = 1 << 14 // invocations stride over the rest
	return []int{4 * c[0], 4 * c[0]}, min(c[0], enough), 1, true
}

// linearNeeds takes the number of rows from the length of X.
func linearNeeds(push []byte, lengths []int) (bytes []int, x, y int, ok bool) {
	c, ok := constants(push, 4)
	if !ok || c[0] == 0 || c[1] == 0 || c[3] > 2 || len(lengths) == 0 {
		return nil, 0, 0, false
	}
	outs, ins, size := c[0], c[1], 4
	if c[3] > 0 {
		size = 2
	}
	rows := lengths[0] / 4 / ins
	return []int{4 * rows * ins, (c[2] + outs*ins) * size, 4 * rows * outs}, outs, rows, rows > 0 && rows <= most
}

// Product multiplies matrices of n x n float32: buffers A, B and C = A x B, and n as uint32. Groups cover n x n.
func Product() Kernel {
	return Kernel{Name: "product", Text: productText, Code: productCode, Buffers: 3, Push: 4, Group: [3]int{8, 8, 1},
		Needs: productNeeds}
}

// Scale computes y = factor*x + offset for pairs of fp16. Buffers are x and y, which may be the same; constants are the
// number of pairs as uint32, factor and offset as float32. Any number of groups along x does the work.
func Scale() Kernel {
	return Kernel{Name: "scale", Text: scaleText, Code: scaleCode, Buffers: 2, Push: 12, Group: [3]int{64, 1, 1},
		Needs: scaleNeeds}
}

// Linear multiplies rows of float32 by the weights of a linear layer: buffers X, W and Y. Constants are uint32: the
// elements of a row of Y and of X, the element of W at which the weights begin, and their format. Groups cover the
// elements of a row of Y along x, and its rows along y.
func Linear() Kernel {
	return Kernel{Name: "linear", Text: linearText, Code: linearCode, Buffers: 3, Push: 16, Group: [3]int{64, 1, 1},
		Needs: linearNeeds}
}

// Groups returns the number of groups of this size that cover x, y and z invocations.
func Groups(group [3]int, x, y, z int) (n [3]int) {
	for i, v := range []int{x, y, z} {
		size := max(group[i], 1)
		n[i] = (v + size - 1) / size
	}
	return n
}
