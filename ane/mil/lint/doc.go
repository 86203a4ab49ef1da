// Package lint tells before a compile what Apple's compilers, chips and runtimes do with a MIL program. They refuse
// some operators, compute some differently, place some on the CPU without a message, and are slow at some.
//
// [Text] checks a text and [Run] a program, and both return findings. Each has its [Rule], place, severity, reason, fix
// and the chips and compilers that it concerns. [Rules] lists the rules. [Fix] applies the mechanical fixes to a text.
//
// A rule rests on published evidence, which its Source names. An error means that the program does not compile or
// computes wrong values. A warning means that it may do so, under conditions that the text does not tell, or runs
// elsewhere than meant. A note means that it costs time or accuracy. A limit that is inferred from other chips counts
// like a measured one.
//
// # Numbers
//
// Overflow and vanishing products are decided by intervals: from [Options.Ranges] of the inputs and the constants
// of the program, statement by statement. Without ranges only what the constants alone imply is found. An interval may
// be wider than the values that occur, so these findings say what may happen.
//
// # Limits
//
// Time and memory are linear in the size of the text and of the weights. At most 500 findings are
// returned. Any text gives findings, never a panic.
package lint
