// Package apple is the engine on Apple's AppleNeuralEngine framework. It compiles MIL
// programs to programs of the framework and binds surfaces as its requests, through the
// Objective-C bridge of package objcbridge.
//
// The same code drives Apple's framework on a Mac and its stand-in elsewhere; only the paths of the libraries differ.
// The reference leaves open whether the engine may use surfaces that stay locked for the CPU, as Blocks do. Open runs
// one program with a known answer on such surfaces. If the answer is wrong, it runs the program again with the surfaces
// unlocked during the run. The receipt names the mode in use.
//
// # Lifetimes
//
// Compile compiles and loads a program, because the framework reports the layout of
// tensors only for loaded programs. Load is free until the first Unload. The engine
// wraps a Block's surface when the Block is first bound and releases the wrapper with
// the Block or the engine.
//
// # Abandoned calls
//
// A method of the framework cannot be cancelled. When a context ends first, the caller gets ane.ErrDeadline at once.
// The abandoned call continues in the background. Until it returns it holds what it uses, Blocks included. Until then
// other calls on the same Model wait, and fail with ane.ErrStuck if that takes too long. A process can have at most
// maxAbandoned such calls; after that calls fail with ane.ErrExhausted. Bind and Close have no context and wait for
// Config.Patience.
package apple
