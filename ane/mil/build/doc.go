// Package build makes programs in Go: operators are methods, the types and names of
// their results are generated, and weights go into a file beside the text.
//
//	b := build.New()
//	f := b.Func("main")
//	x := f.Input("x", build.FP16, 1, 64, 1, 64)
//	w := f.Weight("w", weights, 32, 64, 1, 1) // float32, kept as fp16
//	f.Output("y", f.Relu(f.Conv(x, w)))
//	p, err := b.Program()
//	..
//	model, err := device.Compile(ctx, ane.Source{Program: p})
//
// [Func.WeightOf] makes a weight of a tensor of a file, which the software engine reads where it is:
//
//	tensor, err := file.Tensor("layers.0.weight") // of a safetensors.File
//	w := f.WeightOf(tensor)
//
// # Operators
//
// A method has the name of its operator in Go's spelling: [Func.SliceBySize] is slice_by_size. It takes the tensors,
// then required settings, then options. An option is a value whose type has the name of the argument:
//
//	f.Conv(x, w, build.Strides{2, 2}, build.Same, build.Groups(4))
//	f.ReduceMean(x, []int{-1}, build.KeepDims(true))
//
// An option of another operator is a fault. The program has all arguments of an operator, including those with
// default values: the engine's compiler refuses some programs without them.
//
// # Names
//
// The caller names inputs, weights, constants and outputs; these names are unique in a function. Other results are
// named after their operator, conv_0, and settings after their argument, strides, strides_1, without names that the
// caller uses. The same calls give the same text.
//
// # Faults
//
// No call returns an error or panics. The Builder collects faults, each with file and line of the faulty call, and
// [Builder.Program] returns all of them as a mil.ErrorList. A call with a faulty Value adds no other fault.
//
// # The level below
//
// [Func.Op] writes an operator without a method here. mil.Builder writes a program
// statement by statement, without checking operators.
package build
