// Package mil reads, checks, prints and builds MIL text, the language in which programs reach the Neural Engine.
//
// [Parse] turns text into a [Program], a plain tree with a position on every node. Its error is an [ErrorList] of every
// fault, with its position and how to fix it. [Print] writes the canonical text, and parsing that gives an [Equal]
// tree. [Format] keeps the comments of its source. Parse reads both dialects of MIL text, also mixed; [Convert] moves a
// program from one to the other.
//
// [Validate] checks what needs no table of operators, such as names and the form of literals. Parse and [Builder] call
// it. Package build is the easiest way to make a program: it checks operators and infers types.
//
// Parsing takes time and memory linear in the size of the text: it allocates at most 160 bytes for each byte, Format
// and Convert at most 640. A tree keeps its text alive, because names and numbers point into it. A Program must not
// contain itself. Any number of goroutines may read one while no goroutine changes it.
package mil
