// Package enginetest is the conformance suite of engines: whatever implements
// ane.Engine and passes it can stand behind an ane.Device.
//
// An engine's own tests call Run; a command calls Check and shows the failures.
// Both run the same named checks; Checks lists them.
//
//	func TestConformance(t *testing.T) {
//		enginetest.Run(t, func() ane.Engine { return mine.New() }, enginetest.Named("mine"))
//	}
//
// The programs are MIL text of this package, small, with inputs whose results
// are exact in fp16, so that values are compared without tolerance, whatever
// the order and width of an engine's sums. The one check about rounding is
// called rounding; an engine with other numerics leaves it out by Without.
//
// Some checks measure the process (open Blocks, memory, goroutines): nothing
// else may open or close Blocks while they run.
package enginetest
