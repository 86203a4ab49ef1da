// Package mil reads, checks, prints and builds MIL text, the language in which programs reach the Neural Engine.
//
// [Parse] turns text into a [Program], a plain tree with a position on every node. [Validate] checks what needs no
// table of operators: names are unique, defined before use, arguments not doubled, literals fit their types. Parse
// calls it, [Builder] calls it for programs made in Go. Package ops knows what each operator accepts and returns.
// Package build is the easiest way to make a program: it checks operators and infers types.
//
// [Print] writes the canonical text. Printing and parsing again gives an [Equal] tree; comments and layout are not
// kept. [Format] writes the same text with the comments of its source.
//
// Parse reads both dialects, also mixed: plain scalars as in program(1.3), int32(1), and boxed ones as in program(1.0),
// tensor<int32, []>(1). Print keeps the dialect of a program, [Convert] moves a program from one to the other, and
// [FormatAs] does so with its comments.
//
// # Errors
//
// Parse and Validate return an [ErrorList] with every fault they found, each with its position and how to fix it, up to
// [MaxFaults]. After a fault the parser resumes with the next statement. Evaluating a literal returns one *[Error].
//
// # Limits
//
// Types, operands and literals nest at most [MaxNesting] deep. Parsing takes time and memory linear in the size of the
// text: it allocates at most 160 bytes for each byte, and Format and Convert at most 640. A tree keeps the text it was
// parsed from alive, because names and numbers point into it.
//
// A Program must not contain itself. Programs have no locks: any number of
// goroutines may read one while no goroutine changes it.
package mil
