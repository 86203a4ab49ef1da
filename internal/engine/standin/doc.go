// Package standin runs the stand-in for AppleNeuralEngine.framework inside this
// process: Objective-C classes of Apple's names and manners, whose compile and
// evaluate are served from Go by the software engine.
//
//	bridge -> stand-in framework -> Server -> soft, on the surfaces' own pages
//
// It exists so that the Objective-C bridge and everything above it run where
// there is no Mac. It is never Apple's engine: receipts name it standin.
//
// # What it answers
//
// What the framework says of programs, devices and failures is what dumps of real
// machines show; testdata/dumps holds them. Where a tensor stands is written down here a
// second time, apart from package ane, so that a mistake in one is seen by the other.
// Start replays a dump that Options or the environment name: see ReadDump.
//
// # Lifetimes
//
// Objective-C classes cannot be unregistered, so the framework is started once
// for the life of a process and is never closed; see Start. What it holds of
// unimem are Blocks on the surfaces of requests, from a request's first
// evaluation until the request object is gone.
//
// # Where it runs
//
// On Linux, built with cgo, with the libraries that `make bridge` builds. Every
// other build has the same names and answers ane.ErrUnavailable; a Linux program
// built with CGO_ENABLED=0 stays static.
package standin
