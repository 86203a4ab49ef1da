// Package models holds tiny programs that exercise a Neural Engine: each with
// its weights, a generator for its inputs, an independent reference in float64
// and the tolerance that the comparison needs, with the reason for it.
//
// Chips of different generations round differently, and some round sums on the
// way. Where a program only moves, multiplies and sums, its inputs are such that
// fp16 holds every product and every partial sum: no chip rounds anything, and
// results are compared without tolerance. Where functions come from tables, the
// tolerance covers the tables of every chip that has been measured. The tests
// imitate the arithmetic of these chips.
//
// They are what the diagnostic command runs, and examples of how to write
// programs with mil.Builder: a file for each family. Names of outputs sort in
// the order in which they are declared, and widths are multiples of 32, so that
// rows have no padding, except where a model is there to test just that.
package models
