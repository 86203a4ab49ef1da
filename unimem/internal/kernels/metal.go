package kernels

import _ "embed"

//go:embed product.metal
var productMetal string

//go:embed scale.metal
var scaleMetal string

//go:embed linear.metal
var linearMetal string

// Metal is a kernel in the Metal language, as spirv-cross makes it of the SPIR-V:
//
//	spirv-cross --msl --msl-version 20300 --rename-entry-point main product comp product.spv
//
// It gives arguments numbers of its own. A test makes the text again, and compares the numbers with the code.
type Metal struct {
	Text     string // the function has the kernel's Name
	Push     int    // number of the argument with the push constants
	Bindings []int  // number of each storage buffer's argument
}

// InMetal returns the kernel in the Metal language; false for a kernel of another package.
func (k Kernel) InMetal() (Metal, bool) {
	switch k.Name {
	case "product":
		return Metal{productMetal, 0, []int{1, 2, 3}}, true
	case "linear":
		return Metal{linearMetal, 0, []int{2, 1, 3}}, true
	case "scale":
		return Metal{scaleMetal, 0, []int{2, 1}}, true
	}
	return Metal{}, false
}
