// Package run has what a step of the software engine runs on: the memory of its operands (Vec), the goroutines that share
// its work (Call, Crew), and the engine's own mappings of surfaces.
package run
