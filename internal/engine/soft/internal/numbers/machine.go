package numbers

// machine describes the processor. It is set before any other code of the package runs.
// Only tests change it, to run the Go code on a processor with a kernel.
var machine = struct{ vector bool }{vector: detect()}

// Accelerated reports whether the package has assembly for this machine.
func Accelerated() bool { return machine.vector }
