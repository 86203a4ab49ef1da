// Package cost estimates what a MIL program costs on a Neural Engine, before Apple's compiler sees it. It gives the
// time of each operator and of a call, what bounds it, the memory of surfaces and weights, and the budgets of a
// process.
//
// [Of] estimates one function of a program from the types that its text declares; weight files are not read. The model
// for M6 is the one of the M6 study. The layers of a program run one after another, each as long as its products or its
// weights take. Inputs, outputs and elementwise work come on top. M4 has the same form with its own rates. The other
// chips have anchors: overhead and the longer of two times, that of the arithmetic and that of the bytes.
//
// Every [Figure] says whether it is measured, compiled, stated or inferred, and names its source; see package chip for
// the sources. [Estimate.Error] says how far a whole estimate may be off. For chains of 1x1 convolutions on M6 the
// formula has been held against published times. For other programs 30 % is the author's guess.
//
// All times are microseconds, all sizes bytes. An Estimate belongs to the caller.
package cost
