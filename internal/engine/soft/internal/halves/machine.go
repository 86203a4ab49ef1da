package halves

// machine describes the processor. It is set before any other code of the package runs.
// Only tests change it, to run other code than the best. The assembly reads it.
var machine = struct{ kernel int }{detect()}

// The kernels.
const (
	portable = iota // the Go code, which runs on every processor
	neon            // the operations on elements, sums of runs, and what layer_norm and softmax do but the exponential
	avx2            // all operations, as avx512
	avx512
)

// Vectors reports whether every operation has a kernel on this machine: elsewhere a product of matrices is as quick as
// MulFew and Dots.
func Vectors() bool { return machine.kernel >= avx2 }
