// Package build makes programs in Go: operators are methods, the types and names of their results are generated, and
// weights go into a file beside the text.
//
//	b := build.New()
//	f := b.Func("main")
//	x := f.Input("x", build.FP16, 1, 64, 1, 64)
//	w := f.Weight("w", weights, 32, 64, 1, 1) // float32, kept as fp16
//	f.Output("y", f.Relu(f.Conv(x, w, build.Strides{1, 2}, build.Same)))
//	p, err := b.Program()
//	..
//	model, err := device.Compile(ctx, ane.Source{Program: p})
//
// A method has the name of its operator in Go's spelling: [Func.SliceBySize] is slice_by_size. It takes the tensors,
// then required settings, then options, each a value whose type has the name of the argument; see [Optional]. The
// program has all arguments of an operator, including those with default values: the engine's compiler refuses some
// programs without them. [Func.Op] writes an operator without a method.
//
// No call returns an error or panics. The Builder collects faults, each with file and line of the faulty call, and
// [Builder.Program] returns all of them as a mil.ErrorList. A call with a faulty Value adds no other fault.
package build
