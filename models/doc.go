// Package models has small programs that test a Neural Engine. Each has its weights, a generator of inputs, an
// independent reference in float64, and a tolerance with its reason.
//
// Chips of different generations round differently, and some round partial sums. For programs that only move, multiply
// and sum, the inputs let fp16 hold every product and every partial sum exactly. No chip rounds them, and the tests
// compare results without tolerance. For functions that chips read from tables, the tolerance covers the tables of
// every measured chip. The tests simulate the arithmetic of these chips.
//
// The command ane-roundtrip runs the models. They are also examples of package ane/mil/build, with a file for each
// family. Names of outputs sort in the order of their declaration. Widths are multiples of 32, so rows have no padding.
// Models that test names or padding differ.
package models
