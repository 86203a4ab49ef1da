package halves

// machine describes the processor. It is set before any other code of the package runs.
// Only tests change it, to run the Go code on a processor with a kernel.
var machine = struct {
	kernel string // as Accelerated returns it
}{
	kernel: detect(),
}

// portable is the name of the Go code, which runs on every processor.
const portable = "portable"

// Accelerated names the implementation on this machine.
func Accelerated() string { return machine.kernel }

// wide reports whether every operation has a kernel.
func wide() bool { return machine.kernel == avx2 || machine.kernel == avx512 }
