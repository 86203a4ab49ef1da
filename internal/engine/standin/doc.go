// Package standin runs the stand-in for AppleNeuralEngine.framework inside this process:
// Objective-C classes with Apple's names and behaviour. Go serves their compile and
// evaluate with the software engine.
//
//	bridge -> stand-in framework -> Server -> soft, on the surfaces' own pages
//
// It lets the Objective-C bridge and everything above it run without a Mac. It is never
// Apple's engine: receipts name it standin.
//
// # What it answers
//
// The framework reports programs, devices and failures as in dumps of real machines; see
// testdata/dumps. The rule for the placement of tensors is implemented here
// independently of package ane, so that tests find a mistake in either. Start replays a
// dump that Options or the environment name: see ReadDump.
//
// # Program slots
//
// A loaded program takes a slot of the machine, whatever its process. The machine of a process
// is the pool that Options.Pool or EnvPool names, or one of its own that the processes it starts
// share.
//
// # Lifetimes
//
// Objective-C classes cannot be unregistered, so a process starts the framework once and
// never closes it; see Start. The framework holds Blocks on the surfaces of a request
// from the request's first evaluation until the request object is released.
//
// # Where it runs
//
// It runs on Linux, built with cgo, with the libraries that `make bridge` builds. Every
// other build has the same names and returns ane.ErrUnavailable; a Linux program built
// with CGO_ENABLED=0 stays static.
package standin
