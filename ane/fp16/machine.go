package fp16

// machine describes the processor. It is set before any other code of the package runs.
// Only tests change it, to run the Go code on a processor with a kernel.
var machine = struct {
	kernel string // as Accelerated returns it
	brain  bool   // EncodeBrain has a kernel too
}{
	kernel: detect(),
	brain:  detectBrain(),
}
