// Package trial runs programs on an engine and checks that the values are correct and that the engine
// made no copy of them.
//
// A Rig is one program bound to Grid cells, each a separate surface, with guard cells around them.
// Paint fills every byte that belongs to no tensor with a known pattern. Model compiles, loads and
// evaluates one model; Evidence makes the checks of the engine as a whole. The package treats every
// engine alike: package faulty injects faults by wrapping an engine.
package trial
