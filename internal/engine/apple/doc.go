// Package apple is the engine on Apple's AppleNeuralEngine framework. It compiles MIL
// programs to programs of the framework and binds surfaces as its requests, through the
// Objective-C bridge of package objcbridge.
//
// The same code drives Apple's framework on a Mac and its stand-in elsewhere; only the
// paths of the libraries differ. When the engine is opened it determines what the
// reference leaves open: it runs one program with a known answer on surfaces that stay
// locked for the CPU, as Blocks do. If the answer is wrong, it runs the program again
// with the surfaces unlocked during the run. The receipt names the mode in use.
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
// A method of the framework cannot be cancelled. When a context ends first, the caller
// gets ane.ErrDeadline at once and the call is abandoned: it continues in the background
// and holds what it uses, Blocks included, until it returns. Until then other calls on
// the same Model wait, and fail with ane.ErrStuck if that takes too long. A process can
// have at most maxAbandoned such calls; after that calls fail with ane.ErrExhausted.
// Bind and Close have no context and wait for Config.Patience.
package apple
