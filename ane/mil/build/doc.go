// Package build makes programs in Go: operators are methods, their results are
// inferred, their names are generated, and weights go into a file beside the text.
//
//	b := build.New()
//	f := b.Func("main")
//	x := f.Input("x", build.FP16, 1, 64, 1, 64)
//	w := f.Weight("w", weights, 32, 64, 1, 1) // float32, kept as fp16
//	f.Output("y", f.Relu(f.Conv(x, w)))
//	p, err := b.Program()
//	..
//	model, err := device.Compile(ctx, ane.Source{Text: p.Text(), Weights: p.Weights})
//
// # Operators
//
// A method is called as its operator, in the spelling of Go: [Func.SliceBySize]
// is slice_by_size. It takes the tensors, then what every call has to say, then
// options. An option is a value of the type that is called as the argument:
//
//	f.Conv(x, w, build.Strides{2, 2}, build.Same, build.Groups(4))
//	f.ReduceMean(x, []int{-1}, build.KeepDims(true))
//
// An option that an operator does not have does not compile. All arguments of an
// operator are written, those with their default value too: the engine's compiler
// refuses some programs that leave them out.
//
// # Names
//
// The caller names inputs, weights, constants and outputs, and keeps those of a
// function apart. Results in between are called after their operator, conv_0, and
// settings after their argument, strides, strides_1; names that the caller took are
// skipped. The same calls give the same text.
//
// # Faults
//
// No call fails or panics. Faults are collected, each with file and line of the call
// that is at fault, and [Builder.Program] returns all of them as a mil.ErrorList. What
// depends on a faulty Value is no fault of its own.
//
// # The level below
//
// [Func.Op] writes an operator that has no method here. mil.Builder writes a whole
// program as it is told, statement by statement.
package build
