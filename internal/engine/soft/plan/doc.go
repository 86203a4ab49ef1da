// Package plan makes of the graph of a program what the software engine runs: steps in their order, each with a runner
// and the places of its operands and results. It folds constants, fuses steps, places values in memory, and makes a plan
// again with other weights.
package plan
