// Package enginetest is the conformance suite of engines: an implementation of
// ane.Engine that passes it can be used by an ane.Device.
//
// An engine's own tests call Run; tests of the suite call Check and look at the failures.
// Both run the same named checks; Checks lists them.
//
//	func TestConformance(t *testing.T) {
//		enginetest.Run(t, func() ane.Engine { return mine.New() }, enginetest.Named("mine"))
//	}
//
// The programs are small, and their results are exact in fp16. So the suite compares values
// without tolerance, whatever the order and width of an engine's sums. Only the check
// rounding depends on rounding; an engine with other numerics omits it by Without.
//
// Some checks measure the process (open Blocks, memory, goroutines): the caller must not
// open or close Blocks while they run.
package enginetest
