// Package kernels computes the operators: a Kernel prepares one Step from the shapes, the settings and the constants of
// its operands, and returns the runner that all runs of the step share. A kernel knows no program.
package kernels
