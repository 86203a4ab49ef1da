// Package models has small programs that test a Neural Engine: each with its weights,
// a generator of inputs, an independent reference in float64, and a tolerance with its
// reason.
//
// Chips of different generations round differently, and some round partial sums. For
// programs that only move, multiply and sum, the inputs are such that fp16 holds every
// product and every partial sum exactly: no chip rounds, and results are compared
// without tolerance. For functions that chips read from tables, the tolerance covers
// the tables of every measured chip. The tests simulate the arithmetic of these chips.
//
// The command ane-roundtrip runs the models. They are also examples of package
// ane/mil/build, with a file for each family. Names of outputs sort in the order of their
// declaration, and widths are multiples of 32, so that rows have no padding, except in
// models that test names or padding.
package models
