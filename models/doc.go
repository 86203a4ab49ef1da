// Package models holds tiny programs that exercise a Neural Engine: each with
// its weights, a generator for its inputs, an independent reference in float64
// and the tolerance that the comparison needs, with the reason for it.
//
// They are what the diagnostic command runs, and examples of how to write
// programs with mil.Builder: a file for each family. Names of outputs sort in
// the order in which they are declared, and widths are multiples of 32, so that
// rows have no padding, except where a model is there to test just that.
package models
