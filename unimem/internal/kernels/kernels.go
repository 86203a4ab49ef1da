// Package kernels has the compute kernels of packages vulkan and metal as SPIR-V, beside the GLSL text that they are
// compiled from:
//
//	glslangValidator -V -g0 --target-env vulkan1.1 -o product.spv product.comp
//
// A test compiles the texts again and compares.
package kernels

import _ "embed"

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
}

// Product multiplies matrices of n x n float32: buffers A, B and C = A x B, and n as uint32. Groups cover n x n.
func Product() Kernel {
	return Kernel{Name: "product", Text: productText, Code: productCode, Buffers: 3, Push: 4, Group: [3]int{8, 8, 1}}
}

// Scale computes y = factor*x + offset for pairs of fp16. Buffers are x and y, which may be the same; constants are the
// number of pairs as uint32, factor and offset as float32. Any number of groups along x does the work.
func Scale() Kernel {
	return Kernel{Name: "scale", Text: scaleText, Code: scaleCode, Buffers: 2, Push: 12, Group: [3]int{64, 1, 1}}
}

// Linear multiplies rows of float32 by the weights of a linear layer: buffers X, W and Y. Constants are uint32: the
// elements of a row of Y and of X, the element of W at which the weights begin, and their format. Groups cover the
// elements of a row of Y along x, and its rows along y.
func Linear() Kernel {
	return Kernel{Name: "linear", Text: linearText, Code: linearCode, Buffers: 3, Push: 16, Group: [3]int{64, 1, 1}}
}

// Groups returns the number of groups of this size that cover x, y and z invocations.
func Groups(group [3]int, x, y, z int) (n [3]int) {
	for i, v := range []int{x, y, z} {
		size := max(group[i], 1)
		n[i] = (v + size - 1) / size
	}
	return n
}
