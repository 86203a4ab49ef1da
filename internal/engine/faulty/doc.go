// Package faulty wraps correct engines to make engines that break one rule
// each. The conformance suite of package enginetest and the diagnostic command
// use them to prove that their checks can fail.
//
// A fault changes the path of the data below everything that measures it. The
// wrapped engine does not know of it. The wrapper reports what the wrapped
// engine reports, unless the fault is a false report.
//
//	e := faulty.Wrap(soft.New(), fault)
//
// Closing the engine releases everything that a fault holds: its own Blocks and
// its holds on the caller's.
package faulty
