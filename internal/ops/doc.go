// Package ops is the table of operators: their arguments, the types and shapes of their results, and the limits of the
// engine. The meaning of each operator is that of coremltools' op set.
//
// Analyze resolves one function of a program into a Graph. It looks up every name, reads constants and weights and
// applies the rule of each operator. It compares the types it infers with those the text declares. All faults are
// returned at once, each with its place. To add an operator, write a Def in the file of its family, and a kernel.
package ops
