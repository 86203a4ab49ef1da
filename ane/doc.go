// Package ane describes tensors on shared memory and has a Neural Engine read
// and write those very pages.
//
// The path data takes:
//
//	unimem.Block -> Tensor -> Request -> Engine -> Result
//
// No arrow copies. A Tensor is a view of a Block, a Tape span or a Grid cell
// with a Layout that the compiled program dictates; a Request ties tensors to
// a Model by name; evaluating it makes the engine read the inputs and write
// the outputs in place. Where values have to be moved between packed Go slices
// and padded rows, the call says so and returns the bytes it copied.
//
// # Two levels
//
// Model.NewRequest makes a Request with surfaces of its own and loads the
// program. Request.Input and Output are its tensors, Request.Evaluate runs it,
// EvaluateAsync in the background, and a Pool lends requests to many goroutines.
//
// Below that the caller has the memory: OnBlock, OnCell, OnSpan and Tensor.Slice
// make tensors on it, Model.Bind makes a Request of them. So one surface serves
// several programs, or the output of one is the input of the next.
//
// # Who does what
//
// An Engine is what an implementation provides: Apple's framework, or the
// software engine. Users hold a Device, which wraps an Engine
// and keeps the rules that are the same for all of them: states, names, sizes,
// offsets, aliasing, lifetimes. What only some engines have is an interface of
// its own, such as Instancer; elsewhere its calls answer errors.ErrUnsupported.
//
// # Lifetimes
//
// Device.Compile gives a Model; Model.Load makes it ready; a Request holds the
// Blocks of its tensors until Request.Close, so that a Block closed too early
// answers unimem.ErrInUse. A Request may be evaluated any number of times, by one
// goroutine at a time. Close requests, then the Model, then the Device, then the
// memory. Every call that can wait takes a context.
package ane
