// Package haltest holds tests alone: the conformance suite of package hal, which every engine of the machine runs.
// Families and cases have the names of those in IREE's suite for hardware abstraction layers (iree/hal/cts); the code is
// this project's own. Other cases check what package hal promises besides. The suite leaves out cases whose assertions
// another one has. It also leaves out what package hal does not have: tables of bindings and constants, exported
// timepoints, profiling sinks, flags of memory.
//
// The suite calls the functions of a Calls, so that a test can break one and see which cases notice. Random compares
// random commands with a simple model of memory.
package haltest
