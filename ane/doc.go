// Package ane describes tensors in shared memory, which a Neural Engine reads and
// writes in place.
//
// The path of the data:
//
//	unimem.Block -> Tensor -> Request -> Engine -> Result
//
// No step copies. A Tensor is a view of a Block, a Tape span or a Grid cell with the
// Layout of the compiled program. A Request binds tensors to a Model by name. Evaluate
// makes the engine read the inputs and write the outputs in place. Calls that copy
// between packed Go slices and padded rows return the number of bytes copied.
//
// # Two levels
//
// Model.NewRequest allocates the surfaces of a Request and loads the program. Request.Input and Output return its
// tensors, and Request.Evaluate runs it. EvaluateAsync runs it in the background; a Pool lends requests.
//
// At the lower level the caller owns the memory: OnBlock, OnCell, OnSpan and
// Tensor.Slice make tensors on it, Model.Bind makes a Request of them. So several
// programs can share a surface, or the output of one can be the input of the next.
//
// # Engine and Device
//
// An Engine is an implementation: Apple's framework, or the software engine. Users
// call a Device, which wraps an Engine and checks the rules common to all of them:
// states, names, sizes, offsets, aliasing, lifetimes. A feature of only some engines has
// its own interface, such as Instancer; on other engines its calls return
// errors.ErrUnsupported.
//
// # Lifetimes
//
// Device.Compile returns a Model; Model.Load makes it ready to run. A Request holds the
// Blocks of its tensors until Request.Close; closing such a Block earlier returns
// unimem.ErrInUse. A Request may be evaluated any number of times, by one goroutine at
// a time. Close requests, then the Model, then the Device, then the memory. Every call
// that can wait takes a context.
package ane
