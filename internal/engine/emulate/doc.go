// Package emulate makes the software engine and the broker refuse what a chip refuses.
//
// [New] wraps an engine. Compile asks package lint what Apple's compiler for the chip does with the program
// in memory: a finding of severity error whose consequence is a refusal becomes the error that a Mac gives,
// with domain, code and text, and with the findings at their places. The compiled program runs on the wrapped engine,
// whose arithmetic is not changed.
//
// A [Host] stands for a process on a machine with that chip. It counts loaded programs, and remembers that a program has
// spoiled the process. [Process] returns the Hosts of this process.
package emulate
