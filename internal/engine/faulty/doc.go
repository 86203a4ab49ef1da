// Package faulty makes engines that break one rule each, out of any engine that
// keeps them. The conformance suite of package enginetest and the diagnostic
// command prove with them that their checks can fail.
//
// A fault changes the path of the data, below everything that measures it: the
// engine underneath does not know, and what the wrapper says about itself is
// what the engine underneath says, unless the fault is a false statement.
//
//	e := faulty.Wrap(soft.New(), fault)
//
// What a fault holds on to (its own Blocks, holds on the caller's) is given
// back when the engine is closed, at the latest.
package faulty
