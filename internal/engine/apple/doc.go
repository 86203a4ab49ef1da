// Package apple is the engine behind Apple's AppleNeuralEngine framework: it
// turns MIL programs into loaded programs of the framework and surfaces into its
// requests, through the Objective-C bridge of package objcbridge.
//
// The same code drives Apple's framework on a Mac and its stand-in elsewhere;
// only the paths of the libraries differ. What the reference leaves open is found
// out when the engine is opened: it runs one program with a known answer on
// surfaces that stay locked for the CPU, as Blocks do, and if that gives another
// answer, once more with the lock given up during the run. The receipt says which
// of the two is in force.
//
// # Lifetimes
//
// A program is compiled and loaded by Compile, because the framework tells the
// layout of its tensors only then; Load is free until the first Unload. The
// wrapper of a Block's surface is made when the Block is first bound and ends with
// the Block or the engine.
//
// # Calls that do not come back
//
// A method of the framework cannot be cancelled. When a context ends first, the
// caller gets ane.ErrDeadline at once and the call goes on in the background: what
// it uses, Blocks included, stays held until it comes back. Until then other calls
// on the same Model wait, and fail with ane.ErrStuck if it takes too long. At most
// maxStray such calls may be out in a process; then ane.ErrExhausted. Bind and Close
// have no context and wait for Config.Patience.
package apple
