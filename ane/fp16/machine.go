package fp16

// machine holds what is known of the processor. It is filled before any other
// code of the package runs and not changed afterwards (tests do, to reach the
// Go code on a processor that has better).
var machine = struct {
	kernel string // as Accelerated returns it
}{
	kernel: detect(),
}
