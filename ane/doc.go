// Package ane describes tensors on shared memory and has a Neural Engine read
// and write those very pages.
//
// The path data takes:
//
//	unimem.Block -> Tensor -> Request -> Engine -> Result
//
// No arrow copies. A Tensor is a view of a Block, a Tape span or a Grid cell
// with a Layout that the compiled program dictates; a Request binds tensors to
// a Model by name; evaluating it makes the engine read the inputs and write
// the outputs in place. Where values have to be moved between packed Go slices
// and padded rows, the call says so and returns the bytes it copied.
//
// # Who does what
//
// An Engine is what an implementation provides: Apple's framework, or the
// software engine of package interp. Users hold a Device, which wraps an Engine
// and keeps the rules that are the same for all of them: states, names, sizes,
// offsets, aliasing, lifetimes.
//
// # Lifetimes
//
// Device.Compile gives a Model; Model.Load makes it ready; Model.Bind gives a
// Request, which holds the Blocks of its tensors until Request.Close, so that a
// Block closed too early answers unimem.ErrInUse. A Request may be evaluated
// any number of times, by one goroutine at a time. Close requests, then the
// Model, then the Device, then the memory. Every call that can wait takes a
// context.
package ane
